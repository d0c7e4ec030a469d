//! Reads the kinds of `serving.kserve.io`: InferenceService v1beta1, ServingRuntime and
//! ClusterServingRuntime v1alpha1 of v0.20.0, with the older spellings of the KServe 0.10 docs.

pub(crate) mod config;
mod containers;
pub(crate) mod legacy;
mod older;
mod values;

pub use super::llm::system::{is_of_system, of_objects as system_of_objects};
pub use super::openshift::cluster::{is_data_science_cluster, of_data_science_cluster};
pub use super::openshift::profile::{is_profile, profiles_by_name};
pub use super::openshift::storage::has_certificates;
pub use config::{config, is_config, knative_domains};
pub use legacy::{FRAMEWORKS, convert, previous};
pub use older::served;
pub use values::default_mode;

use crate::api::fields::{boolean, integer, text, texts};
use crate::api::{
    AcceleratorRequirements, AcceleratorWish, Component, ComponentKind, DecodedConfigs, Failure,
    Field, FormatEntry, InlineModel, Model, NamedVersion, Object, Predictor, Runtime,
    RuntimeConfigurations, RuntimeRef, Scope, Semantics, Service, Version,
};
use crate::diag::{Code, Diagnostic, Severity, known_names};
use crate::operators::kserve::rules::Rules as _;
use crate::policy::Policy;
use crate::schema;
use crate::yaml::{Node, Rule};
use ecow::EcoString;

/// Protocols of the data plane (KServe 0.10 docs, Data Plane).
pub(crate) use crate::select::format_name::PROTOCOLS;

static V2_SERVERS: Rule = Rule {
    id: "v2-server",
    text: "the default protocol of Triton and vLLM models is v2",
    cite: "inference_service_defaults.go",
};

/// Writes the defaults of the CRD into an object, as the API server does when it stores the object.
fn stored(object: &mut Object) {
    if let Some(schema) = schema::kind(&object.api_version, &object.id.kind) {
        schema.default(&mut object.node);
    }
}

/// Writes the defaults of the CRD into a ClusterStorageContainer. Its container gets the same
/// defaults as the containers of a runtime.
pub fn stored_container(object: &mut Object) {
    const RUNTIME: &str = "serving.kserve.io/v1alpha1";
    let containers = schema::kind(RUNTIME, "ClusterServingRuntime")
        .and_then(|schema| schema.root().at(&["spec", "containers"]));
    if let Some(schema::Type::List(item)) = containers
        && let Some(spec) = object.node.as_map_mut().and_then(|map| map.get_mut("spec"))
        && let Some(container) = spec.as_map_mut().and_then(|map| map.get_mut("container"))
    {
        item.ty.default(container);
    }
}

/// Reads a ServingRuntime or ClusterServingRuntime.
pub fn runtime(
    mut object: Object,
    semantics: Semantics,
    diagnostics: &mut Vec<Diagnostic>,
) -> Runtime {
    // The documents describe objects as they are written.
    if semantics == Semantics::Controller {
        stored(&mut object);
    }
    let formats: Vec<FormatEntry> = object
        .spec("supportedModelFormats")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .map(format_entry)
        .collect();
    let protocols = texts(object.spec("protocolVersions"));
    if semantics == Semantics::Documented {
        for protocol in
            protocols.iter().filter(|protocol| !PROTOCOLS.contains(&protocol.value.as_str()))
        {
            diagnostics.push(
                unknown_protocol(&protocol.value).severity(Severity::Warning).at(protocol.span()),
            );
        }
    }
    if semantics == Semantics::Documented {
        dashes(object.spec("containers"), diagnostics);
        for version in formats
            .iter()
            .filter_map(|entry| entry.format.as_ref()?.version.as_ref())
            .filter(|version| version.value.text().contains('.'))
        {
            diagnostics.push(
                Diagnostic::new(
                    Code::PreferMajorVersion,
                    format!("format version `{}` has more than a major part", version.value.text()),
                )
                .at(version.span())
                .help("versions are compared as text: prefer the major version alone"),
            );
        }
    }
    Runtime {
        formats,
        size_range: None,
        disabled: boolean(object.spec("disabled")),
        protocols,
        multi_model: boolean(object.spec("multiModel")),
        multi_node: object.spec("workerSpec").map(|worker| worker.origin),
        accelerator_classes: Vec::new(),
        accelerators: AcceleratorRequirements::default(),
        configurations: RuntimeConfigurations::default(),
        decoded: DecodedConfigs::default(),
        object,
    }
}

/// Reads a name and a version. A version is text and compared as text. A version that YAML reads as
/// a number is reported by the schema and treated as absent.
fn named_version(node: &Node) -> Option<NamedVersion> {
    let name = text(node.get("name")).filter(|name| !name.value.is_empty())?;
    let version = text(node.get("version"))
        .map(|version| Field::new(Version::parse(&version.value), version.origin));
    Some(NamedVersion { name, version, operator: None, weight: None })
}

fn format_entry(entry: &Node) -> FormatEntry {
    FormatEntry {
        legacy_name: None,
        legacy_version: None,
        format: named_version(entry),
        framework: None,
        architecture: None,
        quantization: None,
        diffusion: None,
        accelerator_config: None,
        auto_select: boolean(entry.get("autoSelect")),
        priority: integer(entry.get("priority")),
        origin: entry.origin,
    }
}

