//! The effect of an upgrade of its operator on a running ModelServing.
//!
//! In: a ModelServing as two releases read it, and the running pods. Out: its revisions under both
//! releases, and the rolling update that the later release starts with.

use crate::api::{ModelServing, Role, RolloutType};
use crate::catalog::Catalog;
use crate::operators::servings::objects::{MOST_PODS, revision};
use crate::operators::servings::rollout::{Event, Scenario, Trace, simulate};
use crate::operators::servings::{self, RoleStruct, ServingRules};
use crate::pipeline::ServingRoom;
use crate::pods::gpus::of_pod;
use crate::quantity::Count;
use ecow::EcoString;

/// The effect of an upgrade on one ModelServing.
#[derive(Clone, Debug)]
pub struct ServingUpgrade {
    /// Its revision before and after.
    pub revisions: [EcoString; 2],
    /// The update replaces role replicas within the groups instead of whole groups.
    pub by_role: bool,
    /// Number of its groups.
    pub groups: i64,
    /// Groups that `partition` protects from the update.
    pub held: i64,
    /// The simulated update; `None` for a ModelServing with more pods than are simulated.
    pub played: Option<PlayedUpgrade>,
}

/// The update that an upgrade starts.
#[derive(Clone, Debug)]
pub struct PlayedUpgrade {
    /// Pods that are deleted and recreated.
    pub pods: i64,
    /// GPUs of these pods.
    pub gpus: Count,
    /// Lowest number of groups that run at once.
    pub fewest: i64,
    /// Stages from the first deletion to the end.
    pub stages: usize,
    /// Whether the pods of every stage fit; `None` if no node reports its resources, or the
    /// requests of a pod are unknown.
    pub fits: Option<bool>,
    /// Where the update stops, if the pods of a stage do not fit.
    pub stops: Option<String>,
}

/// The pods that a change of a ModelServing deletes and recreates, and their GPUs; `None` for one
/// with more pods than are simulated.
pub fn replaced(
    catalog: &Catalog,
    before: &ModelServing,
    after: &ModelServing,
) -> Option<(i64, Count)> {
    if ![before, after].into_iter().all(is_small) {
        return None;
    }
    let outcome = simulate(&Scenario::of_change(servings::rules(catalog), before, after));
    Some((outcome.restarted, replaced_gpus(&outcome.trace, before)))
}

/// Whether a ModelServing has no more pods than are simulated.
fn is_small(serving: &ModelServing) -> bool {
    serving.counted && serving.extent() <= MOST_PODS
}

/// The GPUs of the pods that an update deletes, by the templates of `serving`.
fn replaced_gpus(trace: &Trace, serving: &ModelServing) -> Count {
    let gpus = |event: &Event| -> Count {
        let name = event.replica.map(|(role, _)| trace.names.text(role));
        let role: Option<&Role> = name.and_then(|name| serving.role(name));
        let template = role.and_then(|role| match event.index {
            0 => Some(&role.entry),
            _ => role.worker.as_ref(),
        });
        template.map_or_else(Count::default, |template| of_pod(&template.spec).into())
    };
    trace.events.iter().filter(|event| event.replaces_pod()).map(gpus).sum()
}

/// Two releases, and the running pods.
#[derive(Debug)]
pub struct Upgrades {
    /// Where the pods of an update may go; none if no node reports its resources.
    room: Option<ServingRoom>,
    from: &'static ServingRules,
    to: &'static ServingRules,
}

impl Upgrades {
    /// Upgrades from one release to another on the nodes and pods of a catalog.
    pub fn new(catalog: &Catalog, [from, to]: [&'static ServingRules; 2]) -> Self {
        // Without a ModelServing nobody asks for room, and settling a large input takes long.
        let is_asked = !catalog.model_servings().is_empty();
        let room = is_asked.then(|| ServingRoom::new(catalog)).flatten();
        Self { room, from, to }
    }

    /// The rules of both releases.
    pub fn rules(&self) -> [&'static ServingRules; 2] {
        [self.from, self.to]
    }

    /// The effect of the upgrade on a ModelServing; `None` if its revision does not change.
    pub fn of(&self, before: &ModelServing, after: &ModelServing) -> Option<ServingUpgrade> {
        let revision = |serving: &ModelServing, declared: RoleStruct| {
            revision::of_roles(serving.roles.iter().map(|role| &role.node), declared)
        };
        let revisions =
            [revision(before, self.from.role_struct), revision(after, self.to.role_struct)];
        // Without a role, an update has nothing to replace.
        if revisions[0] == revisions[1] || after.roles.is_empty() {
            return None;
        }
        let groups = after.replicas.value;
        Some(ServingUpgrade {
            revisions,
            by_role: after.rollout.value == RolloutType::Role,
            groups,
            held: after.budget.protected(groups).min(groups),
            played: is_small(after).then(|| self.play(before, after)),
        })
    }

    /// Whether an edit keeps the revision that the earlier release computes, so that nothing
    /// restarts before the upgrade.
    pub fn keeps(&self, before: &ModelServing, edited: &ModelServing) -> bool {
        let revision = |serving: &ModelServing| {
            revision::of_roles(serving.roles.iter().map(|role| &role.node), self.from.role_struct)
        };
        revision(before) == revision(edited)
    }

    fn play(&self, before: &ModelServing, after: &ModelServing) -> PlayedUpgrade {
        let change = Scenario::of_change(self.to, before, after);
        let scenario = Scenario { upgraded_from: Some(self.from.role_struct), ..change };
        let mut outcome = simulate(&scenario);
        let (pods, gpus) = (outcome.restarted, replaced_gpus(&outcome.trace, after));
        let capacity = &outcome.trace.capacity;
        let fewest =
            capacity.iter().map(|stage| stage.groups).min().unwrap_or(after.replicas.value);
        let stages = capacity.len();
        let fits = self.room.as_ref().and_then(|room| room.fits(&outcome.trace, &scenario));
        let short = fits.as_ref().and_then(|fits| fits.iter().position(|fits| !fits));
        // The first stage that does not fit ends the update: later ones are not reached.
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
