//! Expectations beside the catalog: the files of `ome test`.
//!
//! In: a document with `cases`. Out: what each case states, with its place; and, for a world, what
//! is not so. Only what is stated is compared.

use crate::api::{ComponentKind, Object};
use crate::catalog::Catalog;
use crate::decision::Candidate;
use crate::diag::{Code, Diagnostic, nearest};
use crate::diff::equal;
use crate::pipeline::built::identity;
use crate::pipeline::leaves::{MergedLeaf, merge};
use crate::pipeline::planned::{Planned, PlannedComponent};
use crate::pipeline::what_if::{Flip, flip, named};
use crate::pipeline::why::Layers;
use crate::schema;
use crate::secret::{self, MASK, Place, names_secret};
use crate::source::Span;
use crate::yaml::{FieldPath, Map, Node, Segment, Value};
use ecow::EcoString;

/// Keys of a case.
pub const CASE_KEYS: [&str; 5] = ["name", "files", "services", "objects", "findings"];
/// Keys of a service, beside `env.NAME`.
pub const SERVICE_KEYS: [&str; 7] =
    ["runtime", "accelerator", "mode", "gpus", "fits", "error", "arg"];

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: EcoString,
    /// Where the name is.
    pub span: Span,
    /// What it reads, relative to its file; none: what the command line names.
    pub files: Option<Vec<EcoString>>,
    /// Services and what is stated about them.
    pub services: Vec<Stated>,
    /// Objects and what is stated about them.
    pub objects: Vec<Stated>,
    /// Codes that must be found.
    pub findings: Vec<(EcoString, Span)>,
}

/// What is stated about a service or an object.
#[derive(Clone, Debug)]
pub struct Stated {
    /// Its name as it is written.
    pub name: EcoString,
    /// Where the name is.
    pub span: Span,
    /// Keys, or paths, with their values.
    pub values: Vec<Expected>,
}

/// One expectation.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The key, or the path of a field.
    pub key: EcoString,
    /// Where the key is.
    pub span: Span,
    /// What is expected.
    pub value: Node,
}

