//! What a component asks of queues, from its workloads as they are rendered.

use super::built::{Workload, WorkloadKind};
use super::planned::PlannedComponent;
use super::question::{Each, Question, Unit};
use super::queued::Queued;
use crate::api::{ComponentKind, Field};
use ecow::EcoString;

/// What a component asks, and the name of the first queue where it is written; none where its objects name
/// no queue.
pub(super) fn of(
    component: &PlannedComponent,
    workloads: &[Workload],
) -> Option<(Field<EcoString>, Question)> {
    let of_component = || workloads.iter().filter(|workload| workload.component == component.kind);
    let queue =
        of_component().find_map(|workload| Some(workload.queued.as_ref()?.queue.clone()))?;
    let settled = component.settled_replicas.number();
    let unit = |(at, workload): (usize, &Workload)| {
        let Queued { queue, sets, .. } = workload.queued.as_deref()?;
        let count = match workload.kind.as_ref().ok()? {
            WorkloadKind::Deployment { .. } if component.kind == ComponentKind::Prober => 1,
            // The second one has the workers of a service of several nodes, whose number is not that of
            // the heads.
            WorkloadKind::Deployment { spec, .. } if at > 0 => spec.replicas,
            WorkloadKind::Groups(spec) => i64::try_from(spec.replicas).ok()?,
            WorkloadKind::Ray { .. } => 1,
            WorkloadKind::Deployment { .. } | WorkloadKind::Knative(_) => settled?,
        };
        Some(Unit { queue: queue.value.clone(), sets: sets.clone(), count })
    };
    let units: Vec<_> = of_component().enumerate().map(unit).collect();
    if units.iter().all(Option::is_none) {
        return None;
    }
    let is_group = |workload: &Workload| {
        matches!(workload.kind, Ok(WorkloadKind::Groups(_) | WorkloadKind::Ray { .. }))
    };
    let each = if of_component().any(is_group) { Each::Group } else { Each::Pod };
    let mut queued = of_component().filter_map(|workload| workload.queued.as_deref());
    let of_pods = queued.any(|queued| queued.of_pods);
    Some((queue, Question { units, each, of_pods }))
}
