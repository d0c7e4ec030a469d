//! Remembers choices of accelerator classes, and the facts of the classes.

use super::class_facts::ClassFacts;
use super::{Request, class_facts, decide, listed, requirements};
use crate::api::{ComponentKind, Failure, Model, Runtime, Service};
use crate::catalog::Catalog;
use crate::decision::{AcceleratorDecision, ClassReason};
use crate::operators::ome::rules::{AcceleratorRule, OmeRelease};
use crate::policy::Policy;
use crate::quantity::Memory;
use ecow::{EcoString, EcoVec};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The inputs of a remembered choice. Only choices of services without accelerator settings are
/// remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    runtime: usize,
    model: usize,
    named_runtime: bool,
    engine: bool,
    decoder: bool,
}

/// Choices among the classes of one catalog, under one policy.
pub(crate) struct Memo<'a> {
    policy: &'static Policy,
    rule: AcceleratorRule,
    catalog: &'a Catalog,
    /// The facts of the classes, computed on first use.
    facts: OnceLock<Vec<ClassFacts<'a>>>,
    /// Their places by name.
    places: OnceLock<HashMap<EcoString, usize>>,
    remembered: Mutex<HashMap<Key, EcoVec<AcceleratorDecision<'a>>>>,
}

impl<'a> Memo<'a> {
    /// A memo without choices.
    pub(crate) fn new(policy: &'static Policy, catalog: &'a Catalog) -> Self {
        // Other operators have no classes: the resource requests of a runtime's pods decide where
        // they can run.
        let rule = policy
            .operator_rules::<OmeRelease>()
            .map_or(AcceleratorRule::Requirements, |release| release.accelerators);
        Self {
            policy,
            rule,
            catalog,
            facts: OnceLock::new(),
            places: OnceLock::new(),
            remembered: Mutex::default(),
        }
    }

    /// Frees all remembered choices.
    pub(crate) fn clear(&self) {
        // A panic in another thread leaves the map whole: entries are inserted only when complete.
        *self.remembered.lock().unwrap_or_else(PoisonError::into_inner) = HashMap::new();
    }

    fn facts(&self) -> &[ClassFacts<'a>] {
        self.facts.get_or_init(|| class_facts::all(self.catalog))
    }

    /// The facts of a class.
    fn facts_of(&self, class: &str) -> Option<&ClassFacts<'a>> {
        let places = self.places.get_or_init(|| {
            let names = self.facts().iter().map(|facts| EcoString::from(facts.name()));
            names.enumerate().map(|(place, name)| (name, place)).collect()
        });
        places.get(class).map(|place| &self.facts()[*place])
    }

    /// The memory of one accelerator of a class: as nodes report it, else nominal; none when
    /// unknown.
    pub(crate) fn memory_of(&self, class: &str) -> Option<Memory> {
        self.facts_of(class)?.usable_memory()
    }

    /// Why a runtime rejects a class, independent of the service; empty when it accepts the class.
    pub(crate) fn refuses(&self, runtime: &'a Runtime, class: &str) -> Vec<ClassReason> {
        match self.rule {
            AcceleratorRule::Policy => listed(runtime, class),
            AcceleratorRule::Requirements => {
                let facts = self.facts_of(class);
                facts
                    .map(|facts| requirements::shortfall::refuses(runtime, facts))
                    .unwrap_or_default()
            }
        }
    }

    /// Decides the accelerators of engine and decoder on a runtime; `traced` keeps the candidates.
    pub(crate) fn decide(
        &self,
        service: &Service,
        model: Option<&'a Model>,
        runtime: &'a Runtime,
        named_runtime: bool,
        traced: bool,
    ) -> (EcoVec<AcceleratorDecision<'a>>, Option<Failure>) {
        // The other rule does not look at them.
        let classes = match self.rule {
            AcceleratorRule::Requirements => self.facts(),
            AcceleratorRule::Policy => &[],
        };
        let request = Request {
            policy: self.policy,
            catalog: self.catalog,
            service,
            model,
            runtime,
            named_runtime,
            classes,
        };
        // Remembered decisions have no candidates, and a trace needs all of them.
        if traced {
            let (decisions, error) = decide(&request);
            return (decisions.into(), error);
        }
        let silent = service.accelerators.key.is_empty();
        let key = Key {
            // Addresses identify runtimes and models: the catalog is frozen and outlives the memo.
            runtime: std::ptr::from_ref(runtime) as usize,
            model: model.map_or(0, |model| std::ptr::from_ref(model) as usize),
            named_runtime,
            engine: service.component(ComponentKind::Engine).is_some(),
            decoder: service.component(ComponentKind::Decoder).is_some(),
        };
        let remembered = || self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = silent.then(|| remembered().get(&key).cloned()).flatten() {
            return (found, None);
        }
        let (mut decisions, error) = decide(&request);
        for decision in &mut decisions {
            // Candidates are large and not read without a trace.
            decision.candidates = Vec::new();
        }
        let decisions = EcoVec::from(decisions);
        // An error contains the name of its service, so it is not remembered.
        if silent && error.is_none() {
            remembered().insert(key, decisions.clone());
        }
        (decisions, error)
    }
}
