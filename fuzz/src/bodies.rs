//! What each fuzz target does with its bytes.
//!
//! In: bytes of anybody. Out: nothing, or a panic that says which promise is broken. The targets of
//! `fuzz/` and the tests of `tests/it/fuzz_targets.rs` run the same functions; this file uses the public
//! face of the library alone.

use ome::internals::api::Semantics;
use ome::internals::check::{self, View};
use ome::internals::diag::Diagnostic;
use ome::internals::load::{self, Request};
use ome::internals::merge::history::Recorder;
use ome::internals::merge::smp;
use ome::internals::operators::servings;
use ome::internals::quantity::{
    self, IntOrPercent, Memory, Operator, ParamCount, Quantity, Rounding, Selector, Version, hash,
    names as rules,
};
use ome::internals::report::places::Places;
use ome::internals::report::table::Style;
use ome::internals::report::{
    self, findings, github, gitlab, json, junit, plan, rdjson, sarif, serving, table, totals,
};
use ome::internals::secret::Secrets;
use ome::internals::source::SourceId;
use ome::internals::template;
use ome::internals::yaml::{Limits, Node, parse, split, write};
use ome::pipeline::serving::plan_servings;
use ome::pipeline::{Depth, PlacementOptions, Planner, Renderer, costs, together, totals};
use ome::workspace::{ReadOptions, World};
use std::path::PathBuf;

const BOTH: [Semantics; 2] = [Semantics::Documented, Semantics::Controller];

/// The bytes as a text; what is not UTF-8 is replaced.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every tree of a text.
fn trees(text: &str) -> Vec<Node> {
    let source = SourceId(0);
    let limits = Limits::default();
    split(source, text)
        .value
        .into_iter()
        .filter_map(|range| parse(source, text, range, &limits).value)
        .collect()
}

/// What is read is written so that it reads the same.
pub fn reader(bytes: &[u8]) {
    for node in trees(&text(bytes)) {
        let mut written = String::new();
        write(&mut written, &node);
        let again = trees(&written);
        assert_eq!(again.len(), 1, "one document is written as one: {written:?}");
        // As JSON values are equal: a number from 2^63 to 2^64 is one, whether it was written as an
        // integer or a fraction.
        assert_eq!(again[0], node, "read again from {written:?}");
    }
}

/// Everything that is read from standard input.
fn world(bytes: &[u8], semantics: Semantics) -> World {
    let mut input = bytes;
    let loaded = load::load(
        &Request { paths: &[PathBuf::from("-")], ..Request::default() },
        &mut input,
        &Limits::default(),
    );
    ome::workspace::read(
        loaded,
        &ReadOptions { expand: true, v2_probes: true, ..ReadOptions::new(semantics) },
    )
}

/// Findings in every shape; every place of theirs lies in its text, and none lets an escape
/// through.
fn say(mut found: Vec<Diagnostic>, world: &World) {
    let sources = &world.sources;
    for span in found.iter().flat_map(|finding| &finding.labels).map(|label| label.span) {
        let text = &sources.get(span.source).text;
        assert!(
            text.get(span.start as usize..span.end as usize).is_some(),
            "{span:?} is a place in the text"
        );
    }
    findings::settle(&mut found, sources, &Secrets::new(sources));
    for finding in &found {
        let document = findings::json(finding, sources);
        assert!(
            document["message"].as_str().is_some_and(|message| !message.is_empty()),
            "every finding says something"
        );
    }
    harmless(&findings::human(&found, sources, Style { color: false, width: None }));
    let places = Places::new(sources, None);
    harmless(&github::commands(&found, &places));
    harmless(&junit::suites(&found, &places, ome::internals::diag::Severity::Error));
    for report in [gitlab::report(&found, &places), rdjson::report(&found, &places)] {
        harmless(&report.to_string());
    }
    assert!(
        serde_json::to_string(&sarif::Log { found: &found, sources: &places }).is_ok(),
        "SARIF can be written"
    );
}

/// No control character that a terminal would obey.
fn harmless(text: &str) {
    let obeyed = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    assert_eq!(obeyed, None, "in {text:?}");
}

/// Bytes of a file become documents, documents objects.
pub fn load(bytes: &[u8]) {
    for semantics in BOTH {
        let mut world = world(bytes, semantics);
        let found = std::mem::take(&mut world.diagnostics);
        say(found, &world);
    }
}

