//! Decisions as data: the choice, the candidates, and why each other candidate was rejected.
//!
//! In: results of `select` and of the operators' selection. Out: values that `compose` of each
//! operator applies and `report` formats. Data only: this module makes no decision and formats no
//! text.

mod accelerator;
mod cache;
mod criteria;
pub mod next_step;
mod queue;
mod reason;
mod runtime;

pub use accelerator::{
    AcceleratorBasis, AcceleratorDecision, ClassCandidate, ClassDecidedBy, ClassReason, CostTerm,
    Evidence, JudgedPreference, KnownCapability, Requirement, ScoreTerms, Share, Truth,
};
pub use cache::{CacheFit, Operand};
pub use criteria::{Attribute, DecidedBy};
pub use queue::{Admitted, FlavorRejection, QueueDecision, UnreadQueue};
pub use reason::{Note, Reason, Rejection, range_text};
pub use runtime::{
    Basis, Candidate, Check, CheckResult, EntryChecks, Protocol, Rank, RuntimeDecision, Step,
    Verdict,
};

use crate::api::{ComponentKind, Failure, Model, Object, Runtime};
use crate::source::Span;
use ecow::{EcoString, EcoVec};

/// The decisions for one service. Borrows from the catalog.
#[derive(Clone, Debug)]
pub struct Resolution<'a> {
    /// The model, when one was found.
    pub model: Option<&'a Model>,
    /// The runtime decision; its `chosen` is the runtime.
    pub runtime: RuntimeDecision<'a>,
    /// The accelerators of engine and decoder, in this order; empty when no runtime was chosen.
    pub accelerators: EcoVec<AcceleratorDecision<'a>>,
    /// Configurations that are merged into the service, in the order of the merge; empty for kinds
    /// without any.
    pub configs: EcoVec<AppliedConfig>,
    /// Why the service cannot be planned.
    pub error: Option<Box<Failure>>,
}

/// A configuration that is merged into a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedConfig {
    /// Its name.
    pub name: EcoString,
    /// The operator selected it; otherwise the service names it.
    pub preset: bool,
    /// What of the service selects it, where the operator does.
    pub selected_by: &'static str,
    /// The fields that it sets; empty where they were not asked for.
    pub sets: EcoVec<EcoString>,
    /// Its namespace, and where its name is; none when it was not read.
    pub found: Option<(EcoString, Span)>,
}

impl<'a> Resolution<'a> {
    /// Builds the result for a service that has no runtime and whose operator does not require one.
    pub(crate) fn unchosen(protocol: Protocol) -> Self {
        Self {
            model: None,
            runtime: RuntimeDecision { protocol, ..RuntimeDecision::none() },
            accelerators: EcoVec::new(),
            configs: EcoVec::new(),
            error: None,
        }
    }

    /// Builds the result for a service that failed.
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

    /// Returns the chosen runtime.
    pub fn chosen(&self) -> Option<&'a Runtime> {
        self.runtime.chosen
    }

    /// Returns the objects of the model and of the chosen runtime.
    pub fn objects(&self) -> impl Iterator<Item = &'a Object> {
        let runtime = self.chosen().map(|runtime| &runtime.object);
        self.model.map(|model| &model.object).into_iter().chain(runtime)
    }

    /// Returns the accelerator decision for a component.
    pub fn accelerator(&self, component: ComponentKind) -> Option<&AcceleratorDecision<'a>> {
        self.accelerators.iter().find(|decision| decision.component == component)
    }
}
