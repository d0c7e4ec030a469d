//! Properties of every fleet, under both semantics.
//!
//! The fleets are the same in every run; `PROPTEST_CASES=1000` generates more of them.

mod accelerators;
mod diff;
mod fleet;
mod kserve;
mod kserve_canary;
mod kserve_samples;
mod kserve_service;
mod nodes;
mod objects;
mod ome_settings;
mod origins;
mod placeholders;
mod rollouts;
mod server;

use fleet::{Fleet, fleets};
use ome::internals::api::{Api, Object, Semantics};
use ome::internals::decision::{Basis, Verdict};
use ome::internals::diag::{Code, Diagnostic};
use ome::internals::emit::stream;
use ome::internals::load::{self, Request};
use ome::internals::report::{findings, json};
use ome::internals::secret::Secrets;
use ome::internals::yaml::{Limits, Node, Origin, Rule, Value};
use ome::pipeline;
use ome::pipeline::{Depth, Planned, Planner, Renderer, totals};
use ome::workspace::{ReadOptions, World};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeSet;
use std::path::PathBuf;

const BOTH: [Semantics; 2] = [Semantics::Documented, Semantics::Controller];

/// Checks a property over fleets and a number to choose with.
fn holds(property: impl Fn(&Fleet, usize, Semantics) -> Result<(), TestCaseError>) {
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { 64 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let checked = runner.run(&(fleets(), 0..1000_usize), |(fleet, number)| {
        BOTH.into_iter().try_for_each(|semantics| property(&fleet, number, semantics))
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
}

/// A fleet as it is read.
fn world(fleet: &Fleet, semantics: Semantics) -> World {
    read(&fleet.text(), semantics)
}

/// A text as it is read from standard input.
fn read(text: &str, semantics: Semantics) -> World {
    load_text(text, &ReadOptions::new(semantics))
}

/// A text as it is read from standard input under flags.
fn load_text(text: &str, given: &ReadOptions) -> World {
    let loaded = load::load(
        &Request { paths: &[PathBuf::from("-")], ..Request::default() },
        &mut text.as_bytes(),
        &Limits::default(),
    );
    ome::workspace::read(loaded, given)
}

fn plan(world: &World) -> Vec<Planned<'_>> {
    let services: Vec<_> = world.catalog.services().collect();
    Planner::new(&world.catalog).plan_all(&services, Depth::Explain)
}

/// The output of `explain -o json`.
fn document(world: &World) -> String {
    let mut planned = plan(world);
    let mut found: Vec<Diagnostic> = world.diagnostics.clone();
    found.extend(planned.iter_mut().flat_map(|planned| planned.diagnostics.drain(..)));
    findings::settle(&mut found, &world.sources, &Secrets::new(&world.sources));
    let document = json::Plan {
        readings: *world.catalog.readings(),
        depth: Depth::Explain,
        planned: &planned,
        flips: &[],
        merges: &[],
        servings: &[],
        totals: &totals(&planned, &[], &[], None),
        found: &found,
        sources: &world.sources,
        together: None,
        costs: None,
        losses: None,
        input: &[],
    };
    serde_json::to_string_pretty(&document).expect("a plan is JSON")
}

/// The output of `render`.
fn manifests(world: &World) -> Vec<Node> {
    let renderer = Renderer::new(world, "cluster.local");
    let rendered = world.catalog.services().flat_map(|views| {
        renderer.render(views, &mut ome::internals::merge::history::Recorder::off()).objects
    });
    rendered.map(|object| object.node).collect()
}

/// An object among those of every API.
type Id = (Api, String);

fn id(object: &Object) -> Id {
    (object.api, object.id.to_string())
}

fn name(planned: &Planned<'_>) -> Id {
    (planned.service.api, planned.service.to_string())
}

/// The decision for each service, with its error.
fn choices(planned: &[Planned<'_>]) -> Vec<(Id, Option<Id>, Option<Code>)> {
    let choice = |planned: &Planned<'_>| {
        let chosen = planned.resolution.chosen().map(|runtime| id(&runtime.object));
        (name(planned), chosen, planned.error.as_ref().map(|error| error.code))
    };
    planned.iter().map(choice).collect()
}

/// A JSON document without places in texts, which move when the input is ordered otherwise.
fn placeless(text: &str) -> serde_json::Value {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                map.retain(|key, _| {
                    ![
                        "at",
                        "modelAt",
                        "runtimeAt",
                        "file",
                        "line",
                        "column",
                        "endLine",
                        "endColumn",
                    ]
                    .contains(&key.as_str())
                });
                map.values_mut().for_each(strip);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
            // Sentences name places too.
            serde_json::Value::String(text) if text.contains("<stdin>:") => {
                let parts = text.split("<stdin>:").enumerate();
                *text = parts
                    .map(|(index, part)| {
                        if index == 0 {
                            part
                        } else {
                            part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':')
                        }
                    })
                    .collect();
            }
            _ => {}
        }
    }
    let mut value: serde_json::Value =
        serde_json::from_str(text).expect("the text was written as JSON");
    strip(&mut value);
    // Findings are in the order of their positions.
    if let Some(found) = value["findings"].as_array_mut() {
        found.sort_by_cached_key(ToString::to_string);
    }
    value
}

