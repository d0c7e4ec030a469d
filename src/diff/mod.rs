//! What a change of the manifests does: services that become something else, what restarts, GPUs
//! before and after.
//!
//! In: two worlds, each read, decided and rendered the same way, and which services are asked for.
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
pub(crate) mod cost;
pub(crate) mod drift;
pub(crate) mod edit;
pub(crate) mod effects;
pub mod expect;
pub(crate) mod group;
pub(crate) mod inputs;
pub(crate) mod made;
pub(crate) mod rolled;
pub(crate) mod trial;
pub(crate) mod turned;
pub(crate) mod upgrade;
pub(crate) mod waves;

pub use crate::tree::{Change, equal};
pub use capacity::{Capacity, Room, Waits, is_short};
pub use cause::Cause;
pub use cost::Cost;
pub use edit::{AllEdits, Difference, Proposal, RuleEdit};
pub use effects::{EFFECTS, Effect};
pub use inputs::share_nodes;
pub use turned::{By, Turned};

use crate::api::{
    Api, ComponentKind, Failure, Follow, ModelServing, Object, ObjectRef, Semantics, Views,
};
use crate::diag::{Code, Diagnostic};
use crate::pipeline::planned::PlannedComponent;
use crate::pipeline::render::{Renderer, WINDOW};
use crate::pipeline::serving::serving_gpus;
use crate::pipeline::{ServingUpgrade, Upgrades};
use crate::policy::KthenaPolicy;
use crate::policy::upgrade::ReleaseRule;
use crate::quantity::Count;
use crate::schema;
use crate::workspace::World;
use crate::yaml::{FieldPath, Node};
use cause::{Candidate, Question, candidates, causes};
use ecow::EcoString;
use effects::api_version_and_kind;
use group::{Key, Names, Writer};
use inputs::Inputs;
use made::{Both, Decided, Extent, Made, Subject};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use trial::Trials;

/// One of the two states.
#[derive(Debug)]
pub struct Side<'a> {
    /// Everything that was read.
    pub world: &'a World,
    /// The services that are asked for.
    pub services: Vec<&'a Views>,
    /// The ModelServings that are asked for.
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
    /// Two releases of an operator are compared, not two states of the input.
    pub between_releases: bool,
    /// How the rules of the releases are known, where that is not by recording.
    pub basis: Option<&'static str>,
}

/// What one service came to.
struct Answer<'c, 'a> {
    gpus: Pair<Count>,
    costs: Pair<Cost>,
    refused: bool,
    rendered: bool,
    change: Option<Box<Found<'c, 'a>>>,
}