/// Numbers with units: what is accepted has one spelling, which is accepted too and means the same.
pub fn quantity(bytes: &[u8]) {
    let text = text(bytes);
    if let Ok(quantity) = Quantity::parse(&text) {
        let canonical = quantity.canonical();
        let again = Quantity::parse(&canonical).unwrap_or_else(|error| {
            panic!("{canonical:?}, written for {text:?}, is refused: {error}")
        });
        // As in apimachinery: `62.5Ki` is written as `64000`, which read again is `64k`, and stays.
        let settled = again.canonical();
        let once_more = Quantity::parse(&settled).expect("a canonical form is accepted");
        assert_eq!(once_more.canonical(), settled, "of {text:?}");
        assert_eq!(
            (quantity.value(), quantity.milli()),
            (again.value(), again.milli()),
            "of {text:?}"
        );
        let _ =
            (quantity.recomputed(), quantity.as_f64(), quantity.is_integer(), quantity.format());
    }
    let _ = Quantity::parse_field(&text);
    if let Ok(memory) = Memory::parse(&text) {
        let _ = (
            memory.gib(),
            memory.gib_rounded_up(),
            memory.quantity().canonical(),
            memory.saturating_mul(u64::MAX),
            memory.saturating_add(memory),
        );
    }
    if let Ok(count) = ParamCount::parse(&text) {
        assert!(count.as_f64() >= 0.0, "{text:?} counts something");
    }
    let _ = (ParamCount::parse_controller(&text), ParamCount::suggestion(&text));
    if let Ok(percent) = IntOrPercent::parse_percent(&text) {
        for total in [0, 1, i64::MAX] {
            let _ = (percent.scaled(total, Rounding::Up), percent.scaled(total, Rounding::Down));
        }
    }
}

/// The bytes as two texts, apart at the first line feed.
fn two(bytes: &[u8]) -> (String, String) {
    let text = text(bytes);
    let (first, second) = text.split_once('\n').unwrap_or((&text, &text));
    (first.to_owned(), second.to_owned())
}

/// Versions of a runtime and of a model: an order is one from both sides.
pub fn version(bytes: &[u8]) {
    let (runtime, model) = two(bytes);
    if let (Ok(runtime), Ok(model)) =
        (quantity::validate_documented(&runtime), quantity::validate_documented(&model))
    {
        let _ = runtime.admits(&model);
    }
    if let (Ok(runtime), Ok(model)) =
        (Version::parse_controller(&runtime), Version::parse_controller(&model))
    {
        assert_eq!(runtime.compare(&model), model.compare(&runtime).reverse());
        for operator in [Operator::Equal, Operator::GreaterThan, Operator::GreaterThanOrEqual] {
            let _ = runtime.admits(operator, &model);
        }
    }
}

/// Names, labels, selectors and the names made of them.
pub fn names(bytes: &[u8]) {
    let (name, rest) = two(bytes);
    let breaks = |c: char| c.is_control() || c.is_whitespace();
    // Names of objects become names of files.
    for rule in [rules::dns1123_label, rules::dns1123_subdomain, rules::dns1035_label] {
        assert!(
            !rule(&name).is_empty() || (!name.contains("..") && !name.contains(breaks)),
            "{name:?} is a name"
        );
    }
    // Values and keys of labels may hold two dots, as the server has it.
    for rule in [rules::label_value, rules::qualified_name] {
        assert!(!rule(&name).is_empty() || !name.contains(breaks), "{name:?} is a name");
    }
    for rule in [
        rules::wildcard_dns1123_subdomain,
        rules::namespace,
        rules::service_account,
        rules::service_name,
        rules::generate_name_subdomain,
        rules::generate_name_label,
        rules::label_key,
        rules::annotation_key,
        rules::finalizer,
        rules::path_segment_name,
        rules::path_segment_prefix,
        rules::port_name,
        rules::env_var_name,
        rules::relaxed_env_var_name,
        rules::config_map_key,
        rules::c_identifier,
        rules::http_header_name,
        rules::percent,
    ] {
        let _ = rule(&name);
    }
    for rule in [
        rules::fully_qualified_domain_name,
        rules::fully_qualified_name,
        rules::domain_prefixed_path,
        rules::ip_address,
    ] {
        let _ = rule(&name);
    }
    // A character that is cut in two is written as three bytes, as Go writes it; names have ASCII
    // only.
    assert!(!name.is_ascii() || hash::truncate63(&name).len() <= 63, "{name:?} is shortened");
    let _ = (
        hash::limit(&name, 20),
        hash::tail(&name, 5),
        hash::short_hash(&name),
        hash::model_ready_label(Some(&rest), &name),
    );
    if let Ok(selector) = Selector::parse(&name) {
        let _ = selector.matches(|_| Some(rest.as_str()));
        let _ = selector.matches(|_| None);
    }
}

/// Placeholders, by the documents and by the controller, in a string and in a container.
pub fn template(bytes: &[u8]) {
    let text = text(bytes);
    let metadata = template::Metadata {
        name: "na<me",
        namespace: "name\"space",
        labels: [("team", "a&b"), ("a/b", "")].into_iter().collect(),
        ..template::Metadata::default()
    };
    let values = template::DomainValues {
        name: "name",
        namespace: "namespace",
        ingress_domain: "example.com",
        ..template::DomainValues::default()
    };
    let refused = !template::check_documented(&text).is_empty();
    if template::expand_documented(&text, &metadata).is_ok() {
        assert!(!refused, "what is expanded has nothing wrong: {text:?}");
    }
    let _ = (
        template::variables(&text),
        template::domain(&text, &values),
        template::path(&text, "name", "namespace"),
    );
    let json = serde_json::json!({ "name": "runner", "args": [text, "{{.Name}}"], "env": [{ "name": "A", "value": text }] });
    let mut containers = vec![Node::from_json(
        &json,
        ome::internals::yaml::Origin::File(ome::internals::source::Span {
            source: SourceId(0),
            start: 0,
            end: 0,
        }),
    )];
    containers.extend(trees(&text).into_iter().filter(|node| node.as_map().is_some()));
    for container in &containers {
        let _ = template::check_container(container);
        for mode in [template::Mode::Documented, template::Mode::Controller] {
            let _ = template::expand_container(container, &metadata, mode);
        }
    }
}

