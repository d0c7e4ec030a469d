//! The play: what is there before, the change, and the stages until nothing moves any more.

use super::{Fix, Ground, end};
use crate::api::ComponentKind;
use crate::cluster::Machine;
use crate::cluster::schedule::{First, PodId, TemplateId};
use crate::diff::drift::covers;
use crate::facts;
use crate::rollout::{
    DeploymentSpec, GroupMember, GroupRevision, LeaderWorkerSetSpec, PodPhase, Revision, Stage,
    StageOf, Start, Strategy, Version, WorkloadId, World,
};
use crate::yaml::Node;
use ecow::EcoString;
use std::sync::Arc;

/// What a workload is, as its controller reads it.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Deployment(DeploymentSpec),
    Groups(LeaderWorkerSetSpec),
    /// Revisions, each a Deployment: the old one goes when the new one is ready.
    Knative(DeploymentSpec),
    /// Pods that no change replaces.
    Ray,
    /// The API server refuses the pods.
    Refused(EcoString),
}

impl Kind {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
            || matches!((self, other), (Self::Refused(_), _) | (_, Self::Refused(_)))
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Deployment(_) => "Deployment",
            Self::Groups(_) => "LeaderWorkerSet",
            Self::Knative(_) => "Knative",
            Self::Ray => "RayCluster",
            Self::Refused(_) => "refused",
        }
    }

    /// Template and size, by which two versions are told apart.
    fn version(&self) -> Option<(EcoString, i64)> {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => {
                Some((spec.revision.name.clone(), spec.replicas))
            }
            Self::Groups(spec) => {
                Some((spec.revision.name.clone(), i64::try_from(spec.replicas).unwrap_or(i64::MAX)))
            }
            Self::Ray | Self::Refused(_) => None,
        }
    }
}

/// What is there before the change.
#[derive(Clone, Debug)]
pub(super) enum Begins {
    Nothing,
    /// What was applied before.
    With(Kind),
    /// The pods that run.
    Running,
}

/// A workload of a component through the change.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// By place in the changes.
    pub(super) service: usize,
    pub(super) component: ComponentKind,
    pub(super) name: EcoString,
    pub(super) begins: Begins,
    /// What is applied; none when it goes.
    pub(super) after: Option<Kind>,
    /// Pod specs as rendered.
    pub(super) specs: Vec<Node>,
    /// Pods of it that run, by place.
    pub(super) pods: Vec<usize>,
    /// Another strategy than the one that is written.
    pub(super) strategy: Option<Strategy>,
}

/// How an update ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollEnd {
    /// Everything is of the new version and ready.
    Complete,
    /// It goes no further.
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
    /// What is other than in the stage before.
    pub event: String,
}

/// Why an update goes no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The pod that waits.
    pub pod: EcoString,
    /// What the scheduler says of it.
    pub message: EcoString,
}

/// How a component follows a change.
#[derive(Clone, Debug)]
pub struct ComponentRollout {
    /// The component.
    pub component: ComponentKind,
    /// Name of the workload.
    pub name: EcoString,
    /// `Deployment`, `LeaderWorkerSet`, `Knative` or `RayCluster`.
    pub kind: &'static str,
    /// `RollingUpdate` or `Recreate`.
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
    /// What gets through.
    pub fix: Vec<Fix>,
}

/// A track in a world.
pub(super) struct Placed {
    /// The workload; of Knative the revision before, then the new one.
    pub(super) ids: Vec<WorkloadId>,
    /// Nothing is other than before.
    pub(super) same: bool,
}

/// No update takes more stages; this is a fence.
const MOST_STAGES: usize = 10_000;

/// Plays all tracks at once, with more nodes.
pub(super) fn play(
    ground: &Ground<'_>,
    tracks: &[Track],
    more: &[Arc<Machine>],
) -> Vec<ComponentRollout> {
    let mut scheduler = ground.scheduler(more);
    let mut adopted: Vec<Vec<(usize, PodId)>> = Vec::new();
    for track in tracks {
        let mut own = Vec::new();
        for at in &track.pods {
            let pod = ground.pod(*at);
            let template: TemplateId = scheduler.template(Arc::clone(&ground.templates[*at]));
            if let Some(id) = scheduler.run(template, &pod.node, pod.started.as_deref()) {
                own.push((*at, id));
            }
        }
        adopted.push(own);
    }
    let mut world = World::new(scheduler);
    let mut placed: Vec<Placed> = tracks
        .iter()
        .zip(&adopted)
        .map(|(track, own)| begin(&mut world, ground, track, own))
        .collect();
    world.come_to_rest(&mut First);
    for (track, placed) in tracks.iter().zip(&mut placed) {
        change(&mut world, track, placed);
    }
    let mut stages: Vec<Vec<RollStage>> = vec![Vec::new(); tracks.len()];
    for tick in 0..MOST_STAGES {
        if tick > 0 {
            world.advance(&mut First);
        }
        loop {
            world.settle();
            if !switch(&mut world, tracks, &placed) {
                break;
            }
        }
        let now = world.stage(0, |_| false);
        for ((track, placed), stages) in tracks.iter().zip(&placed).zip(&mut stages) {
            let mut stage = stage(&world, &now, track, placed);
            stage.event = event(stages.last(), &stage);
            stages.push(stage);
        }
        if world.is_quiet() {
            break;
        }
    }
    tracks
        .iter()
        .zip(placed)
        .zip(stages)
        .map(|((track, placed), stages)| end::outcome(&world, track, &placed, stages))
        .collect()
}