/// The change of one service, and by what it is recognized.
struct Found<'c, 'a> {
    both: Both<'a>,
    group: Group,
    candidates: Vec<Candidate<'c, 'a>>,
    keys: [Key; 2],
    diagnostics: Vec<Diagnostic>,
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
    let comparison = Comparison {
        sides,
        renderers: &renderers,
        inputs: &inputs,
        settings,
        upgrades_services,
        upgrades,
    };
    let mut gathered = Gathered::default();
    let mut trials = Trials::new(&comparison, releases.is_none());
    let all: Vec<_> = both.into_iter().collect();
    for window in all.chunks(WINDOW * rayon::current_num_threads().max(1)) {
        let answers: Vec<Answer<'_, 'a>> = window
            .par_iter()
            .map(|((namespace, name, api), both)| comparison.answer((namespace, name, *api), *both))
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
    diff.between_releases = releases.is_some() || upgrades.is_some();
    if diff.between_releases {
        upgrade::order(&mut diff);
    }
    diff.capacity = capacity::capacity(before, after, settings, &diff.groups);
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

/// Fields of a group that may not change, said once.
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

/// Everything that services are compared with.
struct Comparison<'c, 'a> {
    sides: [&'c Side<'a>; 2],
    renderers: &'c [Renderer<'a>; 2],
    inputs: &'c Inputs<'a>,
    settings: Settings<'c>,
    /// Two releases of an operator of services are compared: what differs exists already.
    upgrades_services: bool,
    /// Of Kthena, where two of its releases are compared.
    upgrades: Option<&'c Upgrades<'a>>,
}

impl<'c, 'a> Comparison<'c, 'a> {
    fn answer(
        &self,
        (namespace, name, api): (&EcoString, &EcoString, Api),
        both: Both<'a>,
    ) -> Answer<'c, 'a> {
        if let (Some(upgrades), [Some(before), Some(after)]) = (self.upgrades, both)
            && let [Subject::ModelServing(before), Subject::ModelServing(after)] = [before, after]
        {
            return rolled::answer(self, upgrades, before, after);
        }
        if let Some(answer) = self.same(both) {
            return answer;
        }
        let made = [0, 1]
            .map(|side| both[side].map_or_else(Made::default, |subject| self.make(side, subject)));
        let [before, after] = &made;
        let fate = match both {
            [None, _] => Fate::Added,
            [_, None] => Fate::Removed,
            _ => Fate::Changed,
        };
        let gpus = Pair { from: before.gpus(), to: after.gpus() };
        let (was, is) = (&before.decided, &after.decided);
        let refused = [was, is].map(|decided| decided.error.is_some());
        let name_of = |object: Option<&Object>| object.map(|object| object.id.clone());
        let objects = self.updated(api, fate, before, after);
        let restarts = |component: Option<ComponentKind>| {
            let own = objects.iter().filter(|object| object.component == component);
            restart(own)
        };
        let restarted = before
            .components
            .iter()
            .filter(|(component, _)| fate == Fate::Changed && restarts(*component));
        let restarted: Vec<&Extent> = restarted.map(|(_, extent)| extent).collect();
        let pods_restarted = restarted.iter().map(|extent| extent.pods).sum();
        let gpus_restarted = restarted.iter().map(|extent| extent.gpus).sum();
        let restart = fate == Fate::Changed && restart(&objects);
        let group = Group {
            fate,
            api,
            services: vec![ecow::eco_format!("{namespace}/{name}")],
            causes: Vec::new(),
            runtime: (name_of(was.runtime) != name_of(is.runtime))
                .then(|| Pair { from: name_of(was.runtime), to: name_of(is.runtime) }),
            accelerators: accelerators(was, is),
            error: (was.error != is.error)
                .then(|| Pair { from: was.error.clone(), to: is.error.clone() }),
            fails: is.error.clone(),
            objects,
            restart,
            pods_restarted,
            gpus_restarted,
            gpus: gpus.clone(),
            costs: vec![Pair { from: before.cost, to: after.cost }],
            rules: Vec::new(),
            edits: Vec::new(),
            all_edits: None,
            rolled: None,
        };
        let differs = fate != Fate::Changed
            || !group.objects.is_empty()
            || group.runtime.is_some()
            || !group.accelerators.is_empty()
            || group.error.is_some();
        let change = differs.then(|| {
            let question = Question {
                sides: self.sides,
                inputs: self.inputs,
                subject: both.map(|subject| subject.map(|subject| self.object(subject))),
                decided: [was, is],
                objects: &group.objects,
                refused: was.error != is.error,
            };
            let candidates = candidates(&question);
            let keys =
                [Names::Aside(namespace, name), Names::Kept].map(|names| self.key(&group, names));
            let diagnostics = after.diagnostics.clone();
            Box::new(Found { both, group, candidates, keys, diagnostics })
        });
        let costs = Pair { from: before.cost, to: after.cost };
        Answer { gpus, costs, refused: refused[1], rendered: true, change }
    }

    /// What happens to the objects of a service that is made otherwise.
    fn updated(
        &self,
        api: Api,
        fate: Fate,
        before: &Made<'_>,
        after: &Made<'_>,
    ) -> Vec<ObjectChange> {
        let mut objects = object_changes(before, after);
        if fate != Fate::Removed && after.decided.error.is_some() {
            // What it does not come to stays as it is: the operator deletes after it has written.
            objects.retain(|object| object.action != Action::Delete);
        }
        if (fate, api, self.settings.semantics.of(api))
            == (Fate::Changed, Api::Ome, Semantics::Controller)
        {
            leave_behind(&mut objects, after);
            if self.upgrades_services {
                objects.retain(|object| !keeps_metadata(object));
            }
        }
        objects
    }

