//! A pod with the fields that the scheduler reads, read once per template.

use super::kubelet::Kubelet;
use crate::cluster::admission::{Refused, Usage};
use crate::cluster::{Machine, Taint, Toleration};
use crate::quantity::{Requirement, Selector, SelectorError, SelectorOperator};
use ecow::{EcoString, EcoVec, eco_format};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Labels of a pod or a node, by key; copies share them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels(EcoVec<(EcoString, EcoString)>);

impl Labels {
    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&EcoString> {
        self.place(key).ok().map(|at| &self.0[at].1)
    }

    /// Sets a label.
    pub fn insert(&mut self, key: EcoString, value: EcoString) {
        match self.place(&key) {
            Ok(at) => self.0.make_mut()[at].1 = value,
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// A copy with one more label. The list has no spare capacity, because a large input has many
    /// such lists.
    pub fn with(&self, key: EcoString, value: EcoString) -> Self {
        self.iter().cloned().chain([(key, value)]).collect()
    }

    /// The labels in the order of their keys.
    pub fn iter(&self) -> std::slice::Iter<'_, (EcoString, EcoString)> {
        self.0.iter()
    }

    fn place(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(existing, _)| existing.as_str().cmp(key))
    }
}

impl FromIterator<(EcoString, EcoString)> for Labels {
    /// If a key has several values, the last one is kept.
    fn from_iter<I: IntoIterator<Item = (EcoString, EcoString)>>(labels: I) -> Self {
        let sorted: BTreeMap<EcoString, EcoString> = labels.into_iter().collect();
        let mut list = EcoVec::with_capacity(sorted.len());
        list.extend(sorted);
        Self(list)
    }
}

/// Taints that the pods of every DaemonSet tolerate: key, effect.
const OF_DAEMONS: [(&str, &str); 6] = [
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
];

/// The label that names a node.
pub(super) const HOSTNAME: &str = "kubernetes.io/hostname";
/// The label that names a zone.
pub(super) const ZONE: &str = "topology.kubernetes.io/zone";

/// The fields of a pod that decide which nodes are allowed and which are preferred. Many pods share
/// one template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodTemplate {
    /// The name of its pods, with `*` for a part that is different in each; may be empty.
    pub name: EcoString,
    /// Namespace.
    pub namespace: EcoString,
    /// Labels, those that controllers add among them.
    pub labels: Labels,
    /// Selector of the ReplicaSet or StatefulSet that owns it: its pods spread over hosts and zones
    /// when it has no constraints of its own.
    pub owner: Option<Selector>,
    /// Its spec, shared by the pods of many services.
    pub spec: Arc<PodSpec>,
}

impl Hash for PodTemplate {
    /// By the labels, in which templates of one spec differ.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.namespace, &self.labels).hash(state);
    }
}

/// The part of a pod's spec that decides which nodes are allowed and which are preferred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodSpec {
    /// Its requests: thousandths of `cpu`, whole units of other resources; no entry for 0.
    pub requests: BTreeMap<EcoString, i64>,
    /// Thousandths of processors and bytes that `LeastAllocated` counts for a new pod: a container
    /// without requests counts as 100m and 200Mi, and pod-level resources are ignored.
    pub scored: Scored,
    /// The same for an existing pod, whose pod-level resources are counted.
    pub held: Scored,
    /// Ports of the host that it opens.
    pub ports: Vec<HostPort>,
    /// `nodeSelector`.
    pub node_selector: Selector,
    /// Terms of the required node affinity, of which one must match; none without such affinity.
    pub node_terms: Option<Vec<NodeTerm>>,
    /// Preferred node affinity with its weights.
    pub preferred_nodes: Vec<(i64, NodeTerm)>,
    /// Tolerations.
    pub tolerations: Vec<Toleration>,
    /// The resources whose tolerations nobody stated: admission is taken to add them.
    pub assumed: Vec<EcoString>,
    /// Tolerations that end after some seconds.
    pub brief: Vec<(Toleration, i64)>,
    /// Required affinity to other pods.
    pub affinity: Vec<PodTerm>,
    /// Required anti-affinity to other pods.
    pub anti_affinity: Vec<PodTerm>,
    /// Preferred affinity and, with negative weights, anti-affinity.
    pub preferred_pods: Vec<(i64, PodTerm)>,
    /// `topologySpreadConstraints`.
    pub spread: Vec<SpreadConstraint>,
    /// Image of each container, init containers among them.
    pub images: Vec<EcoString>,
    /// Volumes that restrict its nodes.
    pub volumes: Vec<PodVolume>,
    /// Claims for devices.
    pub claims: Vec<PodClaim>,
    /// Admission refuses its pods.
    pub refused: Option<Refused>,
    /// Why it is not judged whether Pod Security refuses its pods.
    pub refusal_unjudged: Option<EcoString>,
    /// What of it is left open and keeps it from no node, and why.
    pub open: Option<(EcoString, EcoString)>,
    /// What a pod counts in the quotas of its namespace, where there are some.
    pub usage: Option<Arc<Usage>>,
    /// `nodeName`: the pod is on that node without a scheduler.
    pub node: Option<EcoString>,
    /// `schedulerName`.
    pub scheduler: EcoString,
    /// Priority.
    pub priority: i32,
    /// `preemptionPolicy: Never`.
    pub never_preempts: bool,
    /// It has scheduling gates.
    pub gated: bool,
    /// Another scheduler is requested.
    pub foreign: bool,
    /// `hostNetwork`.
    pub host_network: bool,
    /// What only the kubelet looks at.
    pub kubelet: Kubelet,
}

