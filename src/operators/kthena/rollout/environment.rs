//! The cluster around the controller: pods end, pods get ready, things go wrong (kthena-rollout,
//! "the simulated cluster").

use super::cluster::{Address, Cluster, Group, Status};
use super::target::Target;
use super::trace::{Action, Capacity, Cause, Cell, Event, GroupStatus, Kind, Reason, Row, Trace};
use crate::api::{ModelServing, RecoveryPolicy};
use crate::operators::kthena::objects::names;
use crate::policy::{KthenaPolicy, OrdinalRule, RoleRecreateRule, RoleStruct};
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// A state from which the change starts.
#[derive(Clone, Debug)]
pub struct Before<'a> {
    /// What was applied.
    pub serving: &'a ModelServing,
    /// Deletion costs of its pods, by name.
    pub costs: Vec<(EcoString, i64)>,
}

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Scenario<'a> {
    /// Whose behavior.
    pub policy: &'static KthenaPolicy,
    /// How the release before hashed roles, where the change is an upgrade of the controller: what
    /// it made has its revisions, and every ModelServing is looked at anew.
    pub upgraded_from: Option<RoleStruct>,
    /// What was applied before, one after the other; empty: nothing exists.
    pub from: Vec<Before<'a>>,
    /// What is applied now.
    pub to: &'a ModelServing,
    /// Names of pods that are not ready in the starting state, and stay so until another pod
    /// replaces them.
    pub pending: Vec<EcoString>,
    /// Names of pods that never get ready once the change is applied.
    pub stuck: Vec<EcoString>,
    /// Names of pods that crash after everything has settled, one after the other.
    pub fail: Vec<EcoString>,
    /// Pods end and get ready in one group at a time.
    pub stagger: bool,
}

/// What the loss of a pod cost.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// The policy that was followed.
    pub policy: RecoveryPolicy,
    /// Pods that were replaced, by group.
    pub restarted: Vec<(i64, i64)>,
    /// Seconds in which a crashed pod may get ready again by itself.
    pub grace_seconds: i64,
    /// Seconds after which the whole group is recreated if it stays progressing, and its pods.
    pub escalation: Option<(i64, i64)>,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// What happened.
    pub trace: Trace,
    /// The group that holds up the rest, if any does.
    pub stuck: Option<i64>,
    /// Why nothing goes on, when a group is stuck.
    pub proof: Option<String>,
    /// What the loss of a pod cost.
    pub recovery: Option<Recovery>,
    /// Pods that the update and the recovery deleted and created again.
    pub restarted: i64,
    /// Names given that are no pod of this ModelServing.
    pub unknown: Vec<EcoString>,
    /// Templates changed.
    pub templates_changed: bool,
    /// Groups that the update did not reach although their templates are old.
    pub protected: i64,
    /// GPUs before the change.
    pub gpus_before: i64,
    /// The GPUs of every template can be counted; else no number of GPUs means anything.
    pub gpus_known: bool,
    /// Groups that ran before the change.
    pub available_before: i64,
    /// Role replicas that keep another template although nothing protects them, by name.
    pub left_behind: Vec<EcoString>,
}

impl Outcome {
    /// Ends the story with the first stage whose pods find no place, when everything waits for the
    /// one group that it rebuilds. Where several groups are under way at once, those that fit
    /// go on, and which these are nobody knows.
    pub fn stop_where_nothing_fits(&mut self, fits: &[bool]) {
        let Some(position) = fits.iter().position(|fits| !fits) else { return };
        let Some(capacity) = self.trace.capacity.get(position) else { return };
        let (stage, &[ordinal]) = (capacity.stage, capacity.waits_for.as_slice()) else { return };
        let starts = |event: &Event| {
            event.stage == stage && event.group == ordinal && event.action == Action::Ready
        };
        self.trace
            .events
            .retain(|event| event.stage <= stage && !starts(event) && event.action != Action::Wait);
        self.trace.capacity.truncate(position + 1);
        let rows = self
            .trace
            .rows
            .iter()
            .rposition(|row| row.stage.is_some_and(|own| own <= stage))
            .map_or(0, |last| last + 1);
        self.trace.rows.truncate(rows);
        let cause = self
            .trace
            .events
            .iter()
            .rev()
            .find(|event| event.group == ordinal)
            .map_or(Cause::Upkeep, |event| event.cause);
        self.trace.events.push(Event {
            stage,
            action: Action::Wait,
            kind: Kind::ServingGroup,
            group: ordinal,
            replica: None,
            index: 0,
            cause,
            reason: Reason::NoPlace,
        });
        self.restarted = restarted(&self.trace, self.recovery.as_ref());
        self.stuck = Some(ordinal);
        let name = names::group(&self.trace.serving, ordinal);
        self.proof = Some(format!(
            "the {} pods of stage {stage} do not fit on the loaded nodes, so that {name} cannot start and nothing after it happens",
            self.trace.capacity[position].pods
        ));
    }
}

