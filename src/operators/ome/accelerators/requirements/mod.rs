//! The documented choice (OEP-0003): requirements filter all loaded classes, then preferences and
//! the strategy rank them.
//!
//! The order of the criteria (OEP-0003, Story 6; docs/decisions.md#preference-order):
//! preferredClasses, cost threshold, preferenceOrder, strategy, fewer accelerators, lower cost,
//! less surplus memory, name.

mod layers;
mod nodes;
mod rank;
mod sentences;
pub(super) mod shortfall;

use super::class_facts::ClassFacts;
use super::{Request, fit};
use crate::api::{ComponentKind, Failure};
use crate::decision::{
    AcceleratorBasis, AcceleratorDecision, ClassCandidate, ClassDecidedBy, ClassReason,
    JudgedPreference, Step, Truth, Verdict,
};
use crate::diag::{Code, Diagnostic};
use crate::quantity::glob;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};
use layers::{Effective, effective};
use nodes::{Placement, no_node, per_node, placement};
use rank::{Ranked, compare, hourly, judge_preferences, names_class, score};
use sentences::{candidate, eligible, nearest_class, nothing_fits, unknown_class, unlisted};
use shortfall::{Shortfall, asks_for_another, check, runtime_resources};

/// Decides the class of one component: the classes that meet the requirements and the chosen one,
/// or the failure that lists what each class lacks.
pub(super) fn decide<'a>(
    request: &Request<'a, '_>,
    classes: &[ClassFacts<'a>],
    kind: ComponentKind,
) -> (AcceleratorDecision<'a>, Option<Failure>) {
    let mut decision = AcceleratorDecision::none(kind);
    let options = request.catalog.accelerator_options();
    if options.off {
        decision.notes.push("not considered: any GPU".into());
        decision.findings.push(Diagnostic::new(
            Code::AcceleratorNotConsidered,
            "accelerator classes are not considered: any GPU may be taken",
        ));
        return (decision, None);
    }
    let wish = effective(request, kind, &mut decision.findings);
    decision.strategy = Some(wish.strategy.into());
    decision.preference_order = judge_preferences(request, kind, wish.request_size.as_ref());
    decision.requirements.clone_from(&wish.requirements);
    // A preferred class that does not exist is a misspelling, so it is an error before any check.
    if let Some(missing) = wish
        .preferred
        .iter()
        .find(|name| !classes.iter().any(|class| *class.class.name() == name.value))
    {
        return (decision, Some(unknown_class(missing, classes)));
    }
    for name in wish
        .supported
        .iter()
        // Without any class in the input each name would be reported.
        .filter(|_| !classes.is_empty())
        .filter(|name| !classes.iter().any(|class| glob(&name.value, class.class.name())))
    {
        decision.findings.push(unlisted(name, classes));
    }
    // Input that mentions no accelerators at all gets no class, although built-in ones would fit.
    let silent = request.service.accelerators.key.is_empty()
        && !request.runtime.mentions_accelerators()
        && !request.catalog.has_own_class();
    let names = |name: &str| {
        wish.preferred.iter().copied().chain(wish.supported).any(|named| named.value == name)
    };
    let classes: Vec<&ClassFacts<'a>> = classes
        .iter()
        .filter(|class| {
            !silent && (request.catalog.is_candidate_class(class.class) || names(class.name()))
        })
        .collect();
    if classes.is_empty() {
        return (decision, None);
    }
    decision.need = fit::need(request.policy, request.model, None);
    let judge = Judge {
        request,
        wish: &wish,
        placement: placement(request, kind),
        resources: runtime_resources(request.runtime, kind),
        preferences: &decision.preference_order,
    };
    let (mut ranked, mut rejected) = (Vec::new(), Vec::new());
    for class in &classes {
        match judge.class(class) {
            Ok(meets) => ranked.push(meets),
            Err(lacking) => rejected.push(*lacking),
        }
    }
    // Scores are relative to the best class that passed, so they come after all checks.
    score(request, wish.strategy, &mut ranked);
    ranked.sort_by(|a, b| compare(a, b).0);
    // The closest class first; the name makes the order the same in every run.
    rejected.sort_by(|a, b| (a.reasons.len(), &a.name).cmp(&(b.reasons.len(), &b.name)));
    not_checked(request, &wish, &ranked, &mut decision.findings);
    // `usize::MAX` is the position of a class that is not preferred, and they sort last.
    let preferred_passed = ranked.first().is_some_and(|first| first.preferred != usize::MAX);
    let hard = wish.hard.is_some() || (options.strict_preferred && !wish.preferred.is_empty());
    let fails = ranked.is_empty() || (hard && !preferred_passed);
    let total = classes.len();
    let step = |id: &'static str, r#in: usize, out: usize| Step { id, r#in, out };
    let chosen = usize::from(!fails);
    decision.steps = vec![
        step("runtime", total, total),
        step("requirements", total, total),
        step("match", total, ranked.len()),
        step("score", ranked.len(), ranked.len()),
        step("apply", ranked.len(), chosen),
    ];
    (decision.eligible, decision.rejected) = (ranked.len(), rejected.len());
    if fails {
        decision.nearest = nearest_class(&wish, &classes, &rejected);
        let error = nothing_fits(request, kind, &wish, &ranked, &rejected);
        // These classes passed the requirements; the mandatory class excludes them.
        let by = wish.hard.map_or(ClassDecidedBy::PreferredClass, |(_, by)| by);
        decision.candidates =
            ranked.iter().map(|ranked| eligible(ranked, Some(by))).chain(rejected).collect();
        return (decision, Some(error));
    }
    chosen_of(&ranked, rejected, &wish, preferred_passed, &mut decision);
    compromises(kind, &wish, &ranked[0], &mut decision.findings);
    (decision, None)
}

