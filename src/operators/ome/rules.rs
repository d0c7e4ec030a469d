//! Differences between releases of OME's operator, as named values.
//!
//! In: nothing. Out: [`OmeRelease`], whose fields the rules read; no rule checks which release it
//! runs under. The releases themselves are in `releases.rs`.
//!
//! Source: trees of sgl-project/ome at the tags; each field cites the upstream function and the
//! pull request that changed it. Paths are under pkg/controller/v1beta1/inferenceservice unless
//! they begin with pkg/.

use crate::api::OperatorConfig;
use crate::policy::{FaultRule, MergeRule, Policy};

/// How a class's resources change container resources that the service does not set
/// (utils/merging.go, MergeResource).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassResourceRule {
    /// Neither the class nor the runtime's own containers are used.
    None,
    /// The largest value of container, the runtime's container of the same name, and class.
    Largest,
    /// The class overrides; the runtime's container fills in missing values (#468).
    Override,
}

/// How `runtimeArgsOverride` and the parallel sizes change arguments (components/base.go,
/// MergeRuntimeArgumentsOverride).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentRule {
    /// The override is appended to a list of several elements; in a single text, lines are
    /// replaced. Sizes are set only in the first element.
    FirstElement,
    /// Flag by flag, for text and list (#509).
    Flags,
}

/// How the operator's variables combine with one of the same name (components/base.go,
/// UpdateEnvVariables).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableRule {
    /// They are appended, and the last one takes effect in the pod.
    Append,
    /// They are not added (#329).
    WhereAbsent,
}

/// The port of the stable Service of a service without Ingress
/// (reconcilers/external_service/external_service_reconciler.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalPortRule {
    /// 80, with target port 8080.
    Http,
    /// The first port of the Service of router or engine (#416).
    OfComponent,
}

/// Handling of names longer than 63 characters (pkg/constants/constants.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongNameRule {
    /// The service fails, because labels and host names have at most 63 characters.
    Refused,
    /// A hash replaces their beginning (#406, #419, #422).
    Shortened,
}

/// Whether the stable Service is kept when only the ConfigMap turns Ingress off (cleanup.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalServiceRule {
    /// Only when the service's own annotation requests it. The cleanup reads only this annotation
    /// and otherwise deletes the Service in the same reconcile that created it.
    ByAnnotation,
    /// It is kept (#415).
    Stays,
}

/// Which models the model agent completes. It fills empty fields only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentRule {
    /// A model with an unknown `model_type` gets no format.
    KnownTypes,
    /// Unknown types are read like transformers; diffusion pipelines have their own format (#343,
    /// #520, #527, #533).
    AnyTransformer,
    /// Also nested text configs, experts and vision (#581, #586, #589, #591).
    Nested,
}

/// How a model reference's kind affects the lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKindRule {
    /// A kind that is set selects the scope; otherwise namespace, then cluster.
    Honored,
    /// The model ConfigMap honors the kind and selection ignores it; both must find a model
    /// (pkg/controller/v1beta1/inferenceservice/utils/reconciliation.go, GetBaseModel).
    ConfigMapOnly,
}

/// How the accelerator class of a component is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceleratorRule {
    /// Requirements, preference and strategy over all classes (OEP-0003).
    Requirements,
    /// A referenced class, or a policy over the classes that the runtime lists
    /// (pkg/acceleratorclassselector).
    Policy,
}

/// How a chosen class changes the pods of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassRule {
    /// It is a layer between runtime and service; its selector and its affinity are combined with
    /// theirs (OEP-0003, InferenceService Extensions; docs/decisions.md#layers).
    Layer,
    /// Its resources, arguments and variables override those of the merged component, and its
    /// affinity replaces theirs (components/base.go, MergeEngineResources, UpdateEnvVariables and
    /// UpdateEngineAffinity).
    Overwrite,
}

