//! Changes of an upgrade of OME: one rule per field of its releases.

use super::compose::service_annotations;
use super::edits::{
    KEEP_INGRESS, KEEP_PROBER, NAME_CLASS, NAME_RUNTIME, NO_ARGUMENTS, NO_LABEL, NO_MODE,
    NO_POLICY, NO_SELECTOR, NO_SIZES, NO_UNUSED_CONFIG, NO_VARIABLE, NOTHING, OF_OPERATOR,
    OWN_BLOCKLIST, OWN_PARALLELISM, OWN_RESOURCES, PORT, REPAIRED, SERVERLESS_SERVICE,
    STABLE_SERVICE,
};
use super::read::predictor::used_by_most_alone;
use crate::api::{DeploymentMode, Object, OperatorConfig, Service};
use crate::objects::domain::IngressSettings;
use crate::operators::ome::rules::ClassResourceRule;
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;
use crate::policy::upgrade::{
    EditRule, Effect, FieldRule, NO_OBJECT, ReleaseRule, ShippedRules, Switch, Upgrade, effects,
    switches,
};
use crate::yaml::Node;

/// The grace period is a value of the shipped settings, which services are built with.
static GRACE_PERIOD: Switch = Switch {
    rule: ReleaseRule {
        id: "J8",
        title: "pods get terminationGracePeriodSeconds 600 where the service sets none",
        source: "read: pkg/webhook/admission/isvc/inference_service_defaults.go defaultTerminationGracePeriod",
        action: "set `terminationGracePeriodSeconds` on the component to keep its own",
        edit: OF_OPERATOR,
    },
    differs: |a, b| a.ome().grace_period != b.ome().grace_period,
    take: None,
};

/// Changes between the releases of OME, except rules that are found in the input.
pub(crate) static UPGRADE: Upgrade = Upgrade {
    rules: &[RULES, &WHOLE],
    effects: EFFECTS,
    fields: &READ,
    fields_are_tried: true,
    shipped: Some(ShippedRules {
        ingress: &INGRESS,
        without_ingress,
        prober: &PROBER,
        grace_period: &GRACE_PERIOD,
    }),
    protocol: None,
    crash: Some((&CRASH, "A2")),
    basis: None,
};

/// Whether a service gets no Ingress, by its annotations or by the settings.
fn without_ingress(policy: &Policy, service: &Service, config: &OperatorConfig) -> bool {
    let annotations = service_annotations(policy, service, config);
    IngressSettings::resolve(config, &annotations).disable_ingress_creation
}

