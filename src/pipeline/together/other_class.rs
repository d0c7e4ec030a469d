//! Pods that wait for devices of one accelerator class, and would find room on another class with
//! as much memory.
//!
//! In: the placed fleet. Out: the edits of services that name the other class, each decided,
//! composed and placed again.

use super::claims::{self, Claim, Who};
use super::remedies::RemedyFound;
use crate::api::{ComponentKind, Views};
use crate::cluster::class_matches;
use crate::cluster::fleet::{Fleet, Manner, Placed, Workload};
use crate::operators;
use crate::pipeline::built::PodContext;
use crate::pipeline::plan::Planner;
use crate::pipeline::planned::{Depth, Planned};
use crate::pipeline::running::RunningPods;
use crate::quantity::Memory;
use crate::yaml::{FieldPath, Node, Origin, Rule};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

static EDIT: Rule = Rule {
    id: "other-class",
    text: "a class tried to see whether the pods fit",
    cite: "docs/world.md#reasons-and-remedies",
};

/// How often services are decided again, and the fleet placed with all of them together.
const MOST_DECIDED: usize = 64;
const MOST_PLACED: usize = 60_000;

/// What is known of the fleet.
pub(super) struct Scene<'s, 'a> {
    pub(super) planner: &'s Planner<'a>,
    pub(super) context: &'s PodContext,
    pub(super) running: &'s RunningPods<'s>,
    pub(super) claims: &'s [Claim],
    pub(super) fleet: &'s Fleet,
    pub(super) placed: &'s Placed,
}

/// A component whose pods wait.
#[derive(Clone, Copy)]
struct Waiting {
    claim: usize,
    service: usize,
    kind: ComponentKind,
}

/// A component on another class.
struct Moved {
    claim: usize,
    workload: Workload,
    field: FieldPath,
}

