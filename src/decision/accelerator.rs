//! The choice of an accelerator class for one component.

use super::runtime::{Basis, Step, Verdict};
use crate::api::{AcceleratorClass, ComponentKind};
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::yaml::{Node, Origin};
use ecow::EcoString;

/// The criterion that ranked the chosen class first. Declaration order is the order in which
/// criteria are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClassDecidedBy {
    /// The service references it by annotation.
    Annotation,
    /// The service references it in its selector.
    Named,
    /// It was the only candidate.
    OnlyCandidate,
    /// First preferred class that is eligible.
    PreferredClass,
    /// Preference order of the runtime.
    PreferenceOrder,
    /// Score of the strategy.
    Strategy,
    /// Score of the policy (controller).
    Policy,
    /// Fewer accelerators.
    Gpus,
    /// Lower cost.
    Cost,
    /// Less unused memory.
    Memory,
    /// Earlier in the runtime's list (controller).
    Order,
    /// Name, byte order.
    Name,
}

impl ClassDecidedBy {
    /// Returns the value used in JSON output.
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

/// Why a class was rejected: a code and both compared values.
#[derive(Clone, Debug)]
pub struct ClassReason {
    /// Its code.
    pub code: Code,
    /// The compared values.
    pub detail: EcoString,
    /// The origin of the bound; `None` when it is not set.
    pub bound: Option<Origin>,
}

/// The source of a capability's value (OEP-0003, Story 4; docs/decisions.md#capabilities).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The class itself.
    Declared,
    /// The table of known products.
    Catalogue,
    /// Labels of its nodes.
    Nodes,
    /// Not set anywhere.
    Unknown,
}

impl Evidence {
    /// Returns the value used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Catalogue => "computed(catalogue)",
            Self::Nodes => "computed(nodes)",
            Self::Unknown => "unknown",
        }
    }
}

/// A capability of a candidate, as the decision used it.
#[derive(Clone, Debug)]
pub struct KnownCapability {
    /// Its key.
    pub name: &'static str,
    /// Its value; `None` when unknown.
    pub value: Option<EcoString>,
    /// The source of the value.
    pub evidence: Evidence,
    /// Its origin; `None` when it is not declared.
    pub origin: Option<Origin>,
}

/// A figure of a candidate and the largest figure of all eligible candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The candidate's value.
    pub value: f64,
    /// The largest value.
    pub most: f64,
}

/// The cost of a candidate compared with the cheapest eligible one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CostTerm {
    /// Dollars per hour for one replica.
    Price {
        /// The lowest price.
        least: f64,
        /// The candidate's value.
        value: f64,
    },
    /// Other candidates have an hourly price, this one has none.
    Unpriced,
    /// No candidate has an hourly price; the tier sets the value.
    Tier,
}

/// The terms of a strategy's score (docs/decisions.md#strategies).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreTerms {
    /// GB/s of one replica.
    pub bandwidth: Share,
    /// TFLOPS of one replica.
    pub compute: Share,
    /// 0.7 × bandwidth share + 0.3 × compute share.
    pub performance: f64,
    /// The operands of the cost comparison.
    pub cost_term: CostTerm,
    /// 1 for the cheapest, less for others.
    pub cost: f64,
}

/// One class with all results about it.
#[derive(Clone, Debug)]
pub struct ClassCandidate<'a> {
    /// Name, set even if the class is not loaded.
    pub name: EcoString,
    /// The class, if it is loaded.
    pub class: Option<&'a AcceleratorClass>,
    /// Verdict.
    pub verdict: Verdict,
    /// Score by policy or strategy, 0..1.
    pub score: Option<f64>,
    /// The terms of a strategy's score; `None` for a policy.
    pub terms: Option<ScoreTerms>,
    /// The criterion that ranked it after the first; `None` for the first and for rejected classes.
    pub behind: Option<ClassDecidedBy>,
    /// Accelerators that one replica needs; `None` when unknown.
    pub gpus: Option<u64>,
    /// Nodes that one replica needs.
    pub nodes_needed: u64,
    /// Dollars per hour for one replica.
    pub cost_per_hour: Option<f64>,
    /// Preference of the runtime, 0..100.
    pub preference: i64,
    /// Its capabilities.
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
    /// It does not hold.
    False,
    /// The fact is not known.
    Unknown,
}