/// Two trees are merged with and without a type; the same twice, and nothing of the base is lost
/// where the patch is empty.
pub fn merge(bytes: &[u8]) {
    let trees = trees(&text(bytes));
    let [base, patch, ..] = trees.as_slice() else { return };
    for ty in [
        None,
        ome::internals::schema::structure("Container"),
        ome::internals::schema::structure("PodSpec"),
    ] {
        let mut history = Recorder::new();
        let recorded = smp::merge(base.clone(), patch, ty, &mut history);
        assert_eq!(
            recorded,
            smp::merge(base.clone(), patch, ty, &mut Recorder::off()),
            "recording changes nothing"
        );
        if let Ok(merged) = recorded {
            let _ = merged.to_json();
        }
    }
}

/// All that `validate` finds, in every shape.
pub fn validate(bytes: &[u8]) {
    for semantics in BOTH {
        let mut world = world(bytes, semantics);
        let mut found = std::mem::take(&mut world.diagnostics);
        let asked: Vec<_> =
            ome::internals::operators::checks().flat_map(|check| check.codes).copied().collect();
        found.extend(check::run(
            &View { catalog: &world.catalog, sources: &world.sources },
            ome::internals::operators::checks(),
            &asked,
        ));
        check::spell_out(&mut found, &world.sources);
        let found = check::apply_allows(found, &world.sources, |_| true);
        say(found, &world);
    }
}

/// Services and ModelServings are planned and shown.
pub fn plan(bytes: &[u8]) {
    for semantics in BOTH {
        let world = world(bytes, semantics);
        let services: Vec<_> = world.catalog.services().collect();
        let planner = Planner::new(&world.catalog);
        let mut planned = planner.plan_all(&services, Depth::Explain);
        let servings: Vec<_> = world.catalog.model_servings().iter().collect();
        let mut servings = plan_servings(&world.catalog, &servings);
        let mut found: Vec<Diagnostic> =
            planned.iter_mut().flat_map(|planned| planned.diagnostics.drain(..)).collect();
        found.extend(servings.iter_mut().flat_map(|planned| planned.diagnostics.drain(..)));
        let together = together(
            &planner,
            &mut planned,
            &mut servings,
            PlacementOptions {
                look: true,
                map: true,
                settled: true,
                ..PlacementOptions::default()
            },
        );
        let (together, costs) = (together.as_ref(), costs(&planned, &servings));
        let totals = totals(&planned, &servings, world.catalog.machines(), together);
        let document = json::Plan {
            readings: *world.catalog.readings(),
            depth: Depth::Explain,
            planned: &planned,
            flips: &[],
            merges: &[],
            servings: &servings,
            totals: &totals,
            found: &found,
            sources: &world.sources,
            together,
            costs: costs.as_ref(),
            losses: None,
            input: &world.input,
        };
        assert!(serde_json::to_string(&document).is_ok(), "the document can be written");
        let style = table::Style { color: false, width: None };
        let sources = &world.sources;
        let view = plan::Plan {
            readings: *world.catalog.readings(),
            header: "",
            planned: &planned,
            sources,
            arguments: "",
            extent: plan::Extent::Short,
        };
        harmless(&totals::classes(&totals, style));
        harmless(&totals::classes_markdown(&totals));
        for style in [style, table::Style { width: Some(40), ..style }] {
            let drawn = view.text(style, &mut |piece| {
                harmless(piece);
                Ok(())
            });
            drawn.expect("drawing fails only where it is written");
        }
        harmless(&view.markdown());
        if let Some(together) = together {
            harmless(&report::together::text(together, &planned, &servings));
        }
        let notes = serving::Notes::of(&found);
        harmless(&serving::text(&servings, &notes, sources, style));
        harmless(&serving::markdown(&servings, &notes, sources));
        for planned in &servings {
            let about = notes.about(planned.serving);
            let sheet = serving::explain(planned, servings::rules(&world.catalog), about, sources);
            harmless(&sheet.text(style));
            harmless(&sheet.markdown());
        }
        say(found, &world);
    }
}

/// Whatever is rendered reads back as it was meant.
pub fn render(bytes: &[u8]) {
    for semantics in BOTH {
        let world = world(bytes, semantics);
        let renderer = Renderer::new(&world, "cluster.local");
        for views in world.catalog.services() {
            let mut history = Recorder::new();
            let rendered = renderer.render(views, &mut history);
            for object in &rendered.objects {
                let mut written = String::new();
                write(&mut written, &object.node);
                let again = trees(&written);
                assert_eq!(again.len(), 1, "one object is one document: {written}");
                assert_eq!(again[0].to_json(), object.node.to_json(), "read again from {written}");
            }
            say(rendered.diagnostics, &world);
        }
    }
}
