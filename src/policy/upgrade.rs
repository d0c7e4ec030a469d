//! What an upgrade of an operator changes, rule by rule.
//!
//! In: the constants of two releases. Out: the rules by which they differ, each with its sentence,
//! its source and what to do before the upgrade; and a release that has one rule of another, by
//! which it is found out whether the rule matters for a service. Nothing is decided here.

use super::Policy;
use super::ome::OmeRelease;

/// A rule that differs between releases. The identifier is stable.
#[derive(Debug)]
pub struct ReleaseRule {
    /// `A5`; never shown without the title.
    pub id: &'static str,
    /// What it does, in a sentence that holds for an upgrade.
    pub title: &'static str,
    /// Pull request and upstream function.
    pub source: &'static str,
    /// What to do before the upgrade.
    pub action: &'static str,
}

/// A rule that is a value of OME's releases.
#[derive(Debug)]
pub struct Switch {
    /// What is said of it.
    pub rule: ReleaseRule,
    /// Whether two releases differ in it.
    differs: fn(&Policy, &Policy) -> bool,
    /// Gives a release the rule of another one.
    take: fn(&mut Policy, &mut OmeRelease, &Policy),
}

macro_rules! rules {
    ($($id:literal [$($field:ident),*] $title:literal $source:literal $action:literal)*) => {
        &[$(Switch {
            rule: ReleaseRule { id: $id, title: $title, source: $source, action: $action },
            differs: |a, b| [$(a.ome.$field != b.ome.$field),*].contains(&true),
            take: |_, ome, from| { $(ome.$field = from.ome.$field;)* },
        },)*]
    };
}

/// Rules that are fields of [`OmeRelease`], by the consequence: restarts first.
static RULES: &[Switch] = rules! {
    "A1" [default_class] "a service that names neither class nor policy no longer gets the first class of its runtime's list"
        "#512, pkg/acceleratorclassselector/selector.go" "name the class: `spec.acceleratorSelector.acceleratorClass`"
    "A2" [policies] "the policies BestFit, Cheapest and MostCapable choose a class"
        "#518 and #547, pkg/acceleratorclassselector/selector.go" "leave the policy out, or name the class that is wanted"
    "A3" [first_available_looks] "FirstAvailable takes the first class that exists and meets the constraints, no longer the first name"
        "#518, pkg/acceleratorclassselector/policy_helpers.go" "name the class: `spec.acceleratorSelector.acceleratorClass`"
    "A4" [class_resources] "resources of the chosen class override those of the runtime; before the largest counted"
        "#468, utils/merging.go MergeResource" "write the resources on the service's runner"
    "A5" [class_replaces_parallelism] "PARALLELISM_SIZE is set only where no class was chosen"
        "#503, components/engine.go" "set PARALLELISM_SIZE in the runner if a command uses it"
    "A6" [arguments] "runtimeArgsOverride is merged flag by flag, and a multi-line text is rewritten"
        "#509, utils/merging.go MergeArgs" "plan for the restart"
    "A7" [sizes] "tensorParallelismOverride is set in every argument and in the command, no longer in the first argument alone"
        "#509, components/base.go overrideParam" "write the sizes that are wanted"
    "A8" [named_runtime_formats] "acceleratorConfig of a named runtime is read of all its formats"
        "35a17dff, pkg/runtimeselector/selector.go" "plan for the restart"
    "A9" [variables] "MODEL_PATH and TFEW_PATH of the author stay; before the operator's came behind them and won"
        "#329, components/base.go UpdateEnvVariables" "take the variable out, or correct it"
    "A10" [blocklist] "block lists are no longer mounted by `ome.io/disable-blocklist`"
        "#491, components/base.go" "mount the config map in the runner where it is needed"
    "A11" [merged_weights_need_no_model] "merged fine-tuned weights switch the injection of the model off"
        "#524, components/base.go ProcessBaseAnnotations" "plan for the restart"
    "A12" [dedicated_suffix] "Deployments with a dedicated cluster are no longer called `-new`: a second one comes up beside the old"
        "#419, reconcilers/deployment" "delete the Deployment with the suffix `-new` afterwards: it holds its GPUs until then"
    "A13" [mode_by_annotation] "`ome.io/deploymentMode` on an engine or its runtime decides about the mode"
        "#333, utils/deployment.go" "take the annotation off the engine and the runtime"
    "A14" [ready_label_wins] "the model's node label no longer overrides the runtime's"
        "#358 and #514, components/base.go" "take the label out of the runtime's nodeSelector"
    "B2" [external_port, external_selects_component] "the stable Service listens on the port of its component, no longer on 80"
        "#416 and #455, reconcilers/external_service" "let clients use the new port"
    "B3" [service_annotations_filtered] "Services of components are made without annotations that mean something on pods only"
        "#501, pkg/utils FilterPodOnlyAnnotations" "nothing: Services that exist keep them"
    "B4" [external_service] "the stable Service that the config map asks for stays or goes otherwise"
        "#415, cleanup.go" "write the annotation `ome.io/ingress-disable-creation: \"true\"`"
    "B5" [long_names] "names above 63 characters are shortened; before the service failed"
        "#406, #419 and #422, pkg/constants" "nothing"
    "C2" [missing_config_crashes] "a class without an entry in acceleratorConfig no longer crashes the controller"
        "#509, components/base.go" "nothing"
    "C3" [keda] "the autoscaler class keda works"
        "#488, reconcilers/keda" "nothing"
    "C4" [predictor_model_looked_up] "the model of a predictor may be a BaseModel"
        "#431 and #424, webhook" "nothing"
    "G1" [disruption_budgets] "components get a PodDisruptionBudget"
        "#283, reconcilers/pdb" "set `maxUnavailable` or `minAvailable` where 1 at a time is too few"
    "G3" [layered_selector] "nodeSelector of the runtime and of the service reach all pods of a component"
        "utils/merging.go MergeNodeSelector" "take selectors out of the runtime that must not hold"
    "G6" [autoscaler_follows_suffix] "the autoscaler looks for the Deployment without the suffix `-new`"
        "reconcilers/hpa" "plan for pods that are not scaled until v0.1.5"
};

