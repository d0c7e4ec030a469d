//! The scheduler in tables of small clusters: filters, scores, evictions and retries.

mod capacity;
mod claims;
mod events;
mod evict;
mod filters;
mod gangs;
mod read;
mod scores;

use super::evaluate::Answer;
use super::ids::{NodeId, PodId, TemplateId};
use super::labels;
use super::pod::PodTemplate;
use super::reason::Reason;
use super::running::PodState;
use super::scheduler::{Options, Scheduler};
use crate::cluster::Machine;
use crate::cluster::admission::Admission;
use crate::cluster::tests::object;
use crate::operators::ome::compose::testing::node;
use std::sync::Arc;

/// A node by its labels beside the hostname, its spec and its status, each the inside of a mapping.
fn machine(name: &str, labels: &str, spec: &str, status: &str) -> Arc<Machine> {
    let tree = format!(
        "{{metadata: {{labels: {{kubernetes.io/hostname: {name}, {labels}}}}}, spec: {{{spec}}}, \
         status: {{{status}}}}}"
    );
    Arc::new(Machine::of(&object("Node", name, &tree)))
}

/// Nodes that limit nothing, each with its labels.
fn labeled(nodes: &[(&str, &str)]) -> Bench {
    Bench::new(nodes.iter().map(|(name, labels)| machine(name, labels, "", "")))
}

/// Nodes with so many GPUs.
fn with_gpus(nodes: &[(&str, i64)]) -> Bench {
    Bench::new(nodes.iter().map(|(name, gpus)| {
        machine(name, "", "", &format!("allocatable: {{nvidia.com/gpu: {gpus}}}"))
    }))
}

/// A pod by its labels and spec, each the inside of a mapping.
fn template(labels: &str, spec: &str) -> PodTemplate {
    in_namespace("ml", labels, spec)
}

fn in_namespace(namespace: &str, text: &str, spec: &str) -> PodTemplate {
    let labels = labels(Some(&node(&format!("{{{text}}}"))));
    let spec = node(&format!("{{{spec}}}"));
    PodTemplate::read(namespace, labels, &spec, &Admission::partial())
        .unwrap_or_else(|error| panic!("{error:?}"))
}

/// The containers of a pod that requests some resources.
fn asks(requests: &str) -> String {
    format!("containers: [{{resources: {{requests: {{{requests}}}}}}}]")
}

/// A pod that requests GPUs, with a priority.
fn gpus(count: i64, priority: i32) -> String {
    format!("priority: {priority}, {}", asks(&format!("nvidia.com/gpu: {count}")))
}

struct Bench {
    scheduler: Scheduler,
}

impl Bench {
    fn new(machines: impl IntoIterator<Item = Arc<Machine>>) -> Self {
        Self { scheduler: Scheduler::new(machines, &Options::default()) }
    }

    fn take(&mut self, template: PodTemplate) -> TemplateId {
        self.scheduler.template(Arc::new(template))
    }

    fn run(&mut self, labels: &str, spec: &str, on: &str) -> PodId {
        let template = self.take(template(labels, spec));
        self.scheduler.run(template, on, None).unwrap()
    }

    /// A pod that is pending.
    fn add(&mut self, labels: &str, spec: &str) -> PodId {
        let template = self.take(template(labels, spec));
        self.scheduler.add(template)
    }

    fn id(&self, name: &str) -> NodeId {
        self.scheduler.node_id(name).unwrap()
    }

    /// The node of a pod, or why it has none.
    fn place(&self, pod: PodId) -> String {
        match self.scheduler.state(pod) {
            PodState::Bound(on) | PodState::Reserved(on) => {
                self.scheduler.node(on).name.to_string()
            }
            PodState::Waiting => self
                .scheduler
                .rejection(pod)
                .map(|rejection| rejection.message.to_string())
                .unwrap_or_default(),
            PodState::Terminating(_) => "ends".to_owned(),
            PodState::Gone => "gone".to_owned(),
        }
    }

    /// Schedules a pod beside all that wait.
    fn schedule(&mut self, labels: &str, spec: &str) -> String {
        let pod = self.add(labels, spec);
        self.scheduler.schedule();
        self.place(pod)
    }

    fn examine(&mut self, template: PodTemplate) -> Vec<Answer> {
        let template = self.take(template);
        self.scheduler.examine(template)
    }

    /// The verdict of each node, a letter for each: `.` if the pod fits.
    fn answers(&mut self, labels: &str, spec: &str) -> String {
        self.answers_to(template(labels, spec))
    }

    fn answers_to(&mut self, template: PodTemplate) -> String {
        let letter = |answer: &Answer| match answer.reasons.first() {
            None => '.',
            Some(Reason::Unschedulable) => 'U',
            Some(Reason::Taint) => 'T',
            Some(Reason::NodeAffinity) => 'N',
            Some(Reason::OtherNodes) => 'O',
            Some(Reason::HostPort) => 'P',
            Some(Reason::TooManyPods) => 'M',
            Some(Reason::Disk | Reason::ReadWriteOncePod | Reason::VolumeCount) => 'D',
            Some(Reason::VolumeAffinity | Reason::VolumeGone | Reason::VolumeZone) => 'V',
            Some(Reason::ClaimElsewhere | Reason::NoDevices(_)) => 'C',
            Some(Reason::Insufficient(_)) => 'I',
            Some(Reason::Spread) => 'S',
            Some(Reason::SpreadLabel) => 'L',
            Some(Reason::PodAffinity) => 'A',
            Some(Reason::PodAntiAffinity | Reason::NoVolume | Reason::NoSpace) => 'B',
            Some(Reason::ExistingAntiAffinity) => 'E',
        };
        self.examine(template).iter().map(letter).collect()
    }

    /// The score of each node, minus that of a node without taints; -1 if the pod does not fit.
    fn scores(&mut self, labels: &str, spec: &str) -> Vec<i64> {
        let answers = self.examine(template(labels, spec));
        answers.into_iter().map(|answer| answer.score.map_or(-1, |score| score - 300)).collect()
    }
}

/// A term of affinity to the pods of an app.
fn near(app: &str, key: &str) -> String {
    format!("{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: {app}}}}}}}")
}

/// Required terms of one kind: `podAffinity` or `podAntiAffinity`.
fn required(kind: &str, terms: &[String]) -> String {
    let terms = terms.join(", ");
    format!("affinity: {{{kind}: {{requiredDuringSchedulingIgnoredDuringExecution: [{terms}]}}}}")
}

/// Preferred terms of one kind, with their weights.
fn preferred(kind: &str, terms: &[(i64, String)]) -> String {
    let terms: Vec<String> = terms
        .iter()
        .map(|(weight, term)| format!("{{weight: {weight}, podAffinityTerm: {term}}}"))
        .collect();
    let terms = terms.join(", ");
    format!("affinity: {{{kind}: {{preferredDuringSchedulingIgnoredDuringExecution: [{terms}]}}}}")
}

/// A constraint that spreads the pods of app `s`, with more fields.
fn spread(key: &str, skew: i64, more: &str) -> String {
    format!(
        "{{maxSkew: {skew}, topologyKey: {key}, \
         labelSelector: {{matchLabels: {{app: s}}}}, {more}}}"
    )
}

fn constraints(list: &[String]) -> String {
    format!("topologySpreadConstraints: [{}]", list.join(", "))
}