/// Rules that are fields of [`OmeRelease`](crate::operators::ome::rules::OmeRelease), by the
/// consequence: restarts first.
static RULES: &[Switch] = switches! { ome
    "A1" [default_class] "a service without accelerator class and policy no longer gets the first class of its runtime's list"
        "#512, pkg/acceleratorclassselector/selector.go" "name the class: `spec.acceleratorSelector.acceleratorClass`" NAME_CLASS
    "A2" [policies] "the policies BestFit, Cheapest and MostCapable now choose a class; before, they chose none"
        "#518 and #547, pkg/acceleratorclassselector/selector.go" "remove the policy, or name the class" NO_POLICY
    "A3" [first_available_looks] "FirstAvailable chooses the first class that exists and meets the constraints; before, the first name of the list"
        "#518, pkg/acceleratorclassselector/policy_helpers.go" "name the class: `spec.acceleratorSelector.acceleratorClass`" NAME_CLASS
    "A5" [class_replaces_parallelism] "the variable PARALLELISM_SIZE is no longer set where an accelerator class is chosen"
        "#503, components/engine.go" "set PARALLELISM_SIZE in the runner if a command uses it" OWN_PARALLELISM
    "A6" [arguments] "`runtimeArgsOverride` is merged flag by flag, and multi-line arguments are reformatted"
        "#509, utils/merging.go MergeArgs" "plan for the restart" NO_ARGUMENTS
    "A7" [sizes] "`tensorParallelismOverride` changes every argument and the command; before, the first argument only"
        "#509, components/base.go overrideParam" "set the parallelism in the arguments yourself" NO_SIZES
    "A8" [named_runtime_formats] "where the service names its runtime, `acceleratorConfig` of every format is considered; before, only of formats with `autoSelect`"
        "35a17dff, pkg/runtimeselector/selector.go" "plan for the restart" NO_UNUSED_CONFIG
    "A9" [variables] "MODEL_PATH and TFEW_PATH set by the runtime or the service are kept; before, the operator overrode them"
        "#329, components/base.go UpdateEnvVariables" "remove the variable, or correct its value" NO_VARIABLE
    "A10" [blocklist] "the annotation `ome.io/disable-blocklist` no longer mounts block lists"
        "#491, components/base.go" "mount the config map in the runner where it is needed" OWN_BLOCKLIST
    "A11" [merged_weights_need_no_model] "services with merged fine-tuned weights get the annotation `ome.io/inject-model-init: \"false\"`"
        "#524, components/base.go ProcessBaseAnnotations" "plan for the restart" OF_OPERATOR
    "A12" [dedicated_suffix] "names of Deployments on a dedicated cluster no longer end in `-new`: a second Deployment is created beside the old one"
        "#419, reconcilers/deployment" "after the upgrade, delete the Deployment whose name ends in `-new`: it holds its GPUs until then" OF_OPERATOR
    "A13" [mode_by_annotation] "the annotation `ome.io/deploymentMode` of an engine or its runtime now sets the deployment mode"
        "#333, utils/deployment.go" "remove the annotation from the engine and the runtime" NO_MODE
    "A14" [ready_label_wins] "a nodeSelector of the runtime for the model's node label is kept; before, it was set to Ready"
        "#358 and #514, components/base.go" "remove the label from the runtime's nodeSelector" NO_LABEL
    "B2" [external_port, external_selects_component] "the Service named like the InferenceService listens on the port of its component; before, on port 80"
        "#416 and #455, reconcilers/external_service" "change clients to the new port" PORT
    "B3" [service_annotations_filtered] "Services of components no longer get annotations that are meant for pods only"
        "#501, pkg/utils FilterPodOnlyAnnotations" "nothing; Services that exist keep their annotations" NOTHING
    "B4" [external_service] "whether the Service named like the InferenceService stays where the config map disables Ingresses: v0.1.4 deletes it right after creating it, other releases keep it"
        "#415, cleanup.go" "set the annotation `ome.io/ingress-disable-creation: \"true\"`" STABLE_SERVICE
    "B5" [long_names] "names longer than 63 characters are shortened; before, the service failed"
        "#406, #419 and #422, pkg/constants" "nothing" REPAIRED
    "B6" [routes_of_serverless_only] "a serverless router has a VirtualService only if the service and its engine are serverless; before, if every component is serverless"
        "#451, controller.go Reconcile" "set the annotation `ome.io/deploymentMode: Serverless` on the service" SERVERLESS_SERVICE
    "C2" [missing_config_crashes] "a chosen class without an entry in `acceleratorConfig` no longer crashes the controller"
        "#509, components/base.go" "nothing" REPAIRED
    "C3" [keda] "the autoscaler class `keda` works; before, the webhook refused it"
        "#488, reconcilers/keda" "nothing" REPAIRED
    "C4" [predictor_model_looked_up] "`spec.predictor.model` may name a BaseModel of the namespace; before, only a ClusterBaseModel was found"
        "#431 and #424, webhook" "nothing" REPAIRED
    "G1" [disruption_budgets] "each component gets a PodDisruptionBudget"
        "#283, reconcilers/pdb" "set `maxUnavailable` or `minAvailable` where more than 1 pod may be evicted at a time" OF_OPERATOR
    "G3" [layered_selector] "nodeSelectors of the runtime and of the service are set on all pods of a component"
        "utils/merging.go MergeNodeSelector" "remove the selectors from the runtime that must not apply" NO_SELECTOR
    "J1" [named_runtime_advises] "a runtime that the service names runs a model that it does not list, with a warning; before, the service was refused"
        "read: #643, pkg/webhook/admission/isvc resolveModelAndRuntime" "nothing" REPAIRED
    "J2" [compares_mode] "a runtime whose engineConfig or decoderConfig sets another `ome.io/deploymentMode` than the service's component is no longer selected"
        "read: #647, pkg/runtimeselector/matcher.go" "name the runtime: `spec.runtime.name`" NAME_RUNTIME
    "J3" [serverless] "the mode Serverless is gone: no Knative Service and no VirtualService is written, and those that exist are no longer updated"
        "read: #681, reconcilers/knative" "migrate first: set minReplicas to 1 or more, or scale by KEDA, and delete the Knative Service" OF_OPERATOR
    "J4" [ray] "the mode MultiNodeRayVLLM is gone: no RayCluster and no prober is written, and those that exist are no longer updated"
        "read: #693, reconcilers/multinodevllm" "migrate first: write leader and worker, which run as a LeaderWorkerSet" OF_OPERATOR
    "J6" [native] "components with leader or worker become OMENative: an InferenceReplica in place of the LeaderWorkerSet"
        "read: #771 and #804, utils/deployment.go determineComponentDeploymentMode" "keep the LeaderWorkerSet: set the annotation `ome.io/deploymentMode: MultiNode` on the component" OF_OPERATOR
    "J7" [runtime_kind] "`spec.runtime.kind` selects where the runtime is looked up, and its default is ClusterServingRuntime: of two runtimes of one name the cluster's is taken"
        "read: pkg/runtimeselector/fetcher.go GetRuntime" "set `spec.runtime.kind: ServingRuntime` where a runtime of the namespace is meant" OF_OPERATOR
    "G6" [autoscaler_follows_suffix] "the autoscaler targets the Deployment without the suffix `-new`, which does not exist"
        "reconcilers/hpa" "scale these services by hand until v0.1.5" OF_OPERATOR
};

