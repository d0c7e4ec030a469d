//! Edits in two steps: fewer replicas first, the manifest as written afterwards. Between the steps,
//! pods that wait take what the first one frees, so the second one begins on the cluster that is
//! settled with the first one.

use super::others::Removed;
use super::outcome::ComponentRollout;
use super::track::{Begins, Kind, Track};
use super::{Ground, chance};
use crate::cluster::fleet::Workload;
use crate::pipeline::together::claims;
use crate::pipeline::together::settled::Workloads;

/// How the second step ends on its own; `None` where the running pods are the state before, as these
/// continue to run between the steps.
pub(super) fn second(ground: &Ground<'_>, tracks: &[Track]) -> Option<Vec<ComponentRollout>> {
    let (ground, second) = after_first(ground, tracks)?;
    Some(chance::ends(&ground, &second, &[]))
}

/// The cluster that is settled with the first step, and the second step.
fn after_first<'a>(ground: &Ground<'a>, tracks: &[Track]) -> Option<(Ground<'a>, Vec<Track>)> {
    let (before, _) = ground.before.as_ref()?;
    let mut workloads = before.clone();
    let count = workloads.claims.len();
    workloads.claims.extend(ground.arriving.claims.iter().cloned());
    workloads.fleet.workloads.extend(ground.arriving.fleet.workloads.iter().cloned());
    // The first step ended their pods.
    for at in &ground.removed.workloads {
        workloads.fleet.workloads[*at] = Workload::default();
    }
    ground.removed.forget(&mut workloads.fleet.others);
    let second = tracks.iter().map(|track| {
        // The arriving workloads follow those before the change, so that their places shift by as
        // many.
        let arrived = track.arrives.map(|(at, template)| (count + at, template));
        let settled = track.settled.or(arrived);
        if let Some((at, template)) = settled {
            let workload = &mut workloads.fleet.workloads[at];
            match &track.after {
                Some(kind) => kind.want(workload, template),
                None => *workload = Workload::default(),
            }
        }
        Track {
            begins: track.after.clone().map_or(Begins::Nothing, Begins::With),
            after: track.then.clone().or_else(|| track.after.clone()),
            then: None,
            settled: settled.filter(|_| track.after.is_some()),
            arrives: None,
            ..track.clone()
        }
    });
    let second = second.collect();
    let placed = workloads.settle(&[]);
    let before = Some((workloads, placed));
    let (arriving, removed) = (Workloads::default(), Removed::default());
    Some((Ground { before, arriving, removed, ..ground.clone() }, second))
}

impl Kind {
    /// A workload of a fleet wants the pods of this version; `template` is the index of its template.
    fn want(&self, workload: &mut Workload, template: usize) {
        // Flavors of the first step are not those of the second: quota is decided again.
        workload.forget_admission();
        let resize = |workload: &mut Workload, replicas: usize| {
            if let Some(last) = workload.replicas.last().cloned() {
                workload.replicas.resize(replicas, last);
            }
        };
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => {
                if let Some(template) = workload.templates.get_mut(template) {
                    template.clone_from(&spec.revision.pod);
                }
                // The other template is that of KServe's workers, which belong to the first
                // replica alone.
                if template == 0 {
                    resize(workload, usize::try_from(spec.replicas).unwrap_or(0));
                }
            }
            Self::Groups(spec) => {
                let wanted = claims::groups(spec);
                (workload.templates, workload.replicas) = (wanted.templates, wanted.replicas);
            }
            Self::Serving(kind) => {
                let templates: Vec<_> = kind.pods().cloned().collect();
                if templates.len() == workload.templates.len() {
                    workload.templates = templates;
                }
                resize(workload, usize::try_from(kind.serving.replicas.value).unwrap_or(0));
            }
            Self::Stateful(spec) => {
                // With claims each ordinal has a template of its own, which no other number of
                // replicas has.
                if spec.claims.is_empty() {
                    let any = std::sync::Arc::new(spec.any());
                    workload.templates.iter_mut().for_each(|template| template.clone_from(&any));
                }
                resize(workload, spec.replicas);
            }
            // The update of a DaemonSet has no second step: its size is that of the nodes.
            Self::Daemons(_) | Self::Ray | Self::Refused(_) => {}
        }
    }
}