static VERSIONS: Switch = Switch {
    rule: ReleaseRule {
        id: "A15",
        title: "versions of one to three numbers and with the prefix v are read; before they matched nothing",
        source: "#410, pkg/modelver/util.go",
        action: "name the runtime: `spec.runtime.name`",
    },
    differs: |a, b| a.version != b.version,
    take: |policy, _, from| policy.version = from.version,
};

/// Rules about what is read: they are seen in the input, not by deciding again.
pub static INGRESS: Switch = Switch {
    rule: ReleaseRule {
        id: "B1",
        title: "the shipped config map no longer asks for an Ingress but for a stable Service",
        source: "config/configmap/inferenceservice.yaml",
        action: "write `disableIngressCreation: false` into the config map to keep the Ingress",
    },
    differs: |a, b| a.ome.ingress_disabled != b.ome.ingress_disabled,
    take: |_, _, _| (),
};

/// See [`INGRESS`].
pub static PROBER: Switch = Switch {
    rule: ReleaseRule {
        id: "F",
        title: "the shipped config map names another image of the multi-node prober",
        source: "config/configmap/inferenceservice.yaml",
        action: "write `multinodeProber` into the config map to keep the image",
    },
    differs: |a, b| a.ome.prober_image != b.ome.prober_image,
    take: |_, _, _| (),
};

/// See [`INGRESS`].
pub static FIELDS: Switch = Switch {
    rule: ReleaseRule {
        id: "C9",
        title: "the CRDs know other fields: what a release does not know it drops",
        source: "config/crd/full",
        action: "see the findings `field-of-another-release`, and run the older release without the fields",
    },
    differs: |a, b| !std::ptr::eq(a.ome.unknown, b.ome.unknown),
    take: |_, _, _| (),
};

/// Rules of Kthena's releases (releases.md H).
pub static ROLE_STRUCT: ReleaseRule = ReleaseRule {
    id: "H1",
    title: "the struct of a role has other fields, whose names are hashed: the same roles get another revision, and every group that `partition` does not protect is deleted and made anew",
    source: "volcano-sh/kthena pkg/model-serving-controller/utils/revision_util.go Revision, pkg/apis/workload/v1alpha1/servinggroup_types.go Role",
    action: "set `rolloutStrategy.rollingUpdateConfiguration.partition` to `replicas` to hold the groups back, and lower it when they may restart",
};

/// See [`ROLE_STRUCT`].
pub static ROLE_BUDGET: ReleaseRule = ReleaseRule {
    id: "H2",
    title: "a role of RoleRollingUpdate has `maxUnavailable` 1 where nothing is written, and a `partition` of its own; before all its outdated replicas went at once",
    source: "volcano-sh/kthena pkg/apis/workload/v1alpha1/servinggroup_types.go RollingUpdateConfiguration, model_serving_controller.go calMaxScaleDown",
    action: "write `maxUnavailable` where another number is wanted",
};

/// See [`ROLE_STRUCT`].
pub static QUEUE: ReleaseRule = ReleaseRule {
    id: "H3",
    title: "PodGroups are put into the queue of the annotation `scheduling.volcano.sh/queue-name`",
    source: "volcano-sh/kthena pkg/model-serving-controller/podgroupmanager/manager.go",
    action: "make sure that the queue exists and has room, or take the annotation off",
};

impl Switch {
    /// Whether two releases differ in it.
    pub fn is_between(&self, a: &Policy, b: &Policy) -> bool {
        (self.differs)(a, b)
    }
}

/// The rules by which two releases differ and which deciding again shows, each with `a` as it would
/// be with the rule of `b`.
///
/// The constants live as long as the program: there are as many as rules, once per run.
pub fn between(a: &'static Policy, b: &'static Policy) -> Vec<(&'static Switch, &'static Policy)> {
    let switches = RULES.iter().chain([&VERSIONS]).filter(|switch| switch.is_between(a, b));
    switches
        .map(|switch| {
            let (mut policy, mut ome) = (*a, *a.ome);
            (switch.take)(&mut policy, &mut ome, b);
            policy.ome = Box::leak(Box::new(ome));
            (switch, &*Box::leak(Box::new(policy)))
        })
        .collect()
}
