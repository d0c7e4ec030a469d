//! What is left when nodes are lost: the pods that ran on them are wanted again, and everything else
//! stays where it runs.
//!
//! In: a catalog, and the nodes of each loss. Out: of one loss the counts beside its placement; of
//! many, each with the pods that have no node then.

use super::not_judged::NotJudged;
use super::plain_queue::GROUP_NAME;
use super::settled::{Ground, Size, Workloads};
use super::{At, claims};
use crate::api::AcceleratorClass;
use crate::catalog::Catalog;
use crate::cluster as machines;
use crate::cluster::Machine;
use crate::cluster::fleet::{Fleet, Placed, Slots, Standing, Workload, kind};
use crate::cluster::schedule::{NodeId, PodId, PodTemplate};
use crate::operators::kueue::pods::is_held;
use crate::pipeline::built::gpus;
use crate::pipeline::queues::Queues;
use crate::pipeline::running::{OwnerName, RunningPod};
use crate::rollout::World;
use ecow::{EcoString, eco_format};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The label of the zone of a node, and the one that it replaced.
const ZONES: [&str; 2] = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];

/// Nodes that are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// A node by its name.
    Node(EcoString),
    /// The nodes of a zone.
    Zone(EcoString),
    /// The nodes of an accelerator class.
    Class(EcoString),
    /// The nodes with a label.
    Label(EcoString, EcoString),
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Node(name) => write!(f, "node={name}"),
            Self::Zone(name) => write!(f, "zone={name}"),
            Self::Class(name) => write!(f, "class={name}"),
            Self::Label(key, value) => write!(f, "{key}={value}"),
        }
    }
}

/// What is lost one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// A node.
    Node,
    /// A zone.
    Zone,
    /// An accelerator class.
    Class,
}

impl Each {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Node, Self::Zone, Self::Class];

    /// The word for one of them.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Zone => "zone",
            Self::Class => "class",
        }
    }
}

fn zone(machine: &Machine) -> Option<EcoString> {
    ZONES.iter().find_map(|key| machine.label(key)).map(Into::into)
}

impl Lost {
    /// The nodes that are lost, of those that report their resources.
    pub fn nodes(&self, catalog: &Catalog) -> BTreeSet<EcoString> {
        let class = |name: &EcoString| -> Option<&AcceleratorClass> {
            catalog.classes().find(|class| class.name() == name)
        };
        let is_lost = |machine: &&Machine| match self {
            Self::Node(name) => machine.name == *name,
            Self::Zone(name) => zone(machine).as_ref() == Some(name),
            Self::Class(name) => {
                class(name).is_some_and(|class| machines::class_matches(class, machine))
            }
            Self::Label(key, value) => machine.label(key) == Some(value.as_str()),
        };
        let all = catalog.machines().iter().filter(|machine| machine.allocatable.is_some());
        all.filter(is_lost).map(|machine| machine.name.clone()).collect()
    }
}

impl Each {
    /// All losses of a kind, by name.
    pub fn losses(self, catalog: &Catalog) -> Vec<Lost> {
        let all = || catalog.machines().iter().filter(|machine| machine.allocatable.is_some());
        match self {
            Self::Node => {
                let names: BTreeSet<&EcoString> = all().map(|machine| &machine.name).collect();
                names.into_iter().cloned().map(Lost::Node).collect()
            }
            Self::Zone => {
                let names: BTreeSet<EcoString> = all().filter_map(zone).collect();
                names.into_iter().map(Lost::Zone).collect()
            }
            Self::Class => {
                let has_nodes = |class: &&AcceleratorClass| {
                    all().any(|machine| machines::class_matches(class, machine))
                };
                let classes = catalog.classes().filter(has_nodes);
                let names: BTreeSet<EcoString> =
                    classes.map(|class| class.name().clone()).collect();
                names.into_iter().map(Lost::Class).collect()
            }
        }
    }
}

/// The counts of one loss, beside the placement of everything on the other nodes.
#[derive(Clone, Debug, Default)]
pub struct Loss {
    /// The nodes.
    pub nodes: Vec<EcoString>,
    /// Pods that ran on them and are created again.
    pub pods: usize,
    /// Pods on them that nothing creates again.
    pub gone: usize,
    /// Those of `pods` without a node.
    pub pending: usize,
    /// Devices that these request.
    pub gpus_short: i64,
    /// Their owners.
    pub services: Vec<EcoString>,
    /// Pods without a node that did not run on these nodes.
    pub new: usize,
    /// Those of `new` that have no node without the loss either.
    pub waited: usize,
}

