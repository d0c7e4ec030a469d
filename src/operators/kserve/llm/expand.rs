//! Go templates of a merged configuration, with the service as data
//! (pkg/controller/v1alpha2/llmisvc/config_merge.go, ReplaceVariables).
//!
//! In: the merged specification, the service as stored, the settings. Out: the specification with
//! every action replaced. The controller writes the whole configuration as JSON and expands it as
//! one template. A text whose actions begin and end in it has the same value when it is expanded
//! alone, and keeps its origin; the whole is one template only where an action reaches from one
//! text into another, or what an action prints breaks the text.

use super::convert::spec_type;
use super::rules::TEMPLATE;
use super::scene::Scene;
use crate::api::Failure;
use crate::merge::history::{Filled, Record};
use crate::quantity::{go_json, names::child_name};
use crate::schema::{self, Library};
use crate::source::Span;
use crate::template::Metadata;
use crate::template::config::{Alone, expand};
use crate::template::value::{ObjectValues, Struct};
use crate::yaml::{Node, Origin, Value};
use ecow::EcoString;
use std::fmt::Write as _;

const SETTINGS: [&str; 6] = [
    "SystemNamespace",
    "IngressGatewayName",
    "IngressGatewayNamespace",
    "EnableTLS",
    "ModelBasedRoutingHeaderName",
    "InferencePoolNamespacedName",
];

/// The namespace and name of the cluster's gateway. Only two parts are a namespace and a name.
fn gateway(setting: &str, system: &str) -> (EcoString, EcoString) {
    match setting.split_once('/') {
        Some((namespace, name)) if !name.contains('/') => (namespace.into(), name.into()),
        _ => (system.into(), setting.into()),
    }
}

/// Expands a merged specification. `own` is the service's, without anything merged.
///
/// # Errors
/// When the controller cannot parse or execute the template or read its output, with its message.
pub(super) fn replace<R: Record>(
    scene: &Scene<'_>,
    own: &Node,
    mut merged: Node,
    rec: &mut R,
) -> Result<Node, Failure> {
    let object = &scene.service.object;
    let settings = scene.settings();
    let (namespace, name) = gateway(&settings.gateway, &settings.system);
    let pool = merged.at(&["router", "scheduler", "pool", "ref", "name"]).and_then(Node::as_str);
    let pool = pool.filter(|name| !name.is_empty()).map(EcoString::from);
    let pool = pool.unwrap_or_else(|| child_name(scene.name(), "-inference-pool"));
    let metadata = Metadata::of_object(&object.node, scene.namespace());
    let values = ObjectValues {
        metadata,
        spec: Struct::new(own, spec_type(), "v1alpha2.LLMInferenceServiceSpec"),
        kind: &object.id.kind,
        api_version: &object.api_version,
        type_name: "struct { *v1alpha2.LLMInferenceService; GlobalConfig llmisvc.templateGlobalConfig }",
        texts: vec![
            ("SystemNamespace", settings.system.clone()),
            ("IngressGatewayName", name),
            ("IngressGatewayNamespace", namespace),
            ("ModelBasedRoutingHeaderName", settings.model_header.clone()),
            ("InferencePoolNamespacedName", ecow::eco_format!("{}/{pool}", scene.namespace())),
        ],
        switches: vec![("EnableTLS", settings.tls)],
        setting_names: &SETTINGS,
    };
    let mut walk = Walk { values: &values, object: &object.node, rec, broken: None };
    // The metadata of the service are part of the template; only an error in them has an effect.
    let mut metadata = object.node.get("metadata").cloned().unwrap_or_else(|| merged.clone());
    let before = merged.clone();
    walk.node(&mut metadata);
    walk.node(&mut merged);
    match walk.broken {
        None => Ok(merged),
        Some(place) => whole(scene, &values, &before).map_err(|failure| Failure {
            span: place.span().filter(|_| true).or(failure.span),
            ..failure
        }),
    }
}

struct Walk<'v, R> {
    values: &'v ObjectValues<'v>,
    /// The service.
    object: &'v Node,
    rec: &'v mut R,
    /// Where the first text is that is no template of its own.
    broken: Option<Origin>,
}