    fn object(&self, subject: Subject<'a>) -> &'a Object {
        match subject {
            Subject::Service(views) => &views.of(self.settings.semantics).object,
            Subject::ModelServing(serving) => &serving.object,
        }
    }

    /// The answer for a service of which nothing changed that it is made of.
    fn same(&self, both: Both<'a>) -> Option<Answer<'c, 'a>> {
        let [Some(before), Some(after)] = both else { return None };
        let object = self.object(after);
        if self.inputs.get(object.api, &object.id).is_some() {
            return None;
        }
        let services = match (before, after) {
            (Subject::Service(before), Subject::Service(after)) => {
                [before, after].map(|views| views.of(self.settings.semantics))
            }
            (_, Subject::ModelServing(serving)) => {
                let refused = made::broken(self.sides[1].world, serving).is_some();
                let gpus = if refused { Count::default() } else { serving_gpus(serving) };
                return Some(Answer {
                    gpus: Pair { from: gpus, to: gpus },
                    costs: Pair::default(),
                    refused,
                    rendered: false,
                    change: None,
                });
            }
            _ => return None,
        };
        if self.inputs.shared
            || services[1].model.as_ref().is_some_and(|model| self.inputs.model(&model.name.value))
        {
            return None;
        }
        let resolutions = [0, 1].map(|side| self.renderers[side].decide(services[side]));
        let [was, is] = [&resolutions[0], &resolutions[1]].map(Decided::of);
        let unchanged = |before: Option<&Object>, after: Option<&Object>| match (before, after) {
            (Some(before), Some(after)) => {
                before.id == after.id && self.inputs.get(after.api, &after.id).is_none()
            }
            (None, None) => true,
            _ => false,
        };
        let same = unchanged(was.runtime, is.runtime)
            && unchanged(was.model, is.model)
            && was.accelerators == is.accelerators
            && was.error == is.error
            && (!self.inputs.classes || is.accelerators.is_empty());
        same.then(|| {
            let [_, mut resolution] = resolutions;
            let ask = self.renderers[1].ask(services[1]);
            let built = ask.build(services[1], &mut resolution, &mut ());
            let refused = built.error.is_some();
            let components: Vec<PlannedComponent> =
                built.outlines.into_iter().map(PlannedComponent::from).collect();
            let least = components.iter().filter(|_| !refused);
            let gpus = least.map(PlannedComponent::least_gpus).sum();
            let cost = if refused { Cost::default() } else { cost::cost(&is, &components) };
            Answer {
                gpus: Pair { from: gpus, to: gpus },
                costs: Pair { from: cost, to: cost },
                refused,
                rendered: false,
                change: None,
            }
        })
    }

    /// Decides and renders one service on one side.
    fn make(&self, side: usize, subject: Subject<'a>) -> Made<'a> {
        made::make(&self.renderers[side], subject)
    }

    /// What identifies a change.
    fn key(&self, group: &Group, names: Names<'_>) -> Key {
        let mut writer = Writer::new(self.sides, names);
        writer.plain(format_args!(
            "{:?} {:?} {:?} {:?}",
            group.fate, group.api, group.runtime, group.accelerators
        ));
        if let Some(Pair { from, to }) = &group.error {
            // An error names its service; what is the same is its code.
            writer.plain(format_args!(
                "{:?} {:?}",
                from.as_ref().map(|error| error.code),
                to.as_ref().map(|error| error.code)
            ));
        }
        writer.plain(format_args!("{:?}", group.fails.as_ref().map(|error| error.code)));
        writer.plain(format_args!("{:?}", group.rolled));
        group.objects.iter().for_each(|object| writer.object(object));
        writer.finish()
    }
}

/// Whether changes of objects replace pods: of a workload, or by another workload for it.
fn restart<'o>(objects: impl IntoIterator<Item = &'o ObjectChange>) -> bool {
    let objects: Vec<&ObjectChange> = objects.into_iter().collect();
    let moved = |component: Option<ComponentKind>| {
        let has = |action: Action| {
            objects.iter().any(|object| {
                object.action == action && object.runs_pods && object.component == component
            })
        };
        has(Action::Delete) && has(Action::Create)
    };
    objects.iter().any(|object| object.restart || moved(object.component))
}

/// The classes that are others.
fn accelerators(
    before: &Decided<'_>,
    after: &Decided<'_>,
) -> Vec<(ComponentKind, Pair<Option<EcoString>>)> {
    let class = |decided: &Decided<'_>, kind: ComponentKind| {
        decided
            .accelerators
            .iter()
            .find(|(own, _)| *own == kind)
            .and_then(|(_, class)| class.clone())
    };
    let mut kinds: Vec<ComponentKind> =
        before.accelerators.iter().chain(&after.accelerators).map(|(kind, _)| *kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let pairs = kinds
        .into_iter()
        .map(|kind| (kind, Pair { from: class(before, kind), to: class(after, kind) }));
    pairs.filter(|(_, pair)| pair.from != pair.to).collect()
}

/// Marks what the shipped OME controller does not delete: it cleans up components that are gone,
/// and nothing of a component that goes on as another workload, nor what belongs to no component
/// (pkg/controller/v1beta1/inferenceservice/cleanup.go).
fn leave_behind(objects: &mut [ObjectChange], after: &Made<'_>) {
    let component = |node: &Node| {
        node.at(&["metadata", "labels", "component"]).and_then(Node::as_str).map(EcoString::from)
    };
    let active: BTreeSet<EcoString> =
        after.objects.iter().filter_map(|(_, node, _)| component(node)).collect();
    for object in objects.iter_mut().filter(|object| object.action == Action::Delete) {
        let own =
            object.whole.as_ref().and_then(component).filter(|component| !component.is_empty());
        object.left_behind = own.is_none_or(|own| active.contains(&own));
    }
}

/// Whether the shipped OME controller leaves an object that exists as it is: Services,
/// HorizontalPodAutoscalers and PodDisruptionBudgets are compared by their spec, and written as a
/// whole or not at all (service_reconciler.go, semanticServiceEquals; hpa_reconciler.go,
/// semanticHPAEquals; pdb_reconciler.go, semanticPDBEquals).
fn keeps_metadata(object: &ObjectChange) -> bool {
    // The class of an autoscaler counts as its spec does.
    let compared = |change: &Change| {
        let text = change.path.to_string();
        !text.starts_with("metadata.") || text.contains("ome.io/autoscalerClass")
    };
    object.action == Action::Update
        && matches!(
            object.id.kind.as_str(),
            "Service" | "HorizontalPodAutoscaler" | "PodDisruptionBudget"
        )
        && !object.changes.iter().any(compared)
}

/// Whether a change of an object replaces pods; none of a kind that has no pods.
pub(crate) fn restarts(before: Option<&Node>, after: &Node) -> Option<bool> {
    let (api_version, kind) = api_version_and_kind(after);
    let effect = effects::of(api_version, kind).filter(|effect| effect.runs_pods())?;
    let ty = schema::kind(api_version, kind).map(schema::Schema::root);
    Some(before.is_some_and(|before| {
        crate::tree::changes(before, after, ty).iter().any(|change| effect.restarts(change))
    }))
}

/// What happens to every object, in the order of kinds and names.
fn object_changes(before: &Made<'_>, after: &Made<'_>) -> Vec<ObjectChange> {
    type Pairs<'m> = BTreeMap<(ObjectRef, &'m str), [Option<(&'m Node, Option<ComponentKind>)>; 2]>;
    let mut pairs: Pairs<'_> = BTreeMap::new();
    for (side, made) in [before, after].into_iter().enumerate() {
        for (id, node, component) in &made.objects {
            let group = api_version_and_kind(node).0.split_once('/').map_or("", |(group, _)| group);
            pairs.entry((id.clone(), group)).or_default()[side] = Some((node, *component));
        }
    }
    let mut found = Vec::new();
    for ((id, _), pair) in pairs {
        let Some((node, component)) = pair[1].or(pair[0]) else { continue };
        let (api_version, kind) = api_version_and_kind(node);
        let effect = effects::of(api_version, kind);
        let runs_pods = effect.is_some_and(Effect::runs_pods);
        let mut change = ObjectChange {
            id,
            action: Action::Update,
            restart: false,
            changes: Vec::new(),
            immutable: Vec::new(),
            left_behind: false,
            whole: None,
            component,
            runs_pods,
        };
        if let [Some((old, _)), Some((new, _))] = pair {
            change.changes = crate::tree::changes(
                old,
                new,
                schema::kind(api_version, kind).map(schema::Schema::root),
            );
            if change.changes.is_empty() {
                continue;
            }
            if let Some(effect) = effect {
                change.immutable = change
                    .changes
                    .iter()
                    .filter(|change| effect.refuses(change))
                    .map(|change| change.path.clone())
                    .collect();
                change.restart = change.changes.iter().any(|change| effect.restarts(change));
            }
            if !change.immutable.is_empty() {
                (change.action, change.restart) = (Action::Replace, runs_pods);
            }
        } else {
            change.action = if pair[1].is_some() { Action::Create } else { Action::Delete };
            change.whole = Some(node.clone());
        }
        found.push(change);
    }
    found
}
