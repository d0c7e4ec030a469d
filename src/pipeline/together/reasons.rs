//! Why pods are pending: a code for each node, the scheduler's message, and the closest node.

use super::claims::Claim;
use super::{Pending, by_node, stands};
use crate::api::{AcceleratorClass, serving_names};
use crate::cluster::fleet::{Fleet, Placed, Rooms, Slot};
use crate::cluster::schedule::{
    Alike, Answer, NodeId, PodId, PodState, PodTemplate, Reason, TemplateId,
};
use crate::cluster::{BlockedNodes, Machine, NodeRejection, mismatch, short_of};
use crate::pipeline::placement::{Filtered, Look, Placement, Waiting};
use crate::quantity::{Requirement, SelectorOperator};
use ecow::{EcoString, eco_format};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// How many of the nearest nodes are named.
const NEAREST: usize = 3;

/// Verdicts of all nodes about pods of one template.
#[derive(Debug)]
struct TemplateVerdicts {
    blocked: Arc<BlockedNodes>,
    look: Look,
    /// The nearest node, if it lacks only capacity.
    nearest: Option<NodeId>,
    /// A requested resource or label that no node has.
    missing: Option<EcoString>,
    /// Reasons of pending pods, by the scheduler's message.
    waiting: HashMap<EcoString, Arc<Waiting>>,
}

/// Determines why pods of a placed fleet are pending.
pub(super) struct Reasons {
    placed: Placed,
    /// Verdicts by template: equal pods have equal verdicts.
    by_template: HashMap<Alike, TemplateVerdicts>,
}

impl Reasons {
    pub(super) fn new(placed: Placed) -> Self {
        Self { placed, by_template: HashMap::new() }
    }

    /// Where the pods of a claim are placed; adds its pending replicas to `list`.
    pub(super) fn of(
        &mut self,
        at: usize,
        claim: &Claim,
        fleet: &Fleet,
        held: Option<&EcoString>,
        list: &mut Vec<Pending>,
    ) -> Placement {
        let mut placement = Placement::default();
        let mut pending = |replica: usize, pods: usize, why: &Waiting| {
            let component = claim.component.map_or_else(
                || {
                    let name = claim.service.split_once('/').map_or("", |(_, name)| name);
                    serving_names::group(name, i64::try_from(replica).unwrap_or(i64::MAX))
                },
                EcoString::from,
            );
            let (service, message) = (claim.service.clone(), why.message.clone());
            let (code, short) = (why.code, why.shortage());
            let workload = &fleet.workloads[at];
            let runs = workload.runs_on
                && workload.running.iter().any(|running| running.replica == Some(replica));
            list.push(Pending {
                service,
                component,
                replica,
                pods,
                code,
                message,
                short,
                ran: runs,
            });
        };
        if let Some(refused) = &claim.refused {
            let waiting = Waiting::without_nodes(refused.code, refused.message.clone());
            pending(0, refused.pods, &waiting);
            placement.wanted = refused.pods;
            placement.waiting = Some(Arc::new(waiting));
            return placement;
        }
        // Cloned: the loop below computes verdicts, which borrows all of `self`.
        let slots = self.placed.slots[at].clone();
        placement.wanted = slots.iter().map(Vec::len).sum();
        let nodes: Vec<_> = slots
            .iter()
            .flatten()
            .filter(|slot| slot.pod.is_some_and(|pod| stands(&self.placed, pod)))
            .filter_map(|slot| Some((self.placed.node(*slot)?, slot.kept)))
            .collect();
        placement.placed = nodes.len();
        placement.running = nodes.iter().filter(|(_, kept)| *kept).count();
        placement.nodes = by_node(&self.placed, nodes.into_iter().map(|(node, _)| node));
        // One line for each replica: its first pod without a node speaks for it.
        for (replica, slots) in slots.iter().enumerate() {
            let record = &fleet.workloads[at].replicas[replica];
            let stays = |slot: &&Slot| slot.pod.is_some_and(|pod| stands(&self.placed, pod));
            let pods = slots.len() - slots.iter().filter(stays).count();
            if record.held {
                let message = held.cloned().unwrap_or_default();
                let waiting = Waiting::without_nodes("quota", message);
                pending(replica, pods, &waiting);
                placement.waiting.get_or_insert_with(|| Arc::new(waiting));
                continue;
            }
            let waits = |pod: &PodId| !stands(&self.placed, *pod);
            let first = slots
                .iter()
                .enumerate()
                .find_map(|(at, slot)| slot.pod.filter(waits).map(|pod| (record.pods[at], pod)));
            if let Some((template, pod)) = first {
                let waiting = self.waiting(&fleet.workloads[at].templates[template], pod);
                pending(replica, pods, &waiting);
                placement.waiting.get_or_insert(waiting);
                continue;
            }
            if !record.held_pods.is_empty() {
                let waiting = Waiting::without_nodes("quota", held.cloned().unwrap_or_default());
                pending(replica, pods, &waiting);
                placement.waiting.get_or_insert_with(|| Arc::new(waiting));
                continue;
            }
            let refused =
                (0..slots.len()).find_map(|pod| self.placed.refused.get(&[at, replica, pod]));
            if let Some(message) = refused {
                let waiting = Waiting::without_nodes("refused", message.clone());
                pending(replica, pods, &waiting);
                placement.waiting.get_or_insert_with(|| Arc::new(waiting));
            }
        }
        placement
    }

