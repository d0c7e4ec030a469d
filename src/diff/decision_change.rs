//! The decision that a change turns, and the rule that turns it.
//!
//! In: the decisions for a service in two states, each with its candidates. Out: the candidate
//! whose verdict differs, with the reason of the side that rejects it, in the wording of `ome
//! explain`.

use crate::api::ObjectRef;
use crate::decision::{
    AcceleratorDecision, Candidate, ClassCandidate, ClassDecidedBy, Note, Resolution,
    RuntimeDecision, Verdict,
};
use crate::diag::Code;
use ecow::{EcoString, eco_format};

/// A decision that turned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// The runtime or the class, by its displayed name.
    pub candidate: EcoString,
    /// Why it is rejected on one side, or ranks behind another one.
    pub by: By,
}

/// The reason for which a decision turned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// A rule, with both values.
    Rule(Code, EcoString),
    /// The criterion that ranks another class before it.
    Rank(ClassDecidedBy),
}

/// The result of a trial.
#[derive(Clone)]
pub(super) enum Tried {
    /// The result is the same as before.
    Same,
    /// The result differs; the decision that turned.
    Differs(Option<Turned>),
}

impl Tried {
    /// Whether the result differs.
    pub(super) fn differs(&self) -> bool {
        matches!(self, Self::Differs(_))
    }
}

/// The decision that turned between two resolutions of one service; `None` if both are equal, or if
/// there were no candidates.
pub(super) fn turned(before: &Resolution<'_>, after: &Resolution<'_>) -> Option<Turned> {
    // The runtime first: classes are chosen for it, so that theirs may only follow.
    runtime(&before.runtime, &after.runtime).or_else(|| {
        let mut decisions = before.accelerators.iter();
        decisions.find_map(|was| class(was, after.accelerator(was.component)?))
    })
}

fn runtime(before: &RuntimeDecision<'_>, after: &RuntimeDecision<'_>) -> Option<Turned> {
    let id =
        |decision: &RuntimeDecision<'_>| decision.chosen.map(|runtime| runtime.object.id.clone());
    let (was, is) = (id(before), id(after));
    // A runtime that the service names can be chosen and still be refused for a mismatch.
    let named = was == is;
    let judged = |decision: &RuntimeDecision<'_>, id: &Option<ObjectRef>| {
        let mut candidates = decision.candidates.iter();
        rejected(candidates.find(|candidate| Some(&candidate.runtime.object.id) == id.as_ref())?)
    };
    if named {
        return match (judged(before, &was), judged(after, &is)) {
            (None, Some(turned)) | (Some(turned), None) => Some(turned),
            _ => None,
        };
    }
    // Why the former one is out is the better answer; else why the new one was.
    judged(after, &was).or_else(|| judged(before, &is)).or_else(|| {
        let lost = after
            .candidates
            .iter()
            .find(|candidate| Some(&candidate.runtime.object.id) == was.as_ref());
        outranked(lost?)
    })
}

fn rejected(candidate: &Candidate<'_>) -> Option<Turned> {
    let reason = &candidate.reasons.first()?.reason;
    let by = By::Rule(reason.code(), eco_format!("{reason}"));
    Some(Turned { candidate: candidate.runtime.object.shown_name(), by })
}

fn outranked(candidate: &Candidate<'_>) -> Option<Turned> {
    let is_rank = |note: &&Note| matches!(note, Note::Outranked { .. });
    let note = candidate.notes.iter().find(is_rank)?;
    let by = By::Rule(note.code(), eco_format!("{note}"));
    Some(Turned { candidate: candidate.runtime.object.shown_name(), by })
}

fn class(before: &AcceleratorDecision<'_>, after: &AcceleratorDecision<'_>) -> Option<Turned> {
    let name =
        |decision: &AcceleratorDecision<'_>| decision.chosen.map(|class| class.name().clone());
    let (was, is) = (name(before), name(after));
    if was == is {
        return None;
    }
    let found = |decision: &AcceleratorDecision<'_>, name: &Option<EcoString>| {
        let candidate =
            decision.candidates.iter().find(|candidate| Some(&candidate.name) == name.as_ref())?;
        Some((
            class_name(candidate),
            candidate.reasons.first().cloned(),
            candidate.behind,
            candidate.verdict,
        ))
    };
    let refused = |decision: &AcceleratorDecision<'_>, name: &Option<EcoString>| {
        let (candidate, reason, ..) = found(decision, name)?;
        let reason = reason?;
        Some(Turned { candidate, by: By::Rule(reason.code, reason.detail) })
    };
    // In the same order as for runtimes.
    refused(after, &was).or_else(|| refused(before, &is)).or_else(|| {
        let (candidate, _, behind, verdict) = found(after, &was)?;
        let key = behind.filter(|_| verdict == Verdict::Eligible)?;
        Some(Turned { candidate, by: By::Rank(key) })
    })
}

fn class_name(candidate: &ClassCandidate<'_>) -> EcoString {
    candidate.class.map_or_else(|| candidate.name.clone(), |class| class.object.shown_name())
}