/// Rules that differ by more than fields of an [`OmeRelease`](crate::operators::ome::rules::OmeRelease).
static WHOLE: [Switch; 3] = [
    Switch {
        rule: ReleaseRule {
            id: "A4",
            title: "resources of the chosen class override those of the runtime; before, the largest value won",
            source: "#468, utils/merging.go MergeResource",
            action: "set the resources on the service's runner",
            edit: OWN_RESOURCES,
        },
        differs: |a, b| {
            let rules = [a, b].map(|policy| policy.ome().class_resources);
            rules[0] != rules[1] && !rules.contains(&ClassResourceRule::None)
        },
        take: Some(take_resources),
    },
    Switch {
        rule: ReleaseRule {
            id: "G4",
            title: "where the service sets no resources, the runner gets those of its class and of the runtime's container of the same name",
            source: "utils/merging.go MergeResource",
            action: "set the resources on the service's runner",
            edit: OWN_RESOURCES,
        },
        differs: |a, b| {
            let is_none = |policy: &Policy| policy.ome().class_resources == ClassResourceRule::None;
            is_none(a) != is_none(b)
        },
        take: Some(take_resources),
    },
    Switch {
        rule: ReleaseRule {
            id: "A15",
            title: "versions with one or two numbers (`1.12`) or the prefix `v` are understood; before, they matched nothing",
            source: "#410, pkg/modelver/util.go",
            action: "name the runtime: `spec.runtime.name`",
            edit: NAME_RUNTIME,
        },
        differs: |a, b| a.version != b.version,
        take: Some(|policy, from| policy.version = from.version),
    },
];

