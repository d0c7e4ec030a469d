//! What a ClusterQueue asks of pods beside its quota and is not evaluated: that they stand together in
//! a topology, and labels of a Namespace that was not read.
//!
//! In: the claims with their queues, ClusterQueues, flavors, Topologies and Nodes of the input. Out: a
//! line for each rule with the pods that it may keep waiting.

use super::claims::{Claim, Who};
use super::not_judged::{Counted, Open};
use super::quota::{checks_of, cluster_queue, unread_line};
use crate::api::{ClusterQueue, Object, ResourceFlavor};
use crate::catalog::Catalog;
use crate::cluster::fleet::{Fleet, Replica, Workload};
use crate::operators::kueue::admit::{is_open_to, unread};
use crate::pipeline::planned::Planned;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::HashMap;

/// The lines, by what they are about.
pub(super) fn found(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    claims: &[Claim],
    fleet: &Fleet,
) -> Open {
    let mut counted = Counted::default();
    // Each rule looks through all objects, and a fleet has few queues.
    let mut rules: HashMap<(&EcoString, EcoString, bool), Vec<EcoString>> = HashMap::new();
    for (at, (claim, workload)) in claims.iter().zip(&fleet.workloads).enumerate() {
        let all = workload.replicas.iter().flat_map(Replica::startable).count();
        let new = workload.created(all);
        if new == 0 {
            continue;
        }
        let Some(queue) =
            cluster_queue(catalog, planned, claim).and_then(|name| catalog.cluster_queue(name))
        else {
            continue;
        };
        let namespace = EcoString::from(claim.namespace());
        let is_group = are_together(claim, workload);
        let of_queue = rules.entry((queue.name(), namespace, is_group)).or_insert_with_key(|key| {
            let of_namespace = unread_namespace(catalog, queue, &key.1);
            of_namespace.into_iter().chain(by_topology(catalog, queue, is_group)).collect()
        });
        let alone = is_group && is_named_by_pods(planned, claim);
        for rule in of_queue.iter().cloned().chain(alone.then(|| NAMED_BY_PODS.into())) {
            let what = eco_format!("ClusterQueue `{}`", queue.name());
            counted.add_of((at, claim), (what, rule), new);
        }
    }
    counted.done()
}

/// A pod whose owners name no queue is a workload of its own (pkg/controller/jobs/pod/pod_webhook.go,
/// `Default`, by `FindAncestorJobManagedByKueue`); earlier releases leave the pods of an owner of a kind
/// that they manage alone (`IsOwnerIntegrationEnabled`).
const NAMED_BY_PODS: &str = "the pods name the queue and their owner does not: by its release, Kueue admits each of them \
     alone or holds none, and they are counted as groups";

