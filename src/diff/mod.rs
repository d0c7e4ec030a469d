//! What a change of the manifests does: services that change, what restarts, GPUs before and after.
//!
//! In: two worlds, each read, decided and rendered the same way, and which services are requested.
//! Out: a [`Diff`]: groups of services with the same change, its causes in the input, and what
//! happens to every object. Nothing is worded here.
//!
//! # How cost grows
//! A service whose own object, model, runtime and classes are the same on both sides, and for which
//! the same is decided, is not rendered at all: what is made of equal inputs is equal. The others
//! are rendered twice, in windows, and only what differs is kept; services with the same change
//! share one copy of it.

pub(crate) mod capacity;
pub(crate) mod cause;
pub(crate) mod changed;
pub(crate) mod comparison;
pub(crate) mod cost;
pub(crate) mod decision_change;
pub(crate) mod drift;
pub(crate) mod edit;
pub(crate) mod effects;
pub mod expect;
pub(crate) mod group;
pub(crate) mod inputs;
pub(crate) mod kthena_upgrade;
pub(crate) mod side;
pub(crate) mod trial;
pub(crate) mod upgrade;
pub(crate) mod waves;

pub use crate::tree::{Change, equal};
pub use capacity::{Capacity, Room, Waits, is_short};
pub use cause::Cause;
pub use cost::Cost;
pub use decision_change::{By, Turned};
pub use edit::{AllEdits, Difference, Proposal, RuleEdit};
pub use effects::EFFECTS;
pub use inputs::share_nodes;

use crate::api::{Api, ComponentKind, Failure, Follow, ModelServing, ObjectRef, Release, Views};
use crate::diag::{Code, Diagnostic};
use crate::pipeline::render::{Renderer, WINDOW};
use crate::pipeline::{ServingUpgrade, Upgrades};
use crate::policy::KthenaPolicy;
use crate::policy::upgrade::ReleaseRule;
use crate::quantity::Count;
use crate::workspace::World;
use crate::yaml::{FieldPath, Node};
use cause::causes;
use comparison::{Answer, Comparison, Found};
use ecow::EcoString;
use group::Key;
use inputs::Inputs;
use rayon::prelude::*;
use side::{Both, Decided, Subject};
use std::collections::{BTreeMap, HashMap};
use trial::Trials;

/// One of the two states.
#[derive(Debug)]
pub struct Side<'a> {
    /// Everything that was read.
    pub world: &'a World,
    /// The services that are requested.
    pub services: Vec<&'a Views>,
    /// The ModelServings that are requested.
    pub servings: Vec<&'a ModelServing>,
}

/// What a run says about rendering.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The mode: documents or controllers.
    pub semantics: Follow,
    /// The cluster's DNS domain.
    pub cluster_domain: &'a str,
    /// What ModelServings follow on each side.
    pub kthena: [&'static KthenaPolicy; 2],
}

/// What becomes of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It becomes something else.
    Changed,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
}

impl Fate {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It is made.
    Create,
    /// It is changed in place.
    Update,
    /// It is deleted.
    Delete,
    /// A field that may not change does: it has to be deleted and made again.
    Replace,
}

impl Action {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Replace => "replace",
        }
    }
}