fn take_resources(policy: &mut Policy, from: &Policy) {
    let mut release = *policy.ome();
    release.class_resources = from.ome().class_resources;
    // Leaked as in `switches!`: one copy for each rule of a run.
    policy.operator_rules = Box::leak(Box::new(release));
}

/// A rule about the input: it is found there, without deciding the service again.
static INGRESS: Switch = Switch {
    rule: ReleaseRule {
        id: "B1",
        title: "the shipped config map disables Ingresses: a Service named like the InferenceService is created instead",
        source: "config/configmap/inferenceservice.yaml",
        action: "set `disableIngressCreation: false` in the config map to keep the Ingress",
        edit: KEEP_INGRESS,
    },
    differs: |a, b| a.ome().ingress_disabled != b.ome().ingress_disabled,
    take: None,
};

/// See [`INGRESS`].
static PROBER: Switch = Switch {
    rule: ReleaseRule {
        id: "F",
        title: "the shipped config map sets another image for the multi-node prober",
        source: "config/configmap/inferenceservice.yaml",
        action: "set `multinodeProber` in the config map to keep the image",
        edit: KEEP_PROBER,
    },
    differs: |a, b| a.ome().prober_image != b.ome().prober_image,
    take: None,
};

/// Rules about fields that one of the releases drops, each with the fields that it is about.
static READ: [FieldRule; 4] = [
    (&DIFFUSION, |field| field.contains("diffusionPipeline")),
    (&CONSTRAINTS, |field| {
        [
            "minComputeCapability",
            "minComputePerformanceTFLOPS",
            "minArchitectureVersion",
            "preferredPrecisions",
        ]
        .iter()
        .any(|word| field.contains(word))
    }),
    (&CLASSES, |field| {
        [
            "AcceleratorClass/",
            "acceleratorRequirements",
            "acceleratorSelector",
            "acceleratorOverride",
            "acceleratorConfig",
        ]
        .iter()
        .any(|word| field.contains(word))
    }),
    (&FIELDS, |_| true),
];

static DIFFUSION: Switch = Switch {
    rule: ReleaseRule {
        id: "A16",
        title: "`diffusionPipeline` is compared: the class name and every component of the runtime's entry must match; before, the CRDs dropped the field",
        source: "#489, pkg/runtimeselector/matcher.go",
        action: "name the runtime: `spec.runtime.name`",
        edit: EditRule::DroppedFields,
    },
    differs: |a, b| !std::ptr::eq(a.unknown, b.unknown),
    take: None,
};

static CONSTRAINTS: Switch = Switch {
    rule: ReleaseRule {
        id: "C7",
        title: "accelerator constraints have other fields (`minComputePerformanceTFLOPS` instead of `minComputeCapability`; `minArchitectureVersion` and `preferredPrecisions` are new), and fields that a release does not have are dropped",
        source: "config/crd/full",
        action: "set the field that the later release reads",
        edit: EditRule::DroppedFields,
    },
    differs: |a, b| !std::ptr::eq(a.unknown, b.unknown),
    take: None,
};

static CLASSES: Switch = Switch {
    rule: ReleaseRule {
        id: "G2",
        title: "AcceleratorClasses are supported: a class is chosen, can reject runtimes, and changes pods; before, the CRDs dropped the fields",
        source: "#215 to #293, pkg/acceleratorclassselector",
        action: "remove the fields until pods may restart",
        edit: EditRule::DroppedFields,
    },
    differs: |a, b| a.ome().classes != b.ome().classes,
    take: None,
};

/// A policy that crashes the controller; found where a service fails.
static CRASH: ReleaseRule = ReleaseRule {
    id: "C1",
    title: "BestFit without constraints crashes the controller if two or more classes are candidates: the service is no longer updated, and its running pods are not touched",
    source: "pkg/acceleratorclassselector/policy_helpers.go",
    action: "remove the policy, or name the class",
    edit: NO_POLICY,
};

