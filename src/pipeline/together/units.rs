//! What Kueue admits as one among the placed pods of a component, and what becomes of these pods.

use crate::catalog::Catalog;
use crate::cluster::fleet::{Running, Workload};
use crate::decision::QueueDecision;
use crate::operators::kueue::flavor::admitted;
use crate::pipeline::question::{Each, Question, message};
use ecow::EcoString;
use std::collections::HashMap;
use std::sync::Arc;

/// The units of one workload in the order in which they are admitted: the pods of each, as replica and
/// place.
pub(super) type Units = Vec<Vec<(usize, usize)>>;

/// The units of each workload of a component.
pub(super) fn of(question: &Question, workload: &Workload) -> Vec<Units> {
    let mut all = vec![Units::new(); question.workloads()];
    for (replica, wanted) in workload.replicas.iter().enumerate() {
        let pods = wanted.pods.iter().enumerate();
        match question.each {
            // The pods of a Deployment have one template.
            Each::Pod => pods.for_each(|(place, template)| {
                if let Some(units) = all.get_mut(workload.wanted(*template)) {
                    units.push(vec![(replica, place)]);
                }
            }),
            Each::Group => {
                // A LeaderWorkerSet has several groups, and a RayCluster is one.
                let at = if all.len() == 1 { 0 } else { replica };
                if let Some(units) = all.get_mut(at) {
                    units.push(pods.map(|(place, _)| (replica, place)).collect());
                }
            }
        }
    }
    all
}

/// What of a workload was admitted before.
#[derive(Debug, Default)]
pub(super) struct Stands {
    /// How many of its units.
    pub(super) units: usize,
    /// Their flavors.
    pub(super) decision: Option<QueueDecision>,
}

impl Stands {
    /// The decision for all units from the one for those that come after these.
    pub(super) fn before(&self, new: QueueDecision) -> QueueDecision {
        match &self.decision {
            Some(decision) => new.after(decision),
            None => new,
        }
    }
}

/// How many units wait, where some were admitted before.
pub(super) fn waiting(units: &Units, decision: &QueueDecision, stands: &Stands) -> usize {
    match decision.obstacle {
        Some(_) => units.len().saturating_sub(stands.units),
        None => usize::try_from(decision.waiting).unwrap_or(0),
    }
}

/// How many units have a pod among these, by their templates: Kueue admits all pods of a unit or none.
pub(super) fn with_pods<'r>(
    units: &Units,
    workload: &Workload,
    pods: impl Iterator<Item = &'r Running>,
) -> usize {
    let mut left: HashMap<usize, usize> = HashMap::new();
    for pod in pods {
        *left.entry(pod.template).or_default() += 1;
    }
    let mut has_pod = |unit: &&Vec<(usize, usize)>| {
        let mut found = false;
        for (replica, place) in *unit {
            let template = workload.wanted(workload.replicas[*replica].pods[*place]);
            if let Some(left) = left.get_mut(&template).filter(|left| **left > 0) {
                *left -= 1;
                found = true;
            }
        }
        found
    };
    units.iter().filter(|unit| has_pod(unit)).count()
}

/// Holds the last units of a workload; returns why, if there are any.
pub(super) fn hold(
    workload: &mut Workload,
    units: &Units,
    decision: &QueueDecision,
    stands: &Stands,
) -> Option<EcoString> {
    let waiting = waiting(units, decision, stands);
    // Units are alike, and the first ones were admitted first.
    for (replica, place) in units.iter().rev().take(waiting).flatten() {
        workload.replicas[*replica].hold(*place);
    }
    (waiting > 0).then(|| message(decision))
}

