//! ModelServings in `plan` and `explain`: groups, roles, gangs, fit.

use super::cell::{Cell, row};
use super::markdown;
use super::phrases::plural;
use super::screen::{Page, line};
use super::sheet::Sheet;
use super::table::{Style, table};
use crate::api::{ModelServing, RolloutType, serving_names as names};
use crate::diag::{Diagnostic, Severity};
use crate::operators::servings::ServingRules;
use crate::operators::servings::objects::pod_group;
use crate::pipeline::Placement;
use crate::pipeline::serving::PlannedServing;
use crate::source::SourceMap;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Informative findings by the object that they are about. They are part of the page, while errors
/// and warnings go to stderr.
#[derive(Debug, Default)]
pub struct Notes<'a>(BTreeMap<&'a str, Vec<&'a Diagnostic>>);

impl<'a> Notes<'a> {
    /// Selects the informative findings.
    pub fn of(found: &'a [Diagnostic]) -> Self {
        let mut notes: BTreeMap<&str, Vec<&Diagnostic>> = BTreeMap::new();
        for finding in found.iter().filter(|finding| finding.severity == Severity::Info) {
            // The first object is the subject; others are mentioned.
            if let Some(object) = finding.objects.first() {
                notes.entry(object).or_default().push(finding);
            }
        }
        Self(notes)
    }

    /// The notes about a ModelServing.
    pub fn about(&self, serving: &ModelServing) -> &[&'a Diagnostic] {
        self.0.get(serving.object.id.to_string().as_str()).map_or(&[], Vec::as_slice)
    }
}

/// A note on one line.
fn note(finding: &Diagnostic, sources: &SourceMap) -> String {
    let place = finding.span().map_or(String::new(), |span| format!("  {}", sources.locate(span)));
    format!("{}: {}{place}", finding.code.as_str(), finding.message)
}

/// One ModelServing in the documented JSON format.
pub fn json(planned: &PlannedServing<'_>, sources: &SourceMap) -> Value {
    let serving = planned.serving;
    let groups = serving.replicas.value;
    // Saturating: numbers of a manifest may be of any size.
    let gang_total = planned.gang.as_ref().map_or(0, |gang| gang.min_member.saturating_mul(groups));
    let mut out = json!({
        "name": serving.name().as_str(),
        "namespace": serving.namespace.as_str(),
        // Of a refused ModelServing no pod is created.
        "pods": if planned.refused.is_some() { 0 } else { serving.pods() },
        "gpus": if planned.refused.is_some() { 0.into() } else { planned.gpus() },
        "gangTotal": if planned.refused.is_some() { 0 } else { gang_total },
        "scheduler": serving.scheduler.value.as_str(),
        "recoveryPolicy": serving.recovery.value.as_str(),
        "restartGracePeriodSeconds": serving.restart_grace_seconds,
        "placement": planned.placement.as_ref().map(super::together::of_component),
        "groups": shown_groups(planned).map(|ordinal| group(planned, ordinal)).collect::<Vec<_>>(),
    });
    if let Some(code) = planned.refused {
        out["error"] = json!({ "code": code.as_str() });
    }
    if let Some(directory) = &planned.directory {
        out["directory"] = directory.as_str().into();
    }
    if !planned.variants.is_empty() {
        out["variants"] = super::variants::json(&planned.variants, sources);
    }
    out
}

/// The ordinals of its groups; none of one in error, or with more pods than are expanded.
fn shown_groups(planned: &PlannedServing<'_>) -> std::ops::Range<i64> {
    0..if planned.is_expanded() { planned.serving.replicas.value } else { 0 }
}

