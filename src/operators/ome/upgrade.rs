//! What an upgrade of OME changes, rule by rule: a row per field of its releases.

use super::edits::{
    KEEP_INGRESS, KEEP_PROBER, NAME_CLASS, NAME_RUNTIME, NO_ARGUMENTS, NO_LABEL, NO_MODE,
    NO_POLICY, NO_SELECTOR, NO_SIZES, NO_UNUSED_CONFIG, NO_VARIABLE, NOTHING, OF_OPERATOR,
    OWN_BLOCKLIST, OWN_PARALLELISM, OWN_RESOURCES, PORT, REPAIRED, STABLE_SERVICE,
};
use super::read::predictor::used_by_most_alone;
use crate::api::Object;
use crate::policy::ome::ClassResourceRule;
use crate::policy::upgrade::{
    EditRule, Effect, NO_OBJECT, ReleaseRule, Switch, Upgrade, effects, switches,
};
use crate::policy::{Own, Policy};
use crate::yaml::Node;

/// What the releases of OME change, apart from the rules that are seen in the input.
pub(crate) static UPGRADE: Upgrade =
    Upgrade { rules: &[RULES, &WHOLE], effects: EFFECTS, basis: None };

/// Rules that are fields of [`OmeRelease`], by the consequence: restarts first.
static RULES: &[Switch] = switches! { ome Ome
    "A1" [default_class] "a service that names neither class nor policy no longer gets the first class of its runtime's list"
        "#512, pkg/acceleratorclassselector/selector.go" "name the class: `spec.acceleratorSelector.acceleratorClass`" NAME_CLASS
    "A2" [policies] "the policies BestFit, Cheapest and MostCapable choose a class"
        "#518 and #547, pkg/acceleratorclassselector/selector.go" "leave the policy out, or name the class that is wanted" NO_POLICY
    "A3" [first_available_looks] "FirstAvailable takes the first class that exists and meets the constraints, no longer the first name"
        "#518, pkg/acceleratorclassselector/policy_helpers.go" "name the class: `spec.acceleratorSelector.acceleratorClass`" NAME_CLASS
    "A5" [class_replaces_parallelism] "PARALLELISM_SIZE is set only where no class was chosen"
        "#503, components/engine.go" "set PARALLELISM_SIZE in the runner if a command uses it" OWN_PARALLELISM
    "A6" [arguments] "runtimeArgsOverride is merged flag by flag, and a multi-line text is rewritten"
        "#509, utils/merging.go MergeArgs" "plan for the restart" NO_ARGUMENTS
    "A7" [sizes] "tensorParallelismOverride is set in every argument and in the command, no longer in the first argument alone"
        "#509, components/base.go overrideParam" "write the sizes that are wanted" NO_SIZES
    "A8" [named_runtime_formats] "acceleratorConfig of a named runtime is read of all its formats"
        "35a17dff, pkg/runtimeselector/selector.go" "plan for the restart" NO_UNUSED_CONFIG
    "A9" [variables] "MODEL_PATH and TFEW_PATH of the author stay; before the operator's came behind them and won"
        "#329, components/base.go UpdateEnvVariables" "take the variable out, or correct it" NO_VARIABLE
    "A10" [blocklist] "block lists are no longer mounted by `ome.io/disable-blocklist`"
        "#491, components/base.go" "mount the config map in the runner where it is needed" OWN_BLOCKLIST
    "A11" [merged_weights_need_no_model] "merged fine-tuned weights switch the injection of the model off"
        "#524, components/base.go ProcessBaseAnnotations" "plan for the restart" OF_OPERATOR
    "A12" [dedicated_suffix] "Deployments with a dedicated cluster are no longer called `-new`: a second one comes up beside the old"
        "#419, reconcilers/deployment" "delete the Deployment with the suffix `-new` afterwards: it holds its GPUs until then" OF_OPERATOR
    "A13" [mode_by_annotation] "`ome.io/deploymentMode` on an engine or its runtime decides about the mode"
        "#333, utils/deployment.go" "take the annotation off the engine and the runtime" NO_MODE
    "A14" [ready_label_wins] "the model's node label no longer overrides the runtime's"
        "#358 and #514, components/base.go" "take the label out of the runtime's nodeSelector" NO_LABEL
    "B2" [external_port, external_selects_component] "the stable Service listens on the port of its component, no longer on 80"
        "#416 and #455, reconcilers/external_service" "let clients use the new port" PORT
    "B3" [service_annotations_filtered] "Services of components are made without annotations that mean something on pods only"
        "#501, pkg/utils FilterPodOnlyAnnotations" "nothing: Services that exist keep them" NOTHING
    "B4" [external_service] "the stable Service that the config map asks for stays or goes otherwise"
        "#415, cleanup.go" "write the annotation `ome.io/ingress-disable-creation: \"true\"`" STABLE_SERVICE
    "B5" [long_names] "names above 63 characters are shortened; before the service failed"
        "#406, #419 and #422, pkg/constants" "nothing" REPAIRED
    "C2" [missing_config_crashes] "a class without an entry in acceleratorConfig no longer crashes the controller"
        "#509, components/base.go" "nothing" REPAIRED
    "C3" [keda] "the autoscaler class keda works"
        "#488, reconcilers/keda" "nothing" REPAIRED
    "C4" [predictor_model_looked_up] "the model of a predictor may be a BaseModel"
        "#431 and #424, webhook" "nothing" REPAIRED
    "G1" [disruption_budgets] "components get a PodDisruptionBudget"
        "#283, reconcilers/pdb" "set `maxUnavailable` or `minAvailable` where 1 at a time is too few" OF_OPERATOR
    "G3" [layered_selector] "nodeSelector of the runtime and of the service reach all pods of a component"
        "utils/merging.go MergeNodeSelector" "take selectors out of the runtime that must not hold" NO_SELECTOR
    "G6" [autoscaler_follows_suffix] "the autoscaler looks for the Deployment without the suffix `-new`"
        "reconcilers/hpa" "plan for pods that are not scaled until v0.1.5" OF_OPERATOR
};

