//! The plan of a ModelServing: its gang, its requests, and whether it fits.

use crate::api::{AcceleratorClass, ModelServing, Role};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic, Severity};
use crate::operators::servings::objects::{MOST_PODS, pod_group};
use crate::operators::servings::{ServingRules, rules};
use crate::pipeline::placement::Placement;
use crate::pipeline::uncounted::UNCOUNTED_REQUEST;
use crate::pods::gpus::by_resource as of_pod;
use crate::quantity::is_accelerator;
use crate::quantity::{Count, Range};
use crate::source::Span;
use crate::workspace::World;
use crate::yaml::{Map, Node};
use ecow::EcoString;
use std::collections::BTreeMap;

/// A planned ModelServing.
#[derive(Debug)]
pub struct PlannedServing<'a> {
    /// The ModelServing.
    pub serving: &'a ModelServing,
    /// The directory of its definition, if its name has several; set by the caller.
    pub directory: Option<EcoString>,
    /// What its row has behind the name, if its name has several definitions; set by the caller.
    pub variant: Option<EcoString>,
    /// All definitions of its name, if there are several; set by the caller.
    pub variants: Vec<super::Variant>,
    /// The gang of each group; `None` if the scheduler does not support gangs.
    pub gang: Option<pod_group::Gang>,
    /// For each group, whether its gang, or all its pods if it has no gang, fit together with
    /// everything else; `None` if no node reports its resources.
    pub fits: Option<Vec<bool>>,
    /// Where its pods are placed, together with everything else.
    pub placement: Option<Placement>,
    /// Devices of all pods, by resource; `None` if they cannot be counted.
    pub gpus_by_resource: Option<BTreeMap<EcoString, i64>>,
    /// Devices that its pods request, by the classes of their nodes. For pods that wait, this is
    /// the class of the node that is closest to a match and lacks only free resources.
    pub by_class: Vec<(&'a AcceleratorClass, i64)>,
    /// Why it is not rendered, if it is in error: it then has no pods, and none is placed.
    pub refused: Option<Code>,
    /// Findings.
    pub diagnostics: Vec<Diagnostic>,
}

impl PlannedServing<'_> {
    /// Whether its pods are created and few enough to be looked at one by one.
    pub fn is_expanded(&self) -> bool {
        self.refused.is_none() && self.serving.extent() <= MOST_PODS
    }

    /// GPUs of all pods.
    pub fn gpus(&self) -> Count {
        self.gpus_by_resource.as_ref().map(|found| found.values().sum::<i64>()).into()
    }

    /// The size of the gang of a group, as a sum: `2*(1+3) + 1*(1+2) = 11`.
    pub fn arithmetic(&self) -> Option<String> {
        self.gang.as_ref().map(|gang| pod_group::arithmetic(self.serving, gang))
    }

    /// Number of pods of every role replica in the gang of a group, by name of the role replica.
    pub fn task_members(&self) -> impl Iterator<Item = (EcoString, i64)> {
        self.gang.iter().flat_map(|gang| pod_group::task_members(self.serving, gang))
    }

    /// Resources of the gang of a group, by name.
    pub fn resources(&self) -> Map {
        self.gang.as_ref().map(pod_group::resources).unwrap_or_default()
    }
}

/// The error for which a ModelServing is not rendered: the first finding of severity error inside
/// it.
pub(crate) fn refusal<'w>(world: &'w World, serving: &ModelServing) -> Option<&'w Diagnostic> {
    let inside = |span: Span| serving.object.span.contains(span);
    world
        .diagnostics
        .iter()
        .find(|found| found.severity == Severity::Error && found.span().is_some_and(inside))
}

/// Plans ModelServings, with the error of those that are not rendered.
pub fn plan_servings<'a>(
    catalog: &Catalog,
    servings: &[&'a ModelServing],
) -> Vec<PlannedServing<'a>> {
    let policy = rules(catalog);
    let planned = |serving: &&'a ModelServing| PlannedServing {
        refused: catalog.refused(&serving.object).map(|refused| refused.code),
        ..plan(serving, policy)
    };
    servings.iter().map(planned).collect()
}