/// A loss after which pods have no node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossRow {
    /// What is lost.
    pub without: Lost,
    /// How many nodes that are.
    pub nodes: usize,
    /// Pods that ran on them and are created again.
    pub pods: usize,
    /// Pods without a node that had one.
    pub pending: usize,
    /// Devices that these request.
    pub gpus_short: i64,
    /// Their owners.
    pub services: Vec<EcoString>,
}

/// One loss after another.
#[derive(Clone, Debug)]
pub struct Losses {
    /// What is lost each time.
    pub each: Each,
    /// How many losses there are.
    pub tried: usize,
    /// Those after which pods have no node.
    pub rows: Vec<LossRow>,
    /// Whether the state before is what runs; otherwise, it is where the input would be placed.
    pub runs: bool,
}

/// The state today: everything that runs, or where the input would be placed.
#[derive(Clone, Debug)]
pub(crate) struct Today {
    /// The workloads on their nodes.
    pub(crate) fleet: Fleet,
    /// The names of the owners, by workload.
    pub(crate) owners: Vec<EcoString>,
    /// Whether the running pods are the state.
    pub(crate) runs: bool,
    /// The workloads with their claims, but for the fleet.
    workloads: Workloads,
}

impl Today {
    /// What runs, or, when nothing does or another number of replicas is asked for, the input as it
    /// would be placed.
    pub(crate) fn of(ground: &Ground<'_>, at: At) -> Self {
        // Another number of replicas has no pods that run: it is placed first, then loses nodes.
        let runs = at == At::Min && ground.runs();
        let mut workloads = Workloads::sized(ground.catalog, ground, |_| !runs, Size::All(at));
        let fleet = std::mem::take(&mut workloads.fleet);
        let owners = workloads.claims.iter().map(|claim| claim.service.clone()).collect();
        Self { fleet, owners, runs, workloads }
    }

    /// The quota that its pods have, as they stand in a world.
    pub(in crate::pipeline) fn queues(
        &self,
        ground: &Ground<'_>,
        world: &mut World,
        slots: &[Slots],
        others: &[(PodId, usize)],
    ) -> Queues {
        let others = others.iter().map(|(pod, at)| (*pod, self.fleet.others[*at].number));
        let claims = &self.workloads.claims;
        let mut queues = Queues::of_settled(world, ground, ground.catalog, claims, slots, others);
        queues.keep_groups(world);
        // Where nothing runs, pods of the input are no part of the state.
        if self.runs {
            ground.waiting().for_each(|(_, pod)| queues.count(pod));
        }
        queues
    }

    /// What is not judged because services have no pods in the state: they are in error, or have
    /// placeholders. Where pods run, these are counted whatever their service is.
    pub(in crate::pipeline) fn uncounted(&self) -> Option<NotJudged> {
        let message = match self.workloads.uncounted.as_slice() {
            [] => return None,
            [one] => {
                eco_format!("{one} is in error or has placeholders, and its pods are not counted")
            }
            all => eco_format!(
                "{} are in error or have placeholders, and their pods are not counted",
                all.join(", ")
            ),
        };
        Some(NotJudged { what: "services".into(), message, ..NotJudged::default() })
    }

