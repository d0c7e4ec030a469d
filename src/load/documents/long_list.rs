//! What nothing reads of the items of a long List, the dump of a cluster.

use crate::source::long_list::{LongList, kind_in_json};
use crate::yaml::{Node, Part, Unread, Unwanted};
use ecow::EcoVec;
use memchr::memmem;

/// The items of a List, each with what nothing reads of it.
pub(super) fn parts(text: &str, list: &LongList) -> Vec<Part> {
    let part = |item: &std::ops::Range<usize>| Part {
        json: list.json,
        unread: if list.json { unread_of(&text[item.clone()]) } else { &[] },
        ..Part::from(item.clone())
    };
    list.items.iter().map(part).collect()
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    fn items(text: &str) -> Vec<Part> {
        let list = crate::source::long_list::items(text, 0..text.len()).expect("a list");
        parts(text, &list)
    }

    #[test]
    fn what_nothing_reads_is_passed_over_in_json_as_it_is_dropped_from_yaml() {
        let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"1","managedFields":[{"a":["}"]}],"name":"a"},"spec":{"containers":[{"volumeMounts":[],"name":"m","lifecycle":{}},{"imagePullPolicy":"Always"}]},"status":{"podIP":"1","phase":"Running","conditions":[{"type":"Initialized"},{"type":"Ready","lastTransitionTime":"x"},{"type":"PodScheduled"}],"qosClass":"B"}}"#;
        let text = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{pod}]}}"#);
        let all = items(&text);
        let limits = Limits::default();
        let read = parse(SourceId(0), &text, all[0].clone(), &limits).value.unwrap();
        let mut trimmed = parse(SourceId(0), pod, 0..pod.len(), &limits).value.unwrap();
        trim(&mut trimmed);
        let kept = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"m"},{}]},"status":{"phase":"Running","conditions":[{"type":"Ready"}]}}"#;
        for printed in [read, trimmed] {
            assert_eq!(serde_json::to_string(&printed).unwrap(), kept);
        }
        // What a pod that is resized holds is in its status.
        let pod = r#"{"kind":"Pod","status":{"conditions":[{"type":"PodResizePending"}],"containerStatuses":[{"name":"m","image":"i","allocatedResources":{"cpu":"1"}}]}}"#;
        let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{pod}]}}"#);
        let part = items(&list)[0].clone();
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
