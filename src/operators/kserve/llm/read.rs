//! Reads LLMInferenceService and LLMInferenceServiceConfig as the API server stores them: unknown
//! fields pruned, defaults of the definition filled in, the defaulting webhook applied, v1alpha2.

use super::convert::{self, STORED};
use super::rules::DEFAULTER;
use super::scene::{at_mut, put, take};
use super::validate;
use crate::api::{AcceleratorWish, Failure, Object, OperatorConfig, Predictor, Scope, Service};
use crate::diag::{Code, Diagnostic};
use crate::merge::edit::map_mut;
use crate::policy::Policy;
use crate::schema::{self, Library};
use crate::yaml::{Node, Origin};
use ecow::eco_format;

const BY: Origin = Origin::Derived(&DEFAULTER);
/// Label of a group of services.
pub(super) const GROUP_LABEL: &str = "serving.kserve.io/routing-group";

/// Brings an object into the stored form, up to the conversion.
fn stored(object: &mut Object) {
    if let Some(schema) = schema::kind(&object.api_version, &object.id.kind) {
        // First, so that defaults are not filled into objects that are not stored.
        schema::prune(&mut object.node, schema.root());
        schema.default(&mut object.node);
    }
    if object.api_version != STORED {
        convert::stored(&mut object.node);
        object.api_version = STORED.into();
    }
}

/// Reads a configuration. Its specification is as the controller decodes it, so that each merge
/// finds it ready.
pub(crate) fn config(mut object: Object, findings: &mut Vec<Diagnostic>) -> Object {
    stored(&mut object);
    findings.extend(validate::config(&object));
    // A configuration that does not decode keeps its tree: the merge reports the misfit.
    if let Some(spec) = object.node.get("spec")
        && let Ok(decoded) = schema::marshal(spec, convert::spec_type(), Library::V0_34)
    {
        put(&mut object.node, "spec", decoded);
    }
    object
}

pub(crate) fn service(mut object: Object, _: &Policy, findings: &mut Vec<Diagnostic>) -> Service {
    stored(&mut object);
    let namespace = match &object.id.scope {
        Scope::Namespace(namespace) => namespace.clone(),
        Scope::Cluster => "default".into(),
    };
    let name = object.id.name.clone();
    if object.node.get("spec").is_none_or(|spec| spec.as_map().is_none()) {
        put(&mut object.node, "spec", Node::map(BY));
    }
    if let Some(spec) = at_mut(&mut object.node, &["spec"]) {
        // The defaulting webhook names the model after the service.
        let unnamed = spec.at(&["model", "name"]).is_none_or(|name| name.as_str() == Some(""));
        if let Some(model) = map_mut(spec, "model", BY).filter(|_| unnamed) {
            model.insert("name", Node::str(name, BY));
        }
        lowered(spec);
    }
    let group = object.spec("router").and_then(|router| router.at(&["route", "group"])).cloned();
    if let Some(metadata) = at_mut(&mut object.node, &["metadata"]) {
        match group {
            Some(group) => {
                if let Some(labels) = map_mut(metadata, "labels", BY) {
                    labels.insert(GROUP_LABEL, group);
                }
            }
            None => {
                // A label left over from a copied manifest would add the service to the group.
                if let Some(labels) = at_mut(metadata, &["labels"]) {
                    take(labels, GROUP_LABEL);
                }
            }
        }
    }
    let refused = validate::service(&object);
    // The webhook stops at its first error; all of them are findings.
    let refusal = refused.first().map(|first| {
        Box::new(Failure {
            code: first.code,
            message: first.message.clone(),
            help: first.help.clone(),
            span: first.span(),
        })
    });
    findings.extend(refused);
    Service {
        protocol: None,
        accelerator_classes: Vec::new(),
        accelerators: AcceleratorWish::silent(),
        predictor: Predictor::default(),
        namespace,
        model: None,
        runtime: None,
        inline: None,
        refusal,
        components: Vec::new(),
        object,
    }
}

/// The scheme of a URI is in small letters once Go has parsed it.
fn lowered(spec: &mut Node) {
    let Some(uri) = at_mut(spec, &["model", "uri"]) else { return };
    let Some((scheme, rest)) = uri.as_str().and_then(|text| text.split_once("://")) else { return };
    if scheme.bytes().any(|byte| byte.is_ascii_uppercase()) {
        *uri = Node::str(eco_format!("{}://{rest}", scheme.to_ascii_lowercase()), uri.origin);
    }
}

/// Refuses a service whose settings cannot be read.
pub(crate) fn refusal(service: &Service, config: &OperatorConfig) -> Option<Failure> {
    let message = config.kserve.llm.error.as_ref()?;
    Some(Failure::of(service, Code::InvalidInput, message.as_str()))
}
