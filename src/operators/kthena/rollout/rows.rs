//! The record of each stage: numbers, and the progress of each group.

use super::cluster::Cluster;
use super::group::{Group, Status};
use super::target::Target;
use super::trace::{Capacity, Cell, GroupStatus, Row};
use crate::operators::kthena::rules::OrdinalRule;
use std::collections::BTreeSet;

impl Cluster {
    /// Starts recording.
    pub(super) fn begin(&mut self, goal: &Target) {
        self.recording = true;
        self.stage = 0;
        self.busy = false;
        let mut columns: BTreeSet<i64> = self.groups.iter().map(|group| group.ordinal).collect();
        // Groups that are missing have a column from the beginning.
        columns.extend(0..goal.replicas);
        self.columns = columns.into_iter().collect();
        for group in self.groups.iter_mut() {
            group.touched = false;
        }
        // With appended ordinals, which grow without limit, positions decide which group is
        // surplus.
        let appended = self.policy.ordinals == OrdinalRule::Append;
        let places = usize::try_from(goal.replicas).unwrap_or(0);
        let first = if appended {
            self.groups.iter().nth(places).map_or(i64::MAX, |group| group.ordinal)
        } else {
            goal.replicas
        };
        let last = self.groups.last().filter(|_| appended).map_or(i64::MAX, |group| group.ordinal);
        self.surplus = first..=last;
        // The row before the change is compared with the new target.
        let old = std::mem::replace(&mut self.target, goal.clone());
        self.push_row(None);
        self.target = old;
    }

    /// A stage is over, if it had requests.
    pub(super) fn close_stage(&mut self) {
        if !self.recording || !std::mem::take(&mut self.busy) {
            return;
        }
        let idle: Vec<i64> = self.groups.lists().idle.iter().copied().collect();
        // Groups that were down before the change are not waited for.
        let touched = |ordinal: &i64| self.groups.get(*ordinal).is_some_and(|group| group.touched);
        let waits_for = idle.into_iter().filter(touched).collect();
        self.trace.capacity.push(Capacity {
            stage: self.stage,
            groups: self.counts.groups,
            roles: self.counts.replicas.clone(),
            gpus: self.counts.gpus,
            pods: self.counts.pods,
            waits_for,
            templates: self.counts.templates.clone(),
        });
        self.push_row(Some(self.stage));
        self.stage += 1;
    }

    fn push_row(&mut self, stage: Option<u32>) {
        let changed = self.groups.take_changed();
        // Ordinals that are appended are new columns; they are above all that were there.
        let last = self.columns.last().copied().unwrap_or(-1);
        let new = changed.range(last + 1..).filter(|range| self.groups.get(**range).is_some());
        let (drawn, new): (usize, Vec<i64>) = (self.columns.len(), new.copied().collect());
        self.columns.extend(new);
        if self.trace.rows.is_empty() {
            for ordinal in &self.columns {
                self.strip.push(self.cell(*ordinal));
            }
        } else {
            // Only what changed is drawn again: a row of thousands of groups is mostly as before.
            for ordinal in changed.range(..=last) {
                if let Ok(place) = self.columns.binary_search(ordinal) {
                    self.strip.set(place, self.cell(*ordinal));
                }
            }
            for ordinal in &self.columns[drawn..] {
                self.strip.push(self.cell(*ordinal));
            }
        }
        let groups = self.strip.groups();
        self.trace.rows.push(Row { stage, groups, available: self.counts.groups });
    }

    /// How far the group of an ordinal is.
    fn cell(&self, ordinal: i64) -> (Cell, GroupStatus) {
        let Some(group) = self.groups.get(ordinal) else {
            // A missing group that is surplus is as it should be.
            let wanted = ordinal < self.target.replicas;
            return (if wanted { Cell::Old } else { Cell::Updated }, GroupStatus::Absent);
        };
        let wanted = !self.surplus.contains(&ordinal);
        let status = match group.status {
            Status::Running => GroupStatus::Running,
            Status::Scaling => GroupStatus::Scaling,
            Status::Creating | Status::Deleting => GroupStatus::Rolling,
        };
        let cell = if group.touched && group.status != Status::Running {
            Cell::Rolling
        } else if wanted && group.revision == self.target.revision && self.has_wanted_roles(group) {
            Cell::Updated
        } else {
            Cell::Old
        };
        (cell, status)
    }

    fn has_wanted_roles(&self, group: &Group) -> bool {
        self.target
            .roles
            .iter()
            .all(|role| i64::try_from(group.role(role.name).len()) == Ok(role.replicas))
    }

    /// The last row, if something got ready after the last stage.
    pub(super) fn finish(&mut self) {
        if self.trace.rows.len() == 1 {
            self.trace.rows.clear();
        } else {
            self.push_row(None);
            // The end equals the last stage where nothing got ready after it.
            if let [.., last, after] = &self.trace.rows[..]
                && last.groups == after.groups
            {
                self.trace.rows.pop();
            }
            for row in &mut self.trace.rows {
                row.groups.pad(self.columns.len(), (Cell::Updated, GroupStatus::Absent));
            }
        }
        self.trace.columns = std::mem::take(&mut self.columns);
    }
}
