//! Reads Deployments and LeaderWorkerSets from objects.

use super::deployment::{DeploymentSpec, Strategy};
use super::leader_worker_set::{
    GroupRevision, LeaderWorkerSetRelease, LeaderWorkerSetSpec, Restart, Startup,
};
use super::pods::{Revision, Start};
use crate::cluster::schedule::{
    Admission, InvalidPod, PodTemplate, label_selector, labels, selector_of,
};
use crate::quantity::{IntOrPercent, Selector, hash};
use crate::yaml::{Node, Value};
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// The label with which a Deployment distinguishes the pods of its versions.
const HASH: &str = "pod-template-hash";

fn text(node: Option<&Node>) -> EcoString {
    node.and_then(Node::scalar_text).unwrap_or_default()
}

fn amount(node: Option<&Node>, default: IntOrPercent) -> Result<IntOrPercent, InvalidPod> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(default) };
    if let Some(number) = node.as_int() {
        return Ok(IntOrPercent::Int(number));
    }
    IntOrPercent::parse_percent(&text(Some(node)))
        .map_err(|error| InvalidPod { path: "strategy".into(), problem: eco_format!("{error}") })
}

/// Returns the name of the version of a template: a hash of its fields. The order of keys and empty
/// values do not matter (`apiequality.Semantic.DeepEqual`).
pub fn revision_name(template: &Node) -> EcoString {
    /// Writes a node as JSON with sorted keys. For an empty node, writes nothing and returns false.
    fn write(node: &Node, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        match &node.value {
            Value::Null => return false,
            Value::Map(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                // The order of keys in the file is no part of a version.
                entries.sort_by(|one, other| one.key.cmp(&other.key));
                for entry in entries {
                    let before = out.len();
                    out.push(if before == start { b'{' } else { b',' });
                    json(entry.key.as_str(), out);
                    out.push(b':');
                    // The key is written before its value is known to be empty.
                    if !write(&entry.node, out) {
                        out.truncate(before);
                    }
                }
                if out.len() == start {
                    return false;
                }
                out.push(b'}');
            }
            Value::List(_) if node.items().is_empty() => return false,
            Value::List(_) => {
                for (at, item) in node.items().iter().enumerate() {
                    out.push(if at == 0 { b'[' } else { b',' });
                    // An empty element keeps its place: without it, lists of different length
                    // would be one version.
                    if !write(item, out) {
                        out.extend_from_slice(b"null");
                    }
                }
                out.push(b']');
            }
            _ => json(node, out),
        }
        true
    }
    fn json(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
        // Writing strings and numbers to memory cannot fail.
        let _ = serde_json::to_writer(out, value);
    }
    let mut text = Vec::new();
    if !write(template, &mut text) {
        text.extend_from_slice(b"null");
    }
    let text = String::from_utf8_lossy(&text);
    hash::short_hash(&text).into()
}

impl DeploymentSpec {
    /// Reads the `spec` of an `apps/v1` Deployment.
    ///
    /// # Errors
    /// The first field that the API server would refuse.
    pub fn read(namespace: &str, spec: &Node, classes: &Admission) -> Result<Self, InvalidPod> {
        let rolling = |key: &str| spec.at(&["strategy", "rollingUpdate", key]);
        let quarter = IntOrPercent::Percent(25);
        let strategy = match text(spec.at(&["strategy", "type"])).as_str() {
            "Recreate" => Strategy::Recreate,
            _ => Strategy::RollingUpdate {
                surge: amount(rolling("maxSurge"), quarter)?,
                unavailable: amount(rolling("maxUnavailable"), quarter)?,
            },
        };
        let template = spec.get("template").cloned().unwrap_or_else(|| Node::map(spec.origin));
        let selector = label_selector(spec.get("selector"))?.unwrap_or_default();
        Ok(Self {
            replicas: spec.get("replicas").and_then(Node::as_int).unwrap_or(1),
            strategy,
            paused: spec.get("paused").and_then(Node::as_bool) == Some(true),
            revision: Revision::read(namespace, &selector, &template, classes)?,
        })
    }
}

impl DeploymentSpec {
    /// The name of the Deployment, which its pods have in front of theirs.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        Arc::make_mut(&mut self.revision.pod).name = eco_format!("{name}-*");
        self
    }
}

impl Revision {
    /// Reads the template of a Deployment: its pods get the label of their version, by which their
    /// ReplicaSet selects them.
    ///
    /// # Errors
    /// The first field that the API server would refuse.
    pub fn read(
        namespace: &str,
        selector: &Selector,
        template: &Node,
        classes: &Admission,
    ) -> Result<Self, InvalidPod> {
        let name = revision_name(template);
        let labels = labels(template.at(&["metadata", "labels"]));
        let labels = labels.with(HASH.into(), name.clone());
        let mut pod = pod(namespace, labels, template, classes)?;
        let current = selector_of([(HASH, name.as_str())]);
        let current = current.map_err(|error| InvalidPod {
            path: "metadata.labels".into(),
            problem: eco_format!("{error}"),
        })?;
        // The hash keeps pods of other versions out: spreading counts those of one ReplicaSet.
        let both = selector.requirements().iter().chain(current.requirements()).cloned();
        pod.owner = Some(Selector::new(both));
        Ok(Self { name, pod: Arc::new(pod), start: Start::Ready })
    }
}