/// Rules that differ by more than fields of an [`OmeRelease`].
static WHOLE: [Switch; 3] = [
    Switch {
        rule: ReleaseRule {
            id: "A4",
            title: "resources of the chosen class override those of the runtime; before the largest counted",
            source: "#468, utils/merging.go MergeResource",
            action: "write the resources on the service's runner",
            edit: OWN_RESOURCES,
        },
        differs: |a, b| {
            let rules = [a, b].map(|own| own.ome().class_resources);
            rules[0] != rules[1] && !rules.contains(&ClassResourceRule::None)
        },
        take: Some(take_resources),
    },
    Switch {
        rule: ReleaseRule {
            id: "G4",
            title: "the runner gets the resources of its class and of the runtime's own container of its name, where the service states none",
            source: "utils/merging.go MergeResource",
            action: "write the resources on the service's runner",
            edit: OWN_RESOURCES,
        },
        differs: |a, b| {
            let is_none = |own: &Policy| own.ome().class_resources == ClassResourceRule::None;
            is_none(a) != is_none(b)
        },
        take: Some(take_resources),
    },
    Switch {
        rule: ReleaseRule {
            id: "A15",
            title: "versions of one to three numbers and with the prefix v are read; before they matched nothing",
            source: "#410, pkg/modelver/util.go",
            action: "name the runtime: `spec.runtime.name`",
            edit: NAME_RUNTIME,
        },
        differs: |a, b| a.version != b.version,
        take: Some(|policy, from| policy.version = from.version),
    },
];

fn take_resources(policy: &mut Policy, from: &Policy) {
    let mut own = *policy.ome();
    own.class_resources = from.ome().class_resources;
    policy.own = Own::Ome(Box::leak(Box::new(own)));
}

/// Rules about what is read: they are seen in the input, not by deciding again.
pub static INGRESS: Switch = Switch {
    rule: ReleaseRule {
        id: "B1",
        title: "the shipped config map no longer asks for an Ingress but for a stable Service",
        source: "config/configmap/inferenceservice.yaml",
        action: "write `disableIngressCreation: false` into the config map to keep the Ingress",
        edit: KEEP_INGRESS,
    },
    differs: |a, b| a.ome().ingress_disabled != b.ome().ingress_disabled,
    take: None,
};

