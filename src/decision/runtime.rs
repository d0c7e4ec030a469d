//! The choice of a runtime.

use super::criteria::{Attribute, DecidedBy};
use super::reason::{Note, Rejection};
use crate::api::Runtime;
use crate::yaml::Origin;
use ecow::{EcoString, EcoVec};

/// How the choice came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The service names the runtime.
    Explicit,
    /// The runtime was selected.
    Auto,
    /// It never came to a choice.
    None,
}

impl Basis {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Auto => "auto",
            Self::None => "none",
        }
    }
}

/// Verdict on one candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Serves.
    Chosen,
    /// Could serve.
    Eligible,
    /// At least one rule failed.
    Rejected,
}

impl Verdict {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::Eligible => "eligible",
            Self::Rejected => "rejected",
        }
    }
}

/// Place in the order of eligible candidates: the operands of every key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank {
    /// Lives in the service's namespace.
    pub namespaced: bool,
    /// Priority of the entry that counts; `None` when none is set or it does not count.
    pub priority: Option<i64>,
    /// The controller's score.
    pub score: i64,
    /// Distance of the size range to the model's size in parameters; `None` when the range is
    /// absent, open, or the model has no size.
    pub distance: Option<f64>,
    /// Lowest protocol the runtime lists, as KServe numbers them; 0 where protocols do not rank.
    pub protocol: u8,
}

/// Outcome of one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// Both sides fit.
    Match,
    /// They do not.
    Mismatch,
    /// The runtime does not care.
    Unconstrained,
}

impl CheckResult {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch => "mismatch",
            Self::Unconstrained => "unconstrained",
        }
    }
}

/// One comparison with both operands.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was compared.
    pub attribute: Attribute,
    /// The model's value and who wrote it.
    pub model: Option<(EcoString, Origin)>,
    /// The runtime's value and who wrote it.
    pub runtime: Option<(EcoString, Origin)>,
    /// Outcome.
    pub result: CheckResult,
}

/// All comparisons of one entry of supportedModelFormats.
#[derive(Clone, Debug)]
pub struct EntryChecks {
    /// Position in the list, from 0.
    pub index: usize,
    /// Every comparison holds (and the diffusion pipeline fits).
    pub matched: bool,
    /// The six comparisons in order.
    pub checks: Vec<Check>,
    /// What the diffusion pipeline lacks.
    pub diffusion: Option<EcoString>,
}

/// One candidate with everything that was found out about it.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The runtime.
    pub runtime: &'a Runtime,
    /// Verdict.
    pub verdict: Verdict,
    /// Its place, when eligible.
    pub rank: Option<Rank>,
    /// Entry that matched the model.
    pub matched_entry: Option<usize>,
    /// Entry the controller's score came from.
    pub scored_entry: Option<usize>,
    /// Every entry with its comparisons.
    pub entries: Vec<EntryChecks>,
    /// All failed rules.
    pub reasons: Vec<Rejection>,
    /// Remarks.
    pub notes: Vec<Note>,
}

/// A step of the selection with how many went in and came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Identifier.
    pub id: &'static str,
    /// Candidates before.
    pub r#in: usize,
    /// Candidates after.
    pub out: usize,
}

/// The protocol requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Name.
    pub name: EcoString,
    /// The default.
    pub default: bool,
}

/// The decision with its trace.
#[derive(Clone, Debug)]
pub struct RuntimeDecision<'a> {
    /// How it came about.
    pub basis: Basis,
    /// What was chosen.
    pub chosen: Option<&'a Runtime>,
    /// Entry of the chosen runtime that matched.
    pub matched_entry: Option<usize>,
    /// What decided.
    pub decided_by: Option<DecidedBy>,
    /// The documents guarantee the outcome: neither age nor name decided.
    pub guaranteed: bool,
    /// Protocol requested.
    pub protocol: Protocol,
    /// How many could serve, the chosen one included.
    pub eligible: usize,
    /// How many could not.
    pub rejected: usize,
    /// Named steps with counts.
    pub steps: EcoVec<Step>,
    /// Remarks.
    pub notes: EcoVec<Note>,
    /// Every candidate, when the trace was requested: eligible ones in rank order, then the
    /// rejected.
    pub candidates: Vec<Candidate<'a>>,
    /// Fields of the model that are assumed and on which the outcome depends.
    pub assumed: EcoVec<&'static str>,
}

impl RuntimeDecision<'_> {
    /// A decision that never came about.
    pub fn none() -> Self {
        Self {
            basis: Basis::None,
            chosen: None,
            matched_entry: None,
            decided_by: None,
            guaranteed: true,
            protocol: Protocol { name: "openAI".into(), default: true },
            eligible: 0,
            rejected: 0,
            steps: EcoVec::new(),
            notes: EcoVec::new(),
            candidates: Vec::new(),
            assumed: EcoVec::new(),
        }
    }
}