/// What happens to one object.
#[derive(Clone, Debug)]
pub struct ObjectChange {
    /// The object.
    pub id: ObjectRef,
    /// What happens.
    pub action: Action,
    /// Pods that run before are replaced.
    pub restart: bool,
    /// The fields, of one that is there on both sides.
    pub changes: Vec<Change>,
    /// Those of them that may not change.
    pub immutable: Vec<FieldPath>,
    /// It should go, and the operator does not delete it.
    pub left_behind: bool,
    /// The object as a whole, of one that is there on one side only.
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
    /// What becomes of them.
    pub fate: Fate,
    /// Their API.
    pub api: Api,
    /// `namespace/name`, sorted.
    pub services: Vec<EcoString>,
    /// Why.
    pub causes: Vec<Cause>,
    /// The runtime, when it is another one.
    pub runtime: Option<Pair<Option<ObjectRef>>>,
    /// The accelerator classes that are others, by component.
    pub accelerators: Vec<(ComponentKind, Pair<Option<EcoString>>)>,
    /// Why the service cannot be deployed, when that is another reason or none.
    pub error: Option<Pair<Option<Refused>>>,
    /// Why the service cannot be deployed afterwards, also where it could not before. Its objects
    /// are those that the operator writes before it fails.
    pub fails: Option<Refused>,
    /// What happens to the objects of the first of them.
    pub objects: Vec<ObjectChange>,
    /// Pods of each are replaced.
    pub restart: bool,
    /// Pods of all of them that are replaced, at minReplicas.
    pub pods_restarted: Count,
    /// GPUs of these pods.
    pub gpus_restarted: Count,
    /// GPUs of all of them, at minReplicas.
    pub gpus: Pair<Count>,
    /// Dollars per hour of each of them, in their order.
    pub costs: Vec<Pair<Cost>>,
    /// The rules of the releases that make the difference, where two are compared.
    pub rules: Vec<&'static ReleaseRule>,
    /// The edit before the upgrade for each of them, in their order.
    pub edits: Vec<Proposal>,
    /// All edits of the first service together.
    pub all_edits: Option<AllEdits>,
    /// The update that an upgrade of Kthena begins.
    pub rolled: Option<ServingUpgrade>,
}

/// Why a service cannot be deployed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Code of the error.
    pub code: Code,
    /// The sentence.
    pub message: String,
}

impl From<&Failure> for Refused {
    fn from(error: &Failure) -> Self {
        Self { code: error.code, message: error.message.clone() }
    }
}

/// A rule that changes no object of a service, and what it reaches.
#[derive(Clone, Debug)]
pub struct Note {
    /// The rule.
    pub rule: &'static ReleaseRule,
    /// Objects of the input, in the order of the catalog.
    pub objects: Vec<ObjectRef>,
}

/// Everything in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Services on either side.
    pub services: usize,
    /// Services that become something else.
    pub changed: usize,
    /// Services that are new.
    pub added: usize,
    /// Services that are gone.
    pub removed: usize,
    /// Services whose pods are replaced.
    pub restarts: usize,
    /// Pods that are replaced, at minReplicas.
    pub pods_restarted: Count,
    /// GPUs of these pods.
    pub gpus_restarted: Count,
    /// GPUs of all services at minReplicas; those of a service in error do not count.
    pub gpus: Pair<Count>,
    /// Dollars per hour of the same, where classes have prices.
    pub costs: Pair<Cost>,
    /// Services that are in error and were not before.
    pub broken: usize,
    /// Services that cannot be deployed afterwards.
    pub refused: usize,
    /// Services that fail afterwards and did not before; counted between releases only.
    pub fails: usize,
    /// Objects that the operator leaves behind; counted between releases only.
    pub left_behind: usize,
    /// Services that were rendered to find out.
    pub rendered: usize,
}

/// Which of two releases comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The older one runs.
    Upgrade,
    /// The newer one runs: the rules by which they differ are taken back.
    Downgrade,
}

impl Direction {
    /// From one release to another.
    fn between(from: &Release, to: &Release) -> Self {
        if from.date > to.date { Self::Downgrade } else { Self::Upgrade }
    }
}

/// The answer.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// Everything in numbers.
    pub summary: Summary,
    /// Groups, the largest first.
    pub groups: Vec<Group>,
    /// What was found about services that are not the same as before, in the new state.
    pub diagnostics: Vec<Diagnostic>,
    /// What the change does to the room on the nodes; none where neither services nor nodes are
    /// others, or no node says what it has.
    pub capacity: Option<Capacity>,
    /// What an upgrade changes beside objects.
    pub notes: Vec<Note>,
    /// Two releases of an operator are compared, not two states of the input: which way.
    pub between_releases: Option<Direction>,
    /// How the rules of the releases are known, where that is not by recording.
    pub basis: Option<&'static str>,
}