/// See [`INGRESS`].
pub static PROBER: Switch = Switch {
    rule: ReleaseRule {
        id: "F",
        title: "the shipped config map names another image of the multi-node prober",
        source: "config/configmap/inferenceservice.yaml",
        action: "write `multinodeProber` into the config map to keep the image",
        edit: KEEP_PROBER,
    },
    differs: |a, b| a.ome().prober_image != b.ome().prober_image,
    take: None,
};

/// Rules about fields that one of the releases drops, each with what it is about: kinds and parts of
/// paths. The first that a field belongs to is its rule.
pub static READ: [(&Switch, &[&str]); 4] = [
    (&DIFFUSION, &["diffusionPipeline"]),
    (
        &CONSTRAINTS,
        &[
            "minComputeCapability",
            "minComputePerformanceTFLOPS",
            "minArchitectureVersion",
            "preferredPrecisions",
        ],
    ),
    (
        &CLASSES,
        &[
            "AcceleratorClass/",
            "acceleratorRequirements",
            "acceleratorSelector",
            "acceleratorOverride",
            "acceleratorConfig",
        ],
    ),
    (&FIELDS, &[""]),
];

static DIFFUSION: Switch = Switch {
    rule: ReleaseRule {
        id: "A16",
        title: "`diffusionPipeline` decides: class name and every component of the runtime's entry must match; before the CRDs dropped it",
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
        title: "constraints on accelerators have other fields: `minComputePerformanceTFLOPS` instead of `minComputeCapability`, `minArchitectureVersion` and `preferredPrecisions`; the one that is not known is dropped",
        source: "config/crd/full",
        action: "write the field that the later release knows",
        edit: EditRule::DroppedFields,
    },
    differs: |a, b| !std::ptr::eq(a.unknown, b.unknown),
    take: None,
};

static CLASSES: Switch = Switch {
    rule: ReleaseRule {
        id: "G2",
        title: "AcceleratorClass and the fields that name one are known: classes are chosen, keep runtimes away and change pods; before the CRDs dropped them",
        source: "#215 to #293, pkg/acceleratorclassselector",
        action: "take the fields out until the restart is wanted",
        edit: EditRule::DroppedFields,
    },
    differs: |a, b| a.ome().classes != b.ome().classes,
    take: None,
};

/// A policy that crashes the controller, which is seen where a service fails.
pub static CRASH: ReleaseRule = ReleaseRule {
    id: "C1",
    title: "BestFit without constraints crashes the controller where two classes or more are candidates: nothing of the service is written any more, and what runs stays",
    source: "pkg/acceleratorclassselector/policy_helpers.go",
    action: "leave the policy out, or name the class that is wanted",
    edit: NO_POLICY,
};

