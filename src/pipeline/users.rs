//! The services that use a runtime or a model, those that could, and why the others cannot.

use super::{Depth, Planned, Planner};
use crate::api::{Api, Failure, Model, Object, Runtime};
use crate::catalog::Catalog;
use crate::decision::{AppliedConfig, Candidate, RuntimeDecision, Verdict};
use crate::operators::{Selector, judge};

/// A service and its relation to a runtime.
#[derive(Debug)]
pub struct User<'a> {
    /// The service with its decisions.
    pub planned: Planned<'a>,
    /// The runtime as a candidate; `None` if the service has no model to compare.
    pub candidate: Option<Candidate<'a>>,
    /// Whether the service uses the runtime, could use it, or cannot.
    pub verdict: Verdict,
}

impl User<'_> {
    /// Whether it is the runtime of the service.
    pub fn is_chosen(&self) -> bool {
        self.verdict == Verdict::Chosen
    }
}

/// Every service of the runtime's operator: those that use the runtime, those that could, then
/// those that cannot. Each part is in the order of the input.
pub fn users_of_runtime<'a>(catalog: &'a Catalog, runtime: &'a Runtime) -> Vec<User<'a>> {
    let planner = Planner::new(catalog);
    let services: Vec<_> = catalog
        .services()
        .filter(|views| views.followed().object.api == runtime.object.api)
        .collect();
    let user = |planned: Planned<'a>| {
        let id = |candidate: &Candidate<'_>| candidate.runtime.object.id == runtime.object.id;
        let is_chosen =
            planned.resolution.chosen().is_some_and(|chosen| chosen.object.id == runtime.object.id);
        let candidate =
            planned.resolution.runtime.candidates.iter().find(|other| id(other)).cloned();
        // A service that names another runtime is not compared.
        let candidate = candidate.or_else(|| {
            let service = planned.read_in(catalog)?;
            judge(planned.policy, planned.resolution.model, service, runtime)
        });
        let verdict = match &candidate {
            _ if is_chosen => Verdict::Chosen,
            Some(candidate) if candidate.reasons.is_empty() => Verdict::Eligible,
            _ => Verdict::Rejected,
        };
        User { planned, candidate, verdict }
    };
    let mut users: Vec<User<'a>> =
        planner.plan_all(&services, Depth::Explain).into_iter().map(user).collect();
    // A stable sort: within a part the order of the input stays.
    users.sort_by_key(|user| match user.verdict {
        Verdict::Chosen => 0,
        Verdict::Eligible => 1,
        Verdict::Rejected => 2,
    });
    users
}

/// The services that name a model.
pub fn users_of_model<'a>(catalog: &'a Catalog, model: &Model) -> Vec<Planned<'a>> {
    let services: Vec<_> = catalog.services().collect();
    let mut planned = Planner::new(catalog).plan_all(&services, Depth::Plan);
    planned.retain(|planned| {
        planned.resolution.model.is_some_and(|other| other.object.id == model.object.id)
    });
    planned
}

/// The services that a configuration is merged into.
pub(crate) fn users_of_config<'a>(catalog: &'a Catalog, config: &Object) -> Vec<Planned<'a>> {
    let services: Vec<_> =
        catalog.services().filter(|views| views.followed().object.api == config.api).collect();
    let mut planned = Planner::new(catalog).plan_all(&services, Depth::Plan);
    let is_merged = |applied_config: &AppliedConfig| {
        applied_config.found.as_ref().is_some_and(|(_, span)| *span == config.name_span())
    };
    planned.retain(|planned| planned.resolution.configs.iter().any(is_merged));
    planned
}

/// The runtimes that could serve a model, ranked, and why the others cannot; `None` if no operator
/// follows the mode.
///
/// # Errors
/// The operator would crash on a runtime.
pub fn runtimes_for_model<'a>(
    catalog: &'a Catalog,
    model: &'a Model,
) -> Option<Result<RuntimeDecision<'a>, Failure>> {
    let policy = catalog.policy(Api::Ome)?;
    Some(Selector::new(policy, catalog).rank_for(model))
}