/// Compares two states.
pub fn diff<'a>(before: &Side<'a>, after: &Side<'a>, settings: Settings<'_>) -> Diff {
    let sides = [before, after];
    let mut both: BTreeMap<(EcoString, EcoString, Api), Both<'a>> = BTreeMap::new();
    for (position, side) in sides.iter().enumerate() {
        for views in &side.services {
            let service = views.of(settings.semantics);
            both.entry((service.namespace.clone(), service.name().clone(), service.object.api))
                .or_default()[position] = Some(Subject::Service(views));
        }
        for serving in &side.servings {
            both.entry((serving.namespace.clone(), serving.name().clone(), Api::Kthena))
                .or_default()[position] = Some(Subject::ModelServing(serving));
        }
    }
    let renderers =
        sides.map(|side| Renderer::new(side.world, settings.semantics, settings.cluster_domain));
    let mut inputs = Inputs::of(&before.world.catalog, &after.world.catalog);
    // By another release anything may be decided otherwise.
    let releases = upgrade::releases(sides, settings);
    let upgrades_services = releases.is_some();
    inputs.shared |= upgrades_services;
    let [from, to] = settings.kthena;
    let upgrades =
        (from.profile != to.profile).then(|| Upgrades::new(&after.world.catalog, from, to));
    let upgrades = upgrades.as_ref();
    let comparison =
        Comparison { sides, renderers: &renderers, inputs: &inputs, settings, upgrades_services };
    let mut gathered = Gathered::default();
    let mut trials = Trials::new(&comparison, releases.is_none());
    let all: Vec<_> = both.into_iter().collect();
    for window in all.chunks(WINDOW * rayon::current_num_threads().max(1)) {
        let answers: Vec<Answer<'_, 'a>> = window
            .par_iter()
            .map(|((namespace, name, api), both)| match (upgrades, both) {
                (
                    Some(upgrades),
                    [Some(Subject::ModelServing(before)), Some(Subject::ModelServing(after))],
                ) => kthena_upgrade::answer(&comparison, upgrades, before, after),
                _ => comparison.answer((namespace, name, *api), *both),
            })
            .collect();
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
    diff.between_releases = releases
        .map(|[from, to]| Direction::between(&from.id, &to.id))
        .or(upgrades.map(|_| Direction::between(&from.id, &to.id)));
    if diff.between_releases.is_some() {
        upgrade::order(&mut diff);
    }
    let is_upgrade = diff.between_releases.is_some();
    diff.capacity = capacity::capacity(before, after, settings, &diff.groups, is_upgrade);
    let servings = diff.capacity.as_ref().map(|capacity| capacity.servings.clone());
    let servings = servings.unwrap_or_else(|| capacity::unchanged(after, settings));
    cost::add_servings(&mut diff, [before, after], &servings);
    diff
}

/// Answers of all services on their way into groups.
#[derive(Default)]
struct Gathered {
    diff: Diff,
    known: HashMap<Key, usize>,
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
        let broke = |error: &Pair<Option<Refused>>| error.from.is_none() && error.to.is_some();
        summary.broken += usize::from(group.error.as_ref().is_some_and(broke));
        summary.pods_restarted += group.pods_restarted;
        summary.gpus_restarted += group.gpus_restarted;
        let index = keys.iter().find_map(|key| self.known.get(key).copied());
        let index = if let Some(index) = index {
            let known = &mut self.diff.groups[index];
            known.services.append(&mut group.services);
            known.costs.append(&mut group.costs);
            known.pods_restarted += group.pods_restarted;
            known.gpus_restarted += group.gpus_restarted;
            known.gpus.from += group.gpus.from;
            known.gpus.to += group.gpus.to;
            index
        } else {
            self.diff.diagnostics.extend(refusals(&group));
            self.diff.groups.push(group);
            self.causes.push(BTreeMap::new());
            self.diff.groups.len() - 1
        };
        for key in keys {
            self.known.entry(key).or_insert(index);
        }
        let causes = causes(trials.sides(), &trials.weigh(index, both, candidates));
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

/// Immutable fields of a group, reported once.
fn refusals(group: &Group) -> Vec<Diagnostic> {
    let replaced = group.objects.iter().filter(|object| object.action == Action::Replace);
    let fields = replaced.flat_map(|object| {
        object
            .changes
            .iter()
            .filter(|change| object.immutable.contains(&change.path))
            .map(move |change| (object, change))
    });
    fields
        .map(|(object, change)| {
            Diagnostic::new(
                Code::ImmutableField,
                format!(
                    "`{}` of {} may not change: the API server refuses the update",
                    change.path, object.id
                ),
            )
            .at(change.to.as_ref().and_then(|node| node.origin.span()))
            .path(change.path.to_string())
            .object(object.id.to_string())
            .help("delete the object before the change is applied, or keep the field as it was")
        })
        .collect()
}