impl Truth {
    /// Returns the value used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Unknown => "unknown",
        }
    }
}

/// One entry of preferenceOrder with its evaluation.
#[derive(Clone, Debug)]
pub struct JudgedPreference {
    /// Position in the list.
    pub index: usize,
    /// Class or matcher as written.
    pub class: EcoString,
    /// Its origin.
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
    /// The component.
    pub component: ComponentKind,
    /// How the class was determined.
    pub basis: AcceleratorBasis,
    /// Policy of the shipped API, as written.
    pub policy: Option<EcoString>,
    /// Effective strategy of OEP-0003.
    pub strategy: Option<EcoString>,
    /// The deciding criterion.
    pub decided_by: Option<ClassDecidedBy>,
    /// The chosen class.
    pub chosen: Option<&'a AcceleratorClass>,
    /// Accelerators that one replica needs for its memory; `None` when unknown.
    pub gpus: Option<u64>,
    /// Accelerators of the largest node of the chosen class; 8 when no Node reports a number.
    pub per_node: u64,
    /// The class closest to eligible when none is, with what it lacks.
    pub nearest: Option<EcoString>,
    /// Bytes that the model needs; `None` when its size is unknown.
    pub need: Option<f64>,
    /// Entry of the runtime's formats whose acceleratorConfig applies (controller).
    pub entry: Option<usize>,
    /// Named steps with counts.
    pub steps: Vec<Step>,
    /// Effective requirements.
    pub requirements: Vec<Requirement>,
    /// preferenceOrder with its evaluation.
    pub preference_order: Vec<JudgedPreference>,
    /// Notes.
    pub notes: Vec<EcoString>,
    /// Number of eligible candidates.
    pub eligible: usize,
    /// Number of rejected candidates.
    pub rejected: usize,
    /// Every candidate: the eligible ones in rank order, then the rejected ones.
    pub candidates: Vec<ClassCandidate<'a>>,
    /// Findings of the decision.
    pub findings: Vec<Diagnostic>,
}

/// How the accelerator class was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceleratorBasis {
    /// The service references the class.
    Explicit,
    /// A policy or a strategy chose the class.
    Policy,
    /// Nothing was chosen.
    None,
}

impl AcceleratorBasis {
    /// Returns the value used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => Basis::Explicit.as_str(),
            Self::Policy => "policy",
            Self::None => Basis::None.as_str(),
        }
    }
}

impl AcceleratorDecision<'_> {
    /// Returns the requirements that files set, each with its place. It leaves out the strategy,
    /// which excludes no class.
    pub fn bounds(&self) -> impl Iterator<Item = (&Requirement, Span)> {
        self.requirements
            .iter()
            .filter(|requirement| requirement.key != "strategy")
            .filter_map(|requirement| Some((requirement, requirement.value.origin.span()?)))
    }

    /// Builds a decision without a choice.
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

#[cfg(test)]
mod tests {
    use super::*;

    static RULE: crate::yaml::Rule = crate::yaml::Rule { id: "test", text: "", cite: "" };

    /// A decision without a choice rejects nothing and requires nothing.
    #[test]
    fn no_decision_has_no_bounds() {
        let none = AcceleratorDecision::none(ComponentKind::Engine);
        assert_eq!(none.bounds().count(), 0);
        assert_eq!((none.eligible, none.rejected), (0, 0));
        assert_eq!(none.basis.as_str(), "none");
        assert!(none.chosen.is_none());
    }

    /// Only what a file sets bounds the classes, and the strategy orders them.
    #[test]
    fn bounds_are_the_requirements_with_a_place() {
        let placed = crate::testing::node("80Gi");
        let derived = Node::str("80Gi", crate::yaml::Origin::Default(&RULE));
        let requirement = |key, value: &Node| Requirement {
            key,
            value: value.clone(),
            layer: "x",
            overridden: Vec::new(),
        };
        let decision = AcceleratorDecision {
            requirements: vec![
                requirement("strategy", &placed),
                requirement("memoryGB", &placed),
                requirement("clockSpeedMHz", &derived),
            ],
            ..AcceleratorDecision::none(ComponentKind::Engine)
        };
        let keys: Vec<&str> = decision.bounds().map(|(requirement, _)| requirement.key).collect();
        assert_eq!(keys, ["memoryGB"]);
    }
}
