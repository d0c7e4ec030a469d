//! The choice of the shipped controller: a named class, or a policy over the classes that the
//! runtime lists (pkg/acceleratorclassselector/selector.go; docs/accelerators.md,
//! pkg/acceleratorclassselector of OME v0.1.5).

mod rank;

use super::Request;
use crate::api::{
    AcceleratorClass, Capabilities, ComponentKind, Constraints, Failure, Field, FormatEntry,
};
use crate::decision::{
    AcceleratorBasis, AcceleratorDecision, ClassCandidate, ClassDecidedBy, ClassReason, Step,
    Verdict,
};
use crate::diag::{Code, nearest, step_to_load};
use crate::operators::ome::accelerators::policy::rank::{Ranking, hourly, rank};
use crate::operators::ome::rules::Rules as _;
use crate::quantity::Quantity;
use crate::select::gates::entry_weight;
use crate::source::Span;
use crate::yaml::{Origin, Rule};
use ecow::{EcoString, eco_format};

/// The default policy of the releases that have one.
const FIRST_AVAILABLE: &str = "FirstAvailable";

static DEFAULT_POLICY: Rule = Rule {
    id: "default-class-policy",
    text: "a service that names neither class nor policy is chosen for by FirstAvailable, up to v0.1.4",
    cite: "pkg/acceleratorclassselector/types.go of OME v0.1.4, NewConfig",
};

