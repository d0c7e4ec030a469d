//! The operators, one folder each: how each one reads, selects, composes, renders and checks. No
//! operator depends on another. Three files choose the operator of an object: this one and
//! `selector.rs`, for decisions and rendering, and `workspace/read/dispatch.rs`, which has an arm
//! for each kind that is read.
//!
//! In: a service and its decisions. Out: its pods and objects as its operator creates them.

pub mod kserve;
pub mod kthena;
pub mod kueue;
pub mod ome;
pub mod platform;
mod selector;
pub mod servings;

pub use selector::{Selector, explain_among, judge};

use crate::api::{
    Api, DeploymentMode, Failure, Knowledge, OperatorConfig, Release, Semantics, Service,
};
use crate::check::{self, Check};
use crate::decision::Resolution;
use crate::diag::{Checked, Diagnostic};
use crate::merge::history::Recorder;
use crate::objects::{self, RenderedObject};
pub(crate) use crate::operator::Context as BuildContext;
use crate::operator::{Operator, Services};
use crate::pods::built::{Built, Component, Outcome, Unfinished};
use crate::policy::{Policy, Readings, Unknown};

/// Every operator. To add one, add a folder here and a row.
pub(crate) static OPERATORS: [&dyn Operator; 3] =
    [&ome::operator::Ome, &kserve::operator::KServe, &kthena::operator::Kthena];

/// Returns the documents and the newest release of every operator; the documents are followed.
pub fn newest() -> Readings {
    let mut newest = Readings::default();
    for operator in OPERATORS {
        if let Some(release) = newest_recorded(operator) {
            newest.add(operator.documented(), release);
        }
    }
    newest
}

/// Returns the newest release whose controllers were run, which controller mode follows by default.
fn newest_recorded(operator: &dyn Operator) -> Option<&'static Policy> {
    let is_recorded = |release: &&&Policy| matches!(release.id.knowledge, Knowledge::Recorded(_));
    // Releases are listed from old to new, so the last recorded one is the newest.
    operator.releases().iter().rev().find(is_recorded).copied()
}

/// Returns the operator of an API; `None` for the cluster itself.
pub(crate) fn operator(api: Api) -> Option<&'static dyn Operator> {
    OPERATORS.into_iter().find(|operator| operator.api() == api)
}

/// Reports whether a kind is a service kind of an operator.
pub(crate) fn is_service(kind: &str) -> bool {
    OPERATORS.iter().any(|operator| operator.kinds().contains(&kind))
}

/// Reports whether services of a kind are merged with presets of their release.
pub(crate) fn is_of_presets(kind: &str) -> bool {
    kind == kserve::LLM_KIND
}

/// Reports whether objects of a kind are rendered without their unknown fields, as a server stores
/// them.
pub(crate) fn is_lenient(kind: &str) -> bool {
    [kserve::LLM_KIND, kserve::llm::CONFIG].contains(&kind)
}

/// Reports whether the operator's defaulting webhook decodes and encodes an object before it is
/// checked, which then has the fields that its Go struct always prints.
pub(crate) fn is_encoded(api: Api, kind: &str) -> bool {
    api == Api::KServe && kind == "InferenceService"
}

/// Returns the operations on the services of an API; `None` for one without services to plan.
pub(crate) fn services(api: Api) -> Option<&'static dyn Services> {
    operator(api)?.services()
}

/// Returns the operations on the services that a policy decides about.
fn services_of(policy: &Policy) -> &'static dyn Services {
    // Policies exist only as constants of operators that return them from `services`.
    services(policy.api).expect("a policy is one of an operator with services")
}

/// Returns the deployment mode of all components of a service, where its operator has one for all.
pub(crate) fn mode_of(
    policy: &Policy,
    service: &Service,
    config: &OperatorConfig,
) -> Option<DeploymentMode> {
    services_of(policy).mode(policy, service, config)
}

/// Returns what the webhook of an operator refuses of the update of a service.
pub(crate) fn refused_update(
    policy: &Policy,
    before: (&Service, &OperatorConfig),
    after: (&Service, &OperatorConfig),
) -> Option<Failure> {
    services_of(policy).refuse_update(policy, before, after)
}

