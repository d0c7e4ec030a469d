//! All filters for one pod, on the current nodes or on nodes with some pods added or removed.

use super::chunks::Chunks;
use super::devices::claims::Devices;
use super::devices::prepare::PodDevices;
use super::ids::{NodeId, PodId};
use super::judged::Judged;
use super::layout::{ClassKey, FITS, refusal};
use super::nodes::{Nodes, change_ports};
use super::pod::{HostPort, PodVolume};
use super::pod_affinity::Neighbors;
use super::reason::Refusal;
use super::room::{Demand, Freed, Lacking};
use super::running::Belongings;
use super::running::Pod;
use super::spread::Domains;
use super::storage::claims::Storage;
use super::storage::filter::{InUse, Trial as VolumeTrial};
use super::storage::prepare::PodVolumes;
use super::template::Compiled;
use super::terms::Terms;
use crate::cluster::schedule::layout::Ground;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The inputs of the filters for one pod.
#[derive(Clone)]
pub(super) struct Filters<'a> {
    pub(super) pod: &'a Compiled,
    pub(super) ground: Ground<'a>,
    pub(super) key: &'a ClassKey,
    domains: Option<Domains>,
    least: Vec<i64>,
    neighbors: Option<Neighbors>,
    pub(super) volumes: Option<Volumes<'a>>,
    /// The search keeps what it finds.
    pub(super) devices: Option<DeviceSearch<'a>>,
}

/// Devices, with the claims of the pod.
pub(super) type DeviceSearch<'a> = (&'a Devices, Rc<RefCell<PodDevices>>);

/// The volumes of a pod, and what other pods have.
#[derive(Clone)]
pub(super) struct Volumes<'a> {
    pub(super) prepared: Arc<PodVolumes>,
    pub(super) storage: &'a Storage,
    pub(super) templates: &'a Chunks<Arc<Compiled>>,
    pub(super) pods: &'a Chunks<Pod>,
    pub(super) belongings: &'a HashMap<PodId, Belongings>,
}

impl Volumes<'_> {
    fn refuses(&self, nodes: &Nodes, node: NodeId, others: &Others) -> Option<Refusal> {
        let used = |pod: PodId| {
            let template = &self.templates[self.pods[pod.index()].template.index()];
            let belongings =
                self.belongings.get(&pod).map(|belongings| belongings.volumes.as_slice());
            let disks = template.pod.volumes.iter().filter_map(|volume| match volume {
                PodVolume::Disk(disk) => Some(disk),
                PodVolume::Claim(_) | PodVolume::Ephemeral(..) | PodVolume::Inline(_) => None,
            });
            InUse {
                claims: [template.claims.as_slice(), belongings.unwrap_or_default()].concat(),
                disks: disks.collect(),
            }
        };
        let there: Vec<PodId> = nodes.pods(node).iter().chain(&others.added).copied().collect();
        let (removed, added) = (&others.removed, &others.added);
        let trial = VolumeTrial { there: &there, removed, added, used: &used };
        self.prepared.refuses(self.storage, node, nodes.machine(node), &trial)
    }
}

/// Pods of a node that are thought away, or thought there.
#[derive(Clone, Debug, Default)]
struct Others {
    removed: Vec<PodId>,
    added: Vec<PodId>,
}

impl<'a> Filters<'a> {
    pub(super) fn new(
        pod: &'a Compiled,
        ground: Ground<'a>,
        terms: &Terms,
        key: &'a ClassKey,
        volumes: Option<Volumes<'a>>,
        devices: Option<DeviceSearch<'a>>,
    ) -> Self {
        let domains = Domains::of(pod, ground);
        Self {
            least: domains.as_ref().map(|domains| domains.least(pod)).unwrap_or_default(),
            neighbors: Neighbors::of(pod, ground.nodes, ground.index, terms),
            volumes,
            devices,
            domains,
            pod,
            ground,
            key,
        }
    }

    /// Whether other pods matter beyond the capacity that they use.
    fn cross_pods(&self) -> bool {
        self.domains.is_some()
            || self.neighbors.is_some()
            || self.volumes.is_some()
            || self.devices.is_some()
    }

    /// The filters for volumes, spread constraints, pod affinity and devices.
    fn refuses_beside(&self, node: NodeId, others: &Others) -> Option<Refusal> {
        let nodes = self.ground.nodes;
        let volumes =
            self.volumes.as_ref().and_then(|volumes| volumes.refuses(nodes, node, others));
        // The order of the plugins: the first that refuses gives the reason.
        let refused = volumes.or_else(|| self.refuses_neighbors(node));
        refused.or_else(|| {
            let (devices, shared_devices) = self.devices.as_ref()?;
            shared_devices.borrow_mut().refuses(devices, node, nodes.machine(node))
        })
    }

    fn refuses_neighbors(&self, node: NodeId) -> Option<Refusal> {
        let spread = self
            .domains
            .as_ref()
            .and_then(|domains| domains.refuses(self.pod, &self.least, self.ground.nodes, node));
        spread.or_else(|| {
            self.neighbors.as_ref().and_then(|neighbors| {
                neighbors.refuses(self.pod, self.ground.nodes, self.ground.index, node)
            })
        })
    }

    /// All filters in their order.
    fn refuses(&self, node: NodeId, freed: &Freed, others: &Others) -> Option<Refusal> {
        // Selection first: it is known for the class, and excludes most nodes for nothing.
        match self.ground.selection.code(node) {
            0 => {
                let mut lacking = Lacking::default();
                let demand = Demand::new(self.ground.nodes, self.key);
                if demand.lacks(node, Some(freed), &mut lacking) {
                    Some(lacking.refusal(self.ground.nodes))
                } else {
                    self.refuses_beside(node, others)
                }
            }
            code => Some(refusal(code)),
        }
    }