/// An expectation that is not met.
#[derive(Clone, Debug)]
pub struct Miss {
    /// The key as it is written, from the case on.
    pub path: String,
    /// Where it is.
    pub span: Span,
    /// What is expected.
    pub want: serde_json::Value,
    /// What is; none where there is nothing to compare with.
    pub got: Option<serde_json::Value>,
    /// One sentence.
    pub message: String,
    /// Why the runtime that is expected was not chosen: codes with their details.
    pub reasons: Vec<(&'static str, String)>,
    /// What would make it win.
    pub flip: Option<Flip>,
}

impl Miss {
    /// Something that is stated about and is not there.
    pub fn absent(list: &str, stated: &Stated, what: &str, near: Option<&str>) -> Self {
        let near = near.map_or(String::new(), |near| format!(": did you mean `{near}`?"));
        Self {
            path: format!("{list}.{}", stated.name),
            span: stated.span,
            want: stated.name.as_str().into(),
            got: None,
            message: format!("there is no {what} `{}`{near}", stated.name),
            reasons: Vec::new(),
            flip: None,
        }
    }
}

/// Reads the cases of a document.
pub fn cases(root: &Node, found: &mut Vec<Diagnostic>) -> Vec<Case> {
    let mut reader = Reader { found };
    let Some(map) = reader.map(root, "the file") else { return Vec::new() };
    reader.known(map, &["cases"], "");
    let Some(cases) = map.get("cases") else {
        reader.required(root, "cases", "cases");
        return Vec::new();
    };
    let Value::List(items) = &cases.value else {
        reader.wrong(cases, "cases", "a list");
        return Vec::new();
    };
    items.iter().enumerate().filter_map(|(index, item)| reader.case(index, item)).collect()
}

/// Whether a key is one of a service.
fn is_key(key: &str) -> bool {
    SERVICE_KEYS.contains(&key) || key.strip_prefix("env.").is_some_and(|name| !name.is_empty())
}

struct Reader<'a> {
    found: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn map<'n>(&mut self, node: &'n Node, path: &str) -> Option<&'n Map> {
        let map = node.as_map();
        if map.is_none() {
            self.wrong(node, path, "a mapping");
        }
        map
    }

    fn wrong(&mut self, node: &Node, path: &str, expected: &str) {
        let message = format!("`{path}` must be {expected}, not {}", node.kind_name());
        self.found.push(
            Diagnostic::new(Code::InvalidType, message)
                .at(node.origin.span())
                .path(path)
                .help("`ome schema ome-test -o json-schema` prints the schema of the file"),
        );
    }

    fn required(&mut self, node: &Node, path: &str, key: &str) {
        self.found.push(
            Diagnostic::new(Code::RequiredField, format!("`{path}` is missing"))
                .at(node.origin.span())
                .path(path)
                .help(format!("add `{key}`")),
        );
    }

    fn known(&mut self, map: &Map, keys: &[&str], path: &str) {
        for entry in map {
            let key = entry.key.as_str();
            let of_service = keys == SERVICE_KEYS;
            if keys.contains(&key) || (of_service && is_key(key)) {
                continue;
            }
            let help = nearest(key, keys.iter().copied()).map_or_else(
                || format!("known are {}", keys.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let field = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            self.found.push(
                Diagnostic::new(Code::UnknownField, format!("no expectation has the key `{key}`"))
                    .at(entry.key_origin.span())
                    .path(field)
                    .help(help),
            );
        }
    }

    fn texts(&mut self, node: &Node, path: &str) -> Vec<(EcoString, Span)> {
        let Value::List(items) = &node.value else {
            self.wrong(node, path, "a list");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match (item.as_str(), item.origin.span()) {
                (Some(text), Some(span)) => texts.push((text.into(), span)),
                _ => self.wrong(item, path, "text"),
            }
        }
        texts
    }

    fn case(&mut self, index: usize, item: &Node) -> Option<Case> {
        let path = format!("cases[{index}]");
        let map = self.map(item, &path)?;
        self.known(map, &CASE_KEYS, &path);
        let name =
            map.get("name").filter(|name| name.as_str().is_some_and(|name| !name.is_empty()));
        let Some((name, span)) = name.and_then(|name| Some((name.as_str()?, name.origin.span()?)))
        else {
            self.required(item, &format!("{path}.name"), "name");
            return None;
        };
        let files = map.get("files").map(|files| {
            let texts = self.texts(files, &format!("{path}.files"));
            texts.into_iter().map(|(text, _)| text).collect()
        });
        let mut services = self.stated(map, "services", &path);
        for entry in map.get("services").into_iter().flat_map(Node::entries) {
            if let Some(map) = entry.node.as_map() {
                self.known(map, &SERVICE_KEYS, &format!("{path}.services.{}", entry.key));
            }
        }
        // A key that is unknown is a finding, and nothing to compare.
        for service in &mut services {
            service.values.retain(|expected| is_key(&expected.key));
        }
        let objects = self.stated(map, "objects", &path);
        let codes = map.get("findings").map(|codes| self.texts(codes, &format!("{path}.findings")));
        let findings = codes.unwrap_or_default();
        for (code, span) in &findings {
            if Code::finding(code).is_none() {
                let known = crate::diag::CODES.iter().map(|doc| doc.id);
                let help = nearest(code, known).map(|near| format!("did you mean `{near}`?"));
                self.found.push(
                    Diagnostic::new(
                        Code::InvalidValue,
                        format!("no finding has the code `{code}`"),
                    )
                    .at(*span)
                    .path(format!("{path}.findings"))
                    .help(help.unwrap_or_else(|| "`ome code` lists them".to_owned())),
                );
            }
        }
        Some(Case { name: name.into(), span, files, services, objects, findings })
    }

    fn stated(&mut self, case: &Map, key: &str, path: &str) -> Vec<Stated> {
        let Some(list) = case.get(key) else { return Vec::new() };
        let path = format!("{path}.{key}");
        let Some(map) = self.map(list, &path) else { return Vec::new() };
        let mut stated = Vec::new();
        for entry in map {
            let Some(span) = entry.key_origin.span() else { continue };
            let Some(values) = self.map(&entry.node, &format!("{path}.{}", entry.key)) else {
                continue;
            };
            let values = values.iter().filter_map(|value| {
                let (key, node) = (value.key.clone(), value.node.clone());
                Some(Expected { key, span: value.key_origin.span()?, value: node })
            });
            stated.push(Stated { name: entry.key.clone(), span, values: values.collect() });
        }
        stated
    }
}

/// What is stated about a service and is not so.
pub fn service(catalog: &Catalog, planned: &Planned<'_>, stated: &Stated) -> Vec<Miss> {
    let needs_leaves =
        |expected: &Expected| expected.key == "arg" || expected.key.starts_with("env.");
    let leaves = if stated.values.iter().any(needs_leaves) {
        merge(&Layers::new(catalog), planned)
    } else {
        Vec::new()
    };
    let judge = |expected: &Expected| of_service(catalog, planned, &leaves, stated, expected);
    stated.values.iter().filter_map(judge).collect()
}

/// The component that runs the model.
fn main(planned: &Planned<'_>) -> Option<ComponentKind> {
    let runs = |component: &&PlannedComponent| {
        matches!(component.kind, ComponentKind::Engine | ComponentKind::Predictor)
    };
    let components = &planned.components;
    components.iter().find(runs).or(components.first()).map(|component| component.kind)
}

fn of_service(
    catalog: &Catalog,
    planned: &Planned<'_>,
    leaves: &[MergedLeaf],
    stated: &Stated,
    expected: &Expected,
) -> Option<Miss> {
    let kind = main(planned);
    let component = planned.components.iter().find(|component| Some(component.kind) == kind);
    let of_main = |leaf: &&MergedLeaf| Some(leaf.component) == kind && !leaf.of_worker;
    let shown = |leaf: &MergedLeaf| leaf.leaf.shown.shown(&leaf.leaf.said.value).to_json();
    let want = &expected.value;
    let text = want.scalar_text();
    let key = expected.key.as_str();
    let chosen = planned.resolution.chosen();
    let (got, is_met) = match key {
        "runtime" => {
            let object = chosen.map(|runtime| &runtime.object);
            let wanted = text.as_deref().unwrap_or_default();
            let is = object.is_some_and(|object| names(wanted, object));
            let got = object.map(|object| object.id.name.to_string().into());
            (got, is || (object.is_none() && want.is_null()))
        }
        "accelerator" => {
            let own = |component: &ComponentKind| Some(*component) == kind;
            let mut decisions = planned.resolution.accelerators.iter();
            let class = decisions
                .find(|decision| own(&decision.component))
                .and_then(|decision| decision.chosen)
                .map(|class| class.name().to_string());
            plain(class.map(Into::into), want)
        }
        "mode" => {
            let word = |component: &PlannedComponent| {
                component.mode.word(planned.policy.api, planned.policy.semantics)
            };
            plain(component.map(|component| word(component).into()), want)
        }
        "gpus" => {
            plain(component.and_then(|component| serde_json::to_value(component.gpus()).ok()), want)
        }
        "fits" => {
            let fits: Vec<bool> = planned
                .components
                .iter()
                .filter_map(|component| Some(component.fit.as_ref()?.fits))
                .collect();
            let all = (!fits.is_empty()).then(|| fits.iter().all(|fits| *fits).into());
            plain(all, want)
        }
        "error" => {
            let code = planned.error.as_ref().map(|error| error.code.as_str());
            plain(code.map(Into::into), want)
        }
        "arg" => {
            let is_argument = |leaf: &&MergedLeaf| leaf.path.starts_with("args[");
            let arguments: Vec<&MergedLeaf> =
                leaves.iter().filter(of_main).filter(is_argument).collect();
            let has = |want: &Node| {
                arguments
                    .iter()
                    .any(|leaf| leaf.leaf.said.value.scalar_text() == want.scalar_text())
            };
            let is_met = match &want.value {
                Value::List(all) => all.iter().all(has),
                _ => has(want),
            };
            // Of a flag with another value, the value; all arguments would be a page.
            let flag = |text: &str| text.split(['=', ' ']).next().unwrap_or_default().to_owned();
            let wanted = text.as_deref().map(flag);
            let near = arguments
                .iter()
                .find(|leaf| leaf.leaf.said.value.scalar_text().map(|text| flag(&text)) == wanted);
            (near.map(|leaf| shown(leaf)), is_met)
        }
        _ => {
            let leaf = leaves.iter().filter(of_main).find(|leaf| leaf.path == key);
            let got = leaf.map(shown);
            let same = leaf.and_then(|leaf| leaf.leaf.said.value.scalar_text()) == text;
            (got, if want.is_null() { leaf.is_none() } else { same })
        }
    };
    if is_met {
        return None;
    }
    let wanted = match key.strip_prefix("env.") {
        Some(name) if names_secret(name) && !want.is_null() => MASK.into(),
        _ => secret::shown(want).to_json(),
    };
    let is = got.clone().unwrap_or_default();
    let mut miss = Miss {
        path: format!("services.{}.{key}", stated.name),
        span: expected.span,
        message: match (key, &got) {
            ("fits", None) => {
                format!(
                    "`fits` is expected to be {wanted}, and no Node is read that it could be judged on"
                )
            }
            _ => format!("`{key}` is expected to be {wanted} and is {is}"),
        },
        want: wanted,
        got: Some(is),
        reasons: Vec::new(),
        flip: None,
    };
    if let (Some(error), true) = (&planned.error, key != "error") {
        miss.reasons.push((error.code.as_str(), error.message.clone()));
    }
    if let ("runtime", Some(name)) = (key, &text) {
        why_not(catalog, planned, name, &mut miss);
    }
    Some(miss)
}

fn plain(got: Option<serde_json::Value>, want: &Node) -> (Option<serde_json::Value>, bool) {
    let is_met = got.clone().unwrap_or_default() == want.to_json();
    (got, is_met)
}

/// Whether a name is `NAME`, `KIND/NAME` or `KIND/NAMESPACE/NAME` of an object.
fn names(wanted: &str, object: &Object) -> bool {
    let id = &object.id;
    let namespace = id.scope.namespace().map(EcoString::as_str);
    let is_kind = |word: &str| schema::names_kind(word, &object.api_version, &id.kind);
    match wanted.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name == id.name,
        [kind, name] => is_kind(kind) && *name == id.name,
        [kind, own, name] => is_kind(kind) && *name == id.name && namespace == Some(own),
        _ => false,
    }
}

