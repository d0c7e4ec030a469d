//! The output of `diff` (docs/diff.md; docs/json.md, `diff`).
//!
//! JSON contains the whole answer. The other formats are made from one [`Shown`]: names, sentences
//! and values for people, shortened, and without secret values of environment variables.

mod edit;
mod shown;
mod text;

use super::answer::Answer;
use super::fill::fill;
use super::screen::Draw;
use super::table::Style;
use super::{SCHEMA_VERSION, findings};
use crate::api::ObjectRef;
use crate::diag::Diagnostic;
use crate::diff::{
    By, Capacity, Cause, Cost, Diff, Direction, Group, Note, ObjectChange, Pair, Refused, Room,
    Turned, Waits,
};
use crate::pipeline::OwnerName;
use crate::policy::Readings;
use crate::quantity::Count;
use crate::secret::Place;
use crate::source::{Location, SourceMap};
use crate::workspace::accounting::InputRow;
use crate::yaml::{FieldPath, Node};
use serde_json::{Map, Value, json};
use shown::Shown;
use std::io;

/// Maximum length of a comment in characters, slightly below the limit of the common hosts.
const LONGEST_COMMENT: usize = 60_000;

/// An answer with everything that is needed to show it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The answer.
    pub diff: &'a Diff,
    /// The mode.
    pub readings: Readings,
    /// The base as it was named in the command.
    pub base: &'a str,
    /// Findings in the new state.
    pub found: &'a [Diagnostic],
    /// The sources of the new state.
    pub sources: &'a SourceMap,
    /// Nothing is shortened.
    pub all: bool,
    /// What becomes of each object of the new state.
    pub input: &'a [InputRow],
    /// The same of the base.
    pub base_input: &'a [InputRow],
    /// Further definitions of services that change, and that are not compared.
    pub not_compared: &'a [String],
    /// Objects with placeholders are not compared either.
    pub has_placeholders: bool,
    /// The command that shows the rollout of a service, with `{}` for its name.
    pub rollout: Option<&'a str>,
    /// The command that shows why services are refused in the new state.
    pub plan: &'a str,
}

/// The JSON document if there is no base to compare with.
pub fn unread(found: &[Diagnostic], sources: &SourceMap) -> Value {
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "summary": null,
        "services": [],
        "groups": [],
        "findings": found.iter().map(|found| findings::json(found, sources)).collect::<Vec<_>>(),
    })
}

impl Answer for View<'_> {
    fn json(&self) -> impl serde::Serialize {
        let summary = &self.diff.summary;
        let [go, come] = self.diff.workloads_that_go_and_come.each_ref().map(Vec::len);
        let mut out = json!({
            "schemaVersion": SCHEMA_VERSION,
            "semantics": self.readings.run().as_str(),
            "base": self.base,
            "summary": {
                "costs": costs(&summary.costs),
                "services": summary.services,
                "changed": summary.changed,
                "added": summary.added,
                "removed": summary.removed,
                "restarts": summary.restarts,
                "podsRestarted": summary.pods_restarted,
                "gpusRestarted": summary.gpus_restarted,
                "gpus": gpus(&summary.gpus),
                "refused": summary.refused,
                "fails": summary.fails,
                "leftBehind": summary.left_behind,
                "otherWorkloads": { "changed": self.diff.changed_workloads().count(), "added": come, "removed": go },
            },
            "costs": { "before": { "perHour": summary.costs.from }, "after": { "perHour": summary.costs.to } },
            "capacity": self.diff.capacity.as_ref().map(capacity),
            "services": self.diff.groups.iter().enumerate().flat_map(|(index, group)| group.services.iter().zip(&group.costs).map(move |(service, costs)| row(index, group, service, costs))).collect::<Vec<_>>(),
            "groups": self.diff.groups.iter().map(|each| group(each, self.diff.between_releases)).collect::<Vec<_>>(),
            "findings": self.found.iter().map(|found| findings::json(found, self.sources)).collect::<Vec<_>>(),
        });
        // Notes are of rules of releases, and so are their directions.
        if let (Some(way), false) = (self.diff.between_releases, self.diff.notes.is_empty()) {
            out["notes"] = self.diff.notes.iter().map(|each| note(each, way)).collect();
        }
        out["input"] = super::accounting::json(self.input, self.sources);
        if !self.diff.workloads.is_empty() {
            let altered = self.diff.workloads.iter();
            let altered = altered.map(|changed| json!({ "workload": changed.workload.as_str(), "restarts": changed.restarts }));
            out["workloads"] = altered.collect();
        }
        let others = &self.diff.other_objects;
        if !others.is_empty() {
            let names =
                |all: &[ecow::EcoString]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
            out["otherObjects"] = json!({ "changed": names(&others.changed), "added": names(&others.added), "removed": names(&others.removed) });
        }
        if let Some(basis) = self.diff.basis {
            out["basis"] = basis.into();
        }
        if !self.not_compared.is_empty() {
            out["notCompared"] = self.not_compared.into();
        }
        out
    }

    /// Text in the style of `terraform plan`.
    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        draw(&text::text(&Shown::of(self, usize::MAX), style))
    }

    /// A comment that is short enough for every host.
    fn markdown(&self) -> Result<String, String> {
        let mut most = self.diff.groups.len();
        loop {
            let text = fill("comment.md", include_str!("comment.md"), &Shown::of(self, most))?;
            if text.len() <= LONGEST_COMMENT || most == 0 {
                return Ok(text);
            }
            // Half of the groups each time: a few renders, and at least half of what would fit.
            most /= 2;
        }
    }

    /// A self-contained page.
    fn html(&self) -> Result<String, String> {
        fill("diff.html", include_str!("../page/diff.html"), &Shown::of(self, usize::MAX))
    }
}