/// Plays a change through to its end.
pub fn simulate(scenario: &Scenario<'_>) -> Outcome {
    let policy = scenario.policy;
    let mut trace = Trace { serving: scenario.to.name().clone(), ..Trace::default() };
    let made_by = scenario.upgraded_from.unwrap_or(policy.role_struct);
    let targets: Vec<Target> = scenario
        .from
        .iter()
        .map(|before| Target::new(before.serving, policy, made_by, &mut trace.names))
        .collect();
    let goal = Target::new(scenario.to, policy, policy.role_struct, &mut trace.names);
    let mut reader = PodNames { serving: scenario.to.name().clone(), unknown: Vec::new() };
    let mut places = |names: &[EcoString], trace: &mut Trace| -> Vec<Address> {
        names.iter().filter_map(|name| reader.address(name, trace)).collect()
    };
    let pending = places(&scenario.pending, &mut trace);
    let mut stuck = places(&scenario.stuck, &mut trace);
    let fail = places(&scenario.fail, &mut trace);
    let named: Vec<(Address, EcoString)> =
        [(&pending, &scenario.pending), (&stuck, &scenario.stuck), (&fail, &scenario.fail)]
            .into_iter()
            .filter(|(places, names)| places.len() == names.len())
            .flat_map(|(places, names)| places.iter().copied().zip(names.iter().cloned()))
            .collect();
    let costs: Vec<Vec<(Address, i64)>> = scenario
        .from
        .iter()
        .map(|before| {
            before
                .costs
                .iter()
                .filter_map(|(name, cost)| Some((reader.address(name, &mut trace)?, *cost)))
                .collect()
        })
        .collect();

    let gpus_known = targets.iter().chain([&goal]).all(|target| target.gpus_known);
    let mut cluster = Cluster::new(policy, targets.first().unwrap_or(&goal).clone(), trace);
    cluster.held = pending.into_iter().collect();
    let mut applied: Option<&Node> = None;
    for ((before, target), costs) in scenario.from.iter().zip(targets).zip(costs) {
        cluster.apply(target, applied, before.serving.object.node.get("spec"));
        cluster.settle(scenario.stagger);
        for (at, cost) in costs {
            if let Some(pod) = cluster.pod_mut(at) {
                pod.cost = cost;
            }
        }
        applied = before.serving.object.node.get("spec");
    }

    let unchanged = applied.is_some() && applied == scenario.to.object.node.get("spec");
    let crashes = if policy.reconciles || unchanged {
        fail
    } else {
        // In the document a failure in the middle of a change is a pod of the change that does not
        // come up (Kthena blog, A Deep Dive of ModelServing, Rolling Update).
        stuck.extend(fail);
        Vec::new()
    };
    cluster.held = stuck.into_iter().collect();
    let templates_changed = cluster.groups.iter().any(|group| group.revision != goal.revision);
    let (gpus_before, available_before) = (cluster.counts.gpus, cluster.counts.groups);
    cluster.begin(&goal);
    // A controller that starts looks at everything, changed or not.
    let applied = applied.filter(|_| scenario.upgraded_from.is_none());
    cluster.apply(goal, applied, scenario.to.object.node.get("spec"));
    cluster.settle(scenario.stagger);
    let protected =
        cluster.groups.iter().filter(|group| group.revision != cluster.target.revision).count();

    let recovery = (!crashes.is_empty()).then(|| {
        let first = cluster.trace.events.len();
        for at in &crashes {
            cluster.crash(*at, scenario.stagger);
        }
        cluster.recovery(first)
    });
    cluster.trace.pods_recover_alone = cluster.target.recovery == RecoveryPolicy::RoleRecreate
        && policy.role_recreate == RoleRecreateRule::PodThenGroup;
    cluster.finish();
    let stuck = cluster.stuck();
    let proof = stuck.map(|ordinal| cluster.proof(ordinal));
    if let Some(ordinal) = stuck {
        let (began, cause) = cluster.waits_since(ordinal);
        cluster.stage = began.min(cluster.stage.saturating_sub(1));
        cluster.note_group(Action::Wait, Kind::ServingGroup, ordinal, cause, Reason::NeverReady);
    }
    let is_known = |at: Address| {
        let seen = |event: &Event| {
            event.kind == Kind::Pod
                && (event.group, event.index) == (at.group, at.index)
                && event.replica == Some((at.role, at.ordinal))
        };
        cluster.exists(at) || cluster.trace.events.iter().any(seen)
    };
    reader.unknown.extend(named.into_iter().filter(|(at, _)| !is_known(*at)).map(|(_, name)| name));
    Outcome {
        restarted: restarted(&cluster.trace, recovery.as_ref()),
        stuck,
        proof,
        recovery,
        unknown: reader.unknown,
        templates_changed,
        protected: i64::try_from(protected).unwrap_or(i64::MAX),
        gpus_before,
        gpus_known,
        available_before,
        left_behind: cluster.left_behind(),
        trace: cluster.trace,
    }
}

