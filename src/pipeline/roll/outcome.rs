//! The result of a simulation: stages, the end of each component, and the edits that complete a
//! stuck one.

use super::Fix;
use ecow::EcoString;

/// How an update ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollEnd {
    /// All pods have the new version and are ready.
    Complete,
    /// It is stuck.
    Stuck,
    /// It is complete or stuck: that hangs on a choice among equal pods or nodes.
    Depends,
    /// Nothing changes.
    NothingToDo,
    /// Nothing changes, and pods have no node, as before.
    Waits,
    /// Nothing changes, and pods that had a node before have none.
    Displaced,
    /// Nothing changes, and whether pods that had a node before have none hangs on a choice among equal
    /// pods or nodes.
    MayLose,
    /// A Deployment that is paused: its pods keep the template that they have.
    Paused,
    /// `updateStrategy: OnDelete`: a pod keeps its template until it is deleted.
    OnDelete,
    /// What its controller does is not simulated.
    NotJudged,
}

impl RollEnd {
    /// Whether the workload changes.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::NothingToDo | Self::Waits | Self::Displaced | Self::MayLose)
    }

    /// Whether its controller does all that it does without a hand: a paused Deployment and pods that
    /// are updated on deletion have their number, and keep their template.
    pub(super) fn is_reached(self) -> bool {
        matches!(self, Self::Complete | Self::Paused | Self::OnDelete)
    }

    /// The value in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stuck => "stuck",
            Self::Depends | Self::MayLose => "depends",
            Self::NothingToDo => "nothing-to-do",
            Self::Waits => "waits",
            Self::Displaced => "no-longer-fits",
            Self::Paused => "paused",
            Self::OnDelete => "on-delete",
            Self::NotJudged => "not-judged",
        }
    }
}

/// Pods of one version, or groups of a LeaderWorkerSet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Ready ones.
    pub ready: i64,
    /// Those without a node.
    pub pending: i64,
    /// All but the terminating ones.
    pub total: i64,
}

/// A stage of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RollStage {
    /// Pods or groups of other versions than the new one.
    pub old: Amounts,
    /// Pods or groups of the new version.
    pub new: Amounts,
    /// Terminating pods or groups.
    pub terminating: i64,
    /// GPUs that its pods hold, the terminating ones included.
    pub gpus: i64,
    /// The changes since the previous stage.
    pub event: String,
}

impl RollStage {
    /// Whether all numbers equal those of another stage.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let seen = |stage: &Self| (stage.old, stage.new, stage.terminating, stage.gpus);
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

/// The rollout of a component.
#[derive(Clone, Debug)]
pub struct ComponentRollout {
    /// The component; `groups` for a ModelServing, `pods` for a workload that no operator writes.
    pub component: &'static str,
    /// Name of the workload.
    pub name: EcoString,
    /// `Deployment`, `LeaderWorkerSet`, `Knative`, `RayCluster` or `ModelServing`; the kind of a workload
    /// that no operator writes.
    pub kind: &'static str,
    /// `RollingUpdate`, `Recreate` or `OnDelete`; for a ModelServing, the type of its rollout strategy.
    pub strategy: &'static str,
    /// Maximum number of pods or groups beyond the replicas.
    pub max_surge: i64,
    /// Maximum number of unavailable pods or groups.
    pub max_unavailable: i64,
    /// The stages, starting with the change.
    pub stages: Vec<RollStage>,
    /// Pods or groups without a node before the change; `None` where that is not known.
    pub waited: Option<i64>,
    /// How it ends.
    pub end: RollEnd,
    /// Why it is stuck.
    pub stuck: Option<Stuck>,
    /// Lowest number of ready pods or groups.
    pub lowest_ready: i64,
    /// Highest number of GPUs held.
    pub peak_gpus: i64,
    /// Number of running pods that the change replaces.
    pub replaced: usize,
    /// The template is another one than that of the state before.
    pub new_template: bool,
    /// Where its pods lost their nodes, the owners of the pods of a higher priority that evicted them.
    pub evicted_by: Vec<EcoString>,
    /// Edits that complete it.
    pub fix: Vec<Fix>,
}

impl ComponentRollout {
    /// Pods or groups without a node at the end.
    pub fn pending(&self) -> i64 {
        // The last stage is where it stops.
        self.stages.last().map_or(0, |stage| stage.old.pending + stage.new.pending)
    }

    /// How many waited before, where nothing of the component changes and more of it wait now.
    pub fn waited_less(&self) -> Option<i64> {
        self.waited.filter(|waited| self.end == RollEnd::Waits && self.pending() > *waited)
    }
}
