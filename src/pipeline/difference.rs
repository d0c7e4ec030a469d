//! Differences between the decisions of the two modes about a service.

use super::built::Workload;
use super::planned::{Difference, OtherPlaced, OtherPods, Planned, PlannedService};
use crate::api::{ComponentKind, DeploymentMode, Failure};
use crate::decision::{AcceleratorDecision, Resolution};
use crate::diag::{Code, Diagnostic};
use crate::policy::Policy;
use ecow::EcoString;
use std::collections::BTreeMap;
use std::sync::Arc;

impl OtherPods {
    /// The pods of `there` that differ from those of `here`; none if the workloads are other ones.
    pub(super) fn of(policy: &Policy, here: &[Workload], there: &[Workload]) -> Option<Box<Self>> {
        let mut specs = Vec::new();
        // Workloads are compared in pairs; with another number of them there are no pairs.
        if here.len() != there.len() {
            return None;
        }
        for (workload, other) in here.iter().zip(there) {
            let (Ok(here_kind), Ok(there_kind)) = (&workload.kind, &other.kind) else {
                return None;
            };
            let pairs = [here_kind.specs(), there_kind.specs()];
            if workload.component != other.component || pairs[0].len() != pairs[1].len() {
                return None;
            }
            for (here, there) in pairs[0].iter().zip(&pairs[1]).filter(|(one, two)| one != two) {
                specs.push((workload.component, Arc::clone(here), Arc::clone(there)));
            }
        }
        (!specs.is_empty()).then(|| Box::new(Self { release: policy.release, specs }))
    }
}

/// Adds the pods that the controller would place to a service.
pub(super) fn place(
    planned: &mut Planned<'_>,
    release: &'static str,
    placed: BTreeMap<&'static str, OtherPlaced>,
) {
    let difference = planned.controller.get_or_insert_with(|| Box::new(Difference::new(release)));
    difference.placed = placed;
    let finding = differs(difference, &planned.service);
    // The earlier finding did not know of the pods; one finding has all differences.
    planned.diagnostics.retain(|finding| finding.code != Code::ControllerDiffers);
    planned.diagnostics.push(finding);
}

impl Difference {
    fn new(release: &'static str) -> Self {
        Self {
            release,
            runtime: None,
            decided_by: None,
            modes: None,
            accelerators: BTreeMap::new(),
            error: None,
            placed: BTreeMap::new(),
        }
    }
}

/// The decision of one mode.
pub(super) struct Side<'a, 'c> {
    pub(super) resolution: &'a Resolution<'c>,
    /// Deployment mode of each component.
    pub(super) modes: Vec<(ComponentKind, DeploymentMode)>,
    pub(super) error: Option<&'a Failure>,
}

pub(super) fn difference(
    planned: &Side<'_, '_>,
    other: &Side<'_, '_>,
    policy: &Policy,
) -> Option<Difference> {
    let modes = |side: &Side<'_, '_>| -> BTreeMap<&'static str, &'static str> {
        side.modes.iter().map(|(kind, mode)| (kind.as_str(), mode.as_str())).collect()
    };
    let (here, there) = (
        planned.resolution.chosen().map(|runtime| &runtime.object.id),
        other.resolution.chosen().map(|runtime| &runtime.object.id),
    );
    let runtime = (here != there).then(|| there.cloned());
    let (here, there) = (planned.error.map(|error| error.code), other.error);
    let error = there
        .filter(|error| here != Some(error.code))
        .map(|error| (error.code, error.message.clone()));
    let modes =
        match (planned.error.is_none() && other.error.is_none(), modes(planned), modes(other)) {
            // Without a decision on one side its modes are defaults, and no difference.
            (true, here, there) if here != there => Some(there),
            _ => None,
        };
    let accelerators = if planned.error.is_none() && other.error.is_none() {
        other_classes(&planned.resolution.accelerators, &other.resolution.accelerators)
    } else {
        BTreeMap::new()
    };
    let healed = planned.error.is_some() && other.error.is_none();
    let differs = runtime.is_some()
        || error.is_some()
        || modes.is_some()
        || !accelerators.is_empty()
        || healed;
    differs.then(|| Difference {
        runtime,
        decided_by: other.resolution.runtime.decided_by.map(crate::decision::DecidedBy::as_str),
        modes,
        accelerators,
        error,
        ..Difference::new(policy.release)
    })
}

/// The classes of `there` by component, where they differ from those of `here`.
fn other_classes(
    here: &[AcceleratorDecision<'_>],
    there: &[AcceleratorDecision<'_>],
) -> BTreeMap<&'static str, Option<EcoString>> {
    let class = |decisions: &[AcceleratorDecision<'_>], kind: ComponentKind| {
        let decision = decisions.iter().find(|decision| decision.component == kind)?;
        decision.chosen.map(|class| class.name().clone())
    };
    let kinds = here.iter().chain(there).map(|decision| decision.component);
    kinds
        .filter(|kind| class(here, *kind) != class(there, *kind))
        .map(|kind| (kind.as_str(), class(there, kind)))
        .collect()
}

pub(super) fn differs(difference: &Difference, service: &PlannedService) -> Diagnostic {
    Diagnostic::new(Code::ControllerDiffers, difference.to_string())
        .at(service.place)
        .object(format!("{}/{service}", service.kind))
        .help("run with `--semantics controller` to see its decision")
}

impl std::fmt::Display for Difference {
    /// One line: "controller v0.1.5 would choose X: tie broken by name".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "controller {} would ", self.release)?;
        if let Some((code, message)) = &self.error {
            return write!(f, "fail: {} ({message})", code.as_str());
        }
        let runtime = self.runtime.as_ref().map(|runtime| match runtime {
            Some(runtime) => {
                let by = match self.decided_by {
                    Some("only-candidate") => ": no other fits there".to_owned(),
                    Some("name") => ": tie broken by name".to_owned(),
                    Some(key) => format!(": decided by {key}"),
                    None => String::new(),
                };
                format!("choose {}{by}", runtime.name)
            }
            None => "choose no runtime".to_owned(),
        });
        let classes = self.accelerators.iter().map(|(component, class)| match class {
            Some(class) => format!("take AcceleratorClass {class} for the {component}"),
            None => format!("take no AcceleratorClass for the {component}"),
        });
        let modes = self.modes.as_ref().map(|modes| {
            let modes: Vec<String> =
                modes.iter().map(|(component, mode)| format!("{component} as {mode}")).collect();
            format!("deploy {}", modes.join(", "))
        });
        let placed = self.placed.iter().map(|(component, placed)| {
            let OtherPlaced { placed, wanted, reason } = placed;
            let why = reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            format!("place {placed} of {wanted} pods of the {component}{why}")
        });
        let all = runtime.into_iter().chain(classes).chain(modes).chain(placed);
        let all: Vec<String> = all.collect();
        if all.is_empty() {
            // Only `healed` is left: an error of the documents that the controller does not have.
            return f.write_str("find nothing wrong");
        }
        f.write_str(&all.join("; "))
    }
}
