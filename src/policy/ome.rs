//! What releases of OME's operator do differently, as named values.
//!
//! In: nothing. Out: [`OmeRelease`], whose fields rules read; nothing asks which release it was
//! given. The releases themselves are in `operators/ome/releases.rs`.
//!
//! Source: trees of sgl-project/ome at the tags; a field names the function it was read from, and
//! the pull request that changed it. Paths are under pkg/controller/v1beta1/inferenceservice
//! unless they begin with pkg/.

use super::{FaultRule, MergeRule};
use crate::api::OperatorConfig;

/// What a class's resources do to those of a container that the service does not set
/// (utils/merging.go, MergeResource).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassResourceRule {
    /// The class is not asked; nor are the runtime's own containers.
    None,
    /// Of container, runtime's container of its name and class the largest counts.
    Largest,
    /// The runtime's container fills in what is missing; the class overrides (#468).
    Override,
}

/// How `runtimeArgsOverride` and the parallel sizes change arguments (components/base.go,
/// MergeRuntimeArgumentsOverride).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentRule {
    /// A list of several elements gets the override behind it; of one text lines are replaced;
    /// sizes are set in the first element alone.
    FirstElement,
    /// Flag by flag, in text and list alike (#509).
    Flags,
}

/// What the operator's variables do to one of the same name (components/base.go,
/// UpdateEnvVariables).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableRule {
    /// They come behind it, and the last one counts in the pod.
    Append,
    /// They stay away (#329).
    WhereAbsent,
}

/// Which port the stable Service of a service without Ingress has
/// (reconcilers/external_service/external_service_reconciler.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalPortRule {
    /// 80, which leads to 8080.
    Http,
    /// The first port of the Service of router or engine (#416).
    OfComponent,
}

/// What becomes of names of more than 63 characters (pkg/constants/constants.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongNameRule {
    /// The service fails: no label and no host may be longer.
    Refused,
    /// A hash stands for their beginning (#406, #419, #422).
    Shortened,
}

/// Whether the stable Service stays that a config map without Ingress requests (cleanup.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalServiceRule {
    /// Only where the service's own annotation requests it: the cleanup reads nothing else and
    /// deletes it in the pass that made it.
    ByAnnotation,
    /// It stays (#415).
    Stays,
}

/// Which models the model agent completes. It fills empty fields only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentRule {
    /// A model of an unknown `model_type` stays without format.
    KnownTypes,
    /// Unknown types are read as transformers are; diffusion pipelines have a format of their own
    /// (#343, #520, #527, #533).
    AnyTransformer,
    /// Also nested text configs, experts and vision (#581, #586, #589, #591).
    Nested,
}

/// How a model's kind takes part in its look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKindRule {
    /// A written kind decides the scope; otherwise namespace, then cluster.
    Honored,
    /// The model ConfigMap honors it, selection ignores it; both must find one
    /// (pkg/controller/v1beta1/inferenceservice/utils/reconciliation.go, GetBaseModel).
    ConfigMapOnly,
}

/// How the accelerator class of a component is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceleratorRule {
    /// Requirements, preference and strategy over all classes (OEP-0003).
    Requirements,
    /// A named class, or a policy over the classes the runtime lists
    /// (pkg/acceleratorclassselector).
    Policy,
}

/// What a chosen class does to the pods of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassRule {
    /// It is a layer between runtime and service; its selector and its affinity join theirs
    /// (OEP-0003, InferenceService Extensions; docs/decisions.md#layers).
    Layer,
    /// Resources, arguments and variables are set over those of the merged component, its affinity
    /// replaces theirs (components/base.go, MergeEngineResources, UpdateEnvVariables and
    /// UpdateEngineAffinity).
    Overwrite,
}

/// Where replica counts come from when the service is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaRule {
    /// The runtime's values count; else minReplicas 1, maxReplicas as minReplicas (OME docs,
    /// Serving Runtime, Engine Configuration; docs/decisions.md#replicas).
    Runtime,
    /// The webhook writes 1..3 (router 1..2) into the service, over the runtime's
    /// (pkg/webhook/admission/isvc/inference_service_defaults.go).
    Webhook,
}

/// Which container of a pod runs the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MainContainerRule {
    /// The runner, else the first listed container, else one that has no image yet (OME docs,
    /// Serving Runtime, Engine Configuration).
    RunnerOrFirst,
    /// The runner; without one nothing is done to the first listed container but expansion
    /// (pkg/controller/v1beta1/inferenceservice/reconcilers/common/podspec_reconciler.go,
    /// MergeRuntimeContainers).
    RunnerOnly,
}

