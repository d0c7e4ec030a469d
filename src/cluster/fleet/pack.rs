//! Whether everything would fit in another order, or packed otherwise.

use super::place::{Manner, Placed};
use super::{Fleet, Replica, Workload};
use crate::cluster::Machine;
use crate::cluster::schedule::{Alike, NodeId, PodTemplate, Preference, Scheduler, TemplateId};
use ecow::EcoString;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// A way in which everything has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Devices are filled up node by node.
    pub packed: bool,
    /// Replicas that request much are started first.
    pub largest_first: bool,
    /// Pods that run have to move.
    pub moves: bool,
    /// Only a search over all placements found it; no order of pods is known that leads the
    /// scheduler to it.
    pub searched: bool,
}

/// Whether a fleet fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The scheduler places every pod.
    Fits,
    /// The scheduler leaves pods pending, and this placement has all of them.
    IfPacked(Packing),
    /// Pods have no node.
    DoesNotFit {
        /// No placement of all pods exists; otherwise none was found.
        proven: bool,
    },
}

/// Small enough that all placements are looked at.
const SEARCHED_NODES: usize = 8;
const SEARCHED_PODS: usize = 16;
/// With more pods only one other way is tried.
const MOST_TRIED_OFTEN: usize = 5000;
/// Most partial placements that are looked at.
const MOST_STEPS: usize = 20_000;

/// How a search ended.
enum Searched {
    Found,
    Nothing,
    GivenUp,
}

impl Fleet {
    /// Whether everything has a place; `placed` is where the scheduler puts it.
    pub fn verdict(&self, placed: &Placed) -> Verdict {
        if placed.pending().next().is_none() {
            return Verdict::Fits;
        }
        if self.exceeds() || self.is_hopeless(placed) {
            return Verdict::DoesNotFit { proven: true };
        }
        let many = placed.all().count() > MOST_TRIED_OFTEN;
        let runs = self.workloads.iter().any(|workload| !workload.running.is_empty());
        for moves in [false, true] {
            if moves && (self.stays || !runs) {
                break;
            }
            for (preference, largest_first) in [
                (Preference::Tightest, false),
                (Preference::Scores, true),
                (Preference::Tightest, true),
            ] {
                if many && !(preference == Preference::Tightest && largest_first) {
                    continue;
                }
                let manner = Manner { preference, largest_first, moves, reversed: false };
                if self.place(manner).pending().next().is_none() {
                    return Verdict::IfPacked(Packing {
                        packed: preference == Preference::Tightest,
                        largest_first,
                        moves,
                        searched: false,
                    });
                }
            }
        }
        match self.search() {
            Searched::Found => Verdict::IfPacked(Packing {
                packed: true,
                largest_first: true,
                moves: runs && !self.stays,
                searched: true,
            }),
            Searched::Nothing => Verdict::DoesNotFit { proven: true },
            Searched::GivenUp => Verdict::DoesNotFit { proven: false },
        }
    }

    /// Whether more of a resource is requested than all nodes have free.
    fn exceeds(&self) -> bool {
        let mut left: HashMap<&str, i128> = HashMap::new();
        for (name, amount) in
            self.machines.iter().flat_map(|node| node.allocatable.iter().flatten())
        {
            let units = if name == "cpu" { amount.milli() } else { amount.value().map(i128::from) };
            // An unreadable amount counts as endless: only what is certain proves that nothing
            // fits.
            *left.entry(name).or_default() += units.unwrap_or(i128::from(i64::MAX));
        }
        let mut take = |template: &PodTemplate| {
            template.requests.iter().any(|(name, amount)| match left.get_mut(name.as_str()) {
                Some(left) => {
                    *left -= i128::from(*amount);
                    *left < 0
                }
                None => true,
            })
        };
        let names: HashSet<&EcoString> = self.machines.iter().map(|node| &node.name).collect();
        for other in self.others.iter().filter(|other| names.contains(&other.node)) {
            take(&other.template);
        }
        let wanted = self.workloads.iter().flat_map(|workload| {
            let pods = workload.replicas.iter().flat_map(Replica::startable);
            pods.map(|at| &workload.templates[*at])
        });
        wanted.into_iter().any(|template| take(template))
    }

