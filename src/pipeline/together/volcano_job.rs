//! Jobs of Volcano: the pods of their tasks, of which `minAvailable` start together or not at all.
//!
//! In: the object. Out: one replica with all pods, those of the gang first. Sources: volcano,
//! pkg/webhooks/admission/jobs/mutate/mutate_job.go, pkg/controllers/job/job_controller_util.go
//! (createJobPod) and pkg/scheduler/api/job_info.go (`CheckTaskValid`).

use super::claims::{Refused, VOLCANO};
use super::volcano_queue;
use super::workload_kinds::TEMPLATE_OF_PART;
use crate::api::Object;
use crate::cluster::fleet::{Replica, Workload};
use crate::cluster::schedule::PodTemplate;
use crate::pipeline::built::{PodContext, refused};
use crate::pipeline::running::RunningPod;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The label of a pod with the name of its task.
const TASK: &str = "volcano.sh/task-spec";

/// The pods of a Job.
pub(super) fn pods(
    object: &Object,
    node: &Node,
    namespace: &str,
    context: &PodContext,
    take: &mut dyn FnMut(usize) -> Result<(), Refused>,
) -> Result<Workload, Refused> {
    let text = |node: &Node, path: &[&str]| node.at(path).and_then(Node::scalar_text);
    let count = |node: &Node, key: &str| {
        let count = node.get(key).and_then(Node::as_int)?;
        Some(usize::try_from(count).unwrap_or(0))
    };
    let named = |name: Option<EcoString>| name.filter(|name| !name.is_empty());
    let scheduler = named(text(node, &["spec", "schedulerName"])).unwrap_or_else(|| VOLCANO.into());
    let queue = volcano_queue::of_job(node);
    let mut out = Workload::default();
    // Replicas and minAvailable of each task.
    let mut tasks: Vec<(usize, usize)> = Vec::new();
    let mut gangs = true;
    let stated = node.at(&["spec", "tasks"]).map(Node::items).unwrap_or_default();
    for (at, task) in stated.iter().enumerate() {
        let replicas = count(task, "replicas").unwrap_or(0);
        let Some(template) = task.at(TEMPLATE_OF_PART) else { continue };
        take(replicas)?;
        let pod = context.template(namespace, template);
        let pod = pod.map_err(|invalid| Refused::invalid(refused(&invalid), replicas))?;
        let mut pod = PodTemplate::clone(&pod);
        let name = named(text(task, &["name"])).unwrap_or_else(|| eco_format!("default{at}"));
        for (key, value) in [
            (volcano_queue::OF_JOB, object.id.name.clone()),
            ("volcano.sh/job-namespace", namespace.into()),
            (volcano_queue::LABEL, queue.clone()),
            (TASK, name),
        ] {
            pod.labels.insert(key.into(), value);
        }
        let scheduler_name =
            named(Some(pod.scheduler.clone())).unwrap_or_else(|| scheduler.clone());
        gangs &= scheduler_name == VOLCANO;
        // Pods of Volcano are placed as kube-scheduler places them.
        let judged = if scheduler_name == VOLCANO { EcoString::new() } else { scheduler_name };
        Arc::make_mut(&mut pod.spec).scheduler = judged;
        out.templates.push(Arc::new(pod));
        tasks.push((replicas, count(task, "minAvailable").unwrap_or(replicas)));
    }
    let all: usize = tasks.iter().map(|(replicas, _)| replicas).sum();
    let least: usize = tasks.iter().map(|(_, least)| least).sum();
    let stated = node.get("spec").and_then(|spec| count(spec, "minAvailable"));
    let together = stated.filter(|stated| *stated > 0).unwrap_or(least);
    if together > all {
        let message = "job 'minAvailable' should not be greater than total replicas in tasks";
        return Err(Refused::invalid(message.into(), all));
    }
    // Minima of tasks count unless fewer pods than all of them are enough.
    let mut members = Vec::new();
    if together >= least {
        for (at, (replicas, least)) in tasks.iter_mut().enumerate() {
            let first = (*least).min(*replicas);
            members.extend(std::iter::repeat_n(at, first));
            *replicas -= first;
        }
    }
    for (at, (replicas, _)) in tasks.iter().enumerate() {
        members.extend(std::iter::repeat_n(at, *replicas));
    }
    if gangs && !members.is_empty() {
        out.replicas = vec![Replica { together, ..Replica::alone(members) }];
    } else {
        let alone = |at| Replica::alone(vec![at]);
        out.replicas = members.into_iter().map(alone).collect();
    }
    Ok(out)
}

