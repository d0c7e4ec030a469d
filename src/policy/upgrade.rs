//! Changes of an operator upgrade, rule by rule.
//!
//! In: two releases, and the rules that can differ between the operator's releases. Out: the rules
//! that differ, each with title, source and action before the upgrade; and for each rule a copy of
//! one release that has this rule of the other one. Evaluating a service with that copy shows
//! whether the rule affects it. This module makes no decision; the rules are in `upgrade.rs` of
//! each operator.

use super::Policy;
use crate::api::{FieldEdit, Object, OperatorConfig, Service, Today};

/// A rule that differs between releases. The identifier is stable.
#[derive(Debug)]
pub struct ReleaseRule {
    /// Identifier such as `A5`; always shown with the title.
    pub id: &'static str,
    /// The change, in a sentence about the upgrade.
    pub title: &'static str,
    /// Pull request and upstream function.
    pub source: &'static str,
    /// What to do before the upgrade.
    pub action: &'static str,
    /// The edit that preserves the running objects.
    pub edit: EditRule,
}

impl ReleaseRule {
    /// Reports whether both are the same rule. Several rules may share an identifier, so it
    /// compares addresses.
    pub fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// How to find an edit of the input that preserves the running objects.
#[derive(Clone, Copy, Debug)]
pub enum EditRule {
    /// No field of the input can; the text is the reason.
    None(&'static str),
    /// Sets of edits, each of which may preserve them, the best first.
    Fields(fn(&Today<'_>) -> Vec<Vec<FieldEdit>>),
    /// Removes the fields that the release before the upgrade drops.
    DroppedFields,
}

/// Edit rule of a rule that changes no object of a service.
pub(crate) const NO_OBJECT: EditRule = EditRule::None("the rule changes no object of the service");

/// A rule that is a value of an operator's releases.
#[derive(Debug)]
pub struct Switch {
    /// Identifier, title, source and action.
    pub rule: ReleaseRule,
    /// Reports whether two releases differ in it.
    pub(crate) differs: fn(&Policy, &Policy) -> bool,
    /// Copies the rule of one release to another. `None` for a rule about reading the input,
    /// because evaluating again does not show it.
    pub(crate) take: Option<fn(&mut Policy, &Policy)>,
}

/// A rule that changes no object when a service is evaluated again; the affected objects are found
/// in the input.
#[derive(Debug)]
pub struct Effect {
    /// Identifier, title, source and action.
    pub rule: ReleaseRule,
    /// Reports whether two releases differ in it.
    pub(crate) differs: fn(&Policy, &Policy) -> bool,
    /// Reports whether it affects an object of the input; `Reach` provides facts that the object
    /// does not contain.
    pub(crate) reaches: fn(&Object, &Reach<'_>) -> bool,
}

/// A rule with the fields that it is about: by a path, or by the name of an object.
pub(crate) type FieldRule = (&'static Switch, fn(&str) -> bool);

/// The rules that can change between releases of an operator.
pub struct Upgrade {
    /// Rules whose effect shows when services are evaluated again.
    pub(crate) rules: &'static [&'static [Switch]],
    /// Rules that change no object of a service, or objects that are not the operator's.
    pub(crate) effects: &'static [Effect],
    /// Rules about fields that one of the releases drops. The first that matches a field applies.
    pub(crate) fields: &'static [FieldRule],
    /// Rules about fields count only if the service differs because of the fields.
    pub(crate) fields_are_tried: bool,
    /// Rules about the settings that a release ships.
    pub(crate) shipped: Option<ShippedRules>,
    /// The rule about the protocol that a service speaks by default.
    pub(crate) protocol: Option<&'static Switch>,
    /// The rule about a service that crashes the controller, and the identifier of the rule that
    /// has to affect the service, too.
    pub(crate) crash: Option<(&'static ReleaseRule, &'static str)>,
    /// How the rules were determined, unless from recordings.
    pub(crate) basis: Option<&'static str>,
}

/// Rules about the settings that a release ships.
pub struct ShippedRules {
    /// Whether Ingresses are created.
    pub(crate) ingress: &'static Switch,
    /// Reports whether a service gets no Ingress; its annotations override the settings.
    pub(crate) without_ingress: fn(&Policy, &Service, &OperatorConfig) -> bool,
    /// The image of the multi-node prober.
    pub(crate) prober: &'static Switch,
    /// The grace period of pods whose service sets none.
    pub(crate) grace_period: &'static Switch,
}

/// Facts that are not in the object itself.
pub struct Reach<'a> {
    /// Reports whether an AcceleratorClass of this name exists.
    pub has_class: &'a (dyn Fn(&str) -> bool + Sync),
    /// Reports whether a model of this name exists in this namespace or in the cluster.
    pub has_model: &'a (dyn Fn(&str, &str) -> bool + Sync),
    /// Reports whether the operator rejects a service before the upgrade.
    pub is_refused: &'a (dyn Fn(&Object) -> bool + Sync),
    /// Reports whether a service runs as Deployments.
    pub runs_deployments: &'a (dyn Fn(&Object) -> bool + Sync),
}

/// Builds one switch per line: identifier, fields of the operator's releases, title, source,
/// action, the name of its [`EditRule`].
macro_rules! switches {
    ($rules:ident $($id:literal [$($field:ident),*] $title:literal $source:literal $action:literal $edit:ident)*) => {
        &[$(Switch {
            rule: ReleaseRule {
                id: $id,
                title: $title,
                source: $source,
                action: $action,
                edit: $edit,
            },
            differs: |a, b| [$(a.$rules().$field != b.$rules().$field),*].contains(&true),
            take: Some(|policy, from| {
                // The constants of releases are shared: the copy is changed, never the constant.
                let mut release = *policy.$rules();
                $(release.$field = from.$rules().$field;)*
                policy.operator_rules = Box::leak(Box::new(release));
            }),
        },)*]
    };
}
pub(crate) use switches;

/// Builds one effect per entry: identifier, fields of the operator's releases, title, source,
/// action, and the function that finds affected objects.
macro_rules! effects {
    ($rules:ident $($id:literal [$($field:ident),*] $title:literal $source:literal $action:literal $reaches:expr)*) => {
        &[$(Effect {
            rule: ReleaseRule {
                id: $id,
                title: $title,
                source: $source,
                action: $action,
                edit: NO_OBJECT,
            },
            differs: |a, b| [$(a.$rules().$field != b.$rules().$field),*].contains(&true),
            reaches: $reaches,
        },)*]
    };
}
pub(crate) use effects;

impl Switch {
    /// Reports whether two releases differ in it.
    pub fn is_between(&self, a: &Policy, b: &Policy) -> bool {
        (self.differs)(a, b)
    }
}

/// Returns the rules that differ between two releases and whose effect shows when services are
/// evaluated again, each with a copy of `a` that has the rule of `b`.
///
/// The copies are leaked on purpose: there is at most one per rule and run.
pub fn between(
    rules: impl IntoIterator<Item = &'static Switch>,
    a: &'static Policy,
    b: &'static Policy,
) -> Vec<(&'static Switch, &'static Policy)> {
    let switches = rules.into_iter().filter(|switch| switch.is_between(a, b));
    switches
        .filter_map(|switch| {
            // One rule at a time: a service that changes under this copy is affected by this rule.
            let mut policy = *a;
            (switch.take?)(&mut policy, b);
            Some((switch, &*Box::leak(Box::new(policy))))
        })
        .collect()
}
