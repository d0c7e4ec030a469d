//! How the operator completes the container that runs the model and adds it to the pod.

use super::accelerator::{self, Accelerator, ChangedOverrides};
use super::fine_tuned::FineTuned;
use super::go_struct::LIBRARY;
use super::metadata::{
    self, FORMAT, INJECT_ADAPTER, INJECT_MODEL_INIT, MERGED_WEIGHTS, STRATEGY, VENDOR, value,
};
use crate::api::Model;
use crate::merge::edit::{list_mut, map_mut, mapping, position, text};
use crate::merge::history::Recorder;
use crate::merge::{typed, written as merge};
use crate::operators::ome::rules::Rules as _;
use crate::operators::ome::rules::{
    ClassResourceRule, ClassRule, ModelVolumeRule, ParallelismRule, VariableRule,
};
use crate::pods::container::{
    default_env, has_mount, has_volume, pod_mounts, push, set_env, variable,
};
use crate::pods::gpus;
use crate::pods::rules::{
    BLOCKLIST, FINE_TUNED_MOUNT, MODEL_DIRECTORY_VOLUME, MODEL_MOUNT, MODEL_PATH, MODEL_VOLUME,
    PARALLELISM_SIZE, SERVED_MODEL_NAME, TFEW_PATH,
};
use crate::policy::{MergeRule, Policy};
use crate::quantity::hash::model_config_name;
use crate::yaml::{Map, Node, Origin, Rule};
use ecow::{EcoString, eco_format};

/// Volume of a model that is initialized or fine-tuned.
const MODEL_DIRECTORY: &str = "model-empty-dir";
const MODEL_DEFAULT_PATH: &str = "/opt/ml/model";
/// Annotation that mounts block lists until v0.1.4.
const DISABLE_BLOCKLIST: &str = "ome.io/disable-blocklist";
pub(crate) const BLOCKLIST_VOLUME: &str = "configmap-blocklist-volume";
pub(crate) const PARALLELISM: &str = "PARALLELISM_SIZE";

/// The inputs of the steps on a container and its pod.
pub(crate) struct Steps<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) accelerator: Option<&'a Accelerator<'a>>,
    pub(crate) overrides: &'a ChangedOverrides,
    pub(crate) model: Option<&'a Model>,
    pub(crate) fine_tuned: Option<&'a FineTuned>,
    pub(crate) annotations: &'a Map,
    pub(crate) service: &'a str,
    /// The number of pods of a replica: the factor of PARALLELISM_SIZE.
    pub(crate) pods: i64,
}

