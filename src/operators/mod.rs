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
mod selector;

pub use selector::{Selector, explain_among, judge};

use crate::api::{
    Api, Failure, Object, OperatorConfig, PerReading, Release, Runtime, Semantics, Service,
};
use crate::catalog::Catalog;
use crate::check::{self, Check};
use crate::decision::Resolution;
use crate::diag::{Checked, Diagnostic};
use crate::merge::history::Record;
use crate::objects::{self, RenderedObject, Settings};
use crate::pods::built::{Built, Component, Outcome, Unfinished};
use crate::policy::upgrade::Upgrade;
use crate::policy::{Policy, Releases, Unknown};
use ome::objects::model_config::ModelConfig;

/// Returns the documents and the newest release of every operator.
pub fn newest() -> Releases {
    let mut newest = Releases::default();
    for own in &OPERATORS {
        if let (Some(documented), Some(&controller)) = (own.documented, own.policies.last()) {
            newest.add(PerReading { documented, controller });
        }
    }
    newest
}

/// How an operator reads and admits its runtimes and services.
pub(crate) struct Dialect {
    pub(crate) runtime: fn(Object, Semantics, &mut Vec<Diagnostic>) -> Runtime,
    pub(crate) service: fn(Object, &Policy, &mut Vec<Diagnostic>) -> Service,
    /// What the validating webhook rejects in a service, whatever else exists.
    pub(crate) refusal: fn(&Service, &OperatorConfig) -> Option<Failure>,
}

/// The properties of an operator.
pub(crate) struct Operator {
    pub(crate) api: Api,
    /// The API group of its kinds.
    pub(crate) group: &'static str,
    /// The kind of its services.
    service: &'static str,
    /// The name of its controller's image.
    pub(crate) image: &'static str,
    /// The pod label that contains the name of its service.
    pub(crate) owner: &'static str,
    /// The components whose Service clients call: the first one that exists.
    pub(crate) entrance: &'static [&'static str],
    /// How its services are read; `None` for an operator without services to plan.
    pub(crate) dialect: Option<Dialect>,
    /// Policy of its documents; `None` for an operator without services to plan.
    documented: Option<&'static Policy>,
    /// Policies of its releases, oldest first; empty for an operator without services to plan.
    policies: &'static [&'static Policy],
    /// Changes between its releases; `None` for an operator without services to plan.
    pub(crate) upgrade: Option<&'static Upgrade>,
}

/// Every operator. To add one, add a folder here and a row.
pub(crate) static OPERATORS: [Operator; 3] = [
    Operator {
        api: Api::Ome,
        group: ome::read::GROUP,
        service: "InferenceService",
        image: "ome-manager",
        owner: "ome.io/inferenceservice",
        entrance: &["router", "engine"],
        dialect: Some(Dialect {
            runtime: ome::read::runtime,
            service: ome::read::service,
            refusal: |service, _| ome::admission::refusal(service),
        }),
        documented: Some(&ome::releases::DOCUMENTED),
        policies: &ome::releases::RELEASES,
        upgrade: Some(&ome::upgrade::UPGRADE),
    },
    Operator {
        api: Api::KServe,
        group: "serving.kserve.io",
        service: "InferenceService",
        image: "kserve-controller",
        owner: "serving.kserve.io/inferenceservice",
        entrance: &["transformer", "predictor"],
        dialect: Some(Dialect {
            runtime: kserve::read::runtime,
            service: kserve::read::service,
            refusal: |service, config| kserve::admission::refusal(service, &config.kserve),
        }),
        documented: Some(&kserve::releases::DOCUMENTED),
        policies: &kserve::releases::RELEASES,
        upgrade: Some(&kserve::upgrade::UPGRADE),
    },
    Operator {
        api: Api::Kthena,
        group: "workload.serving.volcano.sh",
        service: "ModelServing",
        image: "kthena-controller-manager",
        owner: kthena::objects::names::NAME,
        entrance: &[],
        dialect: None,
        documented: None,
        policies: &[],
        upgrade: None,
    },
];

/// Returns the operator of an API; `None` for the cluster itself.
pub(crate) fn operator(api: Api) -> Option<&'static Operator> {
    OPERATORS.iter().find(|own| own.api == api)
}

/// Reports whether a kind is the service kind of an operator.
pub(crate) fn is_service(kind: &str) -> bool {
    OPERATORS.iter().any(|own| own.service == kind)
}

/// Returns how an operator reads its services; `None` for an operator without services to plan.
pub(crate) fn dialect(api: Api) -> Option<&'static Dialect> {
    operator(api)?.dialect.as_ref()
}

/// Returns the operators with services to plan, in output order.
pub(crate) fn deciding() -> impl Iterator<Item = Api> {
    OPERATORS.iter().filter(|own| own.dialect.is_some()).map(|own| own.api)
}

/// Returns the releases of an operator that can be followed, oldest first.
pub fn releases(api: Api) -> Vec<Release> {
    definitions(api).into_iter().map(|(release, _)| release).collect()
}

