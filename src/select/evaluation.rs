//! The selection rules, and the result of evaluating them for one runtime.

use crate::decision::Rank;
use crate::policy::{FormatRule, Policy, RankRule};

/// A step of the selection, in order: a candidate is excluded at the first step that it fails (OME
/// docs, Serving Runtime, Runtime Selection Logic).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Discovery,
    Enabled,
    MultiModel,
    Nodes,
    Accelerator,
    /// The deployment modes of components.
    Mode,
    Format,
    Size,
    Protocol,
    AutoSelection,
    /// An accelerator class can serve it.
    Served,
    Score,
}

impl Gate {
    pub(crate) const COUNT: usize = 12;
    const ALL: [Self; Self::COUNT] = [
        Self::Discovery,
        Self::Enabled,
        Self::MultiModel,
        Self::Nodes,
        Self::Accelerator,
        Self::Mode,
        Self::Format,
        Self::Size,
        Self::Protocol,
        Self::AutoSelection,
        Self::Served,
        Self::Score,
    ];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Discovery => "discovery",
            Self::Enabled => "enabled",
            Self::MultiModel => "multi-model",
            Self::Nodes => "multi-node",
            Self::Accelerator | Self::Served => "accelerator",
            Self::Mode => "deployment-mode",
            Self::Format => "format",
            Self::Size => "size",
            Self::Protocol => "protocol",
            Self::AutoSelection => "auto-selection",
            Self::Score => "score",
        }
    }

    /// Returns the steps of a policy.
    pub(crate) fn steps(policy: &Policy) -> &'static [Self] {
        const DOCUMENTED: [Gate; 7] = [
            Gate::Discovery,
            Gate::Enabled,
            Gate::Format,
            Gate::Size,
            Gate::Protocol,
            Gate::AutoSelection,
            Gate::Served,
        ];
        const SCORED: [Gate; 8] = [
            Gate::Discovery,
            Gate::Enabled,
            Gate::Accelerator,
            Gate::Mode,
            Gate::Format,
            Gate::Size,
            Gate::AutoSelection,
            Gate::Score,
        ];
        const BY_NAME: [Gate; 7] = [
            Gate::Discovery,
            Gate::Enabled,
            Gate::MultiModel,
            Gate::Nodes,
            Gate::Format,
            Gate::Protocol,
            Gate::AutoSelection,
        ];
        match (policy.formats, policy.rank) {
            (FormatRule::Name, _) => &BY_NAME,
            (_, RankRule::Priority | RankRule::Protocol) => &DOCUMENTED,
            (_, RankRule::Score) => &SCORED,
        }
    }
}

/// The result for one candidate, without its trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evaluation {
    /// One bit per failed [`Gate`].
    pub(super) failed: u16,
    /// Missing bound that crashes the controller.
    pub(crate) crash: Option<&'static str>,
    pub(crate) rank: Rank,
    pub(crate) matched_entry: Option<usize>,
    pub(crate) scored_entry: Option<usize>,
}

impl Evaluation {
    pub(crate) fn eligible(&self) -> bool {
        self.failed == 0
    }

    /// Reports whether no rule rejects it that also applies when a service references the runtime.
    pub(crate) fn serves_when_named(&self) -> bool {
        // The other rules are about automatic selection or about one service.
        [Gate::Enabled, Gate::Format, Gate::Size]
            .into_iter()
            .all(|gate| self.failed & (1 << gate as u8) == 0)
    }

    pub(crate) fn first_failure(&self) -> Option<Gate> {
        // In the order of the steps: each rejected runtime is counted at one step only.
        Gate::ALL.into_iter().find(|gate| self.failed & (1 << *gate as u8) != 0)
    }

    pub(crate) fn fail(&mut self, gate: Gate) {
        self.failed |= 1 << gate as u8;
    }

    pub(super) fn passed_before(&self, gate: Gate) -> bool {
        self.failed & ((1 << gate as u8) - 1) == 0
    }
}
