//! Running pods whose workloads the input does not hold, as workloads that create them again.

use super::workloads::PlainWorkload;
use crate::cluster::fleet::{Replica, Running, Workload};
use crate::cluster::schedule::PodTemplate;
use crate::pipeline::running::{Creator, RunningPod, RunningPods};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Makes workloads of running pods that controllers create again. Returns how many of the pods
/// nothing creates again.
pub(super) fn adopt(
    plain: &mut Vec<PlainWorkload>,
    running: &RunningPods<'_>,
    templates: &[Arc<PodTemplate>],
    own: &mut BTreeSet<usize>,
    is_wanted: impl Fn(&RunningPod<'_>) -> bool,
) -> usize {
    let mut places: HashMap<EcoString, usize> =
        plain.iter().enumerate().map(|(at, own)| (group(&own.id, None), at)).collect();
    let mut gone = 0;
    for (number, pod) in running.all.iter().enumerate() {
        if own.contains(&number) || pod.ends || !is_wanted(pod) {
            continue;
        }
        let id = match pod.creator() {
            Creator::Workload(id) => id,
            Creator::Node => continue,
            Creator::Nobody => {
                gone += 1;
                continue;
            }
        };
        own.insert(number);
        let at = *places.entry(group(&id, pod.workload())).or_insert_with(|| {
            let name = id.splitn(3, '/').skip(id.matches('/').count() - 1).collect::<Vec<_>>();
            plain.push(PlainWorkload {
                name: name.join("/").into(),
                created: pod.object.created().map(Into::into),
                workload: Workload::default(),
                refused: None,
                standing: 0,
                queue: None,
                id,
            });
            plain.len() - 1
        });
        let PlainWorkload { workload, standing, .. } = &mut plain[at];
        let template = anywhere(&templates[number]);
        let known = workload.templates.iter().position(|known| **known == template);
        let known = known.unwrap_or_else(|| {
            workload.templates.push(Arc::new(template));
            workload.templates.len() - 1
        });
        workload.running.push(Running {
            node: pod.node.clone(),
            started: pod.started.clone(),
            replica: Some(workload.replicas.len()),
            template: known,
            number,
        });
        workload.replicas.push(Replica { pods: vec![known], together: 0, held: false });
        workload.runs_on = true;
        *standing += 1;
    }
    gone
}

/// Pods of one owner are of one workload if a controller has all of them: a service may have several.
fn group(id: &EcoString, workload: Option<EcoString>) -> EcoString {
    let own = id.rsplit('/').next().unwrap_or_default();
    let workload = workload.unwrap_or_else(|| own.into());
    eco_format!("{id} {workload}")
}

/// The template of a running pod, which its scheduler bound to a node.
fn anywhere(template: &PodTemplate) -> PodTemplate {
    let mut own = template.clone();
    Arc::make_mut(&mut own.spec).node = None;
    own
}