fn pod(
    namespace: &str,
    labels: crate::cluster::schedule::Labels,
    template: &Node,
    classes: &Admission,
) -> Result<PodTemplate, InvalidPod> {
    let spec = template.get("spec").cloned().unwrap_or_else(|| Node::map(template.origin));
    PodTemplate::read(namespace, labels, &spec, classes)
}

/// A number of things; none below zero.
pub(super) fn number(node: Option<&Node>, default: usize) -> usize {
    let number = node.and_then(Node::as_int);
    number.map_or(default, |number| usize::try_from(number).unwrap_or(0))
}

/// Refuses numbers that the CRD or the webhook of a release refuses.
fn refuse(
    release: &LeaderWorkerSetRelease,
    replicas: Option<&Node>,
    partition: Option<&Node>,
) -> Result<(), InvalidPod> {
    let invalid = |path: &str, number: i64, problem: EcoString| InvalidPod {
        path: eco_format!("spec.{path}"),
        problem: eco_format!("Invalid value: {number}: {problem}"),
    };
    if let (Some(most), Some(replicas)) = (release.most_replicas, replicas.and_then(Node::as_int))
        && replicas > most
    {
        let problem = eco_format!("spec.replicas in body should be less than or equal to {most}");
        return Err(invalid("replicas", replicas, problem));
    }
    if let Some(partition) = partition.and_then(Node::as_int)
        && release.checks_partition
        && partition < 0
    {
        let path = "rolloutStrategy.rollingUpdateConfiguration.partition";
        return Err(invalid(path, partition, "must be greater than or equal to 0".into()));
    }
    Ok(())
}

impl LeaderWorkerSetSpec {
    /// Reads a `leaderworkerset.x-k8s.io/v1` LeaderWorkerSet that the controller of a release rolls
    /// out.
    ///
    /// # Errors
    /// The first field that the API server would refuse.
    pub fn read(
        namespace: &str,
        object: &Node,
        classes: &Admission,
        release: &'static LeaderWorkerSetRelease,
    ) -> Result<Self, InvalidPod> {
        let spec = |path: &[&str]| object.get("spec").and_then(|spec| spec.at(path));
        let rolling = |key: &str| spec(&["rolloutStrategy", "rollingUpdateConfiguration", key]);
        refuse(release, spec(&["replicas"]), rolling("partition"))?;
        let group =
            spec(&["leaderWorkerTemplate"]).cloned().unwrap_or_else(|| Node::map(object.origin));
        let exclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";
        let exclusive = text(object.at(&["metadata", "annotations", exclusive]));
        let after_start = "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start";
        let has_annotation = object.at(&["metadata", "annotations", after_start]).is_some();
        Ok(Self {
            namespace: namespace.into(),
            name: text(object.at(&["metadata", "name"])),
            replicas: number(spec(&["replicas"]), 1),
            startup: match text(spec(&["startupPolicy"])).as_str() {
                "LeaderReady" => Startup::LeaderReady,
                _ => Startup::LeaderCreated,
            },
            surge: amount(rolling("maxSurge"), IntOrPercent::Int(0))?,
            unavailable: amount(rolling("maxUnavailable"), IntOrPercent::Int(1))?,
            partition: number(rolling("partition"), 0),
            // A gate of the cluster, which no object of the input declares.
            stateful_set_gate: false,
            exclusive: Some(exclusive).filter(|key| !key.is_empty()),
            restart: match text(group.get("restartPolicy")).as_str() {
                // The annotation changes the default policy only.
                "" | "RecreateGroupOnPodRestart" if has_annotation => {
                    Restart::GroupAfterStartByAnnotation
                }
                "" | "RecreateGroupOnPodRestart" => Restart::Group,
                "RecreateGroupAfterStart" => Restart::GroupAfterStart,
                _ => Restart::Never,
            },
            release,
            revision: GroupRevision::read(namespace, &group, classes)?,
        })
    }
}

impl GroupRevision {
    /// Reads a `leaderWorkerTemplate`.
    ///
    /// # Errors
    /// The first field that the API server would refuse.
    pub fn read(namespace: &str, group: &Node, classes: &Admission) -> Result<Self, InvalidPod> {
        let read = |key: &str| -> Result<Option<Arc<PodTemplate>>, InvalidPod> {
            let Some(template) = group.get(key).filter(|node| !node.is_null()) else {
                return Ok(None);
            };
            let labels = labels(template.at(&["metadata", "labels"]));
            pod(namespace, labels, template, classes).map(|pod| Some(Arc::new(pod)))
        };
        let worker = read("workerTemplate")?.unwrap_or_default();
        let size = group.get("size").and_then(Node::as_int).unwrap_or(1);
        Ok(Self {
            name: revision_name(group),
            size: usize::try_from(size).unwrap_or(1),
            // Without a leader's template the leader is one more worker.
            leader: read("leaderTemplate")?.unwrap_or_else(|| Arc::clone(&worker)),
            worker,
            start: Start::Ready,
            leader_needs: 0,
        })
    }
}