    /// No order can help: all pods are of one shape and mind no other pod, or one that waits fits
    /// on no node beside the pods of others.
    fn is_hopeless(&self, placed: &Placed) -> bool {
        let mut empty = self.beginning_of(placed);
        if self.is_of_one_shape(&mut empty) {
            return true;
        }
        let mut ids: HashSet<TemplateId> = HashSet::new();
        let pending: Vec<[usize; 3]> = placed.pending().map(|(at, _)| at).collect();
        pending.into_iter().any(|[workload, replica, at]| {
            let record: &Workload = &self.workloads[workload];
            let template = record.replicas[replica].pods[at];
            let id = empty.template(workload, template);
            // A pod that needs others may fit after they are placed, so that the empty nodes prove
            // nothing.
            !needs_others(&record.templates[template])
                && ids.insert(id)
                && empty.scheduler.fitting(id).is_empty()
        })
    }

    /// All pods that are wanted request the same, mind no other pod that is wanted, and fit on the
    /// same nodes beside the pods of others, which may keep pods of some labels away.
    fn is_of_one_shape(&self, empty: &mut Placed) -> bool {
        let wanted = self.workloads.iter().enumerate();
        let wanted =
            wanted.filter(|(_, workload)| workload.replicas.iter().any(|replica| !replica.held));
        let mut wanted = wanted
            .flat_map(|(at, workload)| (0..workload.templates.len()).map(move |place| (at, place)));
        let template = |(at, place): (usize, usize)| &*self.workloads[at].templates[place];
        let alone = |template: &PodTemplate| {
            !needs_others(template)
                && template.anti_affinity.is_empty()
                && template.ports.is_empty()
        };
        let Some(first) = wanted.next().filter(|first| alone(template(*first))) else {
            return false;
        };
        let id = empty.template(first.0, first.1);
        let mut keys = HashSet::from([empty.scheduler.alike(id)]);
        let mut nodes = None;
        wanted.all(|other| {
            let (one, template) = (template(first), template(other));
            if !alone(template)
                || one.requests != template.requests
                || one.priority != template.priority
            {
                return false;
            }
            let other = empty.template(other.0, other.1);
            // Templates of one key fit on the same nodes: the filters run once for each key.
            !keys.insert(empty.scheduler.alike(other)) || {
                let nodes = nodes.get_or_insert_with(|| empty.scheduler.fitting(id));
                *nodes == empty.scheduler.fitting(other)
            }
        })
    }

    /// Looks at all placements, the largest pods first and those that need others behind them; of
    /// nodes that are alike only the first is tried. Pods that run keep their nodes unless they may
    /// move.
    fn search(&self) -> Searched {
        if self.machines.len() > SEARCHED_NODES {
            return Searched::GivenUp;
        }
        let mut beginning = self.beginning(Manner::default());
        if self.stays {
            beginning.keep_all(self);
        }
        let wanted = beginning.all().filter(|([workload, replica, place], slot)| {
            slot.pod.is_none() && !self.workloads[*workload].replicas[*replica].holds(*place)
        });
        let mut pods: Vec<(bool, Reverse<[i64; 3]>, TemplateId)> = wanted
            .map(|([workload, replica, place], _)| {
                let record = &self.workloads[workload];
                let at = record.replicas[replica].pods[place];
                let template = &record.templates[at];
                let id = beginning.template(workload, at);
                (needs_others(template), Reverse(size(template)), id)
            })
            .collect();
        if pods.len() > SEARCHED_PODS {
            return Searched::GivenUp;
        }
        pods.sort();
        // Such a pod may fit only when another one is placed before it, and orders are not tried.
        let ordered = pods.iter().any(|(needs_others, ..)| *needs_others);
        let pods: Vec<TemplateId> = pods.into_iter().map(|(_, _, template)| template).collect();
        let mut templates = self.workloads.iter().flat_map(|workload| &workload.templates);
        let scheduler = beginning.scheduler;
        let standing = scheduler.nodes().flat_map(|(node, _)| scheduler.pods_on(node));
        let standing = standing.map(|pod| scheduler.template_id(*pod));
        let mut alike: HashMap<Alike, usize> = HashMap::new();
        let kinds = pods.iter().copied().chain(standing).map(|template| {
            let next = alike.len();
            (template, *alike.entry(scheduler.alike(template)).or_insert(next))
        });
        let kinds = kinds.collect();
        let mut search = Search {
            scheduler,
            pods: &pods,
            kinds,
            names_nodes: templates.any(|template| template.names_nodes()),
            seen: HashSet::new(),
            steps: 0,
        };
        match search.from(0) {
            Some(true) => Searched::Found,
            Some(false) if !ordered => Searched::Nothing,
            Some(false) | None => Searched::GivenUp,
        }
    }
}