/// Leaves out the pods that run: where the gang has started, its other pods start one by one.
pub(super) fn subtract(workload: &mut Workload, pods: &[&RunningPod<'_>]) {
    let mut running: BTreeMap<Option<&EcoString>, usize> = BTreeMap::new();
    for pod in pods {
        *running.entry(pod.labels.get(TASK)).or_default() += 1;
    }
    let templates = &workload.templates;
    for replica in &mut workload.replicas {
        let mut left = Vec::new();
        let mut together = 0;
        for (place, at) in replica.pods.iter().enumerate() {
            match running.get_mut(&templates[*at].labels.get(TASK)) {
                Some(count) if *count > 0 => *count -= 1,
                _ => {
                    together += usize::from(place < replica.together);
                    left.push(*at);
                }
            }
        }
        (replica.pods, replica.together) = (left, together);
    }
    workload.replicas.retain(|replica| !replica.pods.is_empty());
}

#[cfg(test)]
mod tests {
    use crate::testing::{Ran, gpu_node, ome_on};

    fn plan(spec: &str, tasks: &[(&str, &str, u32)], more: &str) -> Ran {
        let task = |(name, spec, gpus): &(&str, &str, u32)| {
            format!(
                "  - {{name: {name}, {spec}, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: '{gpus}'}}}}}}]}}}}}}\n"
            )
        };
        let text = gpu_node("n1", 8, "")
            + "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j, namespace: ml}\n"
            + &format!("spec:\n  maxRetry: 3\n{spec}  tasks:\n")
            + &tasks.iter().map(task).collect::<String>()
            + more;
        ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)])
    }

    fn waiting(ran: &Ran) -> String {
        format!("{} of {}", ran.at("/placement/pods/pending"), ran.at("/placement/pods/wanted"))
    }

    #[test]
    fn pods_of_a_job_start_together_or_not_at_all() {
        let all = |spec: &str, tasks: &[(&str, &str, u32)]| waiting(&plan(spec, tasks, ""));
        // All replicas where nothing states fewer; without the gang two of them would have a node.
        assert_eq!(all("", &[("w", "replicas: 3", 4)]), "3 of 3");
        assert_eq!(all("  minAvailable: 2\n", &[("w", "replicas: 3", 4)]), "1 of 3");
        assert_eq!(all("", &[("w", "replicas: 3, minAvailable: 2", 4)]), "1 of 3");
        // kube-scheduler has no gangs.
        assert_eq!(
            all("  schedulerName: default-scheduler\n", &[("w", "replicas: 3", 4)]),
            "1 of 3"
        );
        // The minima of tasks come first where the Job needs all of them.
        let tasks = [("ps", "replicas: 4, minAvailable: 1", 2), ("w", "replicas: 1", 6)];
        assert_eq!(all("  minAvailable: 2\n", &tasks), "3 of 5");
        // A task without replicas has none.
        assert_eq!(all("", &[("w", "replicas: 1", 1), ("none", "maxRetry: 1", 8)]), "0 of 1");
    }

    #[test]
    fn a_job_that_needs_more_pods_than_it_has_is_refused() {
        let ran = plan("  minAvailable: 4\n", &[("w", "replicas: 3", 1)], "");
        let message = ran.at("/placement/pending/0/message").to_string();
        assert!(message.contains("should not be greater than total replicas"), "{}", ran.out);
    }

    #[test]
    fn pods_of_a_job_that_run_are_its_own() {
        let pod = |number: usize| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: j-w-{number}, namespace: ml, labels: {{volcano.sh/task-spec: w}}, ownerReferences: [{{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: u, controller: true}}]}}\nspec: {{nodeName: n1, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: '4'}}}}}}]}}\nstatus: {{phase: Running}}\n"
            )
        };
        let of = |count: usize| {
            waiting(&plan("", &[("w", "replicas: 2", 4)], &(0..count).map(pod).collect::<String>()))
        };
        assert_eq!([of(1), of(2)], ["0 of 1", "0 of 0"]);
    }
}
