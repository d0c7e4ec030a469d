//! Go templates of a merged configuration, with the service as data
//! (pkg/controller/v1alpha2/llmisvc/config_merge.go, ReplaceVariables).
//!
//! In: the merged specification, the service as stored, the settings. Out: the specification with
//! every action replaced. The controller writes the whole configuration as JSON and expands it as
//! one template. A text whose actions begin and end in it has the same value when it is expanded
//! alone, and keeps its origin; the whole is one template only where an action reaches from one
//! text into another, or what an action prints breaks the text.

use super::convert::spec_type;
use super::rules::{POOL, SETTING, TEMPLATE};
use super::scene::Scene;
use crate::api::Failure;
use crate::merge::edit::mapping;
use crate::merge::history::{Filled, Recorder};
use crate::quantity::{go_json, names::child_name};
use crate::schema::{self, Library};
use crate::source::Span;
use crate::template::config::{Alone, Whole};
use crate::template::value::{ObjectValues, Struct};
use crate::template::{Data, Metadata, Ran};
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
pub(super) fn replace(
    scene: &Scene<'_>,
    node: &Node,
    merged: &Node,
    rec: &mut Recorder,
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
        spec: Struct::new(node, spec_type(), "v1alpha2.LLMInferenceServiceSpec"),
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
    // Origins are looked up only for actions that are recorded.
    let setting = |name: &str| setting_origin(scene, merged, name);
    let data = Data {
        metadata: object.node.get("metadata"),
        labels: None,
        annotations: None,
        spec: Some(node),
        setting: Some(&setting),
    };
    let mut walk =
        Walk { values: &values, data, keeps: rec.is_on(), filled: Vec::new(), broken: None };
    // The metadata of the service are part of the template; only an error in them has an effect.
    let mut metadata = object.node.get("metadata").cloned().unwrap_or_else(|| merged.clone());
    let mut expanded = merged.clone();
    walk.node(&mut metadata);
    walk.node(&mut expanded);
    if let Some(place) = walk.broken {
        // The whole template records its actions itself.
        walk.filled.clear();
        let whole = walk.whole(scene, merged);
        expanded =
            whole.map_err(|failure| Failure { span: place.span().or(failure.span), ..failure })?;
    }
    // After the walk: a broken text later on makes earlier records wrong.
    for (place, filled) in walk.filled {
        rec.fill(place, || filled);
    }
    Ok(expanded)
}

/// Who sets what templates read as `.GlobalConfig`.
fn setting_origin(scene: &Scene<'_>, merged: &Node, name: &str) -> Origin {
    let written = &scene.settings().written;
    let span = match name {
        "InferencePoolNamespacedName" => {
            let named = merged.at(&["router", "scheduler", "pool", "ref", "name"]);
            return named.map_or(Origin::Derived(&POOL), |named| named.origin);
        }
        "IngressGatewayName" | "IngressGatewayNamespace" => written.gateway,
        "ModelBasedRoutingHeaderName" => written.model_header,
        "EnableTLS" => written.tls,
        _ => None,
    };
    span.map_or(Origin::Default(&SETTING), Origin::File)
}

struct Walk<'v> {
    values: &'v ObjectValues<'v>,
    data: Data<'v>,
    /// Whether the actions are recorded.
    keeps: bool,
    /// The actions by the place of their text.
    filled: Vec<(Span, Filled)>,
    /// Where the first text is that is no template of its own.
    broken: Option<Origin>,
}

impl Walk<'_> {
    /// Expands a tree where it is. What holds no action stays shared with the trees that it was
    /// merged from.
    fn node(&mut self, node: &mut Node) {
        if let Some(expanded) = self.expanded(node) {
            node.value = expanded;
        }
    }

    /// The expanded value; none where it stays.
    fn expanded(&mut self, node: &Node) -> Option<Value> {
        // One broken text sends the whole tree to the long way: the rest need not be expanded.
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
                // A key cannot be replaced in place: that needs the template of the whole.
                if map.iter().any(|entry| entry.key.contains("{{")) {
                    self.broken.get_or_insert(node.origin);
                }
                if changed.is_empty() {
                    return None;
                }
                // Copied only now: a mapping without actions stays shared.
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
        if self.keeps {
            // Texts stand between the quotes of JSON in the template, so they are unquoted for the
            // record.
            for ran in expanded.of_actions(template.text()) {
                let [action, printed] =
                    [ran.action, ran.printed].map(|text| unquoted(text).unwrap_or(text.into()));
                self.filled(origin, Ran { action: &action, printed: &printed, ..ran });
            }
        }
        unquoted(expanded.text())
    }

    fn filled(&mut self, text: Origin, ran: Ran<'_>) {
        if let Some(place) = text.span().filter(|_| self.keeps) {
            let from = self.data.origin_of(ran, text);
            let (action, value) = (ran.action.into(), ran.printed.into());
            self.filled.push((place, Filled { action, value, from }));
        }
    }

    /// Expands the whole configuration as one text.
    fn whole(&mut self, scene: &Scene<'_>, merged: &Node) -> Result<Node, Failure> {
        let by = Origin::Derived(&TEMPLATE);
        let metadata = self.data.metadata.cloned().unwrap_or_else(|| Node::map(by));
        let tree = mapping([("metadata", metadata), ("spec", merged.clone())], by);
        let combine = |message: String| {
            scene.failure(format!("failed to combine base-configurations: {message}"))
        };
        let whole = Whole::new(&tree);
        let values = self.values;
        let expanded = whole.expand(values, &mut |text, ran| self.filled(text, ran));
        let expanded = expanded.map_err(|error| {
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
        let node = whole.read(&found);
        let spec = node.get("spec").cloned().unwrap_or_else(|| Node::map(by));
        // Decoding drops unknown fields and zero values, as the controller's struct does.
        schema::marshal(&spec, spec_type(), Library::V0_34)
            .map_err(|misfit| read(misfit.to_string()))
    }
}

/// A text from between the quotes of JSON.
fn unquoted(text: &str) -> Option<EcoString> {
    // Most texts have nothing to unescape: they are spared the JSON parser.
    if !text.bytes().any(|byte| matches!(byte, b'\\' | b'"' | ..=0x1f)) {
        return Some(text.into());
    }
    serde_json::from_str::<String>(&format!("\"{text}\"")).ok().map(EcoString::from)
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
            // Go's encoder sorts the keys of maps.
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
