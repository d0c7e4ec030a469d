//! The runtime that serves a model, among those that are known.
//!
//! In: a [`Request`], the runtimes in sight, the rules of a release. Out: a
//! [`RuntimeDecision`] whose trace says why. This module knows no operator, and parses and prints
//! nothing.
//!
//! # How cost grows
//! Selection looks at the model, the namespace of the service, the protocol and the accelerator
//! classes it names, and at nothing else of the service. [`Memo`] remembers decisions by that key,
//! so a fleet of S services over M models asks the R runtimes M times (per namespace with runtimes
//! of its own), not S times: S + M·R, not S·R.

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

use crate::api::{Failure, Service};
use crate::catalog::RuntimeSet;
use crate::decision::RuntimeDecision;
use crate::policy::Policy;
use ecow::EcoString;
use input::Recorder;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What is to be served, as far as selection looks at it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject {
    /// Address of the model in the frozen catalog.
    Model(usize),
    /// Format and version that services state themselves, and whether they span nodes.
    Format(EcoString, Option<EcoString>, bool),
}

/// What a remembered decision depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    model: Subject,
    /// Namespace of the service if it has runtimes of its own, else none.
    namespace: Option<EcoString>,
    protocol: Option<EcoString>,
    accelerators: Vec<EcoString>,
    /// Addresses of runtimes that were passed over.
    unserved: Vec<usize>,
}

impl Key {
    fn of(service: &Service, runtimes: &RuntimeSet, request: &Request<'_>) -> Self {
        Self {
            model: match (&service.inline, &request.model.format) {
                (Some(_), Some(format)) => Subject::Format(
                    format.name.value.clone(),
                    format.version.as_ref().map(|version| version.value.text().into()),
                    request.multi_node,
                ),
                _ => Subject::Model(std::ptr::from_ref(request.model) as usize),
            },
            namespace: runtimes.has_namespace(request.namespace).then(|| request.namespace.clone()),
            protocol: request.asked.cloned(),
            accelerators: request.accelerators.iter().map(|class| class.value.clone()).collect(),
            unserved: request
                .unserved
                .iter()
                .map(|(runtime, _)| std::ptr::from_ref(*runtime) as usize)
                .collect(),
        }
    }
}

/// Decisions that were made before, for one policy over one set of runtimes.
#[derive(Default)]
pub(crate) struct Memo<'a>(Mutex<HashMap<Key, Remembered<'a>>>);

impl Memo<'_> {
    /// Frees all decisions.
    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = HashMap::new();
    }
}

type Remembered<'a> = Arc<Result<RuntimeDecision<'a>, Failure>>;

/// Where a runtime is looked for, and how much of the way is kept.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a, 'k> {
    /// The rules.
    pub(crate) policy: &'static Policy,
    /// The runtimes.
    pub(crate) runtimes: &'a RuntimeSet,
    /// Keeps no traces and remembers; none keeps every candidate with its comparisons.
    pub(crate) memo: Option<&'k Memo<'a>>,
}

impl<'a> Search<'a, '_> {
    /// The best runtime for a request of a service.
    ///
    /// # Errors
    /// Where the operator would crash on a runtime; the place is the service.
    pub(crate) fn best(
        &self,
        service: &Service,
        request: &Request<'_>,
    ) -> Result<RuntimeDecision<'a>, Failure> {
        let decided = match self.memo {
            Some(memo) => {
                let key = Key::of(service, self.runtimes, request);
                let known = || memo.0.lock().unwrap_or_else(PoisonError::into_inner);
                let found = known().get(&key).cloned();
                // Two threads may decide the same at once; both come to the same answer.
                let decided = found.unwrap_or_else(|| {
                    let decided = request::select::<()>(self.policy, self.runtimes, request);
                    known().entry(key).or_insert(Arc::new(decided)).clone()
                });
                decided.as_ref().clone()
            }
            None => request::select::<Recorder>(self.policy, self.runtimes, request),
        };
        decided.map_err(|error| Failure { span: Some(service.object.name_span()), ..error })
    }
}