/// Adds what controllers of a cluster make of objects that were read.
pub(crate) fn prepare(readings: &Readings, config: &mut OperatorConfig) {
    for policy in deciding().filter_map(|api| readings.policy_by(api, Semantics::Controller)) {
        services_of(policy).prepare(policy, config);
    }
}

/// Returns findings about objects that would fill a service and were not read.
pub(crate) fn unread(
    policy: &Policy,
    service: &Service,
    config: &OperatorConfig,
) -> Vec<Diagnostic> {
    services_of(policy).unread(policy, service, config)
}

/// Returns the path at which a service references its runtime; `None` in a form of the service that
/// has no such field.
pub(crate) fn runtime_field(policy: &Policy, service: &Service) -> Option<&'static str> {
    services_of(policy).runtime_field(service)
}

/// Returns the path at which a service sets its protocol; `None` if it has no such field.
pub(crate) fn protocol_field(policy: &Policy, service: &Service) -> Option<&'static str> {
    services_of(policy).protocol_field(service)
}

/// Returns the name of a deployment mode, as the documents or the release of a policy spell it.
pub(crate) fn mode_name(mode: DeploymentMode, policy: &Policy) -> &'static str {
    services_of(policy).mode_name(mode, policy.semantics)
}

/// Returns the settings that the release of an operator ships.
pub(crate) fn shipped_config(readings: &Readings) -> OperatorConfig {
    let mut config = OperatorConfig::default();
    for policy in deciding().filter_map(|api| readings.policy_by(api, Semantics::Controller)) {
        services_of(policy).ship(policy, &mut config);
    }
    config
}

/// Reports whether the release of a policy comes with runtimes of its own.
pub(crate) fn ships_runtimes(policy: &Policy) -> bool {
    services_of(policy).ships_runtimes(policy)
}

/// Returns the operators with services to plan, in output order.
pub(crate) fn deciding() -> impl Iterator<Item = Api> {
    OPERATORS.iter().filter(|operator| operator.services().is_some()).map(|operator| operator.api())
}

/// Returns the releases of an operator that can be followed, oldest first.
pub fn releases(api: Api) -> Vec<Release> {
    definitions(api).into_iter().map(|(release, _)| release).collect()
}

/// Returns the policy of a release or of a distribution, by its tag.
pub fn release(api: Api, tag: &str) -> Option<&'static Policy> {
    let operator = operator(api)?;
    let all = operator.releases().iter().chain(operator.distributions());
    all.copied().find(|release| release.id.tag == tag)
}

/// Returns the releases of an operator, oldest first, each with the fields that its CRDs drop.
pub fn definitions(api: Api) -> Vec<(Release, &'static [Unknown])> {
    let releases = operator(api).map(Operator::releases).unwrap_or_default();
    releases.iter().map(|policy| (policy.id, policy.unknown)).collect()
}

/// Returns the tags of every operator's releases, oldest first.
pub fn release_tags() -> Vec<(&'static str, Vec<&'static str>)> {
    known_releases()
        .into_iter()
        .map(|(name, releases)| (name, releases.into_iter().map(|release| release.tag).collect()))
        .collect()
}

/// Returns the releases of every operator and of what runs beneath them, sorted by name, oldest
/// first.
pub fn known_releases() -> Vec<(&'static str, Vec<Release>)> {
    let of = |api: Api| {
        let others = operator(api).map(Operator::distributions).unwrap_or_default();
        let others = others.iter().map(|policy| policy.id);
        releases(api).into_iter().chain(others).collect::<Vec<_>>()
    };
    // Platforms are no operators: they have no API and so no distributions.
    let mut all: Vec<_> = released().map(|(operator, api)| (operator, of(api))).collect();
    all.extend(platform::released());
    all.sort_unstable_by_key(|(name, _)| *name);
    all
}

/// Returns the tag of the release that controller mode follows by default.
pub fn default_tag(name: &str) -> Option<&'static str> {
    match name {
        platform::KUBERNETES => Some(platform::default().kubernetes),
        platform::LEADER_WORKER_SET => Some(platform::default().leader_worker_set),
        _ => {
            let (_, api) = released().find(|(operator, _)| *operator == name)?;
            // An operator without recorded releases is followed at its newest one.
            let recorded = operator(api).and_then(newest_recorded).map(|policy| policy.id.tag);
            recorded.or_else(|| releases(api).last().map(|release| release.tag))
        }
    }
}

