//! InferenceServices as the user writes them.

use super::Failure;
use super::model::Model;
use super::object::{Field, Object};
use crate::yaml::Node;
use ecow::EcoString;
use std::sync::Arc;

/// A component of a service. Declaration order is the order in which the operator creates them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentKind {
    /// Runs the model; prefill when there is a decoder.
    Engine,
    /// Decodes in prefill-decode disaggregation.
    Decoder,
    /// Routes requests.
    Router,
    /// Runs the model, in KServe.
    Predictor,
    /// Changes requests before and responses after the predictor, in KServe.
    Transformer,
    /// Explains predictions, in KServe.
    Explainer,
    /// Runs a large language model, in KServe; it generates tokens when there is a prefill.
    Workload,
    /// Processes prompts of a large language model, in KServe.
    Prefill,
    /// Selects a pod for each request, in KServe.
    Scheduler,
    /// Tokenizes prompts for the scheduler, in KServe.
    Tokenizer,
    /// Watches the RayClusters of an engine, in OME.
    Prober,
}

impl ComponentKind {
    /// The components of OME in order.
    pub const OME: [Self; 3] = [Self::Engine, Self::Decoder, Self::Router];

    /// The components of KServe in order.
    pub const KSERVE: [Self; 3] = [Self::Predictor, Self::Transformer, Self::Explainer];

    /// The components of all operators.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::OME.into_iter().chain(Self::KSERVE)
    }

    /// Returns the name used as key in the service, as name suffix and as label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Decoder => "decoder",
            Self::Router => "router",
            Self::Predictor => "predictor",
            Self::Transformer => "transformer",
            Self::Explainer => "explainer",
            Self::Workload => "workload",
            Self::Prefill => "prefill",
            Self::Scheduler => "scheduler",
            Self::Tokenizer => "tokenizer",
            Self::Prober => "prober",
        }
    }

    /// Returns the key that configures it in a runtime. For a KServe component this is its own
    /// name, which is not a key of any runtime.
    pub fn config_key(self) -> &'static str {
        match self {
            Self::Engine => "engineConfig",
            Self::Decoder => "decoderConfig",
            Self::Router => "routerConfig",
            _ => self.as_str(),
        }
    }
}

/// The order in which the scopes are searched for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelLookup {
    /// BaseModel in the namespace, then ClusterBaseModel.
    NamespaceFirst,
    /// ClusterBaseModel, then BaseModel in the namespace; the migration of the deprecated form uses
    /// it.
    ClusterFirst,
}

/// The model that a service references.
#[derive(Clone, Debug)]
pub struct ModelRef {
    /// Name.
    pub name: Field<EcoString>,
    /// Kind, when it is set.
    pub kind: Option<Field<EcoString>>,
    /// Names of fine-tuned weights.
    pub fine_tuned: Vec<Field<EcoString>>,
    /// Search order of the scopes.
    pub lookup: ModelLookup,
}

/// A model that a service defines inline instead of a reference.
#[derive(Clone, Debug)]
pub struct InlineModel {
    /// The fields that selection uses, format and version, in the form of a model object.
    pub model: Model,
    /// True when the model must run on several nodes.
    pub multi_node: bool,
}

/// The runtime that a service references.
#[derive(Clone, Debug)]
pub struct RuntimeRef {
    /// Name.
    pub name: Field<EcoString>,
    /// Kind, when it is set.
    pub kind: Option<Field<EcoString>>,
}

/// State of the deprecated `spec.predictor`, which migration does not remove. The webhook and the
/// controller use different conditions to decide whether it is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Predictor {
    /// The migration built the engine from it.
    pub migrated: bool,
    /// The webhook treats it as in use and warns.
    pub warned: bool,
    /// The controller treats it as in use.
    pub used: bool,
}

/// One component of a service.
#[derive(Clone, Debug)]
pub struct Component {
    /// The component.
    pub kind: ComponentKind,
    /// The part of the service that configures it.
    pub node: Node,
}

impl Component {
    /// A component of the spec of a service, if it is there.
    pub(crate) fn of(kind: ComponentKind, spec: &Node) -> Option<Self> {
        let node = spec.get(kind.as_str()).filter(|node| node.as_map().is_some())?;
        Some(Self { kind, node: node.clone() })
    }
}

/// An InferenceService, read by the rules of one mode (the deprecated form is already migrated).
#[derive(Clone, Debug)]
pub struct Service {
    /// The object as read.
    pub object: Object,
    /// Namespace; `-n` or `default` when the object sets none.
    pub namespace: EcoString,
    /// `spec.model`.
    pub model: Option<ModelRef>,
    /// `spec.runtime` with a name.
    pub runtime: Option<RuntimeRef>,
    /// The model that the service defines inline.
    pub inline: Option<Box<InlineModel>>,
    /// The reason why an API server rejects it, if it does.
    pub refusal: Option<Box<Failure>>,
    /// Components that the service sets, in order.
    pub components: Vec<Component>,
    /// Protocol requested.
    pub protocol: Option<Field<EcoString>>,
    /// Accelerator classes that the service references (annotation, selector, component overrides),
    /// sorted, without duplicates.
    pub accelerator_classes: Vec<Field<EcoString>>,
    /// All its settings for accelerators.
    pub accelerators: Arc<super::AcceleratorWish>,
    /// State of the deprecated predictor form.
    pub predictor: Predictor,
}

impl Service {
    /// Returns the service's settings for a component.
    pub fn component(&self, kind: ComponentKind) -> Option<&Node> {
        self.components
            .iter()
            .find(|component| component.kind == kind)
            .map(|component| &component.node)
    }

    /// Returns the reason why its operator rejects it, if it does. The place is its name when no
    /// field is the cause.
    pub fn refused(&self) -> Option<Failure> {
        let refusal = self.refusal.as_deref()?.clone();
        Some(Failure { span: refusal.span.or_else(|| Some(self.object.name_span())), ..refusal })
    }

    /// Returns the name of the service.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }
}
