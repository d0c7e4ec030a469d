//! Decisions for services of every operator: models, runtimes, accelerator classes.
//!
//! In: a frozen catalog, a release. Out: a [`Resolution`] of each service. Decisions are cached.

use super::{ome, services_of};
use crate::api::{Failure, Model, Runtime, Service};
use crate::catalog::{Catalog, RuntimeSet};
use crate::decision::{Candidate, ClassReason, Resolution, RuntimeDecision};
use crate::operator::Resolver;
use crate::policy::{Policy, ProtocolRule};
use crate::quantity::Memory;
use crate::select::input::Reasons;
use crate::select::request;
use crate::select::{Memo, Request, Search};
use ecow::EcoString;
use ome::accelerators::memo::Memo as Accelerators;

/// Makes decisions for one policy and one catalog.
pub struct Selector<'a> {
    policy: &'static Policy,
    catalog: &'a Catalog,
    memo: Memo<'a>,
    resolver: Box<dyn Resolver<'a> + 'a>,
    /// The classes of the catalog, which services of every operator run on.
    accelerators: Accelerators<'a>,
}

impl<'a> Selector<'a> {
    /// Builds a selector with empty caches.
    pub fn new(policy: &'static Policy, catalog: &'a Catalog) -> Self {
        let accelerators = Accelerators::new(policy, catalog);
        let resolver = services_of(policy).resolver(policy, catalog);
        Self { policy, catalog, memo: Memo::default(), resolver, accelerators }
    }

    /// Returns its policy.
    pub fn policy(&self) -> &'static Policy {
        self.policy
    }

    /// Returns the memory of one accelerator of a class for weights and cache: as nodes report it,
    /// else the nominal memory of the product. `None` when unknown.
    pub fn memory_of(&self, class: &str) -> Option<Memory> {
        self.accelerators.memory_of(class)
    }

    /// Clears the caches.
    pub fn forget(&self) {
        self.memo.clear();
        self.resolver.forget();
    }

    /// Decides for one service, without the candidates' traces.
    pub fn resolve(&self, service: &Service) -> Resolution<'a> {
        self.decide(Some(&self.memo), self.runtimes(), service)
    }

    /// Decides for one service and keeps every candidate with its comparisons.
    pub fn explain(&self, service: &Service) -> Resolution<'a> {
        // Without a memo: a remembered decision has no candidates with their comparisons.
        self.decide(None, self.runtimes(), service)
    }

    fn runtimes(&self) -> &'a RuntimeSet {
        self.catalog.runtimes(self.policy.api)
    }

    fn decide(
        &self,
        memo: Option<&Memo<'a>>,
        runtimes: &'a RuntimeSet,
        service: &Service,
    ) -> Resolution<'a> {
        self.resolver.resolve(&Search { policy: self.policy, runtimes, memo }, service)
    }

    /// Ranks every runtime for a model, in the model's namespace or `default`, with traces.
    ///
    /// # Errors
    /// When the operator would crash on a runtime.
    pub fn rank_for(&self, model: &'a Model) -> Result<RuntimeDecision<'a>, Failure> {
        static DEFAULT: EcoString = EcoString::inline("default");
        // No service: everything that only a service could set is left open.
        let request = Request {
            namespace: model.object.id.scope.namespace().unwrap_or(&DEFAULT),
            model,
            named_protocol: None,
            protocol: (self.policy.protocol == ProtocolRule::Listed)
                .then(|| self.policy.default_protocol.into()),
            accelerators: &[],
            multi_node: false,
            modes: Vec::new(),
            unserved: Vec::new(),
        };
        request::select::<Reasons>(self.policy, self.runtimes(), &request)
    }

    /// Returns the reasons why a runtime rejects a class for any service; empty when it accepts the
    /// class.
    pub fn refuses(&self, runtime: &'a Runtime, class: &str) -> Vec<ClassReason> {
        self.accelerators.refuses(runtime, class)
    }
}

/// Decides for one service among the given runtimes, which can differ from those of the catalog,
/// and keeps every candidate.
pub fn explain_among<'a>(
    policy: &'static Policy,
    catalog: &'a Catalog,
    runtimes: &'a RuntimeSet,
    service: &Service,
) -> Resolution<'a> {
    // No memo, as what is remembered would be about the catalog's runtimes.
    Selector::new(policy, catalog).decide(None, runtimes, service)
}

/// Evaluates one runtime for a service and its model, whichever runtime the service references.
pub fn judge<'a>(
    policy: &Policy,
    model: Option<&Model>,
    service: &Service,
    runtime: &'a Runtime,
) -> Option<Candidate<'a>> {
    let protocol = request::asked_protocol(policy, service).name;
    // A model that is written inside the service is used before any that was found by name.
    let model = service.inline.as_ref().map(|inline| &inline.model).or(model)?;
    let request = services_of(policy).request(policy, service, model, &protocol);
    Some(request::candidate::<Reasons>(policy, &request, runtime).1)
}
