//! Compares expectations with the current results.

use super::actual::{answer, main};
use super::{Expected, Miss, Stated};
use crate::api::Object;
use crate::catalog::Catalog;
use crate::decision::Candidate;
use crate::diag::nearest;
use crate::diff::equal;
use crate::pipeline::Placement;
use crate::pipeline::built::identity;
use crate::pipeline::leaves::{MergedLeaf, merge};
use crate::pipeline::planned::Planned;
use crate::pipeline::what_if::{flip, named};
use crate::pipeline::why::Layers;
use crate::schema;
use crate::secret::{self, MASK, Place};
use crate::yaml::{FieldPath, Node, Segment, Value};
use ecow::EcoString;

/// The expectations about a service that are not met.
pub fn service(catalog: &Catalog, planned: &Planned<'_>, stated: &Stated) -> Vec<Miss> {
    let needs_leaves =
        |expected: &Expected| expected.key == "arg" || expected.key.starts_with("env.");
    // Merging all layers is the costly part, and few cases ask for arguments.
    let leaves = if stated.values.iter().any(needs_leaves) {
        merge(&Layers::new(catalog), planned)
    } else {
        Vec::new()
    };
    let judge = |expected: &Expected| of_service(catalog, planned, &leaves, stated, expected);
    stated.values.iter().filter_map(judge).collect()
}

