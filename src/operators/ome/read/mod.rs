//! OME, group `ome.io`: pkg/apis/ome/v1beta1 of v0.1.5, with the older spellings of its
//! documentation.

pub mod accelerator;
pub(crate) mod config;
pub(crate) mod formats;
pub(crate) mod predictor;

use crate::api::fields::{Reader, boolean, diffusion, integer, text, texts};
use crate::api::{
    Completion, Component, ComponentKind, DecodedConfigs, Field, FineTunedWeight, FormatEntry,
    Model, ModelLookup, ModelRef, Object, Predictor, Runtime, RuntimeRef, Scope, Semantics,
    Service, SizeRange,
};
use crate::diag::{Code, Diagnostic, known_names};
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;
use crate::yaml::{Node, Origin, Rule};
use ecow::EcoString;

pub use config::config;
pub use formats::{current_formats, previous_formats};
pub use predictor::migrate;

/// API group of every kind.
pub const GROUP: &str = "ome.io";

/// Annotation that names an accelerator class.
pub const ACCELERATOR_CLASS: &str = "ome.io/accelerator-class";

/// Annotation that requests a protocol: this tool's own (OME docs, Serving Runtime, Protocol
/// Version Support; docs/decisions.md#protocols).
pub const PROTOCOL: &str = "ome.io/protocol";

/// Protocols that the documentation names (OME docs, Serving Runtime, Core Configuration;
/// docs/decisions.md#protocols).
pub const PROTOCOLS: [&str; 4] = ["openAI", "cohere", "openInference-v1", "openInference-v2"];

static IMPLIED_ENGINE: Rule = Rule {
    id: "implied-engine",
    text: "a service without components has an engine, as its runtime configures it",
    cite: "OEP-0003, Story 1; docs/decisions.md#implied-engine; OME docs, Serving Runtime, Router Configuration",
};

/// Reads a BaseModel or ClusterBaseModel, completed with facts from other sources.
pub fn model(
    mut object: Object,
    completion: Completion,
    semantics: Semantics,
    diagnostics: &mut Vec<Diagnostic>,
) -> Model {
    let mut reader = Reader { semantics, diagnostics };
    // Before anything is read, so that each reader sees one spec.
    complete(&mut object.node, &completion);
    let format = reader.named_version(object.spec("modelFormat"));
    let framework = reader.named_version(object.spec("modelFramework"));
    let size = reader.size(object.spec("modelParameterSize"), "modelParameterSize");
    Model {
        format,
        framework,
        architecture: text(object.spec("modelArchitecture")),
        quantization: text(object.spec("quantization")),
        size,
        diffusion: diffusion(object.spec("diffusionPipeline")),
        disabled: object.spec("disabled").and_then(Node::as_bool).unwrap_or(false),
        completion,
        object,
    }
}

/// Adds known facts to the spec, so that later readers find them there.
fn complete(model: &mut Node, completion: &Completion) {
    if completion.fields.is_empty() {
        return;
    }
    let Some(object) = model.as_map_mut() else { return };
    if object.get("spec").is_none_or(Node::is_null) {
        object.insert("spec", Node::map(completion.fields[0].value.origin));
    }
    // A spec that is no mapping was reported by the schema.
    let Some(spec) = object.get_mut("spec").and_then(Node::as_map_mut) else { return };
    for field in &completion.fields {
        spec.insert_at(&field.path, &field.value);
    }
}

/// Reads a FineTunedWeight.
pub fn fine_tuned_weight(object: Object) -> FineTunedWeight {
    FineTunedWeight { object }
}

