//! Volumes that one node at a time can have: pods on a second node are bound there, and wait for the
//! volume as long as another node has it.
//!
//! The scheduler does not look at it. The controller that attaches volumes refuses a second node for a
//! volume whose access modes are ReadWriteOnce alone (pkg/volume/util/util.go, `IsMultiAttachAllowed`),
//! unless its driver attaches nothing (`attachRequired: false` of its CSIDriver).
//!
//! In: claims, volumes, classes and drivers of the input, and the pods of a placement or a rollout. Out:
//! the claims that pods of several nodes use.

use super::NotJudged;
use crate::api::Object;
use crate::catalog::Catalog;
use crate::cluster::fleet::Placed;
use crate::cluster::schedule::storage::prepare::ATTACHES_NOTHING;
use crate::cluster::schedule::{NodeId, PodId, PodState, PodTemplate, PodVolume, Scheduler};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Namespace and name of a claim.
pub(in crate::pipeline) type ClaimName = (EcoString, EcoString);

/// Volume sources of the tree that are attached.
const IN_TREE: [&str; 5] =
    ["awsElasticBlockStore", "azureDisk", "cinder", "gcePersistentDisk", "vsphereVolume"];

/// The claims whose volumes one node at a time can have, with the driver.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct OneNode(BTreeMap<ClaimName, EcoString>);

impl OneNode {
    /// Those of an input.
    pub(in crate::pipeline) fn of(catalog: &Catalog) -> Self {
        let of_kind = |kind: &'static str| {
            catalog.others().iter().filter(move |object| object.id.kind == kind)
        };
        let mut claims = of_kind("PersistentVolumeClaim").peekable();
        if claims.peek().is_none() {
            return Self::default();
        }
        let by_name = |kind| -> BTreeMap<&EcoString, &Object> {
            of_kind(kind).map(|object| (&object.id.name, object)).collect()
        };
        let [volumes, classes, drivers] =
            ["PersistentVolume", "StorageClass", "CSIDriver"].map(by_name);
        let attaches = |driver: &EcoString| match drivers.get(driver) {
            Some(object) => {
                let required = object.spec("attachRequired").and_then(Node::as_bool);
                required != Some(false)
            }
            None => !ATTACHES_NOTHING.contains(&driver.as_str()),
        };
        let text = |object: &Object, key: &str| object.spec(key).and_then(Node::scalar_text);
        let of_claim = |claim: &Object| -> Option<(ClaimName, EcoString)> {
            let driver = if let Some(volume) = text(claim, "volumeName") {
                let volume = volumes.get(&volume).filter(|volume| is_once(volume))?;
                let Some(csi) = volume.spec("csi") else {
                    let source = IN_TREE.iter().find(|key| volume.spec(key).is_some())?;
                    return Some((name_of(claim)?, (*source).into()));
                };
                csi.get("driver")?.scalar_text()?
            } else {
                let class = classes.get(&text(claim, "storageClassName")?)?;
                let driver = class.node.get("provisioner")?.scalar_text()?;
                // Other provisioners make volumes of any kind.
                let is_csi = driver.contains("csi") || drivers.contains_key(&driver);
                Some(driver).filter(|_| is_csi && is_once(claim))?
            };
            attaches(&driver).then_some(())?;
            Some((name_of(claim)?, driver))
        };
        Self(claims.filter_map(of_claim).collect())
    }

    pub(in crate::pipeline) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// By claim, the nodes of pods that use it.
    fn nodes(
        &self,
        scheduler: &Scheduler,
        pods: impl Iterator<Item = PodId>,
    ) -> BTreeMap<ClaimName, BTreeSet<NodeId>> {
        let mut found: BTreeMap<ClaimName, BTreeSet<NodeId>> = BTreeMap::new();
        for pod in pods {
            // A pod that ends frees its volume soon.
            let PodState::Bound(node) = scheduler.state(pod) else { continue };
            for claim in claims(scheduler.template_of(pod)) {
                if self.0.contains_key(&claim) {
                    found.entry(claim).or_default().insert(node);
                }
            }
        }
        found
    }

    /// The claims that pods of several nodes use.
    pub(in crate::pipeline) fn contested(
        &self,
        scheduler: &Scheduler,
        pods: impl Iterator<Item = PodId>,
    ) -> BTreeSet<ClaimName> {
        let all = self.nodes(scheduler, pods).into_iter();
        all.filter(|(_, nodes)| nodes.len() > 1).map(|(claim, _)| claim).collect()
    }

    /// Why pods of a claim that several nodes use may not start.
    pub(in crate::pipeline) fn message(&self, claim: &ClaimName) -> EcoString {
        let driver = self.0.get(claim).map_or("", EcoString::as_str);
        eco_format!(
            "claim `{}` is ReadWriteOnce, and its pods are on several nodes: they wait for its volume while \
             another node has it, unless driver `{driver}` attaches none",
            claim.1
        )
    }
}

/// The claims that pods of a template share.
pub(in crate::pipeline) fn claims(pod: &PodTemplate) -> impl Iterator<Item = ClaimName> + '_ {
    pod.volumes.iter().filter_map(|volume| match volume {
        PodVolume::Claim(name) => Some((pod.namespace.clone(), name.clone())),
        PodVolume::Ephemeral(..) | PodVolume::Disk(_) | PodVolume::Inline(_) => None,
    })
}

