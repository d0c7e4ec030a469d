//! The choice of an accelerator class for one component.

use super::runtime::{Basis, Step, Verdict};
use crate::api::{AcceleratorClass, ComponentKind};
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::yaml::{Node, Origin};
use ecow::EcoString;

/// What put the chosen class before the others. Declaration order is the order in which they are
/// asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClassDecidedBy {
    /// The service names it by annotation.
    Annotation,
    /// The service names it in its selector.
    Named,
    /// There was no other.
    OnlyCandidate,
    /// First preferred class that passed.
    PreferredClass,
    /// Preference of the runtime.
    PreferenceOrder,
    /// Score of the strategy.
    Strategy,
    /// Score of the policy (controller).
    Policy,
    /// Fewer accelerators.
    Gpus,
    /// Lower cost.
    Cost,
    /// Less memory to spare.
    Memory,
    /// Earlier in the runtime's list (controller).
    Order,
    /// Name, byte order.
    Name,
}

impl ClassDecidedBy {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Annotation => "annotation",
            Self::Named => "explicit",
            Self::OnlyCandidate => "only-candidate",
            Self::PreferredClass => "preferred-class",
            Self::PreferenceOrder => "preference-order",
            Self::Strategy => "strategy",
            Self::Policy => "policy",
            Self::Gpus => "gpus",
            Self::Cost => "cost",
            Self::Memory => "memory",
            Self::Order => "order",
            Self::Name => "name",
        }
    }
}

/// Why a class was rejected: a code and both operands.
#[derive(Clone, Debug)]
pub struct ClassReason {
    /// Its code.
    pub code: Code,
    /// Both operands.
    pub detail: EcoString,
    /// The source of the bound; none when it is not set.
    pub bound: Option<Origin>,
}

/// Where a capability is known from (OEP-0003, Story 4; docs/decisions.md#capabilities).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The class itself.
    Declared,
    /// The facts about products.
    Catalogue,
    /// Labels of its nodes.
    Nodes,
    /// Not set anywhere.
    Unknown,
}

impl Evidence {
    /// The words used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Catalogue => "computed(catalogue)",
            Self::Nodes => "computed(nodes)",
            Self::Unknown => "unknown",
        }
    }
}

/// A capability of a candidate as the decision saw it.
#[derive(Clone, Debug)]
pub struct KnownCapability {
    /// Its key.
    pub name: &'static str,
    /// Its value; none when unknown.
    pub value: Option<EcoString>,
    /// Where it is known from.
    pub evidence: Evidence,
    /// Its source; none when it is not declared.
    pub origin: Option<Origin>,
}

/// A figure of a candidate beside the largest of all that passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Of the candidate.
    pub own: f64,
    /// The largest.
    pub most: f64,
}

/// What a candidate costs beside the cheapest that passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CostTerm {
    /// Dollars an hour of one replica.
    Price {
        /// The cheapest.
        least: f64,
        /// Of the candidate.
        own: f64,
    },
    /// Others state an hourly price, this one does not.
    Unpriced,
    /// There is no hourly price: the value of the tier.
    Tier,
}

/// The arithmetic behind a score of a strategy (docs/decisions.md#strategies).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreTerms {
    /// GB/s of one replica.
    pub bandwidth: Share,
    /// TFLOPS of one replica.
    pub compute: Share,
    /// 0.7 of the one and 0.3 of the other.
    pub performance: f64,
    /// What the cost is compared with.
    pub cost_term: CostTerm,
    /// 1 for the cheapest, less for others.
    pub cost: f64,
}

/// One class with everything that was found out about it.
#[derive(Clone, Debug)]
pub struct ClassCandidate<'a> {
    /// Name, also of a class that is not loaded.
    pub name: EcoString,
    /// The class.
    pub class: Option<&'a AcceleratorClass>,
    /// Verdict.
    pub verdict: Verdict,
    /// Score by policy or strategy, 0..1.
    pub score: Option<f64>,
    /// How a strategy came to it; none of a policy's.
    pub terms: Option<ScoreTerms>,
    /// What put it behind the first; none of the first and of the rejected.
    pub behind: Option<ClassDecidedBy>,
    /// Accelerators one replica needs; none when unknown.
    pub gpus: Option<u64>,
    /// Nodes one replica needs.
    pub nodes_needed: u64,
    /// Dollars an hour of one replica.
    pub cost_per_hour: Option<f64>,
    /// Preference of the runtime, 0..100.
    pub preference: i64,
    /// What it can do.
    pub capabilities: Vec<KnownCapability>,
    /// All failed checks.
    pub reasons: Vec<ClassReason>,
}

