//! Claims that get a volume: an existing one, or one that is made.

use super::ClaimId;
use super::claims::Storage;
use super::objects::Volume;
use crate::cluster::Machine;
use crate::cluster::schedule::ids::{NodeId, PodId};
use crate::cluster::schedule::nodes::Nodes;
use crate::cluster::schedule::pod::{ClaimSpec, NodeTerm, PodVolume, ZONE};
use crate::quantity::{Requirement, Selector, SelectorOperator};
use ecow::{EcoString, eco_format};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A node that a volume can be used on.
pub(super) const HERE: u8 = 0;
/// The node affinity of the volume does not allow the node.
pub(super) const APART: u8 = 1;
/// The labels of the volume name another zone or region.
pub(super) const ELSEWHERE: u8 = 2;

/// What became of the claims of a pod that got a node.
#[derive(Clone, Debug, Default)]
pub(in crate::cluster::schedule) struct Taken {
    /// Every claim has a volume.
    pub(in crate::cluster::schedule) complete: bool,
    /// The claims that had none before.
    pub(in crate::cluster::schedule) claims: Vec<ClaimId>,
    /// One of them has a volume now.
    pub(in crate::cluster::schedule) bound: bool,
    /// A volume was made.
    pub(in crate::cluster::schedule) provisioned: bool,
}

impl Storage {
    /// For each node whether a volume can be used on it.
    pub(super) fn reach(&mut self, volume: &EcoString, nodes: &Nodes) -> Option<Arc<Vec<u8>>> {
        if let Some((epoch, codes)) = self.reach.get(volume)
            && (*epoch, codes.len()) == (nodes.epoch(), nodes.len())
        {
            return Some(Arc::clone(codes));
        }
        let pv = self.volumes.get(volume)?;
        let code = |machine: &Machine| {
            if pv.terms.as_ref().is_some_and(|terms| !meets(terms, machine)) {
                APART
            } else if pv.is_elsewhere(machine) {
                ELSEWHERE
            } else {
                HERE
            }
        };
        let column: Arc<Vec<u8>> =
            Arc::new(nodes.ids().map(|node| code(nodes.machine(node))).collect());
        self.reach.insert(volume.clone(), (nodes.epoch(), Arc::clone(&column)));
        Some(column)
    }

    /// The volume of its class that is kept for a claim and has room for it. The scheduler takes no other
    /// one where a node is near it (`FindMatchingVolume`).
    pub(super) fn kept_volume(
        &self,
        claim: (&EcoString, &EcoString),
        spec: &ClaimSpec,
    ) -> Option<(&EcoString, &Volume)> {
        let class = self.class_name(spec);
        self.volumes.iter().find(|(_, pv)| {
            let is_its = pv.claim.as_ref().is_some_and(|(space, name)| claim == (space, name));
            is_its && pv.class == class && pv.is_large_enough(spec)
        })
    }

    /// The smallest free volume for a claim on a node, or on any node.
    pub(super) fn free_volume(
        &self,
        spec: &ClaimSpec,
        machine: Option<&Machine>,
        taken: &[EcoString],
    ) -> Option<EcoString> {
        let class = self.class_name(spec);
        let here = |pv: &Volume| {
            let terms = pv.terms.as_ref();
            terms.is_none_or(|terms| machine.is_none_or(|machine| meets(terms, machine)))
        };
        let free = self.volumes.iter().filter(|(name, pv)| {
            !taken.contains(name)
                && pv.class == class
                && pv.claim.is_none()
                && pv.available
                && pv.satisfies(spec)
                && here(pv)
        });
        free.min_by_key(|(name, pv)| (pv.capacity, (*name).clone())).map(|(name, _)| name.clone())
    }

    fn give(&mut self, claim: ClaimId, volume: &EcoString) {
        let pvc = &mut self.claims[claim];
        pvc.volume = Some(volume.clone());
        pvc.bound = true;
        let owner = (pvc.namespace.clone(), pvc.name.clone());
        if let Some(volume) = self.volumes.get_mut(volume) {
            volume.available = false;
            volume.claim = Some(owner);
        }
    }

