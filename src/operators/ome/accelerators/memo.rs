//! Choices of accelerator classes that were made before, and what is known of the classes.

use super::class_facts::ClassFacts;
use super::{Request, class_facts, decide, listed, requirements};
use crate::api::{ComponentKind, Failure, Model, Runtime, Service};
use crate::catalog::Catalog;
use crate::decision::{AcceleratorDecision, ClassReason};
use crate::policy::ome::AcceleratorRule;
use crate::policy::{Own, Policy};
use crate::quantity::Memory;
use ecow::{EcoString, EcoVec};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What a remembered choice of accelerators depends on, of a service that does not set
/// accelerators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    runtime: usize,
    model: usize,
    named_runtime: bool,
    engine: bool,
    decoder: bool,
}

/// Choices over the classes of one catalog, by one policy.
pub(crate) struct Memo<'a> {
    policy: &'static Policy,
    rule: AcceleratorRule,
    catalog: &'a Catalog,
    /// What is known of the classes, found out when it is first requested.
    classes: OnceLock<Vec<ClassFacts<'a>>>,
    /// Memory of the classes, found out when it is first requested.
    memories: OnceLock<HashMap<EcoString, Memory>>,
    remembered: Mutex<HashMap<Key, EcoVec<AcceleratorDecision<'a>>>>,
}

impl<'a> Memo<'a> {
    /// One that remembers nothing yet.
    pub(crate) fn new(policy: &'static Policy, catalog: &'a Catalog) -> Self {
        let rule = match policy.own {
            Own::Ome(own) => own.accelerators,
            // It knows no classes: what the pods of a runtime request decides where they can run.
            Own::KServe(_) => AcceleratorRule::Requirements,
        };
        Self {
            policy,
            rule,
            catalog,
            classes: OnceLock::new(),
            memories: OnceLock::new(),
            remembered: Mutex::default(),
        }
    }

    /// Frees all choices.
    pub(crate) fn clear(&self) {
        *self.remembered.lock().unwrap_or_else(PoisonError::into_inner) = HashMap::new();
    }

    /// What is known of the classes, where the choice looks at it.
    fn classes(&self) -> &[ClassFacts<'a>] {
        self.classes.get_or_init(|| match self.rule {
            AcceleratorRule::Requirements => class_facts::all(self.catalog),
            AcceleratorRule::Policy => Vec::new(),
        })
    }

    /// What one accelerator of a class has for weights and cache: as nodes report it, else as it is
    /// sold; none when unknown.
    pub(crate) fn memory_of(&self, class: &str) -> Option<Memory> {
        let memories = self.memories.get_or_init(|| {
            let known = class_facts::all(self.catalog);
            let sized = known
                .iter()
                .filter_map(|known| Some((EcoString::from(known.name()), known.usable_memory()?)));
            sized.collect()
        });
        memories.get(class).copied()
    }

    /// Why a runtime rejects a class, for any caller; none when it takes it.
    pub(crate) fn refuses(&self, runtime: &'a Runtime, class: &str) -> Vec<ClassReason> {
        match self.rule {
            AcceleratorRule::Policy => listed(runtime, class),
            AcceleratorRule::Requirements => {
                let known = self.classes().iter().find(|known| known.name() == class);
                known
                    .map(|known| requirements::shortfall::refuses(runtime, known))
                    .unwrap_or_default()
            }
        }
    }

    /// The accelerators of engine and decoder on a runtime; `traced` keeps the candidates.
    pub(crate) fn decide(
        &self,
        service: &Service,
        model: Option<&'a Model>,
        runtime: &'a Runtime,
        named_runtime: bool,
        traced: bool,
    ) -> (EcoVec<AcceleratorDecision<'a>>, Option<Failure>) {
        let request = Request {
            policy: self.policy,
            catalog: self.catalog,
            service,
            model,
            runtime,
            named_runtime,
            classes: self.classes(),
        };
        if traced {
            let (decisions, error) = decide(&request);
            return (decisions.into(), error);
        }
        let silent = service.accelerators.key.is_empty();
        let key = Key {
            runtime: std::ptr::from_ref(runtime) as usize,
            model: model.map_or(0, |model| std::ptr::from_ref(model) as usize),
            named_runtime,
            engine: service.component(ComponentKind::Engine).is_some(),
            decoder: service.component(ComponentKind::Decoder).is_some(),
        };
        let known = || self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = silent.then(|| known().get(&key).cloned()).flatten() {
            return (found, None);
        }
        let (mut decisions, error) = decide(&request);
        for decision in &mut decisions {
            decision.candidates = Vec::new();
        }
        let decisions = EcoVec::from(decisions);
        // An error names its service.
        if silent && error.is_none() {
            known().insert(key, decisions.clone());
        }
        (decisions, error)
    }
}