/// The rules that speak against a runtime, and the edit that would make it win.
fn why_not(catalog: &Catalog, planned: &Planned<'_>, wanted: &str, miss: &mut Miss) {
    let runtimes = catalog.runtimes(planned.service.object.api);
    let last = wanted.rsplit('/').next().unwrap_or(wanted);
    let Some(runtime) = named(runtimes, planned.service, last) else {
        let known = runtimes.iter().map(|runtime| runtime.object.id.name.as_str());
        let near =
            nearest(last, known).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
        miss.message = format!("there is no runtime `{wanted}`{near}");
        return;
    };
    let judged =
        crate::operators::judge(planned.policy, planned.resolution.model, planned.service, runtime);
    let said = |candidate: Candidate<'_>| {
        let reasons = candidate.reasons.iter();
        reasons
            .map(|rejection| (rejection.reason.code().as_str(), rejection.reason.to_string()))
            .collect::<Vec<_>>()
    };
    miss.reasons.extend(judged.into_iter().flat_map(said));
    miss.flip = Some(flip(planned.policy, catalog, planned.service, runtime));
}

/// What is stated about an object and is not so.
pub fn object(node: &Node, stated: &Stated) -> Vec<Miss> {
    let text = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default();
    let ty = schema::kind(text("apiVersion"), text("kind")).map(schema::Schema::root);
    let mut misses = Vec::new();
    for expected in &stated.values {
        let path = format!("objects.{}.{}", stated.name, expected.key);
        let mut miss = |got: Option<serde_json::Value>, message: String| {
            misses.push(Miss {
                path: path.clone(),
                span: expected.span,
                want: Place::at(node, &FieldPath::parse(&expected.key).unwrap_or_default())
                    .shown(&expected.value)
                    .to_json(),
                got,
                message,
                reasons: Vec::new(),
                flip: None,
            });
        };
        let key = &expected.key;
        let field = match FieldPath::parse(key) {
            Ok(field) => field,
            Err(why) => {
                miss(None, format!("the path `{key}` {why}"));
                continue;
            }
        };
        let found = node.select(&field);
        let is_met = match found.as_slice() {
            [] => expected.value.is_null(),
            found => {
                let ty = ty.and_then(|ty| ty.at(&fields(&field)));
                found.iter().all(|found| equal(found, &expected.value, ty))
            }
        };
        if !is_met {
            let place = Place::at(node, &field);
            let shown = |node: &Node| place.shown(node).to_json();
            let got = match found.as_slice() {
                [] => serde_json::Value::Null,
                [one] => shown(one),
                many => many.iter().copied().map(shown).collect(),
            };
            let message =
                format!("`{key}` is expected to be {} and is {got}", shown(&expected.value));
            miss(Some(got), message);
        }
    }
    misses
}

/// The names of the fields on a path; a type passes lists without a step.
fn fields(path: &FieldPath) -> Vec<&str> {
    let mut names = Vec::new();
    for segment in &path.0 {
        if let Segment::Field(name) = segment {
            names.push(name.as_str());
        }
    }
    names
}

/// Whether an object is the one that is stated about: `Kind/name` or `Kind/namespace/name`.
pub fn is_object(wanted: &str, node: &Node) -> bool {
    let version = node.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    let id = identity(node);
    let (kind, rest) = wanted.split_once('/').unwrap_or((wanted, ""));
    let (namespace, name) = match rest.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, rest),
    };
    let own = id.scope.namespace().map(EcoString::as_str);
    schema::names_kind(kind, version, &id.kind)
        && id.name == name
        && (namespace.is_none() || namespace == own)
}

/// Whether a service is the one that is stated about: `name` or `namespace/name`.
pub fn is_service(wanted: &str, planned: &Planned<'_>) -> bool {
    let service = planned.service;
    match wanted.split_once('/') {
        Some((namespace, name)) => service.namespace == namespace && service.name() == name,
        None => service.name() == wanted,
    }
}