/// The source of replica counts when the service sets none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaRule {
    /// The runtime's values; else minReplicas is 1 and maxReplicas equals minReplicas (OME docs,
    /// Serving Runtime, Engine Configuration; docs/decisions.md#replicas).
    Runtime,
    /// The webhook writes 1..3 (router 1..2) into the service, which override the runtime's
    /// (pkg/webhook/admission/isvc/inference_service_defaults.go).
    Webhook,
}

/// Which container of a pod runs the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MainContainerRule {
    /// The runner, else the first listed container, else one that has no image yet (OME docs,
    /// Serving Runtime, Engine Configuration).
    RunnerOrFirst,
    /// The runner. Without a runner, the first listed container gets only placeholder expansion
    /// (pkg/controller/v1beta1/inferenceservice/reconcilers/common/podspec_reconciler.go,
    /// MergeRuntimeContainers).
    RunnerOnly,
}

/// Which pods get the model's volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelVolumeRule {
    /// Pods that mount it and have no volume of the same name.
    WhereMounted,
    /// All pods, including the router's, even if they have such a volume
    /// (pkg/controller/v1beta1/inferenceservice/components/base.go, UpdatePodSpecVolumes).
    Everywhere,
}

/// When PARALLELISM_SIZE is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParallelismRule {
    /// When command or arguments use it; accelerators of every vendor count. No document mentions
    /// the variable.
    WhereReferenced,
    /// When the container has NVIDIA GPUs
    /// (pkg/controller/v1beta1/inferenceservice/components/engine.go,
    /// setParallelismEnvVarForEngine).
    Nvidia,
}

