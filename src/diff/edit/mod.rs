//! Edits of the input before an upgrade that keep the running objects. Each edit is verified: the
//! service is decided again with it.
//!
//! In: a service under two releases, and the rules that make the difference. Out: for each rule, an
//! edit after which the rule makes no difference, with its effect under the running release; or why
//! there is none. Then all edits together, with the changes that remain. An edit that was not
//! verified is never shown.
//!
//! # Cost
//! One service of each group is simulated. For every edit its world is read twice, without the
//! other services.

mod patch;

pub(super) use patch::{edit_value, patch, shown};

use super::changed::{self, Distance, distance, is_same};
use super::comparison::Comparison;
use super::side::{Made, Subject, make};
use super::{Action, Fate, ObjectChange, Refused};
use crate::api::{Api, FieldEdit, Object, ObjectRef, Today, Views};
use crate::operators::is_service;
use crate::pipeline::render::Renderer;
use crate::policy::Policy;
use crate::policy::upgrade::{EditRule, ReleaseRule, Switch};
use crate::workspace::{Ground, Replacements, World, bare};
use crate::yaml::{FieldPath, Rule};
use ecow::EcoString;
use patch::{Patch, fields, merge, skeleton};
use std::sync::OnceLock;

static EDIT: Rule = Rule {
    id: "upgrade-edit",
    text: "a value tried out to see whether it keeps what runs through an upgrade",
    cite: "docs/releases.md, The edit before an upgrade",
};

/// The reason if no field is found.
pub(super) const NO_FIELD: &str = "no field of the service or its runtime keeps today's behavior";
/// Maximum number of rounds in which rules that apply only because of edits get edits of their own.
const ROUNDS: usize = 3;
/// Maximum number of groups for which edits are simulated.
const MOST_PLAYED: usize = 100;

/// An edit of the input before an upgrade.
#[derive(Clone, Debug)]
pub enum Proposal {
    /// An edit after which the rule makes no difference.
    Edit(RuleEdit),
    /// There is no edit, for this reason.
    None(String),
}

/// An edit after which a rule makes no difference.
#[derive(Clone, Debug)]
pub struct RuleEdit {
    /// The fields.
    pub changes: Vec<FieldEdit>,
    /// Its effect under the running release; empty if the edit is harmless.
    pub today: Difference,
}

impl RuleEdit {
    /// Whether the edit also changes nothing under the running release.
    pub fn is_verified(&self) -> bool {
        self.today.is_none()
    }
}

/// The difference between two results for a service.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// Pods restart.
    pub restart: bool,
    /// The service can no longer be deployed.
    pub fails: Option<Refused>,
    /// The service gets another runtime or another class.
    pub chooses: bool,
    /// Objects that change, with the changed fields.
    pub objects: Vec<(ObjectRef, Action, Vec<FieldPath>)>,
}

impl Difference {
    /// Whether nothing differs.
    pub fn is_none(&self) -> bool {
        !self.restart && self.fails.is_none() && !self.chooses && self.objects.is_empty()
    }
}

/// All edits of a service together.
#[derive(Clone, Debug)]
pub struct AllEdits {
    /// The service that was decided again with the edits.
    pub service: EcoString,
    /// The fields of all edits.
    pub changes: Vec<FieldEdit>,
    /// Rules that apply only because of the edits, each with its own proposal.
    pub brought_up: Vec<(&'static ReleaseRule, Proposal)>,
    /// Their effect under the running release.
    pub today: Difference,
    /// What still changes at the upgrade.
    pub upgrade: Difference,
    /// Rules without an edit of their own that make no difference with these edits.
    pub settled: Vec<&'static ReleaseRule>,
    /// The edits by object; `None` if a list that is written as a whole holds a secret.
    pub patch: Option<Vec<Patch>>,
}

/// The context in which edits are simulated.
pub(super) struct Player<'c, 'a> {
    comparison: &'c Comparison<'c, 'a>,
    /// By side, the rules of the other release, each with the policy that contains it.
    hybrids: &'c [Vec<(&'static Switch, &'static Policy)>; 2],
    grounds: [OnceLock<Ground<'c>>; 2],
}

/// A service under both releases, built from its values.
struct Attempt<'w> {
    object: &'w Object,
    sides: [Made<'w>; 2],
    /// The rules by which the later release still differs from today; empty for an attempt that is
    /// not compared with today.
    hits: Vec<&'static ReleaseRule>,
}

impl<'c, 'a> Player<'c, 'a> {
    pub(super) fn new(
        comparison: &'c Comparison<'c, 'a>,
        hybrids: &'c [Vec<(&'static Switch, &'static Policy)>; 2],
    ) -> Self {
        Self { comparison, hybrids, grounds: [OnceLock::new(), OnceLock::new()] }
    }