/// Which pods get the model's volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelVolumeRule {
    /// Those that mount it and have none of its name.
    WhereMounted,
    /// All, the router's too, whatever they have
    /// (pkg/controller/v1beta1/inferenceservice/components/base.go, UpdatePodSpecVolumes).
    Everywhere,
}

/// When PARALLELISM_SIZE is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParallelismRule {
    /// Where command or arguments read it; accelerators of every vendor count. No document names
    /// the variable.
    WhereReferenced,
    /// With NVIDIA GPUs (pkg/controller/v1beta1/inferenceservice/components/engine.go,
    /// setParallelismEnvVarForEngine).
    Nvidia,
}

/// What decides within OME: its documents, and the differences between its releases.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature that a release has or has not"
)]
pub struct OmeRelease {
    /// See [`ModelKindRule`].
    pub model_kind: ModelKindRule,
    /// The accelerator classes a service names must be listed by the runtime
    /// (pkg/runtimeselector/matcher.go, compareAcceleratorClass).
    pub accelerator_gate: bool,
    /// See [`AcceleratorRule`].
    pub accelerators: AcceleratorRule,
    /// A service without `engine` gets one (OME docs, Serving Runtime, Router Configuration;
    /// docs/decisions.md#implied-engine; OEP-0003, Story 1).
    pub implied_engine: bool,
    /// A service whose runtime is named may do without a model (OEP-0003, Story 8;
    /// docs/decisions.md#runtime-without-model).
    pub model_optional: bool,
    /// A service whose own mode is VirtualDeployment is ready before model and runtime are looked
    /// for (controller.go, Reconcile, step 3).
    pub virtual_first: bool,
    /// Defaults of the CRDs are written in before anything is decided.
    pub crd_defaults: bool,
    /// See [`MergeRule`].
    pub merge: MergeRule,
    /// Components are merged before classes are chosen: what cannot be merged is the failure.
    pub merges_first: bool,
    /// See [`ClassRule`].
    pub class: ClassRule,
    /// See [`ReplicaRule`].
    pub replicas: ReplicaRule,
    /// The webhook writes annotations that are not there
    /// (pkg/webhook/admission/isvc/inference_service_defaults.go).
    pub webhook_annotations: bool,
    /// The router's short form of resources is read as that of its container (OME docs, Serving
    /// Runtime, Router Configuration; docs/decisions.md#field-spellings).
    pub router_shorthand: bool,
    /// A value of the router's `config` replaces the variable of its name; else it comes behind it.
    pub router_config_replaces: bool,
    /// Reports how many nodes without accelerators a router may run on (OEP-0003,
    /// Notes/Constraints/Caveats).
    pub router_nodes: bool,
    /// See [`MainContainerRule`].
    pub main_container: MainContainerRule,
    /// See [`ModelVolumeRule`].
    pub model_volume: ModelVolumeRule,
    /// See [`ParallelismRule`].
    pub parallelism: ParallelismRule,
    /// Pods run only on nodes that the model agent marked (utils/utils.go; not by the documents,
    /// OEP-0003, Story 4).
    pub ready_label: bool,
    /// See [`FaultRule`].
    pub pod_faults: FaultRule,
    /// The number of pods of a group is added in 32 bits, and wraps.
    pub group_size_wraps: bool,
    /// A serverless component without annotations crashes the controller (components/base.go,
    /// ProcessBaseAnnotations).
    pub missing_annotations_crash: bool,
    /// Serverless components need Istio's types, also where `disableIstioVirtualHost` keeps the
    /// controller from knowing them.
    pub needs_istio_types: bool,
    /// It knows AcceleratorClass and what names one (#215).
    pub classes: bool,
    /// A service that names neither class nor policy is chosen for by FirstAvailable (until #512;
    /// pkg/acceleratorclassselector/types.go, NewConfig).
    pub default_class: bool,
    /// BestFit, Cheapest and MostCapable choose a class (#518, #547;
    /// pkg/acceleratorclassselector/selector.go); else nothing.
    pub policies: bool,
    /// FirstAvailable takes the first class that exists and meets the constraints (#518); else the
    /// first name, and a missing class fails the service (getAcceleratorClassByPolicy).
    pub first_available_looks: bool,
    /// See [`ClassResourceRule`].
    pub class_resources: ClassResourceRule,
    /// A chosen class leaves PARALLELISM_SIZE to the arguments (#503; components/engine.go,
    /// decoder.go).
    pub class_replaces_parallelism: bool,
    /// How `runtimeArgsOverride` is merged.
    pub arguments: ArgumentRule,
    /// How parallel sizes are set.
    pub sizes: ArgumentRule,
    /// A chosen class without an entry in `acceleratorConfig` crashes the controller (until #509).
    pub missing_config_crashes: bool,
    /// `acceleratorConfig` of a runtime that the service names is read of all its entries; else of
    /// those with autoSelect (35a17dff; pkg/runtimeselector/selector.go, GetSupportedModelFormat).
    pub named_runtime_formats: bool,
    /// See [`VariableRule`].
    pub variables: VariableRule,
    /// The annotation `ome.io/disable-blocklist: "true"` mounts block lists (gone with #491;
    /// components/base.go).
    pub blocklist: bool,
    /// Merged fine-tuned weights switch the injection of the model off (#524; components/base.go,
    /// ProcessBaseAnnotations).
    pub merged_weights_need_no_model: bool,
    /// A Deployment with a dedicated cluster and without Volcano is called `NAME-new` (gone with
    /// #419; reconcilers/deployment/deployment_reconciler.go).
    pub dedicated_suffix: bool,
    /// The same where Kueue is on: the autoscaler looks for the Deployment without the suffix in
    /// either case from v0.1.4 on.
    pub autoscaler_follows_suffix: bool,
    /// The annotation of an engine or of a runtime decides about the mode (#333;
    /// utils/deployment.go, DetermineEngineDeploymentMode).
    pub mode_by_annotation: bool,
    /// The model's node label is set over one of the runtime's (#358, #514; components/base.go,
    /// UpdatePodSpecNodeSelector).
    pub ready_label_wins: bool,
    /// The runtime's nodeSelector and the service's reach the pods of leader and worker
    /// (utils/merging.go, MergeNodeSelector; v0.1.4).
    pub layered_selector: bool,
    /// See [`ExternalPortRule`].
    pub external_port: ExternalPortRule,
    /// The stable Service selects a component also while the predictor form is used (until #455).
    pub external_selects_component: bool,
    /// See [`ExternalServiceRule`].
    pub external_service: ExternalServiceRule,
    /// Services of components are made without annotations that mean something on pods only (#501;
    /// pkg/utils/utils.go, FilterPodOnlyAnnotations).
    pub service_annotations_filtered: bool,
    /// See [`LongNameRule`].
    pub long_names: LongNameRule,
    /// KEDA: the validator knows the class and the controller passes the settings on (#488).
    pub keda: bool,
    /// The webhook looks a predictor's model up, in the cluster and in the namespace (#431, #424);
    /// else it writes ClusterBaseModel.
    pub predictor_model_looked_up: bool,
    /// Components get a PodDisruptionBudget (#283; reconcilers/pdb/pdb_reconciler.go).
    pub disruption_budgets: bool,
    /// Addresses in the status of services without Ingress end with the port (#416;
    /// reconcilers/ingress).
    pub address_with_port: bool,
    /// The router's ServiceAccount, Role and RoleBinding belong to the service and go with it
    /// (#492; reconcilers/rbac/rbac_reconciler.go).
    pub owned_router_roles: bool,
    /// After a migration the Deployment of the predictor form is looked for by its label in the
    /// namespace, no longer by the name of the service (#429, #454; cleanup.go).
    pub predictor_found_by_label: bool,
    /// Events about services without a runtime give a reason per format (#421;
    /// pkg/runtimeselector).
    pub reasons_by_format: bool,
    /// An update of a Deployment keeps the replicas that it has (#412;
    /// reconcilers/deployment/deployment_reconciler.go).
    pub keeps_replicas: bool,
    /// The webhook of runtimes refuses classes that do not exist, and checks leader and worker of
    /// ClusterServingRuntimes too (#317;
    /// pkg/webhook/admission/servingruntime/servingruntime_webhook.go).
    pub runtimes_checked: bool,
    /// The webhook refuses a service whose `spec.model` is no model, whatever runtime it names
    /// (#420; pkg/webhook/admission/isvc/inference_service_validation.go, validateModelExists).
    pub models_checked: bool,
    /// A predictor with nothing but maxReplicas is migrated (#301; utils/migration_util.go,
    /// IsPredictorUsed).
    pub predictor_used_by_most: bool,
    /// A fine-tuned weight whose strategy cannot be read fails the service (#318); else a line in
    /// the log.
    pub strategy_required: bool,
    /// What its model agent can read (pkg/modelagent, pkg/hfutil).
    pub agent: AgentRule,
    /// `disableIngressCreation` of the config map it ships (config/configmap).
    pub ingress_disabled: bool,
    /// Image of the prober in the config map it ships.
    pub prober_image: &'static str,
}

impl OmeRelease {
    /// The operator's default settings.
    pub fn config(&self) -> OperatorConfig {
        OperatorConfig::shipped(self.ingress_disabled, self.prober_image)
    }
}