pub(super) fn decide<'a>(
    request: &Request<'a, '_>,
    kind: ComponentKind,
) -> (AcceleratorDecision<'a>, Option<Failure>) {
    let mut decision = AcceleratorDecision::none(kind);
    // Before any return: the entry's settings apply also where no class is chosen.
    decision.entry = format_entry(request);
    let wish = &request.service.accelerators;
    let over = &wish.overrides[kind as usize];
    let listed = &request.runtime.accelerator_classes;
    let policy = over.policy.as_ref().or(wish.selector.policy.as_ref());
    decision.policy = policy.map(|policy| policy.value.clone());
    // Upstream chooses only for runtimes that list classes and ignores the service otherwise.
    if listed.is_empty() {
        return (decision, None);
    }
    let named = over
        .class
        .as_ref()
        .or(wish.selector.class.as_ref())
        .filter(|class| !class.value.is_empty());
    if let Some(named) = named {
        let error = name(request, named, &mut decision);
        return (decision, error);
    }
    let release = request.policy.ome();
    // An empty policy is a policy that is not set.
    let written = policy.map(|policy| policy.value.as_str()).filter(|policy| !policy.is_empty());
    let in_force = written.or(release.default_class.then_some(FIRST_AVAILABLE));
    let looks = match in_force {
        None => true,
        Some(FIRST_AVAILABLE) => release.first_available_looks,
        Some(_) => release.policies,
    };
    if !looks {
        let error = in_force.and_then(|policy| first_listed(request, policy, &mut decision));
        return (decision, error);
    }
    let implied;
    let policy = match (policy, in_force) {
        (Some(policy), _) if !policy.value.is_empty() => policy,
        (_, Some(default)) => {
            implied = Field::new(default.into(), Origin::Default(&DEFAULT_POLICY));
            &implied
        }
        (Some(policy), None) => policy,
        (None, None) => return (decision, None),
    };
    decision.basis = AcceleratorBasis::Policy;
    let classes = match listed_classes(request) {
        Ok(classes) => classes,
        Err(missing) => {
            // Upstream logs this and continues without an accelerator.
            decision.notes.push(eco_format!(
                "the runtime lists `{missing}`, which is not loaded: no class is chosen at all"
            ));
            return (decision, None);
        }
    };
    let constraints = wish.selector.constraints.as_ref();
    if over.constraints.is_some() {
        decision.notes.push("constraints of acceleratorOverride are never looked at".into());
    }
    let (passed, rejected): (Vec<_>, Vec<_>) = classes
        .iter()
        .map(|class| (*class, constraints.and_then(|constraints| filter(class, constraints))))
        .partition(|(_, reason)| reason.is_none());
    decision.steps = vec![
        Step { id: "listed", r#in: listed.len(), out: classes.len() },
        Step { id: "constraints", r#in: classes.len(), out: passed.len() },
    ];
    let passed: Vec<&AcceleratorClass> = passed.into_iter().map(|(class, _)| class).collect();
    let ranking = rank(&policy.value, &passed, constraints);
    let crashes = matches!(ranking, Ranking::Crash);
    let error = crashes.then(|| would_crash(kind, passed.len(), policy.span()));
    let unranked = || passed.iter().map(|class| (*class, None::<f64>)).collect::<Vec<_>>();
    let (order, chosen) = match ranking {
        Ranking::Ordered(order, by) => (order, Some(by)),
        Ranking::Nothing(note) => {
            decision.notes.extend(note);
            (unranked(), None)
        }
        Ranking::Crash => (unranked(), None),
    };
    if let Some(by) = chosen {
        decision.chosen = order.first().map(|(class, _)| *class);
        decision.decided_by = Some(by);
        decision.notes.extend(tie(by, &order, &passed));
    }
    (decision.eligible, decision.rejected) = (order.len(), rejected.len());
    decision.steps.push(Step {
        id: "policy",
        r#in: order.len(),
        out: usize::from(decision.chosen.is_some()),
    });
    let of_order = order.into_iter().enumerate().map(|(index, (class, score))| {
        let verdict =
            if index == 0 && chosen.is_some() { Verdict::Chosen } else { Verdict::Eligible };
        candidate(class, verdict, score, Vec::new())
    });
    let rejected = rejected.into_iter().map(|(class, reason)| {
        candidate(class, Verdict::Rejected, None, reason.into_iter().collect())
    });
    decision.candidates = of_order.chain(rejected).collect();
    (decision, error)
}

fn would_crash(kind: ComponentKind, classes: usize, span: Option<Span>) -> Failure {
    let kind = kind.as_str();
    Failure {
        code: Code::WouldPanic,
        message: format!(
            "controller would crash choosing the {kind}'s accelerator: BestFit over {classes} classes without constraints"
        ),
        help: Some("write `acceleratorSelector.constraints: {}`".into()),
        span,
    }
}

/// The classes that the runtime lists; the name of the first one that is not loaded.
fn listed_classes<'a>(request: &Request<'a, '_>) -> Result<Vec<&'a AcceleratorClass>, EcoString> {
    let mut names: Vec<&EcoString> = Vec::new();
    for class in &request.runtime.accelerator_classes {
        // Upstream drops duplicates before it gets the classes; the first keeps its place.
        if !names.contains(&&class.value) {
            names.push(&class.value);
        }
    }
    let class = |name: &&EcoString| {
        request.catalog.class_by(request.policy.semantics, name).ok_or_else(|| (*name).clone())
    };
    names.iter().map(class).collect()
}

/// What to say where the controller's sort, which is not stable, changes the order of classes with
/// the best score.
fn tie(
    by: ClassDecidedBy,
    order: &[(&AcceleratorClass, Option<f64>)],
    passed: &[&AcceleratorClass],
) -> Option<EcoString> {
    let (chosen, best) = order.first()?;
    let is_best = |class: &&AcceleratorClass| {
        order.iter().any(|(other, score)| std::ptr::eq(*other, *class) && score == best)
    };
    // The first class of the best score in the runtime's list, which a stable sort would choose.
    let listed = || passed.iter().copied().find(is_best).map(AcceleratorClass::name);
    (by == ClassDecidedBy::Order && best.is_some() && listed() != Some(chosen.name())).then(|| {
        "tie: with more than 12 classes, the controller's sort changes the order of equal scores"
            .into()
    })
}

fn candidate(
    class: &AcceleratorClass,
    verdict: Verdict,
    score: Option<f64>,
    reasons: Vec<ClassReason>,
) -> ClassCandidate<'_> {
    ClassCandidate {
        name: class.name().clone(),
        class: Some(class),
        verdict,
        score,
        terms: None,
        behind: None,
        gpus: None,
        nodes_needed: 1,
        cost_per_hour: class.cost.as_ref().and_then(hourly).map(Quantity::as_f64),
        preference: 0,
        capabilities: Vec::new(),
        reasons,
    }
}

/// Before v0.1.5, FirstAvailable takes the first name of the runtime's list; any other policy
/// chooses nothing.
fn first_listed<'a>(
    request: &Request<'a, '_>,
    policy: &str,
    decision: &mut AcceleratorDecision<'a>,
) -> Option<Failure> {
    if policy != FIRST_AVAILABLE {
        decision.notes.push(eco_format!(
            "OME {} accepts the policy {policy} and does not apply it",
            request.policy.release
        ));
        return None;
    }
    let first = request.runtime.accelerator_classes.first()?;
    // An empty name counts as none upstream: no class is looked up and none is an error.
    if first.value.is_empty() {
        return None;
    }
    decision.policy = Some(policy.into());
    let error = name(request, first, decision);
    if error.is_none() {
        // `name` sets what a class by name has; here the policy chose it.
        decision.basis = AcceleratorBasis::Policy;
        decision.decided_by = Some(ClassDecidedBy::Order);
    }
    error
}

