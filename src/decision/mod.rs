//! Decisions as data: what was chosen, among what, and why not the others.
//!
//! In: answers of `resolve`. Out: values that `report` words and `compose` follows. Data only:
//! nothing is decided or worded here.

mod accelerator;
mod cache;
mod criteria;
mod kserve;
mod queue;
mod reason;
mod runtime;

pub use accelerator::{
    AcceleratorBasis, AcceleratorDecision, ClassCandidate, ClassDecidedBy, ClassReason, CostTerm,
    Evidence, JudgedPreference, KnownCapability, Requirement, ScoreTerms, Share, Truth,
};
pub use cache::{CacheFit, Operand};
pub use criteria::{Attribute, DecidedBy};
pub use kserve::{KSERVE_MODE_ANNOTATION, kserve_mode};
pub use queue::{Admitted, FlavorRejection, QueueDecision};
pub use reason::{Note, Reason, Rejection, range_text};
pub use runtime::{
    Basis, Candidate, Check, CheckResult, EntryChecks, Protocol, Rank, RuntimeDecision, Step,
    Verdict,
};

use crate::api::{ComponentKind, Failure, Model, Runtime};
use ecow::EcoVec;

/// The decisions for one service. Lives as long as the catalog it was made from.
#[derive(Clone, Debug)]
pub struct Resolution<'a> {
    /// The model, when one was found.
    pub model: Option<&'a Model>,
    /// The runtime decision; its `chosen` is the runtime.
    pub runtime: RuntimeDecision<'a>,
    /// The accelerator of engine and decoder, in this order; none where no runtime was chosen.
    pub accelerators: EcoVec<AcceleratorDecision<'a>>,
    /// Why the service cannot be planned.
    pub error: Option<Box<Failure>>,
}

impl<'a> Resolution<'a> {
    /// A service for which no runtime is chosen, and whose operator does not mind.
    pub(crate) fn unchosen(protocol: Protocol) -> Self {
        Self {
            model: None,
            runtime: RuntimeDecision { protocol, ..RuntimeDecision::none() },
            accelerators: EcoVec::new(),
            error: None,
        }
    }

    /// A service that cannot be decided.
    pub(crate) fn failed(
        model: Option<&'a Model>,
        basis: Basis,
        protocol: Protocol,
        error: Failure,
    ) -> Self {
        let unchosen = Self::unchosen(protocol);
        let runtime = RuntimeDecision { basis, ..unchosen.runtime };
        Self { model, runtime, error: Some(Box::new(error)), ..unchosen }
    }

    /// The runtime that was chosen.
    pub fn chosen(&self) -> Option<&'a Runtime> {
        self.runtime.chosen
    }

    /// The decision for a component.
    pub fn accelerator(&self, component: ComponentKind) -> Option<&AcceleratorDecision<'a>> {
        self.accelerators.iter().find(|decision| decision.component == component)
    }
}