static FIELDS: Switch = Switch {
    rule: ReleaseRule {
        id: "C9",
        title: "the CRDs know other fields: what a release does not know it drops",
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
        "#416, reconcilers/ingress" "let clients that read the address from the status take the port from it"
        |object, _| is_service(object) && !is_serverless(object)
    "B7" [owned_router_roles] "ServiceAccount, Role and RoleBinding of the router belong to the service, and are deleted with it"
        "#492, reconcilers/rbac" "nothing, unless other pods use the router's ServiceAccount"
        |object, _| is_service(object) && has(object, "router")
    "C5" [models_checked] "the webhook refuses a service whose `spec.model` is neither a BaseModel of its namespace nor a ClusterBaseModel; before only where its engine asked for a runtime. One that exists stays, and no change of it is taken"
        "#420, pkg/webhook/admission/isvc/inference_service_validation.go validateModelExists" "create the model before the service is applied again"
        |object, known| is_service(object) && !asks_for_runtime(object) && names_no_model(object, known.has_model)
    "C6" [predictor_found_by_label] "after a migration from `spec.predictor` the old Deployment is looked for by the label component=predictor: the first one in the namespace is deleted, whichever service it belongs to"
        "#429 and #454, cleanup.go" "migrate one service of a namespace at a time, and look at the Deployments before the next"
        |object, _| is_service(object) && has(object, "predictor")
    "C8" [reasons_by_format] "events about a service without a runtime give a reason per format; what is chosen does not change"
        "#421, pkg/runtimeselector" "nothing"
        |object, known| is_service(object) && (known.is_refused)(object)
    "C10" [keeps_replicas] "an update of a Deployment keeps the replicas that it has; before each update set minReplicas, and pods were missing until the autoscaler scaled up again"
        "#412, reconcilers/deployment/deployment_reconciler.go" "nothing: the first pass after the upgrade does not scale down"
        |object, _| is_service(object) && scales(object)
    "D" [agent] "the model agent reads more kinds of models, and fills in fields that the model leaves empty; models that are on nodes already do not change"
        "#343, #520, #527, #533, #581, #589 and #591, pkg/modelagent and pkg/hfutil" "write the fields that must stay empty or must not change: format, framework, architecture, size, capabilities"
        |object, _| is_model(object) && is_completed(object)
    "G7" [runtimes_checked] "the webhook refuses runtimes that name AcceleratorClasses which do not exist, and checks leader and worker of ClusterServingRuntimes; runtimes that exist stay until they are applied again"
        "#317, pkg/webhook/admission/servingruntime" "create the classes, or take their names out of `acceleratorRequirements.acceleratorClasses`"
        |object, known| names_unknown_class(object, known.has_class)
    "G7" [predictor_used_by_most] "a predictor with nothing but maxReplicas counts as used and is migrated"
        "#301, utils/migration_util.go IsPredictorUsed" "take `maxReplicas` out of a predictor that is not used"
        |object, _| is_service(object) && object.spec("predictor").is_some_and(used_by_most_alone)
    "G8" [strategy_required] "a FineTunedWeight whose `hyperParameters.strategy` cannot be read fails its services; before a line was logged"
        "#318, components/base.go" "write `spec.hyperParameters.strategy` as a string"
        |object, _| object.id.kind == "FineTunedWeight"
            && object.node.at(&["spec", "hyperParameters", "strategy"]).and_then(Node::as_str).is_none()
};

fn is_service(object: &Object) -> bool {
    object.id.kind == "InferenceService"
}

fn is_model(object: &Object) -> bool {
    matches!(object.id.kind.as_str(), "BaseModel" | "ClusterBaseModel")
}

fn has(object: &Object, component: &str) -> bool {
    object.spec(component).is_some_and(|node| !node.is_null())
}

/// Whether the engine runs as a Knative Service.
fn is_serverless(object: &Object) -> bool {
    let mode = object.annotation("ome.io/deploymentMode").and_then(Node::as_str);
    let least = object.node.at(&["spec", "engine", "minReplicas"]).and_then(Node::as_int);
    mode == Some("Serverless") || least == Some(0)
}

/// Whether an autoscaler may give a component more replicas than the least.
fn scales(object: &Object) -> bool {
    ["engine", "decoder", "router"].into_iter().any(|component| {
        let Some(spec) = object.spec(component) else { return false };
        let number = |key: &str| spec.get(key).and_then(Node::as_int);
        let most = if component == "router" { 2 } else { 3 };
        number("maxReplicas").unwrap_or(most) > number("minReplicas").unwrap_or(1)
    })
}

/// Whether every release's webhook looks for a runtime of the model: an engine is there, no runtime
/// is named, and the engine has no runner with an image of its own, nor a leader and a worker that
/// do (inference_service_validation.go, validateRuntimeAndModelResolution).
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

/// Whether `spec.model` names a model that is not there; its kind is not asked (GetBaseModel).
fn names_no_model(object: &Object, has_model: &dyn Fn(&str, &str) -> bool) -> bool {
    let name = object.node.at(&["spec", "model", "name"]).and_then(Node::as_str);
    let namespace = object.id.scope.namespace().map_or("default", |own| own.as_str());
    name.is_some_and(|name| !name.is_empty() && !has_model(namespace, name))
}

/// Whether the model agent has something to fill in.
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
