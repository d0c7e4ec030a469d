//! The smallest edits with which a stuck update gets through, each played.

use super::play::{Kind, RollEnd, Track, play};
use super::{Fix, Ground, RollEdit, another};
use crate::api::Service;
use crate::cluster::Machine;
use crate::quantity::IntOrPercent;
use crate::rollout::Strategy;
use crate::yaml::Node;
use std::collections::HashSet;
use std::sync::Arc;

/// Most edits that are shown.
const MOST: usize = 3;
/// Most nodes that are added, and kinds of nodes that are tried.
const MOST_NODES: usize = 8;
const MOST_KINDS: usize = 4;

/// Edits that get the update of one track through, the smallest first.
pub(super) fn search(
    ground: &Ground<'_>,
    tracks: &[Track],
    at: usize,
    service: &Service,
) -> Vec<Fix> {
    let mut found = Vec::new();
    if let Some(Kind::Deployment(_)) = &tracks[at].after {
        let slow = Strategy::RollingUpdate {
            surge: IntOrPercent::Int(0),
            unavailable: IntOrPercent::Int(1),
        };
        for strategy in [slow, Strategy::Recreate] {
            let mut own = tracks.to_vec();
            own[at].strategy = Some(strategy);
            take(&mut found, ground, &own, at, &[], || edits(service, &tracks[at], strategy));
        }
    }
    for (machine, number) in more(ground, tracks, at) {
        let nodes: Vec<Arc<Machine>> = (1..=number).map(|number| named(&machine, number)).collect();
        let before = found.len();
        take(&mut found, ground, tracks, at, &nodes, || {
            vec![RollEdit {
                place: None,
                path: format!("nodes like {}", machine.name),
                from: None,
                to: format!("{number} more"),
            }]
        });
        if found.len() > before {
            break;
        }
    }
    found.truncate(MOST);
    found
}

/// Kinds of nodes, fewer nodes first.
fn more(ground: &Ground<'_>, tracks: &[Track], at: usize) -> Vec<(Arc<Machine>, usize)> {
    let mut seen = HashSet::new();
    let usable = ground.machines.iter().filter(|machine| machine.ready && !machine.cordoned);
    let kinds: Vec<&Arc<Machine>> = usable
        .filter(|machine| seen.insert(crate::cluster::fleet::kind(machine)))
        .take(MOST_KINDS)
        .collect();
    let most = match &tracks[at].after {
        Some(Kind::Groups(spec)) => spec.revision.size.clamp(1, MOST_NODES),
        _ => 1,
    };
    (1..=most)
        .flat_map(|number| kinds.iter().map(move |machine| (Arc::clone(machine), number)))
        .collect()
}

fn named(machine: &Machine, number: usize) -> Arc<Machine> {
    Arc::new(crate::cluster::fleet::named(machine, another(machine, number)))
}

fn take(
    found: &mut Vec<Fix>,
    ground: &Ground<'_>,
    tracks: &[Track],
    at: usize,
    more: &[Arc<Machine>],
    edits: impl Fn() -> Vec<RollEdit>,
) {
    if found.len() >= MOST {
        return;
    }
    let played = play(ground, tracks, more).swap_remove(at);
    if played.end == RollEnd::Complete {
        found.push(Fix {
            edits: edits(),
            end: played.end,
            lowest_ready: played.lowest_ready,
            peak_gpus: played.peak_gpus,
        });
    }
}

/// The fields of the service that say how its pods are replaced.
fn edits(service: &Service, track: &Track, strategy: Strategy) -> Vec<RollEdit> {
    let component = track.component.as_str();
    let own = service.object.spec(component);
    let written = |path: &[&str]| own.and_then(|own| own.get("deploymentStrategy")?.at(path));
    let place = |path: &[&str]| {
        let written = written(path).or_else(|| own?.get("deploymentStrategy")).or(own);
        written.and_then(|node| node.origin.span()).or_else(|| Some(service.object.name_span()))
    };
    let edit = |path: &[&str], to: &str| RollEdit {
        place: place(path),
        path: format!("spec.{component}.deploymentStrategy.{}", path.join(".")),
        from: written(path).and_then(Node::scalar_text).map(|text| text.to_string()),
        to: to.to_owned(),
    };
    match strategy {
        Strategy::Recreate => vec![edit(&["type"], "Recreate")],
        Strategy::RollingUpdate { .. } => vec![
            edit(&["rollingUpdate", "maxSurge"], "0"),
            edit(&["rollingUpdate", "maxUnavailable"], "1"),
        ],
    }
}