impl Scene<'_, '_> {
    /// For each class whose pods wait, the other class of the same memory after which the fewest do.
    pub(super) fn remedies(&self, planned: &[Planned<'_>]) -> Vec<RemedyFound> {
        let waiting = self.placed.pending().count();
        if waiting == 0 {
            return Vec::new();
        }
        let pods = self.placed.all().count().max(1);
        // Each decision composes a service again, and each try places all pods: both are bounded.
        let mut search = Search { left: MOST_DECIDED, tries: (MOST_PLACED / pods).clamp(1, 12) };
        let mut found = Vec::new();
        for (from, components) in self.by_class(planned) {
            let mut best: Option<(usize, EcoString, Vec<Moved>)> = None;
            for to in self.others(planned, &from, &components) {
                let moved = self.moved(planned, &components, &to, &mut search);
                if moved.is_empty() || search.tries == 0 {
                    continue;
                }
                search.tries -= 1;
                let pending = self.pending(&moved);
                // Strictly fewer: of equal classes the first by name is named.
                let is_better = best.as_ref().is_none_or(|(least, ..)| pending < *least);
                if pending < waiting && is_better {
                    best = Some((pending, to, moved));
                }
            }
            found.extend(best.map(|(pending, to, moved)| self.remedy(pending, &to, &moved)));
        }
        found
    }

    /// The components with waiting pods, by their class. Pods of the service that run would restart,
    /// and queues admit by class, so those keep theirs.
    fn by_class(&self, planned: &[Planned<'_>]) -> BTreeMap<EcoString, Vec<Waiting>> {
        let waiting: BTreeSet<usize> =
            self.placed.pending().map(|([workload, ..], _)| workload).collect();
        let mut all: BTreeMap<EcoString, Vec<Waiting>> = BTreeMap::new();
        for claim in waiting {
            let Who::Component(service, component) = self.claims[claim].who else { continue };
            let planned = &planned[service];
            let component = &planned.components[component];
            let runs = !self.fleet.workloads[claim].running.is_empty();
            if runs || component.queue.is_some() {
                continue;
            }
            if let Some(class) = planned.class(component.kind) {
                let waiting = Waiting { claim, service, kind: component.kind };
                all.entry(class.name().clone()).or_default().push(waiting);
            }
        }
        all
    }

    /// The classes with nodes whose devices have as much memory.
    fn others(
        &self,
        planned: &[Planned<'_>],
        from: &EcoString,
        components: &[Waiting],
    ) -> Vec<EcoString> {
        let Some(first) = components.first() else { return Vec::new() };
        let api = planned[first.service].service.api;
        let memory = |class: &EcoString| self.planner.memory_of(api, class);
        let Some(current) = memory(from) else { return Vec::new() };
        let catalog = self.planner.catalog();
        let machines = &self.fleet.machines;
        let mut names: Vec<EcoString> = catalog
            .classes()
            .filter(|class| class.name() != from)
            .filter(|class| memory(class.name()).is_some_and(|other| is_as_much(current, other)))
            .filter(|class| machines.iter().any(|machine| class_matches(class, machine)))
            .map(|class| class.name().clone())
            .collect();
        names.sort();
        names
    }

    /// The components that the other class takes, with their pods there.
    fn moved(
        &self,
        planned: &[Planned<'_>],
        components: &[Waiting],
        to: &EcoString,
        search: &mut Search,
    ) -> Vec<Moved> {
        let moved = components.iter().filter_map(|waiting| {
            // A service is looked up among all of them.
            if search.left == 0 {
                return None;
            }
            let views = self.views(&planned[waiting.service])?;
            let object = &views.followed().object;
            // Only the operator knows which fields of its services name a class.
            let fields = operators::services(object.api)?.class_fields(object, waiting.kind);
            fields.into_iter().find_map(|field| {
                search.left = search.left.checked_sub(1)?;
                let workload = self.decided(views, waiting, &field, to)?;
                Some(Moved { claim: waiting.claim, workload, field })
            })
        });
        moved.collect()
    }

    fn views(&self, planned: &Planned<'_>) -> Option<&Views> {
        let planned_service = &planned.service;
        self.planner.catalog().services().find(|views| {
            let service = views.followed();
            service.object.name_span() == planned_service.place
                && service.object.api == planned_service.api
        })
    }

    /// The pods of a component whose service names the class; `None` if the service is then in error
    /// or has another class.
    fn decided(
        &self,
        views: &Views,
        waiting: &Waiting,
        field: &FieldPath,
        to: &EcoString,
    ) -> Option<Workload> {
        let mut object = views.followed().object.clone();
        let value = Node::from_json(&to.as_str().into(), Origin::Flag(&EDIT));
        object.node.set(&field.0, Some(value));
        let edited = self.planner.read_again(&object, views)?;
        let planned = self.planner.plan(&edited, Depth::Plan);
        let chosen = planned.class(waiting.kind).is_some_and(|class| class.name() == to);
        // A service that would be in error is no remedy, even if its pods had nodes.
        let starts = planned.components.iter().all(|component| component.stopped.is_none());
        if planned.error.is_some() || !chosen || !starts {
            return None;
        }
        let before = &self.claims[waiting.claim];
        let mut again = vec![planned];
        let (claims, _) = claims::of(&mut again, &[], self.context, self.running);
        let mut claim = claims.into_iter().find(|claim| claim.component == before.component)?;
        let wanted = self.fleet.workloads[waiting.claim].replicas.len();
        let is_whole = claim.refused.is_none() && !claim.workload.templates.is_empty();
        let last = claim.workload.replicas.last().cloned().filter(|_| is_whole)?;
        // As many replicas as are placed now, so that both counts of pending pods compare.
        claim.workload.replicas.resize(wanted, last);
        Some(claim.workload)
    }

    /// How many pods wait with these components on the other class.
    fn pending(&self, moved: &[Moved]) -> usize {
        let mut fleet = self.fleet.clone();
        for moved in moved {
            fleet.workloads[moved.claim] = moved.workload.clone();
        }
        fleet.place(Manner::default()).pending().count()
    }

    fn remedy(&self, pending: usize, to: &EcoString, moved: &[Moved]) -> RemedyFound {
        let mut by_field: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for moved in moved {
            let services = by_field.entry(moved.field.to_string()).or_default();
            services.push(&self.claims[moved.claim].service);
        }
        let edits: Vec<String> = by_field
            .iter()
            .map(|(field, services)| format!("set {field} to {to} in {}", services.join(", ")))
            .collect();
        let services: BTreeSet<&EcoString> =
            moved.iter().map(|moved| &self.claims[moved.claim].service).collect();
        RemedyFound {
            kind: "class",
            edit: edits.join(" and ").into(),
            nodes: Vec::new(),
            services: services.into_iter().cloned().collect(),
            moves: Vec::new(),
            pending,
        }
    }
}

struct Search {
    left: usize,
    tries: usize,
}

/// Whether devices have the same memory: drivers report up to a sixteenth less than the product has.
fn is_as_much(one: Memory, other: Memory) -> bool {
    one.0.abs_diff(other.0) <= one.0.max(other.0) / 16
}

#[cfg(test)]
mod tests;