static FIELDS: Switch = Switch {
    rule: ReleaseRule {
        id: "C9",
        title: "the CRDs have other fields, and fields that a release does not have are dropped",
        source: "config/crd/full",
        action: "see the findings `field-of-another-release`, and run the older release without the fields",
        edit: EditRule::DroppedFields,
    },
    differs: |a, b| !std::ptr::eq(a.unknown, b.unknown),
    take: None,
};

/// Rules that change no object of a service, or objects that are not the operator's.
static EFFECTS: &[Effect] = effects! { ome
    "B6" [address_with_port] "`status.url` and `status.address` end with the port of the Service"
        "#416, reconcilers/ingress" "change clients that read the address from the status to use its port"
        |object, _| is_service(object) && !is_serverless(object)
    "J9" [ray_leader_label] "the leader Service of a multi-node component selects by another label, which was not read"
        "read in part: #693, reconcilers/service" "check after the upgrade that the Service `NAME-engine` has endpoints"
        |object, _| is_service(object) && is_multi_node(object)
    "J5" [inherits] "a runtime with the annotation `ome.io/inherit-from` is merged over the runtime that it names"
        "read in part: #710, pkg/runtimeinheritance" "remove the annotation where the runtime is complete in itself"
        |object, _| object.id.kind.ends_with("ServingRuntime") && object.annotation("ome.io/inherit-from").is_some()
    "B7" [owned_router_roles] "ServiceAccount, Role and RoleBinding of the router are deleted together with the service"
        "#492, reconcilers/rbac" "nothing, unless other pods use the router's ServiceAccount"
        |object, _| is_service(object) && has(object, "router")
    "C5" [models_checked] "the webhook refuses a service whose `spec.model` is neither a BaseModel of its namespace nor a ClusterBaseModel; before, only if its engine needed a runtime. A service that exists keeps running, but cannot be changed"
        "#420, pkg/webhook/admission/isvc/inference_service_validation.go validateModelExists" "create the model before the service is applied again"
        |object, reach| is_service(object) && !asks_for_runtime(object) && names_no_model(object, reach.has_model)
    "C6" [predictor_found_by_label] "after a migration from `spec.predictor` the first Deployment in the namespace with the label component=predictor is deleted, even if it belongs to another service"
        "#429 and #454, cleanup.go" "migrate one service of a namespace at a time, and check the Deployments before the next one"
        |object, _| is_service(object) && has(object, "predictor")
    "C8" [reasons_by_format] "events of a service without a runtime list a reason for each format; the selection is the same"
        "#421, pkg/runtimeselector" "nothing"
        |object, reach| is_service(object) && (reach.is_refused)(object)
    "C10" [keeps_replicas] "an update of a Deployment keeps its number of replicas; before, each update reset it to minReplicas until the autoscaler scaled up again"
        "#412, reconcilers/deployment/deployment_reconciler.go" "nothing; the upgrade itself does not scale down"
        |object, _| is_service(object) && scales(object)
    "D" [agent] "the model agent recognizes more kinds of models and fills in their empty fields; models that are on nodes already are not changed"
        "#343, #520, #527, #533, #581, #589 and #591, pkg/modelagent and pkg/hfutil" "set the fields of the model that must not change: format, framework, architecture, size, capabilities"
        |object, _| is_model(object) && is_completed(object)
    "G7" [runtimes_checked] "the webhook refuses runtimes that name AcceleratorClasses which do not exist, and checks leader and worker of ClusterServingRuntimes; runtimes that exist are not touched until they are applied again"
        "#317, pkg/webhook/admission/servingruntime" "create the classes, or remove their names from `acceleratorRequirements.acceleratorClasses`"
        |object, reach| names_unknown_class(object, reach.has_class)
    "G7" [predictor_used_by_most] "a predictor that sets only `maxReplicas` counts as used and is migrated"
        "#301, utils/migration_util.go IsPredictorUsed" "remove `maxReplicas` from a predictor that is not used"
        |object, _| is_service(object) && object.spec("predictor").is_some_and(used_by_most_alone)
    "G8" [strategy_required] "services of a FineTunedWeight whose `hyperParameters.strategy` cannot be read fail; before, the controller only logged it"
        "#318, components/base.go" "set `spec.hyperParameters.strategy` to a string"
        |object, _| object.id.kind == "FineTunedWeight"
            && object.node.at(&["spec", "hyperParameters", "strategy"]).and_then(Node::as_str).is_none()
};