    /// Edits for the rules that affect a service, in the order of the rules, and all edits
    /// together. `place` is the index of its group.
    pub(super) fn play(
        &self,
        place: usize,
        name: &EcoString,
        service: [&'a Views; 2],
        components_built: &[Made<'a>; 2],
        rules: &[&'static ReleaseRule],
    ) -> (Vec<Proposal>, Option<AllEdits>) {
        if components_built[0].has_no_objects() {
            // Without running objects, an edit has nothing to keep.
            return (Vec::new(), None);
        }
        let none = |why: &str| Proposal::None(why.to_owned());
        let message_of = |rule: &&'static ReleaseRule| match rule.edit {
            EditRule::None(why) => Some(why),
            EditRule::Fields(_) | EditRule::DroppedFields => None,
        };
        // No rule has a field to try, so that the world need not be read.
        if rules.iter().all(|rule| message_of(rule).is_some()) {
            return (rules.iter().filter_map(message_of).map(none).collect(), None);
        }
        let unplayed = |why: &str| {
            let proposals = rules.iter().map(|rule| none(message_of(rule).unwrap_or(why)));
            (proposals.collect(), None)
        };
        if place >= MOST_PLAYED {
            return unplayed("not simulated: edits are simulated for the first 100 groups");
        }
        let subject = service.map(|views| &views.followed().object);
        let case = Case {
            player: self,
            subject,
            model: components_built.each_ref().map(|built| built.decided.model),
            dropped: self.dropped(subject, components_built),
        };
        let played = case.attempt(&[], None, &|plain| {
            // Results of edits mean something only where the unedited service comes out as it was.
            let same = (0..2).all(|side| is_same(&plain.sides[side], &components_built[side]));
            same.then(|| {
                let (proposals, chosen) = case.proposals(plain, rules);
                (proposals, case.together(plain, name, rules, &chosen))
            })
        });
        match played {
            Some(Some(played)) => played,
            _ => unplayed("the service cannot be decided again from its values alone"),
        }
    }

    /// Whether a service is affected because the releases read the input differently: with the
    /// input as the earlier release reads it, the later release comes closer to today's result.
    pub(super) fn reads(&self, service: [&'a Views; 2], components_built: &[Made<'a>; 2]) -> bool {
        let comparison = self.comparison;
        let subject = service.map(|views| &views.followed().object);
        let mut others = Replacements::from([(
            (subject[1].api, subject[1].id.clone()),
            Some(bare(&subject[0].node)),
        )]);
        for input in comparison.inputs.iter() {
            let Some(object) = input.after.or(input.before).filter(|object| !object.builtin) else {
                continue;
            };
            if !is_service(&object.id.kind) {
                let before = input.before.map(|object| bare(&object.node));
                others.insert((object.api, object.id.clone()), before);
            }
        }
        let world = self.ground(1).with(&others);
        // A service that can no longer be read was read otherwise, for certain.
        let Some(views) = world.catalog.services().next() else { return true };
        let domain = comparison.settings.cluster_domain;
        let renderer = Renderer::new(&world, domain);
        let read = make(&renderer, Subject::Service(views));
        distance(&components_built[0], &read) < distance(&components_built[0], &components_built[1])
    }

    fn ground(&self, side: usize) -> &Ground<'c> {
        self.grounds[side].get_or_init(|| self.comparison.sides[side].world.ground())
    }

    /// An object of the input, on the side of the running release if it exists there.
    fn find(&self, api: Api, id: &ObjectRef) -> Option<&'a Object> {
        let sides = self.comparison.sides;
        sides.into_iter().find_map(|side| {
            side.world.catalog.objects().find(|object| object.api == api && object.id == *id)
        })
    }

