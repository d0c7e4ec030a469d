//! What Kueue's webhooks refuse of the update of an object that names a queue.
//!
//! In: the object before and after. Out: a sentence on what is refused, or may be. The same in releases
//! 0.11 to 0.19 (pkg/controller/jobs/{deployment,statefulset,leaderworkerset}/*_webhook.go,
//! `ValidateUpdate`; pkg/controller/jobframework/validation.go), unless a comment names others.

use super::pods::PRIORITY_CLASS;
use crate::api::Object;
use crate::objects::metadata::KUEUE_QUEUE;
use crate::quantity::Quantity;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

/// Kinds whose pods are workloads while the object stays: their webhooks look at the update.
const SERVES: [(&str, &str); 3] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
];

/// Fields of a pod that its Workload has (pkg/util/pod/pod.go, `SpecShape`). What a server adds to these
/// it adds before and after.
const SHAPE: [&str; 8] = [
    "nodeSelector",
    "affinity",
    "tolerations",
    "runtimeClassName",
    "priority",
    "topologySpreadConstraints",
    "overhead",
    "resourceClaims",
];

/// Why Kueue refuses the update of an object, or may refuse it; none where it does not.
pub fn refused(before: &Object, after: &Object) -> Option<EcoString> {
    let kind = (after.group(), after.id.kind.as_str());
    label_changes(before, after, SERVES.contains(&kind)).or_else(|| {
        label(after, KUEUE_QUEUE)?;
        match kind {
            ("apps", "StatefulSet") => replicas_change(before, after)
                .or_else(|| shape_changes(before, after, &["spec", "template"])),
            ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => {
                let of = |key| shape_changes(before, after, &["spec", "leaderWorkerTemplate", key]);
                of("leaderTemplate").or_else(|| of("workerTemplate"))
            }
            _ => None,
        }
    })
}

fn label(object: &Object, key: &str) -> Option<EcoString> {
    let label = object.node.at(&["metadata", "labels", key])?;
    label.scalar_text().filter(|name| !name.is_empty())
}

/// The queue and the WorkloadPriorityClass.
fn label_changes(before: &Object, after: &Object, serves: bool) -> Option<EcoString> {
    let states = |key: &str| [before, after].map(|object| label(object, key));
    let refuses = "Kueue's webhook refuses the update";
    match states(KUEUE_QUEUE) {
        [Some(_), None] if serves => {
            return Some(eco_format!("its label `{KUEUE_QUEUE}` may not be removed: {refuses}"));
        }
        [was, is] if was != is => {
            let ready = before.node.at(&["status", "readyReplicas"]).and_then(Node::as_int);
            return Some(match ready {
                Some(1..) => {
                    eco_format!("its queue may not change while a pod of it is ready: {refuses}")
                }
                _ if serves => {
                    "its queue changes: Kueue's webhook refuses that while a pod of it is ready"
                        .into()
                }
                // A Job that waits for quota is suspended.
                _ => "its queue changes: Kueue's webhook refuses that once it is admitted".into(),
            });
        }
        _ => {}
    }
    match states(PRIORITY_CLASS) {
        [Some(_), None] => {
            Some(eco_format!("its label `{PRIORITY_CLASS}` may not be removed: {refuses}"))
        }
        _ => None,
    }
}

/// A StatefulSet is one Workload, whose pods are counted once.
fn replicas_change(before: &Object, after: &Object) -> Option<EcoString> {
    let replicas =
        |object: &Object| object.node.at(&["spec", "replicas"]).map_or(Some(1), Node::as_int);
    let (was, is) = (replicas(before)?, replicas(after)?);
    (was != is && was != 0 && is != 0).then(|| {
        eco_format!(
            "its replicas change from {was} to {is}: Kueue's webhook takes a change from or to 0 only"
        )
    })
}

/// The first field that may not change of the pods of a template.
fn shape_changes(before: &Object, after: &Object, path: &[&str]) -> Option<EcoString> {
    let templates = [before, after].map(|object| object.node.at(path));
    let shown = path.join(".");
    let (was, is) = match templates {
        [Some(was), Some(is)] => (was.get("spec")?, is.get("spec")?),
        [None, None] => return None,
        _ => return Some(of_field(&shown)),
    };
    let lists = ["initContainers", "containers"];
    let of_containers = lists.iter().find_map(|key| {
        let (was, is) = (was.items_of(key), is.items_of(key));
        if was.len() != is.len() {
            return Some((*key).to_owned());
        }
        let mut pairs = was.iter().zip(is).enumerate();
        pairs.find_map(|(at, (was, is))| {
            let field = if requests(was) != requests(is) {
                "resources.requests"
            } else if ports(was) != ports(is) {
                "ports"
            } else {
                return None;
            };
            Some(format!("{key}[{at}].{field}"))
        })
    });
    let differs = |key: &&&str| {
        let value = |spec: &Node| spec.get(key).filter(|node| !node.is_empty()).map(Node::to_json);
        value(was) != value(is)
    };
    let found =
        of_containers.or_else(|| SHAPE.iter().find(differs).map(|key| (*key).to_owned()))?;
    Some(of_field(&format!("{shown}.spec.{found}")))
}

fn of_field(path: &str) -> EcoString {
    eco_format!(
        "its `{path}` may not change, of which its Workload was made: Kueue's webhook refuses the update"
    )
}

