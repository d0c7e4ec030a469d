//! Queues of Volcano that Jobs and ModelServings name: whether Volcano takes what names them.
//!
//! Its webhooks refuse a Job, or the PodGroup of a ModelServing, whose queue does not exist or is not open
//! (pkg/webhooks/admission/jobs/validate/admit_job.go, `validateJobCreate`; podgroups/validate,
//! `checkQueueState`); without the webhooks its scheduler passes them over. Queue `default` is made by
//! Volcano itself. What the capability of a queue lets in depends on the plugins of its scheduler.
//!
//! In: the Queues of the input and the workloads that name one. Out: why a new workload is refused, and a
//! line for each queue that is not judged.

use super::claims::{Claim, Claimed, Refused, Who};
use super::not_judged::{Counted, Open};
use crate::api::{ModelServing, Object, was_in_cluster};
use crate::catalog::Catalog;
use crate::cluster::fleet::Fleet;
use crate::cluster::schedule::Labels;
use crate::diag::nearest;
use crate::operators::servings;
use crate::operators::servings::objects::{names, pod_group};
use crate::pipeline::serving::PlannedServing;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

/// The queue of what names none.
pub(super) const DEFAULT: &str = "default";
/// The label of the pods of a Job with its name.
pub(super) const OF_JOB: &str = "volcano.sh/job-name";
/// The label of the pods of a Job with its queue.
pub(super) const LABEL: &str = "volcano.sh/queue-name";

/// The Queues of an input by name.
pub(super) struct Queues<'a>(BTreeMap<&'a EcoString, &'a Object>);

impl<'a> Queues<'a> {
    pub(super) fn of(catalog: &'a Catalog) -> Self {
        let all = catalog.others().iter().filter(|object| {
            object.id.kind == "Queue"
                && object.group() == "scheduling.volcano.sh"
                && !catalog.is_copy(object)
        });
        Self(all.map(|queue| (&queue.id.name, queue)).collect())
    }

    /// Why Volcano refuses a new workload that names a queue.
    fn refuses(&self, name: &EcoString) -> Option<EcoString> {
        let Some(queue) = self.0.get(name) else {
            // Without any Queue of the input it is not known which there are.
            let first = self.0.keys().next().filter(|_| name != DEFAULT)?;
            let near = nearest(name, self.0.keys().map(|name| name.as_str()));
            let existing = near.unwrap_or(first);
            return Some(eco_format!(
                "Volcano refuses it: unable to find queue `{name}`, and the input has queue `{existing}`"
            ));
        };
        let state = queue.node.at(&["status", "state"]).and_then(Node::scalar_text)?;
        (state != "Open").then(|| {
            eco_format!("Volcano refuses it: queue `{name}` is {state}, and takes workloads only while it is Open")
        })
    }

    /// Why it is not known whether workloads of a queue start.
    fn open(&self, name: &EcoString) -> Option<EcoString> {
        let Some(queue) = self.0.get(name) else {
            return (name != DEFAULT).then(|| {
                eco_format!(
                    "it is not in the input, and Volcano refuses what names a queue that does not exist: add it \
                     with `-f`; `kubectl get queues.scheduling.volcano.sh {name}` shows whether a cluster has it"
                )
            });
        };
        let capability = queue.node.at(&["spec", "capability"]);
        capability.is_some_and(|capability| capability.entries().next().is_some()).then(|| {
            "its capability is not evaluated, and holds these pods when it is used up".into()
        })
    }

    /// Why Volcano refuses a new Job.
    pub(super) fn refuses_job(&self, job: &Object) -> Option<EcoString> {
        self.refuses(&of_job(&job.node)).filter(|_| !was_in_cluster(&job.node))
    }

    /// Why Volcano refuses the PodGroups of a new ModelServing, so that none of its pods starts.
    fn refuses_serving(&self, catalog: &Catalog, serving: &ModelServing) -> Option<EcoString> {
        self.refuses(&of_serving(catalog, serving)?)
            .filter(|_| !was_in_cluster(&serving.object.node))
    }
}

/// Whether Volcano starts pods with these labels as a gang that is known: those of a Job or of a
/// ModelServing.
pub(in crate::pipeline) fn is_gang(labels: &Labels) -> bool {
    [OF_JOB, names::NAME].into_iter().any(|key| labels.get(key).is_some())
}

/// The queue of a Job.
pub(super) fn of_job(job: &Node) -> EcoString {
    let name = job.at(&["spec", "queue"]).and_then(Node::scalar_text);
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| DEFAULT.into())
}

/// The queue of the PodGroups of a ModelServing.
fn of_serving(catalog: &Catalog, serving: &ModelServing) -> Option<EcoString> {
    let policy = servings::rules(catalog);
    let has_groups = pod_group::has_pod_group(serving, policy);
    pod_group::queue(serving, policy).filter(|_| has_groups)?.scalar_text()
}