impl Steps<'_> {
    /// Environment, mounts and parallelism of the container of an engine or a decoder
    /// (pkg/controller/v1beta1/inferenceservice/components/base.go, UpdateEnvVariables and
    /// UpdateVolumeMounts; pkg/controller/v1beta1/inferenceservice/components/engine.go,
    /// setParallelismEnvVarForEngine).
    pub(crate) fn run(&self, container: &mut Node, rec: &mut Recorder) {
        self.environment(container, rec);
        self.mounts(container);
        let over = self.accelerator.filter(|_| self.policy.ome().class == ClassRule::Overwrite);
        if let Some(accelerator) = over {
            let release = self.policy.ome();
            accelerator::overwrite_container(release, accelerator, self.overrides, container, rec);
        }
        // From v0.1.5 on PARALLELISM_SIZE is set only where no class was chosen
        // (pkg/controller/v1beta1/inferenceservice/components/engine.go,
        // setParallelismEnvVarForEngine).
        if over.is_none() || !self.policy.ome().class_replaces_parallelism {
            self.parallelism(container, rec);
        }
    }

    /// The model and its path on a node, if it is stored on nodes.
    fn model_path(&self) -> Option<(&Model, &str)> {
        let model = self.model?;
        Some((model, model.storage("path").and_then(Node::as_str)?))
    }

    /// Whether the container reads the model from its path on the node.
    fn reads_original(&self) -> bool {
        value(self.annotations, INJECT_MODEL_INIT) != "true"
            && value(self.annotations, MERGED_WEIGHTS) != "true"
    }

    /// Weights of a Cohere model that were fine-tuned by T-Few and not merged.
    fn cohere_tfew(&self) -> bool {
        value(self.annotations, VENDOR) == "cohere"
            && value(self.annotations, STRATEGY) == "tfew"
            && value(self.annotations, MERGED_WEIGHTS) != "true"
    }

    fn environment(&self, container: &mut Node, rec: &mut Recorder) {
        // With a fine-tuned weight the path depends on how it is served, never on the node alone.
        if self.fine_tuned.is_none() {
            if let Some((_, path)) = self.model_path().filter(|_| self.reads_original()) {
                self.add_env(container, "MODEL_PATH", path.into(), &MODEL_PATH);
            }
            return;
        }
        // Upstream compares the vendor with these two names; others get neither variable.
        match self.model.and_then(metadata::vendor) {
            Some("meta") => {
                let weight = value(self.annotations, INJECT_ADAPTER);
                let name =
                    if weight.is_empty() { "/data".into() } else { eco_format!("/data/{weight}") };
                set_env(container, "SERVED_MODEL_NAME", name, &SERVED_MODEL_NAME, rec);
                self.add_env(container, "MODEL_PATH", MODEL_DEFAULT_PATH.into(), &MODEL_PATH);
            }
            Some("cohere") if self.cohere_tfew() => self.add_env(
                container,
                "TFEW_PATH",
                "/opt/ml/tfew/fastertransformer/1".into(),
                &TFEW_PATH,
            ),
            _ => {}
        }
    }

    /// Adds a variable that the operator sets.
    fn add_env(&self, container: &mut Node, name: &str, value: EcoString, rule: &'static Rule) {
        match self.policy.ome().variables {
            VariableRule::WhereAbsent => default_env(container, name, value, rule),
            VariableRule::Append => push(container, "env", variable(name, value, rule)),
        }
    }

    /// Whether the block lists of the model's ConfigMap are mounted. Quirk: the annotation
    /// `disable-blocklist` mounts them.
    fn mounts_blocklists(&self) -> bool {
        self.policy.ome().blocklist && value(self.annotations, DISABLE_BLOCKLIST) == "true"
    }

    fn mounts(&self, container: &mut Node) {
        if let Some((model, path)) = self.model_path().filter(|_| self.reads_original()) {
            let is_known = self.policy.ome().model_volume == ModelVolumeRule::WhereMounted
                && has_mount(container, "mountPath", path);
            if !is_known {
                let origin = Origin::Derived(&MODEL_MOUNT);
                let name = model.object.id.name.clone();
                let mount = [
                    ("name", Node::str(name, origin)),
                    ("mountPath", Node::str(path, origin)),
                    ("readOnly", Node::bool(true, origin)),
                ];
                push(container, "volumeMounts", mapping(mount, origin));
            }
        }
        if self.fine_tuned.is_some() {
            self.fine_tuned_mounts(container);
        }
        if self.mounts_blocklists() {
            let origin = Origin::Derived(&BLOCKLIST);
            for file in ["input.txt", "output.txt"] {
                let mount = [
                    ("name", Node::str(BLOCKLIST_VOLUME, origin)),
                    ("mountPath", Node::str(eco_format!("/usr/bin/{file}"), origin)),
                    ("readOnly", Node::bool(true, origin)),
                    ("subPath", Node::str(file, origin)),
                ];
                push(container, "volumeMounts", mapping(mount, origin));
            }
        }
    }

    fn fine_tuned_mounts(&self, container: &mut Node) {
        let origin = Origin::Derived(&FINE_TUNED_MOUNT);
        if !has_mount(container, "name", MODEL_DIRECTORY) {
            let mount = [
                ("name", Node::str(MODEL_DIRECTORY, origin)),
                ("mountPath", Node::str(MODEL_DEFAULT_PATH, origin)),
            ];
            push(container, "volumeMounts", mapping(mount, origin));
        }
        if !self.cohere_tfew() {
            return;
        }
        let format = value(self.annotations, FORMAT);
        let mount = |directory: &str, sub_path: &str| {
            let path = if format.is_empty() {
                EcoString::from(directory)
            } else {
                eco_format!("{directory}/{format}")
            };
            mapping(
                [
                    ("name", Node::str(MODEL_DIRECTORY, origin)),
                    ("mountPath", Node::str(path, origin)),
                    ("subPath", Node::str(sub_path, origin)),
                ],
                origin,
            )
        };
        if let Some(mounts) = list_mut(container, "volumeMounts", origin)
            && let Some(index) = position(mounts, "name", MODEL_DIRECTORY)
        {
            // Only these fields of an existing mount are replaced.
            let base = mount(MODEL_DEFAULT_PATH, "base");
            if let Some(map) = mounts.make_mut()[index].as_map_mut() {
                map.remove("readOnly");
                for entry in base.entries().filter(|entry| entry.key != "name") {
                    map.insert_entry(entry.clone());
                }
            }
            let mut weights = mount("/opt/ml/tfew", "finetuned");
            if let Some(map) = weights.as_map_mut() {
                map.insert("readOnly", Node::bool(true, origin));
            }
            mounts.push(weights);
        }
    }

    fn parallelism(&self, container: &mut Node, rec: &mut Recorder) {
        let count = match self.policy.ome().parallelism {
            ParallelismRule::Nvidia => gpus::as_written(container, "nvidia.com/gpu"),
            ParallelismRule::WhereReferenced if refers_to(container, PARALLELISM) => {
                gpus::of_container(container, gpus::is_accelerator)
            }
            ParallelismRule::WhereReferenced => None,
        };
        // 0 devices set no variable, and a product that overflows is no number of devices.
        let size = count.and_then(|count| count.checked_mul(self.pods)).filter(|size| *size > 0);
        if let Some(size) = size {
            set_env(container, PARALLELISM, eco_format!("{size}"), &PARALLELISM_SIZE, rec);
        }
    }

    /// Adds the operator's volumes to a pod
    /// (pkg/controller/v1beta1/inferenceservice/components/base.go, UpdatePodSpecVolumes). Quirk: a
    /// router gets the model's volume although none of its containers mounts it.
    pub(crate) fn volumes(&self, pod: &mut Node) {
        if let Some((model, path)) = self.model_path() {
            let name = &model.object.id.name;
            let wanted = match self.policy.ome().model_volume {
                ModelVolumeRule::Everywhere => true,
                // A runtime may mount the model through a volume of its own with that name.
                ModelVolumeRule::WhereMounted => pod_mounts(pod, name) && !has_volume(pod, name),
            };
            if wanted {
                let origin = Origin::Derived(&MODEL_VOLUME);
                let host_path = mapping([("path", Node::str(path, origin))], origin);
                push(
                    pod,
                    "volumes",
                    mapping(
                        [("name", Node::str(name.clone(), origin)), ("hostPath", host_path)],
                        origin,
                    ),
                );
            }
        }
        let in_memory = value(self.annotations, INJECT_MODEL_INIT) == "true"
            || !value(self.annotations, INJECT_ADAPTER).is_empty();
        if in_memory && !has_volume(pod, MODEL_DIRECTORY) {
            let origin = Origin::Derived(&MODEL_DIRECTORY_VOLUME);
            let empty_dir = mapping([("medium", Node::str("Memory", origin))], origin);
            push(
                pod,
                "volumes",
                mapping(
                    [("name", Node::str(MODEL_DIRECTORY, origin)), ("emptyDir", empty_dir)],
                    origin,
                ),
            );
        }
        if self.mounts_blocklists() {
            let origin = Origin::Derived(&BLOCKLIST);
            let name = Node::str(model_config_name(self.service), origin);
            let volume = [
                ("name", Node::str(BLOCKLIST_VOLUME, origin)),
                ("configMap", mapping([("name", name)], origin)),
            ];
            push(pod, "volumes", mapping(volume, origin));
        }
    }
}

