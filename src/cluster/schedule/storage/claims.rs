//! The claims of a cluster with their state, and everything else that is known about storage.

use super::ClaimId;
use super::objects::{Capacity, NewClaim, StorageClass, Volume};
use crate::api::was_in_cluster;
use crate::cluster::admission::{Ledger, Usage};
use crate::cluster::schedule::fields::{items, text};
use crate::cluster::schedule::ids::PodId;
use crate::cluster::schedule::pod::ClaimSpec;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, Default)]
pub(super) struct Claim {
    pub(super) namespace: EcoString,
    pub(super) name: EcoString,
    /// It exists; claims that pods only name do not.
    pub(super) exists: bool,
    pub(super) spec: Arc<ClaimSpec>,
    /// The volume that it is bound to, or asks for.
    pub(super) volume: Option<EcoString>,
    /// Annotation `pv.kubernetes.io/bind-completed`.
    pub(super) bound: bool,
    /// The node that a volume is made for.
    pub(super) selected: Option<EcoString>,
    /// `status.phase: Lost`.
    pub(super) lost: bool,
    pub(super) deleting: bool,
    /// Why there is no such claim, in the scheduler's words with the reason.
    pub(super) refused: Option<EcoString>,
    /// Why it is open whether the server refuses it.
    pub(super) open: Option<EcoString>,
    /// The object was never in a cluster: nobody has tried to bind it.
    pub(super) new: bool,
    /// Pods with a node that use it.
    pub(super) users: Vec<PodId>,
}

/// A claim as its object shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimState {
    /// Namespace.
    pub namespace: EcoString,
    /// Name.
    pub name: EcoString,
    /// It is bound.
    pub bound: bool,
    /// The volume.
    pub volume: Option<EcoString>,
    /// The node that the volume is made for.
    pub selected: Option<EcoString>,
    /// It is being deleted.
    pub deleting: bool,
}

/// What is known of the storage of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    pub(super) classes: BTreeMap<EcoString, StorageClass>,
    pub(super) volumes: BTreeMap<EcoString, Volume>,
    pub(super) claims: Vec<Claim>,
    pub(super) numbers: HashMap<(EcoString, EcoString), ClaimId>,
    /// The classes are those of a cluster, so none exists that was not read.
    pub(super) knows_classes: bool,
    /// Objects of a cluster were read, though perhaps not its classes.
    pub(super) is_live: bool,
    /// Claims that are made for a pod are bound where their class makes volumes.
    pub(super) settles: bool,
    /// Some claim of a cluster was read; else it is not known which claims exist.
    pub(super) knows_claims: bool,
    /// Some volume of a cluster was read; else it is not known which volumes exist.
    pub(super) knows_volumes: bool,
    /// Most volumes of a driver on a node.
    pub(super) limits: HashMap<(EcoString, EcoString), usize>,
    /// The CSI drivers that have registered on a node, by node.
    pub(super) registered: BTreeMap<EcoString, BTreeSet<EcoString>>,
    /// CSI drivers that have an object.
    pub(super) csi_drivers: BTreeSet<EcoString>,
    /// Drivers that publish their free space.
    pub(super) publishing: BTreeSet<EcoString>,
    pub(super) capacities: Vec<Capacity>,
    /// Volumes that are attached, by node.
    pub(super) attached: HashMap<EcoString, Vec<EcoString>>,
    /// Provisioners that make volumes; all of them where there is no list.
    pub(super) answering: Option<BTreeSet<EcoString>>,
    /// Which nodes a volume can be used on, as of an epoch.
    pub(super) reach: HashMap<EcoString, (u64, Arc<Vec<u8>>)>,
}

impl Storage {
    /// It is known which claims exist, even if there is none.
    pub fn complete(&mut self) {
        self.knows_claims = true;
    }

    /// Objects of a cluster were read.
    pub fn live(&mut self) {
        self.is_live = true;
    }

    /// Claims that are made for pods are bound, as others that were never in a cluster are.
    pub fn settle(&mut self) {
        self.settles = true;
    }

    /// Only these provisioners make volumes.
    pub fn only_answering(&mut self, provisioners: BTreeSet<EcoString>) {
        self.answering = Some(provisioners);
    }