/// Takes a class by name. Only its existence is checked.
fn name<'a>(
    request: &Request<'a, '_>,
    named: &Field<EcoString>,
    decision: &mut AcceleratorDecision<'a>,
) -> Option<Failure> {
    let kind = decision.component.as_str();
    let semantics = request.policy.semantics;
    let Some(class) = request.catalog.class_by(semantics, &named.value) else {
        let near = nearest(
            &named.value,
            request.catalog.classes_by(semantics).map(|class| class.name().as_str()),
        );
        return Some(Failure {
            code: Code::AcceleratorNotFound,
            message: format!(
                "failed to get accelerator class for {kind}: accelerator class {} not found at cluster scope",
                named.value
            ),
            help: near
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some(step_to_load("class"))),
            span: named.span(),
        });
    };
    decision.basis = AcceleratorBasis::Explicit;
    decision.decided_by = Some(ClassDecidedBy::Named);
    decision.chosen = Some(class);
    decision.eligible = 1;
    decision.candidates = vec![candidate(class, Verdict::Chosen, None, Vec::new())];
    None
}

/// The format entry whose acceleratorConfig applies: the one with the best weight, computed at
/// priority 1; the first one on ties. For a runtime that the service does not name, only entries
/// with autoSelect count (pkg/runtimeselector/selector.go, GetSupportedModelFormat).
fn format_entry(request: &Request<'_, '_>) -> Option<usize> {
    let model = request.model?;
    let counts = |entry: &FormatEntry| {
        (request.named_runtime && request.policy.ome().named_runtime_formats)
            || entry.auto_select.as_ref().is_some_and(|auto_select| auto_select.value)
    };
    let mut best: Option<(i64, usize)> = None;
    for (index, entry) in
        request.runtime.formats.iter().enumerate().filter(|(_, entry)| counts(entry))
    {
        let weight = entry_weight(request.policy, model, entry);
        // Above 0 only: an entry that does not match the model has weight 0.
        if weight > best.map_or(0, |(weight, _)| weight) {
            best = Some((weight, index));
        }
    }
    best.map(|(_, index)| index)
}

/// The first constraint that a class fails, in upstream's order and with its message.
fn filter(class: &AcceleratorClass, constraints: &Constraints) -> Option<ClassReason> {
    let no = |code: Code, detail: EcoString| Some(ClassReason { code, detail, bound: None });
    let capabilities = &class.capabilities;
    if constraints.excluded.iter().any(|name| name.value == *class.name()) {
        return no(Code::ReasonExcluded, "explicitly excluded".into());
    }
    if !constraints.families.is_empty()
        && !constraints.families.iter().any(|family| is_of_family(class, &family.value))
    {
        let family = lower(class.family.as_ref());
        return no(
            Code::ReasonArchitectureFamily,
            eco_format!("architecture family {family} not in allowed list"),
        );
    }
    if constraints.min_memory.is_some() || constraints.max_memory.is_some() {
        let Some(memory) = &capabilities.memory else {
            return no(
                Code::ReasonMinMemory,
                "missing memory specification for memory check".into(),
            );
        };
        // Upstream compares whole GiB, so that a fraction is cut off before the comparison.
        let gib = i64::try_from(memory.value.whole_gib()).unwrap_or(i64::MAX);
        if let Some(least) = constraints.min_memory.as_ref().filter(|least| gib < least.value) {
            return no(
                Code::ReasonMinMemory,
                eco_format!("memory {gib}GB < required {}GB", least.value),
            );
        }
        if let Some(most) = constraints.max_memory.as_ref().filter(|most| gib > most.value) {
            return no(
                Code::ReasonMaxMemory,
                eco_format!("memory {gib}GB > max allowed {}GB", most.value),
            );
        }
    }
    if let Some(feature) =
        constraints.features.iter().find(|feature| !has_feature(capabilities, &feature.value))
    {
        return no(Code::ReasonFeature, eco_format!("missing required feature: {}", feature.value));
    }
    // A minimum that is set to an empty text still requires a capability: upstream it is a pointer.
    if let Some(least) = &constraints.min_architecture {
        let Some(field) =
            capabilities.compute_capability.as_ref().filter(|field| !field.value.is_empty())
        else {
            return no(
                Code::ReasonMinArchitecture,
                "missing compute capability for architecture version check".into(),
            );
        };
        // Quirk: compared as strings, so that 10.0 < 9.0.
        if field.value < least.value {
            return no(
                Code::ReasonMinArchitecture,
                eco_format!("compute capability {} < required {}", field.value, least.value),
            );
        }
    }
    None
}

fn has_feature(capabilities: &Capabilities, feature: &str) -> bool {
    let wanted = feature.to_lowercase();
    capabilities.features.iter().any(|field| field.value.to_lowercase() == wanted)
}

fn lower(field: Option<&Field<EcoString>>) -> EcoString {
    field.map(|field| field.value.to_lowercase()).unwrap_or_default()
}

/// Quirk: a value with a hyphen is compared with `VENDOR-FAMILY`, so that `ada-lovelace` never
/// matches.
fn is_of_family(class: &AcceleratorClass, allowed: &str) -> bool {
    let allowed = allowed.to_lowercase();
    let family = lower(class.family.as_ref());
    if allowed.contains('-') {
        allowed == format!("{}-{family}", lower(class.vendor.as_ref()))
    } else {
        family == allowed
    }
}