/// The effect of the change on the capacity of the nodes.
fn capacity(capacity: &Capacity) -> Value {
    let room = |room: &Room| json!({ "verdict": room.verdict, "wanted": room.wanted, "pending": room.pending });
    let waits = |component: &Waits| {
        let mut out = json!({ "service": component.service.as_str(), "component": component.component.as_str(), "message": component.message.as_str() });
        if !component.evicted_by.is_empty() {
            out["evictedBy"] = component.evicted_by.iter().map(ecow::EcoString::as_str).collect();
        }
        out
    };
    let is_workload = |waiting: &&Waits| OwnerName::of(&waiting.service).kind.is_some();
    let mut out = json!({
        "before": capacity.before.as_ref().map(room),
        "after": room(&capacity.after),
        "stuck": capacity.stuck.as_ref().map(|all| {
            all.iter().filter(|waiting| !is_workload(waiting)).map(waits).collect::<Vec<_>>()
        }),
        "order": capacity.order.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
    });
    let lists = [
        ("noLongerFits", &capacity.lost),
        ("doesNotFit", &capacity.new),
        ("waitsAsBefore", &capacity.same),
        ("noLongerFitsAfterRestarts", &capacity.displaced),
        ("mayNoLongerFitAfterRestarts", &capacity.perhaps_displaced),
    ];
    for (key, open) in super::doubts::keys(&capacity.doubts) {
        out[key] = open;
    }
    // Workloads without an operator have a list of their own: a reader of `service` finds services.
    let mut others = Vec::new();
    for (key, all) in lists {
        let (workloads, services): (Vec<&Waits>, Vec<&Waits>) = all.iter().partition(is_workload);
        if !services.is_empty() {
            out[key] = services.into_iter().map(waits).collect();
        }
        let other = |waiting: &Waits| {
            let mut out = json!({ "workload": waiting.service.as_str(), "list": key, "message": waiting.message.as_str() });
            if !waiting.evicted_by.is_empty() {
                out["evictedBy"] = waiting.evicted_by.iter().map(ecow::EcoString::as_str).collect();
            }
            out
        };
        others.extend(workloads.into_iter().map(other));
    }
    let stuck = capacity.stuck.iter().flatten().filter(is_workload);
    others.extend(stuck.map(|waiting| json!({ "workload": waiting.service.as_str(), "list": "stuck", "message": waiting.message.as_str() })));
    let changed: Vec<Value> = capacity.changed_workloads().map(|changed| json!({ "workload": changed.workload.as_str(), "end": changed.rollout.end.as_str(), "restarts": changed.restarts(), "lowestReady": changed.rollout.lowest_ready, "peakGpus": changed.rollout.peak_gpus })).collect();
    if !changed.is_empty() {
        out["workloads"] = changed.into();
    }
    if !others.is_empty() {
        out["otherWorkloads"] = others.into();
    }
    out
}

fn gpus(gpus: &Pair<Count>) -> Value {
    json!({ "before": gpus.from, "after": gpus.to })
}

/// Dollars per hour; null on both sides if no class has a price.
fn costs(costs: &Pair<Cost>) -> Value {
    json!({ "before": costs.from, "after": costs.to })
}

/// A rule of an upgrade that changes no object of a service.
fn note(note: &Note, way: Direction) -> Value {
    let objects: Vec<String> = note.objects.iter().map(ToString::to_string).collect();
    let rule = note.rule;
    json!({ "id": rule.id, "title": rule.title, "source": rule.source, "takenBack": way == Direction::Downgrade, "action": edit::action(rule, way), "objects": objects })
}

fn row(index: usize, group: &Group, service: &str, costs: &Pair<Cost>) -> Value {
    let (namespace, name) = service.split_once('/').unwrap_or(("", service));
    json!({ "namespace": namespace, "name": name, "api": group.api.as_str(), "change": group.fate.as_str(), "restart": group.restart, "costs": self::costs(costs), "group": index })
}