/// Returns the policy of a release, by its tag.
pub fn release(api: Api, tag: &str) -> Option<&'static Policy> {
    policies(api).iter().copied().find(|release| release.id.tag == tag)
}

/// Returns the releases of an operator, oldest first, each with the fields that its CRDs drop.
pub fn definitions(api: Api) -> Vec<(Release, &'static [Unknown])> {
    if api == Api::Kthena {
        let releases = kthena::releases::RELEASES.iter();
        return releases.map(|release| (release.id, release.unknown)).collect();
    }
    policies(api).iter().map(|policy| (policy.id, policy.unknown)).collect()
}

/// Returns the policies of an operator's releases, oldest first.
fn policies(api: Api) -> &'static [&'static Policy] {
    operator(api).map_or(&[], |own| own.policies)
}

/// Returns the tags of every operator's releases, oldest first.
pub fn release_tags() -> Vec<(&'static str, Vec<&'static str>)> {
    let tags = |api| releases(api).into_iter().map(|release| release.tag).collect();
    released().map(|(operator, api)| (operator, tags(api))).collect()
}

/// Returns the operators with known releases and their names in `--release`, sorted by name.
pub fn released() -> impl Iterator<Item = (&'static str, Api)> {
    let mut names = OPERATORS.each_ref().map(|own| (own.api.as_str(), own.api));
    names.sort_unstable();
    names.into_iter()
}

/// Returns every rule of `validate`: the rules shared by all operators, then each operator's own.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    [check::CHECKS, ome::checks::CHECKS, kserve::checks::CHECKS].into_iter().flatten()
}

/// The context in which an operator builds a service: the catalog, the release and the cluster
/// domain.
#[derive(Clone, Copy)]
pub(crate) struct BuildContext<'a, 'f> {
    /// All loaded objects.
    pub(crate) catalog: &'a Catalog,
    /// The release that is followed; its API selects the operator.
    pub(crate) policy: &'static Policy,
    /// The cluster's DNS domain.
    pub(crate) cluster_domain: &'f str,
}

impl<'a> BuildContext<'a, '_> {
    fn settings(&self) -> Settings<'_> {
        Settings {
            policy: self.policy,
            config: self.catalog.config(),
            cluster_domain: self.cluster_domain,
        }
    }

    /// Builds a service up to its first failure, which can come from its decisions.
    pub(crate) fn build<'s, R: Record>(
        &self,
        service: &'s Service,
        resolution: &Resolution<'s>,
        rec: &mut R,
    ) -> Outcome<'s>
    where
        'a: 's,
    {
        match self.policy.api {
            Api::Ome => ome::build::build(self.catalog, self.settings(), service, resolution, rec),
            Api::KServe => kserve::build::build(self.settings(), service, resolution, rec),
            Api::Kthena | Api::Cluster => Outcome::default(),
        }
    }

    /// Returns a finding about the placement of a built service, if there is one.
    pub(crate) fn remarks(
        &self,
        service: &Service,
        components: &[Component],
    ) -> Option<Diagnostic> {
        match self.policy.api {
            Api::Ome => {
                let machines = self.catalog.machines();
                ome::checks::router::cpu_nodes(self.policy, service, components, machines)
            }
            Api::KServe | Api::Kthena | Api::Cluster => None,
        }
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
        let config = (self.policy.api == Api::Ome)
            .then(|| ModelConfig::look_up(self.policy, self.catalog, built.service, built.model));
        let mut rendered = self.written(built, config.flatten().as_ref())?;
        objects::finish(&mut rendered.value);
        Ok(rendered)
    }

    /// Returns only the objects of components, which is enough to place pods.
    ///
    /// # Errors
    /// As for [`BuildContext::objects`].
    pub(crate) fn workloads(&self, built: &Built<'_>) -> Result<Vec<RenderedObject>, Failure> {
        let mut rendered = self.written(built, None)?.value;
        rendered.retain(|object| object.component.is_some());
        objects::tidy_all(&mut rendered);
        Ok(rendered)
    }

    /// Returns the objects that the operator creates for a service before it fails.
    pub(crate) fn before_failure(&self, unfinished: &Unfinished<'_>) -> Vec<RenderedObject> {
        let built = &unfinished.built;
        let mut rendered = match self.policy.api {
            Api::Ome => {
                let config =
                    ModelConfig::look_up(self.policy, self.catalog, built.service, built.model);
                ome::objects::before_failure(unfinished, config.as_ref(), self.settings())
            }
            Api::KServe | Api::Kthena | Api::Cluster => Vec::new(),
        };
        objects::finish(&mut rendered);
        rendered
    }

    fn written(
        &self,
        built: &Built<'_>,
        model: Option<&ModelConfig<'_>>,
    ) -> Result<Checked<Vec<RenderedObject>>, Failure> {
        match self.policy.api {
            Api::Ome => ome::objects::objects(built, model, self.settings()),
            Api::KServe => kserve::objects::objects(built, self.settings()),
            Api::Kthena | Api::Cluster => Ok(Checked::clean(Vec::new())),
        }
    }
}
