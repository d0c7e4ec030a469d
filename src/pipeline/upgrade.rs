//! What an upgrade of Kthena does to a ModelServing that runs.
//!
//! In: a ModelServing as two releases read it, and what runs on the nodes. Out: its revisions under
//! both, and the rolling update that the later release begins when it starts. Nothing is worded
//! here.

use crate::api::{ModelServing, Role, RolloutType};
use crate::catalog::Catalog;
use crate::cluster::{Inventory, Shape};
use crate::operators::kthena::objects::{MOST_PODS, revision};
use crate::operators::kthena::rollout::{
    Action, Before, Cause, Event, Kind, Scenario, fits, simulate,
};
use crate::pipeline::RunningPods;
use crate::pods::gpus::of_pod;
use crate::policy::{KthenaPolicy, RoleStruct};
use crate::quantity::Count;
use ecow::EcoString;

/// What an upgrade does to one ModelServing.
#[derive(Clone, Debug)]
pub struct ServingUpgrade {
    /// Its revision before and after.
    pub revisions: [EcoString; 2],
    /// It is replaced role replica by role replica, within its groups.
    pub by_role: bool,
    /// Its groups.
    pub groups: i64,
    /// Groups that `partition` leaves as they are.
    pub held: i64,
    /// The update, played to its end; none of a ModelServing with more pods than are simulated.
    pub played: Option<PlayedUpgrade>,
}

/// The update that an upgrade begins.
#[derive(Clone, Debug)]
pub struct PlayedUpgrade {
    /// Pods that are deleted and recreated.
    pub pods: i64,
    /// GPUs of these pods.
    pub gpus: Count,
    /// The fewest groups that run at once on the way.
    pub fewest: i64,
    /// Stages from the first deletion to the end.
    pub stages: usize,
    /// Whether the pods of every stage find a place; none without nodes that say what they have,
    /// or where what a pod requests is not known.
    pub fits: Option<bool>,
    /// Where it ends, when a stage finds no place.
    pub stops: Option<String>,
}

/// Two releases, and what runs.
#[derive(Debug)]
pub struct Upgrades<'a> {
    catalog: &'a Catalog,
    running: RunningPods<'a>,
    from: RoleStruct,
    to: &'static KthenaPolicy,
}

impl<'a> Upgrades<'a> {
    /// Upgrades from one release to another over the nodes and the pods of a catalog.
    pub fn new(
        catalog: &'a Catalog,
        from: &'static KthenaPolicy,
        to: &'static KthenaPolicy,
    ) -> Self {
        Self { catalog, running: RunningPods::new(catalog.others()), from: from.role_struct, to }
    }

    /// What the upgrade does to a ModelServing; none when its revision stays.
    pub fn of(&self, before: &ModelServing, after: &ModelServing) -> Option<ServingUpgrade> {
        let revision = |serving: &ModelServing, declared: RoleStruct| {
            revision::of_roles(serving.roles.iter().map(|role| &role.node), declared)
        };
        let revisions = [revision(before, self.from), revision(after, self.to.role_struct)];
        // Without a role there is nothing that an update could replace.
        if revisions[0] == revisions[1] || after.roles.is_empty() {
            return None;
        }
        let groups = after.replicas.value;
        let small = after.counted && after.extent() <= MOST_PODS;
        Some(ServingUpgrade {
            revisions,
            by_role: after.rollout.value == RolloutType::Role,
            groups,
            held: after.budget.protected(groups).min(groups),
            played: small.then(|| self.play(before, after)),
        })
    }

    /// Whether an edit leaves the revision as the earlier release computes it: then nothing
    /// restarts before the upgrade.
    pub fn keeps(&self, before: &ModelServing, edited: &ModelServing) -> bool {
        let revision = |serving: &ModelServing| {
            revision::of_roles(serving.roles.iter().map(|role| &role.node), self.from)
        };
        revision(before) == revision(edited)
    }

    fn play(&self, before: &ModelServing, after: &ModelServing) -> PlayedUpgrade {
        let scenario = Scenario {
            policy: self.to,
            upgraded_from: Some(self.from),
            from: vec![Before { serving: before, costs: Vec::new() }],
            to: after,
            pending: Vec::new(),
            stuck: Vec::new(),
            fail: Vec::new(),
            stagger: false,
        };
        let mut outcome = simulate(&scenario);
        let replaced = |event: &&Event| {
            event.kind == Kind::Pod
                && event.action == Action::Delete
                && matches!(event.cause, Cause::Update | Cause::RoleUpdate)
        };
        let gpus = |event: &Event| -> Count {
            let name = event.replica.map(|(role, _)| outcome.trace.names.text(role));
            let role: Option<&Role> = name.and_then(|name| after.role(name));
            let template = role.and_then(|role| match event.index {
                0 => Some(&role.entry),
                _ => role.worker.as_ref(),
            });
            template.map_or_else(Count::default, |template| of_pod(&template.spec).into())
        };
        let gpus = outcome.trace.events.iter().filter(replaced).map(gpus).sum();
        let pods = outcome.restarted;
        let capacity = &outcome.trace.capacity;
        let fewest =
            capacity.iter().map(|stage| stage.groups).min().unwrap_or(after.replicas.value);
        let stages = capacity.len();
        let others = self.running.of_others(&after.namespace, after.name());
        let shapes: Vec<(EcoString, Shape)> =
            others.into_iter().map(|pod| (pod.node.clone(), pod.shape())).collect();
        let used = shapes.iter().map(|(node, shape)| (node, shape));
        let inventory = Inventory::new(self.catalog.machines(), used);
        let fits = inventory.and_then(|inventory| fits(&outcome.trace, &scenario, &inventory));
        let short = fits.as_ref().and_then(|fits| fits.iter().position(|fits| !fits));
        let stops = short.map(|at| {
            let stage = &outcome.trace.capacity[at];
            let pods =
                format!("the {} pods of stage {} do not fit on the nodes", stage.pods, stage.stage);
            outcome.stop_where_nothing_fits(fits.as_deref().unwrap_or_default());
            outcome.proof.clone().unwrap_or(pods)
        });
        PlayedUpgrade { pods, gpus, fewest, stages, fits: fits.map(|_| short.is_none()), stops }
    }
}
