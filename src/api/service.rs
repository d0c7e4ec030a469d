//! Services: InferenceServices as the user writes them.

use super::Failure;
use super::model::Model;
use super::object::{Field, Object};
use crate::yaml::{Node, Origin};
use ecow::EcoString;
use std::sync::Arc;

/// A component of a service. Declaration order is the order in which the operator writes them.
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
    /// Changes requests before and answers after they pass the predictor, in KServe.
    Transformer,
    /// Explains answers, in KServe.
    Explainer,
}

impl ComponentKind {
    /// The components of OME in order.
    pub const OME: [Self; 3] = [Self::Engine, Self::Decoder, Self::Router];

    /// The components of KServe in order.
    pub const KSERVE: [Self; 3] = [Self::Predictor, Self::Transformer, Self::Explainer];

    /// The word used as key of the service, as suffix of names and as label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Decoder => "decoder",
            Self::Router => "router",
            Self::Predictor => "predictor",
            Self::Transformer => "transformer",
            Self::Explainer => "explainer",
        }
    }

    /// The key of a runtime that configures it; of a component of KServe its own word, which no
    /// runtime has as a key.
    pub fn config_key(self) -> &'static str {
        match self {
            Self::Engine => "engineConfig",
            Self::Decoder => "decoderConfig",
            Self::Router => "routerConfig",
            Self::Predictor | Self::Transformer | Self::Explainer => self.as_str(),
        }
    }

    /// The one address that a component of KServe names, and where: its model or ART explainer,
    /// else the variable `STORAGE_URI` of the container that serves. A variable that takes its
    /// value from elsewhere counts as empty.
    pub fn storage_uri(self, component: &Node) -> Option<(EcoString, Origin)> {
        let said = |node: &Node| (node.scalar_text().unwrap_or_default(), node.origin);
        let text = |node: &Node, key: &str| {
            node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned()
        };
        if let Some(model) = component
            .get("model")
            .filter(|model| self == Self::Predictor && model.as_map().is_some())
        {
            return model.get("storageUri").filter(|uri| !uri.is_null()).map(said);
        }
        if let Some(art) =
            component.get("art").filter(|art| self == Self::Explainer && art.as_map().is_some())
        {
            return art.get("storageUri").map(said).filter(|(uri, _)| !uri.is_empty());
        }
        let containers = component.get("containers").map(Node::items).unwrap_or_default();
        let first = containers.first()?;
        // The only container of a predictor, and a first one without a name, will be called so.
        let serves = match self {
            Self::Predictor if containers.len() > 1 && !text(first, "name").is_empty() => {
                containers.iter().find(|container| text(container, "name") == "kserve-container")?
            }
            _ => first,
        };
        let variable = serves
            .get("env")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .find(|variable| text(variable, "name") == "STORAGE_URI")?;
        Some(variable.get("value").map_or((EcoString::new(), variable.origin), said))
    }
}

/// In which order the scopes are asked for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelLookup {
    /// BaseModel of the namespace, then ClusterBaseModel.
    NamespaceFirst,
    /// ClusterBaseModel, then BaseModel of the namespace: migration of the deprecated form.
    ClusterFirst,
}

/// The model a service names.
#[derive(Clone, Debug)]
pub struct ModelRef {
    /// Name.
    pub name: Field<EcoString>,
    /// Kind, when it is written.
    pub kind: Option<Field<EcoString>>,
    /// Names of fine-tuned weights.
    pub fine_tuned: Vec<Field<EcoString>>,
    /// Order of scopes.
    pub lookup: ModelLookup,
}

/// A model that a service describes itself instead of naming one.
#[derive(Clone, Debug)]
pub struct InlineModel {
    /// What selection asks of it: format and version, as of a model that is an object of its own.
    pub model: Model,
    /// It is to run on several nodes.
    pub multi_node: bool,
}

/// The runtime a service names.
#[derive(Clone, Debug)]
pub struct RuntimeRef {
    /// Name.
    pub name: Field<EcoString>,
    /// Kind, when it is written.
    pub kind: Option<Field<EcoString>>,
}

/// What there is of the deprecated `spec.predictor`, which migration leaves in place. The webhook
/// and the controller do not agree about what makes it one that is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Predictor {
    /// The engine was made of it.
    pub migrated: bool,
    /// The webhook takes it for used and warns.
    pub warned: bool,
    /// The controller takes it for used.
    pub used: bool,
}

/// What a service says of one component.
#[derive(Clone, Debug)]
pub struct Component {
    /// Which one.
    pub kind: ComponentKind,
    /// The service's part of it.
    pub node: Node,
}

/// An InferenceService, read by the rules of one semantics (the deprecated form is already
/// migrated).
#[derive(Clone, Debug)]
pub struct Service {
    /// The object as read.
    pub object: Object,
    /// Namespace; `default` or the one of `-n` when none is written.
    pub namespace: EcoString,
    /// `spec.model`.
    pub model: Option<ModelRef>,
    /// `spec.runtime` with a name.
    pub runtime: Option<RuntimeRef>,
    /// The model the service describes itself.
    pub inline: Option<Box<InlineModel>>,
    /// Why a server would not take it, when it would not.
    pub refusal: Option<Box<Failure>>,
    /// Components the service names, in order.
    pub components: Vec<Component>,
    /// Protocol requested.
    pub protocol: Option<Field<EcoString>>,
    /// Accelerator classes the service names (annotation, selector, component overrides), sorted,
    /// without repeats.
    pub accelerator_classes: Vec<Field<EcoString>>,
    /// Everything it says about accelerators.
    pub accelerators: Arc<super::AcceleratorWish>,
    /// What there is of the deprecated predictor form.
    pub predictor: Predictor,
}

impl Service {
    /// What the service says of a component.
    pub fn component(&self, kind: ComponentKind) -> Option<&Node> {
        self.components
            .iter()
            .find(|component| component.kind == kind)
            .map(|component| &component.node)
    }

    /// Why its operator does not accept it at all; at its name, where no field is to blame.
    pub fn refused(&self) -> Option<Failure> {
        let refusal = self.refusal.as_deref()?.clone();
        Some(Failure { span: refusal.span.or_else(|| Some(self.object.name_span())), ..refusal })
    }

    /// Name of the service.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }
}