fn group(planned: &PlannedServing<'_>, ordinal: i64) -> Value {
    let serving = planned.serving;
    let name = names::group(serving.name(), ordinal);
    let roles: Vec<Value> = serving
        .roles
        .iter()
        .map(|role| {
            let instances = (0..role.replicas.value).map(|replica| {
                let role_id = names::role_id(&role.name.value, replica);
                let pods: Vec<String> = (0..role.size()).map(|index| names::pod(&name, &role_id, index).to_string()).collect();
                json!({ "name": role_id.as_str(), "pods": pods })
            });
            json!({ "name": role.name.value.as_str(), "pods": role.pods(), "instances": instances.collect::<Vec<_>>() })
        })
        .collect();
    let mut out =
        json!({ "name": name.as_str(), "pods": serving.pods_per_group(), "roles": roles });
    if let Some(gang) = &planned.gang {
        let members: Map<String, Value> =
            planned.task_members().map(|(task, size)| (task.to_string(), size.into())).collect();
        let resources: Map<String, Value> = planned
            .resources()
            .iter()
            .map(|entry| (entry.key.to_string(), entry.node.to_json()))
            .collect();
        out["gang"] = json!({
            "minMember": gang.min_member,
            "minTaskMember": members,
            "minResources": resources,
            "arithmetic": planned.arithmetic(),
        });
        if let Some(fits) =
            planned.fits.as_ref().and_then(|fits| fits.get(usize::try_from(ordinal).ok()?))
        {
            out["gang"]["fits"] = (*fits).into();
        }
    }
    out
}

/// How many groups of a ModelServing fit, out of how many; `None` if no node reports its resources.
fn fitting(planned: &PlannedServing<'_>) -> Option<(usize, usize)> {
    planned.fits.as_ref().map(|fits| (fits.iter().filter(|fits| **fits).count(), fits.len()))
}

pub(super) fn cells(planned: &PlannedServing<'_>) -> Vec<Cell> {
    let serving = planned.serving;
    let roles: Vec<String> = serving
        .roles
        .iter()
        .map(|role| {
            let pods = plural(role.size(), "pod");
            format!("{} {} × {pods}", role.name.value, role.replicas.value)
        })
        .collect();
    let variant = planned.variant.as_ref().map_or(String::new(), |variant| format!(" ({variant})"));
    let name = format!("{}/{}{variant}", serving.namespace, serving.name());
    if let Some(code) = planned.refused {
        let none = Cell::none;
        return row![name, none(), none(), none(), none(), none(), Cell::bad(code.as_str())];
    }
    row![
        name,
        serving.replicas.value.to_string(),
        roles.join(", "),
        serving.pods().to_string(),
        planned.gpus().to_string(),
        Cell::or_none(planned.gang.as_ref().map(|gang| {
            format!("{} of {}", gang.min_member, plural(serving.pods_per_group(), "pod"))
        })),
        Cell::or_none(fitting(planned).map(|(fit, all)| format!("{fit} of {all}"))),
    ]
}

pub(super) const TITLES: [&str; 7] =
    ["MODELSERVING", "GROUPS", "ROLES", "PODS", "GPUS", "GANG PER GROUP", "FITS"];

/// The update settings, as text.
pub(super) fn strategy(serving: &ModelServing) -> String {
    let mut out = serving.rollout.value.as_str().to_owned();
    if serving.rollout.value == RolloutType::ServingGroup {
        let budget = &serving.budget;
        let most =
            budget.max_unavailable.as_ref().map_or("1".to_owned(), |most| most.value.to_string());
        let partition = budget
            .partition
            .as_ref()
            .map_or("0".to_owned(), |partition| partition.value.to_string());
        _ = write!(out, ", maxUnavailable {most}, partition {partition}");
    }
    out
}

