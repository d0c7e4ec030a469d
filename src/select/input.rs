//! The inputs of a selection, and the trace of its evaluation.

use crate::api::{DeploymentMode, Field, Model, Runtime};
use crate::decision::{EntryChecks, Note, Rank, Rejection};
use ecow::EcoString;

/// The inputs that a selection depends on.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Namespace of the service.
    pub namespace: &'a EcoString,
    /// The model.
    pub model: &'a Model,
    /// Protocol that the service requests.
    pub named_protocol: Option<&'a EcoString>,
    /// Protocol that is checked; `None` when protocols are not compared.
    pub protocol: Option<EcoString>,
    /// Accelerator classes that the runtime must all list.
    pub accelerators: &'a [Field<EcoString>],
    /// True when the service must run on several nodes.
    pub multi_node: bool,
    /// Deployment modes that the service's components set, by component and part of a runtime.
    pub modes: Vec<(&'static str, &'static str, DeploymentMode)>,
    /// Tried runtimes that no accelerator class can serve, with the reason.
    pub unserved: Vec<(&'a Runtime, Rejection)>,
}

impl Request<'_> {
    /// Returns the reason why no accelerator class can serve a tried runtime.
    pub(crate) fn unserved(&self, runtime: &Runtime) -> Option<&Rejection> {
        let tried = self.unserved.iter().find(|(tried, _)| tried.object.id == runtime.object.id);
        tried.map(|(_, rejection)| rejection)
    }
}

/// A recorder of the evaluation. `()` records nothing at no cost.
pub trait Trace: Default {
    /// True when the trace records anything.
    const ON: bool;
    /// Records one entry with its comparisons.
    fn entry(&mut self, entry: impl FnOnce() -> EntryChecks);
    /// Records a failed rule.
    fn reject(&mut self, rejection: impl FnOnce() -> Rejection);
    /// Records a note.
    fn note(&mut self, note: impl FnOnce() -> Note);
    /// Returns the recorded entries, rejections and notes.
    fn into_parts(self) -> (Vec<EntryChecks>, Vec<Rejection>, Vec<Note>);
}

impl Trace for () {
    const ON: bool = false;
    fn entry(&mut self, _: impl FnOnce() -> EntryChecks) {}
    fn reject(&mut self, _: impl FnOnce() -> Rejection) {}
    fn note(&mut self, _: impl FnOnce() -> Note) {}
    fn into_parts(self) -> (Vec<EntryChecks>, Vec<Rejection>, Vec<Note>) {
        (Vec::new(), Vec::new(), Vec::new())
    }
}

/// Records everything.
#[derive(Default)]
pub(crate) struct Reasons {
    entries: Vec<EntryChecks>,
    rejections: Vec<Rejection>,
    notes: Vec<Note>,
}

impl Trace for Reasons {
    const ON: bool = true;
    fn entry(&mut self, entry: impl FnOnce() -> EntryChecks) {
        self.entries.push(entry());
    }
    fn reject(&mut self, rejection: impl FnOnce() -> Rejection) {
        self.rejections.push(rejection());
    }
    fn note(&mut self, note: impl FnOnce() -> Note) {
        self.notes.push(note());
    }
    fn into_parts(self) -> (Vec<EntryChecks>, Vec<Rejection>, Vec<Note>) {
        (self.entries, self.rejections, self.notes)
    }
}

/// Builds a rank with only the scope set.
pub(crate) fn scope_rank(namespaced: bool) -> Rank {
    Rank { namespaced, priority: None, score: 0, distance: None, protocol: 0 }
}
