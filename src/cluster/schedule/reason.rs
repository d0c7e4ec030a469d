//! Why a pod is pending, in the scheduler's words.

use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;
use std::fmt;

/// Why a node is refused. The first filter that refuses it names the reasons
/// (`RunFilterPlugins`); only the filter of resources names several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// `spec.unschedulable`.
    Unschedulable,
    /// A taint NoSchedule or NoExecute is not tolerated.
    Taint,
    /// Node selector or required node affinity.
    NodeAffinity,
    /// The node affinity names other nodes.
    OtherNodes,
    /// A port of the host is taken.
    HostPort,
    /// No room for one more pod.
    TooManyPods,
    /// Less of a resource is free than requested.
    Insufficient(EcoString),
    /// A disk that the pod names itself is in use on the node.
    Disk,
    /// A claim that one pod may use is in use.
    ReadWriteOncePod,
    /// The driver of a volume has no more places on the node.
    VolumeCount,
    /// The node affinity of a volume.
    VolumeAffinity,
    /// No volume can be bound or made on the node.
    NoVolume,
    /// The driver has too little space for the node.
    NoSpace,
    /// A claim is bound to a volume that does not exist.
    VolumeGone,
    /// A volume is in another zone.
    VolumeZone,
    /// The devices of a claim are on other nodes.
    ClaimElsewhere,
    /// No devices for the claims, in the scheduler's words.
    NoDevices(EcoString),
    /// A spread constraint would be broken.
    Spread,
    /// The node lacks the label of a spread constraint.
    SpreadLabel,
    /// The required pod affinity has no match in the node's domain.
    PodAffinity,
    /// The pod's anti-affinity matches a pod in the node's domain.
    PodAntiAffinity,
    /// The anti-affinity of a pod in the node's domain matches the pod.
    ExistingAntiAffinity,
}

impl Reason {
    /// Filters in the order of the scheduler (`default_plugins.go`): the first one that rejects a
    /// node gives the reason.
    pub const FILTERS: [&str; 12] = [
        "NodeUnschedulable",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
    ];

    /// The filter that names it, by place in [`Reason::FILTERS`].
    pub fn filter(&self) -> usize {
        match self {
            Self::Unschedulable => 0,
            Self::Taint => 1,
            Self::NodeAffinity | Self::OtherNodes => 2,
            Self::HostPort => 3,
            Self::TooManyPods | Self::Insufficient(_) => 4,
            Self::Disk | Self::ReadWriteOncePod => 5,
            Self::VolumeCount => 6,
            Self::VolumeAffinity | Self::NoVolume | Self::NoSpace | Self::VolumeGone => 7,
            Self::VolumeZone => 8,
            Self::Spread | Self::SpreadLabel => 9,
            Self::PodAffinity | Self::PodAntiAffinity | Self::ExistingAntiAffinity => 10,
            Self::ClaimElsewhere | Self::NoDevices(_) => 11,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unschedulable => "node(s) were unschedulable",
            Self::Taint => "node(s) had untolerated taint(s)",
            Self::NodeAffinity => "node(s) didn't match Pod's node affinity/selector",
            Self::OtherNodes => "node(s) didn't satisfy plugin(s) [NodeAffinity]",
            Self::HostPort => "node(s) didn't have free ports for the requested pod ports",
            Self::TooManyPods => "Too many pods",
            Self::Insufficient(resource) => return write!(f, "Insufficient {resource}"),
            Self::Disk => "node(s) had no available disk",
            Self::ReadWriteOncePod => {
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
            }
            Self::VolumeCount => "node(s) exceed max volume count",
            Self::VolumeAffinity => "node(s) didn't match PersistentVolume's node affinity",
            Self::NoVolume => "node(s) didn't find available persistent volumes to bind",
            Self::NoSpace => "node(s) did not have enough free storage",
            Self::VolumeGone => {
                "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
            }
            Self::VolumeZone => "node(s) had no available volume zone",
            Self::ClaimElsewhere => "resourceclaim not available on the node",
            Self::NoDevices(why) => why,
            Self::Spread => "node(s) didn't match pod topology spread constraints",
            Self::SpreadLabel => {
                "node(s) didn't match pod topology spread constraints (missing required label)"
            }
            Self::PodAffinity => "node(s) didn't match pod affinity rules",
            Self::PodAntiAffinity => "node(s) didn't match pod anti-affinity rules",
            Self::ExistingAntiAffinity => {
                "node(s) didn't satisfy existing pods anti-affinity rules"
            }
        })
    }
}