/// Pods that are deleted and created again: by updates, and by the recovery from a failure.
fn restarted(trace: &Trace, recovery: Option<&Recovery>) -> i64 {
    let updated = count(trace, |event| {
        event.action == Action::Delete && matches!(event.cause, Cause::Update | Cause::RoleUpdate)
    });
    let recovered = recovery.into_iter().flat_map(|recovery| &recovery.restarted);
    recovered.map(|(_, pods)| *pods).fold(updated, i64::saturating_add)
}

fn count(trace: &Trace, wanted: impl Fn(&Event) -> bool) -> i64 {
    let found =
        trace.events.iter().filter(|event| event.kind == Kind::Pod && wanted(event)).count();
    i64::try_from(found).unwrap_or(i64::MAX)
}

/// Reads names of pods.
struct PodNames {
    serving: EcoString,
    unknown: Vec<EcoString>,
}

impl PodNames {
    /// `SERVING-GROUP-ROLE-REPLICA-INDEX`; the role may hold dashes.
    fn address(&mut self, name: &EcoString, trace: &mut Trace) -> Option<Address> {
        let found = (|| {
            let rest = name.strip_prefix(self.serving.as_str())?.strip_prefix('-')?;
            let (group, rest) = rest.split_once('-')?;
            let (rest, index) = rest.rsplit_once('-')?;
            let (role, ordinal) = rest.rsplit_once('-')?;
            Some((group.parse().ok()?, role, ordinal.parse().ok()?, index.parse().ok()?))
        })();
        let Some((group, role, ordinal, index)) = found else {
            self.unknown.push(name.clone());
            return None;
        };
        Some(Address { group, role: trace.names.id(role), ordinal, index })
    }
}

impl Cluster {
    /// A manifest is applied. Only a changed spec makes the controller look.
    fn apply(&mut self, target: Target, before: Option<&Node>, after: Option<&Node>) {
        let old = std::mem::replace(&mut self.target, target);
        self.groups.ask_for(self.target.revision);
        for group in self.groups.iter_mut() {
            group.settled = false;
            group.served = false;
        }
        self.open_from = self.boundary();
        if before.is_some() && before == after {
            return;
        }
        // Quirk: without a topology and without minima all PodGroups are deleted once; the
        // reconcile makes them anew.
        if before.is_some() && old.topology && !self.target.topology && !self.target.gang_minimum {
            let with_pod_group =
                self.groups.iter().filter(|group| group.gang).map(|group| group.ordinal);
            let orphans = std::mem::take(&mut self.orphans);
            let mut going: Vec<(EcoString, i64)> = with_pod_group
                .chain(orphans)
                .map(|ordinal| (names::group("", ordinal), ordinal))
                .collect();
            going.sort_unstable();
            for (_, ordinal) in going {
                if let Some(group) = self.group_mut(ordinal) {
                    group.gang = false;
                }
                self.note_group(
                    Action::Delete,
                    Kind::PodGroup,
                    ordinal,
                    Cause::Upkeep,
                    Reason::TopologyRemoved,
                );
            }
        }
        self.queued = true;
    }

