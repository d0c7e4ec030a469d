//! A cache of typed documents between two reads.
//!
//! In: the typed documents of a read. Out: those with equal text, position and options. Without the
//! cache, the results are the same and slower.

use super::ReadOptions;
use super::dispatch::Read;
use crate::diag::Diagnostic;
use crate::load::Document;
use crate::source::{FileText, Kustomized, Source, SourceId, SourceMap};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// One document as it was read.
#[derive(Clone)]
pub(super) struct ReadDocument {
    /// The object; none where there is none in it.
    pub(super) typed: Option<Read>,
    /// It is built in.
    pub(super) builtin: bool,
    /// The findings.
    pub(super) found: Vec<Diagnostic>,
}

/// A document by its text and its position in it.
type Place = (SourceId, usize);

/// What the reading of a document depends on beside the options.
#[derive(PartialEq, Eq)]
struct Facts {
    text: FileText,
    name: Arc<str>,
    in_tree: bool,
    overlay: Option<Arc<str>>,
    /// A kustomization beside the file may change while the file does not.
    kustomized: Option<Kustomized>,
}

impl Facts {
    fn of(source: &Source) -> Self {
        Self {
            text: source.text.clone(),
            name: source.name.clone(),
            in_tree: source.root.is_some(),
            overlay: source.overlay.clone(),
            kustomized: source.kustomized.clone(),
        }
    }
}

/// The results of an earlier read.
#[derive(Default)]
pub struct Kept {
    /// The options, spelled out.
    given: String,
    texts: HashMap<SourceId, Facts>,
    read: HashMap<Place, ReadDocument>,
}

/// The positions of documents in their texts.
pub(super) fn places(documents: &[Document]) -> Vec<Place> {
    // By count: a document that moves in its text changes the text, and is read again.
    let mut counts: HashMap<SourceId, usize> = HashMap::new();
    let place = |document: &Document| {
        let count = counts.entry(document.source).or_default();
        *count += 1;
        (document.source, *count - 1)
    };
    documents.iter().map(place).collect()
}

/// The part that is still the same.
pub(super) struct Same<'k> {
    kept: &'k Kept,
    sources: HashSet<SourceId>,
}

impl Same<'_> {
    pub(super) fn get(&self, place: Place) -> Option<&ReadDocument> {
        self.sources.contains(&place.0).then(|| self.kept.read.get(&place))?
    }
}

impl Kept {
    /// Stores the results of a read.
    pub(super) fn new<'r>(
        given: &ReadOptions,
        sources: &SourceMap,
        read: impl Iterator<Item = (Place, &'r ReadDocument)>,
    ) -> Self {
        let read: HashMap<Place, ReadDocument> =
            read.map(|(place, read)| (place, read.clone())).collect();
        let ids: HashSet<SourceId> = read.keys().map(|(id, _)| *id).collect();
        let text = |id: SourceId| (id, Facts::of(sources.get(id)));
        // Options have no equality of their own, and their text has every field.
        Self { given: format!("{given:?}"), texts: ids.into_iter().map(text).collect(), read }
    }

    /// Returns the unchanged documents.
    pub(super) fn same(&self, given: &ReadOptions, sources: &SourceMap) -> Same<'_> {
        let mut same = HashSet::new();
        // Other options may change each document, even one of the same text.
        if self.given == format!("{given:?}") {
            let texts = sources.iter().filter(|(id, source)| {
                self.texts.get(id).is_some_and(|was| *was == Facts::of(source))
            });
            same.extend(texts.map(|(id, _)| id));
        }
        Same { kept: self, sources: same }
    }
}