/// Processors and memory as `LeastAllocated` counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scored {
    /// Thousandths of processors.
    pub cpu: i64,
    /// Bytes.
    pub memory: i64,
}

/// A port of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPort {
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: EcoString,
    /// Address; `0.0.0.0` is all of them.
    pub ip: EcoString,
    /// Number.
    pub port: i64,
}

impl HostPort {
    /// Whether two pods with these ports cannot share a node (`HostPortInfo.CheckConflict`).
    pub fn conflicts(&self, other: &Self) -> bool {
        const ALL: &str = "0.0.0.0";
        self.port == other.port
            && self.protocol == other.protocol
            && (self.ip == other.ip || self.ip == ALL || other.ip == ALL)
    }
}

/// A term of a node affinity: all of it must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeTerm {
    /// About labels.
    pub labels: Selector,
    /// About the name: `(true, name)` it must be, `(false, name)` it must not be.
    pub names: Vec<(bool, EcoString)>,
}

impl NodeTerm {
    /// An empty term matches no node.
    pub(super) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.names.is_empty()
    }

    /// Whether its requirements on names match a name.
    pub(super) fn names_match(&self, name: &str) -> bool {
        self.names.iter().all(|(equal, required)| (required == name) == *equal)
    }

    /// Whether a node meets it.
    pub(super) fn holds(&self, machine: &Machine) -> bool {
        !self.is_empty()
            && self.labels.matches(|key| machine.label(key))
            && self.names_match(&machine.name)
    }

    /// The names that meet its requirements with `In`, at most one; `None` without such a
    /// requirement.
    pub(super) fn asks_for(&self) -> Option<Vec<&EcoString>> {
        let mut required = self.names.iter().filter(|(equal, _)| *equal).map(|(_, name)| name);
        let first = required.next()?;
        Some(if required.all(|name| name == first) { vec![first] } else { Vec::new() })
    }
}

/// The namespaces of the pods that a term selects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespaces {
    /// By name.
    pub names: Vec<EcoString>,
    /// By the labels of the namespace; the empty selector means all of them.
    pub selector: Option<Selector>,
}

/// A term of pod affinity or anti-affinity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodTerm {
    /// Their namespaces.
    pub namespaces: Namespaces,
    /// Their labels; none selects nothing.
    pub selector: Option<Selector>,
    /// The node label that defines the topology domain.
    pub topology_key: EcoString,
}

/// How evenly pods must or should be spread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpreadConstraint {
    /// Most difference between domains.
    pub max_skew: i64,
    /// The label of nodes that names a domain.
    pub topology_key: EcoString,
    /// `whenUnsatisfiable: DoNotSchedule`.
    pub hard: bool,
    /// The pods that are counted; none selects nothing.
    pub selector: Option<Selector>,
    /// `minDomains`: with fewer domains, the least count is 0.
    pub min_domains: i64,
    /// `nodeAffinityPolicy: Honor`, the default: only nodes that the pod selects are domains.
    pub honors_affinity: bool,
    /// `nodeTaintsPolicy: Honor`: only nodes with tolerated taints are in a domain.
    pub honors_taints: bool,
}

