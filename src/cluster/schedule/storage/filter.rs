//! Whether the volumes of a pod allow a node.

use super::ClaimId;
use super::claims::Storage;
use super::prepare::PodVolumes;
use super::volumes::{APART, ELSEWHERE, at};
use crate::cluster::Machine;
use crate::cluster::schedule::ids::{NodeId, PodId};
use crate::cluster::schedule::pod::Disk;
use crate::cluster::schedule::reason::{Plugins, Reason, Refusal};
use ecow::EcoString;
use std::collections::BTreeSet;

/// The pods of a node as volumes see them: those on it, with some added or removed.
#[derive(Clone, Copy)]
pub(in crate::cluster::schedule) struct Trial<'a> {
    /// Pods that are on the node.
    pub(in crate::cluster::schedule) there: &'a [PodId],
    /// Pods that would be removed.
    pub(in crate::cluster::schedule) removed: &'a [PodId],
    /// Pods that would be added; they are among those that are there.
    pub(in crate::cluster::schedule) added: &'a [PodId],
    /// What a pod uses.
    pub(in crate::cluster::schedule) used: &'a dyn Fn(PodId) -> InUse<'a>,
}

/// The volumes that a pod uses.
pub(in crate::cluster::schedule) struct InUse<'a> {
    pub(in crate::cluster::schedule) claims: Vec<ClaimId>,
    pub(in crate::cluster::schedule) disks: Vec<&'a Disk>,
}

impl Trial<'_> {
    fn present(&self) -> impl Iterator<Item = PodId> + '_ {
        self.there.iter().copied().filter(|pod| !self.removed.contains(pod))
    }
}

impl PodVolumes {
    /// The filters of volumes in their order.
    pub(in crate::cluster::schedule) fn refuses(
        &self,
        storage: &Storage,
        node: NodeId,
        machine: &Machine,
        trial: &Trial<'_>,
    ) -> Option<Refusal> {
        let taken = |disk: &Disk| {
            trial
                .present()
                .any(|pod| (trial.used)(pod).disks.iter().any(|present| disk.conflicts(present)))
        };
        if self.disks.iter().any(taken) {
            return Some(Refusal::of(Reason::Disk, true, Plugins::VOLUME_USE));
        }
        if self.in_use(storage, trial) {
            return Some(Refusal::of(Reason::ReadWriteOncePod, true, Plugins::VOLUME_USE));
        }
        if self.exceeds(storage, machine, trial) {
            return Some(Refusal::of(Reason::VolumeCount, true, Plugins::VOLUME_COUNT));
        }
        self.unbindable(storage, node, machine).or_else(|| {
            let elsewhere = self.columns.iter().any(|column| at(column, node) == ELSEWHERE);
            elsewhere.then(|| Refusal::of(Reason::VolumeZone, false, Plugins::VOLUME_ZONE))
        })
    }

    /// Whether a claim that one pod may use is in use, as `VolumeRestrictions` counts
    /// (`calPreFilterState`, `updateWithPod`): each such claim that some pod uses is one, whoever
    /// uses it; each volume of a removed pod that names one of them is one less, in whatever
    /// namespace. So a claim that pods of two nodes use is free once one of them is removed.
    fn in_use(&self, storage: &Storage, trial: &Trial<'_>) -> bool {
        let single: BTreeSet<ClaimId> = self.single.iter().copied().collect();
        let used = single.iter().filter(|claim| !storage.users(**claim).is_empty()).count();
        // The plugin is skipped: it does not see the pods that are added either.
        if used == 0 && self.disks.is_empty() {
            return false;
        }
        let named = |pods: &[PodId]| {
            let claims = pods.iter().flat_map(|pod| (trial.used)(*pod).claims);
            let name = |claim: &ClaimId| &storage.claims[*claim].name;
            claims
                .filter(|claim| single.iter().any(|exclusive| name(exclusive) == name(claim)))
                .count()
        };
        used + named(trial.added) > named(trial.removed)
    }

    /// `NodeVolumeLimits`: a driver would have more volumes on the node than it can attach.
    fn exceeds(&self, storage: &Storage, machine: &Machine, trial: &Trial<'_>) -> bool {
        let limit = |driver: &EcoString| {
            storage.limits.get(&(machine.name.clone(), driver.clone())).copied()
        };
        if storage.limits.is_empty()
            || !self.drivers.iter().any(|(driver, _)| limit(driver).is_some())
        {
            return false;
        }
        let driver_of = |claim: ClaimId| storage.driver_of(claim);
        let claims = trial.present().flat_map(|pod| (trial.used)(pod).claims);
        let held: BTreeSet<_> = claims.filter_map(driver_of).collect();
        // A volume that is attached and that no pod there uses counts once more for a new pod.
        let attached = storage.attached(&machine.name).filter(|volume| !held.contains(volume));
        let attached: BTreeSet<_> = attached.collect();
        let new: BTreeSet<_> =
            self.drivers.iter().filter(|volume| !held.contains(*volume)).collect();
        new.iter().any(|(driver, _)| {
            let count = |list: &mut dyn Iterator<Item = &(EcoString, EcoString)>| {
                list.filter(|(other, _)| other == driver).count()
            };
            let all = count(&mut new.iter().copied())
                + count(&mut held.iter())
                + count(&mut attached.iter());
            limit(driver).is_some_and(|most| all > most)
        })
    }

    /// `VolumeBinding`: all reasons of a node.
    fn unbindable(&self, storage: &Storage, node: NodeId, machine: &Machine) -> Option<Refusal> {
        let mut reasons = Vec::new();
        if self.columns.iter().any(|column| at(column, node) == APART) {
            reasons.push(Reason::VolumeAffinity);
        }
        reasons.extend(self.unprovided(storage, machine));
        if self.lacks_volume {
            reasons.push(Reason::VolumeGone);
        }
        (!reasons.is_empty()).then_some(Refusal {
            reasons,
            curable: false,
            plugin: Plugins::VOLUMES,
        })
    }

    /// Why claims that wait for the pod get no volume on a node (`FindPodVolumes`): existing volumes
    /// are tried for all of them first, then the first claim for which none can be made decides.
    fn unprovided(&self, storage: &Storage, machine: &Machine) -> Option<Reason> {
        let (mut selected, mut unmatched) = (Vec::new(), Vec::new());
        let mut taken: Vec<EcoString> = Vec::new();
        for waiting in &self.waiting {
            if let Some(node) = &waiting.selected {
                if *node != machine.name {
                    return Some(Reason::NoVolume);
                }
                selected.push(waiting);
                continue;
            }
            // The volume lacks one of its access modes: the scheduler waits for it, and nothing gives
            // it to the claim.
            if waiting.kept {
                return Some(Reason::NoVolume);
            }
            match storage.free_volume(&waiting.spec, Some(machine), &taken) {
                Some(volume) => taken.push(volume),
                None => unmatched.push(waiting),
            }
        }
        selected.into_iter().chain(unmatched).find_map(|waiting| {
            let class = storage.class_of(&waiting.spec);
            let class = class.filter(|class| class.provisions() && class.allows(machine));
            let Some(class) = class else { return Some(Reason::NoVolume) };
            if !storage.publishing.contains(&class.provisioner) {
                return None;
            }
            let name = storage.class_name(&waiting.spec);
            let mut capacities =
                storage.capacities.iter().filter(|capacity| capacity.class == name);
            let space = capacities.any(|capacity| capacity.holds(waiting.spec.request, machine));
            (!space).then_some(Reason::NoSpace)
        })
    }
}