/// Gives the pods of new units what their flavors add. Those that run have it already.
pub(super) fn apply(
    catalog: &Catalog,
    decision: &QueueDecision,
    units: &Units,
    workload: &mut Workload,
    stands: &Stands,
) {
    let of_units = decision.admitted.iter().flat_map(|admission| {
        let units = usize::try_from(admission.replicas).unwrap_or(0);
        std::iter::repeat_n(&admission.sets, units)
    });
    let mut running: HashMap<usize, usize> = HashMap::new();
    for pod in &workload.running {
        *running.entry(pod.template).or_default() += 1;
    }
    let mut templates = OfFlavors::new();
    let started = units.len().saturating_sub(waiting(units, decision, stands));
    for (unit, sets) in units.iter().take(started).zip(of_units) {
        // Running pods fill the first units; they were admitted with their flavor long ago.
        let mut runs = true;
        let mut kinds: Vec<usize> = Vec::new();
        for (replica, place) in unit {
            let template = workload.wanted(workload.replicas[*replica].pods[*place]);
            match running.get_mut(&template).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => runs = false,
            }
            if !kinds.contains(&template) {
                kinds.push(template);
            }
        }
        if runs {
            continue;
        }
        for (replica, place) in unit {
            let pod = workload.replicas[*replica].pods[*place];
            // A set is the pods of a template, in the order of the templates.
            let set = kinds.iter().position(|kind| *kind == pod).unwrap_or(0);
            let Some(set) = sets.get(set).or_else(|| sets.first()) else { continue };
            let template = of_flavor(catalog, workload, &mut templates, pod, set);
            workload.replicas[*replica].pods[*place] = template;
        }
    }
}

/// Templates with what flavors add to them, by the template without it.
pub(super) type OfFlavors<'s> = HashMap<(usize, &'s [EcoString]), usize>;