/// Rules of OME: its documents and the differences between its releases.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature that a release has or has not"
)]
pub struct OmeRelease {
    /// See [`ModelKindRule`].
    pub model_kind: ModelKindRule,
    /// The runtime must list the accelerator classes that a service references
    /// (pkg/runtimeselector/matcher.go, compareAcceleratorClass).
    pub accelerator_gate: bool,
    /// See [`AcceleratorRule`].
    pub accelerators: AcceleratorRule,
    /// A service without `engine` gets one (OME docs, Serving Runtime, Router Configuration;
    /// docs/decisions.md#implied-engine; OEP-0003, Story 1).
    pub implied_engine: bool,
    /// A service that references a runtime does not need a model (OEP-0003, Story 8;
    /// docs/decisions.md#runtime-without-model).
    pub model_optional: bool,
    /// A service that sets the mode VirtualDeployment is ready before its model and runtime are
    /// looked up (controller.go, Reconcile, step 3).
    pub virtual_first: bool,
    /// Defaults of the CRDs are filled in before any decision.
    pub crd_defaults: bool,
    /// See [`MergeRule`].
    pub merge: MergeRule,
    /// Components are merged before classes are chosen, so a merge error is reported first.
    pub merges_first: bool,
    /// See [`ClassRule`].
    pub class: ClassRule,
    /// See [`ReplicaRule`].
    pub replicas: ReplicaRule,
    /// The webhook adds missing annotations
    /// (pkg/webhook/admission/isvc/inference_service_defaults.go).
    pub webhook_annotations: bool,
    /// The router's short form of resources applies to its container (OME docs, Serving Runtime,
    /// Router Configuration; docs/decisions.md#field-spellings).
    pub router_shorthand: bool,
    /// A value of the router's `config` replaces the variable of the same name; otherwise it is
    /// appended.
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
    /// Pods run only on nodes that the model agent labeled (utils/utils.go; not by the documents,
    /// OEP-0003, Story 4).
    pub ready_label: bool,
    /// See [`FaultRule`].
    pub pod_faults: FaultRule,
    /// The number of pods of a group is a 32-bit sum that can overflow.
    pub group_size_wraps: bool,
    /// A serverless component without annotations crashes the controller (components/base.go,
    /// ProcessBaseAnnotations).
    pub missing_annotations_crash: bool,
    /// Serverless components need Istio's types, even when `disableIstioVirtualHost` keeps the
    /// controller from registering them.
    pub needs_istio_types: bool,
    /// The release supports AcceleratorClass and the fields that reference one (#215).
    pub classes: bool,
    /// FirstAvailable chooses a class for a service that sets neither class nor policy (until #512;
    /// pkg/acceleratorclassselector/types.go, NewConfig).
    pub default_class: bool,
    /// BestFit, Cheapest and MostCapable choose a class (#518, #547;
    /// pkg/acceleratorclassselector/selector.go). Otherwise these policies choose none.
    pub policies: bool,
    /// FirstAvailable chooses the first class that exists and meets the constraints (#518).
    /// Otherwise it chooses the first name, and a missing class fails the service
    /// (getAcceleratorClassByPolicy).
    pub first_available_looks: bool,
    /// See [`ClassResourceRule`].
    pub class_resources: ClassResourceRule,
    /// With a chosen class, PARALLELISM_SIZE is not set; the arguments set the parallel sizes
    /// (#503; components/engine.go, decoder.go).
    pub class_replaces_parallelism: bool,
    /// How `runtimeArgsOverride` is merged.
    pub arguments: ArgumentRule,
    /// How parallel sizes are set.
    pub sizes: ArgumentRule,
    /// A chosen class without an entry in `acceleratorConfig` crashes the controller (until #509).
    pub missing_config_crashes: bool,
    /// `acceleratorConfig` of a runtime that the service references is read from all its format
    /// entries. Otherwise only from those with autoSelect (35a17dff;
    /// pkg/runtimeselector/selector.go, GetSupportedModelFormat).
    pub named_runtime_formats: bool,
    /// See [`VariableRule`].
    pub variables: VariableRule,
    /// The annotation `ome.io/disable-blocklist: "true"` mounts block lists (removed in #491;
    /// components/base.go).
    pub blocklist: bool,
    /// Merged fine-tuned weights turn off the injection of the model (#524; components/base.go,
    /// ProcessBaseAnnotations).
    pub merged_weights_need_no_model: bool,
    /// A Deployment with a dedicated cluster and without Volcano is named `NAME-new` (removed in
    /// #419; reconcilers/deployment/deployment_reconciler.go).
    pub dedicated_suffix: bool,
    /// With Kueue, the autoscaler refers to the Deployment by the name with that suffix. From
    /// v0.1.4 on, it always uses the name without the suffix.
    pub autoscaler_follows_suffix: bool,
    /// The annotation of an engine or of a runtime selects the mode (#333; utils/deployment.go,
    /// DetermineEngineDeploymentMode).
    pub mode_by_annotation: bool,
    /// The model's node label overrides one of the runtime's (#358, #514; components/base.go,
    /// UpdatePodSpecNodeSelector).
    pub ready_label_wins: bool,
    /// The nodeSelectors of runtime and service apply to the pods of leader and worker
    /// (utils/merging.go, MergeNodeSelector; v0.1.4).
    pub layered_selector: bool,
    /// See [`ExternalPortRule`].
    pub external_port: ExternalPortRule,
    /// The stable Service selects a component even while the predictor form is in use (until #455).
    pub external_selects_component: bool,
    /// See [`ExternalServiceRule`].
    pub external_service: ExternalServiceRule,
    /// Services of components are created without annotations that apply only to pods (#501;
    /// pkg/utils/utils.go, FilterPodOnlyAnnotations).
    pub service_annotations_filtered: bool,
    /// See [`LongNameRule`].
    pub long_names: LongNameRule,
    /// KEDA: the validator accepts the autoscaler class and the controller applies the settings
    /// (#488).
    pub keda: bool,
    /// The webhook looks up a predictor's model in the cluster and in the namespace (#431, #424).
    /// Otherwise it writes ClusterBaseModel.
    pub predictor_model_looked_up: bool,
    /// Components get a PodDisruptionBudget (#283; reconcilers/pdb/pdb_reconciler.go).
    pub disruption_budgets: bool,
    /// Addresses in the status of services without Ingress end with the port (#416;
    /// reconcilers/ingress).
    pub address_with_port: bool,
    /// The condition RoutesReady is set for serverless services only (#451; controller.go,
    /// Reconcile).
    pub routes_of_serverless_only: bool,
    /// The router's ServiceAccount, Role and RoleBinding are owned by the service and deleted with
    /// it (#492; reconcilers/rbac/rbac_reconciler.go).
    pub owned_router_roles: bool,
    /// After a migration, the Deployment of the predictor form is looked up by its label in the
    /// namespace instead of by the service's name (#429, #454; cleanup.go).
    pub predictor_found_by_label: bool,
    /// Events about services without a runtime contain a reason per format (#421;
    /// pkg/runtimeselector).
    pub reasons_by_format: bool,
    /// An update of a Deployment keeps its current replicas (#412;
    /// reconcilers/deployment/deployment_reconciler.go).
    pub keeps_replicas: bool,
    /// The webhook of runtimes rejects references to missing classes, and checks leader and worker
    /// of ClusterServingRuntimes too (#317;
    /// pkg/webhook/admission/servingruntime/servingruntime_webhook.go).
    pub runtimes_checked: bool,
    /// The webhook rejects a service whose `spec.model` references a missing model, even if it
    /// references a runtime (#420; pkg/webhook/admission/isvc/inference_service_validation.go,
    /// validateModelExists).
    pub models_checked: bool,
    /// A predictor that sets only maxReplicas is migrated (#301; utils/migration_util.go,
    /// IsPredictorUsed).
    pub predictor_used_by_most: bool,
    /// A fine-tuned weight with an unreadable strategy fails the service (#318). Otherwise it is
    /// only logged.
    pub strategy_required: bool,
    /// A runtime that the service names runs a model whose format it does not list, with a warning
    /// (#643; pkg/webhook/admission/isvc, resolveModelAndRuntime; controller.go, Reconcile).
    pub named_runtime_advises: bool,
    /// A runtime whose engineConfig or decoderConfig sets another deployment mode than the
    /// service's component is not selected automatically (#647; pkg/runtimeselector/matcher.go).
    pub compares_mode: bool,
    /// The mode Serverless: Knative Services and VirtualServices (removed in #681).
    pub serverless: bool,
    /// The mode MultiNodeRayVLLM: RayClusters with their probers (removed in #693).
    pub ray: bool,
    /// The leader Service of a multi-node component selects by `ray.io/node-type` (until #693).
    pub ray_leader_label: bool,
    /// A runtime is merged over the one that its annotation `ome.io/inherit-from` names (#710;
    /// pkg/runtimeinheritance).
    pub inherits: bool,
    /// The mode OMENative: of a leader or worker, of `spec.deploymentMode`, or of an annotation
    /// (#771, #804; utils/deployment.go, DetermineDeploymentModes).
    pub native: bool,
    /// `spec.runtime.kind` selects where the runtime is looked up
    /// (pkg/runtimeselector/fetcher.go, GetRuntime).
    pub runtime_kind: bool,
    /// `deploy.terminationGracePeriodSeconds` of the shipped ConfigMap: the webhook writes it into
    /// components without one (inference_service_defaults.go, defaultTerminationGracePeriod).
    pub grace_period: Option<i64>,
    /// The models that its model agent can read (pkg/modelagent, pkg/hfutil).
    pub agent: AgentRule,
    /// `disableIngressCreation` in the shipped ConfigMap (config/configmap).
    pub ingress_disabled: bool,
    /// Prober image in the shipped ConfigMap.
    pub prober_image: &'static str,
}

impl OmeRelease {
    /// Returns the operator's default settings.
    pub fn config(&self) -> OperatorConfig {
        OperatorConfig {
            grace_period: self.grace_period,
            ..OperatorConfig::shipped(self.ingress_disabled, self.prober_image)
        }
    }
}

/// Gives a policy of OME its rules.
pub(crate) trait Rules {
    /// Returns the rules that only OME has.
    ///
    /// # Panics
    /// If the policy is not one of OME. Its constants have both, and the operator of a policy is
    /// found by its API.
    fn ome(&self) -> &'static OmeRelease;
}

impl Rules for Policy {
    fn ome(&self) -> &'static OmeRelease {
        self.operator_rules().expect("a policy of OME has the rules of OME")
    }
}
