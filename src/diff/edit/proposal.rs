//! An edit, with the result of deciding again with it.

use super::patch::Patch;
use crate::api::ObjectRef;
use crate::diff::{Action, Refused};
use crate::pipeline::Edit;
use crate::policy::upgrade::ReleaseRule;
use crate::yaml::FieldPath;
use ecow::EcoString;

/// An edit of the input before an upgrade.
#[derive(Clone, Debug)]
pub enum Proposal {
    /// After it the rule makes no difference.
    Edit(RuleEdit),
    /// There is none; why.
    None(String),
}

/// An edit after which a rule makes no difference.
#[derive(Clone, Debug)]
pub struct RuleEdit {
    /// The fields.
    pub changes: Vec<Edit>,
    /// What it changes under the release that runs; nothing of an edit that is harmless.
    pub today: Difference,
}

impl RuleEdit {
    /// Whether the edit keeps what runs on both sides.
    pub fn is_verified(&self) -> bool {
        self.today.is_none()
    }
}

/// What differs between two makings of a service.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// Pods restart.
    pub restart: bool,
    /// It cannot be deployed any more.
    pub fails: Option<Refused>,
    /// It has another runtime or another class.
    pub chooses: bool,
    /// Objects that change, with the first fields.
    pub objects: Vec<(ObjectRef, Action, Vec<FieldPath>)>,
}

impl Difference {
    /// Nothing differs.
    pub fn is_none(&self) -> bool {
        !self.restart && self.fails.is_none() && !self.chooses && self.objects.is_empty()
    }
}

/// All edits of a service together.
#[derive(Clone, Debug)]
pub struct AllEdits {
    /// The service that was decided again.
    pub service: EcoString,
    /// The fields of all edits.
    pub changes: Vec<Edit>,
    /// Rules that only the edits bring up, each with its own.
    pub brought_up: Vec<(&'static ReleaseRule, Proposal)>,
    /// What they change under the release that runs.
    pub today: Difference,
    /// What still changes at the upgrade.
    pub upgrade: Difference,
    /// Rules without an edit of their own that make no difference with these.
    pub settled: Vec<&'static ReleaseRule>,
    /// The edits by object; none where a list that is written as a whole holds a secret.
    pub patch: Option<Vec<Patch>>,
}