    /// How many replicas of a claim fit, and whether it fits without the others.
    pub(super) fn room(
        &mut self,
        at: usize,
        fleet: &Fleet,
        rooms: &mut Rooms,
        placement: &mut Placement,
    ) {
        let bound = |slot: &Slot| slot.pod.is_some_and(|pod| stands(&self.placed, pod));
        let whole = self.placed.slots[at].iter().filter(|slots| slots.iter().all(bound)).count();
        // A workload without pending pods fits beside the others, hence alone as well.
        if placement.pending() == 0 {
            placement.more = rooms.more(&mut self.placed, fleet, at);
            placement.alone = Some(true);
        } else {
            placement.alone = rooms.alone(fleet, at);
        }
        placement.replicas = whole + placement.more;
    }

    /// For a ModelServing: whether each group has nodes for the pods that it needs to start, or for
    /// all its pods if it has no gang.
    pub(super) fn groups(&self, at: usize, fleet: &Fleet) -> Vec<bool> {
        let replicas = fleet.workloads[at].replicas.iter().zip(self.placed.slots[at].iter());
        replicas
            .map(|(replica, slots)| {
                let needed = if replica.together > 0 { replica.together } else { slots.len() };
                let has_node = |slot: &Slot| slot.pod.is_some_and(|pod| stands(&self.placed, pod));
                slots.iter().take(needed).all(has_node)
            })
            .collect()
    }