/// Reads a ServingRuntime or ClusterServingRuntime.
pub fn runtime(object: Object, semantics: Semantics, diagnostics: &mut Vec<Diagnostic>) -> Runtime {
    let mut reader = Reader { semantics, diagnostics };
    let formats = object
        .spec("supportedModelFormats")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .map(|entry| format_entry(entry, &mut reader))
        .collect();
    let size_range =
        object.spec("modelSizeRange").filter(|range| range.as_map().is_some()).map(|range| {
            SizeRange {
                min: reader.size(range.get("min"), "modelSizeRange.min"),
                max: reader.size(range.get("max"), "modelSizeRange.max"),
                origin: range.origin,
            }
        });
    Runtime {
        formats,
        size_range,
        disabled: boolean(object.spec("disabled")),
        protocols: texts(object.spec("protocolVersions")),
        multi_model: None,
        multi_node: None,
        accelerator_classes: texts(object.node.at(&[
            "spec",
            "acceleratorRequirements",
            "acceleratorClasses",
        ])),
        accelerators: accelerator::requirements(object.spec("acceleratorRequirements")),
        configurations: accelerator::of_runtime(&object, semantics),
        decoded: DecodedConfigs::default(),
        object,
    }
}

fn format_entry(entry: &Node, reader: &mut Reader<'_>) -> FormatEntry {
    let legacy_name = text(entry.get("name"));
    let format = reader.named_version(entry.get("modelFormat"));
    if let (Some(legacy), Some(format)) = (&legacy_name, &format)
        // The controller's API has no `name` in an entry: the CRD prunes it.
        && reader.semantics == Semantics::Documented
        && legacy.value != format.name.value
    {
        reader.report(
            Diagnostic::new(
                Code::ConflictingFields,
                format!(
                    "`name: {}` contradicts `modelFormat.name: {}`",
                    legacy.value, format.name.value
                ),
            )
            .at(legacy.span())
            .label(format.name.span(), "modelFormat.name")
            .help("delete the deprecated `name`"),
        );
    }
    if let (Some(legacy), None) = (&legacy_name, &format) {
        reader.report_documented(
            Diagnostic::new(
                Code::DeprecatedField,
                format!("`name: {}` is deprecated", legacy.value),
            )
            .at(legacy.span())
            .path("supportedModelFormats[].name")
            .help(format!("write `modelFormat: {{name: {}}}`", legacy.value)),
        );
    }
    FormatEntry {
        legacy_version: entry
            .get("version")
            .filter(|_| format.is_none())
            .and_then(|version| reader.version(version)),
        legacy_name,
        format,
        framework: reader.named_version(entry.get("modelFramework")),
        architecture: text(entry.get("modelArchitecture")),
        quantization: text(entry.get("quantization")),
        diffusion: diffusion(entry.get("diffusionPipeline")),
        accelerator_config: entry
            .get("acceleratorConfig")
            .filter(|config| config.as_map().is_some())
            .cloned(),
        auto_select: boolean(entry.get("autoSelect")),
        priority: integer(entry.get("priority")),
        origin: entry.origin,
    }
}

