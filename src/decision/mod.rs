//! Decisions as data: what was chosen, among what, and why not the others.
//!
//! In: answers of `resolve`. Out: values that `report` words and `compose` follows. No verbs here:
//! nothing is decided and nothing is worded.

mod accelerator;
mod cache;
mod kserve;
mod queue;
mod reason;
mod runtime;

pub use accelerator::{
    AcceleratorBasis, AcceleratorDecision, ClassCandidate, ClassDecidedBy, ClassReason, Evidence,
    JudgedPreference, KnownCapability, Requirement, ScoreTerms, Share, Thrift, Truth,
};
pub use cache::{CacheFit, Operand};
pub use kserve::{KSERVE_MODE_ANNOTATION, kserve_mode};
pub use queue::{Admitted, FlavorRejection, QueueDecision};
pub use reason::{Note, Reason, Rejection, range_text};
pub use runtime::{
    Attribute, Basis, Candidate, Check, CheckResult, DecidedBy, EntryChecks, Protocol, Rank,
    RuntimeDecision, Step, Verdict,
};

use crate::api::{Api, ComponentKind, Model, Runtime};
use crate::diag::Code;
use crate::policy::Semantics;
use crate::source::Span;

/// Why a service cannot be planned.
#[derive(Clone, Debug)]
pub struct ServiceError {
    /// Error code, also that of the finding.
    pub code: Code,
    /// The sentence.
    pub message: String,
    /// The next action.
    pub help: Option<String>,
    /// The place that has to change.
    pub span: Option<Span>,
}

/// How a component is deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeploymentMode {
    /// A Deployment.
    RawDeployment,
    /// A Knative Service.
    Serverless,
    /// A LeaderWorkerSet.
    MultiNode,
    /// RayClusters with vLLM.
    MultiNodeRayVllm,
    /// Nothing: somebody else deploys it.
    VirtualDeployment,
    /// Nothing: ModelMesh deploys it (KServe).
    ModelMesh,
}

impl DeploymentMode {
    /// The annotation value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RawDeployment => "RawDeployment",
            Self::Serverless => "Serverless",
            Self::MultiNode => "MultiNode",
            Self::MultiNodeRayVllm => "MultiNodeRayVLLM",
            Self::VirtualDeployment => "VirtualDeployment",
            Self::ModelMesh => "ModelMesh",
        }
    }

    /// The word of an API under a semantics: KServe calls its modes otherwise since 0.16.
    pub fn word(self, api: Api, semantics: Semantics) -> &'static str {
        match (self, api, semantics) {
            (Self::RawDeployment, Api::KServe, Semantics::Controller) => "Standard",
            (Self::Serverless, Api::KServe, Semantics::Controller) => "Knative",
            _ => self.as_str(),
        }
    }

    /// The mode a word of KServe names, old and new ones (S3-004).
    pub fn from_kserve(text: &str) -> Option<Self> {
        match text {
            "RawDeployment" | "Standard" => Some(Self::RawDeployment),
            "Serverless" | "Knative" => Some(Self::Serverless),
            "ModelMesh" => Some(Self::ModelMesh),
            _ => None,
        }
    }

    /// The annotation that asks for a mode.
    pub const ANNOTATION: &str = "ome.io/deploymentMode";

    /// The mode an annotation value names; `PDDisaggregated` and anything else name none.
    pub fn from_annotation(text: &str) -> Option<Self> {
        [
            Self::RawDeployment,
            Self::Serverless,
            Self::MultiNode,
            Self::MultiNodeRayVllm,
            Self::VirtualDeployment,
        ]
        .into_iter()
        .find(|mode| mode.as_str() == text)
    }
}

/// The decisions for one service. Lives as long as the catalog it was made from.
#[derive(Clone, Debug)]
pub struct Resolution<'a> {
    /// The model, when one was found.
    pub model: Option<&'a Model>,
    /// The runtime decision; its `chosen` is the runtime.
    pub runtime: RuntimeDecision<'a>,
    /// The accelerator of engine and decoder, in this order; none where no runtime was chosen.
    pub accelerators: Vec<AcceleratorDecision<'a>>,
    /// Why the service cannot be planned.
    pub error: Option<ServiceError>,
}

impl<'a> Resolution<'a> {
    /// The runtime that was chosen.
    pub fn chosen(&self) -> Option<&'a Runtime> {
        self.runtime.chosen
    }

    /// The decision for a component.
    pub fn accelerator(&self, component: ComponentKind) -> Option<&AcceleratorDecision<'a>> {
        self.accelerators.iter().find(|decision| decision.component == component)
    }
}