    /// The pods that wait in its queues, in their order; not those that a queue admits as a whole, which
    /// are not created before.
    pub(in crate::pipeline) fn held(
        &self,
        ground: &Ground<'_>,
    ) -> Vec<(EcoString, Arc<PodTemplate>)> {
        if !ground.catalog.has_queues() {
            return Vec::new();
        }
        if self.runs {
            let all = ground.waiting().enumerate();
            let mut all: Vec<_> = all.filter(|(_, (_, pod))| is_held(pod)).collect();
            all.sort_by_key(|(at, (pod, _))| (pod.object.created(), *at));
            let named = |(_, (pod, template)): (usize, (&RunningPod<'_>, &Arc<PodTemplate>))| {
                (pod.name().into(), Arc::clone(template))
            };
            return all.into_iter().map(named).collect();
        }
        let all = self.workloads.held.keys();
        let all = all.filter(|at| self.workloads.claims[**at].queue_of_all().is_none());
        let pods = |at: &usize| {
            let owner = self.owners[*at].clone();
            let pods = held_pods(&owner, &self.fleet.workloads[*at]);
            pods.into_iter().map(move |pod| (owner.clone(), pod))
        };
        all.flat_map(pods).collect()
    }

    /// The owners of the pods that are not created before a queue admits all of them, for each pod.
    pub(in crate::pipeline) fn held_whole(&self) -> Vec<EcoString> {
        let all = self.workloads.held.keys();
        let all = all.filter(|at| self.workloads.claims[**at].queue_of_all().is_some());
        let owners = |at: &usize| {
            let owner = &self.owners[*at];
            let pods = held_pods(owner, &self.fleet.workloads[*at]).len();
            std::iter::repeat_n(owner.clone(), pods)
        };
        all.flat_map(owners).collect()
    }

    /// Whether the pods of a workload go with their nodes.
    pub(crate) fn is_of_node(&self, workload: usize) -> bool {
        is_of_node(&self.owners[workload])
    }

    /// Whether nothing creates the pods of a workload again.
    pub(crate) fn is_lone(&self, workload: usize) -> bool {
        is_lone(&self.owners[workload])
    }

    /// Whether a workload is of a service that is counted without the presets of the cluster.
    pub(in crate::pipeline) fn is_without_presets(&self, owner: &EcoString) -> bool {
        self.workloads.without_presets.contains(owner)
    }

    /// Whether no pod of a workload is wanted again when it loses its node.
    fn is_lost(&self, workload: usize) -> bool {
        self.is_of_node(workload) || self.is_lone(workload)
    }
}

/// The pods of a workload that queues hold. Those that start together are one group for Kueue too.
pub(crate) fn held_pods(owner: &str, workload: &Workload) -> Vec<Arc<PodTemplate>> {
    let replicas = workload.replicas.iter().enumerate();
    let held = replicas.flat_map(|(at, replica)| {
        let places = (0..replica.pods.len()).filter(|place| replica.holds(*place));
        places.map(move |place| {
            let pod = &workload.templates[workload.wanted(replica.pods[place])];
            if replica.together < 2 {
                return Arc::clone(pod);
            }
            let group = (EcoString::from(GROUP_NAME), eco_format!("{owner}-{at}"));
            let labels = pod.labels.iter().map(|(key, value)| (key.clone(), value.clone()));
            let labels = labels.chain([group]).collect();
            Arc::new(PodTemplate { labels, ..PodTemplate::clone(pod) })
        })
    });
    held.collect()
}

/// Whether the pods of an owner go with their nodes.
pub(super) fn is_of_node(owner: &str) -> bool {
    OwnerName::of(owner).is("DaemonSet")
}

/// Whether nothing creates the pods of an owner again: a Pod of the input is its own owner.
pub(super) fn is_lone(owner: &str) -> bool {
    OwnerName::of(owner).is("Pod")
}

/// Loses nodes one loss after the other, each from the state today. `None` if no node reports its
/// resources.
pub fn losses(catalog: &Catalog, at: At, each: Each) -> Option<Losses> {
    if !super::has_room(catalog) {
        return None;
    }
    let ground = Ground::new(catalog);
    let today = Today::of(&ground, at);
    let standing = today.fleet.standing(!today.runs);
    let wanted = each.losses(catalog);
    let scheduler = &standing.placed().scheduler;
    let nodes: Vec<Vec<NodeId>> = wanted
        .iter()
        .map(|lost| {
            let names = match lost {
                Lost::Node(name) => BTreeSet::from([name.clone()]),
                other => other.nodes(catalog),
            };
            names.iter().filter_map(|name| scheduler.node_id(name)).collect()
        })
        .collect();
    // Equal nodes with equal pods are lost once.
    let mut first: HashMap<Vec<NodeKey>, usize> = HashMap::new();
    let like: Vec<usize> = nodes
        .iter()
        .enumerate()
        .map(|(at, nodes)| *first.entry(key(&today, &standing, nodes)).or_insert(at))
        .collect();
    let mut all: Vec<usize> = first.into_values().collect();
    all.sort_unstable();
    // A state is not shared between threads: each has its own.
    let part = all.len().div_ceil(rayon::current_num_threads()).max(1);
    let parts: Vec<(Today, Standing, &[usize])> =
        all.chunks(part).map(|part| (today.clone(), standing.clone(), part)).collect();
    let played: HashMap<usize, Option<LossRow>> = parts
        .into_par_iter()
        .flat_map_iter(|(today, standing, part)| {
            let one = |at: &usize| (*at, row(&today, &standing, wanted[*at].clone(), &nodes[*at]));
            part.iter().map(one).collect::<Vec<_>>()
        })
        .collect();
    let rows = wanted.iter().zip(&like).filter_map(|(lost, at)| {
        let row = played.get(at)?.clone()?;
        Some(LossRow { without: lost.clone(), ..row })
    });
    Some(Losses { each, tried: wanted.len(), rows: rows.collect(), runs: today.runs })
}

/// A node as far as it matters to a loss: what it is, and workload and template of its pods.
type NodeKey = (EcoString, Vec<(usize, usize)>);

fn key(today: &Today, standing: &Standing, nodes: &[NodeId]) -> Vec<NodeKey> {
    let mut key: Vec<NodeKey> = nodes
        .iter()
        .map(|node| {
            let mut pods: Vec<(usize, usize)> = standing
                .wanted_on(*node)
                .filter(|[workload, ..]| !today.is_lost(*workload))
                .map(|[workload, replica, at]| {
                    (workload, today.fleet.workloads[workload].replicas[replica].pods[at])
                })
                .collect();
            pods.sort_unstable();
            let machine = standing.placed().scheduler.node(*node);
            // A node without such pods leaves nothing behind, whatever it is.
            let text = if pods.is_empty() { EcoString::new() } else { kind(machine) };
            (text, pods)
        })
        .collect();
    key.sort();
    key
}

fn row(today: &Today, standing: &Standing, without: Lost, nodes: &[NodeId]) -> Option<LossRow> {
    let lost = standing.lose(&today.fleet, nodes, |workload| today.is_lost(workload));
    if lost.pending.is_empty() {
        return None;
    }
    let services: BTreeSet<&EcoString> =
        lost.pending.iter().map(|[workload, ..]| &today.owners[*workload]).collect();
    Some(LossRow {
        without,
        nodes: nodes.len(),
        pods: lost.pods,
        pending: lost.pending.len(),
        gpus_short: devices(&today.fleet, &lost.pending),
        services: services.into_iter().cloned().collect(),
    })
}

/// Devices that pods request.
fn devices(fleet: &Fleet, pods: &[[usize; 3]]) -> i64 {
    let template = |[workload, replica, at]: &[usize; 3]| {
        let workload = &fleet.workloads[*workload];
        &workload.templates[workload.replicas[*replica].pods[*at]]
    };
    pods.iter().map(|pod| gpus(template(pod))).sum()
}

/// The counts of a loss. `before` are the workloads with the pods that ran on the lost nodes.
pub(super) fn counts(
    fleet: &Fleet,
    before: &HashMap<usize, usize>,
    placed: &Placed,
    claims: &[claims::Claim],
    lost: &BTreeSet<EcoString>,
    gone: usize,
) -> Loss {
    // Which of equal pods waited before is not known: as many of a workload as waited are taken
    // off.
    let mut left = before.clone();
    let mut waited_before = |workload: &usize| {
        let left = left.get_mut(workload).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    };
    let mut again: HashSet<(usize, usize)> = placed.lost.iter().copied().collect();
    // A pod that those of the lost nodes evict loses its node with them.
    let displaced = placed.displaced.iter().filter(|displaced| !again.contains(displaced)).copied();
    let displaced: Vec<(usize, usize)> = displaced.collect();
    again.extend(displaced.into_iter().filter(|(workload, _)| !waited_before(workload)));
    let pending: Vec<[usize; 3]> = placed.pending().map(|(at, _)| at).collect();
    let refused = placed.refused.keys().copied();
    let (ran, new): (Vec<[usize; 3]>, Vec<[usize; 3]>) = pending
        .into_iter()
        .chain(refused)
        .partition(|[workload, replica, _]| again.contains(&(*workload, *replica)));
    let running = fleet.workloads.iter().flat_map(|workload| &workload.running);
    let services: BTreeSet<&EcoString> =
        ran.iter().map(|[workload, ..]| &claims[*workload].service).collect();
    // Counted again from the start: the loop above used up its copy.
    let mut left = before.clone();
    let waited = new.iter().filter(|[workload, ..]| {
        let left = left.get_mut(workload).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    });
    let waited = waited.count();
    Loss {
        nodes: lost.iter().cloned().collect(),
        pods: running.filter(|running| lost.contains(&running.node)).count(),
        gone,
        pending: ran.len(),
        gpus_short: devices(fleet, &ran),
        services: services.into_iter().cloned().collect(),
        new: new.len(),
        waited,
    }
}

/// How many pods of each workload have no node.
pub(super) fn without_node(placed: &Placed) -> HashMap<usize, usize> {
    let mut all = HashMap::new();
    for [workload, ..] in placed.without_node() {
        *all.entry(workload).or_default() += 1;
    }
    all
}

#[cfg(test)]
mod tests;