fn group(group: &Group, between_releases: Option<Direction>) -> Value {
    let fails = group.fails.is_some();
    let mut out = json!({
        "services": group.services.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
        "change": group.fate.as_str(),
        "api": group.api.as_str(),
        "cause": group.causes.iter().map(cause).collect::<Vec<_>>(),
        "runtime": group.runtime.as_ref().map(|pair| json!({ "from": pair.from.as_ref().map(ObjectRef::to_string), "to": pair.to.as_ref().map(ObjectRef::to_string) })),
        "accelerators": group.accelerators.iter().map(|(kind, pair)| (kind.as_str().to_owned(), json!({ "from": pair.from.as_deref(), "to": pair.to.as_deref() }))).collect::<Map<_, _>>(),
        "objects": group.objects.iter().map(|change| object(change, fails)).collect::<Vec<_>>(),
        "restart": group.restart,
        "podsRestarted": group.pods_restarted,
        "gpusRestarted": group.gpus_restarted,
        "gpus": gpus(&group.gpus),
    });
    if let Some(way) = between_releases {
        // A comparison of states has no rules, and none of these keys.
        out["rules"] = edit::rules(group, way);
        out["allEdits"] =
            group.all_edits.as_ref().map_or(Value::Null, |edits| edit::all(edits, way));
        let left = group.objects.iter().filter(|object| object.left_behind);
        out["leftBehind"] = left
            .map(|object| json!({ "object": object.id.to_string(), "why": shown::left_behind(object) }))
            .collect();
        out["fails"] = group.fails.as_ref().map_or(
            Value::Null,
            |error| json!({ "code": error.code.as_str(), "message": error.message }),
        );
    }
    if let Some(rolled) = &group.rolled {
        let played = rolled.played.as_ref();
        out["rollout"] = json!({
            "type": if rolled.by_role { "RoleRollingUpdate" } else { "ServingGroupRollingUpdate" },
            "revision": { "from": rolled.revisions[0].as_str(), "to": rolled.revisions[1].as_str() },
            "groups": rolled.groups,
            "heldByPartition": rolled.held,
            "pods": group.pods_restarted,
            "gpus": played.map(|played| &played.gpus),
            "fewestGroupsRunning": played.map(|played| played.fewest),
            "stages": played.map(|played| played.stages),
            "fits": played.and_then(|played| played.fits),
            "stops": played.and_then(|played| played.stops.as_deref()),
        });
    }
    if let Some(pair) = &group.error {
        let error = |error: &Option<Refused>| {
            error
                .as_ref()
                .map(|error| json!({ "code": error.code.as_str(), "message": error.message }))
        };
        out["error"] = json!({ "from": error(&pair.from), "to": error(&pair.to) });
    }
    out
}

fn object(object: &ObjectChange, before_failure: bool) -> Value {
    json!({
        "object": object.id.to_string(),
        "action": object.action.as_str(),
        "restart": object.restart,
        "leftBehind": object.left_behind,
        "beforeFailure": before_failure,
        "changes": object
            .changes
            .iter()
            .map(|change| {
                let (from, to) =
                    values(change.shown, change.from.as_ref(), change.to.as_ref());
                json!({ "path": change.path.to_string(), "from": from, "to": to })
            })
            .collect::<Vec<_>>(),
        "immutable": object.immutable.iter().map(FieldPath::to_string).collect::<Vec<_>>(),
    })
}

fn cause(cause: &Cause) -> Value {
    let place =
        |place: &Option<Location>| place.as_ref().map(|place| (place.file.to_string(), place.line));
    let (after, before) = (place(&cause.place), place(&cause.before));
    let (path, from, to) = field(cause);
    json!({
        "object": cause.object,
        "layer": cause.layer.as_str(),
        "file": after.as_ref().map(|(file, _)| file),
        "line": after.as_ref().map(|(_, line)| line),
        "path": path,
        "from": from,
        "to": to,
        "turned": cause.turned.as_ref().map(turned),
        "before": before.map(|(file, line)| json!({ "file": file, "line": line })),
    })
}

/// The decision that turned, with the rule as in `explain`.
fn turned(turned: &Turned) -> Value {
    let code = match &turned.by {
        By::Rule(code, _) => code.as_str(),
        By::Rank(key) => key.as_str(),
    };
    json!({ "candidate": turned.candidate.as_str(), "code": code, "detail": shown::fields::detail(turned) })
}

/// The field of a cause with its values; for an object that was added or removed, its name.
fn field(cause: &Cause) -> (String, Value, Value) {
    if cause.path.0.is_empty() {
        // An object as a whole has its name for a value.
        let name = |node: &Option<Node>| {
            node.as_ref()
                .and_then(|node| node.at(&["metadata", "name"]))
                .map_or(Value::Null, Node::to_json)
        };
        return ("metadata.name".to_owned(), name(&cause.from), name(&cause.to));
    }
    let (from, to) = values(cause.shown, cause.from.as_ref(), cause.to.as_ref());
    (cause.path.to_string(), from, to)
}

/// The values before and after as JSON, without secrets.
pub(super) fn values(shown: [Place; 2], from: Option<&Node>, to: Option<&Node>) -> (Value, Value) {
    let value = |place: Place, node: Option<&Node>| {
        node.map_or(Value::Null, |node| place.shown(node).to_json())
        // Each side is at a place of its own: the kind of object may differ.
    };
    (value(shown[0], from), value(shown[1], to))
}
