//! The inputs of a selection, and how much of its evaluation is kept.

use crate::api::{Field, Model, Runtime};
use crate::decision::{EntryChecks, Note, Rank, Rejection};
use ecow::EcoString;

/// What a selection depends on.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Namespace of the service.
    pub namespace: &'a EcoString,
    /// The model.
    pub model: &'a Model,
    /// Protocol the service requests.
    pub asked: Option<&'a EcoString>,
    /// Protocol that is checked; `None` when protocols take no part.
    pub protocol: Option<EcoString>,
    /// Accelerator classes that must all be listed.
    pub accelerators: &'a [Field<EcoString>],
    /// The service is to run on several nodes.
    pub multi_node: bool,
    /// Runtimes that no accelerator class can serve, as far as they were tried, and why.
    pub unserved: Vec<(&'a Runtime, Rejection)>,
}

impl Request<'_> {
    /// Why no accelerator class can serve a runtime that was tried.
    pub(crate) fn unserved(&self, runtime: &Runtime) -> Option<&Rejection> {
        let tried = self.unserved.iter().find(|(tried, _)| tried.object.id == runtime.object.id);
        tried.map(|(_, rejection)| rejection)
    }
}

/// How much of an evaluation is kept. `()` keeps nothing and costs nothing.
pub trait Trace: Default {
    /// Whether anything is kept.
    const ON: bool;
    /// One entry with its comparisons.
    fn entry(&mut self, entry: impl FnOnce() -> EntryChecks);
    /// A failed rule.
    fn reject(&mut self, rejection: impl FnOnce() -> Rejection);
    /// A remark.
    fn note(&mut self, note: impl FnOnce() -> Note);
    /// What was kept.
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

/// Keeps everything.
#[derive(Default)]
pub(crate) struct Recorder {
    entries: Vec<EntryChecks>,
    rejections: Vec<Rejection>,
    notes: Vec<Note>,
}

impl Trace for Recorder {
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

/// The operands of a rank, for those who show them.
pub(crate) fn scope_rank(namespaced: bool) -> Rank {
    Rank { namespaced, priority: None, score: 0, distance: None, protocol: 0 }
}