/// Reads an InferenceService under one policy. The deprecated predictor form is migrated first.
pub fn service(object: Object, policy: &Policy, diagnostics: &mut Vec<Diagnostic>) -> Service {
    let namespace = match &object.id.scope {
        Scope::Namespace(namespace) => namespace.clone(),
        Scope::Cluster => "default".into(),
    };
    let migrated = predictor::migrate(&object.node, policy.semantics);
    let (spec, lookup) = match &migrated {
        Some(migration) => (migration.spec.clone(), migration.lookup),
        None => (
            object.node.get("spec").cloned().unwrap_or_else(|| Node::map(object.node.origin)),
            ModelLookup::NamespaceFirst,
        ),
    };
    // Also where it is not migrated, as beside an engine.
    if object.spec("predictor").is_some_and(|predictor| !predictor.is_empty()) {
        diagnostics.push(
            Diagnostic::new(Code::DeprecatedField, "`spec.predictor` is deprecated")
                .at(object
                    .node
                    .get("spec")
                    .and_then(Node::as_map)
                    .and_then(|spec| spec.entry("predictor"))
                    .and_then(|entry| entry.key_origin.span()))
                .path("spec.predictor")
                .help("run `ome convert` to write it as `model`, `runtime` and `engine`"),
        );
    }
    let model = spec.get("model").and_then(|model| {
        Some(ModelRef {
            // In Go an empty name is a name that is not set.
            name: text(model.get("name")).filter(|name| !name.value.is_empty())?,
            kind: text(model.get("kind")).filter(|kind| !kind.value.is_empty()),
            fine_tuned: texts(model.get("fineTunedWeights")),
            lookup,
        })
    });
    let runtime = spec.get("runtime").and_then(|runtime| {
        Some(RuntimeRef {
            name: text(runtime.get("name")).filter(|name| !name.value.is_empty())?,
            kind: text(runtime.get("kind")),
        })
    });
    let mut components: Vec<Component> =
        ComponentKind::OME.into_iter().filter_map(|kind| Component::of(kind, &spec)).collect();
    if policy.ome().implied_engine
        && !components.iter().any(|component| component.kind == ComponentKind::Engine)
        && !components.iter().any(|component| component.kind == ComponentKind::Decoder)
    {
        components.insert(
            0,
            Component {
                kind: ComponentKind::Engine,
                node: Node::map(Origin::Default(&IMPLIED_ENGINE)),
            },
        );
    }
    // A fleet has many services, so unused capacity is released.
    components.shrink_to_fit();
    Service {
        protocol: protocol(&object, policy, diagnostics),
        accelerator_classes: accelerator_classes(&object, &spec),
        accelerators: accelerator::wish(&object, &spec, policy.semantics),
        predictor: Predictor {
            migrated: migrated.is_some(),
            warned: object.spec("predictor").is_some_and(predictor::used),
            used: object.spec("predictor").is_some_and(|form| {
                predictor::used_by_controller(form, policy.ome().predictor_used_by_most)
            }),
        },
        namespace,
        model,
        runtime,
        inline: None,
        refusal: None,
        components,
        object,
    }
}

/// The annotation, else the field of the deprecated form (OME docs, Serving Runtime, Protocol
/// Version Support; docs/decisions.md#protocols).
fn protocol(
    object: &Object,
    policy: &Policy,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Field<EcoString>> {
    let annotated = text(object.annotation(PROTOCOL));
    if let Some(annotation) = &annotated
        && policy.semantics == Semantics::Documented
    {
        diagnostics.push(
            Diagnostic::new(
                Code::ProtocolAnnotation,
                format!(
                    "the protocol {} is requested by the annotation `{PROTOCOL}`",
                    annotation.value
                ),
            )
            .at(annotation.span())
            .help("not used upstream"),
        );
    }
    let field = annotated
        // The field of the original form: migration does not carry it over.
        .or_else(|| text(object.node.at(&["spec", "predictor", "model", "protocolVersion"])));
    if let Some(field) = &field
        && policy.semantics == Semantics::Documented
        && !PROTOCOLS.contains(&field.value.as_str())
    {
        diagnostics.push(unknown_protocol(&field.value).at(field.span()));
    }
    field
}

/// The finding about an unknown protocol.
pub fn unknown_protocol(name: &str) -> Diagnostic {
    Diagnostic::new(Code::UnknownProtocol, format!("unknown protocol `{name}`"))
        .help(known_names(name, &PROTOCOLS))
}

/// Union of annotation, selector and component overrides. A class that is set to an empty text is
/// included.
fn accelerator_classes(object: &Object, spec: &Node) -> Vec<Field<EcoString>> {
    let mut classes: Vec<Field<EcoString>> = [
        object.annotation(ACCELERATOR_CLASS),
        spec.at(&["acceleratorSelector", "acceleratorClass"]),
        spec.at(&["engine", "acceleratorOverride", "acceleratorClass"]),
        spec.at(&["decoder", "acceleratorOverride", "acceleratorClass"]),
    ]
    .into_iter()
    .filter_map(text)
    .collect();
    // Sorted, so that one class in several places is adjacent and counts once.
    classes.sort_by(|a, b| a.value.cmp(&b.value));
    classes.dedup_by(|a, b| a.value == b.value);
    classes
}
