//! Where the pods would go as the controller makes them, in documented mode: a different number of
//! pods with a node is a difference of the controller.

use super::claims::{Claim, Who};
use super::reasons::Reasons;
use super::stands;
use crate::cluster::fleet::{Fleet, Manner, Placed};
use crate::cluster::schedule::PodTemplate;
use crate::pipeline::difference;
use crate::pipeline::planned::OtherPlaced;
use crate::pipeline::planned::Planned;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Above this number of pods the pods of the controller are not placed.
const MOST: usize = 5000;

/// Adds what differs to the first `shown` services.
pub(super) fn compare(
    fleet: &Fleet,
    placed: &Placed,
    claims: &[Claim],
    planned: &mut [Planned<'_>],
    shown: usize,
) {
    let Some(other) = other(fleet, claims, planned) else { return };
    if placed.all().count() > MOST {
        return;
    }
    let mut reasons = Reasons::new(other.place(Manner::default()));
    let mut found: BTreeMap<usize, BTreeMap<&'static str, OtherPlaced>> = BTreeMap::new();
    for (at, claim) in claims.iter().enumerate().filter(|(_, claim)| claim.refused.is_none()) {
        let Who::Component(service, component) = claim.who else { continue };
        let Some(pods) = planned[service].other.as_ref().filter(|_| service < shown) else {
            continue;
        };
        let kind = planned[service].components[component].kind;
        if pods.specs.iter().all(|(component_kind, ..)| *component_kind != kind) {
            continue;
        }
        let there = reasons.of(at, claim, &other, None, &mut Vec::new());
        let slots = placed.slots[at].iter().flatten();
        let here = slots.filter(|slot| slot.pod.is_some_and(|pod| stands(placed, pod))).count();
        // Equal numbers are no difference to a reader, even on other nodes.
        if here != there.placed {
            let reason = there.waiting.as_ref().map(|waiting| {
                let nearest = waiting.example.as_ref();
                nearest.map_or_else(|| waiting.message.clone(), |example| example.detail.clone())
            });
            let placed = OtherPlaced { placed: there.placed, wanted: there.wanted, reason };
            found.entry(service).or_default().insert(kind.as_str(), placed);
        }
    }
    for (service, found) in found {
        let release = planned[service].other.as_ref().map(|pods| pods.release);
        if let Some(release) = release {
            difference::place(&mut planned[service], release, found);
        }
    }
}

/// The fleet with the pods of the controller; `None` if none differ.
fn other(fleet: &Fleet, claims: &[Claim], planned: &[Planned<'_>]) -> Option<Fleet> {
    let mut other: Option<Fleet> = None;
    for (at, claim) in claims.iter().enumerate() {
        let Who::Component(service, component) = claim.who else { continue };
        let Some(pods) = &planned[service].other else { continue };
        let kind = planned[service].components[component].kind;
        for (place, template) in fleet.workloads[at].templates.iter().enumerate() {
            // Templates are compared by their specs: the index of a pod's spec is not the index of
            // its template.
            let is_of_template =
                |entry: &&(_, Arc<_>, _)| entry.0 == kind && entry.1 == template.spec;
            let Some((.., spec)) = pods.specs.iter().find(is_of_template) else { continue };
            let other = other.get_or_insert_with(|| fleet.clone());
            let template = PodTemplate { spec: Arc::clone(spec), ..PodTemplate::clone(template) };
            other.workloads[at].templates[place] = Arc::new(template);
        }
    }
    other
}
