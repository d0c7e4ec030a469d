//! The items of a List that is longer than one document may be: the dump of a cluster, as `kubectl
//! get -o json` and `-o yaml` print it.
//!
//! In: the text of a document. Out: a part for each item, so that each is read within the limits of
//! a document and beside the others. A List in any other layout is read as one document.

use crate::yaml::{Node, Part, Unread, Unwanted};
use ecow::{EcoString, EcoVec};
use memchr::memmem;
use std::ops::Range;

/// A List with the places of its items.
pub(super) struct LongList {
    /// The items, in order; in YAML each with its dash, so that it reads as a list of one.
    pub(super) items: Vec<Part>,
    /// `apiVersion` and kind of the items of a typed list, as `PodList`, which may leave them out.
    pub(super) typed: Option<(EcoString, EcoString)>,
}

/// The items of a document, each with what nothing reads of it.
pub(super) fn items(text: &str, part: &Part) -> Option<LongList> {
    let body = text.get(part.range.clone())?;
    let is_json = body.trim_start().starts_with('{');
    let (found, frame) = if is_json { in_json(body)? } else { in_yaml(body)? };
    let (api_version, kind) = frame;
    let single = kind.strip_suffix("List")?;
    let typed = (!single.is_empty()).then(|| (api_version.into(), single.into()));
    let start = part.range.start;
    let place = |item: Range<usize>| Part {
        json: is_json,
        unread: if is_json { unread_of(&body[item.clone()]) } else { &[] },
        ..Part::from(start + item.start..start + item.end)
    };
    Some(LongList { items: found.into_iter().map(place).collect(), typed })
}

/// Items as ranges, and `apiVersion` and kind of the list.
type Found = (Vec<Range<usize>>, (String, String));

/// What no answer reads of the objects that a dump has most of: more than half of its memory.
const OF_METADATA: Unread = Unread {
    at: &["metadata"],
    what: Unwanted::Keys(&["generation", "managedFields", "resourceVersion", "selfLink"]),
};
const OF_OWNERS: Unread =
    Unread { at: &["metadata", "ownerReferences"], what: Unwanted::Keys(&["blockOwnerDeletion"]) };
/// Of containers.
const OF_CONTAINERS: Unwanted = Unwanted::Keys(&[
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "volumeMounts",
]);
static OF_POD: [Unread; 10] = [
    OF_METADATA,
    OF_OWNERS,
    Unread { at: &["spec"], what: Unwanted::Keys(&["dnsPolicy", "terminationGracePeriodSeconds"]) },
    Unread { at: &["spec", "containers"], what: OF_CONTAINERS },
    Unread { at: &["spec", "initContainers"], what: OF_CONTAINERS },
    Unread { at: &["spec", "volumes", "projected"], what: Unwanted::Keys(&["defaultMode"]) },
    Unread {
        at: &["spec", "volumes", "projected", "sources", "serviceAccountToken"],
        what: Unwanted::Keys(&["expirationSeconds"]),
    },
    Unread {
        at: &["status"],
        what: Unwanted::AllKeysBut(&[
            "phase",
            "conditions",
            "startTime",
            "nominatedNodeName",
            "resourceClaimStatuses",
        ]),
    },
    // Of a pod that is not resized only one condition is read.
    Unread { at: &["status", "conditions"], what: Unwanted::ItemsBut("type", "Ready") },
    Unread {
        at: &["status", "conditions"],
        what: Unwanted::Keys(&["lastProbeTime", "lastTransitionTime", "observedGeneration"]),
    },
];
/// A pod that is resized in place holds what its status says, too.
static OF_RESIZED_POD: [Unread; 3] = [
    OF_METADATA,
    Unread { at: &["status", "containerStatuses"], what: OF_STATUS },
    Unread { at: &["status", "initContainerStatuses"], what: OF_STATUS },
];
const OF_STATUS: Unwanted = Unwanted::AllKeysBut(&["name", "resources", "allocatedResources"]);
/// With this begin the conditions of a pod that is resized.
const RESIZE: &str = "PodResize";
static OF_OTHERS: [Unread; 1] = [OF_METADATA];