fn plan<'a>(serving: &'a ModelServing, policy: &ServingRules) -> PlannedServing<'a> {
    let mut diagnostics = Vec::new();
    let gang = pod_group::has_pod_group(serving, policy).then(|| pod_group::gang(serving, policy));
    if gang.is_none() && policy.needs_volcano() {
        let scheduler = &serving.scheduler;
        diagnostics.push(
            Diagnostic::new(
                Code::GangNeedsVolcano,
                format!(
                    "gang scheduling needs volcano, the scheduler of `{}` is `{}`",
                    serving.name(),
                    scheduler.value
                ),
            )
            .at(scheduler.span().unwrap_or_else(|| serving.object.name_span()))
            .path("spec.schedulerName")
            .object(serving.object.id.to_string())
            .help("write `schedulerName: volcano` to start the pods of a group together"),
        );
    }
    if let Some(minima) = serving.gang.as_ref().filter(|gang| !gang.min_role_replicas.is_empty()) {
        for role in serving.roles.iter().filter(|role| minima.minimum(&role.name.value).is_none()) {
            let counted = if gang.as_ref().is_some_and(|gang| {
                gang.roles.iter().zip(&serving.roles).any(|(minimum, other)| {
                    other.name.value == role.name.value && minimum.is_some()
                })
            }) {
                "it counts with all its replicas"
            } else {
                "its pods are not waited for"
            };
            diagnostics.push(
                Diagnostic::new(
                    Code::RoleWithoutGangMinimum,
                    format!("role `{}` has no gang minimum: {counted}", role.name.value),
                )
                .at(minima.origin.span())
                .path("spec.template.gangPolicy.minRoleReplicas")
                .object(serving.object.id.to_string())
                .help(format!("add `{}` to minRoleReplicas", role.name.value)),
            );
        }
    }
    for (index, role) in serving.roles.iter().enumerate() {
        gpus_in_limits(serving, role, index, &mut diagnostics);
    }
    // A number of pods that was clamped says nothing about their devices.
    let gpus_by_resource = by_resource(serving).filter(|_| serving.counted);
    if gpus_by_resource.is_none() && serving.counted {
        diagnostics.push(
            Diagnostic::new(
                Code::NotCounted,
                format!("the GPUs are not counted: {UNCOUNTED_REQUEST} {}", Range::DEVICES),
            )
            .at(serving.object.name_span())
            .object(serving.object.id.to_string())
            .help("correct the number; `ome validate` prints its file and line"),
        );
    }
    PlannedServing {
        serving,
        directory: None,
        variant: None,
        variants: Vec::new(),
        gang,
        fits: None,
        placement: None,
        gpus_by_resource,
        by_class: Vec::new(),
        refused: None,
        diagnostics,
    }
}

/// Reports GPUs that are in the limits but not in the requests (Kthena blog, A Deep Dive of
/// ModelServing, Instance-Level Gang Scheduling; docs/decisions.md#pod-groups).
fn gpus_in_limits(
    serving: &ModelServing,
    role: &Role,
    index: usize,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let templates =
        [("entryTemplate", Some(&role.entry)), ("workerTemplate", role.worker.as_ref())];
    for (key, template) in templates.iter().filter_map(|(key, template)| Some((*key, (*template)?)))
    {
        for (position, container) in
            template.spec.get("containers").map_or(&[][..], Node::items).iter().enumerate()
        {
            let requested = container.at(&["resources", "requests"]);
            let limits = container.at(&["resources", "limits"]).into_iter().flat_map(Node::entries);
            for entry in limits.filter(|entry| {
                is_accelerator(&entry.key)
                    && requested.is_none_or(|requests| requests.get(&entry.key).is_none())
            }) {
                diagnostics.push(
                    Diagnostic::new(
                        Code::GpuLimitsOnly,
                        format!(
                            "role `{}`: `{}` is in the limits and not in the requests; the shipped gang scheduling counts requests only",
                            role.name.value, entry.key
                        ),
                    )
                    .at(entry.key_origin.span())
                    .path(format!("spec.template.roles[{index}].{key}.spec.containers[{position}].resources.limits"))
                    .object(serving.object.id.to_string())
                    .help(format!("add `{}` with the same number to `requests`", entry.key)),
                );
            }
        }
    }
}

/// Devices of all pods of a ModelServing, by resource; `None` if they cannot be counted.
fn by_resource(serving: &ModelServing) -> Option<BTreeMap<EcoString, i64>> {
    let mut found: BTreeMap<EcoString, i64> = BTreeMap::new();
    for role in &serving.roles {
        let replicas = serving.replicas.value.checked_mul(role.replicas.value)?;
        let workers = role.worker.as_ref().map(|worker| (worker, role.workers.value));
        for (template, times) in std::iter::once((&role.entry, 1)).chain(workers) {
            for (name, count) in of_pod(&template.spec)? {
                let count = count.checked_mul(replicas.checked_mul(times)?)?;
                let sum = found.entry(name).or_default();
                *sum = sum.checked_add(count)?;
            }
        }
    }
    Some(found)
}

/// GPUs of all pods of a ModelServing.
pub(crate) fn serving_gpus(serving: &ModelServing) -> Count {
    by_resource(serving).map(|found| found.values().sum::<i64>()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::{serving, world};

    fn planned(
        groups: &str,
        gpus: &str,
        change: impl Fn(String) -> String,
    ) -> (bool, Option<i64>, Vec<&'static str>) {
        let world = world(&change(serving("s", groups, gpus)));
        let servings: Vec<&ModelServing> = world.catalog.model_servings().iter().collect();
        let planned = plan_servings(&world.catalog, &servings);
        let one = planned.first().expect("every ModelServing has a plan");
        (one.is_expanded(), one.gpus().number(), crate::testing::codes(&one.diagnostics))
    }

    #[test]
    fn devices_of_all_groups_are_counted() {
        for (groups, gpus, expected) in [("1", "2", 2), ("3", "2", 6), ("0", "2", 0)] {
            assert_eq!(planned(groups, gpus, |text| text), (true, Some(expected), vec![]));
        }
    }

    #[test]
    fn numbers_that_are_none_are_counted_as_unknown() {
        assert_eq!(planned("-1", "2", |text| text), (true, None, vec![]));
        assert_eq!(planned("1", "1.5", |text| text), (true, None, vec!["not-counted"]));
        assert!(planned("200000", "1", |text| text).0);
        assert!(!planned("200001", "1", |text| text).0);
    }

    #[test]
    fn devices_in_limits_alone_are_reported_for_the_gang() {
        let without = |text: String| text.replace("requests: {nvidia.com/gpu: 2}, ", "");
        assert_eq!(planned("1", "2", without).2, ["gpu-limits-only"]);
    }
}
