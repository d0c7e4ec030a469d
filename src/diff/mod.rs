//! The effect of a change of the manifests: changed services, restarts, GPUs before and after.
//!
//! In: two worlds, each read, decided and rendered the same way, and the selected services. Out: a
//! [`Diff`]: groups of services with the same change, its causes in the input, and the action for
//! every object.
//!
//! # Cost
//! A service is not rendered if its own object, model, runtime and classes are the same on both
//! sides and the decisions are equal: equal inputs have equal results. The others are rendered
//! twice, in windows, and only the differences are kept; services with the same change share one
//! copy of it.

mod added;
pub(crate) mod capacity;
pub(crate) mod cause;
pub(crate) mod changed;
pub(crate) mod comparison;
pub(crate) mod cost;
pub(crate) mod decision_change;
pub(crate) mod drift;
mod drift_field;
pub(crate) mod edit;
pub mod expect;
pub(crate) mod group;
pub(crate) mod ignored;
pub(crate) mod inputs;
pub(crate) mod others;
mod serving_upgrade;
pub(crate) mod side;
#[cfg(test)]
mod tests;
pub(crate) mod trial;
pub(crate) mod upgrade;
pub(crate) mod waves;

pub use crate::tree::effects::EFFECTS;
pub use crate::tree::{Change, equal};
pub use capacity::{AlteredWorkload, Capacity, ChangedWorkload, Room, Waits, is_short};
pub use cause::Cause;
pub use cost::Cost;
pub use decision_change::{By, Turned};
pub use edit::{AllEdits, Difference, Proposal, RuleEdit};
pub use inputs::share_nodes;
pub use others::OtherObjects;

use crate::api::{Api, ComponentKind, Failure, ObjectRef, Release};
use crate::diag::{Code, Diagnostic};
use crate::operators::servings;
pub use crate::pipeline::State;
use crate::pipeline::render::{Renderer, WINDOW};
use crate::pipeline::{At, ServingUpgrade, Upgrades, come_and_go, updates};
use crate::policy::Policy;
use crate::policy::upgrade::ReleaseRule;
use crate::quantity::Count;
use crate::yaml::{FieldPath, Node};
use cause::causes;
use comparison::{Answer, Comparison, Found};
use ecow::EcoString;
use group::Key;
use inputs::Inputs;
use rayon::prelude::*;
use side::{Both, Decided, Subject};
use std::collections::{BTreeMap, HashMap, HashSet};
use trial::Trials;

/// The settings of a run that affect rendering.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The mode: documented or controller.
    /// The cluster's DNS domain.
    pub cluster_domain: &'a str,
    /// The number of replicas that is placed.
    pub at: At,
    /// The pods are placed even if nothing differs.
    pub places: bool,
}

/// How a service changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It is on both sides and differs.
    Changed,
    /// It is new.
    Added,
    /// It is removed.
    Removed,
}

impl Fate {
    /// The value in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// The action for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It is created.
    Create,
    /// It is updated in place.
    Update,
    /// It is deleted.
    Delete,
    /// An immutable field changes: the object has to be deleted and recreated.
    Replace,
}

impl Action {
    /// The value in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Replace => "replace",
        }
    }
}

/// The change of one object.
#[derive(Clone, Debug)]
pub struct ObjectChange {
    /// The object.
    pub id: ObjectRef,
    /// The action.
    pub action: Action,
    /// Running pods are replaced.
    pub restart: bool,
    /// The changed fields, if the object is on both sides.
    pub changes: Vec<Change>,
    /// Those of `changes` that are immutable.
    pub immutable: Vec<FieldPath>,
    /// The object is no longer rendered, but the operator does not delete it.
    pub left_behind: bool,
    /// The whole object, if it is on one side only.
    whole: Option<Node>,
    component: Option<ComponentKind>,
    /// Objects of its kind run pods.
    pub runs_pods: bool,
}

/// A value before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair<T> {
    /// Before.
    pub from: T,
    /// After.
    pub to: T,
}

