//! Scheduling pod by pod (`ScheduleOne`): filters, scores, and eviction when no node fits.

use super::choice::Preference;
use super::devices::prepare::PodDevices;
use super::ids::{NodeId, PodId};
use super::layout::FITS;
use super::nodes::Nodes;
use super::pod::PodTemplate;
use super::preempt::NO_HELP;
use super::queue::Event;
use super::reason::{NO_CLAIMS, Plugins, PostFilter, Rejection, fit_error};
use super::running::PodState;
use super::scheduler::{Eviction, Scheduler};
use ecow::{EcoString, eco_format};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Decides between nodes that are equally good.
pub trait TieBreak {
    /// Returns the index of the node for a pod, in a list of at least two names. `None` selects the
    /// first by name, or by [`Scheduler::prefer`].
    fn choose(&mut self, pod: &PodTemplate, nodes: &[&str]) -> Option<usize>;

    /// False when the list need not be made.
    fn is_asked(&self) -> bool {
        true
    }
}

/// Takes the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct First;

impl TieBreak for First {
    fn choose(&mut self, _: &PodTemplate, _: &[&str]) -> Option<usize> {
        None
    }

    fn is_asked(&self) -> bool {
        false
    }
}

/// How a try ended.
enum Try {
    Node(NodeId),
    /// No pod fits; perhaps with the node to free and the pods to evict.
    Nowhere(Arc<Rejection>, Option<(NodeId, Vec<PodId>)>),
}

/// The answer of a tie breaker; `None` if it has no answer or an invalid one.
fn break_tie(
    ties: &mut dyn TieBreak,
    pod: &PodTemplate,
    nodes: &Nodes,
    tied: &[NodeId],
) -> Option<usize> {
    if tied.len() < 2 || !ties.is_asked() {
        return None;
    }
    let names: Vec<&str> = tied.iter().map(|node| &*nodes.machine(*node).name).collect();
    ties.choose(pod, &names).filter(|choice| *choice < tied.len())
}

impl Scheduler {
    /// Tries pods until all that can be placed now have a node. Of equally good nodes the first by
    /// name is taken.
    pub fn schedule(&mut self) {
        self.schedule_with(&mut First);
    }

    /// The same, and the caller decides between equally good nodes.
    pub fn schedule_with(&mut self, ties: &mut dyn TieBreak) {
        loop {
            self.hear();
            let Some(pod) = self.next() else { return };
            match self.pods[pod.index()].gang {
                Some(gang) => {
                    let members = self.gangs[gang.index()].clone();
                    self.try_gang(&members, ties);
                }
                None => self.try_one(pod, ties),
            }
        }
    }

    fn try_one(&mut self, pod: PodId, ties: &mut dyn TieBreak) {
        match self.attempt(pod, true, ties) {
            Try::Node(node) => self.bind(pod, node),
            Try::Nowhere(rejection, freed) => {
                self.reject(pod, rejection);
                match freed {
                    Some((node, victims)) => self.evict(pod, node, &victims),
                    None => self.release_unless_leaving(pod),
                }
            }
        }
    }

    /// All pods get a node, or none does. Gangs evict no pods.
    fn try_gang(&mut self, members: &[PodId], ties: &mut dyn TieBreak) {
        let waiting: Vec<PodId> = members
            .iter()
            .copied()
            .filter(|pod| self.pods[pod.index()].state == PodState::Waiting)
            .collect();
        let mut placed = Vec::new();
        let before = self.events.len();
        for pod in &waiting {
            let bound = self.events.len();
            match self.attempt(*pod, false, ties) {
                Try::Node(node) => {
                    self.bind(*pod, node);
                    placed.push(*pod);
                }
                Try::Nowhere(rejection, _) => {
                    // What was bound never was: news of it would wake the gang itself, for ever.
                    self.events.drain(before..bound);
                    // In part is worse than not at all: the bound pods would hold devices that
                    // nothing uses.
                    for pod in placed {
                        self.unbind(pod);
                    }
                    for pod in &waiting {
                        self.pods[pod.index()].rejection = Some(Arc::clone(&rejection));
                    }
                    // One entry of the queue represents all of them.
                    self.reject(waiting[0], rejection);
                    return;
                }
            }
        }
    }

    /// A pod that could not evict releases the node that was nominated for it, unless it waits for
    /// victims to end.
    fn release_unless_leaving(&mut self, pod: PodId) {
        let pod_info = &self.pods[pod.index()];
        let waits = pod_info.nominated.is_some_and(|node| {
            let leaving = |other: &PodId| {
                let other = &self.pods[other.index()];
                other.preempted && matches!(other.state, PodState::Terminating(_))
            };
            self.nodes.pods(node).iter().any(leaving)
        });
        if !waits {
            self.release_nominated(pod);
        }
    }

    fn evict(&mut self, pod: PodId, node: NodeId, victims: &[PodId]) {
        for victim in victims {
            // A victim may have ended since the node was looked at.
            if let PodState::Bound(_) = self.pods[victim.index()].state {
                self.pods[victim.index()].preempted = true;
                self.delete(*victim);
                self.evictions.push(Eviction { victim: *victim, node, preemptor: pod });
            }
        }
        self.nominate(pod, node);
    }

    /// The message for a pod rejected before any node is filtered (`RunPreFilterPlugins`): the
    /// plugin for device claims did not run, and the message ends with that.
    fn prefilter(&self, why: &str, plugins: Plugins) -> Try {
        let message = eco_format!("0/{} nodes are available: {why}. not found", self.nodes.len());
        Try::Nowhere(Arc::new(Rejection { message, counts: BTreeMap::new(), plugins }), None)
    }