    /// What the pods of a claim request, by the class of their nodes; for pending pods by the class
    /// of the nearest node that lacks only capacity.
    pub(super) fn by_class<'c>(
        &mut self,
        at: usize,
        fleet: &Fleet,
        mut class_of: impl FnMut(NodeId, &Machine) -> Option<&'c AcceleratorClass>,
    ) -> Vec<(&'c AcceleratorClass, i64)> {
        let workload = &fleet.workloads[at];
        let mut found: BTreeMap<&'c EcoString, (&'c AcceleratorClass, i64)> = BTreeMap::new();
        for (replica, wanted) in workload.replicas.iter().enumerate() {
            for (place, template) in wanted.pods.iter().enumerate() {
                let Some(pod) = self.placed.slots[at][replica][place].pod else { continue };
                let template = &workload.templates[*template];
                let node = match self.placed.scheduler.state(pod) {
                    PodState::Bound(node) => Some(node),
                    _ => self.of_pod(template, pod).nearest,
                };
                let machine = |node| (node, self.placed.scheduler.node(node));
                let class = node.map(machine).and_then(|(node, shape)| class_of(node, shape));
                let Some(class) = class else { continue };
                let resource = class.whole_resources().next();
                let devices =
                    resource.and_then(|resource| template.requests.get(&resource.name.value));
                if let Some(devices) = devices {
                    found.entry(class.name()).or_insert((class, 0)).1 += devices;
                }
            }
        }
        found.into_values().collect()
    }

    /// Verdicts of the nodes about one more of the main pods of a claim; `None` when it has no
    /// pods.
    pub(super) fn look(&mut self, at: usize, fleet: &Fleet) -> Option<Look> {
        let workload = &fleet.workloads[at];
        let waits = |slot: &Slot| slot.pod.is_some_and(|pod| !stands(&self.placed, pod));
        let slots = self.placed.slots[at].iter().zip(&workload.replicas);
        let mut slots = slots.flat_map(|(slots, replica)| slots.iter().zip(&replica.pods));
        // A pod that waits first: the reader asks why it does, not about those that run.
        let waiting = slots.find(|(slot, _)| waits(slot)).map(|(_, template)| *template);
        let first = workload.replicas.first().and_then(|replica| replica.pods.first()).copied();
        let template = waiting.or(first)?;
        let id = self.placed.template(at, template);
        Some(self.verdicts(&workload.templates[template], id).look.clone())
    }

    /// Verdicts of all nodes.
    fn ask(&mut self, template: &PodTemplate, id: TemplateId) -> TemplateVerdicts {
        let answers = self.placed.scheduler.examine(id);
        let scheduler = &self.placed.scheduler;
        let mut refused: Vec<(&Answer, NodeRejection)> = answers
            .iter()
            .filter(|answer| answer.score.is_none())
            .map(|answer| (answer, rejection(answer, template, scheduler.node(answer.node))))
            .collect();
        let mut by_filter = [0; Reason::FILTERS.len()];
        // A node counts at the filter that refused it first, as in the chain of the scheduler.
        for (answer, _) in &refused {
            if let Some(reason) = answer.reasons.first() {
                by_filter[reason.filter()] += 1;
            }
        }
        let mut left = answers.len();
        let filters = Reason::FILTERS.into_iter().zip(by_filter).map(|(filter, refused)| {
            let before = left;
            left -= refused;
            Filtered { filter, r#in: before, out: left }
        });
        let filters: Vec<Filtered> = filters.collect();
        let blocked = Arc::new(BlockedNodes::new(refused.iter().map(|(_, one)| one.clone())));
        // A node that the pod does not select is refused for its taint already, which says nothing
        // about those that it selects; and a node that more filters pass is nearer. The sort is
        // stable: equally near nodes keep their order.
        refused.sort_by_key(|(answer, _)| {
            let (is_other, is_free, has_none, reason, share) = distance(answer);
            let is_foreign = !template.selects(scheduler.node(answer.node));
            let passed = answer.reasons.first().map_or(usize::MAX, Reason::filter);
            (is_other, is_free, is_foreign, has_none, reason, Reverse(passed), share)
        });
        let first = refused.iter().find(|(answer, _)| could_hold(answer));
        let first = first.map(|(answer, _)| answer.node);
        let nearest = refused.into_iter().take(NEAREST).map(|(_, rejection)| rejection);
        let look = Look { filters, nearest: nearest.collect() };
        let nodes = || answers.iter().map(|answer| &**self.placed.scheduler.node(answer.node));
        let missing = missing(&answers).or_else(|| missing_label(template, nodes));
        TemplateVerdicts { blocked, look, nearest: first, missing, waiting: HashMap::new() }
    }

    /// Verdicts of all nodes about a pending pod.
    fn of_pod(&mut self, template: &PodTemplate, pod: PodId) -> &mut TemplateVerdicts {
        let id = self.placed.scheduler.template_id(pod);
        self.verdicts(template, id)
    }

    /// Verdicts of all nodes about a pod of a template; those of equal pods are computed once.
    fn verdicts(&mut self, template: &PodTemplate, id: TemplateId) -> &mut TemplateVerdicts {
        let key = self.placed.scheduler.alike(id);
        if !self.by_template.contains_key(&key) {
            let verdicts = self.ask(template, id);
            self.by_template.insert(key.clone(), verdicts);
        }
        self.by_template.get_mut(&key).expect("it is by_template now")
    }

    fn waiting(&mut self, template: &PodTemplate, pod: PodId) -> Arc<Waiting> {
        let scheduler = &self.placed.scheduler;
        // A pod that is rejected before nodes are filtered, as one with a claim that is not there, has
        // no node that would explain it.
        let (message, of_nodes) = match scheduler.rejection(pod) {
            Some(rejection) => (rejection.message.clone(), !rejection.counts.is_empty()),
            None => (scheduler.unanswered(pod), true),
        };
        let TemplateVerdicts { blocked, look, waiting, missing, .. } = self.of_pod(template, pod);
        // Thousands of pods wait with one message, and share one reason.
        if let Some(waiting) = waiting.get(&message) {
            return Arc::clone(waiting);
        }
        let example = look.nearest.first().cloned().filter(|_| of_nodes);
        // Without a node there is no reason.
        let code = example.as_ref().map_or("none", |example| example.code);
        let (missing, blocked) = (missing.clone(), Arc::clone(blocked));
        let key = message.clone();
        let created = Waiting { code, message, example, missing, blocked };
        Arc::clone(waiting.entry(key).or_insert(Arc::new(created)))
    }
}