/// Returns the number of rules in which a release differs from the one before it; `None` for an
/// operator whose rules are not listed.
pub fn rules_of(name: &str, tag: &str) -> Option<usize> {
    let (_, api) = released().find(|(operator, _)| *operator == name)?;
    let operator = operator(api)?;
    let (upgrade, releases) = (operator.services()?.upgrade(), operator.releases());
    let position = releases.iter().position(|release| release.id.tag == tag)?;
    // The oldest release has none before it: there is no number of changed rules to show.
    let [before, policy] = [releases.get(position.checked_sub(1)?)?, releases.get(position)?];
    let switches = upgrade.rules.iter().flat_map(|rules| rules.iter());
    let differs = switches.filter(|rule| (rule.differs)(before, policy)).count();
    let effects = upgrade.effects.iter().filter(|rule| (rule.differs)(before, policy)).count();
    Some(differs + effects)
}

/// Returns the operators with known releases and their names in `--release`, sorted by name.
pub fn released() -> impl Iterator<Item = (&'static str, Api)> {
    let mut names = OPERATORS.map(|operator| (operator.api().as_str(), operator.api()));
    names.sort_unstable();
    names.into_iter()
}

/// Returns every rule of `validate`: the rules shared by all operators, then each operator's own.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    check::CHECKS.iter().chain(OPERATORS.iter().flat_map(|operator| operator.checks()))
}

impl<'a> BuildContext<'a, '_> {
    /// Builds a service up to its first failure, which can come from its decisions.
    pub(crate) fn build<'s>(
        &self,
        service: &'s Service,
        resolution: &Resolution<'s>,
        history: &mut Recorder,
    ) -> Outcome<'s>
    where
        'a: 's,
    {
        services_of(self.policy).build(self, service, resolution, history)
    }

    /// Returns what the webhook refuses of the runtime of a service. One that a cluster has was taken.
    pub(crate) fn refused_runtime(&self, resolution: &Resolution<'_>) -> Vec<Diagnostic> {
        let Some(runtime) = resolution.chosen() else { return Vec::new() };
        let object = &runtime.object;
        if object.builtin || object.metadata("uid").is_some() || self.catalog.is_unfilled(object) {
            return Vec::new();
        }
        services_of(self.policy).refused_runtime(self.policy, runtime, self.catalog.config())
    }

    /// Returns a finding about the placement of a built service, if there is one.
    pub(crate) fn remarks(
        &self,
        service: &Service,
        components: &[Component],
    ) -> Option<Diagnostic> {
        services_of(self.policy).remarks(self, service, components)
    }

    /// Returns the objects of a service in the order in which the operator creates them.
    ///
    /// # Errors
    /// When the operator fails or crashes before it has created every object, with the operator's
    /// message.
    pub(crate) fn objects(
        &self,
        built: &Built<'_>,
    ) -> Result<Checked<Vec<RenderedObject>>, Failure> {
        let mut rendered = services_of(self.policy).objects(self, built)?;
        objects::finish(&mut rendered.value);
        Ok(rendered)
    }

    /// Returns the objects to be judged and not printed: their keys are in no order.
    ///
    /// # Errors
    /// As for [`BuildContext::objects`].
    pub(crate) fn judged(&self, built: &Built<'_>) -> Result<Vec<RenderedObject>, Failure> {
        let mut rendered = services_of(self.policy).objects(self, built)?.value;
        objects::tidy_all(&mut rendered);
        Ok(rendered)
    }

    /// Returns the objects of components as they are behind the operator's webhook for pods; none
    /// where they are those of [`BuildContext::judged`].
    ///
    /// # Errors
    /// As for [`BuildContext::objects`].
    pub(crate) fn admitted(
        &self,
        built: &Built<'_>,
    ) -> Option<Result<Vec<RenderedObject>, Failure>> {
        let rendered = services_of(self.policy).admitted(self, built)?;
        Some(rendered.map(|mut rendered| {
            rendered.retain(|object| object.component.is_some());
            objects::tidy_all(&mut rendered);
            rendered
        }))
    }

    /// Returns the objects that the operator creates for a service before it fails.
    pub(crate) fn before_failure(&self, unfinished: &Unfinished<'_>) -> Vec<RenderedObject> {
        let mut rendered = services_of(self.policy).before_failure(self, unfinished);
        objects::finish(&mut rendered);
        rendered
    }
}
