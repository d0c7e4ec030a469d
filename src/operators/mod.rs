//! The operators, a folder each, whole: what they read, choose, compose, write and check. None
//! names another; this file is the only one that names them all, and what is above asks it.
//!
//! In: a service, and what is decided for it. Out: its pods and objects, as its operator makes
//! them.

pub mod kserve;
pub mod kthena;
pub mod kueue;
pub mod ome;
mod selector;

pub use selector::{Selector, explain_among, judge};

use crate::api::{Api, Failure, Object, PerReading, Release, Runtime, Semantics, Service};
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

/// The newest release of every operator, beside its documents.
pub fn newest() -> Releases {
    let mut newest = Releases::default();
    for own in &OPERATORS {
        if let (Some(documented), Some(&controller)) = (own.documented, own.policies.last()) {
            newest.add(PerReading { documented, controller });
        }
    }
    newest
}

/// How an operator reads its runtimes and services.
pub(crate) struct Dialect {
    pub(crate) runtime: fn(Object, Semantics, &mut Vec<Diagnostic>) -> Runtime,
    pub(crate) service: fn(Object, &Policy, &mut Vec<Diagnostic>) -> Service,
}

/// What an operator is known by.
pub(crate) struct Operator {
    pub(crate) api: Api,
    /// The API group of its kinds.
    pub(crate) group: &'static str,
    /// The kind of its services.
    service: &'static str,
    /// The name of its controller's image.
    pub(crate) image: &'static str,
    /// The label by which a pod names the service that it is of.
    pub(crate) owner: &'static str,
    /// The components whose Service clients call, the first that there is.
    pub(crate) entrance: &'static [&'static str],
    /// How its services are read, where it decides about services.
    pub(crate) dialect: Option<Dialect>,
    /// Its documents, where it decides about services.
    documented: Option<&'static Policy>,
    /// Its releases, oldest first, where it decides about services.
    policies: &'static [&'static Policy],
    /// What its releases change, where it decides about services.
    pub(crate) upgrade: Option<&'static Upgrade>,
}

/// Every operator. A new one is a folder here and a row.
pub(crate) static OPERATORS: [Operator; 3] = [
    Operator {
        api: Api::Ome,
        group: ome::read::GROUP,
        service: "InferenceService",
        image: "ome-manager",
        owner: "ome.io/inferenceservice",
        entrance: &["router", "engine"],
        dialect: Some(Dialect { runtime: ome::read::runtime, service: ome::read::service }),
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
        dialect: Some(Dialect { runtime: kserve::read::runtime, service: kserve::read::service }),
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

/// The operator of an API; none of the cluster itself.
pub(crate) fn operator(api: Api) -> Option<&'static Operator> {
    OPERATORS.iter().find(|own| own.api == api)
}

/// Whether an operator's services are of a kind.
pub(crate) fn is_service(kind: &str) -> bool {
    OPERATORS.iter().any(|own| own.service == kind)
}

/// How an operator reads its services; none of one that decides nothing about services.
pub(crate) fn dialect(api: Api) -> Option<&'static Dialect> {
    operator(api)?.dialect.as_ref()
}

/// The operators that decide about services, in the order of output.
pub(crate) fn deciding() -> impl Iterator<Item = Api> {
    OPERATORS.iter().filter(|own| own.dialect.is_some()).map(|own| own.api)
}

/// The releases of an operator that can be followed, oldest first.
pub fn releases(api: Api) -> Vec<Release> {
    definitions(api).into_iter().map(|(release, _)| release).collect()
}

/// The release of an operator that decides about services.
pub fn release(api: Api, tag: &str) -> Option<&'static Policy> {
    policies(api).iter().copied().find(|release| release.id.tag == tag)
}

/// The releases of an operator, oldest first, each with the fields that its CRDs drop.
pub fn definitions(api: Api) -> Vec<(Release, &'static [Unknown])> {
    if api == Api::Kthena {
        let releases = kthena::releases::RELEASES.iter();
        return releases.map(|release| (release.id, release.unknown)).collect();
    }
    policies(api).iter().map(|policy| (policy.id, policy.unknown)).collect()
}

/// The releases of an operator that decides about services, oldest first.
fn policies(api: Api) -> &'static [&'static Policy] {
    operator(api).map_or(&[], |own| own.policies)
}

/// The tags of every operator's releases, oldest first.
pub fn release_tags() -> Vec<(&'static str, Vec<&'static str>)> {
    let tags = |api| releases(api).into_iter().map(|release| release.tag).collect();
    released().map(|(operator, api)| (operator, tags(api))).collect()
}

/// Operators of which releases are known, by the name that `--release` takes, in its order.
pub fn released() -> impl Iterator<Item = (&'static str, Api)> {
    let mut names = OPERATORS.each_ref().map(|own| (own.api.as_str(), own.api));
    names.sort_unstable();
    names.into_iter()
}

/// Every rule of `validate`: those of all operators, then each operator's own.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    [check::CHECKS, ome::checks::CHECKS, kserve::checks::CHECKS].into_iter().flatten()
}

/// What is asked of the operator of a service: what its services are read with, and by which
/// release.
#[derive(Clone, Copy)]
pub(crate) struct BuildContext<'a, 'f> {
    /// Everything that is known.
    pub(crate) catalog: &'a Catalog,
    /// The release that is followed; its API says whose service it is.
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

    /// Builds a service, up to its first failure, which may be that of the decisions.
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

    /// Facts about a service that was built and is to be placed.
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

    /// The objects of a service in the order in which the operator writes them.
    ///
    /// # Errors
    /// Where the operator fails or crashes before it has written everything, in its words.
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

    /// The objects without the one that describes the model: enough for those who place pods.
    ///
    /// # Errors
    /// As of [`BuildContext::objects`].
    pub(crate) fn workloads(&self, built: &Built<'_>) -> Result<Vec<RenderedObject>, Failure> {
        let mut rendered = self.written(built, None)?.value;
        rendered.retain(|object| object.component.is_some());
        objects::tidy_all(&mut rendered);
        Ok(rendered)
    }

    /// The objects that the operator writes of a service before it fails.
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