/// Another order of the same things.
fn shuffled<T: Clone>(items: &[T], mut seed: usize) -> Vec<T> {
    let mut left = items.to_vec();
    let mut out = Vec::new();
    while !left.is_empty() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        out.push(left.remove((seed >> 33) % left.len()));
    }
    out
}

#[test]
fn the_order_of_documents_changes_nothing() {
    holds(|fleet, number, semantics| {
        let other = Fleet { documents: shuffled(&fleet.documents, number) };
        let (world, other) = (world(fleet, semantics), world(&other, semantics));
        prop_assert_eq!(placeless(&document(&world)), placeless(&document(&other)));
        prop_assert_eq!(manifests(&world), manifests(&other));
        Ok(())
    });
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let pools =
        [1, 4].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    holds(|fleet, _, semantics| {
        let [one, four] = pools.each_ref().map(|pool| {
            pool.install(|| {
                let world = world(fleet, semantics);
                let manifests: String = manifests(&world)
                    .iter()
                    .map(|object| stream::text(object, stream::Format::Yaml))
                    .collect();
                (document(&world), manifests)
            })
        });
        prop_assert_eq!(one, four);
        Ok(())
    });
}

#[test]
fn removing_an_unused_runtime_changes_no_selection() {
    holds(|fleet, number, semantics| {
        let before_world = world(fleet, semantics);
        let before = plan(&before_world);
        // A runtime that crashes the controller decides for everybody, and one that a service names
        // is missed.
        let choice = choices(&before);
        prop_assume!(choice.iter().all(|(.., error)| *error != Some(Code::WouldPanic)));
        let used: BTreeSet<&Id> =
            choice.iter().filter_map(|(_, chosen, _)| chosen.as_ref()).collect();
        let named: BTreeSet<&str> = before
            .iter()
            .filter_map(|planned| planned.read_in(&before_world.catalog)?.runtime.as_ref())
            .map(|runtime| runtime.name.value.as_str())
            .collect();
        let idle: Vec<Id> = before_world
            .catalog
            .all_runtimes()
            .filter(|runtime| !named.contains(runtime.object.id.name.as_str()))
            .map(|runtime| id(&runtime.object))
            .filter(|id| !used.contains(id))
            .collect();
        prop_assume!(!idle.is_empty());
        let mut without = fleet.clone();
        let gone = &idle[number % idle.len()];
        without.documents.remove(without.position(gone.0, &gone.1).unwrap());
        let after_world = world(&without, semantics);
        prop_assert_eq!(choice, choices(&plan(&after_world)), "without {:?}", gone);
        Ok(())
    });
}

#[test]
fn runtimes_are_candidates_only_for_services_of_their_api() {
    holds(|fleet, _, semantics| {
        let mixed = world(fleet, semantics);
        let planned = plan(&mixed);
        for planned in &planned {
            let api = planned.service.api;
            prop_assert!(
                planned.resolution.runtime.candidates.iter().all(|candidate| candidate
                    .runtime
                    .object
                    .api
                    == api)
            );
        }
        // Objects of another API change nothing for a service.
        for api in [Api::Ome, Api::KServe] {
            let own = |document: &&Node| {
                let foreign = document
                    .get("apiVersion")
                    .and_then(Node::as_str)
                    .is_some_and(|version| version.starts_with("serving.kserve.io"));
                foreign == (api == Api::KServe)
            };
            let alone = Fleet { documents: fleet.documents.iter().filter(own).cloned().collect() };
            let alone = world(&alone, semantics);
            let of_api = choices(&planned)
                .into_iter()
                .filter(|((of, _), ..)| *of == api)
                .collect::<Vec<_>>();
            prop_assert_eq!(of_api, choices(&plan(&alone)));
        }
        Ok(())
    });
}

#[test]
fn a_candidate_is_rejected_exactly_when_a_rule_failed() {
    holds(|fleet, _, semantics| {
        let world = world(fleet, semantics);
        for planned in plan(&world) {
            let decision = &planned.resolution.runtime;
            for candidate in &decision.candidates {
                let rejected = candidate.verdict == Verdict::Rejected;
                prop_assert_eq!(
                    rejected,
                    !candidate.reasons.is_empty(),
                    "{} for {}",
                    &candidate.runtime.object.id,
                    planned.service
                );
            }
            let count = |verdict| {
                decision.candidates.iter().filter(|candidate| candidate.verdict == verdict).count()
            };
            prop_assert_eq!(count(Verdict::Chosen), usize::from(decision.chosen.is_some()));
            if decision.basis == Basis::Auto {
                prop_assert_eq!(
                    count(Verdict::Chosen) + count(Verdict::Eligible),
                    decision.eligible
                );
                prop_assert_eq!(count(Verdict::Rejected), decision.rejected);
            }
        }
        Ok(())
    });
}

