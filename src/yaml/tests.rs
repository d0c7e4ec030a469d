//! Tests of the whole module: the recorded tables, limits, places, and what is written reads back.

mod properties;
mod written;

use super::*;
use crate::diag::{Code, Diagnostic, Severity};
use crate::quantity::recordings;
use crate::source::SourceId;
use serde_json::{Value as Json, json};

const SOURCE: SourceId = SourceId(0);

/// All documents of a text that are not null, with all findings.
fn read(text: &str) -> (Vec<Node>, Vec<Diagnostic>) {
    read_within(text, &Limits::default())
}

fn read_within(text: &str, limits: &Limits) -> (Vec<Node>, Vec<Diagnostic>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parts = split(SOURCE, text);
    let mut diagnostics = parts.diagnostics;
    let mut nodes = Vec::new();
    for part in parts.value {
        let found = parse(SOURCE, text, part, limits);
        nodes.extend(found.value);
        diagnostics.extend(found.diagnostics);
    }
    (nodes, diagnostics)
}

#[test]
fn json_that_is_no_object_is_told_while_the_text_is_split() {
    let limits = Limits { depth: 3, nodes: 6, ..Limits::default() };
    for (text, expected) in [
        ("{}", true),
        ("{\"a\": {\"kind\": \"b\"}, \"items\": []}", true),
        ("{\"a\": \"\\u006bind \\\" kind\"}", true),
        ("{\"kind\": \"b\"}", false),
        ("{\"a\": 1, \"apiVersion\": null}", false),
        ("{\"\\u006bind\": \"b\"}", false),
        // Limits have findings.
        ("{\"a\": [[1]]}", true),
        ("{\"a\": [[[]]]}", false),
        ("{\"a\": [1, 2, 3, 4]}", true),
        ("{\"a\": [1, 2, 3, 4, 5]}", false),
        // YAML.
        ("{a: b}", false),
    ] {
        let part = split(SOURCE, text).value.remove(0);
        assert_eq!(part.is_plain(&limits), expected, "{text}");
        if expected {
            let found = parse(SOURCE, text, part.clone(), &limits);
            let node = found.value.expect("a mapping");
            assert!(found.diagnostics.is_empty(), "{text}");
            assert!(node.get("kind").is_none() && node.get("apiVersion").is_none(), "{text}");
            let span = node.origin.span().expect("a place");
            assert_eq!(span.start as usize..span.end as usize, part.range, "{text}");
        }
    }
    let rest = split(SOURCE, "{} [] 1").value;
    let plain: Vec<bool> = rest.iter().map(|part| part.is_plain(&limits)).collect();
    assert_eq!(plain, [true, false, false]);
}

fn node(value: &Json) -> Node {
    Node::from_json(value, Origin::Derived(&TEST))
}

static TEST: Rule = Rule { id: "test", text: "Written by a test.", cite: "" };

/// Equal but for the last digit of floats, where readers of JSON differ.
fn close(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Float(a), Value::Float(b)) => (a - b).abs() <= a.abs() * 1e-15,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter().all(|entry| b.get(&entry.key).is_some_and(|b| close(&entry.node, b)))
        }
        _ => a == b,
    }
}

/// The documents up to the first error, and what was found.
///
/// A line of `---` that kubectl refuses takes the document before it along; that is read here, as
/// it is not to blame.
fn read_like_kubectl(text: &str) -> (Vec<Node>, Vec<Diagnostic>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parts = split(SOURCE, text);
    let mut found = parts.diagnostics;
    let refused = |finding: &Diagnostic| {
        finding.severity == Severity::Error && finding.code != Code::DuplicateKey
    };
    let marker = found.iter().find(|finding| refused(finding));
    let place = marker.and_then(Diagnostic::span).map_or(usize::MAX, |span| span.start as usize);
    let with_the_one_before =
        marker.is_some_and(|finding| finding.message.contains("line of `---`"));
    let mut nodes = Vec::new();
    let mut stopped = false;
    for part in parts.value {
        let end = part.range.end;
        stopped |= part.range.start >= place
            || (with_the_one_before && (end >= place || !text[end..place].contains('\n')));
        let read = parse(SOURCE, text, part, &Limits::default());
        stopped |= read.diagnostics.iter().any(refused);
        found.extend(read.diagnostics);
        if !stopped {
            nodes.extend(read.value);
        }
    }
    (nodes, found)
}

