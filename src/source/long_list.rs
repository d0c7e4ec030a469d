//! The items of a List that is longer than one document may be: the dump of a cluster, as `kubectl
//! get -o json` and `-o yaml` print it.
//!
//! In: the text of a document. Out: the place of each item. A List in any other layout has none, and
//! is one document.

use ecow::EcoString;
use std::ops::Range;

/// A List with the places of its items.
pub struct LongList {
    /// The items, in order; in YAML each with its dash, so that it reads as a list of one.
    pub items: Vec<Range<usize>>,
    /// `apiVersion` and kind of the items of a typed list, as `PodList`, which may leave them out.
    pub typed: Option<(EcoString, EcoString)>,
    /// Whether it is written as JSON.
    pub json: bool,
}

/// The items of a document that is a List.
pub fn items(text: &str, document: Range<usize>) -> Option<LongList> {
    let start = document.start;
    let body = text.get(document)?;
    let json = body.trim_start().starts_with('{');
    let (found, frame) = if json { in_json(body)? } else { in_yaml(body)? };
    let (api_version, kind) = frame;
    let single = kind.strip_suffix("List")?;
    let typed = (!single.is_empty()).then(|| (api_version.into(), single.into()));
    let place = |item: Range<usize>| start + item.start..start + item.end;
    Some(LongList { items: found.into_iter().map(place).collect(), typed, json })
}

/// Items as ranges, and `apiVersion` and kind of the list.
type Found = (Vec<Range<usize>>, (String, String));

/// Where a JSON string ends that begins at `at` with its quote.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        // Inside of strings there are braces: they are passed over first.
        at += bytes.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        // The escaped character may be a quote.
        at += 2;
    }
}

/// Where a JSON object or list ends that begins at `at`.
fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                // More ends than beginnings: this is no JSON, and the parser has to say so.
                depth = depth.checked_sub(1)?;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
}