    /// Whether a kind is one of storage.
    pub fn reads(kind: &str) -> bool {
        matches!(
            kind,
            "StorageClass"
                | "PersistentVolume"
                | "PersistentVolumeClaim"
                | "CSINode"
                | "CSIDriver"
                | "CSIStorageCapacity"
                | "VolumeAttachment"
        )
    }

    /// Adds an object, or replaces it; others than those of storage change nothing.
    pub fn set(&mut self, object: &Node) {
        let name = text(object.at(&["metadata", "name"]));
        match text(object.get("kind")).as_str() {
            "StorageClass" => {
                self.knows_classes |= object.at(&["metadata", "uid"]).is_some();
                self.classes.insert(name, StorageClass::read(object));
            }
            "PersistentVolume" => {
                self.reach.remove(&name);
                self.knows_volumes |= was_in_cluster(object);
                self.volumes.insert(name, Volume::read(object));
            }
            "PersistentVolumeClaim" => self.set_claim(&name, object),
            "CSINode" => {
                let drivers = object.get("spec").map(|spec| items(spec, "drivers"));
                let registered = self.registered.entry(name.clone()).or_default();
                for driver in drivers.unwrap_or_default() {
                    registered.insert(text(driver.get("name")));
                    let most = driver.at(&["allocatable", "count"]).and_then(Node::as_int);
                    if let Some(most) = most.and_then(|most| usize::try_from(most).ok()) {
                        self.limits.insert((name.clone(), text(driver.get("name"))), most);
                    }
                }
            }
            "CSIDriver" => {
                let publishes = object.at(&["spec", "storageCapacity"]).and_then(Node::as_bool);
                if publishes == Some(true) {
                    self.publishing.insert(name.clone());
                }
                self.csi_drivers.insert(name);
            }
            "CSIStorageCapacity" => self.capacities.push(Capacity::read(object)),
            "VolumeAttachment" => {
                let node = text(object.at(&["spec", "nodeName"]));
                let volume = text(object.at(&["spec", "source", "persistentVolumeName"]));
                self.attached.entry(node).or_default().push(volume);
            }
            _ => {}
        }
    }

    fn set_claim(&mut self, name: &EcoString, object: &Node) {
        let namespace = text(object.at(&["metadata", "namespace"]));
        let namespace = if namespace.is_empty() { "default".into() } else { namespace };
        let id = self.claim(&namespace, name);
        let annotation = |key: &str| object.at(&["metadata", "annotations", key]);
        let spec = object.get("spec").map(ClaimSpec::read).unwrap_or_default();
        let phase = text(object.at(&["status", "phase"]));
        let selected = annotation("volume.kubernetes.io/selected-node").and_then(Node::scalar_text);
        let claim = &mut self.claims[id];
        claim.exists = true;
        claim.volume.clone_from(&spec.volume);
        claim.bound = spec.volume.is_some()
            && (annotation("pv.kubernetes.io/bind-completed").is_some() || phase == "Bound");
        claim.selected = selected;
        claim.lost = phase == "Lost";
        claim.deleting = object.at(&["metadata", "deletionTimestamp"]).is_some();
        claim.new = phase.is_empty() && object.at(&["metadata", "uid"]).is_none();
        claim.spec = Arc::new(spec);
        // Manifests have the claims of one author: a chart or another repository may make more.
        self.knows_claims |= !self.claims[id].new;
    }

    /// A claim is not created: a limit or a quota refuses it.
    pub fn refuse(&mut self, namespace: &EcoString, name: &EcoString, why: &str) {
        let id = self.claim(namespace, name);
        let claim = &mut self.claims[id];
        if !claim.exists {
            claim.refused = Some(eco_format!("persistentvolumeclaim \"{name}\" not found ({why})"));
        }
    }

    /// Whether the server refuses a claim is open for a reason, if any.
    pub(in crate::cluster::schedule) fn leave_open(
        &mut self,
        namespace: &EcoString,
        name: &EcoString,
        why: Option<EcoString>,
    ) {
        let id = self.claim(namespace, name);
        self.claims[id].open = why;
    }