    /// The controller and the cluster take turns until neither has anything to do.
    fn settle(&mut self, stagger: bool) {
        if !self.policy.reconciles {
            self.queued = false;
            self.follow_document();
            self.close_stage();
            return;
        }
        // Every turn ends or starts a pod; more turns than that are none that ends.
        let mut turns = 64
            + 64 * (self.counts.pods
                + self.target.replicas.saturating_mul(self.target.pods_per_group().max(1)));
        loop {
            self.reconcile_all();
            turns -= 1;
            if turns < 0 || !(self.end_pods(stagger) || self.start_pods(stagger)) {
                break;
            }
        }
        self.close_stage();
    }

    /// Terminating pods are gone.
    pub(super) fn end_pods(&mut self, stagger: bool) -> bool {
        if self.ending.is_empty() {
            return false;
        }
        let all = std::mem::take(&mut self.ending);
        let (going, later) = Self::of_highest_group(all, stagger);
        self.ending = later;
        for at in going {
            self.pod_gone(at);
        }
        true
    }

    /// Pods that have not run get ready, and the next stage begins.
    pub(super) fn start_pods(&mut self, stagger: bool) -> bool {
        let all = std::mem::take(&mut self.starting);
        let fit = |at: &Address| {
            let pod = self.groups.get(at.group).and_then(|group| {
                let replicas = group.role(at.role);
                let replica =
                    replicas.binary_search_by_key(&at.ordinal, |replica| replica.ordinal).ok()?;
                replicas[replica].pods.iter().find(|pod| pod.index == at.index)
            });
            pod.is_some_and(|pod| !pod.ready && !pod.terminating && !pod.held)
        };
        let all: Vec<Address> = all.into_iter().filter(fit).collect();
        let (mut going, later) = Self::of_highest_group(all, stagger);
        self.starting = later;
        if going.is_empty() {
            return false;
        }
        self.close_stage();
        if going.windows(2).any(|pair| pair[0].group != pair[1].group) {
            // By name: groups one after the other as their names sort.
            going.sort_by_cached_key(|at| (at.group.to_string(), at.role, at.ordinal, at.index));
        }
        for at in going {
            self.pod_ready(at);
        }
        true
    }

    fn of_highest_group(all: Vec<Address>, stagger: bool) -> (Vec<Address>, Vec<Address>) {
        match all.iter().map(|at| at.group).max() {
            Some(highest) if stagger => all.into_iter().partition(|at| at.group == highest),
            _ => (all, Vec::new()),
        }
    }

    /// Starts writing down what happens.
    fn begin(&mut self, goal: &Target) {
        self.recording = true;
        self.stage = 0;
        self.busy = false;
        let mut columns: BTreeSet<i64> = self.groups.iter().map(|group| group.ordinal).collect();
        columns.extend(0..goal.replicas);
        self.columns = columns.into_iter().collect();
        for group in self.groups.iter_mut() {
            group.touched = false;
        }
        // Where ordinals are appended they grow without end, and places say who is surplus.
        let appended = self.policy.ordinals == OrdinalRule::Append;
        let places = usize::try_from(goal.replicas).unwrap_or(0);
        let first = if appended {
            self.groups.iter().nth(places).map_or(i64::MAX, |group| group.ordinal)
        } else {
            goal.replicas
        };
        let last = self.groups.last().filter(|_| appended).map_or(i64::MAX, |own| own.ordinal);
        self.surplus = first..=last;
        // The row before the change is read by what is wanted afterwards.
        let old = std::mem::replace(&mut self.target, goal.clone());
        self.push_row(None);
        self.target = old;
    }

