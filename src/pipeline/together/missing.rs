//! Objects that new workloads and services name and that their namespace lacks.
//!
//! In: workloads and services of the input that are not in a cluster yet. Out: a line for each object that
//! they name and that is not among those of its kind in a namespace that was read from a cluster.

use super::NotJudged;
use super::workloads::{ServiceNames, counted_objects, shown};
use crate::pipeline::named_objects::{Named, of_pods};
use crate::pipeline::plan::Planner;
use crate::pipeline::planned::Planned;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// All of them.
pub(super) fn found(
    planner: &Planner<'_>,
    planned: &[Planned<'_>],
    services: &ServiceNames,
) -> Vec<NotJudged> {
    let catalog = planner.catalog();
    let mut named: BTreeMap<(EcoString, Named), EcoString> = BTreeMap::new();
    for planned in planned {
        let service = &planned.service;
        for one in &planned.missing {
            let shown = || eco_format!("{service}");
            named.entry((service.namespace.clone(), one.clone())).or_insert_with(shown);
        }
    }
    for object in counted_objects(catalog, services) {
        if object.metadata("uid").is_some() || catalog.is_unfilled(object) {
            continue;
        }
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let mut references = BTreeSet::new();
        object.node.entries().for_each(|entry| of_pods(&entry.node, &mut references));
        for one in references {
            named.entry((namespace.clone(), one)).or_insert_with(|| shown(object));
        }
    }
    if named.is_empty() {
        return Vec::new();
    }
    let existing = planner.existing();
    let missing = named.iter().filter(|((namespace, one), _)| existing.lacks(namespace, one));
    let line = |((namespace, (kind, name)), by): (&(EcoString, Named), &EcoString)| NotJudged {
        what: eco_format!("{kind} `{namespace}/{name}`"),
        pods: None,
        message: eco_format!(
            "{by} names it, it is not among the {kind}s of the input, and its pods do not start without it"
        ),
    };
    missing.map(line).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{catalog, gpu_node, ome_on, plan, service};

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
    #[test]
    fn services_name_objects_of_their_namespaces_too() {
        let of = |uid: &str, more: &str| {
            let service = service("a", "minReplicas: 1, serviceAccountName: m");
            let service = service.replace("namespace: ml}", &format!("namespace: ml{uid}}}"));
            plan(&(catalog(1) + &service + &gpu_node("n1", 8, "") + more))
                .at("/placement/notJudged")
        };
        let account = |name: &str, live| object("ServiceAccount", name, live);
        let found = of("", &account("other", true));
        assert_eq!(found[0]["what"], "ServiceAccount `ml/m`");
        assert!(found[0]["message"].as_str().unwrap_or("").starts_with("ml/a names it"), "{found}");
        // It will be there, or is of a repository; and pods of the cluster have what they need.
        assert!(of("", &(account("other", true) + &account("m", false))).is_null());
        assert!(of("", &account("other", false)).is_null());
        assert!(of(", uid: s", &account("other", true)).is_null());
    }
}