/// What is there before the change.
fn begin(world: &mut World, ground: &Ground<'_>, track: &Track, own: &[(usize, PodId)]) -> Placed {
    let pods: Vec<PodId> = own.iter().map(|(_, pod)| *pod).collect();
    let members = || -> Vec<(usize, usize, PodId)> {
        let place = |(at, pod): &(usize, PodId)| {
            let (group, index) = ground.pod(*at).group()?;
            Some((group, index, *pod))
        };
        own.iter().filter_map(place).collect()
    };
    let kind = match &track.begins {
        Begins::Nothing => return Placed { ids: Vec::new(), same: false },
        Begins::With(kind) => kind.clone(),
        // What runs is of the new version when it says all that the new template says.
        Begins::Running => {
            let is_new = own.iter().all(|(at, _)| {
                let spec = ground.pod(*at).object.node.get("spec");
                spec.is_some_and(|spec| track.specs.iter().any(|wanted| covers(wanted, spec)))
            });
            let Some(mut kind) = track.after.clone() else {
                return Placed { ids: Vec::new(), same: false };
            };
            if !is_new {
                rename(&mut kind, ground, own);
            }
            kind
        }
    };
    let same = track
        .after
        .as_ref()
        .is_some_and(|after| after.version().is_some() && after.version() == kind.version());
    let ids = match kind {
        Kind::Deployment(mut spec) | Kind::Knative(mut spec) => {
            if matches!(track.begins, Begins::Running) {
                spec.replicas = i64::try_from(pods.len()).unwrap_or(i64::MAX);
            }
            let revision = spec.revision.clone();
            let id = world.deploy(spec);
            if !pods.is_empty() {
                world.adopt(id, &revision, &pods);
            }
            vec![id]
        }
        Kind::Groups(spec) => {
            let revision = spec.revision.clone();
            let id = world.deploy_groups(spec);
            let members = members();
            if !members.is_empty() {
                world.adopt_groups(id, &revision, &members);
            }
            vec![id]
        }
        Kind::Ray | Kind::Refused(_) => Vec::new(),
    };
    let same =
        same && (matches!(track.begins, Begins::With(_)) || count(world, &ids) == wanted(track));
    Placed { ids, same }
}

fn wanted(track: &Track) -> i64 {
    track.after.as_ref().and_then(Kind::version).map_or(0, |(_, replicas)| replicas)
}

/// Replicas that are there.
fn count(world: &World, ids: &[WorkloadId]) -> i64 {
    let stage = world.stage(0, |_| false);
    ids.iter()
        .map(|id| match &stage.workloads[id.index()] {
            StageOf::Deployment { old, new } => old.active() + new.active(),
            StageOf::Groups { groups, .. } => i64::try_from(groups.len()).unwrap_or(i64::MAX),
        })
        .sum()
}

/// Makes a version of the pods that run.
fn rename(kind: &mut Kind, ground: &Ground<'_>, own: &[(usize, PodId)]) {
    const RUNNING: &str = "running";
    let template = |worker: bool| {
        let mut all = own.iter();
        let found = all
            .find(|(at, _)| ground.pod(*at).group().is_some_and(|(_, index)| index > 0) == worker);
        found.map(|(at, _)| Arc::clone(&ground.templates[*at]))
    };
    match kind {
        Kind::Deployment(spec) | Kind::Knative(spec) => {
            let pod = template(false).unwrap_or_else(|| Arc::clone(&spec.revision.pod));
            spec.revision = Revision { name: RUNNING.into(), pod, start: Start::Ready };
        }
        Kind::Groups(spec) => {
            let leader = template(false).unwrap_or_else(|| Arc::clone(&spec.revision.leader));
            let worker = template(true).unwrap_or_else(|| Arc::clone(&spec.revision.worker));
            spec.revision =
                GroupRevision { name: RUNNING.into(), leader, worker, ..spec.revision.clone() };
        }
        Kind::Ray | Kind::Refused(_) => {}
    }
}

