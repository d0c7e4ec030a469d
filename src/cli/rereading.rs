//! A session over an input that was read before: unchanged files are not read again.
//!
//! In: the cache of the previous session. Out: the same session as without it, faster.

use super::Failure;
use super::args::InputArgs;
use super::input::Session;
use super::session_options::SessionOptions;
use crate::api::Object;
use crate::diag::Diagnostic;
use crate::load::{self, Memory, Request};
use crate::secret::Secrets;
use crate::source::{SourceId, SourceKind, SourceMap, Span};
use crate::workspace::{self, Kept, ReadOptions};
use crate::yaml::Limits;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The cache of one session for the next one over the same input.
#[derive(Default)]
pub(super) struct Known {
    /// Texts and documents.
    pub(super) files: Memory,
    /// Objects.
    pub(super) objects: Kept,
}

impl Session {
    /// The same, reusing results of the last session.
    pub(super) fn open_again(
        args: &InputArgs,
        ask: &SessionOptions<'_>,
        definitions: &mut Known,
        before: Option<&Self>,
    ) -> Result<Self, Failure> {
        let Known { files, objects } = definitions;
        let load =
            |request: &Request<'_>, limits: &Limits| load::load_again(request, limits, files);
        let read = |loaded, given: &ReadOptions| workspace::read_again(loaded, given, objects);
        let mut session = Self::open_from(args, ask, load, read)?;
        let mut about_objects = HashMap::new();
        if let Some(before) = before {
            let same = session.world.sources.again(&before.world.sources);
            let secrets = Secrets::again(&session.world.sources, before.secrets(), &same);
            // They have not been requested yet.
            let _ = session.secrets.set(secrets);
            about_objects = session.still_about_objects(before, &same);
        }
        session.about_objects = Some(Mutex::new(about_objects));
        Ok(session)
    }

    /// Findings of the previous session about objects of unchanged sources, under the same
    /// settings.
    fn still_about_objects(
        &self,
        before: &Self,
        same: &HashSet<SourceId>,
    ) -> HashMap<Span, Vec<Diagnostic>> {
        let (new, old) = (&self.world.sources, &before.world.sources);
        let settings = |sources: &SourceMap| {
            let mut all = sources.iter().map(|(_, source)| source);
            all.find(|source| source.kind == SourceKind::Settings).map(|source| source.text.clone())
        };
        // Other settings may change every finding.
        let Some(found) = before.about_objects.as_ref().filter(|_| settings(new) == settings(old))
        else {
            return HashMap::new();
        };
        let found = found.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = found.iter().filter(|(span, _)| same.contains(&span.source));
        kept.map(|(span, found)| (*span, found.clone())).collect()
    }

    /// Returns the findings of `find` about an object, which depend only on the object and the
    /// settings; results of an earlier session are reused.
    pub(crate) fn about_object(
        &self,
        object: &Object,
        find: impl FnOnce() -> Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let Some(by_key) = &self.about_objects else { return find() };
        let lock = || by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().get(&object.span) {
            return found.clone();
        }
        // Without the lock, so that other threads go on.
        let found = find();
        lock().insert(object.span, found.clone());
        found
    }
}