    fn shown(&self, edit: &FieldEdit) -> FieldEdit {
        shown(edit, self.find(edit.api, &edit.id))
    }

    /// Edits that remove the fields that the running release drops from a service, its runtime and
    /// its model.
    fn dropped(
        &self,
        subject: [&'a Object; 2],
        components_built: &[Made<'a>; 2],
    ) -> Vec<FieldEdit> {
        let created = |built: &Made<'a>| [built.decided.runtime, built.decided.model];
        let mut objects: Vec<&Object> = vec![subject[1]];
        for object in
            created(&components_built[1]).into_iter().chain(created(&components_built[0])).flatten()
        {
            if objects.iter().all(|other| other.id != object.id) {
                objects.push(object);
            }
        }
        let inputs = objects.into_iter().filter_map(|object| {
            Some((object, self.comparison.inputs.get(object.api, &object.id)?))
        });
        let edits = inputs.flat_map(|(object, input)| {
            let added = input.fields.iter().filter(|field| {
                field.from.is_none() && field.to.is_some() && !field.path.0.is_empty()
            });
            added.map(|field| FieldEdit::remove(object, field.path.clone()))
        });
        edits.collect()
    }
}

/// One service that edits are simulated for.
struct Case<'p, 'c, 'a> {
    player: &'p Player<'c, 'a>,
    subject: [&'a Object; 2],
    /// Its model on each side, if it has one.
    model: [Option<&'a Object>; 2],
    /// Edits that remove the fields that the running release drops.
    dropped: Vec<FieldEdit>,
}

/// The index of the chosen alternative for each rule.
type Chosen = Vec<(&'static ReleaseRule, usize)>;

impl Case<'_, '_, '_> {
    /// The world of a side with only this service, and with the edits applied.
    fn world(&self, side: usize, edits: &[FieldEdit]) -> World {
        let comparison = self.player.comparison;
        let world = comparison.sides[side].world;
        let object = self.subject[side];
        let mut others =
            Replacements::from([((object.api, object.id.clone()), Some(bare(&object.node)))]);
        // Other models are not used; without them the world is read faster.
        if let Some(model) = self.model[side] {
            let is_model = |object: &&Object| {
                matches!(object.id.kind.as_str(), "BaseModel" | "ClusterBaseModel")
                    && object.id.name != model.id.name
            };
            let other = world.catalog.objects().filter(is_model);
            others.extend(other.map(|object| ((object.api, object.id.clone()), None)));
        }
        for edit in edits {
            let of_side = |object: &&Object| object.api == edit.api && object.id == edit.id;
            let node = others.entry((edit.api, edit.id.clone())).or_insert_with(|| {
                let object = world.catalog.objects().find(of_side);
                Some(object.map_or_else(|| skeleton(edit), |object| bare(&object.node)))
            });
            if let Some(node) = node {
                edit.apply(node, &edit_value);
            }
        }
        self.player.ground(side).with(&others)
    }

    /// Builds the service with edits on both sides, and compares the later one with `today`, the
    /// result that runs now; `None` if the edited service can no longer be read.
    fn attempt<R>(
        &self,
        edits: &[FieldEdit],
        today: Option<&Made<'_>>,
        judge: &dyn Fn(&Attempt<'_>) -> R,
    ) -> Option<R> {
        let comparison = self.player.comparison;
        let worlds = [0, 1].map(|side| self.world(side, edits));
        let views = worlds.each_ref().map(|world| world.catalog.services().next());
        let [Some(before), Some(after)] = views else { return None };
        let domain = comparison.settings.cluster_domain;
        let components_built = [(0, before), (1, after)].map(|(side, views)| {
            let renderer = Renderer::new(&worlds[side], domain);
            make(&renderer, Subject::Service(views))
        });
        let mut hits: Vec<&'static ReleaseRule> = Vec::new();
        let apart =
            today.map_or_else(Distance::default, |today| distance(today, &components_built[1]));
        // Where nothing differs no rule can have an effect, and no renderer is needed.
        if let Some(today) = today.filter(|_| apart > Distance::default()) {
            for (switch, policy) in &self.player.hybrids[1] {
                let renderer = Renderer::by_policy(&worlds[1], domain, policy);
                let hybrid = make(&renderer, Subject::Service(after));
                if distance(today, &hybrid) < apart {
                    hits.push(&switch.rule);
                }
            }
        }
        let object = &before.followed().object;
        Some(judge(&Attempt { object, sides: components_built, hits }))
    }

    /// The edits that may keep a service unchanged by a rule, given the state in an attempt.
    fn alternatives(&self, rule: &ReleaseRule, attempt: &Attempt<'_>) -> Vec<Vec<FieldEdit>> {
        match rule.edit {
            EditRule::None(_) => Vec::new(),
            EditRule::DroppedFields if self.dropped.is_empty() => Vec::new(),
            EditRule::DroppedFields => vec![self.dropped.clone()],
            EditRule::Fields(find) => {
                let built = &attempt.sides[0];
                find(&Today {
                    service: attempt.object,
                    runtime: built.decided.runtime,
                    classes: &built.decided.accelerators,
                    config: self.player.comparison.sides[0].world.catalog.config(),
                    objects: &built.objects,
                })
            }
        }
    }

    /// An edit for every rule, each simulated alone, and the chosen alternatives.
    fn proposals(
        &self,
        plain: &Attempt<'_>,
        rules: &[&'static ReleaseRule],
    ) -> (Vec<Proposal>, Chosen) {
        let mut chosen = Chosen::new();
        let proposals = rules.iter().map(|rule| {
            let (proposal, taken) = self.proposal(plain, plain, &[], rule);
            chosen.extend(taken.map(|taken| (*rule, taken)));
            proposal
        });
        (proposals.collect(), chosen)
    }

    /// The edit for one rule in addition to `others`, which result in the state `now`; and the
    /// index of its alternative.
    fn proposal(
        &self,
        plain: &Attempt<'_>,
        now: &Attempt<'_>,
        others: &[FieldEdit],
        rule: &'static ReleaseRule,
    ) -> (Proposal, Option<usize>) {
        if let EditRule::None(why) = rule.edit {
            return (Proposal::None(why.to_owned()), None);
        }
        let apart = self.apart(&plain.sides[0], &now.sides[1]);
        let mut best: Option<(RuleEdit, usize)> = None;
        let mut failed = None;
        for (place, edits) in self.alternatives(rule, now).into_iter().enumerate() {
            let with: Vec<FieldEdit> = others.iter().chain(&edits).cloned().collect();
            let judged = self.attempt(&with, Some(&plain.sides[0]), &|edited| {
                let gone = !edited.hits.iter().any(|release_rule| release_rule.is(rule));
                let closer = self.apart(&plain.sides[0], &edited.sides[1]) < apart;
                (gone, closer, self.difference(&plain.sides[0], &edited.sides[0]))
            });
            match judged {
                Some((true, true, today)) => {
                    let better = best.as_ref().is_none_or(|(best, _)| {
                        // A harmless edit is best; else one that restarts nothing under the running
                        // release.
                        today.is_none() || best.today.restart && !today.restart
                    });
                    if better {
                        let changes = edits.iter().map(|edit| self.player.shown(edit)).collect();
                        best = Some((RuleEdit { changes, today }, place));
                    }
                    if best.as_ref().is_some_and(|(best, _)| best.is_verified()) {
                        break;
                    }
                }
                Some((gone, ..)) => failed = failed.or(Some((edits, gone))),
                None => {}
            }
        }
        if let Some((edit, place)) = best {
            return (Proposal::Edit(edit), Some(place));
        }
        let why = match failed {
            Some((edits, false)) => {
                format!("with {} the rule still has an effect", fields(&edits))
            }
            Some((edits, true)) => format!(
                "with {} the rule has no effect, but as much changes as without the edit",
                fields(&edits)
            ),
            None => NO_FIELD.to_owned(),
        };
        (Proposal::None(why), None)
    }

    /// All edits together, including those for rules that apply only because of other edits.
    fn together(
        &self,
        plain: &Attempt<'_>,
        name: &EcoString,
        rules: &[&'static ReleaseRule],
        chosen: &Chosen,
    ) -> Option<AllEdits> {
        let was = &plain.sides[0];
        let mut edits: Vec<FieldEdit> = Vec::new();
        // One after the other: an edit can change what a later rule has to set.
        for (rule, place) in chosen {
            let next = self.attempt(&edits, None, &|attempt| {
                let alternatives_of = self.alternatives(rule, attempt);
                alternatives_of.get(*place).or(alternatives_of.first()).cloned().unwrap_or_default()
            });
            merge(&mut edits, next?);
        }
        if edits.is_empty() {
            return None;
        }
        let mut brought_up: Vec<(&'static ReleaseRule, Proposal)> = Vec::new();
        // An edit for a new rule can bring up another one; few rounds show whether it ends.
        for _ in 0..ROUNDS {
            let is_known = |rule: &&'static ReleaseRule| {
                let is_it = |release_rule: &ReleaseRule| release_rule.id == rule.id;
                rules.iter().any(|rule| is_it(rule))
                    || brought_up.iter().any(|(rule, _)| is_it(rule))
            };
            let found = self.attempt(&edits, Some(was), &|attempt| {
                let new: Vec<_> = attempt.hits.iter().filter(|rule| !is_known(rule)).collect();
                let proposals = new.into_iter().map(|rule| {
                    let (proposal, place) = self.proposal(plain, attempt, &edits, rule);
                    let edits = place
                        .and_then(|place| self.alternatives(rule, attempt).into_iter().nth(place));
                    (*rule, proposal, edits)
                });
                proposals.collect::<Vec<_>>()
            })?;
            let mut any = false;
            for (rule, proposal, listed) in found {
                any |= listed.is_some();
                merge(&mut edits, listed.unwrap_or_default());
                brought_up.push((rule, proposal));
            }
            if !any {
                break;
            }
        }
        let (today, upgrade, hits) = self.attempt(&edits, Some(was), &|edited| {
            let [today, upgrade] = [0, 1].map(|side| self.difference(was, &edited.sides[side]));
            (today, upgrade, edited.hits.clone())
        })?;
        // Differences in reading are not among the rules that are tried.
        let is_tried = |rule: &ReleaseRule| {
            let mut all = self.player.hybrids.iter().flatten();
            all.any(|(switch, _)| switch.rule.is(rule))
        };
        let hits = |rule: &ReleaseRule| hits.iter().any(|release_rule| release_rule.id == rule.id);
        let settled = rules.iter().copied().filter(|rule| {
            !chosen.iter().any(|(release_rule, _)| release_rule.id == rule.id)
                && is_tried(rule)
                && !hits(rule)
        });
        Some(AllEdits {
            service: name.clone(),
            changes: edits.iter().map(|edit| self.player.shown(edit)).collect(),
            brought_up,
            today,
            upgrade,
            settled: settled.collect(),
            patch: patch(&edits, |api, id| self.player.find(api, id)),
        })
    }

    /// How much two results differ, the most important part first: a failure, another choice,
    /// objects that are created or deleted, pods that restart, then every field.
    fn apart(&self, from: &Made<'_>, to: &Made<'_>) -> (bool, bool, usize, bool, Distance) {
        let difference = self.difference(from, to);
        let moved = |action: &Action| matches!(action, Action::Create | Action::Delete);
        let moved = difference.objects.iter().filter(|(_, action, _)| moved(action)).count();
        (
            difference.fails.is_some(),
            difference.chooses,
            moved,
            difference.restart,
            distance(from, to),
        )
    }

    /// The difference between two results, as the update of the operator applies it.
    fn difference(&self, from: &Made<'_>, to: &Made<'_>) -> Difference {
        let api = self.subject[0].api;
        let objects = self.player.comparison.updated(api, Fate::Changed, from, to);
        let runtime = |built: &Made<'_>| built.decided.runtime.map(|object| object.id.clone());
        let chooses = runtime(from) != runtime(to)
            || !changed::accelerators(&from.decided, &to.decided).is_empty();
        Difference {
            restart: changed::restart(&objects),
            fails: to.decided.error.clone().filter(|_| from.decided.error != to.decided.error),
            chooses,
            objects: objects
                .into_iter()
                .map(|ObjectChange { id, action, changes, .. }| {
                    (id, action, changes.into_iter().map(|change| change.path).collect())
                })
                .collect(),
        }
    }
}
