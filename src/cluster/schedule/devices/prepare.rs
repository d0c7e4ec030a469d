//! The claims of one pod in one try: what they demand of a node, and what they get there.

use super::ClaimId;
use super::allocate::{Failure, Found, Wanted};
use super::claims::Devices;
use crate::cluster::Machine;
use crate::cluster::schedule::ids::NodeId;
use crate::cluster::schedule::nodes::Nodes;
use crate::cluster::schedule::reason::{NO_CLAIMS, Plugins, Reason, Refusal};
use ecow::{EcoString, eco_format};
use std::collections::HashMap;
use std::sync::Arc;

/// The claims of a pod.
#[derive(Clone, Debug, Default)]
pub(in crate::cluster::schedule) struct PodDevices {
    /// No node may have the pod (a device class does not exist, a claim is being allocated).
    pub(in crate::cluster::schedule) refused: Option<EcoString>,
    /// An error ends the try, whatever the other nodes say.
    pub(in crate::cluster::schedule) error: Option<EcoString>,
    wanted: Vec<Wanted>,
    /// Claims with devices.
    allocated: Vec<ClaimId>,
    /// Claims with devices that some node does not reach.
    apart: Vec<ClaimId>,
    found: HashMap<NodeId, Found>,
}

impl Devices {
    /// Looks up the claims of a pod.
    pub(in crate::cluster::schedule) fn prepare(
        &mut self,
        claims: &[Option<ClaimId>],
        nodes: &Nodes,
    ) -> PodDevices {
        let Self { all, numbers, pools, .. } = self;
        pools.gather(all, numbers, nodes);
        let mut devices = PodDevices::default();
        // Not judged (`Devices::unjudged`); no node is refused for what was not read.
        if !self.knows_devices() {
            return devices;
        }
        for id in claims.iter().flatten() {
            let claim = &self.claims[*id];
            if !claim.exists {
                continue;
            }
            if claim.allocation.is_some() {
                // The scheduler has its devices in mind; the object gets them when the volumes of
                // the pod are bound.
                if claim.pending && devices.refused.is_none() {
                    devices.refused = Some(eco_format!(
                        "resource claim {}/{} is in the process of being allocated",
                        claim.namespace,
                        claim.name
                    ));
                }
                devices.allocated.push(*id);
                continue;
            }
            let classes = claim.spec.requests.iter().flat_map(|request| &request.alternatives);
            let missing = classes.into_iter().find(|one| !self.classes.contains_key(&one.class));
            if let Some(one) = missing
                && devices.refused.is_none()
            {
                devices.refused = Some(eco_format!(
                    "request {}: device class {} does not exist",
                    one.name,
                    one.class
                ));
            }
            devices.wanted.push(Wanted {
                claim: *id,
                name: eco_format!("{}/{}", claim.namespace, claim.name),
                spec: Arc::clone(&claim.spec),
            });
        }
        devices
    }

    /// Takes back an allocation.
    pub(in crate::cluster::schedule) fn take_back(&mut self, claim: ClaimId) {
        self.deallocate(claim);
    }

    /// Gives the claims of a pod the devices that were found on a node.
    pub(in crate::cluster::schedule) fn commit(&mut self, pod: &PodDevices, node: NodeId) {
        let found = pod.found.get(&node).into_iter().flat_map(|found| &found.allocations);
        for (claim, allocation) in found {
            self.allocate(*claim, allocation.clone());
            self.claims[*claim].pending = true;
        }
    }
}

impl PodDevices {
    /// Whether the pod has claims.
    pub(in crate::cluster::schedule) fn any(&self) -> bool {
        !self.wanted.is_empty() || !self.allocated.is_empty()
    }

    /// The filter for a node.
    pub(in crate::cluster::schedule) fn refuses(
        &mut self,
        devices: &Devices,
        node: NodeId,
        machine: &Machine,
    ) -> Option<Refusal> {
        if self.error.is_some() || !self.any() {
            return None;
        }
        let reaches = |claim: &ClaimId| {
            let allocation = devices.claims[*claim].allocation.as_ref();
            allocation
                .is_none_or(|allocation| allocation.nodes.iter().all(|reach| reach.holds(machine)))
        };
        let apart: Vec<ClaimId> =
            self.allocated.iter().filter(|claim| !reaches(claim)).copied().collect();
        // As upstream, claims without devices are looked at first; a claim that is elsewhere is taken
        // back only for nodes that have devices for the others.
        let searched = (!self.wanted.is_empty()).then(|| devices.search(node, &self.wanted));
        let found = match searched.transpose() {
            Ok(found) => found,
            Err(Failure::Unfit(why)) => {
                return Some(Refusal::of(Reason::NoDevices(why), false, Plugins::DEVICES));
            }
            Err(Failure::Error(why)) => {
                self.error = Some(why);
                return None;
            }
        };
        if !apart.is_empty() {
            for claim in apart {
                if !self.apart.contains(&claim) {
                    self.apart.push(claim);
                }
            }
            return Some(Refusal::of(Reason::ClaimElsewhere, false, Plugins::DEVICES));
        }
        if let Some(found) = found {
            self.found.insert(node, found);
        }
        None
    }

    /// How good the devices of a node are; none where all are alike.
    pub(in crate::cluster::schedule) fn scores(&self, nodes: usize) -> Option<Vec<i64>> {
        if self.found.values().all(|found| found.score == 0) {
            return None;
        }
        let mut column = vec![0; nodes];
        for (node, found) in &self.found {
            column[node.index()] = found.score;
        }
        Some(column)
    }

    /// What the plugin says of a pod that fits nowhere (PostFilter), and the claim of which it takes
    /// back the devices, because nobody uses them.
    pub(in crate::cluster::schedule) fn post_filter(
        &self,
        devices: &Devices,
    ) -> (&'static str, Option<ClaimId>) {
        if !self.any() {
            return (NO_CLAIMS, None);
        }
        let unused = self.apart.iter().find(|claim| !devices.claims[**claim].is_reserved());
        match unused {
            Some(claim) => ("deallocation of ResourceClaim completed", Some(*claim)),
            None => ("still not schedulable", None),
        }
    }
}