impl Waiting {
    /// A reason for which no nodes were compared.
    fn without_nodes(code: &'static str, message: EcoString) -> Self {
        Self { code, message, example: None, missing: None, blocked: Arc::default() }
    }
}

/// How close a node is to accepting a pod: nodes that are not the one the pod is for, as each pod of a
/// DaemonSet has one, come last, before them nodes without a requested resource, and nodes that lack
/// only capacity first, ordered by the share that they lack. A claim of ReadWriteOncePod that is in use
/// refuses every node: those where nothing else is against the pod say what has to change.
fn distance(answer: &Answer) -> (bool, bool, bool, bool, i64) {
    let room = |reason: &Reason| matches!(reason, Reason::Insufficient(_) | Reason::TooManyPods);
    let lacks = answer.lacks.iter();
    let share = lacks.map(|lack| {
        let missing = lack.requested.saturating_sub(lack.left.max(0));
        missing.saturating_mul(1000) / lack.requested.max(1)
    });
    let share = share.max().unwrap_or(0);
    let has_none = answer.lacks.iter().any(|lack| lack.allocatable == 0);
    let is_other = answer.reasons.contains(&Reason::OtherNodes);
    // The filter of resources is before the one of volumes, so that the node has room.
    let in_use = answer.reasons.contains(&Reason::ReadWriteOncePod);
    (is_other, !in_use, has_none, !answer.reasons.iter().all(room), share)
}

/// Whether a node lacks only resources that others use: empty, it would hold the pod.
fn could_hold(answer: &Answer) -> bool {
    let (is_other, _, has_none, other_reason, _) = distance(answer);
    !is_other
        && !has_none
        && !other_reason
        && answer.lacks.iter().all(|lack| lack.requested <= lack.allocatable)
}

/// A requested resource of which no node has any.
fn missing(answers: &[Answer]) -> Option<EcoString> {
    let (first, others) = answers.split_first()?;
    let absent = |answer: &Answer, resource: &EcoString| {
        answer.lacks.iter().any(|lack| lack.resource == *resource && lack.allocatable == 0)
    };
    let mut lacks = first.lacks.iter().filter(|lack| lack.allocatable == 0);
    let none = lacks.find(|lack| others.iter().all(|other| absent(other, &lack.resource)));
    none.map(|lack| lack.resource.clone())
}

/// A label of the node selector, or of every term of the required node affinity, that no node has.
/// The nearest node may have another reason, which would not help.
fn missing_label<'m, I: Iterator<Item = &'m Machine>>(
    template: &PodTemplate,
    nodes: impl Fn() -> I,
) -> Option<EcoString> {
    // `DoesNotExist` and `NotIn` match a node without the label, so that no label is missing.
    let absent = |wanted: &&Requirement| {
        !wanted.matches(None) && !nodes().any(|node| wanted.matches(node.label(wanted.key())))
    };
    if let Some(wanted) = template.node_selector.requirements().iter().find(absent) {
        return Some(eco_format!("the label {}", wanted_label(wanted)));
    }
    // One term is enough for a node, so that a label is missing only if each term lacks one.
    let terms = template.node_terms.as_deref().filter(|terms| !terms.is_empty())?;
    let absent = terms.iter().map(|term| term.labels.requirements().iter().find(absent));
    let mut labels: Vec<EcoString> =
        absent.map(|requirement| requirement.map(wanted_label)).collect::<Option<_>>()?;
    labels.dedup();
    Some(eco_format!("the label {}, as the node affinity requires", labels.join(" or ")))
}

/// A condition that a label has to meet.
fn wanted_label(wanted: &Requirement) -> EcoString {
    match (wanted.operator(), wanted.values()) {
        (SelectorOperator::In, [value]) => eco_format!("{}={value}", wanted.key()),
        (SelectorOperator::In, values) => eco_format!("{}={}", wanted.key(), values.join(" or ")),
        _ => eco_format!("{wanted}"),
    }
}

