//! ModelServings in `plan`: groups, roles, gangs, what fits.

use super::screen::{Page, printable};
use super::table::{Style, table};
use crate::api::serving_names as names;
use crate::pipeline::PlannedServing;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// One ModelServing in the documented shape.
pub fn json(planned: &PlannedServing<'_>) -> Value {
    let serving = planned.serving;
    let groups = serving.replicas.value;
    let gang_total = planned.gang.as_ref().map_or(0, |gang| gang.min_member.saturating_mul(groups));
    json!({
        "name": serving.name().as_str(),
        "namespace": serving.namespace.as_str(),
        "pods": serving.pods(),
        "gpus": planned.gpus,
        "gangTotal": gang_total,
        "scheduler": serving.scheduler.value.as_str(),
        "recoveryPolicy": serving.recovery.value.as_str(),
        "restartGracePeriodSeconds": serving.restart_grace_seconds,
        "groups": (0..groups).map(|ordinal| group(planned, ordinal)).collect::<Vec<_>>(),
    })
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

/// How many groups of a ModelServing find a place; none when no node says what it has.
fn fitting(planned: &PlannedServing<'_>) -> Option<(usize, usize)> {
    planned.fits.as_ref().map(|fits| (fits.iter().filter(|fits| **fits).count(), fits.len()))
}

/// Whether a gang finds no place on the nodes that were given.
pub fn is_refused(planned: &PlannedServing<'_>) -> bool {
    fitting(planned).is_some_and(|(fit, all)| fit < all)
}

pub(super) fn cells(planned: &PlannedServing<'_>) -> [String; 7] {
    let serving = planned.serving;
    let roles: Vec<String> = serving
        .roles
        .iter()
        .map(|role| {
            format!("{} {}x(1+{})", role.name.value, role.replicas.value, role.workers.value)
        })
        .collect();
    [
        format!("{}/{}", serving.namespace, serving.name()),
        serving.replicas.value.to_string(),
        roles.join(", "),
        serving.pods().to_string(),
        planned.gpus.to_string(),
        planned.arithmetic().unwrap_or_else(|| "-".to_owned()),
        fitting(planned).map_or_else(|| "-".to_owned(), |(fit, all)| format!("{fit} of {all}")),
    ]
}

pub(super) const TITLES: [&str; 7] =
    ["MODELSERVING", "GROUPS", "ROLES", "PODS", "GPUS", "GANG PER GROUP", "FITS"];

/// ModelServings for people.
pub fn text(planned: &[PlannedServing<'_>], style: Style) -> String {
    let mut out = Page::default();
    out.draw(&table(&TITLES, planned.iter().map(|planned| cells(planned).to_vec()), style));
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
                // Writing into a string cannot fail.
                _ = writeln!(
                    out,
                    "gang {name} needs {pods} ({}): does not fit on the loaded nodes",
                    resources.join(", ")
                );
            }
        }
    }
    out.finish()
}

/// ModelServings as a table of Markdown.
pub fn markdown(planned: &[PlannedServing<'_>]) -> String {
    let mut out = String::from(
        "| ModelServing | groups | roles | pods | GPUs | gang per group | fits |\n|---|---|---|---|---|---|---|\n",
    );
    for planned in planned {
        _ = writeln!(out, "| {} |", cells(planned).join(" | "));
    }
    printable(&out)
}
