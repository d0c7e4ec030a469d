//! Input and outcome of a simulation.

use super::cluster::{Address, Cluster};
use super::group::{Group, Status};
use super::target::Target;
use super::trace::{Action, Cause, Event, Kind, Reason, Trace};
use crate::api::{ModelServing, RecoveryPolicy};
use crate::operators::kthena::objects::names;
use crate::operators::kthena::rules::{KthenaRelease, RoleRecreateRule, RoleStruct};
use crate::yaml::Node;
use ecow::EcoString;

/// A state from which the change starts.
#[derive(Clone, Debug)]
pub struct Before<'a> {
    /// The applied ModelServing.
    pub serving: &'a ModelServing,
    /// Deletion costs of its pods, by name.
    pub costs: Vec<(EcoString, i64)>,
}

/// The input of a simulation.
#[derive(Clone, Debug)]
pub struct Scenario<'a> {
    /// The release whose behavior is simulated.
    pub policy: &'static KthenaRelease,
    /// How the previous release hashed roles, if the change is an upgrade of the controller:
    /// existing objects have its revisions, and every ModelServing is reconciled again.
    pub upgraded_from: Option<RoleStruct>,
    /// The ModelServings that were applied before, in order; empty if nothing exists.
    pub from: Vec<Before<'a>>,
    /// The ModelServing that is applied now.
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

impl<'a> Scenario<'a> {
    /// A change of a running ModelServing in which nothing fails.
    pub fn of_change(
        policy: &'static KthenaRelease,
        before: &'a ModelServing,
        to: &'a ModelServing,
    ) -> Self {
        Self {
            policy,
            upgraded_from: None,
            from: vec![Before { serving: before, costs: Vec::new() }],
            to,
            pending: Vec::new(),
            stuck: Vec::new(),
            fail: Vec::new(),
            stagger: false,
        }
    }
}

/// The consequences of the loss of a pod.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// The policy that was followed.
    pub policy: RecoveryPolicy,
    /// Pods that were replaced, by group.
    pub restarted: Vec<(i64, i64)>,
    /// Seconds in which a crashed pod may get ready again by itself.
    pub grace_seconds: i64,
    /// Seconds after which the whole group is recreated if it is still progressing, and the number
    /// of its pods.
    pub escalation: Option<(i64, i64)>,
}

/// The outcome of a simulation.
#[derive(Debug)]
pub struct Outcome {
    /// The events.
    pub trace: Trace,
    /// The group that blocks the others, if any.
    pub stuck: Option<i64>,
    /// Why the rollout cannot continue, if a group is stuck.
    pub proof: Option<String>,
    /// The consequences of the loss of a pod.
    pub recovery: Option<Recovery>,
    /// Pods that the update and the recovery deleted and created again.
    pub restarted: i64,
    /// Given names that are not pods of this ModelServing.
    pub unknown: Vec<EcoString>,
    /// Templates changed.
    pub templates_changed: bool,
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
    /// Ends the trace with the first stage whose pods do not fit, if all others wait for the one
    /// group that it recreates. If several groups are in progress, those that fit continue, and
    /// which ones is unknown.
    pub fn stop_where_nothing_fits(&mut self, fits: &[bool]) {
        let Some(position) = fits.iter().position(|fits| !fits) else { return };
        let Some(capacity) = self.trace.capacity.get(position) else { return };
        let (stage, &[ordinal]) = (capacity.stage, capacity.waits_for.as_slice()) else { return };
        let starts = |event: &Event| {
            event.stage == stage && event.group == ordinal && event.action == Action::Ready
        };
        // What the stage created stays, what got ready by it does not.
        self.trace
            .events
            .retain(|event| event.stage <= stage && !starts(event) && event.action != Action::Wait);
        self.trace.capacity.truncate(position + 1);
        let rows = self
            .trace
            .rows
            .iter()
            .rposition(|row| row.stage.is_some_and(|row| row <= stage))
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
            "{name} stays Pending: the {} pods of stage {stage} do not fit the nodes. The rollout stops here.",
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
    // Pods that do not get ready from the start; those of the change are set below.
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
    // Before the new target is applied: afterwards the revisions are its own.
    let templates_changed = cluster.groups.iter().any(|group| group.revision != goal.revision);
    let (gpus_before, available_before) = (cluster.counts.gpus, cluster.counts.groups);
    cluster.begin(&goal);
    // A controller that starts looks at everything, changed or not.
    let applied = applied.filter(|_| scenario.upgraded_from.is_none());
    cluster.apply(goal, applied, scenario.to.object.node.get("spec"));
    cluster.settle(scenario.stagger);

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
    // A name of the right form can still be one that never existed.
    reader.unknown.extend(named.into_iter().filter(|(at, _)| !is_known(*at)).map(|(_, name)| name));
    Outcome {
        restarted: restarted(&cluster.trace, recovery.as_ref()),
        stuck,
        proof,
        recovery,
        unknown: reader.unknown,
        templates_changed,
        gpus_before,
        gpus_known,
        available_before,
        left_behind: cluster.left_behind(),
        trace: cluster.trace,
    }
}

/// Pods that are deleted and created again: by updates, and by the recovery from a failure.
fn restarted(trace: &Trace, recovery: Option<&Recovery>) -> i64 {
    let updated = count(trace, Event::replaces_pod);
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
            // From both ends, because the role may have dashes.
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
    fn exists(&self, at: Address) -> bool {
        let replicas = self.groups.get(at.group).map(|group| group.role(at.role));
        replicas.is_some_and(|replicas| {
            replicas.iter().any(|replica| {
                replica.ordinal == at.ordinal
                    && replica.pods.iter().any(|pod| pod.index == at.index)
            })
        })
    }

    /// Replicas of groups that count as updated, made from another template than the one requested
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

    /// The stage that created the first pod for which a group waits, and its cause.
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
        let most = if self.policy.pace == crate::operators::kthena::rules::UpdatePace::OneByOne {
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