/// Why a node rejects a pod: a code, and a detail with both values.
fn rejection(answer: &Answer, template: &PodTemplate, machine: &Machine) -> NodeRejection {
    let first = answer.reasons.first();
    let (code, detail) = match first {
        Some(Reason::Unschedulable) => ("cordoned", "unschedulable".into()),
        Some(Reason::Taint) => {
            let taint = machine.taints.iter().find(|taint| !template.tolerates(taint));
            ("taint", taint.map(|taint| eco_format!("{taint}")).unwrap_or_default())
        }
        Some(Reason::NodeAffinity | Reason::OtherNodes) => selection(template, machine),
        Some(reason @ Reason::HostPort) => ("port", eco_format!("{reason}")),
        Some(
            reason @ (Reason::Disk
            | Reason::ReadWriteOncePod
            | Reason::VolumeCount
            | Reason::VolumeAffinity
            | Reason::NoVolume
            | Reason::NoSpace
            | Reason::VolumeGone
            | Reason::VolumeZone),
        ) => ("volume", eco_format!("{reason}")),
        Some(reason @ (Reason::ClaimElsewhere | Reason::NoDevices(_))) => {
            ("devices", eco_format!("{reason}"))
        }
        Some(reason @ (Reason::Spread | Reason::SpreadLabel)) => {
            ("spread", eco_format!("{reason}"))
        }
        Some(reason @ Reason::PodAffinity) => ("pod-affinity", eco_format!("{reason}")),
        Some(reason @ (Reason::PodAntiAffinity | Reason::ExistingAntiAffinity)) => {
            ("pod-anti-affinity", eco_format!("{reason}"))
        }
        Some(Reason::TooManyPods | Reason::Insufficient(_)) | None => {
            let lacks = answer.lacks.iter();
            let milli =
                |name: &str, amount: i64| i128::from(amount) * if name == "cpu" { 1 } else { 1000 };
            let short = lacks.map(|lack| {
                let name = &lack.resource;
                (name, milli(name, lack.requested), milli(name, lack.left))
            });
            // No resource is short: the limit on the number of pods is what is left.
            short_of(short).unwrap_or(("pods", "Too many pods".into()))
        }
    };
    NodeRejection { node: machine.name.clone(), code, detail }
}

fn selection(template: &PodTemplate, machine: &Machine) -> (&'static str, EcoString) {
    let wrong = template
        .node_selector
        .requirements()
        .iter()
        .find(|requirement| !requirement.matches(machine.label(requirement.key())));
    match wrong {
        Some(requirement) => {
            let required = requirement.values().join(", ");
            ("selector", mismatch(requirement.key(), &required, machine))
        }
        None => ("affinity", affinity(template, machine)),
    }
}

/// The first condition of the required node affinity that a node does not meet, of the term of which
/// it meets the most.
fn affinity(template: &PodTemplate, machine: &Machine) -> EcoString {
    let terms = template.node_terms.iter().flatten();
    let unmet = terms.map(|term| {
        let labels = term.labels.requirements().iter();
        let labels =
            labels.filter(|requirement| !requirement.matches(machine.label(requirement.key())));
        let labels = labels.map(|requirement| {
            let found = machine.label(requirement.key()).map(|label| eco_format!("{label} found"));
            let found = found.unwrap_or_else(|| "label absent".into());
            if requirement.operator() == SelectorOperator::In {
                mismatch(requirement.key(), &requirement.values().join(" or "), machine)
            } else {
                eco_format!("{requirement} required, {found}")
            }
        });
        let names = term.names.iter().filter(|(is, name)| (machine.name == *name) != *is);
        let names = names.map(|(is, name)| {
            eco_format!("the node {}{name} required", if *is { "" } else { "!=" })
        });
        labels.chain(names).collect::<Vec<EcoString>>()
    });
    // A term without unmet conditions matches; the node was refused for another reason then.
    let nearest = unmet.filter(|unmet| !unmet.is_empty()).min_by_key(Vec::len);
    let first = nearest.and_then(|unmet| unmet.into_iter().next());
    first.unwrap_or_else(|| "no required node selector term matches".into())
}