/// One ModelServing with the objects of its controller and the rules for them.
pub fn explain(
    planned: &PlannedServing<'_>,
    policy: &ServingRules,
    notes: &[&Diagnostic],
    sources: &SourceMap,
) -> Sheet {
    let serving = planned.serving;
    let mut out = Sheet::default();
    let place = sources.locate(serving.object.name_span());
    out.heading(format!("{}/{} (ModelServing)  {place}", serving.namespace, serving.name()));
    let each = serving.pods_per_group();
    let (all, gpus) = (serving.pods(), planned.gpus());
    out.answer([answer(planned)]);
    super::variants::list(&planned.variants, sources, &mut out);
    let groups = serving.replicas.value;
    let named = |ordinal| names::group(serving.name(), ordinal);
    let range = match groups {
        // Without groups there is no first and no last name.
        0 => "none".to_owned(),
        1 => named(0).to_string(),
        _ => format!("{} to {}", named(0), named(groups - 1)),
    };
    let place = serving
        .replicas
        .span()
        .map_or("default".to_owned(), |span| sources.locate(span).to_string());
    out.fact("groups", format!("{range} (spec.replicas {groups})  {place}"));
    out.fact("pods", format!("{each} per group, {all} in total; {gpus} GPUs in total"));
    out.fact("update", strategy(serving));
    let (recovery, grace) = (serving.recovery.value.as_str(), serving.restart_grace_seconds);
    out.fact("recovery", format!("{recovery}, restartGracePeriodSeconds {grace}"));
    let titles = ["ROLE", "REPLICAS", "PODS/REPLICA", "PODS/GROUP", "GANG MINIMUM", "WHERE"];
    let rows = serving.roles.iter().enumerate().map(|(index, role)| {
        let minimum = match &planned.gang {
            None => Cell::none(),
            // A role without a minimum takes no part in the gang.
            Some(gang) => match gang.roles.get(index).copied().flatten() {
                Some(minimum) => format!("{minimum} of {}", role.replicas.value).into(),
                None => "none".into(),
            },
        };
        let place = role.name.span().map_or(String::new(), |span| sources.locate(span).to_string());
        row![
            role.name.value.to_string(),
            role.replicas.value.to_string(),
            match role.workers.value {
                0 => "1 entry".to_owned(),
                1 => "1 entry + 1 worker".to_owned(),
                workers => format!("1 entry + {workers} workers"),
            },
            role.pods().to_string(),
            minimum,
            place,
        ]
    });
    out.table(&titles, rows);
    out.gap();
    if let (Some(gang), Some(arithmetic)) = (&planned.gang, planned.arithmetic()) {
        let least = gang.min_member;
        out.fact(
            "gang",
            format!(
                "{arithmetic}: {least} of the {each} pods of a group start together or not at all"
            ),
        );
        let resources: Vec<String> = planned
            .resources()
            .iter()
            .map(|entry| format!("{} {}", entry.key, entry.node.as_str().unwrap_or_default()))
            .collect();
        if !resources.is_empty() {
            out.more(format!("minResources {}", resources.join(", ")));
        }
        if let Some((fit, all)) = fitting(planned) {
            out.more(format!("fits: {fit} of {all} groups"));
        }
        if policy.gang_documented_labels {
            let (field, why) = pod_group::NOT_RENDERED;
            out.more(format!("{field} is not rendered: {why}"));
        }
    } else {
        let scheduler = &serving.scheduler.value;
        out.fact("gang", format!("none: no PodGroup is created (schedulerName {scheduler})"));
    }
    for finding in notes {
        out.fact("note", note(finding, sources));
    }
    out
}

/// The size of a ModelServing, and whether it fits, on one line.
fn answer(planned: &PlannedServing<'_>) -> String {
    let serving = planned.serving;
    let (groups, pods, gpus) = (serving.replicas.value, serving.pods(), planned.gpus());
    let fits = match (planned.refused, fitting(planned)) {
        (Some(code), _) => format!(" · ✗ {}", code.as_str()),
        (None, None) => String::new(),
        (None, Some((fit, all))) => {
            // Groups are gangs: a part of them is no success.
            let open = planned.placement.as_ref().and_then(Placement::not_judged);
            // Nor are gangs that start without the pods that they do not wait for.
            let missing = planned.placement.as_ref().map_or(0, Placement::pending);
            let sign = match fit == all && missing == 0 {
                true if open.is_some() => "!",
                true => "✓",
                false => "✗",
            };
            let without = match missing {
                _ if fit < all => String::new(),
                0 => String::new(),
                1 => ", without 1 of their pods".to_owned(),
                many => format!(", without {many} of their pods"),
            };
            format!(" · {sign} {fit} of {all} groups fit the nodes{without}")
        }
    };
    format!("{}, {pods} pods, {gpus} GPUs{fits}", plural(groups, "group"))
}