/// Whether other pods can help a pod: it has affinity to some, or more of them elsewhere reduce its
/// skew.
fn needs_others(template: &PodTemplate) -> bool {
    !template.affinity.is_empty() || template.spread.iter().any(|constraint| constraint.hard)
}

fn size(template: &PodTemplate) -> [i64; 3] {
    let of = |name: &str| template.requests.get(name).copied().unwrap_or(0);
    let devices = template.requests.iter().filter(|(name, _)| name.contains('/'));
    [devices.map(|(_, amount)| *amount).sum(), of("memory"), of("cpu")]
}

struct Search<'a> {
    scheduler: Scheduler,
    pods: &'a [TemplateId],
    /// The number of each template; templates with interchangeable pods have one number.
    kinds: HashMap<TemplateId, usize>,
    /// Nodes of one kind are not alike: a pod requests one of them by name.
    names_nodes: bool,
    /// Partial placements without a solution.
    seen: HashSet<(usize, Vec<Vec<usize>>)>,
    steps: usize,
}

impl Search<'_> {
    /// Whether the pods from `next` on can be placed; `None` if the search is too long.
    fn from(&mut self, next: usize) -> Option<bool> {
        let Some(template) = self.pods.get(next).copied() else { return Some(true) };
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return None;
        }
        let state = (next, self.state());
        if self.seen.contains(&state) {
            return Some(false);
        }
        let mut tried: HashSet<(EcoString, Vec<usize>)> = HashSet::new();
        for node in self.scheduler.fitting(template) {
            let machine = self.scheduler.node(node);
            // Two nodes are alike if they are of one kind and hold the same kinds of pods.
            let alike = if self.names_nodes { machine.name.clone() } else { kind(machine) };
            if !tried.insert((alike, self.on(node))) {
                continue;
            }
            let Some(pod) = self.scheduler.add_to(template, node) else { continue };
            let found = self.from(next + 1);
            if found != Some(false) {
                return found;
            }
            self.scheduler.finish(pod);
        }
        self.seen.insert(state);
        Some(false)
    }

    fn on(&self, node: NodeId) -> Vec<usize> {
        let pods = self.scheduler.pods_on(node).iter();
        let mut on: Vec<usize> =
            pods.map(|pod| self.kinds[&self.scheduler.template_id(*pod)]).collect();
        on.sort_unstable();
        on
    }

    fn state(&self) -> Vec<Vec<usize>> {
        self.scheduler.nodes().map(|(node, _)| self.on(node)).collect()
    }
}

/// The identity of a kind of nodes: everything except the name.
pub fn kind(machine: &Machine) -> EcoString {
    use std::fmt::Write as _;
    let mut text = EcoString::new();
    for entry in machine.labels.iter().filter(|entry| entry.key != "kubernetes.io/hostname") {
        let value = entry.node.as_str().unwrap_or_default();
        let _ = write!(text, "{}={value},", entry.key);
    }
    for taint in machine.taints.iter().chain(&machine.soft_taints) {
        let _ = write!(text, "{taint},");
    }
    for (name, amount) in machine.allocatable.iter().flatten() {
        let _ = write!(text, "{name}={},", amount.canonical());
    }
    let _ = write!(text, "{}{}", machine.ready, machine.cordoned);
    text
}
