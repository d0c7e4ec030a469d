//! The operations of an operator, as traits.
//!
//! In: nothing. Out: [`Operator`], which `operators/mod.rs` lists one of for each folder, and
//! [`Services`], for an operator whose services are planned: reading, admission, decisions, pods,
//! objects. A folder of `operators` implements them; the modules above call an operator only
//! through them and do not name one.

use crate::api::{
    Api, ComponentKind, DeploymentMode, Failure, Model, Object, OperatorConfig, Runtime, Semantics,
    Service,
};
use crate::catalog::Catalog;
use crate::check::Check;
use crate::decision::Resolution;
use crate::diag::{Checked, Diagnostic};
use crate::merge::history::Recorder;
use crate::objects::{RenderedObject, Settings};
use crate::pods::built::{Built, Component, Outcome, Unfinished};
use crate::policy::Policy;
use crate::policy::upgrade::Upgrade;
use crate::select::{Request, Search};
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;

/// An operator: its names in a cluster, its releases, its rules of `validate`.
pub(crate) trait Operator: Sync {
    /// The API of its kinds.
    fn api(&self) -> Api;

    /// The API group of its kinds.
    fn group(&self) -> &'static str;

    /// The kinds of its services.
    fn kinds(&self) -> &'static [&'static str];

    /// The name of its controller's image.
    fn image(&self) -> &'static str;

    /// The pod label that contains the name of its service.
    fn owner_label(&self) -> &'static str;

    /// The components whose Service clients call: the first one that exists.
    fn entrance(&self) -> &'static [&'static str] {
        &[]
    }

    /// The policy of its documents.
    fn documented(&self) -> &'static Policy;

    /// The policies of its releases, oldest first.
    fn releases(&self) -> &'static [&'static Policy];

    /// Builds of the operator that others ship and that `--release` takes too; they are in no order
    /// with its releases.
    fn distributions(&self) -> &'static [&'static Policy] {
        &[]
    }

    /// Its own rules of `validate`.
    fn checks(&self) -> &'static [Check] {
        &[]
    }

    /// The operations on its services; `None` when a plan has none of them.
    fn services(&self) -> Option<&'static dyn Services> {
        None
    }
}

/// The operations on the services of an operator.
pub(crate) trait Services: Sync {
    /// The distribution that an object is written for, and what in it shows that.
    fn recognize(
        &self,
        _api_version: &str,
        _kind: &str,
        _object: &Node,
    ) -> Option<(&'static Policy, EcoString)> {
        None
    }

    /// Whether a release comes with runtimes of its own.
    fn ships_runtimes(&self, _policy: &Policy) -> bool {
        true
    }

    /// Changes between its releases.
    fn upgrade(&self) -> &'static Upgrade;

    /// Reads a runtime.
    fn read_runtime(
        &self,
        object: Object,
        semantics: Semantics,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Runtime;

    /// Reads a service of one of its kinds.
    fn read(&self, object: Object, policy: &Policy, diagnostics: &mut Vec<Diagnostic>) -> Service;

    /// What the validating webhook rejects in a service, whatever else exists.
    fn refuse(
        &self,
        policy: &Policy,
        service: &Service,
        config: &OperatorConfig,
    ) -> Option<Failure>;

    /// What the validating webhook rejects in an update of a service, and takes of a new one.
    fn refuse_update(
        &self,
        _policy: &Policy,
        _before: (&Service, &OperatorConfig),
        _after: (&Service, &OperatorConfig),
    ) -> Option<Failure> {
        None
    }

    /// Writes the settings that a release ships, for a cluster whose own are not read.
    fn ship(&self, _policy: &Policy, _config: &mut OperatorConfig) {}

    /// Adds what controllers of its cluster make of objects that were read.
    fn prepare(&self, _policy: &Policy, _config: &mut OperatorConfig) {}

    /// Fills a service from other objects as the webhooks of its cluster do that change objects,
    /// before the operator reads it.
    ///
    /// # Errors
    /// When one of the webhooks refuses the service.
    fn admit(
        &self,
        _policy: &Policy,
        _service: &mut Service,
        _config: &OperatorConfig,
    ) -> Result<Vec<Diagnostic>, Failure> {
        Ok(Vec::new())
    }

    /// Findings about objects that would fill a service and were not read.
    fn unread(
        &self,
        _policy: &Policy,
        _service: &Service,
        _config: &OperatorConfig,
    ) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The path at which a service references its runtime; `None` in a form of the service that has
    /// no such field.
    fn runtime_field(&self, service: &Service) -> Option<&'static str>;

    /// The path at which a service sets its protocol; `None` in a form that has no such field.
    fn protocol_field(&self, _service: &Service) -> Option<&'static str> {
        None
    }