    /// The message for a pod whose claims have no devices on any node, as they name a class that does
    /// not exist or are being allocated: the last plugin before the filters refuses it.
    fn refused_claims(nodes: usize, why: &str, forbidden: Option<&'static str>) -> Try {
        let useless = || PostFilter::Useless([(NO_HELP.into(), nodes)].into());
        let post = forbidden.map_or_else(useless, PostFilter::NotEligible);
        let fit = eco_format!("0/{nodes} nodes are available: {why}.");
        let message = post.message(nodes, &fit, NO_CLAIMS);
        let (counts, plugins) = (BTreeMap::new(), Plugins::DEVICES);
        Try::Nowhere(Arc::new(Rejection { message, counts, plugins }), None)
    }

    /// A node for a pod: its claims get the devices that were found there.
    fn found(&mut self, node: NodeId, claims: Option<Rc<RefCell<PodDevices>>>) -> Try {
        if let Some(claims) = claims {
            self.devices.commit(&claims.borrow(), node);
        }
        Try::Node(node)
    }

    fn attempt(&mut self, pod: PodId, may_evict: bool, ties: &mut dyn TieBreak) -> Try {
        if self.nodes.len() == 0 {
            let message = EcoString::from("no nodes available to schedule pods");
            let rejection =
                Rejection { message, counts: BTreeMap::new(), plugins: Plugins::default() };
            return Try::Nowhere(Arc::new(rejection), None);
        }
        let spec = Arc::clone(&self.compiled(pod).pod);
        // One look at the index of priorities spares the whole search for victims.
        let any_lower = may_evict && self.priorities.range(..spec.priority).next().is_some();
        let kept = self.pods[pod.index()].nominated;
        let template = self.pods[pod.index()].template;
        let preference = self.preference;
        let looked = self.parts().look(template, Some(pod));
        // Refusals before the filters come first, in the order of the plugins upstream.
        if looked.judged.selection.contradicts {
            return self.prefilter("pod affinity terms conflict", Plugins::NODE_AFFINITY);
        }
        let (volumes, devices) = looked.refused();
        if let Some((why, plugins)) = volumes {
            return self.prefilter(&why, plugins);
        }
        if let Some(why) = devices {
            let forbidden = looked.preemption(any_lower).forbidden(pod);
            return Self::refused_claims(looked.nodes.len(), &why, forbidden);
        }
        if let Some(error) = looked.error() {
            let message = eco_format!("running \"DynamicResources\" filter plugin: {error}");
            let (counts, plugins) = (BTreeMap::new(), Plugins::default());
            return Try::Nowhere(Arc::new(Rejection { message, counts, plugins }), None);
        }
        let claims = looked.claims().map(Rc::clone);
        // The node that victims were evicted from is taken without scoring the others.
        if let Some(node) = kept.filter(|node| looked.view.codes[node.index()] == FITS) {
            return self.found(node, claims);
        }
        if preference == Preference::Tightest
            && let Some(node) = looked.tightest()
        {
            return self.found(node, claims);
        }
        if looked.view.feasible() > 0 {
            let scores = looked.scores();
            if let Some(best) = scores.best(looked.nodes.rank()) {
                let mut node = best.node;
                if best.tied > 1 && ties.is_asked() {
                    let tied = scores.of_score(best.score);
                    if let Some(choice) = break_tie(ties, &spec, looked.nodes, &tied) {
                        node = tied[choice];
                    }
                }
                // Counted even without a tie breaker: the caller asks later whether another choice
                // exists.
                self.ties += usize::from(best.tied > 1);
                return self.found(node, claims);
            }
        }
        let preemption = looked.preemption(any_lower);
        let mut tied = false;
        let (post, freed) = match preemption.forbidden(pod) {
            Some(why) => (PostFilter::NotEligible(why), None),
            None => match preemption.choose(pod, looked.nodes.rank()) {
                Ok(mut best) => {
                    tied = best.len() > 1;
                    let nodes: Vec<NodeId> = best.iter().map(|one| one.node).collect();
                    let choice = break_tie(ties, &spec, looked.nodes, &nodes).unwrap_or(0);
                    let best = best.swap_remove(choice);
                    (PostFilter::Helped, Some((best.node, best.victims)))
                }
                Err(useless) => (useless, None),
            },
        };
        let class = looked.compiled.class;
        let (says, unused) =
            looked.filters.devices.as_ref().map_or((NO_CLAIMS, None), |(devices, pod_devices)| {
                pod_devices.borrow().post_filter(devices)
            });
        let (reasons, plugins) = looked.reasons();
        self.ties += usize::from(tied);
        let nodes = self.nodes.len();
        // Thousands of equal pods are rejected alike; the message is composed once.
        if claims.is_none()
            && let Some((of, last_post, rejection)) = self.last_rejections.get(&class)
            && (*of, last_post, &rejection.counts) == (nodes, &post, &reasons)
        {
            return Try::Nowhere(Arc::clone(rejection), freed);
        }
        let message = post.message(nodes, &fit_error(nodes, &reasons), says);
        let rejection = Arc::new(Rejection { message, counts: reasons, plugins });
        if claims.is_none() {
            self.last_rejections.insert(class, (nodes, post, Arc::clone(&rejection)));
        }
        // The plugin's PostFilter gives back a claim that is allocated and not reserved, so that
        // other devices can be tried.
        if let Some(claim) = unused {
            self.devices.take_back(claim);
            // The pod itself is the one that waits for it.
            self.events.push(Event::DevicesFreed);
        }
        Try::Nowhere(rejection, freed)
    }
}