impl<R: Record> Walk<'_, R> {
    /// Expands a tree where it is. What holds no action stays shared with the trees that it was
    /// merged from.
    fn node(&mut self, node: &mut Node) {
        if let Some(expanded) = self.expanded(node) {
            node.value = expanded;
        }
    }

    /// The expanded value; none where it stays.
    fn expanded(&mut self, node: &Node) -> Option<Value> {
        if self.broken.is_some() {
            return None;
        }
        match &node.value {
            Value::Str(text) if text.contains("{{") => {
                let expanded = self.text(text, node.origin);
                if expanded.is_none() {
                    self.broken = Some(node.origin);
                }
                expanded.map(Value::Str)
            }
            Value::List(items) => {
                let changed: Vec<(usize, Value)> = items
                    .iter()
                    .enumerate()
                    .filter_map(|(at, item)| Some((at, self.expanded(item)?)))
                    .collect();
                if changed.is_empty() {
                    return None;
                }
                let mut items = items.clone();
                for (at, value) in changed {
                    items.make_mut()[at].value = value;
                }
                Some(Value::List(items))
            }
            Value::Map(map) => {
                let changed: Vec<(usize, Value)> = map
                    .iter()
                    .enumerate()
                    .filter_map(|(at, entry)| Some((at, self.expanded(&entry.node)?)))
                    .collect();
                if map.iter().any(|entry| entry.key.contains("{{")) {
                    self.broken.get_or_insert(node.origin);
                }
                if changed.is_empty() {
                    return None;
                }
                let mut map = map.clone();
                let mut changed = changed.into_iter().peekable();
                for (at, entry) in map.iter_mut().enumerate() {
                    if let Some((_, value)) = changed.next_if(|(place, _)| *place == at) {
                        entry.node.value = value;
                    }
                }
                Some(Value::Map(map))
            }
            _ => None,
        }
    }

    /// The value of one text; none when it is no template of its own.
    fn text(&mut self, text: &EcoString, origin: Origin) -> Option<EcoString> {
        let template = Alone::of(text)?;
        let expanded = template.expand(self.values)?;
        if let Some(place) = origin.span().filter(|_| self.rec.keeps()) {
            for (action, value) in expanded.of_actions(template.text()) {
                let filled = || Filled {
                    action: unquoted(action).unwrap_or_else(|| action.into()),
                    value: unquoted(value).unwrap_or_else(|| value.into()),
                    from: read_by(self.object, action),
                };
                self.rec.filled(place, filled);
            }
        }
        unquoted(expanded.text())
    }
}

/// A text from between the quotes of JSON.
fn unquoted(text: &str) -> Option<EcoString> {
    if !text.bytes().any(|byte| matches!(byte, b'\\' | b'"' | ..=0x1f)) {
        return Some(text.into());
    }
    serde_json::from_str::<String>(&format!("\"{text}\"")).ok().map(EcoString::from)
}

/// Where the first field of the service is written that an action reads: `.Spec.Model.Name` is
/// `spec.model.name`.
fn read_by(object: &Node, action: &str) -> Option<Span> {
    let is_apart = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '|' | ',' | '"' | '`');
    let mut chains =
        action.split(is_apart).filter_map(|word| word.trim_start_matches('$').strip_prefix('.'));
    chains.find_map(|chain| field_of(object, chain)?.origin.span())
}

/// A field by the names of Go's struct, which differ from those of the manifest in their case.
fn field_of<'n>(object: &'n Node, chain: &str) -> Option<&'n Node> {
    let mut names = chain.split('.').peekable();
    let mut node = match names.next_if(|name| matches!(*name, "Spec" | "ObjectMeta")) {
        Some("Spec") => object.get("spec")?,
        Some(_) => object.get("metadata")?,
        // The metadata are part of the object itself.
        None => object.get("metadata").filter(|_| matches!(chain, "Name" | "Namespace"))?,
    };
    for name in names {
        node = &node.entries().find(|entry| entry.key.eq_ignore_ascii_case(name))?.node;
    }
    Some(node)
}

/// Expands the whole configuration as one text.
fn whole(scene: &Scene<'_>, values: &ObjectValues<'_>, merged: &Node) -> Result<Node, Failure> {
    let mut text = String::from("{\"metadata\":");
    match scene.service.object.node.get("metadata") {
        Some(metadata) => json(&mut text, metadata),
        None => text.push_str("{}"),
    }
    text.push_str(",\"spec\":");
    json(&mut text, merged);
    text.push('}');
    let combine = |message: String| {
        scene.failure(format!("failed to combine base-configurations: {message}"))
    };
    let expanded = expand(&text, values).map_err(|error| {
        let step = match error.kind {
            crate::template::ErrorKind::Syntax => "failed to parse template config",
            _ => "failed to merge config",
        };
        combine(format!("{step}: {}", error.message))
    })?;
    let read =
        |error: String| combine(format!("failed to unmarshal config from template: {error}"));
    let found: serde_json::Value =
        serde_json::from_str(&expanded).map_err(|error| read(error.to_string()))?;
    let node = Node::from_json(&found["spec"], Origin::Derived(&TEMPLATE));
    schema::marshal(&node, spec_type(), Library::V0_34).map_err(|misfit| read(misfit.to_string()))
}

/// A tree as Go's encoder writes it.
pub(super) fn json(out: &mut String, node: &Node) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => _ = write!(out, "{value}"),
        Value::Int(number) => _ = write!(out, "{number}"),
        Value::Big(number) => _ = write!(out, "{number}"),
        Value::Float(_) => out.push_str(&node.to_json().to_string()),
        Value::Str(text) => go_json::string(out, text),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                json(out, item);
            }
            out.push(']');
        }
        Value::Map(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|a, b| a.key.cmp(&b.key));
            out.push('{');
            for (index, entry) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                go_json::string(out, &entry.key);
                out.push(':');
                json(out, &entry.node);
            }
            out.push('}');
        }
    }
}
