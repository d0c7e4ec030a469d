//! Properties of all texts and trees.

use super::*;
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "[a-z:#\\- \n\t'\"{}\\[\\],&*!|>%@`é\u{2028}\u{feff}]{0,16}",
        "[-+0-9._eExXoObBnyfal:TZ]{0,10}",
        prop::sample::select(vec![
            "yes",
            "null",
            "~",
            "<<",
            "---",
            "...",
            "0o17",
            "=",
            "? a",
            "{{.Name}}"
        ])
        .prop_map(str::to_owned),
    ]
}

fn tree() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter_map("finite", |number| serde_json::Number::from_f64(number)
            .map(Json::Number)),
        text().prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec((text(), inner), 0..6)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

/// All strings of a tree, keys among them, in order.
fn strings(value: &Json) -> Vec<&str> {
    match value {
        Json::String(text) => vec![text],
        Json::Array(items) => items.iter().flat_map(strings).collect(),
        Json::Object(map) => map
            .iter()
            .flat_map(|(key, value)| std::iter::once(key.as_str()).chain(strings(value)))
            .collect(),
        _ => Vec::new(),
    }
}

proptest! {
    #[test]
    fn written_yaml_parses_to_the_same_tree(value in tree()) {
        let value = node(&value);
        let mut out = String::new();
        write(&mut out, &value);
        let (nodes, found) = read(&out);
        let expected: Vec<Node> = Some(value).filter(|node| !node.is_null()).into_iter().collect();
        prop_assert_eq!(&nodes, &expected, "{:?}", out);
        // kustomize merges `<<` even in quotes.
        prop_assert!(found.iter().all(|finding| finding.message.contains("`<<`")), "{:?}: {:?}", out, found);
    }

    #[test]
    fn serde_yaml_reads_the_same_string(value in tree()) {
        let mut out = String::new();
        write(&mut out, &node(&json!({"v": value})));
        // It reads YAML 1.2 and refuses large integers, so only strings are compared.
        if let Ok(read) = serde_yaml::from_str::<Json>(&out) {
            prop_assert_eq!(strings(&read["v"]), strings(&value), "{:?}", out);
        }
    }

    #[test]
    fn spans_of_any_parsed_text_are_inside_it(pieces in prop::collection::vec(prop_oneof![text(), prop::sample::select(vec![
        ": ", "- ", "\n", "\n  ", "? ", "[", "]", "{", "}", ", ", "\"", "'", "|\n", ">-\n", "&x ", "*x ", "!!int ", "<<: ", " # ", "\t", "\r\n", "---\n", "...\n", "é",
    ]).prop_map(str::to_owned)], 0..30)) {
        let text = pieces.concat();
        let (nodes, found) = read_within(&text, &Limits { depth: 10, nodes: 100, ..Limits::default() });
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        for finding in &found {
            for label in &finding.labels {
                let (start, end) = (label.span.start as usize, label.span.end as usize);
                prop_assert!(text.get(start..end.min(text.len())).is_some(), "{:?} of {:?}: {}", label, text, finding.message);
            }
        }
        for node in &nodes {
            let mut waiting = vec![node];
            while let Some(node) = waiting.pop() {
                let span = node.origin.span().unwrap();
                prop_assert!(span.start <= span.end && text.is_char_boundary(span.start as usize), "{:?}", span);
                waiting.extend(node.items());
                waiting.extend(node.entries().map(|entry| &entry.node));
            }
        }
    }
}