/// Whether command or arguments contain the name of a variable, as in `$(NAME)` or `$NAME`.
fn refers_to(container: &Node, name: &str) -> bool {
    ["command", "args"]
        .iter()
        .filter_map(|key| container.get(key))
        .flat_map(Node::items)
        .filter_map(Node::as_str)
        .any(|text| text.contains(name))
}

/// Adds the resources that this container lacks and the runtime's container of the same name has.
/// Upstream does so unless the service's runner sets resources
/// (pkg/controller/v1beta1/inferenceservice/components/base.go, MergeResources).
pub(crate) fn resources_of_runtime(
    rule: ClassResourceRule,
    container: &mut Node,
    runtime_spec: &Node,
) {
    if rule == ClassResourceRule::None {
        return;
    }
    let listed = runtime_spec.get("containers").map(Node::items).unwrap_or_default();
    let Some(index) = position(listed, "name", text(container, "name")) else { return };
    for side in ["requests", "limits"] {
        let Some(source) =
            listed[index].at(&["resources", side]).filter(|source| !source.is_empty())
        else {
            continue;
        };
        let Some(resources) = map_mut(container, "resources", source.origin) else { return };
        let mut amounts = resources
            .get(side)
            .filter(|node| node.as_map().is_some())
            .cloned()
            .unwrap_or_else(|| Node::map(source.origin));
        if let Some(map) = amounts.as_map_mut() {
            for entry in source.entries().filter(|entry| !entry.node.is_null()) {
                // Amounts that the class overrides are already set and stay.
                let larger = |node: &Node| {
                    rule == ClassResourceRule::Largest && rule.replaces(node, &entry.node)
                };
                match map.get_mut(&entry.key) {
                    None => map.push(entry.clone()),
                    Some(node) if larger(node) => *node = entry.node.clone(),
                    Some(_) => {}
                }
            }
        }
        resources.insert(side, amounts);
    }
}

/// Adds the runner to a pod: merged into the listed container of its name, else as the last one.
/// Returns its index.
///
/// Arguments are concatenated, the listed container's first
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/common/podspec_reconciler.go,
/// MergeRuntimeContainers).
///
/// # Errors
/// When the two containers cannot be merged.
pub(crate) fn join(
    policy: &Policy,
    pod: &mut Node,
    runner: &Node,
    rec: &mut Recorder,
) -> Result<usize, String> {
    let Some(list) = list_mut(pod, "containers", runner.origin) else { return Ok(0) };
    let found = position(list, "name", text(runner, "name"));
    let listed = found.map(|index| list[index].clone());
    let rec = &mut rec.at("runner");
    let merged = match (policy.ome().merge, listed) {
        (MergeRule::Written, None) => runner.clone(),
        (MergeRule::Written, Some(listed)) => merge::written(&listed, runner, rec),
        (MergeRule::Typed, listed) => typed::container(listed, runner, LIBRARY, rec)?,
    };
    // Replaced in its place: the order of the listed containers is the pod's.
    if let Some(index) = found {
        list.make_mut()[index] = merged;
        return Ok(index);
    }
    list.push(merged);
    Ok(list.len() - 1)
}