/// The filters that rejected a pod: an event can help only some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Plugins(u16);

impl Plugins {
    pub(super) const NODE_UNSCHEDULABLE: Self = Self(1);
    pub(super) const TAINTS: Self = Self(2);
    pub(super) const NODE_AFFINITY: Self = Self(4);
    pub(super) const PORTS: Self = Self(8);
    pub(super) const FIT: Self = Self(16);
    pub(super) const SPREAD: Self = Self(32);
    pub(super) const POD_AFFINITY: Self = Self(64);
    /// A claim that does not exist, before any node is looked at.
    pub(super) const CLAIMS: Self = Self(128);
    /// Claims that have no volume that can be used on a node (`VolumeBinding`).
    pub(super) const VOLUMES: Self = Self(256);
    /// Volumes that other pods use (`VolumeRestrictions`).
    pub(super) const VOLUME_USE: Self = Self(512);
    pub(super) const DEVICES: Self = Self(1024);
    pub(super) const VOLUME_ZONE: Self = Self(2048);
    /// A driver can attach no more (`NodeVolumeLimits`).
    pub(super) const VOLUME_COUNT: Self = Self(4096);
    /// Those that objects of volumes, devices and claims can help.
    pub(super) const OBJECTS: Self = Self(128 | 256 | 512 | 1024 | 2048 | 4096);

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The rejection of a node by a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) reasons: Vec<Reason>,
    /// Evicting pods of the node could help.
    pub(super) curable: bool,
    pub(super) plugin: Plugins,
}

impl Refusal {
    /// The value for a node that fits.
    pub(super) fn none() -> Self {
        Self { reasons: Vec::new(), curable: false, plugin: Plugins::default() }
    }

    pub(super) fn of(reason: Reason, curable: bool, plugin: Plugins) -> Self {
        Self { reasons: vec![reason], curable, plugin }
    }
}

/// Why a pod found no node when it was last tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The message of the pod's condition PodScheduled, as kubectl shows it.
    pub message: EcoString,
    /// Nodes by reason. A node with several reasons is counted under each.
    pub counts: BTreeMap<Reason, usize>,
    /// Filters that refused some node.
    pub(super) plugins: Plugins,
}

/// `0/N nodes are available: COUNT REASON, ….` (`FitError.Error`). Sorted as texts, counts
/// included.
pub(super) fn fit_error<K: fmt::Display>(nodes: usize, counts: &BTreeMap<K, usize>) -> EcoString {
    let mut texts: Vec<String> =
        counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    texts.sort_unstable();
    if texts.is_empty() {
        return eco_format!("0/{nodes} nodes are available:");
    }
    eco_format!("0/{nodes} nodes are available: {}.", texts.join(", "))
}

/// The message of the plugin for device claims before preemption (DynamicResources.PostFilter).
pub(super) const NO_CLAIMS: &str = "no new claims to deallocate";

/// How an attempt to evict others ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PostFilter {
    /// Victims were found.
    Helped,
    /// The pod may not, or need not, evict.
    NotEligible(&'static str),
    /// No node can be freed: the number of nodes by their remaining reason.
    Useless(BTreeMap<EcoString, usize>),
}

impl PostFilter {
    /// The whole message of a pod; `claims` is what the plugin for device claims says.
    pub(super) fn message(&self, nodes: usize, fit: &str, claims: &str) -> EcoString {
        match self {
            Self::Helped => fit.into(),
            Self::NotEligible(why) => eco_format!("{fit} {claims}, preemption: {why}"),
            Self::Useless(counts) => {
                eco_format!("{fit} {claims}, preemption: {}", fit_error(nodes, counts))
            }
        }
    }
}