/// Leaves out the pods of ModelServings whose PodGroups are refused.
pub(super) fn refuse_servings(
    catalog: &Catalog,
    servings: &[PlannedServing<'_>],
    claims: &mut [Claim],
) {
    let queues = Queues::of(catalog);
    for claim in claims.iter_mut().filter(|claim| claim.running_pods.is_empty()) {
        let Who::Serving(at) = claim.who else { continue };
        let why = queues.refuses_serving(catalog, servings[at].serving);
        if let Some(why) = why.filter(|_| claim.refused.is_none()) {
            claim.refused = Some(Refused::created(why, &claim.workload));
            claim.workload = Claimed::default();
        }
    }
}

/// The queues of which it is not known whether these pods start, and the workloads, each with the reason.
pub(super) fn found(
    catalog: &Catalog,
    planned: &[PlannedServing<'_>],
    claims: &[Claim],
    fleet: &Fleet,
) -> Open {
    let queues = Queues::of(catalog);
    let mut counted = Counted::default();
    for (at, (claim, workload)) in claims.iter().zip(&fleet.workloads).enumerate() {
        let queue = match claim.who {
            Who::Serving(at) => of_serving(catalog, planned[at].serving),
            _ if claim.gang => {
                let first = workload.templates.first();
                first.and_then(|pod| pod.labels.get(LABEL)).cloned()
            }
            _ => None,
        };
        let new = workload.new_pods();
        let Some(queue) = queue.filter(|_| new > 0) else { continue };
        let Some(why) = queues.open(&queue) else { continue };
        let what = eco_format!("Queue `{queue}`");
        counted.add_of((at, claim), (what, why), new);
    }
    counted.done()
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};
    use serde_json::Value;

    fn job(queue: &str, meta: &str) -> String {
        format!(
            "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {{name: j, namespace: ml{meta}}}\nspec: {{{queue}tasks: [{{name: w, replicas: 2, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}]}}\n"
        )
    }

    fn serving(queue: &str) -> String {
        format!(
            "---\napiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: m, namespace: ml, annotations: {{{queue}}}}}\nspec:\n  schedulerName: volcano\n  replicas: 1\n  template:\n    gangPolicy: {{minRoleReplicas: {{r: 1}}}}\n    roles:\n    - {{name: r, replicas: 1, workerReplicas: 0, entryTemplate: {{spec: {{containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}\n"
        )
    }

    fn queue(name: &str, more: &str) -> String {
        format!(
            "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\n{more}"
        )
    }

    #[test]
    fn a_queue_that_is_missing_or_closed_refuses_new_workloads() {
        let team = "queue: team, ";
        let open = queue("team", "status: {state: Open}\n");
        let closed = queue("team", "status: {state: Closed}\n");
        let limited = queue("team", "spec: {capability: {cpu: 8}}\n");
        let other = queue("teams", "");
        for (workload, more, verdict, why) in [
            (job("", ""), "", "fits", ""),
            (job("", ""), &*other, "fits", ""),
            (job(team, ""), "", "unknown", "Queue `team`"),
            (job(team, ""), &*open, "fits", ""),
            (job(team, ""), &*limited, "unknown", "Queue `team`"),
            (job(team, ""), &*other, "does-not-fit", "unable to find queue `team`"),
            (job(team, ""), &*closed, "does-not-fit", "queue `team` is Closed"),
            // Volcano has taken it.
            (job(team, ", uid: u"), &*closed, "fits", ""),
            (serving(""), &*other, "fits", ""),
            (serving("scheduling.volcano.sh/queue-name: team"), "", "unknown", "Queue `team`"),
            (serving("scheduling.volcano.sh/queue-name: team"), &*open, "fits", ""),
            (
                serving("scheduling.volcano.sh/queue-name: team"),
                &*other,
                "does-not-fit",
                "unable to find queue `team`",
            ),
        ] {
            let text = gpu_node("n1", 8, "") + &workload + more;
            let file = [("in.yaml", text.as_str())];
            let release = "--release kthena=v1.0.0";
            let ran = ome_on(&format!("plan {release} -o json -f {{in.yaml}}"), &file);
            assert_eq!(ran.at("/placement/verdict"), verdict, "{workload} {more}: {}", ran.out);
            assert!(ran.out.contains(why), "{workload} {more}: {}", ran.out);
            let all = ome_on(&format!("rollout --all {release} -o json -f {{in.yaml}}"), &file);
            assert_eq!(
                (all.code, ran.code),
                (ran.code, ran.code),
                "{workload} {more}: {}",
                all.out
            );
            let page = ome_on(&format!("rollout --all {release} -f {{in.yaml}}"), &file).out;
            assert_eq!(page.contains('✓'), verdict == "fits", "{workload} {more}: {page}");
            if workload.contains("ModelServing") {
                let ends = all.at("/services/0/components/0/rollout/end");
                let expected = match verdict {
                    "fits" => "complete",
                    "unknown" => "not-judged",
                    _ => "stuck",
                };
                assert_eq!(ends, Value::from(expected), "{workload} {more}: {}", all.out);
            }
        }
    }

    #[test]
    fn what_is_not_judged_of_pods_is_not_of_those_of_a_model_serving() {
        let volumes = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], containers";
        for (from, to, what) in [
            ("schedulerName: volcano", "schedulerName: volcano", Value::Null),
            ("schedulerName: volcano", "schedulerName: other", "other".into()),
            ("containers", volumes, "volumes".into()),
        ] {
            let text = gpu_node("n1", 8, "") + &serving("").replace(from, to);
            let file = [("in.yaml", text.as_str())];
            let ran = ome_on("plan -o json -f {in.yaml}", &file);
            assert_eq!(ran.at("/placement/notJudged/0/what"), what, "{to}: {}", ran.out);
            for command in ["plan", "rollout m", "rollout --all"] {
                let page = ome_on(&format!("{command} -f {{in.yaml}}"), &file).out;
                let last = page.lines().last().unwrap_or_default();
                assert_eq!(last.contains("judged"), !what.is_null(), "{command} {to}: {page}");
            }
        }
    }
}
