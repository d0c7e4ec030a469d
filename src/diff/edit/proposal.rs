//! An edit, with the result of deciding again with it.

use super::patch::Patch;
use crate::api::ObjectRef;
use crate::decision::Edit;
use crate::diff::{Action, Refused};
use crate::policy::upgrade::ReleaseRule;
use crate::yaml::FieldPath;
use ecow::EcoString;

/// An edit of the input before an upgrade.
#[derive(Clone, Debug)]
pub enum Proposal {
    /// An edit after which the rule makes no difference.
    Edit(RuleEdit),
    /// There is no edit, for this reason.
    None(String),
}

/// An edit after which a rule makes no difference.
#[derive(Clone, Debug)]
pub struct RuleEdit {
    /// The fields.
    pub changes: Vec<Edit>,
    /// Its effect under the running release; empty if the edit is harmless.
    pub today: Difference,
}

impl RuleEdit {
    /// Whether the edit also changes nothing under the running release.
    pub fn is_verified(&self) -> bool {
        self.today.is_none()
    }
}

/// The difference between two results for a service.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// Pods restart.
    pub restart: bool,
    /// The service can no longer be deployed.
    pub fails: Option<Refused>,
    /// The service gets another runtime or another class.
    pub chooses: bool,
    /// Objects that change, with the changed fields.
    pub objects: Vec<(ObjectRef, Action, Vec<FieldPath>)>,
}

impl Difference {
    /// Whether nothing differs.
    pub fn is_none(&self) -> bool {
        !self.restart && self.fails.is_none() && !self.chooses && self.objects.is_empty()
    }
}

/// All edits of a service together.
#[derive(Clone, Debug)]
pub struct AllEdits {
    /// The service that was decided again with the edits.
    pub service: EcoString,
    /// The fields of all edits.
    pub changes: Vec<Edit>,
    /// Rules that apply only because of the edits, each with its own proposal.
    pub brought_up: Vec<(&'static ReleaseRule, Proposal)>,
    /// Their effect under the running release.
    pub today: Difference,
    /// What still changes at the upgrade.
    pub upgrade: Difference,
    /// Rules without an edit of their own that make no difference with these edits.
    pub settled: Vec<&'static ReleaseRule>,
    /// The edits by object; `None` if a list that is written as a whole holds a secret.
    pub patch: Option<Vec<Patch>>,
}