/// The template of a pod with what the flavors of its set add; a new one of the workload, once.
pub(super) fn of_flavor<'s>(
    catalog: &Catalog,
    workload: &mut Workload,
    templates: &mut OfFlavors<'s>,
    pod: usize,
    set: &'s [EcoString],
) -> usize {
    *templates.entry((pod, set)).or_insert_with(|| {
        let Some(admitted) = admitted(catalog, &workload.templates[pod], set) else {
            return pod;
        };
        workload.templates.push(Arc::new(admitted));
        workload.admitted.push(pod);
        // Claims belong to templates.
        if let Some(claims) = workload.claims.get(pod).cloned() {
            workload.claims.push(claims);
        }
        workload.templates.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{Ran, ome_on};
    use serde_json::Value;

    /// A node with plenty of everything, and a queue with so much of a resource.
    fn cluster(resource: &str, quota: usize) -> String {
        let names = ["cpu", "memory", "nvidia.com/gpu"];
        let quotas = names.map(|name| {
            let nominal = if name == resource { quota.to_string() } else { "1000Gi".to_owned() };
            format!("{{name: {name}, nominalQuota: {nominal}}}")
        });
        format!(
            "---\napiVersion: v1\nkind: Node\nmetadata: {{name: n1}}\nstatus: {{allocatable: {{cpu: '64', memory: 100Gi, pods: '100', nvidia.com/gpu: '16'}}}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: c}}\nspec:\n  namespaceSelector: {{}}\n  resourceGroups: [{{coveredResources: [{}], flavors: [{{name: f, resources: [{}]}}]}}]\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: q, namespace: d}}\nspec: {{clusterQueue: c}}\n",
            names.join(", "),
            quotas.join(", ")
        )
    }

    /// Three heads, and two workers in a Deployment of their own.
    const NODES: &str = "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: r, namespace: d}\nspec:\n  supportedModelFormats: [{name: huggingface, autoSelect: true}]\n  containers: [{name: kserve-container, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]\n  workerSpec:\n    pipelineParallelSize: 3\n    tensorParallelSize: 1\n    containers: [{name: worker-container, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: d, labels: {kueue.x-k8s.io/queue-name: q}, annotations: {serving.kserve.io/deploymentMode: RawDeployment, serving.kserve.io/autoscalerClass: none}}\nspec: {predictor: {minReplicas: 3, model: {modelFormat: {name: huggingface}, runtime: r, storageUri: 'hf://a/b'}, workerSpec: {}}}\n";

    fn pods(ran: &Ran) -> [Value; 3] {
        ["wanted", "placed", "pending"].map(|key| ran.at(&format!("/placement/pods/{key}")))
    }

    /// Totals, placement, quota and rollout count the pods that are rendered: a worker does not come
    /// again with each head.
    #[test]
    fn pods_of_several_deployments_are_admitted_one_by_one() {
        for quota in 2..=5 {
            let (base, new) = (cluster("nvidia.com/gpu", quota), NODES.to_owned());
            let text = new + &base;
            let files = [("a.yaml", text.as_str()), ("base.yaml", base.as_str())];
            let plan = ome_on("plan -f {a.yaml} -o json", &files);
            assert_eq!(pods(&plan), [5, quota, 5 - quota].map(Value::from), "{}", plan.out);
            assert_eq!(plan.at("/totals/pods"), 5, "{}", plan.out);
            let kueue = "/services/0/components/0/kueue";
            let admitted = plan.at(&format!("{kueue}/admitted/0/replicas"));
            assert_eq!(admitted, quota, "{}", plan.out);
            assert_eq!(plan.at(&format!("{kueue}/waiting")), 5 - quota, "{}", plan.out);
            let code = if quota == 5 { 0 } else { 2 };
            assert_eq!(plan.code, code, "{quota}: {}", plan.err);
            let run = |command: &str| {
                ome_on(&format!("{command} --base {{base.yaml}} -f {{a.yaml}}"), &files)
            };
            let rollout = run("rollout --all");
            assert_eq!(rollout.code, code, "{quota}: {}{}", rollout.out, rollout.err);
            let diff = run("diff");
            let pending = format!("pending: {} of 5 pods", 5 - quota);
            assert_eq!(diff.out.contains(&pending), quota < 5, "{quota}: {}{}", diff.out, diff.err);
            assert_eq!(diff.out.contains("pending:"), quota < 5, "{quota}: {}", diff.out);
            // Quota is that of all that is placed.
            let most = ome_on(
                "plan -f {a.yaml} -o json --at max",
                &[(
                    "a.yaml",
                    &text
                        .replace("minReplicas: 3,", "minReplicas: 1, maxReplicas: 3,")
                        .replace(", serving.kserve.io/autoscalerClass: none", ""),
                )],
            );
            assert_eq!(most.at("/placement/pods/placed"), quota, "{}", most.out);
        }
    }

    /// An endpoint picker waits for quota only where its own Deployment names the queue.
    #[test]
    fn what_names_no_queue_is_not_held() {
        let service = |labels: &str| {
            format!(
                "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {{name: l, namespace: d, labels: {{a: b{}}}}}\nspec:\n  model: {{uri: 'hf://a/b', name: m}}\n  template: {{containers: [{{name: main, image: i, resources: {{requests: {{cpu: '1'}}}}}}]}}\n  router:\n    scheduler:\n      {}template: {{containers: [{{name: main, image: e, ports: [{{name: grpc, containerPort: 9002}}], resources: {{requests: {{cpu: '1'}}}}}}]}}\n",
                if labels == "service" { ", kueue.x-k8s.io/queue-name: q" } else { "" },
                if labels == "scheduler" {
                    "labels: {kueue.x-k8s.io/queue-name: q}\n      "
                } else {
                    ""
                }
            )
        };
        for (labels, waiting) in [("none", ""), ("service", "workload"), ("scheduler", "scheduler")]
        {
            let presets = ["template", "scheduler"].map(|name| {
                format!("---\napiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceServiceConfig\nmetadata: {{name: kserve-config-llm-{name}, namespace: kserve}}\nspec: {{}}\n")
            });
            let base = cluster("cpu", 0) + &presets.concat();
            let text = service(labels) + &base;
            let files = [("a.yaml", text.as_str()), ("base.yaml", base.as_str())];
            let plan = ome_on("plan -f {a.yaml} -o json", &files);
            let pending = plan.at("/placement/pending").as_array().cloned().unwrap_or_default();
            let found: Vec<&str> =
                pending.iter().filter_map(|one| one["component"].as_str()).collect();
            assert_eq!(found.join(" "), waiting, "{labels}: {}{}", plan.out, plan.err);
            let rollout = ome_on("rollout --all --base {base.yaml} -f {a.yaml}", &files);
            let code = if waiting.is_empty() { 0 } else { 2 };
            assert_eq!(
                [plan.code, rollout.code],
                [code; 2],
                "{labels}: {}{}",
                rollout.out,
                rollout.err
            );
        }
    }
}