    fn change(&mut self, other: &Compiled, node: NodeId, sign: i64) {
        if let Some(domains) = &mut self.domains {
            domains.change(self.pod, other, node, sign, self.ground);
            self.least = domains.least(self.pod);
        }
        if let Some(neighbors) = &mut self.neighbors {
            neighbors.change(self.pod, other, node, sign, self.ground);
        }
    }
}

/// A node with some pods added or removed.
#[derive(Clone)]
pub(super) struct Trial<'a> {
    filters: Filters<'a>,
    node: NodeId,
    freed: Freed,
    ports: Vec<HostPort>,
    others: Others,
}

impl<'a> Trial<'a> {
    pub(super) fn new(filters: &Filters<'a>, node: NodeId) -> Self {
        Self {
            node,
            freed: Freed { amounts: vec![0; filters.key.requests.len()], ..Freed::default() },
            ports: filters.ground.nodes.ports(node).to_vec(),
            filters: filters.clone(),
            others: Others::default(),
        }
    }

    /// Removes (`sign` -1) or adds (1) a pod.
    pub(super) fn change(&mut self, pod: PodId, other: &Compiled, sign: i64) {
        // A pod that is put back after it was taken away is neither removed nor added.
        let position = self.others.removed.iter().position(|removed| *removed == pod);
        match position {
            Some(at) if sign > 0 => _ = self.others.removed.swap_remove(at),
            _ if sign > 0 => self.others.added.push(pod),
            _ => self.others.removed.push(pod),
        }
        for (freed, (resource, _)) in
            self.freed.amounts.iter_mut().zip(self.filters.key.requests.iter())
        {
            let held = other.requests.iter().find(|(request, _)| request == resource);
            *freed -= sign * held.map_or(0, |(_, amount)| *amount);
        }
        self.freed.pods -= sign;
        // Ports of others matter only to a pod that wants one itself.
        if !self.filters.key.ports.is_empty() {
            change_ports(&mut self.ports, &other.pod.ports, sign);
            self.freed.ports = Some(self.ports.clone());
        }
        self.filters.change(other, self.node, sign);
    }

    fn refuses_alone(&self) -> Option<Refusal> {
        self.filters.refuses(self.node, &self.freed, &self.others)
    }

    /// The filters with the pods for which the node is kept, then without them
    /// (`RunFilterPluginsWithNominatedPods`).
    pub(super) fn refuses(&self, nominated: &[(PodId, &Compiled)]) -> Option<Refusal> {
        if !nominated.is_empty() {
            let mut with = self.clone();
            for (pod, other) in nominated {
                with.change(*pod, other, 1);
            }
            if let Some(refusal) = with.refuses_alone() {
                return Some(refusal);
            }
        }
        self.refuses_alone()
    }
}

/// The verdicts of all nodes on one pod.
pub(super) struct View<'j> {
    pub(super) codes: Cow<'j, [u16]>,
    /// Nodes by code.
    pub(super) counts: Cow<'j, [u32]>,
    /// Nodes that fit, by profile.
    pub(super) fitting: Cow<'j, [u32]>,
    /// Beyond the refusals of the class.
    pub(super) more: Vec<Refusal>,
}

impl<'j> View<'j> {
    /// The evaluation of all nodes for the class of the pod.
    pub(super) fn of(judged: &'j Judged) -> Self {
        Self {
            codes: Cow::Borrowed(&judged.codes),
            counts: Cow::Borrowed(&judged.counts),
            fitting: Cow::Borrowed(&judged.fitting),
            more: Vec::new(),
        }
    }

    /// The rejection for a code.
    pub(super) fn refusal<'s>(&'s self, judged: &'s Judged, code: usize) -> &'s Refusal {
        judged.refusals.get(code).unwrap_or_else(|| &self.more[code - judged.refusals.len()])
    }

    /// Nodes that fit.
    pub(super) fn feasible(&self) -> u32 {
        self.counts[FITS as usize]
    }

    fn set(&mut self, judged: &Judged, node: NodeId, refusal: Option<Refusal>) {
        let code = refusal.map_or(usize::from(FITS), |refusal| {
            let position = judged.refusals.iter().chain(&self.more).position(|one| *one == refusal);
            position.unwrap_or_else(|| {
                self.more.push(refusal);
                self.counts.to_mut().push(0);
                judged.refusals.len() + self.more.len() - 1
            })
        });
        let at = node.index();
        let before = self.codes[at];
        let code = u16::try_from(code).unwrap_or(u16::MAX);
        if before == code {
            return;
        }
        let profile = judged.layout.profile[at] as usize;
        self.codes.to_mut()[at] = code;
        let counts = self.counts.to_mut();
        counts[before as usize] -= 1;
        counts[code as usize] += 1;
        // Filters about other pods can only reject more nodes.
        if before == FITS {
            self.fitting.to_mut()[profile] -= 1;
        }
    }

    /// Runs the filters that depend on other pods.
    pub(super) fn filter_with_others(&mut self, judged: &Judged, filters: &Filters<'_>) {
        if !filters.cross_pods() {
            return;
        }
        for node in filters.ground.nodes.ids() {
            // A node that the class refuses is refused for that reason, which comes before these
            // filters.
            if self.codes[node.index()] == FITS
                && let Some(refusal) = filters.refuses_beside(node, &Others::default())
            {
                self.set(judged, node, Some(refusal));
            }
        }
    }

    /// Filters a node again with the pods nominated for it.
    pub(super) fn kept(
        &mut self,
        judged: &Judged,
        filters: &Filters<'_>,
        node: NodeId,
        nominated: &[(PodId, &Compiled)],
    ) {
        let refusal = Trial::new(filters, node).refuses(nominated);
        self.set(judged, node, refusal);
    }
}