impl SpreadConstraint {
    /// A preference that the scheduler has for pods that state none (`systemDefaultConstraints`).
    pub(super) fn preferred(topology_key: &str, max_skew: i64, selector: &Selector) -> Self {
        Self {
            max_skew,
            topology_key: topology_key.into(),
            hard: false,
            selector: Some(selector.clone()),
            min_domains: 1,
            honors_affinity: true,
            honors_taints: false,
        }
    }
}

impl Deref for PodTemplate {
    type Target = PodSpec;

    fn deref(&self) -> &PodSpec {
        &self.spec
    }
}

impl DerefMut for PodTemplate {
    /// Copies the spec first if other templates share it.
    fn deref_mut(&mut self) -> &mut PodSpec {
        Arc::make_mut(&mut self.spec)
    }
}

impl PodTemplate {
    /// Leaves open whether Pod Security refuses its pods.
    pub fn leave_security_open(&mut self, why: EcoString) {
        self.refused.take_if(|refused| matches!(refused, Refused::Security(_)));
        self.refusal_unjudged = Some(why);
    }

    /// Leaves open whether the server refuses its pods.
    pub fn leave_refusal_open(&mut self, why: EcoString) {
        self.refused = None;
        self.refusal_unjudged = Some(why);
    }

    /// Whether a taint is tolerated.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.tolerations.iter().any(|toleration| toleration.tolerates(taint))
    }

    /// Whether a pod on a node is deleted for a taint NoExecute after some seconds
    /// (pkg/controller/tainteviction).
    pub fn is_driven_from(&self, machine: &Machine, after: i64) -> bool {
        let tolerated = |taint: &Taint| taint.effect != "NoExecute" || self.tolerates(taint);
        !machine.taints.iter().all(tolerated)
            || self.lasts_on(machine).is_some_and(|(_, seconds)| seconds <= after)
    }

    /// The taint NoExecute of a node for which its pods are deleted, and after how many seconds, where
    /// they tolerate it only for some time (`getMinTolerationTime`).
    pub fn lasts_on<'m>(&self, machine: &'m Machine) -> Option<(&'m Taint, i64)> {
        let taints = machine.taints.iter().filter(|taint| taint.effect == "NoExecute");
        let seconds = |taint: &'m Taint| {
            // Of several tolerations the first one decides, not the longest (`GetMatchingTolerations`).
            let first = self.tolerations.iter().find(|one| one.tolerates(taint))?;
            let (_, seconds) = self.brief.iter().find(|(toleration, _)| toleration == first)?;
            Some((taint, (*seconds).max(0)))
        };
        taints.filter_map(seconds).min_by_key(|(_, seconds)| *seconds)
    }

    /// Whether its node selection allows a node.
    pub fn selects(&self, machine: &Machine) -> bool {
        self.node_selector.matches(|key| machine.label(key))
            && self
                .node_terms
                .as_ref()
                .is_none_or(|terms| terms.iter().any(|term| term.holds(machine)))
    }

    /// What kubelets may refuse of its pods on the nodes that they may get, and why; not judged is where
    /// the scheduler takes them.
    pub fn refused_by_kubelets<'m>(
        &self,
        machines: impl Iterator<Item = &'m Machine>,
    ) -> Option<(EcoString, EcoString)> {
        let may = |machine: &&Machine| {
            self.selects(machine) && self.node.as_ref().is_none_or(|name| *name == machine.name)
        };
        self.kubelet.refuses(machines.filter(may))
    }

    /// The template of pods that one node may have, as a DaemonSet makes them
    /// (`ReplaceDaemonSetPodNodeNameNodeAffinity`).
    pub fn only_on(&self, node: &EcoString) -> Self {
        let mut pinned = self.clone();
        pinned.node_terms =
            Some(vec![NodeTerm { labels: Selector::default(), names: vec![(true, node.clone())] }]);
        pinned
    }

    /// Tolerates what the pods of a DaemonSet tolerate
    /// (pkg/controller/daemon/util/daemonset_util.go, `AddOrUpdateDaemonPodTolerations`).
    pub fn tolerate_as_daemon(&mut self) {
        // A pod on the host's network may itself be what makes the node's network available.
        let network = self.host_network.then_some(("network-unavailable", "NoSchedule"));
        let all = OF_DAEMONS.into_iter().chain(network).map(|(key, effect)| Toleration {
            key: eco_format!("node.kubernetes.io/{key}"),
            exists: true,
            value: EcoString::new(),
            effect: effect.into(),
        });
        let all: Vec<Toleration> = all.collect();
        // They last, and take the place of those that end.
        self.brief.retain(|(toleration, _)| !all.contains(toleration));
        self.tolerations.extend(all);
    }

    /// Whether its node selection depends on the names of nodes.
    pub fn names_nodes(&self) -> bool {
        let by_host = |selector: &Selector| {
            selector.requirements().iter().any(|requirement| requirement.key() == HOSTNAME)
        };
        let terms = self.node_terms.iter().flatten();
        by_host(&self.node_selector)
            || terms.into_iter().any(|term| !term.names.is_empty() || by_host(&term.labels))
    }

    /// The constraints by which nodes are preferred: its own, else those that the scheduler has
    /// for pods of ReplicaSets and StatefulSets.
    pub(super) fn soft_spread(&self) -> (Vec<SpreadConstraint>, bool) {
        let is_explicit = !self.spread.is_empty();
        let list = match &self.owner {
            _ if is_explicit => {
                self.spread.iter().filter(|constraint| !constraint.hard).cloned().collect()
            }
            Some(owner) if !owner.is_empty() => vec![
                SpreadConstraint::preferred(HOSTNAME, 3, owner),
                SpreadConstraint::preferred(ZONE, 5, owner),
            ],
            _ => Vec::new(),
        };
        (list, is_explicit)
    }
}

