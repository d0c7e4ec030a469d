//! The result of a simulation: stages, the end of each component, and the edits that complete a
//! stuck one.

use super::Fix;
use ecow::EcoString;

/// How an update ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollEnd {
    /// Everything is of the new version and ready.
    Complete,
    /// It is stuck.
    Stuck,
    /// Nothing changes.
    NothingToDo,
}

impl RollEnd {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stuck => "stuck",
            Self::NothingToDo => "nothing-to-do",
        }
    }
}

/// Pods of one version, or groups of a LeaderWorkerSet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// They serve.
    pub ready: i64,
    /// They have no node.
    pub pending: i64,
    /// All but those that end.
    pub total: i64,
}

/// A moment of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RollStage {
    /// Not of the new version.
    pub old: Amounts,
    /// Of the new version.
    pub new: Amounts,
    /// Pods or groups that end.
    pub terminating: i64,
    /// GPUs that its pods hold, those that end among them.
    pub gpus: i64,
    /// Differences from the stage before.
    pub event: String,
}

impl RollStage {
    /// Whether nothing is other than in another stage.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let seen = |own: &Self| (own.old, own.new, own.terminating, own.gpus);
        seen(self) == seen(other)
    }
}

/// Why an update is stuck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The pod that waits.
    pub pod: EcoString,
    /// The scheduler's message about it.
    pub message: EcoString,
}

/// How a component follows a change.
#[derive(Clone, Debug)]
pub struct ComponentRollout {
    /// The component; `groups` of a ModelServing.
    pub component: &'static str,
    /// Name of the workload.
    pub name: EcoString,
    /// `Deployment`, `LeaderWorkerSet`, `Knative`, `RayCluster` or `ModelServing`.
    pub kind: &'static str,
    /// `RollingUpdate` or `Recreate`; of a ModelServing what it replaces.
    pub strategy: &'static str,
    /// Pods or groups beyond the replicas.
    pub max_surge: i64,
    /// Pods or groups that may be missing.
    pub max_unavailable: i64,
    /// The stages, from the change on.
    pub stages: Vec<RollStage>,
    /// How it ends.
    pub end: RollEnd,
    /// Why it is stuck.
    pub stuck: Option<Stuck>,
    /// Pods or groups that serve at least.
    pub lowest_ready: i64,
    /// GPUs that are held at most.
    pub peak_gpus: i64,
    /// Pods that run now and that the change replaces.
    pub replaced: usize,
    /// Edits with which it completes.
    pub fix: Vec<Fix>,
}