fn is_service(object: &Object) -> bool {
    object.id.kind == "InferenceService"
}

/// Whether a component of the service itself has leader or worker.
fn is_multi_node(object: &Object) -> bool {
    ["engine", "decoder"].into_iter().any(|component| {
        let spec = object.spec(component);
        ["leader", "worker"].iter().any(|part| spec.is_some_and(|spec| spec.get(part).is_some()))
    })
}

fn is_model(object: &Object) -> bool {
    matches!(object.id.kind.as_str(), "BaseModel" | "ClusterBaseModel")
}

fn has(object: &Object, component: &str) -> bool {
    object.spec(component).is_some_and(|node| !node.is_null())
}

/// Whether the engine runs as a Knative Service.
fn is_serverless(object: &Object) -> bool {
    let mode = object.annotation(DeploymentMode::ANNOTATION).and_then(Node::as_str);
    let least = object.node.at(&["spec", "engine", "minReplicas"]).and_then(Node::as_int);
    mode == Some("Serverless") || least == Some(0)
}

/// Whether an autoscaler may give a component more replicas than minReplicas.
fn scales(object: &Object) -> bool {
    ["engine", "decoder", "router"].into_iter().any(|component| {
        let Some(spec) = object.spec(component) else { return false };
        let number = |key: &str| spec.get(key).and_then(Node::as_int);
        // The webhook's defaults, which the object has only once it is stored.
        let most = if component == "router" { 2 } else { 3 };
        number("maxReplicas").unwrap_or(most) > number("minReplicas").unwrap_or(1)
    })
}

/// Whether the webhook of every release looks for a runtime of the model: there is an engine, no
/// runtime is named, and neither the engine's runner nor both its leader and its worker set an
/// image (inference_service_validation.go, validateRuntimeAndModelResolution).
fn asks_for_runtime(object: &Object) -> bool {
    let engine = object.spec("engine");
    let has_image = |runner: &[&str]| {
        let image = engine.and_then(|engine| engine.at(runner)).and_then(Node::as_str);
        image.is_some_and(|image| !image.is_empty())
    };
    let has_runner = has_image(&["runner", "image"])
        || has_image(&["leader", "runner", "image"]) && has_image(&["worker", "runner", "image"]);
    has(object, "engine") && !has(object, "runtime") && !has_runner
}

/// Whether `spec.model` names a model that does not exist; its kind is not checked (GetBaseModel).
fn names_no_model(object: &Object, has_model: &dyn Fn(&str, &str) -> bool) -> bool {
    let name = object.node.at(&["spec", "model", "name"]).and_then(Node::as_str);
    let namespace = object.id.scope.namespace().map_or("default", |namespace| namespace.as_str());
    name.is_some_and(|name| !name.is_empty() && !has_model(namespace, name))
}

/// Whether the model agent has a field to fill in.
fn is_completed(object: &Object) -> bool {
    ["modelFormat", "modelArchitecture", "modelParameterSize", "modelCapabilities"]
        .into_iter()
        .any(|key| object.spec(key).is_none())
}

fn names_unknown_class(object: &Object, has_class: &dyn Fn(&str) -> bool) -> bool {
    let classes = object.node.at(&["spec", "acceleratorRequirements", "acceleratorClasses"]);
    let mut named = classes.map(Node::items).unwrap_or_default().iter().filter_map(Node::as_str);
    object.id.kind.ends_with("ServingRuntime") && named.any(|name| !has_class(name))
}