#[test]
fn scalars_read_as_kubectl_reads_them() {
    let mut wrong = Vec::new();
    for row in recordings::rows::<Json>("apimachinery/yaml-scalars") {
        let text = row["yaml"].as_str().unwrap();
        let (nodes, findings) = read_like_kubectl(text);
        let kubectl = &row["kubectl"];
        let worst = findings.iter().map(|finding| finding.severity).max();
        let expected: Vec<Node> =
            kubectl["docs"].as_array().into_iter().flatten().map(node).collect();
        let refused = findings.iter().any(|finding| {
            finding.severity == Severity::Error && finding.code != Code::DuplicateKey
        });
        let error = kubectl.get("error").is_some();
        let complaint = if nodes.len() != expected.len()
            || !nodes.iter().zip(&expected).all(|(node, expected)| close(node, expected))
        {
            Some("another value")
        } else if error && !refused {
            Some("no finding")
        } else if !error && refused {
            Some("an error")
        } else if row["same"] == false
            && worst < Some(Severity::Warning)
            && nodes.iter().all(|node| node.as_map().is_some())
        {
            // Where the root is no mapping the document is no object, which others say.
            Some("no warning although kustomize differs")
        } else {
            None
        };
        if let Some(complaint) = complaint {
            let shown: Vec<String> = findings
                .iter()
                .map(|finding| format!("{}: {}", finding.code.as_str(), finding.message))
                .collect();
            wrong.push(format!(
                "{complaint}: {text:?}\n  got  {:?}\n  want {}\n  kust {}\n  {shown:?}",
                nodes.iter().map(|node| node.to_json().to_string()).collect::<Vec<_>>(),
                row["kubectl"],
                row["kustomize"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} rows\n{}", wrong.len(), wrong.join("\n"));
}

/// The code of every finding with the text at its place.
fn findings(text: &str) -> Vec<(&'static str, String)> {
    findings_within(text, &Limits::default())
}

fn findings_within(text: &str, limits: &Limits) -> Vec<(&'static str, String)> {
    let (_, found) = read_within(text, limits);
    found
        .iter()
        .map(|finding| {
            let span = finding.span().unwrap();
            (
                finding.code.as_str(),
                text.get(span.start as usize..span.end as usize).unwrap_or("").to_owned(),
            )
        })
        .collect()
}

#[test]
fn yaml_findings_have_the_right_span() {
    for (text, expected) in [
        // tools/reader: syntax, in one document of several.
        ("a: 1\n---\nb: c: d\n---\ne: @f\n", vec![("yaml-syntax", ":"), ("yaml-syntax", "@")]),
        ("a: [b\nc: 1\n", vec![("yaml-syntax", ":")]),
        ("a: 'b\n", vec![("yaml-syntax", "'")]),
        ("a: b\nc\n", vec![("yaml-syntax", "c")]),
        ("é: ü\nb: \"ö\" x\n", vec![("yaml-syntax", "x")]),
        ("spec:\n\ta: 1\n", vec![("yaml-syntax", "\t")]),
        ("a: 1\n\t\nb: 2\n", vec![("yaml-syntax", "\t")]),
        ("a: {{ .Name }}\n", vec![("yaml-syntax", "{")]),
        ("a: x\u{1}\n", vec![("yaml-syntax", "\u{1}")]),
        ("a: [|\n]\n", vec![("yaml-syntax", "|")]),
        // Aliases.
        (
            "a: *nope\nb: [*neither]\n",
            vec![("undefined-alias", "*nope"), ("undefined-alias", "*neither")],
        ),
        ("a: &a [1, *a]\n", vec![("alias-cycle", "*a")]),
        ("a: &a [1]\n---\nb: *a\n", vec![("undefined-alias", "*a")]),
        // Keys.
        ("a: 1\nb: 2\n\"a\": 3\n", vec![("duplicate-key", "\"a\"")]),
        ("x: {a: 1, a: 2}\n", vec![("duplicate-key", "a")]),
        ("a: &a {x: 1}\nb: {<<: *a, x: 2}\n", vec![]),
        ("a: &a {x: 1}\nb: {c: {!!merge <<: *a, x: 2}}\n", vec![]),
        // A last line without a line feed is a last line.
        ("a: |\n  x\n  y", vec![]),
        ("a: &a {x: 1}\nb: {x: 2, <<: *a}\n", vec![("ambiguous-scalar", "<<")]),
        // Words.
        ("disabled: on\n", vec![("ambiguous-scalar", "on")]),
        (
            "a: [y, n, 017, 1_000, 0b11, 2024-01-01]\n",
            ["y", "n", "017", "1_000", "0b11", "2024-01-01"]
                .map(|word| ("ambiguous-scalar", word))
                .to_vec(),
        ),
        ("on: 1\n", vec![("ambiguous-scalar", "on")]),
        // Modes of files are octal to all.
        ("secret: {defaultMode: 0400, items: [{mode: 0644}]}\n", vec![]),
        (
            "replicas: 010\nmode: 0_644\n",
            vec![("ambiguous-scalar", "010"), ("ambiguous-scalar", "0_644")],
        ),
        ("tag: 12e4567\n", vec![("ambiguous-scalar", "12e4567")]),
        (
            "a: [True, ~, 0x1F, 0o17, 1e3, 08, +1, .5, 5., \"on\", 'y', v1.10, 1:30, 80Gi, null, \"017\"]\n",
            vec![],
        ),
        ("1: a\ntrue: b\n1.5: c\n2024-01-01: d\n", vec![]),
        // Text between documents.
        ("a: 1\n...\nb: 2\n---\nc: 3\n", vec![("yaml-syntax", "b")]),
        ("--- a: 1\n", vec![("yaml-syntax", "a: 1")]),
        ("%YAML 1.2\n---\na: 1\n", vec![("yaml-syntax", "%YAML 1.2")]),
    ] {
        let expected: Vec<(&str, String)> =
            expected.into_iter().map(|(code, at)| (code, at.to_owned())).collect();
        assert_eq!(findings(text), expected, "{text:?}");
    }
}

#[test]
fn ambiguous_words_are_repaired_by_quotes_and_nothing_else() {
    for (text, expected) in [
        ("a: on # as usual\n", "a: \"on\" # as usual\n"),
        ("a: &x yes\nb: *x\n", "a: &x \"yes\"\nb: *x\n"),
        ("- {é: no, y: 1_0}\n", "- {é: \"no\", \"y\": \"1_0\"}\n"),
        ("a: ! 0x1F\n", "a: \"0x1F\"\n"),
    ] {
        let (_, found) = read(text);
        let mut repaired = text.to_owned();
        let mut edits: Vec<_> = found.into_iter().flat_map(|finding| finding.fix).collect();
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
        for edit in edits {
            repaired.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.insert);
        }
        assert_eq!(repaired, expected);
        assert_eq!(findings(&repaired), [], "{repaired:?}");
    }
}

#[test]
fn every_node_and_key_has_its_source_span() {
    let text = "é: [a, {b: \"ü\"}]\r\nc:\r\n  - |\r\n    x\r\n    y\r\n  - 'z' # it's\r\nd: &d\r\n  e: 1\r\nf: *d\r\ng:\r\n";
    let (nodes, found) = read(text);
    assert_eq!(found, []);
    let at = |keys: &str| {
        let path = FieldPath::parse(keys).unwrap();
        let span = nodes[0].select(&path)[0].origin.span().unwrap();
        &text[span.start as usize..span.end as usize]
    };
    for (keys, expected) in [
        ("é", "[a, {b: \"ü\"}]"),
        ("é[0]", "a"),
        ("é[1]", "{b: \"ü\"}"),
        ("é[1].b", "\"ü\""),
        ("c[0]", "x\r\n    y"),
        ("c[1]", "'z'"),
        ("d", "&d\r\n  e: 1"),
        ("f", "&d\r\n  e: 1"),
    ] {
        assert_eq!(at(keys), expected, "{keys}");
    }
    let keys: Vec<&str> = nodes[0]
        .entries()
        .map(|entry| entry.key_origin.span().unwrap())
        .map(|span| &text[span.start as usize..span.end as usize])
        .collect();
    assert_eq!(keys, ["é", "c", "d", "f", "g"]);
}

#[test]
fn limits_are_findings_that_name_their_flag() {
    let small = Limits { depth: 4, nodes: 20, ..Limits::default() };
    let deep = "[".repeat(200_000);
    let cascade = "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n";
    for (text, code, flag) in [
        ("a: [[[1]]]\n", None, ""),
        ("a: [[[[1]]]]\n", Some("depth-limit"), "--max-depth"),
        ("a:\n  b:\n    c:\n      d:\n        e: 1\n", Some("depth-limit"), "--max-depth"),
        ("{\"a\": [[[[1]]]]}", Some("depth-limit"), "--max-depth"),
        (&deep, Some("depth-limit"), "--max-depth"),
        (&"- ".repeat(200_000), Some("depth-limit"), "--max-depth"),
        (&"{\"a\":".repeat(200_000), Some("depth-limit"), "--max-depth"),
        ("a: &a [[1]]\nb: [*a]\n", None, ""),
        ("a: &a [[1]]\nb: [[*a]]\n", Some("depth-limit"), "--max-depth"),
        (&"- 1\n".repeat(19), None, ""),
        (&"- 1\n".repeat(20), Some("node-limit"), "--max-nodes"),
        (&format!("[{}]", "1,".repeat(30)), Some("node-limit"), "--max-nodes"),
        (cascade, Some("expansion-limit"), "--max-nodes"),
        (
            "a: &a {x: 1, y0: 2, z: 3}\nb: {<<: [*a, *a, *a]}\nc: {<<: [*a, *a, *a]}\n",
            Some("expansion-limit"),
            "--max-nodes",
        ),
    ] {
        let (nodes, found) = read_within(text, &small);
        let shown = &text[..text.len().min(60)];
        assert_eq!(
            found.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>(),
            code.into_iter().collect::<Vec<_>>(),
            "{shown:?}"
        );
        assert!(found.iter().all(|finding| finding.message.contains(flag)), "{shown:?}: {found:?}");
        assert_eq!(nodes.len(), usize::from(code.is_none()), "{shown:?}");
    }
    assert!(findings(cascade).is_empty());
    // However high the flag: what comes after calls itself once a level.
    let huge = Limits { depth: usize::MAX, ..Limits::default() };
    assert_eq!(findings_within(&deep, &huge)[0].0, "depth-limit");
}

#[test]
fn hostile_texts_are_parsed_with_bounded_findings() {
    let many = |unit: &str| unit.repeat((1 << 18) / unit.len());
    for text in [
        many("[{"),
        many("a: "),
        many("? "),
        many("a: 1\n"),
        many("- *a\n"),
        many("- yes\n"),
        many("&a "),
        many("\""),
        many("{}"),
        many("\t"),
        many("\u{feff}"),
        many("\0"),
        many("---\n"),
        format!("a: [\n{}]", many("é,\n")),
        format!("{}a: [\n{}]", " ".repeat(1000), many("b,\n")),
        format!("a: \"{}", many("x\n")),
        format!("a: &a {{x: 1}}\nb:\n{}", many("  <<: *a\n")),
        format!("a: 1{}", many("_")),
    ] {
        let (_, found) = read(&text);
        assert!(found.len() < 1010, "{}: {}", &text[..20.min(text.len())], found.len());
    }
}

#[test]
fn brackets_and_quotes_may_close_at_any_column_as_for_kubectl() {
    for (text, expected) in [
        ("s:\n  a: [\n    \"b\"\n  ]\n", json!({"s": {"a": ["b"]}})),
        (
            "s:\n  a: {\n  b: 1,\nc: 'é\nf'\n}\n  d: 2\n",
            json!({"s": {"a": {"b": 1, "c": "é f"}, "d": 2}}),
        ),
        ("a: \"b\nc: d\"\ne: it's\nf: [g\n]\n", json!({"a": "b c: d", "e": "it's", "f": ["g"]})),
        ("a: [b]# c\n", json!({"a": ["b"]})),
        ("a:\tb\n", json!({"a": "b"})),
        ("a: {b:}\n", json!({"a": {"b:": null}})),
    ] {
        let (nodes, found) = read(text);
        assert_eq!(nodes, [node(&expected)], "{text:?}: {found:?}");
    }
    // The places after a line that was too little indented are right.
    assert_eq!(findings("é: [\na\n]\nb: y\n"), [("ambiguous-scalar", "y".to_owned())]);
}

#[test]
fn texts_fall_into_documents_as_for_kubectl() {
    let all =
        |text: &str| read(text).0.iter().map(|node| node.to_json().to_string()).collect::<Vec<_>>();
    for (text, expected, codes) in [
        // A question mark begins a key in brackets.
        ("x: [?a]\n", vec![r#"{"x":[{"a":null}]}"#], vec!["ambiguous-scalar"]),
        // Lines are divided before anybody looks at quotes, and only line feeds end them.
        ("a: \"b\n---\nc\"\n", vec![r#""c\"""#], vec!["yaml-syntax"]),
        ("a: 1\r---\rb: 2\n", vec![r#"{"a":1}"#], vec!["yaml-syntax"]),
        ("a: 1\n---x\nb: 2\n", vec![r#"{"a":1}"#, r#"{"b":2}"#], vec!["yaml-syntax"]),
        // Text behind the end of a document is not read.
        ("{a: 1} x\n---\nb: 2\n", vec![r#"{"a":1}"#, r#"{"b":2}"#], vec!["yaml-syntax"]),
        // After one JSON object there may be YAML, after two there may not.
        ("{\"a\": 1}\nb: 2\n", vec![r#"{"a":1}"#, r#"{"b":2}"#], vec!["yaml-syntax"]),
        (
            "{\"a\": 1}{\"b\": 2}\nc: 3\n",
            vec![r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#],
            vec!["yaml-syntax", "yaml-syntax"],
        ),
        ("{\"a\": 1} x\n", vec![r#"{"a":1}"#, "\"x\""], vec!["yaml-syntax", "yaml-syntax"]),
        // JSON escapes are known where the stream is JSON, and there only.
        ("{\"a\": \"\\ud83d\\ude42\"}\n", vec![r#"{"a":"🙂"}"#], vec!["ambiguous-scalar"]),
        ("---\n{\"a\": \"\\ud83d\\ude42\"}\n", vec![], vec!["yaml-syntax"]),
        // A directive is before a `---` that kubectl has taken away.
        ("%YAML 1.1\n---\na: 1\n", vec![r#"{"a":1}"#], vec!["yaml-syntax"]),
        ("%TAG !e! tag:e,2000:\n---\na: !e!x 1\n", vec![], vec!["yaml-syntax", "yaml-syntax"]),
    ] {
        assert_eq!(all(text), expected, "{text:?}");
        assert_eq!(
            findings(text).iter().map(|(code, _)| *code).collect::<Vec<_>>(),
            codes,
            "{text:?}: {:?}",
            findings(text)
        );
    }
}

#[test]
fn parser_quirks_of_kubectl_are_reproduced() {
    for (text, expected) in [
        ("v: |\n  a", json!({"v": "a\n"})),
        ("v: |+\n  a\n  ", json!({"v": "a\n\n"})),
        ("v: >+", json!({"v": ""})),
        ("v: 'a\r\r\nb'\n", json!({"v": "a b"})),
        ("v: \"a\u{2028}b\"\n", json!({"v": "a\u{2028}b"})),
        ("v: a\n- b\n", json!(null)),
        ("[]: a\n", json!([])),
        ("v: {a: 1, <<: {a: 2, b: 3}}\n", json!({"v": {"a": 2, "b": 3}})),
        ("v: !!str\nw: ! 1\n", json!({"v": "", "w": "1"})),
    ] {
        let (nodes, found) = read(text);
        let expected: Vec<Node> =
            Some(node(&expected)).filter(|node| !node.is_null()).into_iter().collect();
        assert_eq!(nodes, expected, "{text:?}: {found:?}");
    }
}

#[test]
fn places_end_with_a_whole_character() {
    for text in ["{}ɵ", "- é: 1\n", "é: 1\nb: {ü: 2}\n", "{a: 1}\né", "a: 1\n...\né\n"] {
        let (_, found) = read_within(text, &Limits { depth: 1, nodes: 1, ..Limits::default() });
        assert!(!found.is_empty(), "{text:?}");
        for label in found.iter().flat_map(|finding| &finding.labels) {
            assert!(
                text.get(label.span.start as usize..label.span.end as usize).is_some(),
                "{text:?}: {label:?}"
            );
        }
    }
}

#[test]
fn json_is_read_as_json() {
    let text = "{\"a\": \"\\ud83d\\ude42\\u00e9\", \"b\": [1, -2.5, 1e3, true, null, {}], \"c\": 18446744073709551615}\n";
    assert_eq!(read(text).0, [node(&serde_json::from_str(text).unwrap())]);
    assert_eq!(read("{\"a\": 1}\n{\"b\": 2}\n").0.len(), 2);
    assert_eq!(findings("{\"a\": 1, \"a\": 2}"), [("duplicate-key", "\"a\"".to_owned())]);
    assert_eq!(read("{a: 1, b: [c]}").0, [node(&json!({"a": 1, "b": ["c"]}))]);
}
