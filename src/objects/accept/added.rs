//! Volumes that a controller adds to the pods of its templates: what mounts them is no mistake.

use crate::yaml::Node;
use std::borrow::Cow;
use std::collections::HashSet;

/// What KubeRay adds to every pod (ray-operator, controllers/ray/common/pod.go, `BuildPod`), and for
/// tokens (`AddRayTokenVolume`) and logs (`DefaultHeadPodTemplate`).
const OF_RAY: [&str; 3] = ["ray-logs", "ray-token", "shared-mem"];

/// A template of an object, or a spec of pods of one, with the volumes that its controller adds.
pub(super) fn completed<'n>(object: &Node, template: &'n Node, is_spec: bool) -> Cow<'n, Node> {
    let names = names(object, template);
    if names.is_empty() {
        return Cow::Borrowed(template);
    }
    if is_spec {
        let mut spec = template.clone();
        add(&mut spec, &names);
        return Cow::Owned(spec);
    }
    Cow::Owned(with_volumes(template, &names))
}

fn names(object: &Node, template: &Node) -> Vec<Node> {
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    match (group, text("kind")) {
        // The volumes of its jobs' pods are named after these claims
        // (kubernetes-sigs/jobset, pkg/controllers/volume_claim_policy.go, `addVolumes`).
        ("jobset.x-k8s.io", "JobSet") => {
            let policies = object.at(&["spec", "volumeClaimPolicies"]).map(Node::items);
            let templates = policies.into_iter().flatten().filter_map(|one| one.get("templates"));
            templates.flat_map(claimed).collect()
        }
        ("ray.io", _) => OF_RAY.iter().map(|name| Node::str(*name, template.origin)).collect(),
        _ => Vec::new(),
    }
}

/// The names of claims in a list of their templates.
pub(super) fn claimed(templates: &Node) -> Vec<Node> {
    templates.items().iter().filter_map(|claim| claim.at(&["metadata", "name"]).cloned()).collect()
}

/// A pod template with a volume of each of these names.
pub(super) fn with_volumes(template: &Node, names: &[Node]) -> Node {
    let mut template = template.clone();
    if let Some(spec) = template.as_map_mut().and_then(|map| map.get_mut("spec")) {
        add(spec, names);
    }
    template
}

/// Adds the volumes that are not in a spec of pods. Their sources are those of claims: what a
/// controller writes is not judged.
fn add(spec: &mut Node, names: &[Node]) {
    let named = |volume: &Node| volume.get("name").and_then(Node::as_str).map(str::to_owned);
    let mut all: Vec<Node> = spec.get("volumes").map(Node::items).unwrap_or_default().to_vec();
    let mut seen: HashSet<Option<String>> = all.iter().map(named).collect();
    for name in names {
        let mut source = Node::map(name.origin);
        let mut volume = Node::map(name.origin);
        if let (Some(source), Some(map)) = (source.as_map_mut(), volume.as_map_mut()) {
            source.insert("claimName", name.clone());
            map.insert("name", name.clone());
        }
        if let Some(map) = volume.as_map_mut() {
            map.insert("persistentVolumeClaim", source);
        }
        if seen.insert(named(&volume)) {
            all.push(volume);
        }
    }
    let origin = spec.get("volumes").map_or(spec.origin, |volumes| volumes.origin);
    if let Some(map) = spec.as_map_mut() {
        map.insert("volumes", Node::list(all, origin));
    }
}

#[cfg(test)]
mod tests {
    use super::completed;
    use crate::testing::node;
    use crate::yaml::Node;

    fn volumes(object: &str) -> Vec<String> {
        let object = node(object);
        let template = object.at(&["spec", "template"]).expect("a template");
        let completed = completed(&object, template, false);
        let volumes = completed.at(&["spec", "volumes"]).map(Node::items).unwrap_or_default();
        let name = |volume: &Node| volume.get("name").and_then(Node::as_str).map(str::to_owned);
        volumes.iter().filter_map(name).collect()
    }

    #[test]
    fn controllers_add_volumes_to_the_pods_of_their_templates() {
        let claims =
            "volumeClaimPolicies: [{templates: [{metadata: {name: data}}, {metadata: {name: a}}]}]";
        let jobs = format!(
            "{{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {{{claims}, template: {{spec: {{volumes: [{{name: a, emptyDir: {{}}}}]}}}}}}}}"
        );
        assert_eq!(volumes(&jobs), ["a", "data"]);
        let ray = "{apiVersion: ray.io/v1, kind: RayCluster, spec: {template: {spec: {}}}}";
        assert_eq!(volumes(ray), ["ray-logs", "ray-token", "shared-mem"]);
        let other = "{apiVersion: kubeflow.org/v1, kind: MPIJob, spec: {template: {spec: {}}}}";
        assert!(volumes(other).is_empty());
    }
}