    /// Makes a volume for a claim in the zone of a node; anywhere where the node names none.
    fn provision(&mut self, claim: ClaimId, zone: Option<&str>) {
        let spec = Arc::clone(&self.claims[claim].spec);
        let zone = zone.and_then(|zone| {
            Requirement::new(ZONE, SelectorOperator::In, [EcoString::from(zone)]).ok()
        });
        let driver = self.class_of(&spec).map(|class| class.provisioner.clone());
        let name = eco_format!("pv-of-{}", self.claims[claim].name);
        let volume = Volume {
            class: self.class_name(&spec),
            capacity: spec.request,
            modes: spec.modes.clone(),
            block: spec.block,
            terms: zone
                .map(|zone| vec![NodeTerm { labels: Selector::new([zone]), names: Vec::new() }]),
            driver: driver.map(|driver| (driver, name.clone())),
            is_made: true,
            ..Volume::default()
        };
        // Names of two namespaces may be the same.
        let taken = self.volumes.contains_key(&name);
        let name = if taken { eco_format!("{name}-{claim}") } else { name };
        self.volumes.insert(name.clone(), volume);
        self.give(claim, &name);
    }

    /// A pod got a node: its claims that wait get their volumes. While one is not made, the pod holds
    /// the node and is not bound. Claims that wait for a pod get none for one that was not scheduled:
    /// it is the scheduler that binds them, or names the node to make a volume for
    /// (`VolumeBinding.PreBind`). Those that wait for the controller of volumes wait on.
    pub(in crate::cluster::schedule) fn reserve(
        &mut self,
        claims: &[ClaimId],
        pod: PodId,
        machine: &Machine,
        scheduled: bool,
    ) -> Taken {
        let mut taken = Taken { complete: true, ..Taken::default() };
        for claim in claims {
            self.claims[*claim].users.push(pod);
            if self.claims[*claim].bound || !self.claims[*claim].exists {
                continue;
            }
            let pvc = &self.claims[*claim];
            if !scheduled && (self.waits_for_pod(pvc) || !self.will_be_bound(pvc)) {
                taken.complete = false;
                continue;
            }
            taken.claims.push(*claim);
            let pvc = &self.claims[*claim];
            let spec = Arc::clone(&pvc.spec);
            let free = match pvc.selected {
                Some(_) => None,
                None => self.free_volume(&spec, Some(machine), &[]),
            };
            if let Some(volume) = free {
                self.give(*claim, &volume);
                taken.bound = true;
                continue;
            }
            let provisioner = self.class_of(&spec).map(|class| class.provisioner.clone());
            // Of manifests alone the classes of the cluster are not known: a claim that was never in
            // a cluster gets its volume, which any node may use as far as is known.
            let of_unknown_class = provisioner.is_none()
                && self.will_be_bound(&self.claims[*claim])
                && self.unread_class(&spec).is_none();
            self.claims[*claim].selected = Some(machine.name.clone());
            if of_unknown_class {
                self.provision(*claim, None);
                (taken.bound, taken.provisioned) = (true, true);
            } else if provisioner.is_some_and(|provisioner| self.answers(&provisioner)) {
                let is_everywhere = self.settles && self.is_file_system(&spec);
                self.provision(*claim, machine.label(ZONE).filter(|_| !is_everywhere));
                (taken.bound, taken.provisioned) = (true, true);
            } else {
                taken.complete = false;
            }
        }
        taken
    }

    /// A pod is gone, or lost its node.
    pub(in crate::cluster::schedule) fn release(&mut self, claims: &[ClaimId], pod: PodId) {
        for claim in claims {
            let pvc = &mut self.claims[*claim];
            if let Some(at) = pvc.users.iter().position(|user| *user == pod) {
                pvc.users.remove(at);
            }
            pvc.exists &= !pvc.deleting || !pvc.users.is_empty();
        }
    }