/// Writes the first class that passed into the decision, and why it goes before the others.
fn chosen_of<'a>(
    ranked: &[Ranked<'_, 'a>],
    rejected: Vec<ClassCandidate<'a>>,
    wish: &Effective<'_>,
    preferred_passed: bool,
    decision: &mut AcceleratorDecision<'a>,
) {
    let first = &ranked[0];
    decision.chosen = Some(first.facts.class);
    decision.gpus = first.gpus;
    decision.per_node = per_node(first.facts);
    decision.basis =
        if wish.hard.is_some() { AcceleratorBasis::Explicit } else { AcceleratorBasis::Policy };
    decision.decided_by = Some(match (&wish.hard, ranked.get(1)) {
        (Some((_, by)), _) => *by,
        (None, _) if preferred_passed => ClassDecidedBy::PreferredClass,
        (None, None) => ClassDecidedBy::OnlyCandidate,
        // The first criterion in which the two differ is what decided.
        (None, Some(second)) => compare(first, second).1,
    });
    decision.candidates = ranked
        .iter()
        .enumerate()
        .map(|(index, ranked)| {
            let found = eligible(ranked, (index > 0).then(|| compare(first, ranked).1));
            if index == 0 { ClassCandidate { verdict: Verdict::Chosen, ..found } } else { found }
        })
        .chain(rejected)
        .collect();
}

/// Checks classes for one component.
struct Judge<'j, 'a> {
    request: &'j Request<'a, 'j>,
    wish: &'j Effective<'j>,
    placement: Placement<'j>,
    /// Device resources that the runtime itself requests.
    resources: Vec<(EcoString, Origin)>,
    preferences: &'j [JudgedPreference],
}

impl<'a> Judge<'_, 'a> {
    /// GiB for each billion parameters that a format entry of the runtime sets for a class.
    fn gib_per_billion(&self, class: &ClassFacts<'_>) -> Option<i64> {
        let entry = self
            .request
            .runtime
            .formats
            .iter()
            // The first entry that has a figure for the class: the figure is of the class, not of a
            // format.
            .find_map(|entry| entry.accelerator_config.as_ref()?.get(class.class.name()));
        entry.and_then(|config| config.get("minMemoryPerBillionParams")).and_then(Node::as_int)
    }

    /// A class that meets all requirements, or a rejected candidate with everything that it lacks.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn class<'k>(
        &self,
        class: &'k ClassFacts<'a>,
    ) -> Result<Ranked<'k, 'a>, Box<ClassCandidate<'a>>> {
        let (request, wish) = (self.request, self.wish);
        let name = class.class.name();
        let mut failures = Vec::new();
        let mut fail = |code: Code, detail: EcoString, bound: Option<Origin>| {
            failures
                .push(Shortfall { reason: ClassReason { code, detail, bound }, unknown: false });
        };
        if !wish.supported.is_empty()
            && !wish.supported.iter().any(|listed| glob(&listed.value, name))
        {
            fail(
                Code::ReasonNotListed,
                "not in supportedClasses".into(),
                wish.supported.first().map(|listed| listed.origin),
            );
        }
        if let Some(excluded) = wish.excluded.iter().find(|excluded| excluded.value == *name) {
            fail(Code::ReasonExcluded, "explicitly excluded".into(), Some(excluded.origin));
        }
        failures.extend(asks_for_another(&self.resources, class));
        check(class, &wish.required, &mut failures);
        let preferred = wish.preferred.iter().position(|wanted| wanted.value == *name);
        if request.catalog.accelerator_options().allow_unknown && preferred.is_some() {
            failures.retain(|failure| !failure.unknown);
        }
        if let Some((detail, bound)) = no_node(class, &self.placement) {
            failures.push(Shortfall {
                reason: ClassReason { code: Code::ReasonOutOfNodes, detail, bound },
                unknown: false,
            });
        }
        let need = fit::need(request.policy, request.model, self.gib_per_billion(class));
        let gpus = need.and_then(|need| fit::accelerators(need, class.measured?));
        let price = class.class.cost.as_ref().and_then(hourly);
        // Rounded to a millionth: floats of equal prices must not differ in their last bit.
        let cost = price.map(|price| ((price * gpus.unwrap_or(1) as f64) * 1e6).round() / 1e6);
        if let Some(threshold) =
            wish.threshold.filter(|_| request.catalog.accelerator_options().strict_cost)
            && cost.is_none_or(|cost| cost > threshold)
        {
            let detail = cost.map_or_else(
                || "price unknown".into(),
                |cost| eco_format!("{cost} > {threshold} $/h"),
            );
            failures.push(Shortfall {
                reason: ClassReason {
                    code: Code::ReasonCost,
                    detail,
                    bound: wish.threshold_origin,
                },
                unknown: false,
            });
        }
        if failures.is_empty() {
            let surplus =
                class.measured.map_or(0.0, |memory| memory.0 as f64 * gpus.unwrap_or(1) as f64)
                    - need.unwrap_or(0.0);
            // 0 for all classes under the threshold, so that among them the next criterion decides.
            let above_threshold = wish.threshold.map_or(0.0, |threshold| {
                cost.map_or(f64::MAX, |cost| if cost > threshold { cost } else { 0.0 })
            });
            let applies = self.preferences.iter().filter(|entry| entry.applies == Truth::True);
            let preference = applies
                .filter(|entry| {
                    names_class(&entry.class, &|feature| class.has_feature(feature), class.class)
                })
                .map(|entry| entry.score)
                .max();
            Ok(Ranked {
                facts: class,
                gpus,
                cost,
                score: 0.0,
                preference: preference.unwrap_or(0),
                preferred: preferred.unwrap_or(usize::MAX),
                above_threshold,
                surplus,
                terms: None,
            })
        } else {
            let reasons = failures.into_iter().map(|failure| failure.reason).collect();
            Err(Box::new(ClassCandidate { reasons, ..candidate(class, gpus, cost) }))
        }
    }
}

