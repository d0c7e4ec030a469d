//! The visible state of a track at one moment of a simulation.

use super::outcome::RollStage;
use super::track::{Begins, Kind, Placed, Track};
use crate::cluster::schedule::{NodeId, PodId, Scheduler};
use crate::pipeline::built::gpus;
use crate::rollout::{GroupMember, PodPhase, StageOf, Version, World};

/// Devices that a pod of each template requests, by number of the template; none where it was not
/// asked yet.
#[derive(Debug, Default)]
pub(super) struct Devices(Vec<Option<i64>>);

impl Devices {
    fn of(&mut self, scheduler: &Scheduler, pod: PodId) -> i64 {
        let at = scheduler.template_id(pod).index();
        // A vector by number: a fleet is counted at each of thousands of stages.
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        *self.0[at].get_or_insert_with(|| gpus(scheduler.template_of(pod)))
    }
}

/// The node that a pod of a DaemonSet is for.
pub(super) fn node_of(world: &World, pod: PodId) -> Option<NodeId> {
    let scheduler = world.scheduler();
    let named = || {
        let terms = scheduler.template_of(pod).node_terms.iter().flatten();
        let mut names = terms.flat_map(|term| &term.names);
        scheduler.node_id(&names.find(|(is_in, _)| *is_in)?.1)
    };
    scheduler.state(pod).node().or_else(named)
}

/// The current stage of a track.
pub(super) fn stage(
    world: &World,
    track: &Track,
    placed: &Placed,
    devices: &mut Devices,
) -> RollStage {
    if let Some(coupled) = &placed.coupled {
        return coupled.stage(world, track.stays());
    }
    let mut out = RollStage::default();
    let knative = matches!(track.after, Some(Kind::Knative(_)));
    for (place, id) in placed.ids.iter().enumerate() {
        match world.stage_of(*id) {
            None => {}
            Some(StageOf::Pods { old, new }) => {
                // Of two Knative revisions, the first is the old one.
                let first = knative && place == 0 && placed.ids.len() > 1;
                // A workload that is deleted has no new pods, although its spec is the current
                // one.
                let gone = track.after.is_none();
                for (counts, is_new) in [(&old, false), (&new, !first && !gone)] {
                    let amounts = if is_new { &mut out.new } else { &mut out.old };
                    amounts.ready += counts.ready;
                    // Admission refuses the pods that are missing; their controller retries.
                    let missing = (counts.wanted - counts.active()).max(0);
                    amounts.pending += counts.pending + missing;
                    amounts.total += counts.active() + missing;
                    out.terminating += counts.terminating;
                }
            }
            Some(StageOf::Groups { groups, .. }) => {
                for members in groups.values() {
                    group(members, track, &mut out);
                }
            }
        }
        let scheduler = world.scheduler();
        let held =
            world.pods_of(*id).into_iter().filter(|pod| scheduler.state(*pod).node().is_some());
        out.gpus += held.map(|pod| devices.of(scheduler, pod)).sum::<i64>();
    }
    out
}

/// Counts a group. Its leader determines its version and whether it terminates; it is ready when
/// all its pods are ready.
fn group(members: &[GroupMember], track: &Track, out: &mut RollStage) {
    let Some(leader) = members.iter().find(|member| member.index == 0) else { return };
    // A set that is deleted has no new groups, although its spec is the current one.
    let (spec, gone) = match (&track.after, &track.begins) {
        (Some(Kind::Groups(spec)), _) => (spec, false),
        (None, Begins::With(Kind::Groups(spec))) => (spec, true),
        _ => return,
    };
    if leader.phase == PodPhase::Terminating {
        out.terminating += 1;
        return;
    }
    let is_new = leader.version == Version::New && !gone;
    let amounts = if is_new { &mut out.new } else { &mut out.old };
    amounts.total += 1;
    let whole = members.len() >= spec.revision.size.max(1);
    amounts.ready +=
        i64::from(whole && members.iter().all(|member| member.phase == PodPhase::Ready));
    amounts.pending += i64::from(members.iter().any(|member| member.phase == PodPhase::Pending));
}

/// The changes since the previous stage, as text.
pub(super) fn event(before: Option<&RollStage>, now: &RollStage) -> String {
    let empty = RollStage::default();
    let first = before.is_none();
    let before = before.unwrap_or(&empty);
    let mut message = Vec::new();
    let mut say = |count: i64, words: &str| {
        if count > 0 {
            message.push(format!("{count} {words}"));
        }
    };
    say(now.old.ready - before.old.ready, "old ready");
    say(now.new.pending - before.new.pending, "new pending");
    say(now.new.starting() - before.new.starting(), "new starting");
    say(now.new.ready - before.new.ready, "new ready");
    say(now.terminating - before.terminating, "terminating");
    say(before.terminating - now.terminating, "terminated");
    if message.is_empty() && !first {
        let still = if now.new.starting() + now.old.starting() > 0 {
            "still starting"
        } else if now.terminating > 0 {
            "still terminating"
        } else {
            "no change"
        };
        message.push(still.to_owned());
    }
    message.join(", ")
}

/// The stages of a workload while it is simulated.
#[derive(Debug)]
pub(super) struct Watched {
    /// All of them, or the last one.
    stages: Vec<RollStage>,
    lowest_ready: i64,
    peak_gpus: i64,
    /// Highest number of pods or groups.
    most: i64,
    keeps_all: bool,
}

impl Watched {
    pub(super) fn new(keeps_all: bool) -> Self {
        Self { stages: Vec::new(), lowest_ready: i64::MAX, peak_gpus: 0, most: 0, keeps_all }
    }

    /// Only the last stage is known.
    pub(super) fn last(stage: RollStage) -> Self {
        let mut watched = Self::new(false);
        watched.see(stage);
        watched
    }

    /// Adds a stage.
    pub(super) fn see(&mut self, mut stage: RollStage) {
        self.lowest_ready = self.lowest_ready.min(stage.old.ready + stage.new.ready);
        self.peak_gpus = self.peak_gpus.max(stage.gpus);
        self.most = self.most.max(stage.old.total + stage.new.total);
        if self.keeps_all {
            stage.event = event(self.stages.last(), &stage);
        } else {
            self.stages.clear();
        }
        self.stages.push(stage);
    }

    pub(super) fn now(&self) -> Option<&RollStage> {
        self.stages.last()
    }

    pub(super) fn lowest_ready(&self) -> i64 {
        if self.stages.is_empty() { 0 } else { self.lowest_ready }
    }

    pub(super) fn peak_gpus(&self) -> i64 {
        self.peak_gpus
    }

    pub(super) fn most(&self) -> i64 {
        self.most
    }

    /// The stages without the last ones that repeat, which other tracks take.
    pub(super) fn into_stages(mut self) -> Vec<RollStage> {
        while let [.., before, last] = &self.stages[..]
            && last.is_like(before)
        {
            self.stages.pop();
        }
        self.stages
    }
}
