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
    classes: OnceLock<Vec<ClassFacts<'a>>>,
    /// Memory of the classes, computed on first use.
    memories: OnceLock<HashMap<EcoString, Memory>>,
    remembered: Mutex<HashMap<Key, EcoVec<AcceleratorDecision<'a>>>>,
}

impl<'a> Memo<'a> {
    /// A memo without choices.
    pub(crate) fn new(policy: &'static Policy, catalog: &'a Catalog) -> Self {
        // Other operators have no classes: the resource requests of a runtime's pods decide where
        // they can run.
        let rule = policy
            .own::<OmeRelease>()
            .map_or(AcceleratorRule::Requirements, |release| release.accelerators);
        Self {
            policy,
            rule,
            catalog,
            classes: OnceLock::new(),
            memories: OnceLock::new(),
            remembered: Mutex::default(),
        }
    }

    /// Frees all remembered choices.
    pub(crate) fn clear(&self) {
        *self.remembered.lock().unwrap_or_else(PoisonError::into_inner) = HashMap::new();
    }

    /// The facts of the classes; empty where the choice does not use them.
    fn classes(&self) -> &[ClassFacts<'a>] {
        self.classes.get_or_init(|| match self.rule {
            AcceleratorRule::Requirements => class_facts::all(self.catalog),
            AcceleratorRule::Policy => Vec::new(),
        })
    }

    /// The memory of one accelerator of a class: as nodes report it, else nominal; none when
    /// unknown.
    pub(crate) fn memory_of(&self, class: &str) -> Option<Memory> {
        let memories = self.memories.get_or_init(|| {
            let classes = class_facts::all(self.catalog);
            let sized = classes
                .iter()
                .filter_map(|class| Some((EcoString::from(class.name()), class.usable_memory()?)));
            sized.collect()
        });
        memories.get(class).copied()
    }

    /// Why a runtime rejects a class, independent of the service; empty when it accepts the class.
    pub(crate) fn refuses(&self, runtime: &'a Runtime, class: &str) -> Vec<ClassReason> {
        match self.rule {
            AcceleratorRule::Policy => listed(runtime, class),
            AcceleratorRule::Requirements => {
                let class = self.classes().iter().find(|class_facts| class_facts.name() == class);
                class
                    .map(|class| requirements::shortfall::refuses(runtime, class))
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
        let remembered = || self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = silent.then(|| remembered().get(&key).cloned()).flatten() {
            return (found, None);
        }
        let (mut decisions, error) = decide(&request);
        for decision in &mut decisions {
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
