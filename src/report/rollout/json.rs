//! A rollout of a ModelServing as JSON.

use crate::operators::servings::rollout::{Cell, Event, GroupStatus, Row, Trace};
use crate::report::roll_all::Displaced;
use crate::report::rollout::Rollout;
use crate::report::{SCHEMA_VERSION, doubts, roll};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value, json};

/// A list whose elements are made when they are serialized.
struct List<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// One step.
struct Step<'a> {
    trace: &'a Trace,
    event: &'a Event,
    /// Added to the stage number: rows count from 1, and the first row is the state before the
    /// change.
    offset: u32,
}

impl Serialize for Step<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("stage", &(self.event.stage + self.offset))?;
        map.serialize_entry("action", self.event.action.as_str())?;
        map.serialize_entry("kind", self.event.kind.as_str())?;
        map.serialize_entry("name", self.trace.name(self.event).as_str())?;
        map.serialize_entry("reason", &Shown(self.event.reason))?;
        map.end()
    }
}

/// A value that is serialized as its displayed text.
struct Shown<T>(T);

impl<T: std::fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// The words for all groups of a row.
struct Words<'a>(&'a Row, fn((Cell, GroupStatus)) -> &'static str);

impl Serialize for Words<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.groups.len()))?;
        for group in self.0.groups.iter() {
            list.serialize_element((self.1)(group))?;
        }
        list.end()
    }
}

struct Stage<'a> {
    rollout: &'a Rollout<'a>,
    position: usize,
}

impl Serialize for Stage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = &self.rollout.trace().rows[self.position];
        let mut map = serializer.serialize_map(Some(5))?;
        // The documents count rows from 1.
        map.serialize_entry("stage", &(self.position + 1))?;
        map.serialize_entry("cells", &Words(row, |(cell, _)| cell.as_str()))?;
        map.serialize_entry("available", &row.available)?;
        map.serialize_entry("groupStatus", &Words(row, |(_, status)| status.as_str()))?;
        map.serialize_entry("note", &self.rollout.note(self.position, &self.rollout.documented()))?;
        map.end()
    }
}

impl Serialize for Rollout<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let trace = self.trace();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schemaVersion", SCHEMA_VERSION)?;
        map.serialize_entry("semantics", self.readings.run().as_str())?;
        map.serialize_entry("kthenaProfile", self.profile)?;
        map.serialize_entry("name", self.to.name().as_str())?;
        map.serialize_entry("namespace", self.to.namespace.as_str())?;
        map.serialize_entry(
            "columns",
            &List(|| trace.columns.iter().map(|ordinal| self.group(*ordinal))),
        )?;
        map.serialize_entry(
            "stages",
            &List(|| (0..trace.rows.len()).map(|position| Stage { rollout: self, position })),
        )?;
        map.serialize_entry(
            "groupSteps",
            // Steps of groups belong to the row after them, and rows count from 1.
            &List(|| trace.group_steps().map(|event| Step { trace, event, offset: 2 })),
        )?;
        map.serialize_entry(
            "steps",
            &List(|| trace.requests().map(|event| Step { trace, event, offset: 0 })),
        )?;
        // The simulation alone knows no other workloads; together a pod may find no node.
        if let Some(stuck) = self.outcome.stuck.or_else(|| self.stuck_group()) {
            map.serialize_entry("stuck", &self.group(stuck))?;
        }
        if let Some(proof) = self.proof() {
            map.serialize_entry("proof", &proof)?;
        }
        map.serialize_entry("podsRestarted", &self.outcome.restarted)?;
        if let Some((from, to)) = self.ratio() {
            map.serialize_entry("ratio", &json!({ "from": from, "to": to }))?;
        }
        if let Some(recovery) = &self.outcome.recovery {
            let groups: Vec<Value> = recovery.restarted.iter().map(|(ordinal, pods)| json!({ "name": self.group(*ordinal), "restartedPods": pods })).collect();
            let mut out = json!({ "policy": recovery.policy.as_str(), "groupStatus": "progressing", "graceSeconds": recovery.grace_seconds, "groups": groups });
            if let Some((seconds, pods)) = recovery.escalation {
                out["escalation"] = json!({ "afterSeconds": seconds, "restartedPods": pods });
            }
            map.serialize_entry("recovery", &out)?;
        }
        map.serialize_entry(
            "capacity",
            &List(|| trace.capacity.iter().map(|capacity| self.capacity(capacity))),
        )?;
        map.serialize_entry("lowest", &self.lowest().map(|capacity| self.capacity(capacity)))?;
        map.serialize_entry(
            "gpus",
            &json!({ "before": self.shown(self.outcome.gpus_before), "after": self.shown(self.gpus_after()), "peak": self.shown(self.gpus_at_peak()), "extra": self.shown(self.gpus_extra()) }),
        )?;
        if let Some(components) = self.components {
            let ends = components.iter().map(|component| roll::end_json(component, self.sources));
            map.serialize_entry("components", &ends.collect::<Vec<_>>())?;
        }
        if !self.displaced.is_empty() {
            let lost = self.displaced.iter().map(Displaced::json);
            map.serialize_entry("displaced", &lost.collect::<Vec<_>>())?;
        }
        for (key, open) in doubts::keys(self.doubts) {
            map.serialize_entry(key, &open)?;
        }
        map.serialize_entry("findings", self.found)?;
        map.end()
    }
}