/// Reports what could not be checked: prices that are not set, nodes that were not read.
fn not_checked(
    request: &Request<'_, '_>,
    wish: &Effective<'_>,
    ranked: &[Ranked<'_, '_>],
    findings: &mut Vec<Diagnostic>,
) {
    let price_asked = wish.strategy == "cost" || wish.threshold.is_some();
    if price_asked {
        let unpriced = |class: &ClassFacts<'_>| {
            class.class.cost.as_ref().is_none_or(|cost| {
                hourly(cost).is_none() && cost.per_million_tokens.is_none() && cost.tier.is_none()
            })
        };
        for ranked in ranked.iter().filter(|ranked| unpriced(ranked.facts)) {
            findings.push(
                Diagnostic::new(
                    Code::NoPrice,
                    format!("AcceleratorClass `{}` states no price", ranked.facts.class.name()),
                )
                .at(ranked.facts.class.object.name_span()),
            );
        }
    }
    if request.catalog.machines().is_empty() {
        findings.push(
            Diagnostic::new(
                Code::AvailabilityNotChecked,
                "whether the chosen accelerators are there was not checked: no Node was read",
            )
            .help("read the nodes with `-f`"),
        );
    }
}

/// Reports preferences that the chosen class does not meet, and replicas that need several nodes.
fn compromises(
    kind: ComponentKind,
    wish: &Effective<'_>,
    first: &Ranked<'_, '_>,
    findings: &mut Vec<Diagnostic>,
) {
    if !wish.preferred.is_empty() && first.preferred == usize::MAX {
        let names: Vec<&str> = wish.preferred.iter().map(|name| name.value.as_str()).collect();
        findings.push(
            Diagnostic::new(
                Code::PreferredNotEligible,
                format!(
                    "no preferred class of the {} passed ({}); {} was taken",
                    kind.as_str(),
                    names.join(", "),
                    first.facts.class.name()
                ),
            )
            .at(wish.preferred[0].span())
            .help("`--strict-preferred` makes this an error"),
        );
    }
    if let Some(threshold) = wish.threshold.filter(|_| first.above_threshold > 0.0) {
        let cost =
            first.cost.map_or_else(|| "an unknown price".to_owned(), |cost| format!("{cost} $/h"));
        findings.push(
            Diagnostic::new(
                Code::CostThresholdExceeded,
                format!("no class costs at most {threshold} $/h: {} was taken at {cost} for one replica", first.facts.class.name()),
            )
            .at(wish.threshold_origin.and_then(Origin::span))
            .help("`--strict-cost` makes this an error"),
        );
    }
    let limit = per_node(first.facts);
    if let Some(gpus) = first.gpus.filter(|gpus| *gpus > limit) {
        findings.push(
            Diagnostic::new(
                Code::MultiNodeNeeded,
                format!(
                    "one replica of the {} needs {gpus} accelerators of {}: {} nodes of {limit}",
                    kind.as_str(),
                    first.facts.class.name(),
                    gpus.div_ceil(limit)
                ),
            )
            .help("make the component multi-node with `leader` and `worker`, or take a class with more memory"),
        );
    }
}
