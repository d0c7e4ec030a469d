//! Every leaf of every rendered object has an origin: a value of the input that it is made of, or a
//! rule with its source. Of a template, the actions are known, and where the values are that they
//! read.
//!
//! The inputs are those of the cases in `testdata/conformance`, and of the public tree of cases
//! beside the repository where it is at hand.

use ome::internals::api::Semantics;
use ome::internals::diag::Severity;
use ome::internals::load::{self, Memory, Request};
use ome::internals::merge::history::Recorder;
use ome::internals::operators;
use ome::internals::operators::kthena::objects::{Expanded, Replaced, expand};
use ome::internals::operators::kthena::releases::{CONTROLLER, DOCUMENTED, profile};
use ome::internals::operators::servings::rules;
use ome::internals::policy::Policy;
use ome::internals::quantity::Quantity;
use ome::internals::yaml::{FieldPath, Limits, Node, Rule};
use ome::pipeline::{
    Filled, Layers, Leaf, Losers, Overrides, Renderer, Said, ServingHistory, identity, why,
};
use ome::workspace::{Kept, ReadOptions, World};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The trees of cases, each with the directory that its cases call `{shared}`.
const TREES: [(&str, &str); 2] = [
    (concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/conformance"), "/testdata"),
    (concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/conformance"), "/../shared"),
];

/// What one run of a case reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Input {
    files: Vec<PathBuf>,
    semantics: Option<String>,
    release: Option<String>,
}

impl Input {
    fn of(args: &[String]) -> Self {
        let after = |flag: &str| {
            let pairs = args.windows(2).filter(|pair| pair[0] == flag);
            pairs.map(|pair| pair[1].clone()).collect::<Vec<_>>()
        };
        Self {
            files: ["-f", "--presets"].into_iter().flat_map(after).map(PathBuf::from).collect(),
            semantics: after("--semantics").pop(),
            release: after("--release").pop(),
        }
    }

    fn semantics(&self) -> Semantics {
        match (&self.release, self.semantics.as_deref()) {
            (None, None | Some("documented")) => Semantics::Documented,
            _ => Semantics::Controller,
        }
    }

    fn options(&self, kthena: Option<&'static Policy>) -> ReadOptions {
        let mut options = ReadOptions::new(self.semantics());
        if let Some(policy) = kthena {
            options = options.following(policy);
        }
        let named = self.release.as_deref().and_then(|release| release.split_once('='));
        if let Some((operator, tag)) = named
            && let Some((_, api)) = operators::released().find(|(name, _)| *name == operator)
            && let Some(policy) = operators::release(api, tag)
        {
            options.readings.set_release(policy);
        }
        options
    }

    /// What all inputs have in common that differ in the first file alone.
    fn shape(&self) -> Self {
        Self { files: self.files.iter().skip(1).cloned().collect(), ..self.clone() }
    }
}

/// Reads inputs of one shape. Each takes the place of the first one's file, as an edit of a file
/// does, so that the other files are read once.
#[derive(Default)]
struct Reader {
    first: Option<Input>,
    memory: Memory,
    kept: Kept,
}

impl Reader {
    fn world(&mut self, input: &Input, kthena: Option<&'static Policy>) -> World {
        let same = self.first.as_ref().is_some_and(|first| first.shape() == input.shape());
        if !same {
            *self = Self { first: Some(input.clone()), ..Self::default() };
        }
        let first = self.first.as_ref().unwrap_or(input);
        if let (Some(place), Some(file)) = (first.files.first(), input.files.first()) {
            let text = std::fs::read_to_string(file).ok();
            self.memory.set(place.clone(), text.map(Into::into));
        }
        let request = Request { paths: &first.files, ..Request::default() };
        let loaded = load::load_again(&request, &Limits::default(), &mut self.memory);
        ome::workspace::read_again(loaded, &input.options(kthena), &mut self.kept)
    }
}

/// The inputs of the cases of a suite, without repetition; every `step`th of them.
fn inputs(suite: &str, step: usize) -> Vec<Input> {
    let mut found = BTreeSet::new();
    for (tree, shared) in TREES {
        let shared = format!("{}{shared}", env!("CARGO_MANIFEST_DIR"));
        gather(&Path::new(tree).join(suite), &shared, &mut found);
    }
    found.into_iter().step_by(step).collect()
}

fn gather(directory: &Path, shared: &str, found: &mut BTreeSet<Input>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.map(|entry| entry.expect("a directory can be listed").path()) {
        if path.is_dir() {
            gather(&path, shared, found);
        } else if path.ends_with("case.json") {
            let text = std::fs::read_to_string(&path).expect("a case can be read");
            let case: serde_json::Value = serde_json::from_str(&text).expect("a case is JSON");
            let here = directory.display().to_string();
            for run in case["runs"].as_array().expect("a case has runs") {
                let args = run["args"].as_array().expect("a run has arguments").iter();
                let args: Vec<String> = args
                    .filter_map(serde_json::Value::as_str)
                    .map(|arg| arg.replace("{case}", &here).replace("{shared}", shared))
                    .collect();
                found.insert(Input::of(&args));
            }
        }
    }
}

/// What was looked at, and what is wrong.
#[derive(Debug, Default)]
struct Judged {
    objects: usize,
    leaves: usize,
    filled: usize,
    overrides: usize,
    problems: Vec<String>,
}

impl Judged {
    fn with(mut self, other: Self) -> Self {
        self.objects += other.objects;
        self.leaves += other.leaves;
        self.filled += other.filled;
        self.overrides += other.overrides;
        self.problems.extend(other.problems);
        self
    }

    fn objects<'n>(
        &mut self,
        world: &World,
        (input, layers): (&Input, &Layers<'_>),
        objects: impl IntoIterator<Item = &'n Node>,
        losers: &impl Losers,
    ) {
        for object in objects {
            self.objects += 1;
            for leaf in why(layers, object, &FieldPath::root(), losers) {
                self.leaves += 1;
                self.filled += leaf.filled.len();
                self.overrides += leaf.overrides.len();
                let wrong = problem(world, &leaf).map(|problem| {
                    let file = input
                        .files
                        .first()
                        .map_or(String::new(), |file| file.display().to_string());
                    format!("{file}: {} of {}: {problem}", leaf.path, identity(object))
                });
                self.problems.extend(wrong);
            }
        }
    }

    /// Fails with the first problems, or where less was looked at than `least`.
    fn check(self, least: usize) {
        assert!(
            self.problems.is_empty(),
            "{} of {} leaves\n{}",
            self.problems.len(),
            self.leaves,
            self.problems[..self.problems.len().min(20)].join("\n")
        );
        assert!(self.leaves >= least, "{} leaves, {least} are expected", self.leaves);
    }
}

/// What is wrong with the origin of a leaf, or of a value that it overrides.
fn problem(world: &World, leaf: &Leaf) -> Option<String> {
    let said = std::iter::once(&leaf.statement).chain(&leaf.overrides);
    said.into_iter()
        .find_map(|said| unsourced(world, said))
        .or_else(|| unlike(world, leaf))
        .or_else(|| leaf.filled.iter().find_map(|filled| unread(world, leaf, filled)))
}

fn unsourced(world: &World, said: &Said) -> Option<String> {
    let named = |rule: &Rule| {
        let kebab = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !rule.id.is_empty() && rule.id.bytes().all(kebab) && !rule.cite.is_empty()
    };
    match (said.span, said.rule, said.fact) {
        (Some(span), None, None) if world.catalog.owner(span).is_none() => {
            Some("its place is in no object of the input".into())
        }
        (Some(_), None, None) | (None, None, Some(_)) => None,
        // The template is in a file, and so is what it reads.
        (None, Some(rule), None) if rule.id == "llm-template" => {
            Some("neither the template nor the value that it reads".into())
        }
        (None, Some(rule), None) => {
            (!named(rule)).then(|| format!("rule `{}` without a source", rule.id))
        }
        other => Some(format!("no single origin: {other:?}")),
    }
}

/// Whether the value of a leaf cannot be made of what is at its place.
fn unlike(world: &World, leaf: &Leaf) -> Option<String> {
    let text = world.sources.text(leaf.statement.span?);
    let value = leaf.statement.value.scalar_text()?;
    let is_template = text.contains("{{");
    // A template need not be like its value, but its actions are known.
    if (is_template && !leaf.filled.is_empty()) || akin(&value, text) {
        return None;
    }
    let what = if is_template { "the actions are not known" } else { "unlike its place" };
    Some(format!("{what}: `{value}` of `{text}`"))
}

/// What is wrong with an action that made a part of a leaf.
fn unread(world: &World, leaf: &Leaf, filled: &Filled) -> Option<String> {
    let template = world.sources.text(leaf.statement.span?);
    // Text in quotes is written otherwise than it reads.
    if !template.contains(&*filled.action)
        && !squeezed(template).contains(&squeezed(&filled.action))
    {
        return Some(format!("`{}` is no action of `{template}`", filled.action));
    }
    let Some(span) = filled.from.span() else {
        return match filled.from.rule() {
            Some(rule) if rule.id == "llm-template" => Some(format!("`{}`", filled.action)),
            Some(_) => None,
            None => Some(format!("`{}` reads nothing known", filled.action)),
        };
    };
    if world.catalog.owner(span).is_none() {
        return Some(format!("`{}` reads no object of the input", filled.action));
    }
    // What a chain of fields prints is at the place that it reads.
    let is_chain = filled.action.starts_with('.') && !filled.action.contains(' ');
    let read = world.sources.text(span);
    (is_chain && !akin(&filled.value, read))
        .then(|| format!("`{}` prints `{}` of `{read}`", filled.action, filled.value))
}

/// Whether a value is the one at a place, a part of it, or made of it.
fn akin(value: &str, text: &str) -> bool {
    if text.contains(value) && !is_mapping(text) {
        return true;
    }
    let (whole, part) = (squeezed(text), squeezed(value));
    if whole.contains(&part) && !is_mapping(text) {
        return true;
    }
    let quantity = |text: &str| Quantity::parse_field(text.trim_matches(['"', '\''])).ok();
    if let (Some(one), Some(other)) = (quantity(value), quantity(text)) {
        return one == other;
    }
    let decoded = decoded(value);
    let (of_value, of_text) = (words(&decoded), words(text));
    let shared = of_text.intersection(&of_value).count();
    if is_mapping(text) {
        // Made of the whole mapping, but for its keys.
        return 3 * shared >= of_text.len();
    }
    part.contains(&whole) || 2 * shared >= of_value.len().min(of_text.len())
}

/// Whether the text at a place is a mapping: a plain scalar has no `: `.
fn is_mapping(text: &str) -> bool {
    let key = text.split_once(':').map_or(
        "",
        |(key, rest)| {
            if rest.starts_with([' ', '\n']) { key } else { "" }
        },
    );
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    !key.is_empty() && key.chars().all(plain)
}

/// The value of a Secret as text; any other value as it is.
fn decoded(value: &str) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(value).ok();
    let text = bytes.filter(|_| value.len() > 40).and_then(|bytes| String::from_utf8(bytes).ok());
    text.unwrap_or_else(|| value.to_owned())
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn squeezed(text: &str) -> String {
    let is_kept = |c: &char| !c.is_whitespace() && !"\"'{}\\".contains(*c);
    text.chars().filter(is_kept).flat_map(char::to_lowercase).collect()
}

/// The objects of the services of an input.
fn services(reader: &mut Reader, input: &Input) -> Judged {
    let world = reader.world(input, None);
    let layers = Layers::new(&world.catalog);
    let renderer = Renderer::new(&world, "cluster.local");
    let mut judged = Judged::default();
    for views in world.catalog.services() {
        let mut history = Recorder::new();
        let rendered = renderer.render(views, &mut history);
        let overrides = Overrides::new(&history);
        let objects = rendered.objects.iter().map(|object| &object.node);
        judged.objects(&world, (input, &layers), objects, &overrides);
    }
    judged
}

/// The ModelServings of an input, and what their controllers write.
fn servings(reader: &mut Reader, input: &Input) -> Judged {
    let mut judged = Judged::default();
    let named = ["v0.1", "v1.0"].map(|name| profile(name).expect("it is a release"));
    for policy in [&DOCUMENTED, named[0], named[1], &CONTROLLER] {
        let world = reader.world(input, Some(policy));
        if world.diagnostics.iter().any(|found| found.severity == Severity::Error) {
            continue;
        }
        let layers = Layers::new(&world.catalog);
        for serving in world.catalog.model_servings() {
            let history = ServingHistory::new(serving);
            let written = match &serving.booster {
                Some(booster) => booster.objects.iter().collect(),
                None => vec![&serving.object.node],
            };
            let none = Replaced::default();
            judged.objects(&world, (input, &layers), written, &history.of(&none));
            for Expanded { node, replaced } in
                expand(serving, rules(&world.catalog), &mut Vec::new())
            {
                judged.objects(&world, (input, &layers), [&node], &history.of(&replaced));
            }
        }
    }
    judged
}

fn all(suites: &[(&str, usize)], judge: fn(&mut Reader, &Input) -> Judged) -> Judged {
    let mut all: Vec<Input> =
        suites.iter().flat_map(|(suite, step)| inputs(suite, *step)).collect();
    all.sort_by_cached_key(|input| (input.shape(), input.files.first().cloned()));
    let of_thread = all.len().div_ceil(rayon::current_num_threads()).max(1);
    all.par_chunks(of_thread)
        .map(|inputs| {
            let mut reader = Reader::default();
            inputs
                .iter()
                .map(|input| judge(&mut reader, input))
                .fold(Judged::default(), Judged::with)
        })
        .reduce(Judged::default, Judged::with)
}

#[test]
fn every_leaf_of_llm_services_has_an_origin() {
    let judged = all(&[("kserve-llm", 1)], services);
    assert!(judged.filled > 8 && judged.overrides > 8, "{judged:?}");
    judged.check(100);
}

#[test]
fn every_leaf_of_inference_services_of_kserve_has_an_origin() {
    let suites = [("kserve-objects", 1), ("kserve-select", 1), ("kserve-odh", 1)];
    let judged = all(&suites, services);
    assert!(judged.filled > 50 && judged.overrides > 100, "{judged:?}");
    judged.check(10_000);
}

#[test]
fn every_leaf_of_inference_services_of_ome_has_an_origin() {
    let suites =
        [("ome-objects", 16), ("ome-select", 24), ("ome-accelerators", 6), ("ome-releases", 6)];
    let judged = all(&suites, services);
    assert!(judged.overrides > 100, "{judged:?}");
    judged.check(10_000);
}

#[test]
fn every_leaf_of_model_servings_has_an_origin() {
    let suites = [("kthena-objects", 3), ("kthena-booster", 3), ("kthena-rollout", 3)];
    let judged = all(&suites, servings);
    assert!(judged.overrides > 500, "{judged:?}");
    judged.check(20_000);
}

/// A key that is a template makes the whole configuration one template.
#[test]
fn leaves_of_a_configuration_that_is_one_template_have_origins() {
    const TEXT: &str = "
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: kserve-config-llm-template, namespace: kserve}
spec:
  template:
    containers:
    - {name: main, image: 'vllm:1', args: ['--port=8000', '--served={{ .Spec.Model.Name }}']}
---
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: otter, namespace: river}
spec:
  model: {uri: hf://example/heron, name: heron}
  labels: {'{{ .Name }}': eight}
";
    let loaded = load::load(
        &Request { paths: &[PathBuf::from("-")], ..Request::default() },
        &mut TEXT.as_bytes(),
        &Limits::default(),
    );
    let world = ome::workspace::read(loaded, &ReadOptions::new(Semantics::Controller));
    let layers = Layers::new(&world.catalog);
    let mut history = Recorder::new();
    let views = world.catalog.services().next().expect("a service");
    let rendered = Renderer::new(&world, "cluster.local").render(views, &mut history);
    let overrides = Overrides::new(&history);
    let object = rendered.objects.iter().map(|object| &object.node);
    let deployment = object
        .into_iter()
        .find(|node| node.get("kind").and_then(Node::as_str) == Some("Deployment"))
        .expect("a Deployment");
    let leaf = |path: &str| {
        let path = FieldPath::parse(path).expect("a path");
        why(&layers, deployment, &path, &overrides).remove(0)
    };
    let place = |leaf: &Leaf| world.sources.text(leaf.statement.span.expect("a place")).to_owned();
    let main = "spec.template.spec.containers[name=main]";
    let port = leaf(&format!("{main}.args[0]"));
    assert_eq!((place(&port).as_str(), port.filled.len()), ("'--port=8000'", 0));
    let served = leaf(&format!("{main}.args[1]"));
    assert_eq!(served.statement.value.as_str(), Some("--served=heron"));
    assert_eq!(place(&served), "'--served={{ .Spec.Model.Name }}'");
    let [filled] = served.filled.as_slice() else { panic!("{:?}", served.filled) };
    assert_eq!((&*filled.action, &*filled.value), (".Spec.Model.Name", "heron"));
    assert_eq!(world.sources.text(filled.from.span().expect("a place")), "heron");
    assert_eq!(place(&leaf("spec.template.metadata.labels.otter")), "eight");
}

#[test]
fn a_value_is_held_against_its_place() {
    assert!(akin("8", "8") && akin("1Gi", "1024Mi") && akin("--tp=4", "4"));
    assert!(akin("hf://a/b", "HF://a/b") && akin("{\"bucket\":\"b\"}", "bucket: b"));
    assert!(!akin("8", "9") && !akin("2Gi", "1024Mi") && !akin("grpc", "name: other"));
    assert!(!akin("grpc", "containerPort: 9002\n  name: grpc\n  protocol: TCP"));
}