    /// The fields of a service that may name the accelerator class of a component, those that do
    /// first; none where services name no class.
    fn class_fields(&self, _object: &Object, _component: ComponentKind) -> Vec<FieldPath> {
        Vec::new()
    }

    /// The deployment mode of all components of a service, where the operator has one for all.
    fn mode(
        &self,
        _policy: &Policy,
        _service: &Service,
        _config: &OperatorConfig,
    ) -> Option<DeploymentMode> {
        None
    }

    /// The name of a deployment mode in its documents or in its release.
    fn mode_name(&self, mode: DeploymentMode, _semantics: Semantics) -> &'static str {
        mode.as_str()
    }

    /// Whether the documents and a release decide alike about a service, because no document
    /// describes its kind beside the code.
    fn is_read_one_way(&self, _service: &Service) -> bool {
        false
    }

    /// Prepares decisions about the services of a catalog.
    fn resolver<'a>(
        &self,
        policy: &'static Policy,
        catalog: &'a Catalog,
    ) -> Box<dyn Resolver<'a> + 'a>;

    /// The inputs of the selection for a service and its model.
    fn request<'a>(
        &self,
        policy: &Policy,
        service: &'a Service,
        model: &'a Model,
        protocol: &EcoString,
    ) -> Request<'a>;

    /// Builds a service up to its first failure, which can come from its decisions.
    fn build<'a>(
        &self,
        context: &Context<'a, '_>,
        service: &'a Service,
        resolution: &Resolution<'a>,
        history: &mut Recorder,
    ) -> Outcome<'a>;

    /// The objects of a service in the order in which the operator creates them.
    ///
    /// # Errors
    /// When the operator fails or crashes before it has created every object, with the operator's
    /// message.
    fn objects(
        &self,
        context: &Context<'_, '_>,
        built: &Built<'_>,
    ) -> Result<Checked<Vec<RenderedObject>>, Failure>;

    /// The objects of components as they are behind the operator's webhook for pods; none where
    /// [`Services::objects`] has them so.
    fn admitted(
        &self,
        _context: &Context<'_, '_>,
        _built: &Built<'_>,
    ) -> Option<Result<Vec<RenderedObject>, Failure>> {
        None
    }

    /// The objects that the operator creates for a service before it fails.
    fn before_failure(
        &self,
        _context: &Context<'_, '_>,
        _unfinished: &Unfinished<'_>,
    ) -> Vec<RenderedObject> {
        Vec::new()
    }

    /// Whether an update of a Deployment that an autoscaler sizes keeps its number of replicas.
    /// Otherwise the server sets its default, 1, and the autoscaler scales up again.
    fn keeps_replicas(&self, _policy: &Policy) -> bool {
        true
    }

    /// Whether the refusal of an object of a service is a warning, because the others are written all
    /// the same.
    fn goes_on(&self, _service: &Service, _object: &Node) -> bool {
        false
    }

    /// What the webhook refuses of a runtime, so that no service gets it.
    fn refused_runtime(
        &self,
        _policy: &Policy,
        _runtime: &Runtime,
        _config: &OperatorConfig,
    ) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// A finding about the placement of a built service, if there is one.
    fn remarks(
        &self,
        _context: &Context<'_, '_>,
        _service: &Service,
        _components: &[Component],
    ) -> Option<Diagnostic> {
        None
    }
}

/// Decides about the services of one catalog under one policy, and can remember decisions.
pub(crate) trait Resolver<'a>: Send + Sync {
    /// Decides for one service: model, runtime, accelerator classes.
    fn resolve(&self, search: &Search<'a, '_>, service: &Service) -> Resolution<'a>;

    /// Frees all remembered decisions.
    fn forget(&self) {}
}

/// The context in which an operator builds a service: the catalog, the release and the cluster
/// domain.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a, 'f> {
    /// All loaded objects.
    pub(crate) catalog: &'a Catalog,
    /// The release that is followed.
    pub(crate) policy: &'static Policy,
    /// The cluster's DNS domain.
    pub(crate) cluster_domain: &'f str,
}

impl Context<'_, '_> {
    /// The settings that objects depend on.
    pub(crate) fn settings(&self) -> Settings<'_> {
        Settings {
            policy: self.policy,
            config: self.catalog.config(),
            cluster_domain: self.cluster_domain,
        }
    }
}