/// What a container requests, as a server completes it: a limit without a request is one.
fn requests(container: &Node) -> BTreeMap<EcoString, Option<Quantity>> {
    let mut all = BTreeMap::new();
    for key in ["limits", "requests"] {
        for entry in container.at(&["resources", key]).map(Node::entries).into_iter().flatten() {
            let amount = entry.node.scalar_text().and_then(|text| Quantity::parse(&text).ok());
            all.insert(entry.key.clone(), amount);
        }
    }
    all
}

/// The ports of a container, as a server completes them.
fn ports(container: &Node) -> Vec<BTreeMap<EcoString, EcoString>> {
    let port = |port: &Node| {
        let fields =
            port.entries().filter_map(|entry| Some((entry.key.clone(), entry.node.scalar_text()?)));
        let defaults = [("protocol".into(), "TCP".into())];
        defaults.into_iter().chain(fields).collect()
    };
    container.items_of("ports").iter().map(port).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    const QUEUES: &str = "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: f}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: cq}\nspec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: f, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}]}]}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: lq, namespace: ml}\nspec: {clusterQueue: cq}\n";

    fn object(kind: &str, meta: &str, spec: &str, container: &str) -> String {
        let template = format!(
            "template: {{metadata: {{labels: {{app: a}}}}, spec: {{{}containers: [{{name: c, image: x{container}}}]}}}}",
            if kind == "Job" { "restartPolicy: Never, " } else { "" }
        );
        let selector = if kind == "Job" { "" } else { "selector: {matchLabels: {app: a}}, " };
        let group = if kind == "Job" { "batch" } else { "apps" };
        format!(
            "---\napiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: a, namespace: ml{meta}}}\nspec: {{{selector}{spec}{template}}}\n"
        )
    }

    /// Answers that name why, of each change.
    #[test]
    fn changes_that_the_webhook_refuses_are_named() {
        let queue = ", labels: {kueue.x-k8s.io/queue-name: lq}";
        let other = ", labels: {kueue.x-k8s.io/queue-name: other}";
        let class = ", labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: p}";
        let gpus = |gpus: &str| format!(", resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}");
        let (one, two) = (gpus("1"), gpus("2"));
        let ports = |more: &str| format!("{one}, ports: [{{containerPort: 80{more}}}]");
        let set = |meta: &str, replicas: &str, container: &str| {
            object(
                "StatefulSet",
                meta,
                &format!("serviceName: s, replicas: {replicas}, "),
                container,
            )
        };
        let deployment = |meta: &str, container: &str| object("Deployment", meta, "", container);
        for (before, after, says) in [
            (set(queue, "2", &one), set(queue, "3", &one), "replicas change from 2 to 3"),
            (set("", "2", &one), set("", "3", &one), ""),
            (
                set(queue, "2", &one),
                set(queue, "2", &two),
                "`spec.template.spec.containers[0].resources.requests` may not change",
            ),
            (
                set(queue, "2", &ports("")),
                set(queue, "2", &ports(", name: a")),
                "[0].ports` may not",
            ),
            (set(queue, "2", &one), set("", "2", &one), "may not be removed"),
            (deployment(queue, &one), deployment("", &one), "may not be removed"),
            (
                deployment(class, &one),
                deployment(queue, &one),
                "priority-class` may not be removed",
            ),
            (deployment(queue, &one), deployment(other, &one), "while a pod of it is ready"),
            (deployment(queue, &one), deployment(queue, &two), ""),
            (object("Job", queue, "", &one), object("Job", other, "", &one), "once it is admitted"),
        ] {
            let nodes = gpu_node("n1", 8, "") + QUEUES;
            let [before, after] = [before, after].map(|text| nodes.clone() + &text);
            let files = [("base.yaml", before.as_str()), ("in.yaml", after.as_str())];
            for command in ["rollout --all", "diff"] {
                let ran = ome_on(&format!("{command} --base {{base.yaml}} -f {{in.yaml}}"), &files);
                let is_named = ran.out.contains("Kueue's webhook");
                assert_eq!(is_named, !says.is_empty(), "{command}: {after}{}", ran.out);
                assert!(ran.out.contains(says), "{command} {says}: {}", ran.out);
                assert!(!is_named || !ran.out.contains('✓'), "{command}: {}", ran.out);
            }
        }
    }

    /// What a server completes is no change.
    #[test]
    fn amounts_and_defaults_are_compared_as_a_server_has_them() {
        let queue = ", labels: {kueue.x-k8s.io/queue-name: lq}";
        let set = |container: &str| object("StatefulSet", queue, "serviceName: s, ", container);
        for (before, after) in [
            (
                ", resources: {limits: {cpu: 1}}",
                ", resources: {limits: {cpu: 1000m}, requests: {cpu: '1'}}",
            ),
            (", ports: [{containerPort: 80}]", ", ports: [{containerPort: 80, protocol: TCP}]"),
            (
                ", resources: {limits: {cpu: 2}, requests: {cpu: 1}}",
                ", resources: {limits: {cpu: 3}, requests: {cpu: 1}}",
            ),
        ] {
            let [before, after] = [before, after].map(|one| QUEUES.to_owned() + &set(one));
            let files = [("base.yaml", before.as_str()), ("in.yaml", after.as_str())];
            let ran = ome_on("diff --base {base.yaml} -f {in.yaml}", &files);
            assert!(!ran.out.contains("Kueue's webhook"), "{after}{}", ran.out);
        }
    }
}