fn name_of(claim: &Object) -> Option<ClaimName> {
    Some((claim.id.scope.namespace()?.clone(), claim.id.name.clone()))
}

/// Whether ReadWriteOnce is the only access mode of a volume or a claim.
fn is_once(object: &Object) -> bool {
    let modes = object.spec("accessModes").map(Node::items).unwrap_or_default();
    !modes.is_empty() && modes.iter().all(|mode| mode.as_str() == Some("ReadWriteOnce"))
}

/// Claims of which new pods are on another node than others.
pub(super) fn found(catalog: &Catalog, placed: &Placed) -> Vec<NotJudged> {
    let one_node = OneNode::of(catalog);
    if one_node.is_empty() {
        return Vec::new();
    }
    let others = || placed.others().into_iter().map(|(pod, _)| pod);
    let slots = || placed.all().map(|(_, slot)| slot);
    let running = || others().chain(slots().filter(|slot| slot.kept).filter_map(|slot| slot.pod));
    // That they run on several nodes already shows that the volume can be there.
    let shared = one_node.contested(&placed.scheduler, running());
    let all = || others().chain(slots().filter_map(|slot| slot.pod));
    let contested = one_node.contested(&placed.scheduler, all()).into_iter();
    let uses = |claim: &ClaimName| {
        let template = |pod: &PodId| placed.scheduler.template_of(*pod);
        all().filter(|pod| claims(template(pod)).any(|used| used == *claim)).count()
    };
    let line = |claim: ClaimName| NotJudged {
        what: eco_format!("PersistentVolumeClaim `{}/{}`", claim.0, claim.1),
        pods: Some(uses(&claim)),
        message: one_node.message(&claim),
        ..NotJudged::default()
    };
    contested.filter(|claim| !shared.contains(claim)).map(line).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on, plan};
    use serde_json::Value;

    fn storage(modes: &str, volume: &str) -> String {
        format!(
            "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: c, namespace: ml, annotations: {{pv.kubernetes.io/bind-completed: 'yes'}}}}\nspec: {{accessModes: [{modes}], volumeName: v, resources: {{requests: {{storage: 1Gi}}}}}}\n---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: v}}\nspec: {{accessModes: [{modes}], capacity: {{storage: 1Gi}}, claimRef: {{namespace: ml, name: c}}, {volume}}}\n"
        )
    }

    fn deployment(image: &str, replicas: i64, gpus: i64, strategy: &str) -> String {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{{strategy}replicas: {replicas}, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{volumes: [{{name: v, persistentVolumeClaim: {{claimName: c}}}}], containers: [{{name: c, image: {image}, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}}}}}\n"
        )
    }

    const EBS: &str = "csi: {driver: ebs.csi.aws.com, volumeHandle: h}";

    fn nodes() -> String {
        gpu_node("n1", 4, "") + &gpu_node("n2", 4, "")
    }

    #[test]
    fn a_volume_of_one_node_is_not_judged_where_pods_are_on_two() {
        let driver = |attach: bool| {
            format!(
                "---\napiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {{name: ebs.csi.aws.com}}\nspec: {{attachRequired: {attach}}}\n"
            )
        };
        for (modes, volume, gpus, more, is_found) in [
            ("ReadWriteOnce", EBS, 3, String::new(), true),
            ("ReadWriteOnce", EBS, 3, driver(true), true),
            ("ReadWriteOnce", EBS, 3, driver(false), false),
            // Both pods are on one node.
            ("ReadWriteOnce", EBS, 2, String::new(), false),
            ("ReadWriteMany", EBS, 3, String::new(), false),
            ("ReadWriteOnce", "nfs: {server: s, path: /x}", 3, String::new(), false),
        ] {
            // A node that is full leaves one node to both pods.
            let nodes = if gpus == 2 { gpu_node("n1", 4, "") } else { nodes() };
            let input = nodes + &storage(modes, volume) + &deployment("x", 2, gpus, "") + &more;
            let ran = plan(&input);
            let what = ran.at("/placement/notJudged/0/what");
            let expected =
                if is_found { "PersistentVolumeClaim `ml/c`".into() } else { Value::Null };
            assert_eq!(what, expected, "{modes} {volume} {gpus} {more}: {}", ran.out);
        }
    }

    #[test]
    fn a_rollout_that_moves_a_volume_of_one_node_is_not_judged() {
        for (strategy, gpus, end) in [
            ("", 3, "not-judged"),
            ("strategy: {type: Recreate}, ", 3, "complete"),
            ("strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}, ", 3, "complete"),
        ] {
            let of = |image: &str| {
                nodes() + &storage("ReadWriteOnce", EBS) + &deployment(image, 1, gpus, strategy)
            };
            let (before, after) = (of("v1"), of("v2"));
            let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
            let run = |command: &str| {
                ome_on(
                    &format!("{command} --no-builtin --base {{before.yaml}} -f {{after.yaml}}"),
                    &files,
                )
            };
            let one = run("rollout deploy/a -o json");
            assert_eq!(one.at("/components/0/rollout/end"), end, "{strategy}: {}", one.out);
            let all = run("rollout --all -o json");
            assert_eq!(all.at("/workloads/0/components/0/rollout/end"), end, "{}", all.out);
            let diff = run("diff");
            assert_eq!(diff.out.contains("not judged:"), end == "not-judged", "{}", diff.out);
        }
    }
}
