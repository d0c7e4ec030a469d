//! Updates of workloads that a server refuses, because a field of theirs may not change.

use crate::api::{Object, was_in_cluster};
use crate::schema::{self, Schema};
use crate::tree::{Change, changes, covers, effects};
use crate::yaml::{Node, Segment};
use ecow::{EcoString, eco_format};

/// Fields below what is immutable that the server fills in, and with what; none for any value.
const FILLED_IN: [(&str, Option<&str>); 7] = [
    ("apiVersion", Some("v1")),
    ("creationTimestamp", None),
    ("kind", Some("PersistentVolumeClaim")),
    ("podManagementPolicy", Some("OrderedReady")),
    ("serviceName", Some("")),
    ("status", None),
    ("volumeMode", Some("Filesystem")),
];

/// Why a workload of the input cannot become another one by an update; none where it can.
pub(super) fn refusal(earlier: &Object, object: &Object) -> Option<EcoString> {
    let kind = object.id.kind.as_str();
    let effect = effects::of(&object.api_version, kind)?;
    let ty = schema::kind(&object.api_version, kind).map(Schema::root);
    let live = [earlier, object].map(|state| was_in_cluster(&state.node));
    let all = changes(&earlier.node, &object.node, ty);
    let mut refused = all.iter().filter(|change| effect.refuses(change));
    let path = &refused.find(|change| !is_filled_in(change) && !is_of_server(change, live))?.path;
    Some(eco_format!(
        "`{path}` of a {kind} is immutable: a server refuses the update of one that is there, and \
         creates one that was deleted"
    ))
}

/// Whether one side has what the server fills in on the other.
fn is_filled_in(change: &Change) -> bool {
    let ((Some(value), None) | (None, Some(value))) = (&change.from, &change.to) else {
        return false;
    };
    let Some(Segment::Field(field)) = change.path.0.last() else { return false };
    FILLED_IN.iter().any(|(name, filled)| {
        name == field && filled.is_none_or(|filled| value.as_str() == Some(filled))
    })
}

/// Whether a manifest is beside the object of a cluster, which has more than the manifest states.
fn is_of_server(change: &Change, live: [bool; 2]) -> bool {
    let has_all = |manifest: Option<&Node>, live: Option<&Node>| match (manifest, live) {
        (None, _) => true,
        (Some(manifest), live) => live.is_some_and(|live| covers(manifest, live)),
    };
    let (from, to) = (change.from.as_ref(), change.to.as_ref());
    match live {
        [true, false] => has_all(to, from),
        [false, true] => has_all(from, to),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    fn stateful(more: &str, meta: &str) -> String {
        format!(
            "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: a, namespace: ml{meta}}}\nspec: {{selector: {{matchLabels: {{app: a}}}}, {more}template: {{metadata: {{labels: {{app: a}}}}, spec: {{containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    }

    fn deployment(label: &str) -> String {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{selector: {{matchLabels: {{app: {label}}}}}, template: {{metadata: {{labels: {{app: {label}}}}}, spec: {{containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    }

    #[test]
    fn an_update_that_a_server_refuses_is_not_judged() {
        let set = |more: &str| stateful(more, "");
        let claims = |size: &str, more: &str| {
            format!(
                "volumeClaimTemplates: [{{metadata: {{name: d}}, spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: {size}}}}}{more}}}}}], "
            )
        };
        let live = stateful(
            &format!(
                "podManagementPolicy: OrderedReady, serviceName: '', {}",
                claims("1Gi", ", storageClassName: x, volumeMode: Filesystem")
            ),
            ", uid: u",
        );
        for (before, after, path) in [
            (deployment("a"), deployment("b"), Some("spec.selector.matchLabels.app")),
            (deployment("a"), deployment("a"), None),
            (set("serviceName: a, "), set("serviceName: b, "), Some("spec.serviceName")),
            (set(""), set("podManagementPolicy: Parallel, "), Some("spec.podManagementPolicy")),
            (set(""), set("podManagementPolicy: OrderedReady, "), None),
            (set(""), set("replicas: 2, "), None),
            (set(&claims("1Gi", "")), set(&claims("2Gi", "")), Some("spec.volumeClaimTemplates")),
            (set(&claims("1Gi", "")), set(&claims("1024Mi", "")), None),
            // A manifest beside the object that a server completed.
            (live.clone(), set(&claims("1Gi", "")), None),
            (live, set(&claims("2Gi", "")), Some("spec.volumeClaimTemplates")),
        ] {
            let [old, new] = [&before, &after].map(|text| gpu_node("n1", 8, "") + text);
            let files = [("before.yaml", old.as_str()), ("after.yaml", new.as_str())];
            let ran = ome_on("diff -o json --base {before.yaml} -f {after.yaml}", &files);
            let message = ran.at("/capacity/notJudged/0/message");
            let message = message.as_str().unwrap_or("");
            let is_named = path.is_none_or(|path| message.starts_with(&format!("`{path}")));
            let is_refused = message.contains("is immutable");
            assert!(is_named && is_refused == path.is_some(), "{before}{after}{message}");
        }
    }
}