/// Services with the same change.
#[derive(Clone, Debug)]
pub struct Group {
    /// How they change.
    pub fate: Fate,
    /// Their API.
    pub api: Api,
    /// `namespace/name`, sorted.
    pub services: Vec<EcoString>,
    /// The causes of the change.
    pub causes: Vec<Cause>,
    /// The runtime, if it differs.
    pub runtime: Option<Pair<Option<ObjectRef>>>,
    /// The accelerator classes that differ, by component.
    pub accelerators: Vec<(ComponentKind, Pair<Option<EcoString>>)>,
    /// Why the service cannot be deployed, if the reason before differs from the one after.
    pub error: Option<Pair<Option<Refused>>>,
    /// Why the service cannot be deployed afterwards, even if it could not be deployed before. Its
    /// objects are those that the operator writes before it fails.
    pub fails: Option<Refused>,
    /// The changes of the objects of the first service.
    pub objects: Vec<ObjectChange>,
    /// The pods of each service are replaced.
    pub restart: bool,
    /// Replaced pods of all services, at minReplicas.
    pub pods_restarted: Count,
    /// GPUs of these pods.
    pub gpus_restarted: Count,
    /// GPUs of all services, at minReplicas.
    pub gpus: Pair<Count>,
    /// Dollars per hour of each service, in the order of `services`.
    pub costs: Vec<Pair<Cost>>,
    /// The rules of the releases that make the difference, if two releases are compared.
    pub rules: Vec<&'static ReleaseRule>,
    /// The edit before the upgrade for each rule, in the order of `rules`.
    pub edits: Vec<Proposal>,
    /// All edits of the first service together.
    pub all_edits: Option<AllEdits>,
    /// The update that an upgrade of Kthena starts.
    pub rolled: Option<ServingUpgrade>,
}

/// Why a service cannot be deployed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Code of the error.
    pub code: Code,
    /// The message.
    pub message: String,
}

impl Refused {
    /// Whether the service is not refused, but could not be rendered: the cluster has configurations
    /// that were not read.
    pub fn is_unread(&self) -> bool {
        self.code == Code::PresetsNotRead
    }

    /// Whether it is refused for an object that the input lacks.
    pub(super) fn is_for_absent(&self) -> bool {
        matches!(self.code, Code::RuntimeNotFound | Code::ModelNotFound)
    }
}

impl From<&Failure> for Refused {
    fn from(error: &Failure) -> Self {
        Self { code: error.code, message: error.message.clone() }
    }
}

/// A rule that changes no object of a service, and the objects that it affects.
#[derive(Clone, Debug)]
pub struct Note {
    /// The rule.
    pub rule: &'static ReleaseRule,
    /// Objects of the input, in the order of the catalog.
    pub objects: Vec<ObjectRef>,
}

/// Totals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Services on either side.
    pub services: usize,
    /// Services that are on both sides and differ.
    pub changed: usize,
    /// Services that are new.
    pub added: usize,
    /// Services that are removed.
    pub removed: usize,
    /// Services whose pods are replaced.
    pub restarts: usize,
    /// Pods that are replaced, at minReplicas.
    pub pods_restarted: Count,
    /// GPUs of these pods.
    pub gpus_restarted: Count,
    /// GPUs of all services at minReplicas; those of a service in error do not count.
    pub gpus: Pair<Count>,
    /// Dollars per hour of the same services, for classes with prices.
    pub costs: Pair<Cost>,
    /// Services that are in error and were not before.
    pub broken: usize,
    /// Services that cannot be deployed afterwards.
    pub refused: usize,
    /// Services that fail afterwards and did not before; counted between releases only.
    pub fails: usize,
    /// Objects that the operator leaves behind; counted between releases only.
    pub left_behind: usize,
    /// Services that were rendered for the comparison.
    pub rendered: usize,
}

/// The order of two releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the older release to the newer one.
    Upgrade,
    /// From the newer release to the older one: the rules in which they differ are reverted.
    Downgrade,
}