/// Reads an InferenceService by the rules of one policy. A framework key is read as the model that
/// it means.
pub fn service(mut object: Object, policy: &Policy, diagnostics: &mut Vec<Diagnostic>) -> Service {
    if policy.kserve().crd_defaults {
        stored(&mut object);
    }
    let namespace = match &object.id.scope {
        Scope::Namespace(namespace) => namespace.clone(),
        Scope::Cluster => "default".into(),
    };
    let mut refusal = None;
    let converted = match convert(&object.node, policy.semantics) {
        Ok(converted) => converted,
        Err(conflict) => {
            // A conflict is a finding and the reason why the service is not decided.
            refusal = Some(Box::new(Failure {
                code: conflict.code,
                message: conflict.message.clone(),
                help: None,
                span: conflict.span(),
            }));
            diagnostics.push(conflict.object(object.id.to_string()));
            None
        }
    };
    if let Some(converted) = &converted {
        diagnostics.push(
            Diagnostic::new(
                Code::DeprecatedField,
                format!("`spec.predictor.{}` is the previous schema", converted.framework.key),
            )
            .at(converted.span)
            .path(format!("spec.predictor.{}", converted.framework.key))
            .object(object.id.to_string())
            .help(format!("run `ome convert`, which writes `{}`", converted.snippet())),
        );
    }
    let empty = Node::map(object.node.origin);
    let spec = converted
        .as_ref()
        .map(|converted| &converted.spec)
        .or_else(|| object.node.get("spec"))
        .unwrap_or(&empty);
    if policy.semantics == Semantics::Documented {
        dashes(spec.at(&["predictor", "containers"]), diagnostics);
        argument_dashes(spec.at(&["predictor", "model", "args"]), diagnostics);
        if let Some(alibi) = spec.at(&["explainer", "alibi"]).filter(|_| refusal.is_none()) {
            refusal = Some(Box::new(Failure {
                code: Code::RemovedField,
                message: "`spec.explainer.alibi` is removed".into(),
                help: Some("use a custom explainer container: `containers: [{image: …}]`".into()),
                span: alibi.origin.span(),
            }));
        }
    }
    let model = spec.at(&["predictor", "model"]).filter(|model| model.as_map().is_some());
    let runtime = model
        .and_then(|model| text(model.get("runtime")))
        .map(|name| RuntimeRef { name, kind: None });
    let protocol = model.and_then(|model| protocol(model, policy, diagnostics));
    // The object is copied: a model is a kind of its own for the selection.
    let inline = model.map(|model| {
        let format = model.get("modelFormat").and_then(named_version);
        Box::new(InlineModel {
            model: Model::of_format(object.clone(), format),
            multi_node: spec
                .at(&["predictor", "workerSpec"])
                .is_some_and(|worker| !worker.is_null()),
        })
    });
    let mut components: Vec<Component> =
        ComponentKind::KSERVE.into_iter().filter_map(|kind| Component::of(kind, spec)).collect();
    // Large inputs have many services, so unused capacity adds up.
    components.shrink_to_fit();
    Service {
        protocol,
        accelerator_classes: Vec::new(),
        accelerators: AcceleratorWish::silent(),
        predictor: Predictor { migrated: converted.is_some(), ..Predictor::default() },
        namespace,
        model: None,
        runtime,
        inline,
        refusal,
        components,
        object,
    }
}

/// Reports container arguments that begin with an en or em dash, which servers do not parse as a
/// flag (KServe 0.10 docs, Serving Runtimes, attributes; docs/decisions.md#kserve-spellings).
fn dashes(containers: Option<&Node>, diagnostics: &mut Vec<Diagnostic>) {
    for container in containers.map(Node::items).unwrap_or_default() {
        argument_dashes(container.get("args"), diagnostics);
    }
}

fn argument_dashes(arguments: Option<&Node>, diagnostics: &mut Vec<Diagnostic>) {
    for argument in arguments.map(Node::items).unwrap_or_default() {
        if let Some(text) =
            argument.as_str().filter(|text| text.starts_with(['\u{2013}', '\u{2014}']))
        {
            diagnostics.push(
                Diagnostic::new(
                    Code::NonAsciiDash,
                    format!("the argument `{text}` begins with a dash that is not ASCII"),
                )
                .at(argument.origin.span())
                .help("type `-` or `--`"),
            );
        }
    }
}

/// The protocol that a model requests, else the one that the webhook sets for its format.
fn protocol(
    model: &Node,
    policy: &Policy,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Field<EcoString>> {
    let field = text(model.get("protocolVersion"));
    if let Some(field) = &field
        && policy.semantics == Semantics::Documented
        && !PROTOCOLS.contains(&field.value.as_str())
    {
        diagnostics.push(unknown_protocol(&field.value).severity(Severity::Error).at(field.span()));
    }
    let format = model.at(&["modelFormat", "name"]).and_then(Node::as_str);
    field.or_else(|| {
        let speaks_v2 = match format {
            Some("triton") => true,
            Some("vLLM") => policy.kserve().vllm_speaks_v2,
            _ => false,
        };
        speaks_v2.then(|| Field::new("v2".into(), crate::yaml::Origin::Default(&V2_SERVERS)))
    })
}

/// The version that is served instead of an older one of an InferenceService, which no release has
/// any more (KServe docs, Migration from KFServing).
pub fn not_served(api_version: &str, kind: &str) -> Option<&'static str> {
    let (group, version) = api_version.split_once('/')?;
    if kind != "InferenceService" {
        return None;
    }
    match group {
        "serving.kserve.io" if matches!(version, "v1alpha1" | "v1alpha2") => Some("v1beta1"),
        "serving.kubeflow.org" => Some("serving.kserve.io/v1beta1"),
        _ => None,
    }
}

/// The finding about a protocol that is not one of [`PROTOCOLS`].
pub fn unknown_protocol(name: &str) -> Diagnostic {
    Diagnostic::new(Code::UnknownProtocol, format!("unknown protocol `{name}`"))
        .help(known_names(name, &PROTOCOLS))
}