/// The edits that `explain --runtime` proposes, made in the files, have the effect that it
/// promises.
#[test]
fn edits_proposed_by_explain_make_the_runtime_selected() {
    holds(|fleet, number, semantics| {
        let world_before = world(fleet, semantics);
        let before = plan(&world_before);
        let planned = &before[number % before.len()];
        let api = planned.service.api;
        let service = planned.read_in(&world_before.catalog).expect("it was read");
        for runtime in
            world_before.catalog.all_runtimes().filter(|runtime| runtime.object.api == api)
        {
            let flip = pipeline::flip(planned.policy, &world_before.catalog, service, runtime);
            let Ok(edits) = flip.edits else { continue };
            let mut edited = fleet.clone();
            for edit in &edits {
                let position = edited.position(api, &edit.id.to_string()).unwrap();
                let value = (!edit.to.is_null()).then(|| fleet::node(&edit.to));
                edited.documents[position].set(&edit.path.0, value);
            }
            let world_after = world(&edited, semantics);
            let after = choices(&plan(&world_after));
            let service = name(planned);
            let chosen =
                after.into_iter().find(|(id, ..)| *id == service).and_then(|(_, chosen, _)| chosen);
            prop_assert_eq!(
                chosen,
                Some(id(&runtime.object)),
                "for {:?} after {:?}",
                service,
                edits
            );
        }
        Ok(())
    });
}

/// Every node of a tree.
fn each_node<'a>(node: &'a Node, visit: &mut dyn FnMut(&'a Node)) {
    visit(node);
    match &node.value {
        Value::Map(map) => map.iter().for_each(|entry| each_node(&entry.node, visit)),
        Value::List(items) => items.iter().for_each(|item| each_node(item, visit)),
        _ => {}
    }
}

#[test]
fn every_rendered_value_has_a_file_or_a_documented_rule() {
    let known: BTreeSet<&str> = ome::internals::pods::rules::ALL
        .iter()
        .chain(ome::internals::objects::rules::ALL)
        .map(|rule| rule.id)
        .collect();
    holds(|fleet, _, semantics| {
        let world = world(fleet, semantics);
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        for object in manifests(&world) {
            each_node(&object, &mut |node| match node.origin {
                Origin::File(span) if world.catalog.owner(span).is_some() => {}
                Origin::File(span) => {
                    unknown.insert(format!("{}: {node:?}", world.sources.locate(span)));
                }
                Origin::Default(Rule { id, .. }) | Origin::Derived(Rule { id, .. })
                    if known.contains(id) => {}
                Origin::Default(rule) | Origin::Derived(rule) | Origin::Flag(rule) => {
                    unknown.insert(rule.id.to_owned());
                }
                // The fleet's models set everything.
                Origin::Fact(source) => {
                    unknown.insert(world.sources.get(source).name.to_string());
                }
            });
        }
        prop_assert!(unknown.is_empty(), "{:?}", unknown);
        Ok(())
    });
}

#[test]
fn manifests_read_the_same_as_yaml_and_as_json() {
    holds(|fleet, _, semantics| {
        let world = world(fleet, semantics);
        for object in manifests(&world) {
            let text = stream::text(&object, stream::Format::Yaml);
            let want = object.to_json();
            let loaded = load::load(
                &Request { paths: &[PathBuf::from("-")], ..Request::default() },
                &mut text.as_bytes(),
                &Limits::default(),
            );
            let read: Vec<serde_json::Value> =
                loaded.documents.iter().map(|document| document.node.to_json()).collect();
            prop_assert_eq!(&read, &vec![want.clone()], "{}", text);
            prop_assert_eq!(
                &serde_yaml::from_str::<serde_json::Value>(&text).unwrap(),
                &want,
                "a reader of YAML 1.2 reads {}",
                text
            );
            let json: serde_json::Value =
                serde_json::from_str(&stream::text(&object, stream::Format::Json)).unwrap();
            prop_assert_eq!(json, want);
        }
        Ok(())
    });
}

/// Fleets of which nothing is ever chosen or rendered would prove nothing.
#[test]
fn generated_fleets_contain_selections_ties_and_errors() {
    let seen = std::cell::RefCell::new([[0_usize; 4]; 2]);
    holds(|fleet, _, semantics| {
        let world = world(fleet, semantics);
        let mut seen = seen.borrow_mut();
        for planned in plan(&world) {
            let decision = &planned.resolution.runtime;
            let seen = &mut seen[usize::from(planned.service.api == Api::KServe)];
            seen[0] += usize::from(decision.basis == Basis::Auto && decision.chosen.is_some());
            seen[1] += usize::from(decision.eligible > 1);
            seen[2] += usize::from(planned.error.is_some());
        }
        let renderer = Renderer::new(&world, "cluster.local");
        for views in world.catalog.services() {
            let rendered =
                renderer.render(views, &mut ome::internals::merge::history::Recorder::off());
            seen[usize::from(rendered.service.object.api == Api::KServe)][3] +=
                rendered.objects.len();
        }
        Ok(())
    });
    for (api, [chosen, ties, errors, objects]) in
        ["OME", "KServe"].into_iter().zip(seen.into_inner())
    {
        assert!(
            chosen > 20 && ties > 5 && errors > 20 && objects > 100,
            "{api}: {chosen} chosen, {ties} among several, {errors} errors, {objects} objects"
        );
    }
}
