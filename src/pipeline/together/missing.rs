//! Objects that new workloads name and that their namespace lacks: without its ServiceAccount a pod is
//! not created (plugin/pkg/admission/serviceaccount/admission.go), and without a ConfigMap or a Secret it
//! has a node and does not start (pkg/kubelet/kubelet_pods.go, `makeEnvironmentVariables`).
//!
//! In: workloads of the input that are not in a cluster yet. Out: a line for each object that they name
//! and that is not among those of its kind in a namespace that was read from a cluster.

use super::NotJudged;
use super::workloads::{ServiceNames, counted_objects, shown};
use crate::api::Object;
use crate::catalog::Catalog;
use crate::yaml::{Node, Value};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Kind and name of an object of the namespace of a pod.
type Named = (&'static str, EcoString);

/// All of them.
pub(super) fn found(catalog: &Catalog, services: &ServiceNames) -> Vec<NotJudged> {
    let mut named: BTreeMap<(EcoString, Named), &Object> = BTreeMap::new();
    for object in counted_objects(catalog, services) {
        if object.metadata("uid").is_some() || catalog.is_unfilled(object) {
            continue;
        }
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let mut references = BTreeSet::new();
        object.node.entries().for_each(|entry| specs(&entry.node, &mut references));
        for one in references {
            named.entry((namespace.clone(), one)).or_insert(object);
        }
    }
    if named.is_empty() {
        return Vec::new();
    }
    // The kinds of which a cluster's objects in a namespace were read.
    let mut live: BTreeSet<(&EcoString, &str)> = BTreeSet::new();
    let mut existing: BTreeSet<(&EcoString, &str, &EcoString)> = BTreeSet::new();
    for object in catalog.others() {
        let kind = object.id.kind.as_str();
        if !matches!(kind, "ConfigMap" | "Secret" | "ServiceAccount") {
            continue;
        }
        let Some(namespace) = object.id.scope.namespace() else { continue };
        existing.insert((namespace, kind, &object.id.name));
        if object.metadata("uid").is_some() {
            live.insert((namespace, kind));
        }
    }
    let missing = named.iter().filter(|((namespace, (kind, name)), _)| {
        live.contains(&(namespace, *kind)) && !existing.contains(&(namespace, *kind, name))
    });
    let line = |((namespace, (kind, name)), object): (&(EcoString, Named), &&Object)| NotJudged {
        what: eco_format!("{kind} `{namespace}/{name}`"),
        pods: None,
        message: eco_format!(
            "{} names it, it is not among the {kind}s of the input, and its pods do not start without it",
            shown(object)
        ),
    };
    missing.map(line).collect()
}

/// What the specs of pods below a node name.
fn specs(node: &Node, found: &mut BTreeSet<Named>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| specs(item, found)),
        Value::Map(_) if !node.items_of("containers").is_empty() => of_pod(node, found),
        Value::Map(map) => map.iter().for_each(|entry| specs(&entry.node, found)),
        _ => {}
    }
}

fn of_pod(spec: &Node, found: &mut BTreeSet<Named>) {
    let account = ["serviceAccountName", "serviceAccount"];
    let account = account.iter().find_map(|key| spec.get(key)?.scalar_text());
    found.extend(account.filter(|name| !name.is_empty()).map(|name| ("ServiceAccount", name)));
    let mut add = |kind: &'static str, reference: Option<&Node>, key: &str| {
        let Some(reference) = reference else { return };
        if reference.get("optional").and_then(Node::as_bool) != Some(true)
            && let Some(name) = reference.get(key).and_then(Node::scalar_text)
            && !name.is_empty()
        {
            found.insert((kind, name));
        }
    };
    for volume in spec.items_of("volumes") {
        add("ConfigMap", volume.get("configMap"), "name");
        add("Secret", volume.get("secret"), "secretName");
        for source in volume.at(&["projected", "sources"]).map(Node::items).unwrap_or_default() {
            add("ConfigMap", source.get("configMap"), "name");
            add("Secret", source.get("secret"), "name");
        }
    }
    for key in ["initContainers", "containers"] {
        for container in spec.items_of(key) {
            for source in container.items_of("envFrom") {
                add("ConfigMap", source.get("configMapRef"), "name");
                add("Secret", source.get("secretRef"), "name");
            }
            for variable in container.items_of("env") {
                add("ConfigMap", variable.at(&["valueFrom", "configMapKeyRef"]), "name");
                add("Secret", variable.at(&["valueFrom", "secretKeyRef"]), "name");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    fn whats(spec: &str, container: &str, more: &str) -> Vec<String> {
        let text = gpu_node("n1", 8, "")
            + &format!(
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{{spec}containers: [{{name: c, image: x{container}}}]}}}}}}\n"
            )
            + more;
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        let all = ran.at("/placement/notJudged");
        let all = all.as_array().into_iter().flatten();
        all.filter_map(|own| Some(own["what"].as_str()?.to_owned())).collect()
    }

    fn object(kind: &str, name: &str, live: bool) -> String {
        let uid = if live { ", uid: u" } else { "" };
        format!(
            "---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: ml{uid}}}\n"
        )
    }

    #[test]
    fn what_a_namespace_of_a_cluster_lacks_is_not_judged() {
        for (kind, spec, container) in [
            ("ServiceAccount", "serviceAccountName: m, ", ""),
            ("ConfigMap", "volumes: [{name: v, configMap: {name: m}}], ", ""),
            ("Secret", "volumes: [{name: v, secret: {secretName: m}}], ", ""),
            ("ConfigMap", "", ", envFrom: [{configMapRef: {name: m}}]"),
            ("Secret", "", ", env: [{name: E, valueFrom: {secretKeyRef: {name: m, key: k}}}]"),
        ] {
            let of = |more: &str| whats(spec, container, more);
            assert_eq!(
                of(&object(kind, "other", true)),
                [format!("{kind} `ml/m`")],
                "{spec}{container}"
            );
            // It is there, or will be.
            for live in [true, false] {
                let both = object(kind, "other", true) + &object(kind, "m", live);
                assert!(of(&both).is_empty(), "{spec}{container}");
            }
            // Of a repository it is not known what the cluster has.
            assert!(of(&object(kind, "other", false)).is_empty(), "{spec}{container}");
        }
        let optional = "volumes: [{name: v, secret: {secretName: m, optional: true}}], ";
        assert!(whats(optional, "", &object("Secret", "other", true)).is_empty());
    }
}
