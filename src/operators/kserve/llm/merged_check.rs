//! The check of a merged specification, as the controller asks the API server for it
//! (pkg/controller/v1alpha2/llmisvc/config_merge.go, reconcileBaseRefs).

use super::scene::{Scene, at_mut, put, take};
use super::validate;
use crate::api::Failure;
use crate::api::Object;
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::edit::text;
use crate::operators::kserve::LLM_KIND;
use crate::schema;
use crate::source::SourceMap;
use crate::yaml::{Node, Value};
use ecow::EcoString;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Fields whose texts differ from service to service, and that no rule compares with another field,
/// with one exception: the names of a model and of its adapters.
const FREE: [&str; 6] = ["annotations", "labels", "name", "template", "uri", "worker"];

/// The fields that a specification sets, with those of their values that rules compare with values
/// of the configurations below it, and these configurations. `spec` is the result of the merge.
pub(super) fn fingerprint(node: &Node, applied: &[Applied<'_>], spec: &Node) -> u64 {
    fn shape(node: &Node, is_free: bool, into: &mut DefaultHasher) {
        match &node.value {
            Value::Map(map) => {
                map.len().hash(into);
                for entry in map {
                    entry.key.hash(into);
                    shape(&entry.node, is_free || FREE.contains(&entry.key.as_str()), into);
                }
            }
            Value::List(items) => {
                items.len().hash(into);
                items.iter().for_each(|item| shape(item, is_free, into));
            }
            // What the merge and the templates see of a text.
            Value::Str(text) if is_free => (text.is_empty(), text.contains("{{")).hash(into),
            Value::Str(text) => text.hash(into),
            Value::Int(number) => number.hash(into),
            Value::Bool(value) => value.hash(into),
            Value::Null => {}
            Value::Big(number) => number.hash(into),
            Value::Float(number) => number.to_bits().hash(into),
        }
    }
    let mut into = DefaultHasher::new();
    shape(node, false, &mut into);
    // By identity: the configurations of a run do not change.
    for config in applied {
        config.found.map(|object| &object.id).hash(&mut into);
    }
    // The service names the model, and a configuration may have the adapter of that name.
    let model = spec.get("model");
    let adapters = model.and_then(|model| model.at(&["lora", "adapters"]));
    let name = model.map(|model| text(model, "name"));
    let mut adapters = adapters.map(Node::items).unwrap_or_default().iter();
    adapters.any(|adapter| Some(text(adapter, "name")) == name).hash(&mut into);
    into.finish()
}

/// What the API server would refuse of the merged specification: schema, rules of the definition,
/// and the webhook.
pub(super) fn dry_run(scene: &Scene<'_>, spec: &Node) -> Result<(), Failure> {
    let object = &scene.service.object;
    let mut object = object.clone();
    let mut checked = spec.clone();
    // The text of a ConfigMap is read for this check only.
    if let Some(config) = at_mut(&mut checked, &["router", "scheduler", "config"])
        && let Some(text) = config.get("inline").and_then(Node::as_str)
        // The schema expects an object there.
        && let Some(read) = super::names_of_plugins::parsed(text)
    {
        put(config, "inline", read);
    }
    // Go leaves an empty name of the autoscaler out.
    for path in [
        &["scaling", "keda"][..],
        &["scaling", "wva", "keda"],
        &["prefill", "scaling", "keda"],
        &["prefill", "scaling", "wva", "keda"],
    ] {
        let scaler = at_mut(&mut checked, path)
            .and_then(|keda| at_mut(keda, &["advanced", "horizontalPodAutoscalerConfig"]));
        if let Some(scaler) = scaler.filter(|scaler| text(scaler, "name").is_empty()) {
            take(scaler, "name");
        }
    }
    put(&mut object.node, "spec", checked);
    let mut found = Vec::new();
    if let Some(schema) = schema::kind(super::convert::STORED, LLM_KIND) {
        // The controller sends its Go struct: fields without `omitempty` are there with zero
        // values.
        schema.fill_zeroes(&mut object.node);
        schema.default(&mut object.node);
        let none = SourceMap::default();
        schema.check(&object.node, schema::Strictness::Server, &none, &mut found);
        found.extend(schema.broken_rules(&object.node, &none).into_iter().map(|broken| {
            Diagnostic::new(Code::InvalidInput, broken.message).at(broken.span).path(broken.path)
        }));
    }
    found.retain(|finding| {
        // Unknown fields were pruned or never decoded, so the server does not see them.
        finding.severity == Severity::Error && finding.code != Code::UnknownField
    });
    found.extend(validate::service(&object));
    let Some(first) = found.into_iter().find(|finding| finding.severity == Severity::Error) else {
        return Ok(());
    };
    let failure = scene.failure(format!(
        "the merged configuration is refused: {}{}",
        first.path.as_deref().map(|path| format!("{path}: ")).unwrap_or_default(),
        first.message
    ));
    Err(Failure { span: first.span().or(failure.span), help: first.help, ..failure })
}

/// A configuration that a service asks for.
#[derive(Clone, Debug)]
pub(crate) struct Applied<'a> {
    pub(crate) name: EcoString,
    /// Its name without prefix where the controller selects it; none where the service names it.
    pub(crate) preset: Option<&'static str>,
    /// Where it was found; none when it was not read.
    pub(crate) found: Option<&'a Object>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    fn of(stored: &str, merged: &str) -> u64 {
        let read = |text: &str| {
            parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.expect("a mapping")
        };
        fingerprint(&read(stored), &[], &read(merged))
    }

    #[test]
    fn services_share_a_check_only_if_no_rule_can_tell_them_apart() {
        let adapter = "lora: {adapters: [{name: a}]}";
        let named = |name: &str| {
            of(
                &format!("{{model: {{name: {name}, uri: 'hf://{name}'}}}}"),
                &format!("{{model: {{name: {name}, {adapter}}}}}"),
            )
        };
        assert_eq!(named("one"), named("two"));
        assert_ne!(named("one"), named("a"), "an adapter must not have the name of the model");
        let cache = |cpu: &str| of(&format!("{{kvCacheOffloading: {{cpu: {cpu}}}}}"), "{}");
        assert_ne!(cache("0Gi"), cache("1Gi"), "tiers below need memory above");
    }
}
