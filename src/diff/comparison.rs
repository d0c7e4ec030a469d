//! The results for one service on both sides, and their difference.
//!
//! In: a service of each side. Out: an [`Answer`], with the change if there is one, and the fields
//! of the input that may be causes. Trials ([`super::trial`]) determine which of them are.

use super::cause::{Candidate, Question, candidates};
use super::changed::{accelerators, keeps_metadata, leave_behind, object_changes, restart};
use super::cost;
use super::group::{Key, Names, Writer};
use super::inputs::{Input, Inputs};
use super::side::{self, Both, Decided, Extent, Made, Subject};
use super::{Action, Cost, Fate, Group, ObjectChange, Pair, Settings, State};
use crate::api::{Api, ComponentKind, Object, ObjectRef, Semantics, Views};
use crate::diag::Diagnostic;
use crate::pipeline::Recorder;
use crate::pipeline::planned::PlannedComponent;
use crate::pipeline::render::Renderer;
use crate::pipeline::replaced;
use crate::pipeline::serving::serving_gpus;
use crate::quantity::Count;
use crate::yaml::Node;
use ecow::EcoString;

/// The comparison of one service.
pub(super) struct Answer<'c, 'a> {
    pub(super) gpus: Pair<Count>,
    pub(super) costs: Pair<Cost>,
    pub(super) refused: bool,
    pub(super) rendered: bool,
    pub(super) change: Option<Box<Found<'c, 'a>>>,
}

/// The change of one service, with the keys that identify it.
pub(super) struct Found<'c, 'a> {
    pub(super) both: Both<'a>,
    pub(super) group: Group,
    pub(super) candidates: Vec<Candidate<'c, 'a>>,
    pub(super) keys: [Key; 2],
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The context in which services are compared.
pub(super) struct Comparison<'c, 'a> {
    pub(super) sides: [&'c State<'a>; 2],
    pub(super) renderers: &'c [Renderer<'a>; 2],
    pub(super) inputs: &'c Inputs<'a>,
    pub(super) settings: Settings<'c>,
    /// Two releases of an operator of services are compared: the differing objects already exist.
    pub(super) upgrades_services: bool,
}