    /// A stage is over, if it had requests.
    pub(super) fn close_stage(&mut self) {
        if !self.recording || !std::mem::take(&mut self.busy) {
            return;
        }
        let idle: Vec<i64> = self.groups.lists().idle.iter().copied().collect();
        let touched = |ordinal: &i64| self.groups.get(*ordinal).is_some_and(|own| own.touched);
        let waits_for = idle.into_iter().filter(touched).collect();
        self.trace.capacity.push(Capacity {
            stage: self.stage,
            groups: self.counts.groups,
            roles: self.counts.replicas.clone(),
            gpus: self.counts.gpus,
            pods: self.counts.pods,
            waits_for,
            templates: self.counts.templates.clone(),
        });
        self.push_row(Some(self.stage));
        self.stage += 1;
    }

    fn push_row(&mut self, stage: Option<u32>) {
        let changed = self.groups.take_changed();
        // Ordinals that are appended are new columns; they are above all that were there.
        let known = self.columns.last().copied().unwrap_or(-1);
        let new = changed.range(known + 1..).filter(|own| self.groups.get(**own).is_some());
        let (drawn, new): (usize, Vec<i64>) = (self.columns.len(), new.copied().collect());
        self.columns.extend(new);
        if self.trace.rows.is_empty() {
            for ordinal in &self.columns {
                self.strip.push(self.cell(*ordinal));
            }
        } else {
            for ordinal in changed.range(..=known) {
                if let Ok(place) = self.columns.binary_search(ordinal) {
                    self.strip.set(place, self.cell(*ordinal));
                }
            }
            for ordinal in &self.columns[drawn..] {
                self.strip.push(self.cell(*ordinal));
            }
        }
        let groups = self.strip.groups();
        self.trace.rows.push(Row { stage, groups, available: self.counts.groups });
    }

    /// How far the group of an ordinal is.
    fn cell(&self, ordinal: i64) -> (Cell, GroupStatus) {
        let Some(group) = self.groups.get(ordinal) else {
            let wanted = ordinal < self.target.replicas;
            return (if wanted { Cell::Old } else { Cell::Updated }, GroupStatus::Absent);
        };
        let wanted = !self.surplus.contains(&ordinal);
        let status = match group.status {
            Status::Running => GroupStatus::Running,
            Status::Scaling => GroupStatus::Scaling,
            Status::Creating | Status::Deleting => GroupStatus::Rolling,
        };
        let cell = if group.touched && group.status != Status::Running {
            Cell::Rolling
        } else if wanted && group.revision == self.target.revision && self.has_wanted_roles(group) {
            Cell::Updated
        } else {
            Cell::Old
        };
        (cell, status)
    }

    fn has_wanted_roles(&self, group: &Group) -> bool {
        self.target
            .roles
            .iter()
            .all(|role| i64::try_from(group.role(role.name).len()) == Ok(role.replicas))
    }

    /// The last row, if something got ready after the last stage.
    fn finish(&mut self) {
        if self.trace.rows.len() == 1 {
            self.trace.rows.clear();
        } else {
            self.push_row(None);
            if let [.., last, after] = &self.trace.rows[..]
                && last.groups == after.groups
            {
                self.trace.rows.pop();
            }
            for row in &mut self.trace.rows {
                row.groups.pad(self.columns.len(), (Cell::Updated, GroupStatus::Absent));
            }
        }
        self.trace.columns = std::mem::take(&mut self.columns);
    }

    /// A pod crashes, and whatever follows runs its course.
    fn crash(&mut self, at: Address, stagger: bool) {
        self.close_stage();
        if self.pod_mut(at).is_none() {
            return;
        }
        let whole_group = self.target.recovery == RecoveryPolicy::ServingGroupRecreate;
        self.pod_crashed(at);
        if self.policy.reconciles {
            // Without grace the pod is deleted at once; either way the reconcile that the crash
            // queues comes before its end.
            if self.target.grace_seconds > 0 {
                self.reconcile_all();
            }
            self.delete_pod(at, Cause::Recovery, Reason::Crashed);
            self.settle(stagger);
            return;
        }
        self.queued = false;
        if whole_group {
            self.recreate_group(at.group, Cause::Recovery, Reason::PodLost);
        } else {
            self.delete_pod(at, Cause::Recovery, Reason::Crashed);
            while self.end_pods(false) {}
            self.start_pods(false);
        }
        self.close_stage();
    }