    /// Whether a claim exists, or would if nothing refused it.
    pub(super) fn is_made(&self, namespace: &EcoString, name: &EcoString) -> bool {
        let id = self.numbers.get(&(namespace.clone(), name.clone()));
        let claim = id.map(|id| &self.claims[*id]);
        claim.is_some_and(|claim| claim.exists || claim.refused.is_some())
    }

    /// The number of the claim of a name.
    pub(super) fn claim(&mut self, namespace: &EcoString, name: &EcoString) -> ClaimId {
        let next = self.claims.len();
        let key = (namespace.clone(), name.clone());
        let id = *self.numbers.entry(key).or_insert(next);
        if id == next {
            self.claims.push(Claim {
                namespace: namespace.clone(),
                name: name.clone(),
                ..Claim::default()
            });
        }
        id
    }

    /// Creates a claim; one of that name stays as it is. Returns whether it is new.
    pub fn create(
        &mut self,
        namespace: &EcoString,
        name: &EcoString,
        spec: &Arc<ClaimSpec>,
    ) -> bool {
        let id = self.claim(namespace, name);
        let claim = &mut self.claims[id];
        if claim.exists {
            return false;
        }
        claim.exists = true;
        claim.volume.clone_from(&spec.volume);
        claim.spec = Arc::clone(spec);
        true
    }

    /// Creates a claim from a template, charging quotas; one of that name stays as it is. Returns
    /// whether it is new.
    ///
    /// # Errors
    /// The limit or the quota that refuses it.
    pub fn claim_from(&mut self, claim: &NewClaim, quotas: &mut Ledger) -> Result<bool, EcoString> {
        let NewClaim { namespace, name, object, refused, settles } = claim;
        let id = self.claim(namespace, name);
        if self.claims[id].exists {
            return Ok(false);
        }
        let usage = Arc::new(Usage::of_claim(object));
        if let Err(why) = quotas.charge_claim(namespace, &usage, refused.as_ref()) {
            let forbidden = eco_format!("persistentvolumeclaims \"{name}\" is forbidden: {why}");
            self.claims[id].refused = Some(forbidden.clone());
            return Err(forbidden);
        }
        let spec = Arc::new(object.get("spec").map(ClaimSpec::read).unwrap_or_default());
        let is_created = self.create(namespace, name, &spec);
        self.claims[id].new = *settles;
        Ok(is_created)
    }

    /// Claims that were made for a pod go with it.
    pub(in crate::cluster::schedule) fn end(&mut self, claims: &[ClaimId]) {
        for claim in claims {
            self.claims[*claim].exists = false;
        }
    }

    /// Deletes a claim: one that pods use stays until they are gone, and no new pod may use it.
    pub fn delete(&mut self, namespace: &EcoString, name: &EcoString) {
        let id = self.claim(namespace, name);
        let claim = &mut self.claims[id];
        claim.deleting = true;
        claim.exists &= !claim.users.is_empty();
    }

    /// Every claim that exists.
    pub fn status(&self) -> impl Iterator<Item = ClaimState> + '_ {
        self.claims.iter().filter(|claim| claim.exists).map(|claim| ClaimState {
            namespace: claim.namespace.clone(),
            name: claim.name.clone(),
            bound: claim.bound,
            volume: claim.volume.clone(),
            selected: claim.selected.clone(),
            deleting: claim.deleting,
        })
    }

    /// The class of a claim.
    pub(super) fn class_of(&self, spec: &ClaimSpec) -> Option<&StorageClass> {
        match &spec.class {
            Some(name) => self.classes.get(name),
            None => self.classes.values().find(|class| class.is_default),
        }
    }

    /// The name of the class of a claim; empty where there is none.
    pub(super) fn class_name(&self, spec: &ClaimSpec) -> EcoString {
        spec.class.clone().unwrap_or_else(|| {
            let default = self.classes.iter().find(|(_, class)| class.is_default);
            default.map(|(name, _)| name.clone()).unwrap_or_default()
        })
    }

    pub(super) fn answers(&self, provisioner: &EcoString) -> bool {
        self.answering.as_ref().is_none_or(|answering| answering.contains(provisioner))
    }
}