/// Behind white space, and behind one byte that is expected there.
fn behind(bytes: &[u8], at: usize, expected: u8) -> Option<usize> {
    let blank = bytes.get(at..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
    (bytes[at + blank] == expected).then_some(at + blank + 1)
}

/// Where the value of a member of the object itself begins, of a quoted name.
fn member(bytes: &[u8], name: &[u8]) -> Option<usize> {
    let mut at = behind(bytes, 0, b'{')?;
    loop {
        match bytes.get(at)? {
            b'"' => {
                let end = string_end(bytes, at)?;
                // The name of a member is followed by a colon, and a string that is a value is not.
                match behind(bytes, end, b':') {
                    Some(value) if &bytes[at..end] == name => return Some(value),
                    value => at = value.unwrap_or(end),
                }
            }
            b'{' | b'[' => at = value_end(bytes, at)?,
            b'}' => return None,
            _ => at += 1,
        }
    }
}

/// The kind of an item. It is of use only as a hint, so that escapes in it do not matter.
pub(crate) fn kind_in_json(item: &str) -> Option<&str> {
    let bytes = item.as_bytes();
    let start = behind(bytes, member(bytes, b"\"kind\"")?, b'"')?;
    item.get(start..string_end(bytes, start - 1)? - 1)
}

fn in_json(body: &str) -> Option<Found> {
    let bytes = body.as_bytes();
    let begin = behind(bytes, member(bytes, b"\"items\"")?, b'[')?;
    let (mut items, mut at) = (Vec::new(), begin);
    let end = loop {
        at += bytes.get(at..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
        match bytes[at] {
            b'{' => {
                let end = value_end(bytes, at)?;
                items.push(at..end);
                at = behind(bytes, end, b',').unwrap_or(end);
            }
            b']' => break at,
            _ => return None,
        }
    };
    // What is left around the items is small, and the real parser reads it.
    let frame = format!("{}{}", body.get(..begin)?, body.get(end..)?);
    let frame: serde_json::Value = serde_json::from_str(&frame).ok()?;
    let text = |key: &str| Some(frame.get(key)?.as_str()?.to_owned());
    Some((items, (text("apiVersion")?, text("kind")?)))
}

fn in_yaml(body: &str) -> Option<Found> {
    let (mut items, mut frame): (Vec<Range<usize>>, _) = (Vec::new(), [None, None]);
    let (mut at, mut is_within, mut indent) = (0, false, None);
    for line in body.split_inclusive('\n') {
        let (start, text) = (at, line.trim_end());
        at += line.len();
        let blank = text.len() - text.trim_start_matches(' ').len();
        let content = &text[blank..];
        let is_dash = content == "-" || content.starts_with("- ");
        if content.is_empty() || content.starts_with('#') {
            // It may be the last line of a block scalar, which ends the item.
            if is_within
                && indent.is_some_and(|indent| content.is_empty() || blank > indent)
                && let Some(last) = items.last_mut()
            {
                last.end = at;
            }
            continue;
        }
        // The first item sets the indentation of all: kubectl writes the dashes in column 0.
        let is_item = is_within && is_dash && blank == *indent.get_or_insert(blank);
        if is_item {
            items.push(start..at);
        } else if is_within && indent.is_some_and(|indent| blank > indent) {
            // A further line of the item.
        } else if blank == 0 && !is_dash {
            is_within = content == "items:";
            for (key, value) in ["apiVersion: ", "kind: "].iter().zip(&mut frame) {
                // The keys come after the items as well, since kubectl sorts them.
                *value = content.strip_prefix(key).map(str::to_owned).or(value.take());
            }
        } else if items.is_empty() || !is_within {
            // Fields of the list itself, as its metadata.
            continue;
        } else {
            // Any other layout: a wrong cut would give half objects, so the whole is left to the
            // parser.
            return None;
        }
        if is_within && let Some(last) = items.last_mut() {
            last.end = at;
        }
    }
    let [api_version, kind] = frame;
    Some((items, (api_version?, kind?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Option<(Vec<&str>, Option<String>)> {
        let list = items(text, 0..text.len())?;
        let typed = list.typed.map(|(version, kind)| format!("{version} {kind}"));
        Some((list.items.into_iter().map(|item| &text[item]).collect(), typed))
    }

    #[test]
    fn items_of_kubectls_lists_are_found_in_both_formats() {
        let yaml = "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    a: |\n      - x\n\n      items:\n  kind: ConfigMap\n- kind: Pod\nkind: List\nmetadata:\n  resourceVersion: \"\"\n";
        let (found, typed) = texts(yaml).expect("a list");
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("- apiVersion") && found[0].ends_with("kind: ConfigMap\n"));
        assert_eq!((found[1], typed), ("- kind: Pod\n", None));
        let script = "apiVersion: v1\nitems:\n- a: |+\n    x\n    # y\n\n# of the list\n- b: 1\nkind: List\n";
        let (found, _) = texts(script).expect("a list");
        assert_eq!(found, ["- a: |+\n    x\n    # y\n\n", "- b: 1\n"]);
        let json = r#"{"kind": "PodList", "apiVersion": "v1", "metadata": {"items": [1]}, "items": [ {"a": "]}\""}, {"b": [{}]} ] }"#;
        let (found, typed) = texts(json).expect("a list");
        assert_eq!(found, [r#"{"a": "]}\""}"#, r#"{"b": [{}]}"#]);
        assert_eq!(typed.as_deref(), Some("v1 Pod"));
    }

    #[test]
    fn what_is_no_list_of_objects_is_one_document() {
        for text in [
            "kind: ConfigMap\napiVersion: v1\nitems:\n- a: 1\n",
            "{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [1]}",
            "{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [{}",
            "items: [a]\nkind: List\n",
            "apiVersion: v1\nkind: List\nitems:\n  - a: 1\n - b: 1\n",
        ] {
            assert!(texts(text).is_none(), "{text}");
        }
    }
}