    fn recovery(&self, first: usize) -> Recovery {
        let mut restarted: BTreeMap<i64, i64> =
            self.groups.iter().map(|group| (group.ordinal, 0)).collect();
        for event in self.trace.events[first..]
            .iter()
            .filter(|event| event.kind == Kind::Pod && event.action == Action::Create)
        {
            *restarted.entry(event.group).or_default() += 1;
        }
        let escalates = self.target.recovery == RecoveryPolicy::RoleRecreate
            && self.policy.role_recreate == RoleRecreateRule::PodThenGroup;
        Recovery {
            policy: self.target.recovery,
            restarted: restarted.into_iter().collect(),
            grace_seconds: self.target.grace_seconds,
            escalation: escalates
                .then(|| (self.target.grace_seconds, self.target.pods_per_group())),
        }
    }

    fn exists(&self, at: Address) -> bool {
        let replicas = self.groups.get(at.group).map(|group| group.role(at.role));
        replicas.is_some_and(|replicas| {
            replicas.iter().any(|replica| {
                replica.ordinal == at.ordinal
                    && replica.pods.iter().any(|pod| pod.index == at.index)
            })
        })
    }

    /// Replicas of groups that count as updated, made from another template than the one asked for
    /// now.
    fn left_behind(&self) -> Vec<EcoString> {
        let mut found = Vec::new();
        for group in self.groups.iter().filter(|group| group.revision == self.target.revision) {
            for role in &self.target.roles {
                let open = group
                    .role(role.name)
                    .iter()
                    .skip(usize::try_from(role.partition).unwrap_or(usize::MAX));
                let other = open.filter(|replica| {
                    replica.hash != role.hash && replica.status != Status::Deleting
                });
                let name = names::group(&self.trace.serving, group.ordinal);
                found.extend(other.map(|replica| {
                    ecow::eco_format!(
                        "{name}-{}",
                        names::role_id(self.trace.names.text(role.name), replica.ordinal)
                    )
                }));
            }
        }
        found
    }

    /// The highest group that the change touched and that does not run.
    fn stuck(&self) -> Option<i64> {
        let waiting = |group: &&Group| {
            group.touched && group.status != Status::Running && group.has_unready_pods()
        };
        self.groups.iter().rev().find(waiting).map(|group| group.ordinal)
    }

    /// The stage that created the first pod for which a group waits, and what for.
    fn waits_since(&self, ordinal: i64) -> (u32, Cause) {
        let Some(group) = self.groups.get(ordinal) else { return (self.stage, Cause::Upkeep) };
        let pods = group
            .replicas()
            .flat_map(|(_, replica)| &replica.pods)
            .filter(|pod| !pod.ready && !pod.terminating);
        pods.map(|pod| pod.began).min_by_key(|(stage, _)| *stage).unwrap_or(group.began)
    }

    /// Why nothing happens while a group waits.
    fn proof(&self, ordinal: i64) -> String {
        let name = names::group(&self.trace.serving, ordinal);
        let outdated: Vec<EcoString> = self
            .groups
            .iter()
            .skip(usize::try_from(self.target.partition).unwrap_or(usize::MAX))
            .filter(|group| group.revision != self.target.revision && group.ordinal != ordinal)
            .map(|group| names::group(&self.trace.serving, group.ordinal))
            .collect();
        if outdated.is_empty() {
            return format!(
                "{name} waits for a pod that does not get ready; nothing else is left to do"
            );
        }
        let most = if self.policy.pace == crate::policy::UpdatePace::OneByOne {
            1
        } else {
            self.target.max_unavailable
        };
        format!(
            "{name} does not run, and at most {most} of {} groups may be missing: {} keep the old revision until it does",
            self.target.replicas,
            outdated.join(", ")
        )
    }
}