fn of_service(
    catalog: &Catalog,
    planned: &Planned<'_>,
    leaves: &[MergedLeaf],
    stated: &Stated,
    expected: &Expected,
) -> Option<Miss> {
    let kind = main(planned).map(|component| component.kind);
    let of_main = |leaf: &&MergedLeaf| Some(leaf.component) == kind && !leaf.of_worker;
    let shown = |leaf: &MergedLeaf| leaf.leaf.shown.shown(&leaf.leaf.statement.value).to_json();
    let want = &expected.value;
    let text = want.scalar_text();
    let key = expected.key.as_str();
    let (got, is_met) = match key {
        "runtime" => {
            let object = planned.resolution.chosen().map(|runtime| &runtime.object);
            let wanted = text.as_deref().unwrap_or_default();
            let is = object.is_some_and(|object| names(wanted, object));
            // `null` expects that no runtime is chosen.
            (answer(planned, key), is || (object.is_none() && want.is_null()))
        }
        "accelerator" | "mode" | "gpus" | "fits" | "error" => {
            let got = answer(planned, key);
            let is_met = got.clone().unwrap_or_default() == want.to_json();
            (got, is_met)
        }
        "arg" => {
            let is_argument = |leaf: &&MergedLeaf| leaf.path.starts_with("args[");
            let arguments: Vec<&MergedLeaf> =
                leaves.iter().filter(of_main).filter(is_argument).collect();
            let has = |want: &Node| {
                arguments
                    .iter()
                    .any(|leaf| leaf.leaf.statement.value.scalar_text() == want.scalar_text())
            };
            let is_met = match &want.value {
                Value::List(all) => all.iter().all(has),
                _ => has(want),
            };
            // If the flag has another value, report that one; a list of all arguments would fill a
            // page.
            let flag = |text: &str| text.split(['=', ' ']).next().unwrap_or_default().to_owned();
            let wanted = text.as_deref().map(flag);
            let near = arguments.iter().find(|leaf| {
                leaf.leaf.statement.value.scalar_text().map(|text| flag(&text)) == wanted
            });
            (near.map(|leaf| shown(leaf)), is_met)
        }
        _ => {
            let leaf = leaves.iter().filter(of_main).find(|leaf| leaf.path == key);
            let got = leaf.map(shown);
            let same = leaf.and_then(|leaf| leaf.leaf.statement.value.scalar_text()) == text;
            (got, if want.is_null() { leaf.is_none() } else { same })
        }
    };
    if is_met {
        return None;
    }
    let wanted = match key.strip_prefix("env.") {
        Some(name) if secret::hides(name, text.as_deref().unwrap_or("-")) && !want.is_null() => {
            MASK.into()
        }
        _ => secret::shown(want).to_json(),
    };
    let is = got.clone().unwrap_or_default();
    let mut miss = Miss {
        path: format!("services.{}.{key}", stated.name),
        span: expected.span,
        message: match (key, &got) {
            ("fits", None) => {
                let placed = planned.components.iter().filter_map(|one| one.placement.as_ref());
                let why = match placed.clone().find_map(Placement::not_judged) {
                    Some(why) => format!("not judged: {why}"),
                    None if placed.count() > 0 => "unknown".to_owned(),
                    None => "unknown because no Node was read".to_owned(),
                };
                format!("`fits`: expected {wanted}, {why}")
            }
            _ => format!("`{key}`: expected {wanted}, got {is}"),
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

/// What is open of an expectation that is met: that pods have nodes says nothing of what admits and
/// starts them.
pub fn open(planned: &Planned<'_>, expected: &Expected) -> Option<String> {
    let is_fit = expected.key == "fits" && answer(planned, "fits") == Some(true.into());
    super::actual::open(planned).filter(|_| is_fit && expected.value.as_bool() == Some(true))
}

/// Whether `wanted` is `NAME`, `KIND/NAME` or `KIND/NAMESPACE/NAME` of an object.
fn names(wanted: &str, object: &Object) -> bool {
    let id = &object.id;
    let namespace = id.scope.namespace().map(EcoString::as_str);
    let is_kind = |word: &str| schema::names_kind(word, &object.api_version, &id.kind);
    match wanted.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name == id.name,
        [kind, name] => is_kind(kind) && *name == id.name,
        [kind, wanted, name] => is_kind(kind) && *name == id.name && namespace == Some(wanted),
        _ => false,
    }
}

/// Adds the rules that reject a runtime, and the edit that would make it chosen.
fn why_not(catalog: &Catalog, planned: &Planned<'_>, wanted: &str, miss: &mut Miss) {
    let runtimes = catalog.runtimes(planned.service.api);
    let last = wanted.rsplit('/').next().unwrap_or(wanted);
    let Some(service) = planned.read_in(catalog) else { return };
    // Nothing rejects a runtime that does not exist.
    let Some(runtime) = named(runtimes, service, last) else {
        let runtimes = runtimes.iter().map(|runtime| runtime.object.id.name.as_str());
        let near = nearest(last, runtimes)
            .map_or(String::new(), |near| format!(": did you mean `{near}`?"));
        miss.message = format!("there is no runtime `{wanted}`{near}");
        return;
    };
    let judged =
        crate::operators::judge(planned.policy, planned.resolution.model, service, runtime);
    let reasons_of = |candidate: Candidate<'_>| {
        let reasons = candidate.reasons.iter();
        reasons
            .map(|rejection| (rejection.reason.code().as_str(), rejection.reason.to_string()))
            .collect::<Vec<_>>()
    };
    miss.reasons.extend(judged.into_iter().flat_map(reasons_of));
    miss.flip = Some(flip(planned.policy, catalog, service, runtime));
}

/// The expectations about an object that are not met.
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
                // A path with `[*]` has several values, and all of them have to be equal.
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
            let message = format!("`{key}`: expected {}, got {got}", shown(&expected.value));
            miss(Some(got), message);
        }
    }
    misses
}

/// The names of the fields on a path; list elements need no step to find a type.
fn fields(path: &FieldPath) -> Vec<&str> {
    let mut names = Vec::new();
    for segment in &path.0 {
        if let Segment::Field(name) = segment {
            names.push(name.as_str());
        }
    }
    names
}

/// Whether `wanted` is `Kind/name` or `Kind/namespace/name` of an object.
pub fn is_object(wanted: &str, node: &Node) -> bool {
    let version = node.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    let id = identity(node);
    let (kind, rest) = wanted.split_once('/').unwrap_or((wanted, ""));
    let (namespace, name) = match rest.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, rest),
    };
    let scope = id.scope.namespace().map(EcoString::as_str);
    schema::names_kind(kind, version, &id.kind)
        && id.name == name
        && (namespace.is_none() || namespace == scope)
}

/// Whether `wanted` is `name` or `namespace/name` of a service.
pub fn is_service(wanted: &str, planned: &Planned<'_>) -> bool {
    let service = &planned.service;
    match wanted.split_once('/') {
        Some((namespace, name)) => service.namespace == namespace && service.name == name,
        None => service.name == wanted,
    }
}