    /// Claims that do not wait for a pod get a volume (the controller persistentvolume-binder):
    /// an existing one, or one in the first zone that the class allows, or else of the nodes.
    /// Returns whether anything changed.
    pub(in crate::cluster::schedule) fn bind_immediate(&mut self, nodes: &Nodes) -> bool {
        let mut changed = false;
        // Which claim is first is chance; one that names its volume is meant to have it.
        let mut all: Vec<ClaimId> = (0..self.claims.len()).collect();
        all.sort_by_key(|id| self.claims[*id].volume.is_none());
        for id in all {
            let pvc = &self.claims[id];
            let waits = self.class_of(&pvc.spec).is_some_and(|class| class.waits);
            if pvc.bound || !pvc.exists || pvc.deleting {
                continue;
            }
            let spec = Arc::clone(&pvc.spec);
            if let Some(wanted) = pvc.volume.clone() {
                let owner = (pvc.namespace.clone(), pvc.name.clone());
                // A volume that is kept for the claim is not looked at (pkg/controller/volume/
                // persistentvolume/pv_controller.go, `syncUnboundClaim`).
                let free = self.volumes.get(&wanted).is_some_and(|volume| match &volume.claim {
                    Some(kept) => *kept == owner,
                    None => volume.available && volume.may_be_given(&spec),
                });
                if free {
                    self.give(id, &wanted);
                    changed = true;
                }
                continue;
            }
            // One that is kept for it is given to it at once, whatever its labels are; the controller
            // looks for it by the access modes (`findBestMatchForClaim`).
            let kept = self.kept_volume((&pvc.namespace, &pvc.name), &spec);
            let kept = kept.filter(|(_, volume)| volume.has_modes(&spec));
            let kept = kept.map(|(name, _)| name.clone());
            if waits && kept.is_none() {
                continue;
            }
            if let Some(volume) = kept.or_else(|| self.free_volume(&spec, None, &[])) {
                self.give(id, &volume);
                changed = true;
                continue;
            }
            let Some(class) = self.class_of(&spec).filter(|class| class.provisions()) else {
                continue;
            };
            if self.answers(&class.provisioner) {
                let allowed: Vec<&str> = class.zones().collect();
                let zones = nodes.ids().filter_map(|node| nodes.machine(node).label(ZONE));
                let zones: BTreeSet<&str> = zones.collect();
                let first = allowed.first().or(zones.first()).copied();
                // In which of several zones a real provisioner makes it is not known.
                let is_one = match allowed.first() {
                    Some(first) => allowed.iter().all(|zone| zone == first),
                    None => zones.len() == 1,
                };
                let zone = first.filter(|_| is_one || !self.settles).map(EcoString::from);
                self.provision(id, zone.as_deref());
                changed = true;
            }
        }
        changed
    }

    /// The drivers and their names of the volumes that are attached to a node.
    pub(super) fn attached(
        &self,
        node: &EcoString,
    ) -> impl Iterator<Item = (EcoString, EcoString)> + '_ {
        let attached = self.attached.get(node).into_iter().flatten();
        attached.filter_map(|name| self.volumes.get(name)?.driver.clone())
    }

    /// The driver of the volume of a claim, and its name of the volume; for a volume that is not
    /// made yet, a name that no other has.
    pub(super) fn driver_of(&self, claim: ClaimId) -> Option<(EcoString, EcoString)> {
        let pvc = &self.claims[claim];
        if let Some(volume) = pvc.volume.as_ref().and_then(|name| self.volumes.get(name)) {
            return volume.driver.clone();
        }
        let class = self.class_of(&pvc.spec).filter(|class| class.provisions())?;
        Some((class.provisioner.clone(), eco_format!("{}/{}", pvc.namespace, pvc.name)))
    }

    /// The CSI driver of these volumes that a node lacks, by its CSINode: the volume is neither attached
    /// nor mounted there. The scheduler does not look at it (`CSILimits.Filter`), unless the feature
    /// VolumeLimitScaling is on and the CSIDriver asks for it (`preventPodSchedulingIfMissing`), which
    /// are both off by default in 1.35.
    pub(in crate::cluster::schedule) fn lacks_driver(
        &self,
        node: &EcoString,
        volumes: &[PodVolume],
        claims: impl Iterator<Item = ClaimId>,
    ) -> Option<EcoString> {
        let registered = self.registered.get(node)?;
        let inline = volumes.iter().filter_map(|volume| match volume {
            PodVolume::Inline(driver) => Some(driver.clone()),
            PodVolume::Claim(_) | PodVolume::Ephemeral(..) | PodVolume::Disk(_) => None,
        });
        let of_claim = |claim: ClaimId| {
            let (driver, _) = self.driver_of(claim)?;
            let volume = self.claims[claim].volume.as_ref();
            let volume = volume.and_then(|name| self.volumes.get(name));
            // A provisioner makes volumes of any kind; only a driver has to be on the node.
            let is_driver = volume.is_some_and(|volume| !volume.is_made)
                || self.csi_drivers.contains(&driver)
                || self.registered.values().any(|drivers| drivers.contains(&driver));
            is_driver.then_some(driver)
        };
        inline.chain(claims.filter_map(of_claim)).find(|driver| !registered.contains(driver))
    }

    /// The pods that are named as users of a claim.
    pub(super) fn users(&self, claim: ClaimId) -> &[PodId] {
        &self.claims[claim].users
    }
}

fn meets(terms: &[NodeTerm], machine: &Machine) -> bool {
    terms.iter().any(|term| term.holds(machine))
}

/// A place of a node in a column.
pub(super) fn at(column: &[u8], node: NodeId) -> u8 {
    column.get(node.index()).copied().unwrap_or(HERE)
}