fn unread(kind: Option<&str>) -> &'static [Unread] {
    match kind {
        Some("Pod") => &OF_POD,
        Some("Node" | "ReplicaSet") => &OF_OTHERS,
        _ => &[],
    }
}

/// What nothing reads of an item in JSON. A long text is searched once, without parsing it.
fn unread_of(item: &str) -> &'static [Unread] {
    match kind_in_json(item) {
        Some("Pod") if memmem::find(item.as_bytes(), RESIZE.as_bytes()).is_some() => {
            &OF_RESIZED_POD
        }
        kind => unread(kind),
    }
}

/// Drops from an item what no answer reads; in JSON it was passed over.
pub(super) fn trim(item: &mut Node) {
    if let Some([wrapped]) = item.as_list_mut().map(EcoVec::make_mut) {
        return trim(wrapped);
    }
    let kind = item.get("kind").and_then(Node::as_str);
    let conditions = item.at(&["status", "conditions"]).map(Node::items).unwrap_or_default();
    let resizes = kind == Some("Pod")
        && conditions.iter().any(|condition| {
            let named = condition.get("type").and_then(Node::as_str);
            named.is_some_and(|name| name.starts_with(RESIZE))
        });
    let unread = if resizes { &OF_RESIZED_POD[..] } else { unread(kind) };
    for field in unread {
        field.remove(item);
    }
}

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
fn kind_in_json(item: &str) -> Option<&str> {
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
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    fn texts(text: &str) -> Option<(Vec<&str>, Option<String>)> {
        let list = items(text, &Part::from(0..text.len()))?;
        let typed = list.typed.map(|(version, kind)| format!("{version} {kind}"));
        Some((list.items.into_iter().map(|part| &text[part.range]).collect(), typed))
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

    #[test]
    fn what_nothing_reads_is_passed_over_in_json_as_it_is_dropped_from_yaml() {
        let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"1","managedFields":[{"a":["}"]}],"name":"a"},"spec":{"containers":[{"volumeMounts":[],"name":"m","lifecycle":{}},{"imagePullPolicy":"Always"}]},"status":{"podIP":"1","phase":"Running","conditions":[{"type":"Initialized"},{"type":"Ready","lastTransitionTime":"x"},{"type":"PodScheduled"}],"qosClass":"B"}}"#;
        let text = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{pod}]}}"#);
        let list = items(&text, &Part::from(0..text.len())).expect("a list");
        let limits = Limits::default();
        let read = parse(SourceId(0), &text, list.items[0].clone(), &limits).value.unwrap();
        let mut trimmed = parse(SourceId(0), pod, 0..pod.len(), &limits).value.unwrap();
        trim(&mut trimmed);
        let kept = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"m"},{}]},"status":{"phase":"Running","conditions":[{"type":"Ready"}]}}"#;
        for printed in [read, trimmed] {
            assert_eq!(serde_json::to_string(&printed).unwrap(), kept);
        }
        // What a pod that is resized holds is in its status.
        let pod = r#"{"kind":"Pod","status":{"conditions":[{"type":"PodResizePending"}],"containerStatuses":[{"name":"m","image":"i","allocatedResources":{"cpu":"1"}}]}}"#;
        let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{pod}]}}"#);
        let part = items(&list, &Part::from(0..list.len())).expect("a list").items[0].clone();
        let read = parse(SourceId(0), &list, part, &limits).value.unwrap();
        let mut trimmed = parse(SourceId(0), pod, 0..pod.len(), &limits).value.unwrap();
        trim(&mut trimmed);
        for printed in [read, trimmed] {
            assert_eq!(
                serde_json::to_string(&printed).unwrap(),
                pod.replace(r#""image":"i","#, "")
            );
        }
        let broken = r#"{"kind":"Pod","metadata":{"managedFields":[}]}}"#;
        let part = Part { unread: &OF_POD, ..Part::from(0..broken.len()) };
        assert!(!parse(SourceId(0), broken, part, &limits).diagnostics.is_empty(), "it is no JSON");
    }
}