/// ModelServings as text.
pub fn text(
    planned: &[PlannedServing<'_>],
    notes: &Notes<'_>,
    sources: &SourceMap,
    style: Style,
) -> String {
    let mut out = Page::default();
    out.draw(&table(&TITLES, planned.iter().map(cells), style));
    for planned in planned {
        if let (Some(fits), Some(gang)) = (&planned.fits, &planned.gang) {
            let pods = format!("{} pods", gang.min_member);
            for (ordinal, _) in fits.iter().enumerate().filter(|(_, fits)| !**fits) {
                let name = names::group(
                    planned.serving.name(),
                    i64::try_from(ordinal).unwrap_or(i64::MAX),
                );
                let resources: Vec<String> = planned
                    .resources()
                    .iter()
                    .map(|entry| {
                        format!("{} {}", entry.key, entry.node.as_str().unwrap_or_default())
                    })
                    .collect();
                let resources = match resources.join(", ") {
                    none if none.is_empty() => none,
                    some => format!(" ({some})"),
                };
                line!(out, "✗ gang {name} needs {pods}{resources}: does not fit the nodes");
            }
        }
    }
    for remark in remarks(planned, notes, sources) {
        line!(out, "note {remark}");
    }
    out.finish()
}

/// The notes on all ModelServings, each with the name of its ModelServing.
pub(super) fn remarks<'p>(
    planned: &'p [PlannedServing<'_>],
    notes: &'p Notes<'_>,
    sources: &'p SourceMap,
) -> impl Iterator<Item = String> + 'p {
    planned.iter().flat_map(move |planned| {
        let serving = planned.serving;
        // Of several definitions, each has the notes about itself.
        let is_own = |finding: &Diagnostic| {
            let span = finding.span().filter(|_| planned.directory.is_some());
            span.is_none_or(|span| serving.object.span.contains(span))
        };
        let notes = notes.about(serving).iter().filter(move |finding| is_own(finding));
        notes.map(move |finding| {
            format!("{}/{}: {}", serving.namespace, serving.name(), note(finding, sources))
        })
    })
}

/// ModelServings as a Markdown table, with the notes below it.
pub fn markdown(planned: &[PlannedServing<'_>], notes: &Notes<'_>, sources: &SourceMap) -> String {
    let mut out = Page::default();
    let titles = ["ModelServing", "groups", "roles", "pods", "GPUs", "gang per group", "fits"];
    markdown::table(&mut out, &titles, planned.iter().map(cells));
    let mut remarks = remarks(planned, notes, sources).peekable();
    if remarks.peek().is_some() {
        out.end_line();
    }
    markdown::list(&mut out, remarks);
    out.finish()
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    #[test]
    fn gangs_that_start_without_some_of_their_pods_do_not_fit() {
        let role = |name: &str| {
            format!(
                "{{name: {name}, replicas: 1, workerReplicas: 0, entryTemplate: {{spec: {{containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}"
            )
        };
        let serving = format!(
            "---\napiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: s, namespace: ml}}\nspec: {{replicas: 2, schedulerName: volcano, template: {{gangPolicy: {{minRoleReplicas: {{p: 1}}}}, roles: [{}, {}]}}}}\n",
            role("p"),
            role("d")
        );
        for (gpus, code, sentence) in [
            (4, 0, "✓ 2 of 2 groups fit the nodes\n"),
            (3, 2, "✗ 2 of 2 groups fit the nodes, without 1 of their pods\n"),
            (1, 2, "✗ 1 of 2 groups fit the nodes\n"),
        ] {
            let text = gpu_node("n1", gpus, "") + &serving;
            let ran = ome_on("explain s -f {in.yaml}", &[("in.yaml", &text)]);
            assert!(ran.code == code && ran.out.contains(sentence), "{gpus}: {}", ran.out);
        }
    }
}