impl<'c, 'a> Comparison<'c, 'a> {
    pub(super) fn answer(
        &self,
        (namespace, name, api): (&EcoString, &EcoString, Api),
        both: Both<'a>,
    ) -> Answer<'c, 'a> {
        // Most services of a fleet are not affected: they are decided, but not rendered.
        if let Some(answer) = self.same(both) {
            return answer;
        }
        let components_built = [0, 1]
            .map(|side| both[side].map_or_else(Made::default, |subject| self.make(side, subject)));
        let [before, after] = &components_built;
        let fate = match both {
            [None, _] => Fate::Added,
            [_, None] => Fate::Removed,
            _ => Fate::Changed,
        };
        let gpus = Pair { from: before.gpus(), to: after.gpus() };
        let (was, is) = (&before.decided, &after.decided);
        let refused = is.error.as_ref().is_some_and(|error| !error.is_unread());
        // What the input lacks is in the cluster, unless the input is one: an edit changes something.
        let is_live = self.sides[1].world.is_live;
        let unread = was.error == is.error
            && is
                .error
                .as_ref()
                .is_some_and(|error| error.is_unread() || (error.is_for_absent() && !is_live));
        let name_of = |object: Option<&Object>| object.map(|object| object.id.clone());
        let mut objects = self.updated(api, fate, before, after);
        // A changed template restarts the pods that no `partition` protects.
        let replaced = match both {
            [Some(Subject::ModelServing(before)), Some(Subject::ModelServing(after))]
                if restart(&objects) && is.error.is_none() =>
            {
                replaced(&self.sides[1].world.catalog, before, after)
            }
            _ => None,
        };
        // A partition keeps every group: the template changes and no pod does.
        if replaced.as_ref().is_some_and(|(pods, _)| *pods == 0) {
            for object in &mut objects {
                object.restart = false;
            }
        }
        let restarts = |component: Option<ComponentKind>| {
            let objects = objects.iter().filter(|object| object.component == component);
            restart(objects)
        };
        let restarted = before
            .components
            .iter()
            .filter(|(component, _)| fate == Fate::Changed && restarts(*component));
        let restarted: Vec<&Extent> = restarted.map(|(_, extent)| extent).collect();
        let (pods_restarted, gpus_restarted) = match replaced {
            Some((pods, gpus)) => (pods.into(), gpus),
            None => (
                restarted.iter().map(|extent| extent.pods).sum(),
                restarted.iter().map(|extent| extent.gpus).sum(),
            ),
        };
        let restart = fate == Fate::Changed && restart(&objects);
        let group = Group {
            fate,
            api,
            services: vec![ecow::eco_format!("{namespace}/{name}")],
            causes: Vec::new(),
            runtime: (name_of(was.runtime) != name_of(is.runtime))
                // By kind and name: an edited runtime is the same choice.
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
            || group.error.is_some()
            || (unread && both.into_iter().flatten().any(|subject| self.is_edited(subject)));
        let change = differs.then(|| {
            let question = Question {
                sides: self.sides,
                inputs: self.inputs,
                subject: both.map(|subject| subject.map(Subject::object)),
                named: both.map(|subject| subject?.runtime()),
                decided: [was, is],
                objects: &group.objects,
                refused: was.error != is.error,
                is_upgrade: self.upgrades_services,
            };
            let candidates = candidates(&question);
            let keys =
                // Two services with one change are equal by the first key; the second one catches
                // texts in which a name is not a name.
                [Names::Aside(namespace, name), Names::Kept].map(|names| self.key(&group, names));
            let diagnostics = after.diagnostics.clone();
            Box::new(Found { both, group, candidates, keys, diagnostics })
        });
        let costs = Pair { from: before.cost, to: after.cost };
        Answer { gpus, costs, refused, rendered: true, change }
    }

    /// Whether a service, or a configuration that it names, is another one before and after.
    fn is_edited(&self, subject: Subject<'a>) -> bool {
        let object = subject.object();
        let named = |id: &ObjectRef| {
            let refs = object.spec("baseRefs").map(Node::items).unwrap_or_default();
            refs.iter().any(|one| one.get("name").and_then(Node::as_str) == Some(&id.name))
        };
        self.inputs.get(object.api, &object.id).is_some()
            || self.inputs.of_other_objects().filter_map(Input::id).any(named)
    }

    /// The changes of the objects of a service between two results.
    pub(super) fn updated(
        &self,
        api: Api,
        fate: Fate,
        before: &Made<'_>,
        after: &Made<'_>,
    ) -> Vec<ObjectChange> {
        let mut objects = object_changes(before, after);
        if fate != Fate::Removed && after.decided.error.is_some() {
            // Objects that are missing in the new result are kept: the operator deletes only after
            // it has written all objects.
            objects.retain(|object| object.action != Action::Delete);
        }
        if (fate, api, self.sides[1].world.catalog.readings().mode(api))
            == (Fate::Changed, Api::Ome, Semantics::Controller)
        {
            leave_behind(&mut objects, after);
            if self.upgrades_services {
                objects.retain(|object| !keeps_metadata(object));
            }
        }
        objects
    }

    /// The answer for a service without any changed input; `None` if an input changed.
    pub(super) fn same(&self, both: Both<'a>) -> Option<Answer<'c, 'a>> {
        let [Some(before), Some(after)] = both else { return None };
        let object = after.object();
        // A changed service is always rendered: what it changes is not known before.
        if self.inputs.get(object.api, &object.id).is_some() {
            return None;
        }
        let services = match (before, after) {
            (Subject::Service(before), Subject::Service(after)) => {
                [before, after].map(Views::followed)
            }
            (_, Subject::ModelServing(serving)) => {
                let refused = side::broken(self.sides[1].world, serving).is_some();
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
        // An autoscaler sizes what is rendered, and may be another one before.
        let namespace = &services[1].namespace;
        if self.renderers.iter().any(|renderer| renderer.may_scale(namespace)) {
            return None;
        }
        // The settings of the operator can reach any object.
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
            // A class that is chosen on both sides can still have other capabilities.
            && (!self.inputs.classes || is.accelerators.is_empty());
        same.then(|| {
            let [_, resolution] = resolutions;
            let ask = self.renderers[1].ask(services[1]);
            let built = ask.build(services[1], &resolution, &mut Recorder::off());
            let refused = built.error.as_ref().is_some_and(|error| !error.is_unread());
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
    pub(super) fn make(&self, side: usize, subject: Subject<'a>) -> Made<'a> {
        side::make(&self.renderers[side], subject)
    }

    /// What identifies a change.
    pub(super) fn key(&self, group: &Group, names: Names<'_>) -> Key {
        let mut writer = Writer::new(self.sides, names);
        writer.plain(format_args!(
            "{:?} {:?} {:?} {:?}",
            group.fate, group.api, group.runtime, group.accelerators
        ));
        if let Some(Pair { from, to }) = &group.error {
            // The message of an error names its service, so only the code is compared.
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