/// Resources of devices and of vendors, as against those of Kubernetes (`IsExtendedResourceName`).
pub(super) fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/")
}

/// The selector of labels that are all requested.
///
/// # Errors
/// A key or value that no label has, in the words of the API server.
pub fn selector_of<'l>(
    labels: impl IntoIterator<Item = (&'l str, &'l str)>,
) -> Result<Selector, SelectorError> {
    let equal = |(key, value): (&'l str, &'l str)| {
        Requirement::new(key, SelectorOperator::Equals, [EcoString::from(value)])
    };
    Ok(Selector::new(labels.into_iter().map(equal).collect::<Result<Vec<_>, _>>()?))
}

/// A claim that a pod names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodClaim {
    /// Its name in the pod.
    pub name: EcoString,
    /// The ResourceClaim that all pods share, or the template of which each pod has its own.
    pub source: ClaimSource,
}

/// Where a claim of a pod comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClaimSource {
    /// `resourceClaimName`.
    Claim(EcoString),
    /// `resourceClaimTemplateName`.
    Template(EcoString),
}

/// A volume of a pod that restricts its nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PodVolume {
    /// Of the claim of this name.
    Claim(EcoString),
    /// Each pod has a claim of its own, named after the pod and this volume.
    Ephemeral(EcoString, Arc<ClaimSpec>),
    /// A disk that it names itself.
    Disk(Disk),
    /// A volume that this CSI driver makes for the pod alone (`csi` of the pod).
    Inline(EcoString),
}

impl PodVolume {
    /// Why the server refuses the claim that each pod has of it.
    pub fn refused(&self) -> Option<&EcoString> {
        match self {
            Self::Ephemeral(_, claim) => claim.refused.as_ref(),
            Self::Claim(_) | Self::Disk(_) | Self::Inline(_) => None,
        }
    }

    /// The server takes the claim that each pod has of it.
    pub fn allow(&mut self) {
        if let Self::Ephemeral(_, claim) = self {
            Arc::make_mut(claim).refused = None;
        }
    }
}

/// A disk that a pod names itself and that one pod of a node may write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Disk {
    /// The kind of volume and what identifies the disk.
    pub identity: Vec<EcoString>,
    /// Of which one must be the same (monitors of Ceph).
    pub any_of: Vec<EcoString>,
    /// Pods that only read share it.
    pub read_only: bool,
}

/// The request of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClaimSpec {
    /// `storageClassName`; none means the default class, the empty text no class.
    pub class: Option<EcoString>,
    /// `accessModes`.
    pub modes: Vec<EcoString>,
    /// Bytes.
    pub request: i64,
    /// Labels of the volume.
    pub selector: Option<Selector>,
    /// A raw device.
    pub block: bool,
    /// `volumeName`.
    pub volume: Option<EcoString>,
    /// Of a claim that is made for a pod: what it counts in quotas.
    pub usage: Option<Arc<Usage>>,
    /// The same: why a LimitRange does not allow it.
    pub refused: Option<EcoString>,
}