/// Applies the change.
fn change(world: &mut World, track: &Track, placed: &mut Placed) {
    let known = placed.ids.first().copied();
    match (&track.after, known) {
        (Some(Kind::Deployment(spec)), known) => {
            let mut spec = spec.clone();
            spec.strategy = track.strategy.unwrap_or(spec.strategy);
            match known.and_then(|id| world.deployment_mut(id)) {
                Some(own) => *own = spec,
                None => placed.ids = vec![world.deploy(spec)],
            }
        }
        (Some(Kind::Groups(spec)), known) => match known.and_then(|id| world.groups_mut(id)) {
            Some(own) => *own = spec.clone(),
            None => placed.ids = vec![world.deploy_groups(spec.clone())],
        },
        // The same revision is only scaled.
        (Some(Kind::Knative(spec)), Some(id)) => {
            let own = world.deployment_mut(id);
            match own.filter(|own| own.revision.name == spec.revision.name) {
                Some(own) => own.replicas = spec.replicas,
                None => placed.ids.push(world.deploy(spec.clone())),
            }
        }
        (Some(Kind::Knative(spec)), None) => placed.ids = vec![world.deploy(spec.clone())],
        (Some(Kind::Ray | Kind::Refused(_)), _) | (None, None) => {}
        (None, Some(id)) => {
            if let Some(own) = world.deployment_mut(id) {
                own.replicas = 0;
            }
            if let Some(own) = world.groups_mut(id) {
                own.replicas = 0;
            }
        }
    }
}

/// Knative: the revision before goes when all pods of the new one are ready.
fn switch(world: &mut World, tracks: &[Track], placed: &[Placed]) -> bool {
    let mut switched = false;
    for (track, placed) in tracks.iter().zip(placed) {
        let (Some(Kind::Knative(spec)), [old, new]) = (&track.after, &placed.ids[..]) else {
            continue;
        };
        let StageOf::Deployment { new: counts, .. } =
            &world.stage(0, |_| false).workloads[new.index()]
        else {
            continue;
        };
        if counts.ready >= spec.replicas
            && let Some(own) = world.deployment_mut(*old)
            && own.replicas > 0
        {
            own.replicas = 0;
            switched = true;
        }
    }
    switched
}

fn stage(world: &World, now: &Stage, track: &Track, placed: &Placed) -> RollStage {
    let mut out = RollStage::default();
    let knative = matches!(track.after, Some(Kind::Knative(_)));
    for (place, id) in placed.ids.iter().enumerate() {
        match &now.workloads[id.index()] {
            StageOf::Deployment { old, new } => {
                // Of two revisions of Knative the first is the old one.
                let first = knative && place == 0 && placed.ids.len() > 1;
                let gone = track.after.is_none();
                for (counts, is_new) in [(old, false), (new, !first && !gone)] {
                    let own = if is_new { &mut out.new } else { &mut out.old };
                    own.ready += counts.ready;
                    own.pending += counts.pending;
                    own.total += counts.active();
                    out.terminating += counts.terminating;
                }
            }
            StageOf::Groups { groups, .. } => {
                for members in groups.values() {
                    group(members, track, &mut out);
                }
            }
        }
        for (pod, _) in world.ended(*id).into_iter().flat_map(|ended| ended.pods) {
            let scheduler = world.scheduler();
            if scheduler.state(pod).node().is_some() {
                let requests = scheduler.template_of(pod).requests.iter();
                let gpus = requests
                    .filter(|(name, _)| facts::is_accelerator(name) || name.contains("/mig-"));
                out.gpus += gpus.map(|(_, amount)| amount).sum::<i64>();
            }
        }
    }
    out
}

/// A group is as its leader is, and ready when all its pods are.
fn group(members: &[GroupMember], track: &Track, out: &mut RollStage) {
    let Some(leader) = members.iter().find(|member| member.index == 0) else { return };
    let Some(Kind::Groups(spec)) = &track.after else { return };
    if leader.phase == PodPhase::Terminating {
        out.terminating += 1;
        return;
    }
    let own = if leader.version == Version::New { &mut out.new } else { &mut out.old };
    own.total += 1;
    let whole = members.len() >= spec.revision.size.max(1);
    own.ready += i64::from(whole && members.iter().all(|member| member.phase == PodPhase::Ready));
    own.pending += i64::from(members.iter().any(|member| member.phase == PodPhase::Pending));
}

/// What is other than in the stage before.
fn event(before: Option<&RollStage>, now: &RollStage) -> String {
    let empty = RollStage::default();
    let first = before.is_none();
    let before = before.unwrap_or(&empty);
    let mut said = Vec::new();
    let mut say = |count: i64, words: &str| {
        if count > 0 {
            said.push(format!("{count} {words}"));
        }
    };
    if first {
        say(now.old.ready, "old ready");
    }
    let starting = |amounts: &Amounts| amounts.total - amounts.ready - amounts.pending;
    say(now.new.pending - before.new.pending, "new waits for a node");
    say(starting(&now.new) - starting(&before.new), "new starts");
    say(now.new.ready - before.new.ready, "new ready");
    say(now.terminating - before.terminating, "ends");
    say(before.terminating - now.terminating, "gone");
    said.join(", ")
}
