//! Selects the runtime that serves a model.
//!
//! In: a [`Request`], the visible runtimes, the rules of a release. Out: a [`RuntimeDecision`]
//! whose trace contains the reasons. This module depends on no operator, and does not parse or
//! print.
//!
//! # How cost grows
//! Selection depends only on the model and on the service's namespace, protocol and referenced
//! accelerator classes. [`Memo`] caches decisions by this key, so S services with M models evaluate
//! the R runtimes M times (per namespace with its own runtimes) instead of S times: S + M·R instead
//! of S·R.

pub(crate) mod entry;
mod evaluation;
pub(crate) mod format_name;
pub(crate) mod gates;
pub(crate) mod input;
pub(crate) mod messages;
pub(crate) mod rank;
pub(crate) mod request;
#[cfg(test)]
mod tests;

pub use input::{Request, Trace};
pub use messages::Messages;

use crate::api::{DeploymentMode, Failure, Service};
use crate::catalog::RuntimeSet;
use crate::decision::RuntimeDecision;
use crate::policy::Policy;
use ecow::EcoString;
use input::Reasons;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The model, as far as selection uses it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject {
    /// Address of the model in the catalog.
    Model(usize),
    /// Format and version of an inline model, and whether the service spans nodes.
    Format(EcoString, Option<EcoString>, bool),
}

/// The key of a cached decision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    model: Subject,
    /// Namespace of the service if it has its own runtimes, else `None`.
    namespace: Option<EcoString>,
    protocol: Option<EcoString>,
    accelerators: Vec<EcoString>,
    modes: Vec<(&'static str, DeploymentMode)>,
    /// Addresses of runtimes that no accelerator class can serve.
    unserved: Vec<usize>,
}

impl Key {
    fn of(service: &Service, runtimes: &RuntimeSet, request: &Request<'_>) -> Self {
        Self {
            // Inline models have no entry in the catalog: their format alone decides which
            // runtimes match.
            model: match (&service.inline, &request.model.format) {
                (Some(_), Some(format)) => Subject::Format(
                    format.name.value.clone(),
                    format.version.as_ref().map(|version| version.value.text().into()),
                    request.multi_node,
                ),
                // The catalog outlives the cache, so that an address names one model as long as it
                // counts.
                _ => Subject::Model(std::ptr::from_ref(request.model) as usize),
            },
            // Namespaces without runtimes of their own see the same candidates and share
            // decisions.
            namespace: runtimes.has_namespace(request.namespace).then(|| request.namespace.clone()),
            protocol: request.named_protocol.cloned(),
            accelerators: request.accelerators.iter().map(|class| class.value.clone()).collect(),
            modes: request.modes.iter().map(|(component, _, mode)| (*component, *mode)).collect(),
            unserved: request
                .unserved
                .iter()
                .map(|(runtime, _)| std::ptr::from_ref(*runtime) as usize)
                .collect(),
        }
    }
}

/// Cache of decisions for one policy and one set of runtimes.
#[derive(Default)]
pub(crate) struct Memo<'a>(Mutex<HashMap<Key, Remembered<'a>>>);

impl Memo<'_> {
    /// Removes all decisions.
    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = HashMap::new();
    }
}

type Remembered<'a> = Arc<Result<RuntimeDecision<'a>, Failure>>;

/// The parameters of a search for a runtime.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a, 'k> {
    /// The rules.
    pub(crate) policy: &'static Policy,
    /// The runtimes.
    pub(crate) runtimes: &'a RuntimeSet,
    /// The cache; with it, no trace is recorded. `None` records every candidate with its
    /// comparisons.
    pub(crate) memo: Option<&'k Memo<'a>>,
}

impl<'a> Search<'a, '_> {
    /// Returns the decision with the best runtime for a service's request.
    ///
    /// # Errors
    /// When the operator would crash on a runtime; the place is the service.
    pub(crate) fn best(
        &self,
        service: &Service,
        request: &Request<'_>,
    ) -> Result<RuntimeDecision<'a>, Failure> {
        let decided = match self.memo {
            Some(memo) => {
                let key = Key::of(service, self.runtimes, request);
                let lock = || memo.0.lock().unwrap_or_else(PoisonError::into_inner);
                let found = lock().get(&key).cloned();
                // Two threads may compute the same decision at the same time; the results are
                // equal.
                let decided = found.unwrap_or_else(|| {
                    let decided = request::select::<()>(self.policy, self.runtimes, request);
                    // The lock is not held while selecting: other services would wait for it.
                    lock().entry(key).or_insert(Arc::new(decided)).clone()
                });
                decided.as_ref().clone()
            }
            None => request::select::<Reasons>(self.policy, self.runtimes, request),
        };
        // The cached error belongs to the first service of the key; each gets its own place.
        decided.map_err(|error| Failure { span: Some(service.object.name_span()), ..error })
    }
}
