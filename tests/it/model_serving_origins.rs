//! Objects of ModelServings: who wrote each leaf.

use ome::internals::api::Semantics;
use ome::internals::diag::Severity;
use ome::internals::load::{self, Request};
use ome::internals::operators::kthena::objects as kthena;
use ome::internals::operators::kthena::objects::{Expanded, Replaced};
use ome::internals::operators::kthena::releases::{
    KTHENA_CONTROLLER, KTHENA_DOCUMENTED, KTHENA_V0_1, KTHENA_V1_0,
};
use ome::internals::policy::KthenaPolicy;
use ome::internals::yaml::{FieldPath, Limits, Rule};
use ome::pipeline;
use ome::pipeline::{Layer, Layers, ServingHistory};
use ome::workspace::{ReadOptions, World};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/conformance");

/// Every directory below the tree that holds a ModelServing, each an input of its own.
fn inputs() -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![PathBuf::from(TREE)];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).expect("the tree can be listed") {
            let path = entry.expect("the tree can be listed").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml")
                && std::fs::read(&path).is_ok_and(|text| holds_serving(&text))
            {
                found.insert(path);
            }
        }
    }
    found.into_iter().collect()
}

fn holds_serving(text: &[u8]) -> bool {
    let wanted = b"ModelServing";
    text.windows(wanted.len()).any(|window| window == wanted)
}

fn world(file: &Path, kthena: &'static KthenaPolicy) -> World {
    let loaded = load::load(
        &Request { paths: &[file.to_owned()], ..Request::default() },
        &mut std::io::empty(),
        &Limits::default(),
    );
    let semantics = if std::ptr::eq(kthena, &raw const KTHENA_CONTROLLER) {
        Semantics::Controller
    } else {
        Semantics::Documented
    };
    ome::workspace::read(loaded, &ReadOptions::new(semantics).with_servings(kthena))
}

#[test]
fn every_leaf_has_an_origin() {
    let known: BTreeSet<&str> = ome::internals::objects::rules::ALL
        .iter()
        .chain(kthena::rules::ALL)
        .map(|rule: &&Rule| rule.id)
        .chain(["crd-default"])
        .collect();
    let (mut servings, mut leaves, mut losers) = (0, 0, 0);
    for file in inputs() {
        for policy in [&KTHENA_DOCUMENTED, &KTHENA_V0_1, &KTHENA_V1_0, &KTHENA_CONTROLLER] {
            let world = world(&file, policy);
            if world.diagnostics.iter().any(|found| found.severity == Severity::Error) {
                continue;
            }
            let layers = Layers::new(&world.catalog);
            for serving in world.catalog.model_servings() {
                servings += 1;
                let history = ServingHistory::new(serving);
                let own =
                    Expanded { node: serving.object.node.clone(), replaced: Replaced::default() };
                let expanded = kthena::expand(serving, policy, &mut Vec::new());
                for Expanded { node, replaced } in std::iter::once(&own).chain(&expanded) {
                    for leaf in
                        pipeline::why(&layers, node, &FieldPath::root(), &history.of(replaced))
                    {
                        leaves += 1;
                        let place = format!(
                            "{}: {} of {}",
                            file.display(),
                            leaf.path,
                            pipeline::identity(node)
                        );
                        for said in std::iter::once(&leaf.said).chain(&leaf.overrides) {
                            match (said.span, said.rule) {
                                (Some(span), None) => {
                                    assert!(
                                        serving.object.span.source == span.source,
                                        "{place}: written in another file"
                                    );
                                    assert!(
                                        serving.object.span.start <= span.start
                                            && span.end <= serving.object.span.end,
                                        "{place}: written elsewhere"
                                    );
                                    assert!(
                                        matches!(said.layer, Layer::Service | Layer::Annotation),
                                        "{place}: {:?}",
                                        said.layer
                                    );
                                    let text = world.sources.text(span);
                                    // Quoted, folded and aliased text is written otherwise than it
                                    // reads, and Go writes quantities anew.
                                    let plain = !text
                                        .starts_with(['"', '\'', '|', '>', '*', '{', '['])
                                        && !leaf.path.to_string().contains("resources");
                                    if let (true, Some(value)) = (plain, said.value.as_str()) {
                                        assert_eq!(text.trim(), value, "{place}");
                                    }
                                }
                                (None, Some(rule)) => assert!(
                                    known.contains(rule.id),
                                    "{place}: unknown rule {}",
                                    rule.id
                                ),
                                other => panic!("{place}: {other:?}"),
                            }
                        }
                        losers += leaf.overrides.len();
                    }
                }
            }
        }
    }
    // That the sweep is not empty.
    assert!(
        servings > 200 && leaves > 20_000 && losers > 500,
        "{servings} ModelServings, {leaves} leaves, {losers} overridden"
    );
}