impl Direction {
    /// The direction from one release to another.
    fn between(from: &Release, to: &Release) -> Self {
        if from.date > to.date { Self::Downgrade } else { Self::Upgrade }
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// Totals.
    pub summary: Summary,
    /// Groups, the largest first.
    pub groups: Vec<Group>,
    /// Findings about changed services, in the new state.
    pub diagnostics: Vec<Diagnostic>,
    /// The effect on the capacity of the nodes; `None` if neither services nor nodes differ, or no
    /// node reports its resources.
    pub capacity: Option<Capacity>,
    /// The workloads that no operator writes and that change, if no node reports its resources; else
    /// they are in `capacity`.
    pub workloads: Vec<AlteredWorkload>,
    /// The workloads that no operator writes and that go, and those that come.
    pub workloads_that_go_and_come: [Vec<EcoString>; 2],
    /// Objects that are neither services nor workloads, and that no group names as a cause.
    pub other_objects: OtherObjects,
    /// The rules of an upgrade that change no objects.
    pub notes: Vec<Note>,
    /// Set if two releases of an operator are compared instead of two states of the input.
    pub between_releases: Option<Direction>,
    /// The basis of the rules of the releases, if they were not recorded from the releases.
    pub basis: Option<&'static str>,
}

impl Diff {
    /// The workloads that no operator writes, that were there before and that change, each with whether
    /// its pods are replaced.
    pub fn changed_workloads(&self) -> impl Iterator<Item = (&EcoString, bool)> {
        let placed = self.capacity.iter().flat_map(Capacity::changed_workloads);
        let placed = placed.map(|changed| (&changed.workload, changed.restarts()));
        placed.chain(self.workloads.iter().map(|changed| (&changed.workload, changed.restarts)))
    }
}

/// The policies of an operator that the two sides follow; `None` if both follow the same.
fn policies(sides: [&State<'_>; 2], api: Api) -> Option<[&'static Policy; 2]> {
    let [before, after] = sides.map(|side| side.world.catalog.policy(api));
    let (before, after) = (before?, after?);
    (before.id != after.id).then_some([before, after])
}

/// Compares two states.
pub fn diff<'a>(before: &State<'a>, after: &State<'a>, settings: Settings<'_>) -> Diff {
    let sides = [before, after];
    // Sorted, so that groups and findings come in one order, whatever the files' is.
    let mut both: BTreeMap<(EcoString, EcoString, Api), Both<'a>> = BTreeMap::new();
    for (position, side) in sides.iter().enumerate() {
        for views in &side.services {
            let service = views.followed();
            both.entry((service.namespace.clone(), service.name().clone(), service.object.api))
                .or_default()[position] = Some(Subject::Service(views));
        }
        for serving in &side.servings {
            both.entry((serving.namespace.clone(), serving.name().clone(), servings::API))
                .or_default()[position] = Some(Subject::ModelServing(serving));
        }
    }
    let renderers = sides.map(|side| Renderer::new(side.world, settings.cluster_domain));
    let mut inputs = Inputs::of(&before.world.catalog, &after.world.catalog);
    // Another release may decide any service differently.
    let releases = upgrade::releases(sides);
    let upgrades_services = releases.is_some();
    // Then no service is skipped as unaffected.
    inputs.shared |= upgrades_services;
    let of_servings = policies(sides, servings::API);
    let upgrades =
        of_servings.map(|both| Upgrades::new(&after.world.catalog, both.map(servings::of_policy)));
    let upgrades = upgrades.as_ref();
    let comparison =
        Comparison { sides, renderers: &renderers, inputs: &inputs, settings, upgrades_services };
    let mut gathered = Gathered::default();
    let mut trials = Trials::new(&comparison, releases.is_none());
    let all: Vec<_> = both.into_iter().collect();
    // In windows: rendered objects of the whole fleet at once would not fit into memory.
    for window in all.chunks(WINDOW * rayon::current_num_threads().max(1)) {
        let answers: Vec<Answer<'_, 'a>> = window
            .par_iter()
            .map(|((namespace, name, api), both)| match (upgrades, both) {
                (
                    Some(upgrades),
                    [Some(Subject::ModelServing(before)), Some(Subject::ModelServing(after))],
                ) => serving_upgrade::answer(&comparison, upgrades, before, after),
                _ => comparison.answer((namespace, name, *api), *both),
            })
            .collect();
        // One after the other in the order of names: groups take their first service from it.
        for answer in answers {
            gathered.take(answer, &mut trials);
        }
    }
    let mut diff = gathered.finish();
    if let Some(releases) = releases {
        upgrade::explain(&comparison, releases, &mut diff);
        diff.notes = upgrade::notes(&comparison, releases);
        diff.basis = upgrade::basis(releases);
    }
    diff.between_releases =
        releases.or(of_servings).map(|[from, to]| Direction::between(&from.id, &to.id));
    if diff.between_releases.is_some() {
        upgrade::order(&mut diff);
    }
    let is_upgrade = diff.between_releases.is_some();
    diff.diagnostics.extend(updates::refused(&before.world.catalog, &after.world.catalog));
    diff.capacity = capacity::capacity(before, after, settings, &diff.groups, is_upgrade);
    diff.workloads = capacity::altered(before, after);
    diff.workloads_that_go_and_come = come_and_go(before, after);
    // Between releases the input is the same.
    if diff.between_releases.is_none() {
        let causes = diff.groups.iter().flat_map(|group| &group.causes);
        let causes: HashSet<&str> = causes.map(|cause| cause.object.as_str()).collect();
        diff.other_objects = others::of(before, after, &causes);
    }
    let servings = diff.capacity.as_ref().map(|capacity| capacity.servings.clone());
    // Without a placement nothing differs, and both sides cost the same.
    let servings = servings.unwrap_or_else(|| capacity::unchanged(after, settings));
    cost::add_servings(&mut diff, [before, after], &servings);
    diff
}

/// Collects the answers of all services into groups.
#[derive(Default)]
struct Gathered {
    diff: Diff,
    group_by_key: HashMap<Key, usize>,
    causes: Vec<BTreeMap<(String, FieldPath), Cause>>,
}

impl Gathered {
    fn take<'c, 'a>(&mut self, answer: Answer<'c, 'a>, trials: &mut Trials<'c, 'a>) {
        let summary = &mut self.diff.summary;
        summary.services += 1;
        summary.gpus.from += answer.gpus.from;
        summary.gpus.to += answer.gpus.to;
        summary.costs.from += answer.costs.from;
        summary.costs.to += answer.costs.to;
        summary.refused += usize::from(answer.refused);
        summary.rendered += usize::from(answer.rendered);
        let Some(found) = answer.change else { return };
        let Found { both, mut group, candidates, keys, diagnostics } = *found;
        match group.fate {
            Fate::Changed => summary.changed += 1,
            Fate::Added => summary.added += 1,
            Fate::Removed => summary.removed += 1,
        }
        summary.restarts += usize::from(group.restart);
        let is_refused = |error: &Refused| !error.is_unread();
        let broke = |error: &Pair<Option<Refused>>| {
            error.from.is_none() && error.to.as_ref().is_some_and(is_refused)
        };
        summary.broken += usize::from(group.error.as_ref().is_some_and(broke));
        summary.pods_restarted += group.pods_restarted;
        summary.gpus_restarted += group.gpus_restarted;
        let index = keys.iter().find_map(|key| self.group_by_key.get(key).copied());
        let index = if let Some(index) = index {
            let joined = &mut self.diff.groups[index];
            joined.services.append(&mut group.services);
            joined.costs.append(&mut group.costs);
            joined.pods_restarted += group.pods_restarted;
            joined.gpus_restarted += group.gpus_restarted;
            joined.gpus.from += group.gpus.from;
            joined.gpus.to += group.gpus.to;
            index
        } else {
            self.diff.diagnostics.extend(refusals(&group));
            self.diff.groups.push(group);
            self.causes.push(BTreeMap::new());
            self.diff.groups.len() - 1
        };
        // The first group that has a key keeps it: a later one has joined it.
        for key in keys {
            self.group_by_key.entry(key).or_insert(index);
        }
        // Trials compare objects, and of what is not rendered there are none: its changes are the causes.
        let shown = &self.diff.groups[index];
        let is_tried = shown.fails.is_none() || shown.error.is_some() || !shown.objects.is_empty();
        let candidates = if is_tried { trials.weigh(index, both, candidates) } else { candidates };
        let causes = causes(trials.sides(), &candidates);
        self.causes[index].extend(
            causes.into_iter().map(|cause| ((cause.object.clone(), cause.path.clone()), cause)),
        );
        self.diff.diagnostics.extend(diagnostics);
    }

    fn finish(mut self) -> Diff {
        for (group, causes) in self.diff.groups.iter_mut().zip(self.causes) {
            group.causes = causes.into_values().collect();
        }
        self.diff.groups.sort_by(|a, b| {
            b.services
                .len()
                .cmp(&a.services.len())
                .then_with(|| a.services.cmp(&b.services))
                .then_with(|| a.api.cmp(&b.api))
        });
        self.diff
    }
}

/// Reports the immutable fields that a group changes, once per group.
fn refusals(group: &Group) -> Vec<Diagnostic> {
    let replaced = group.objects.iter().filter(|object| object.action == Action::Replace);
    let fields = replaced.flat_map(|object| {
        object
            .changes
            .iter()
            .filter(|change| object.immutable.contains(&change.path))
            .map(move |change| (object, change))
    });
    fields.map(|(object, change)| updates::finding(&object.id, change)).collect()
}
