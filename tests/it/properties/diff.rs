//! Properties of `ome diff` between any two fleets.

use super::fleet::{Fleet, fleets};
use super::{BOTH, shuffled, world};
use ome::internals::api::{ObjectRef, Semantics};
use ome::internals::diag::{Code, Severity};
use ome::internals::diff::{Action, Diff, Fate, Settings, State, diff};
use ome::internals::yaml::Node;
use ome::pipeline::{Rendered, Renderer, identity};
use ome::workspace::World;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet};

/// Checks a property over a fleet and what became of it: some documents are another fleet's of the
/// same name, some are gone, some are new.
fn holds(property: impl Fn(&Fleet, &Fleet, usize, Semantics) -> Result<(), TestCaseError>) {
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { 64 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let checked = runner.run(&(fleets(), fleets(), 0..1000_usize), |(before, other, number)| {
        let after = mixed(&before, &other, number);
        BOTH.into_iter().try_for_each(|semantics| property(&before, &after, number, semantics))
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
}

fn mixed(before: &Fleet, other: &Fleet, number: usize) -> Fleet {
    let name = |document: &Node| -> String {
        let text =
            |keys: &[&str]| document.at(keys).and_then(Node::as_str).unwrap_or_default().to_owned();
        [
            text(&["apiVersion"]),
            text(&["kind"]),
            text(&["metadata", "namespace"]),
            text(&["metadata", "name"]),
        ]
        .join("/")
    };
    let names: BTreeSet<String> = before.documents.iter().map(name).collect();
    let kept = before.documents.iter().enumerate().filter_map(|(index, document)| {
        match (number + index) % 5 {
            0 => other
                .documents
                .iter()
                .find(|other| name(other) == name(document))
                .or(Some(document)),
            1 if number.is_multiple_of(3) => None,
            _ => Some(document),
        }
    });
    let new = other.documents.iter().enumerate().filter(|(index, document)| {
        (number + index).is_multiple_of(7) && !names.contains(&name(document))
    });
    Fleet { documents: kept.chain(new.map(|(_, document)| document)).cloned().collect() }
}

fn compared(before: &World, after: &World) -> Diff {
    let side = |world| -> State<'_> { all(world) };
    diff(
        &side(before),
        &side(after),
        Settings { cluster_domain: "cluster.local", places: false, at: ome::pipeline::At::Min },
    )
}

fn all(world: &World) -> State<'_> {
    State::all(world)
}

/// The output of a diff, without positions.
fn said(diff: &Diff, mirrored: bool) -> BTreeSet<String> {
    let turned = |fate: Fate| match (fate, mirrored) {
        (Fate::Added, true) => Fate::Removed,
        (Fate::Removed, true) => Fate::Added,
        (fate, _) => fate,
    };
    let done = |action: Action| match (action, mirrored) {
        (Action::Create, true) => Action::Delete,
        (Action::Delete, true) => Action::Create,
        (action, _) => action,
    };
    let json = |node: &Option<Node>| node.as_ref().map(|node| node.to_json().to_string());
    let groups = diff.groups.iter().map(|group| {
        let objects: Vec<String> = group
            .objects
            .iter()
            .map(|object| {
                let changes = object.changes.iter().map(|change| {
                    let (from, to) = (json(&change.from), json(&change.to));
                    let (from, to) = if mirrored { (to, from) } else { (from, to) };
                    format!("{} {from:?} {to:?}", change.path)
                });
                format!(
                    "{} {:?} {} {:?}",
                    object.id,
                    done(object.action),
                    object.restart,
                    changes.collect::<Vec<_>>()
                )
            })
            .collect();
        let turn = |from: String, to: String| {
            if mirrored { format!("{to} {from}") } else { format!("{from} {to}") }
        };
        let runtime = group
            .runtime
            .as_ref()
            .map(|pair| turn(format!("{:?}", pair.from), format!("{:?}", pair.to)));
        let gpus = turn(group.gpus.from.to_string(), group.gpus.to.to_string());
        format!("{:?} {:?} {runtime:?} {gpus} {objects:?}", turned(group.fate), group.services)
    });
    groups.collect()
}

#[test]
fn a_tree_does_not_differ_from_itself() {
    holds(|fleet, _, number, semantics| {
        let other = Fleet { documents: shuffled(&fleet.documents, number) };
        let found = compared(&world(fleet, semantics), &world(&other, semantics));
        prop_assert!(found.groups.is_empty(), "{:?}", said(&found, false));
        prop_assert_eq!(found.summary.rendered, 0, "what is the same is not rendered");
        prop_assert_eq!(found.summary.gpus.from, found.summary.gpus.to);
        Ok(())
    });
}

#[test]
fn the_reverse_diff_mirrors_the_forward_diff() {
    holds(|before, after, _, semantics| {
        let (before, after) = (world(before, semantics), world(after, semantics));
        let (there, back) = (compared(&before, &after), compared(&after, &before));
        // A service that is rejected on one side keeps its objects: the reverse diff differs.
        prop_assume!(there.groups.iter().all(|group| group.error.is_none()));
        prop_assert_eq!(said(&there, false), said(&back, true));
        let (there, back) = (there.summary, back.summary);
        prop_assert_eq!(
            (there.changed, there.added, there.removed, there.gpus.from),
            (back.changed, back.removed, back.added, back.gpus.to)
        );
        Ok(())
    });
}

#[test]
fn the_order_of_documents_changes_nothing() {
    holds(|before, after, number, semantics| {
        let other = Fleet { documents: shuffled(&after.documents, number) };
        let old = world(before, semantics);
        let (one, two) =
            (compared(&old, &world(after, semantics)), compared(&old, &world(&other, semantics)));
        prop_assert_eq!(&one.summary, &two.summary);
        let shown = |diff: &Diff| -> Vec<(Vec<ecow::EcoString>, Vec<String>)> {
            let causes = |group: &ome::internals::diff::Group| {
                group
                    .causes
                    .iter()
                    .map(|cause| format!("{} {}", cause.object, cause.path))
                    .collect()
            };
            diff.groups.iter().map(|group| (group.services.clone(), causes(group))).collect()
        };
        prop_assert_eq!(shown(&one), shown(&two));
        Ok(())
    });
}

/// The objects of every service that is not refused, by its API and name.
fn objects(world: &World) -> BTreeMap<String, BTreeMap<ObjectRef, Vec<Node>>> {
    let renderer = Renderer::new(world, "cluster.local");
    let mut found = BTreeMap::new();
    for views in world.catalog.services() {
        let Rendered { service, objects, error, diagnostics, .. } =
            renderer.render(views, &mut ome::internals::merge::history::Recorder::off());
        if error.is_none()
            && diagnostics
                .iter()
                .all(|found| found.severity < Severity::Error || found.code == Code::ServerRefuses)
        {
            let mut by_name: BTreeMap<ObjectRef, Vec<Node>> = BTreeMap::new();
            for object in &objects {
                by_name.entry(identity(&object.node)).or_default().push(object.node.clone());
            }
            found.insert(
                format!("{} {}/{}", service.object.api.as_str(), service.namespace, service.name()),
                by_name,
            );
        }
    }
    found
}

/// Skipping objects with equal inputs hides no change, and every group has a cause.
#[test]
fn diff_lists_exactly_the_services_that_render_differently() {
    let changed = std::cell::Cell::new(0);
    holds(|before, after, _, semantics| {
        let (before, after) = (world(before, semantics), world(after, semantics));
        let found = compared(&before, &after);
        let (old, new) = (objects(&before), objects(&after));
        let named = |group: &ome::internals::diff::Group| -> Vec<String> {
            group
                .services
                .iter()
                .map(|service| format!("{} {service}", group.api.as_str()))
                .collect()
        };
        let in_groups: BTreeSet<String> = found.groups.iter().flat_map(named).collect();
        let without_objects: BTreeSet<String> =
            found.groups.iter().filter(|group| group.objects.is_empty()).flat_map(named).collect();
        for name in old.keys().chain(new.keys()) {
            let differs = old.get(name) != new.get(name);
            prop_assert!(
                !differs || in_groups.contains(name),
                "{} changes and is in no group",
                name
            );
            prop_assert!(
                differs || !in_groups.contains(name) || without_objects.contains(name),
                "{} is in a group and renders the same",
                name
            );
        }
        for group in &found.groups {
            prop_assert!(!group.causes.is_empty(), "{:?} changes for no reason", group.services);
            changed.set(changed.get() + group.services.len());
        }
        Ok(())
    });
    assert!(changed.get() > 100, "{} changes", changed.get());
}
