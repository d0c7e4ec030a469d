//! The choice of a runtime.

use super::criteria::{Attribute, DecidedBy};
use super::reason::{Note, Rejection};
use crate::api::Runtime;
use crate::yaml::Origin;
use ecow::{EcoString, EcoVec};

/// How the runtime was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The service references the runtime.
    Explicit,
    /// The runtime was selected.
    Auto,
    /// No choice was made.
    None,
}

impl Basis {
    /// Returns the value used in JSON output.
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
    /// The candidate is chosen.
    Chosen,
    /// All rules passed, but another candidate ranks higher.
    Eligible,
    /// At least one rule failed.
    Rejected,
}

impl Verdict {
    /// Returns the value used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::Eligible => "eligible",
            Self::Rejected => "rejected",
        }
    }
}

/// Ranking keys of an eligible candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank {
    /// True when it is in the service's namespace.
    pub namespaced: bool,
    /// Priority of the evaluated entry; `None` when it is not set or not used.
    pub priority: Option<i64>,
    /// The controller's score.
    pub score: i64,
    /// Distance of the size range to the model's size in parameters; `None` when the range is
    /// absent, open, or the model has no size.
    pub distance: Option<f64>,
    /// Lowest protocol that the runtime lists, as KServe numbers them; 0 when protocols do not
    /// affect the ranking.
    pub protocol: u8,
}

/// Outcome of one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// Both sides match.
    Match,
    /// The sides do not match.
    Mismatch,
    /// The runtime sets no constraint.
    Unconstrained,
}

impl CheckResult {
    /// Returns the value used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch => "mismatch",
            Self::Unconstrained => "unconstrained",
        }
    }
}

/// One comparison with both values.
#[derive(Clone, Debug)]
pub struct Check {
    /// The compared attribute.
    pub attribute: Attribute,
    /// The model's value and its origin.
    pub model: Option<(EcoString, Origin)>,
    /// The runtime's value and its origin.
    pub runtime: Option<(EcoString, Origin)>,
    /// Outcome.
    pub result: CheckResult,
}

/// All comparisons of one entry of supportedModelFormats.
#[derive(Clone, Debug)]
pub struct EntryChecks {
    /// Position in the list, from 0.
    pub index: usize,
    /// True when every comparison passes and the diffusion pipeline matches.
    pub matched: bool,
    /// The six comparisons in order.
    pub checks: Vec<Check>,
    /// What the diffusion pipeline lacks.
    pub diffusion: Option<EcoString>,
}

/// One candidate with all results about it.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The runtime.
    pub runtime: &'a Runtime,
    /// Verdict.
    pub verdict: Verdict,
    /// Its ranking keys, when eligible.
    pub rank: Option<Rank>,
    /// Index of the entry that matched the model.
    pub matched_entry: Option<usize>,
    /// Index of the entry that gave the controller's score.
    pub scored_entry: Option<usize>,
    /// Every entry with its comparisons.
    pub entries: Vec<EntryChecks>,
    /// All failed rules.
    pub reasons: Vec<Rejection>,
    /// Notes.
    pub notes: Vec<Note>,
}

/// A step of the selection with the number of candidates before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Identifier.
    pub id: &'static str,
    /// Candidates before.
    pub r#in: usize,
    /// Candidates after.
    pub out: usize,
}

/// The requested protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Name.
    pub name: EcoString,
    /// True when it is the default.
    pub default: bool,
}

/// The decision with its trace.
#[derive(Clone, Debug)]
pub struct RuntimeDecision<'a> {
    /// How the runtime was determined.
    pub basis: Basis,
    /// The chosen runtime.
    pub chosen: Option<&'a Runtime>,
    /// Index of the entry of the chosen runtime that matched.
    pub matched_entry: Option<usize>,
    /// The deciding key.
    pub decided_by: Option<DecidedBy>,
    /// True when the documents guarantee the result: neither age nor name decided.
    pub guaranteed: bool,
    /// Protocol requested.
    pub protocol: Protocol,
    /// Number of eligible candidates, including the chosen one.
    pub eligible: usize,
    /// Number of rejected candidates.
    pub rejected: usize,
    /// Named steps with counts.
    pub steps: EcoVec<Step>,
    /// Notes.
    pub notes: EcoVec<Note>,
    /// Every candidate, when the trace was requested: eligible ones in rank order, then rejected
    /// ones.
    pub candidates: Vec<Candidate<'a>>,
    /// Assumed fields of the model that affect the result.
    pub assumed: EcoVec<&'static str>,
    /// Why the runtime that the service names does not list the model, where that is no error.
    pub advice: EcoVec<Rejection>,
}

impl RuntimeDecision<'_> {
    /// Builds a decision without a choice.
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
            advice: EcoVec::new(),
        }
    }
}