/// Whether the pods of a claim name a queue, and their owner names none.
fn is_named_by_pods(planned: &[Planned<'_>], claim: &Claim) -> bool {
    match claim.who {
        Who::Component(service, component) => {
            let component = planned.get(service).and_then(|one| one.components.get(component));
            component.and_then(|one| one.question.as_ref()).is_some_and(|question| question.of_pods)
        }
        _ => claim.queue.as_ref().is_some_and(|queue| queue.of_pods),
    }
}

/// Whether several pods are admitted as one.
fn are_together(claim: &Claim, workload: &Workload) -> bool {
    let whole = claim.queue.as_ref().is_some_and(|queue| queue.whole);
    (whole && workload.replicas.len() > 1)
        || workload.replicas.iter().any(|replica| replica.pods.len() > 1)
}

/// What is not judged of a pod of a queue that is created again, and why.
pub(in crate::pipeline) fn again(
    catalog: &Catalog,
    namespace: &str,
    queue: &EcoString,
) -> Option<(EcoString, EcoString)> {
    if let Some(object) = unread(catalog, namespace, queue) {
        return Some(unread_line(namespace, queue, &object));
    }
    let cluster = catalog.cluster_queue_of(namespace, queue)?;
    let several = cluster.groups.iter().any(|group| group.flavors.len() > 1);
    let flavor = || {
        "it has several flavors: they are placed on nodes of the flavor that they had, and get the first \
         one with quota"
    };
    let why = checks_of(cluster)
        .or_else(|| by_topology(catalog, cluster, false))
        .or_else(|| several.then(flavor).map(Into::into))?;
    Some((eco_format!("ClusterQueue `{}`", cluster.name()), why))
}

/// Why it is not known that a queue is open to a namespace.
fn unread_namespace(catalog: &Catalog, queue: &ClusterQueue, namespace: &str) -> Option<EcoString> {
    let selector = queue.namespace_selector.as_ref()?;
    is_open_to(catalog, selector, namespace).is_none().then(|| {
        eco_format!(
            "it is open to Namespaces with the labels of its namespaceSelector, and Namespace \
             `{namespace}` was not read"
        )
    })
}

/// Why it is not known that a queue admits pods whose flavor may place them by a Topology
/// (pkg/cache/scheduler/tas_flavor_snapshot.go, findTopologyAssignment): only nodes with a label of
/// each level count, and pods that are admitted together may have to stand in one domain. A pod that is
/// admitted alone is in one domain wherever it stands.
fn by_topology(catalog: &Catalog, queue: &ClusterQueue, is_group: bool) -> Option<EcoString> {
    let flavors = queue.flavors().filter_map(|item| catalog.flavor(&item.flavor.value));
    for (flavor, name) in flavors.filter_map(|flavor| Some((flavor, flavor.topology.as_ref()?))) {
        let (flavor_name, name) = (flavor.name(), &name.value);
        let mut topologies = catalog.others().iter().filter(|item| item.id.kind == "Topology");
        let Some(topology) = topologies.find(|item| item.id.name == *name) else {
            return Some(eco_format!(
                "its flavor `{flavor_name}` places pods by Topology `{name}`, which was not read"
            ));
        };
        if let Some((node, level)) = without_level(catalog, flavor, topology) {
            return Some(eco_format!(
                "its flavor `{flavor_name}` places pods by Topology `{name}`: node {node} has no label {level}, \
                 and only nodes with all levels count"
            ));
        }
        if is_group {
            return Some(eco_format!(
                "its flavor `{flavor_name}` places pods by Topology `{name}`: whether they stand in one domain \
                 is not evaluated"
            ));
        }
    }
    None
}

/// The first node of a flavor that lacks the label of a level.
fn without_level<'c>(
    catalog: &'c Catalog,
    flavor: &ResourceFlavor,
    topology: &Object,
) -> Option<(&'c EcoString, EcoString)> {
    let levels = topology.spec("levels").map(Node::items).unwrap_or_default();
    let levels: Vec<EcoString> =
        levels.iter().filter_map(|level| level.get("nodeLabel")?.scalar_text()).collect();
    let of_flavor = catalog.machines().iter().filter(|machine| {
        let has = |key: &str, value: Option<&str>| value == machine.label(key);
        flavor.node_labels.iter().all(|entry| has(&entry.key, entry.node.as_str()))
    });
    let mut lacking = of_flavor.filter_map(|machine| {
        let level = levels.iter().find(|level| machine.label(level).is_none())?;
        Some((&machine.name, level.clone()))
    });
    lacking.next()
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    const LEADER_WORKER_SET: &str = "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l, namespace: ml, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {replicas: 1, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}\n";
    const DEPLOYMENT: &str = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ml, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {replicas: 2, selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";

    fn not_judged(workload: &str, selector: &str, flavor: &str, more: &str) -> Vec<String> {
        let queues = format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\nspec: {{{flavor}}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: cq}}\nspec: {{namespaceSelector: {{{selector}}}, resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{{name: f, resources: [{{name: nvidia.com/gpu, nominalQuota: 8}}]}}]}}]}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: q, namespace: ml}}\nspec: {{clusterQueue: cq}}\n"
        );
        let text = gpu_node("n1", 8, "") + workload + &queues + more;
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        let all = ran.at("/placement/notJudged");
        let all = all.as_array().into_iter().flatten();
        let lines = all.filter_map(|entry| {
            assert_eq!((&entry["what"], &entry["pods"]), (&"ClusterQueue `cq`".into(), &2.into()));
            Some(entry["message"].as_str()?.to_owned())
        });
        lines.collect()
    }

    fn topology(level: &str) -> String {
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology\nmetadata: {{name: t}}\nspec: {{levels: [{{nodeLabel: {level}}}]}}\n"
        )
    }

    #[test]
    fn pods_that_a_topology_places_are_not_judged_as_a_group() {
        let flavor = "topologyName: t";
        let host = topology("kubernetes.io/hostname");
        let one = |workload: &str, more: &str| not_judged(workload, "", flavor, more);
        let group = one(LEADER_WORKER_SET, &host);
        assert!(group.len() == 1 && group[0].contains("in one domain"), "{group:?}");
        assert!(one(DEPLOYMENT, &host).is_empty());
        let unlabeled = one(DEPLOYMENT, &topology("rack"));
        assert!(unlabeled.len() == 1 && unlabeled[0].contains("no label rack"), "{unlabeled:?}");
        let unread = one(DEPLOYMENT, "");
        assert!(unread.len() == 1 && unread[0].contains("not read"), "{unread:?}");
        assert!(not_judged(LEADER_WORKER_SET, "", "", &host).is_empty());
    }

    #[test]
    fn groups_of_which_only_the_pods_name_the_queue_are_not_judged() {
        let label = ", labels: {kueue.x-k8s.io/queue-name: q}";
        let of_pods = LEADER_WORKER_SET.replace(label, "").replace(
            "workerTemplate: {spec",
            "workerTemplate: {metadata: {labels: {kueue.x-k8s.io/queue-name: q}}, spec",
        );
        let found = not_judged(&of_pods, "", "", "");
        assert!(found.len() == 1 && found[0].contains("their owner does not"), "{found:?}");
        assert!(not_judged(LEADER_WORKER_SET, "", "", "").is_empty());
        let one_by_one = DEPLOYMENT.replace(label, "").replace(
            "metadata: {labels: {app: d}",
            "metadata: {labels: {app: d, kueue.x-k8s.io/queue-name: q}",
        );
        assert!(not_judged(&one_by_one, "", "", "").is_empty());
    }

    #[test]
    fn a_queue_that_selects_labels_of_an_unread_namespace_is_not_judged() {
        let labeled = "matchLabels: {team: x}";
        let namespace =
            "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ml, labels: {team: x}}\n";
        let of = |selector: &str, more: &str| not_judged(DEPLOYMENT, selector, "", more);
        let unread = of(labeled, "");
        assert!(unread.len() == 1 && unread[0].contains("`ml` was not read"), "{unread:?}");
        assert!(of(labeled, namespace).is_empty());
        assert!(of("matchLabels: {kubernetes.io/metadata.name: ml}", "").is_empty());
        assert!(of("", "").is_empty());
    }

    #[test]
    fn a_queue_below_a_cohort_in_a_cycle_admits_nothing() {
        let cohort = |name: &str, parent: &str| {
            format!(
                "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {{name: {name}}}\nspec: {{parentName: {parent}}}\n"
            )
        };
        let queue = "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: f}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: cq}\nspec: {cohort: a, namespaceSelector: {}, resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: f, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}]}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: q, namespace: ml}\nspec: {clusterQueue: cq}\n";
        for (parents, waits) in [
            ([("a", "b"), ("b", "a")], true),
            // Above the cohort of the queue.
            ([("a", "b"), ("b", "b")], true),
            ([("a", "b"), ("b", "c")], false),
        ] {
            let cohorts: String = parents.iter().map(|(name, of)| cohort(name, of)).collect();
            let text = gpu_node("n1", 8, "") + DEPLOYMENT + queue + &cohorts;
            let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
            let message = ran.at("/placement/pending/0/message").to_string();
            assert_eq!(message.contains("is among its own parents"), waits, "{message}");
            assert_eq!(ran.code, if waits { 2 } else { 0 }, "{}", ran.out);
        }
    }

    #[test]
    fn no_more_replicas_would_fit_than_their_queue_has_quota_for() {
        let service = "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: i, namespace: ml, labels: {kueue.x-k8s.io/queue-name: q}, annotations: {serving.kserve.io/deploymentMode: RawDeployment}}\nspec: {predictor: {minReplicas: 2, containers: [{name: kserve-container, image: x, resources: {requests: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}, limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}}]}}\n";
        for (quota, replicas, sentence) in [
            (2, 2, "; no more would get quota"),
            (5, 5, "; 3 more would get quota"),
            (20, 8, "; 6 more would fit on 1 of 1 node"),
            (1, 1, "; 1 of 1 node would take one"),
        ] {
            let queue = format!(
                "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: cq}}\nspec: {{namespaceSelector: {{}}, resourceGroups: [{{coveredResources: [cpu, memory, nvidia.com/gpu], flavors: [{{name: f, resources: [{{name: cpu, nominalQuota: 99}}, {{name: memory, nominalQuota: 1Ti}}, {{name: nvidia.com/gpu, nominalQuota: {quota}}}]}}]}}]}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: q, namespace: ml}}\nspec: {{clusterQueue: cq}}\n"
            );
            let text = gpu_node("n1", 8, "") + service + &queue;
            let ran = ome_on("explain i -f {in.yaml}", &[("in.yaml", &text)]);
            assert!(ran.out.contains(sentence), "{quota}: {}", ran.out);
            let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
            let found = ran.at("/services/0/components/0/fitsReplicas");
            assert_eq!(found, replicas, "{quota}: {}", ran.out);
        }
    }
}