/// An effective requirement with the layer that set it (OEP-0003, Override Hierarchy).
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Its key.
    pub key: &'static str,
    /// Its value.
    pub value: Node,
    /// The layer: `default`, `runtime`, `service`, `annotation`, `component-annotation`.
    pub layer: &'static str,
    /// Values of the other layers, the highest first.
    pub overridden: Vec<(Node, &'static str)>,
}

/// Three-valued truth: a fact may be unknown (OEP-0003, Story 6;
/// docs/decisions.md#preference-order).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not.
    False,
    /// The fact is not known.
    Unknown,
}

impl Truth {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Unknown => "unknown",
        }
    }
}

/// One entry of preferenceOrder as it was judged.
#[derive(Clone, Debug)]
pub struct JudgedPreference {
    /// Position in the list.
    pub index: usize,
    /// Class or matcher as written.
    pub class: EcoString,
    /// Who wrote it.
    pub origin: Origin,
    /// Score.
    pub score: i64,
    /// Whether it applies.
    pub applies: Truth,
    /// Its conditions: key, expression, fact, result.
    pub conditions: Vec<(EcoString, EcoString, Option<EcoString>, Truth)>,
}

/// The decision with its trace.
#[derive(Clone, Debug)]
pub struct AcceleratorDecision<'a> {
    /// For which component.
    pub component: ComponentKind,
    /// How it came about.
    pub basis: AcceleratorBasis,
    /// Policy of the shipped API, as written.
    pub policy: Option<EcoString>,
    /// Effective strategy of OEP-0003.
    pub strategy: Option<EcoString>,
    /// What decided.
    pub decided_by: Option<ClassDecidedBy>,
    /// What was chosen.
    pub chosen: Option<&'a AcceleratorClass>,
    /// Accelerators one replica needs by its memory; none when unknown.
    pub gpus: Option<u64>,
    /// Accelerators that the largest node of the chosen class has; 8 where no Node says.
    pub per_node: u64,
    /// The class that came nearest when none passed, and what it lacks.
    pub nearest: Option<EcoString>,
    /// Bytes the model needs; none when its size is unknown.
    pub need: Option<f64>,
    /// Entry of the runtime's formats whose acceleratorConfig applies (controller).
    pub entry: Option<usize>,
    /// Named steps with counts.
    pub steps: Vec<Step>,
    /// Effective requirements.
    pub requirements: Vec<Requirement>,
    /// preferenceOrder as judged.
    pub preference_order: Vec<JudgedPreference>,
    /// Remarks.
    pub notes: Vec<EcoString>,
    /// How many passed.
    pub eligible: usize,
    /// How many did not.
    pub rejected: usize,
    /// Every candidate: those that passed in rank order, then the rejected.
    pub candidates: Vec<ClassCandidate<'a>>,
    /// What the decision found.
    pub findings: Vec<Diagnostic>,
}

/// How the choice of an accelerator came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceleratorBasis {
    /// The service names the class.
    Explicit,
    /// A policy or a strategy chose it.
    Policy,
    /// Nothing was chosen.
    None,
}

impl AcceleratorBasis {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => Basis::Explicit.as_str(),
            Self::Policy => "policy",
            Self::None => Basis::None.as_str(),
        }
    }
}

impl AcceleratorDecision<'_> {
    /// The requirements that files set, each with its place; the strategy rules no class out.
    pub fn bounds(&self) -> impl Iterator<Item = (&Requirement, Span)> {
        self.requirements
            .iter()
            .filter(|requirement| requirement.key != "strategy")
            .filter_map(|requirement| Some((requirement, requirement.value.origin.span()?)))
    }

    /// A decision that chose nothing.
    pub fn none(component: ComponentKind) -> Self {
        Self {
            component,
            basis: AcceleratorBasis::None,
            policy: None,
            strategy: None,
            decided_by: None,
            chosen: None,
            gpus: None,
            per_node: 0,
            nearest: None,
            need: None,
            entry: None,
            steps: Vec::new(),
            requirements: Vec::new(),
            preference_order: Vec::new(),
            notes: Vec::new(),
            eligible: 0,
            rejected: 0,
            candidates: Vec::new(),
            findings: Vec::new(),
        }
    }
}
