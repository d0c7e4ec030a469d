//! What an upgrade of an operator changes, rule by rule.
//!
//! In: two releases, and the rules in which the operator's releases may differ. Out: those that lie
//! between the two, each with its sentence, its source and what to do before the upgrade; and a
//! release that has one rule of another, by which it is found out whether the rule matters for a
//! service. Nothing is decided here; the rules themselves are in `upgrade.rs` of each operator.

use super::Policy;
use crate::api::{FieldEdit, Object, Today};

/// A rule that differs between releases. The identifier is stable.
#[derive(Debug)]
pub struct ReleaseRule {
    /// `A5`; never shown without the title.
    pub id: &'static str,
    /// What it does, in a sentence that holds for an upgrade.
    pub title: &'static str,
    /// Pull request and upstream function.
    pub source: &'static str,
    /// What to do before the upgrade.
    pub action: &'static str,
    /// The edit that keeps what runs.
    pub edit: EditRule,
}

impl ReleaseRule {
    /// Whether this is that rule and no other one: several rules may share an identifier.
    pub fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// How an edit of the input is found that keeps what runs.
#[derive(Clone, Copy, Debug)]
pub enum EditRule {
    /// No field of the input does; why.
    None(&'static str),
    /// Sets of edits, each of which may keep it, the best first.
    Fields(fn(&Today<'_>) -> Vec<Vec<FieldEdit>>),
    /// The fields that the release before the upgrade drops are taken out.
    DroppedFields,
}

/// Of a rule that changes no object of a service.
pub(crate) const NO_OBJECT: EditRule = EditRule::None("the rule changes no object of the service");

/// A rule that is a value of an operator's releases.
#[derive(Debug)]
pub struct Switch {
    /// Its sentence.
    pub rule: ReleaseRule,
    /// Whether two releases differ in it.
    pub(crate) differs: fn(&Policy, &Policy) -> bool,
    /// Gives a release the rule of another one; none of a rule about what is read, which deciding
    /// again does not show.
    pub(crate) take: Option<fn(&mut Policy, &Policy)>,
}

/// A rule that changes no object of a service when it is decided again: what it reaches is read
/// from the input.
#[derive(Debug)]
pub struct Effect {
    /// Its sentence.
    pub rule: ReleaseRule,
    /// Whether two releases differ in it.
    pub(crate) differs: fn(&Policy, &Policy) -> bool,
    /// Whether it reaches an object of the input; `Reach` answers what the object alone does not.
    pub(crate) reaches: fn(&Object, &Reach<'_>) -> bool,
}

/// What the releases of an operator change, apart from the rules that are seen in the input.
pub struct Upgrade {
    /// Rules that deciding again shows.
    pub(crate) rules: &'static [&'static [Switch]],
    /// Rules that change no object of a service, or objects that are not the operator's.
    pub(crate) effects: &'static [Effect],
    /// How the rules are known, where that is not by recording.
    pub(crate) basis: Option<&'static str>,
}

/// What is known beside an object.
pub struct Reach<'a> {
    /// Whether an AcceleratorClass of this name exists.
    pub has_class: &'a (dyn Fn(&str) -> bool + Sync),
    /// Whether a model of this name exists in this namespace or in the cluster.
    pub has_model: &'a (dyn Fn(&str, &str) -> bool + Sync),
    /// Whether a service is refused before the upgrade, by namespace and name.
    pub is_refused: &'a (dyn Fn(&Object) -> bool + Sync),
    /// Whether a service of KServe runs as Deployments.
    pub runs_deployments: &'a (dyn Fn(&Object) -> bool + Sync),
}

/// A switch per line: identifier, fields of the operator's releases, title, source, action, the
/// name of its [`EditRule`].
macro_rules! switches {
    ($own:ident $kind:ident
     $($id:literal [$($field:ident),*] $title:literal $source:literal $action:literal $edit:ident)*) => {
        &[$(Switch {
            rule: ReleaseRule {
                id: $id,
                title: $title,
                source: $source,
                action: $action,
                edit: $edit,
            },
            differs: |a, b| [$(a.$own().$field != b.$own().$field),*].contains(&true),
            take: Some(|policy, from| {
                let mut own = *policy.$own();
                $(own.$field = from.$own().$field;)*
                policy.own = Own::$kind(Box::leak(Box::new(own)));
            }),
        },)*]
    };
}
pub(crate) use switches;

/// An effect per entry: identifier, fields of the operator's releases, title, source, action, what
/// it reaches.
macro_rules! effects {
    ($own:ident $($id:literal [$($field:ident),*] $title:literal $source:literal $action:literal $reaches:expr)*) => {
        &[$(Effect {
            rule: ReleaseRule {
                id: $id,
                title: $title,
                source: $source,
                action: $action,
                edit: NO_OBJECT,
            },
            differs: |a, b| [$(a.$own().$field != b.$own().$field),*].contains(&true),
            reaches: $reaches,
        },)*]
    };
}
pub(crate) use effects;

impl Switch {
    /// Whether two releases differ in it.
    pub fn is_between(&self, a: &Policy, b: &Policy) -> bool {
        (self.differs)(a, b)
    }
}

/// The rules by which two releases differ and which deciding again shows, each with `a` as it would
/// be with the rule of `b`.
///
/// The constants live as long as the program: there are as many as rules, once per run.
pub fn between(
    rules: impl IntoIterator<Item = &'static Switch>,
    a: &'static Policy,
    b: &'static Policy,
) -> Vec<(&'static Switch, &'static Policy)> {
    let switches = rules.into_iter().filter(|switch| switch.is_between(a, b));
    switches
        .filter_map(|switch| {
            let mut policy = *a;
            (switch.take?)(&mut policy, b);
            Some((switch, &*Box::leak(Box::new(policy))))
        })
        .collect()
}
