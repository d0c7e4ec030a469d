//! The effect of an upgrade of its operator on a ModelServing.
//!
//! In: a ModelServing of both sides, with the same content. Out: its group, with the change of the
//! revision, the update that follows from it, and the rules. Errors of the document are reported
//! when it is read; its pods in the cluster are replaced either way.

use super::comparison::{Answer, Comparison, Found};
use super::edit::{self, NO_FIELD};
use super::group::Names;
use super::side::{self, Subject};
use super::{
    Action, AllEdits, Change, Difference, Fate, Group, ObjectChange, Pair, Proposal, RuleEdit,
};
use crate::api::{FieldEdit, ModelServing, Object, ObjectRef, Today};
use crate::operators::servings;
use crate::pipeline::serving::serving_gpus;
use crate::pipeline::{ServingUpgrade, Upgrades};
use crate::policy::upgrade::{EditRule, ReleaseRule};
use crate::quantity::Count;
use crate::secret::Place;
use crate::yaml::{FieldPath, Node, Origin, Rule, Segment, Value};
use ecow::{EcoString, eco_format};

static REVISION: Rule = Rule {
    id: "kthena-revision",
    text: "the revision is the hash of the roles as the release prints them",
    cite: "volcano-sh/kthena pkg/model-serving-controller/utils/revision_util.go, Revision",
};

/// Compares a ModelServing under two releases of its operator.
pub(super) fn answer<'c, 'a>(
    comparison: &Comparison<'c, 'a>,
    upgrades: &Upgrades,
    before: &'a ModelServing,
    after: &'a ModelServing,
) -> Answer<'c, 'a> {
    let refused = side::broken(comparison.sides[1].world, after).is_some();
    let gpus = serving_gpus(after);
    let found = upgrades.of(before, after).map(|rolled| {
        let [from, to] = upgrades.rules();
        let all = || i64::try_from(after.pods()).ok().into();
        let pods: Count = match &rolled.played {
            Some(played) => played.pods.into(),
            // Every group is below the partition and keeps its revision.
            None if rolled.held == rolled.groups => Count::default(),
            None => all(),
        };
        let restart = pods != Count::default();
        // Without a simulation, either all pods restart or none.
        let gpus_restarted = if restart { gpus } else { Count::default() };
        let rules = servings::upgrade_rules(from, to, after, others(comparison));
        let (edits, all_edits) = edits(comparison, upgrades, before, &rules);
        let mut group = Group {
            fate: Fate::Changed,
            api: servings::API,
            services: vec![eco_format!("{}/{}", after.namespace, after.name())],
            causes: Vec::new(),
            runtime: None,
            accelerators: Vec::new(),
            error: None,
            fails: None,
            objects: vec![revision(after, &rolled, restart)],
            restart,
            pods_restarted: pods,
            gpus_restarted: rolled.played.as_ref().map_or(gpus_restarted, |played| played.gpus),
            gpus: Pair { from: gpus, to: gpus },
            costs: vec![Pair::default()],
            rules,
            edits,
            all_edits,
            rolled: None,
        };
        group.rolled = Some(rolled);
        // The simulation depends on the name, so the key keeps names.
        let keys = [comparison.key(&group, Names::Kept); 2];
        let both = [Some(Subject::ModelServing(before)), Some(Subject::ModelServing(after))];
        Box::new(Found { both, group, candidates: Vec::new(), keys, diagnostics: Vec::new() })
    });
    Answer {
        gpus: Pair { from: gpus, to: gpus },
        costs: Pair::default(),
        refused,
        rendered: true,
        change: found,
    }
}

/// The change of the status of the ModelServing, which names the revision.
fn revision(serving: &ModelServing, rolled: &ServingUpgrade, restart: bool) -> ObjectChange {
    let at = serving.object.name_span();
    let value =
        |text: &EcoString| Some(Node::new(Value::Str(text.clone()), Origin::Derived(&REVISION)));
    let [from, to] = &rolled.revisions;
    let path = ["status", "updateRevision"].map(|name| Segment::Field(name.into()));
    ObjectChange {
        id: serving.object.id.clone(),
        action: Action::Update,
        restart,
        changes: vec![Change {
            path: FieldPath(path.into_iter().collect()),
            from: value(from),
            to: value(to),
            place_before: Some(at),
            place_after: Some(at),
            shown: [Place::default(); 2],
        }],
        immutable: Vec::new(),
        left_behind: false,
        whole: None,
        component: None,
        runs_pods: true,
    }
}

/// The other objects of the later state.
fn others<'a>(comparison: &Comparison<'_, 'a>) -> &'a [Object] {
    comparison.sides[1].world.catalog.others()
}

/// The edit for each rule, simulated with the update that the upgrade starts, and all edits
/// together.
fn edits(
    comparison: &Comparison<'_, '_>,
    upgrades: &Upgrades,
    before: &ModelServing,
    rules: &[&'static ReleaseRule],
) -> (Vec<Proposal>, Option<AllEdits>) {
    let [from, to] = upgrades.rules();
    // What restarts before the upgrade and at it, and the rules that still apply.
    let played = |edits: &[FieldEdit]| {
        let mut object = before.object.clone();
        for edit in edits {
            edit.apply(&mut object.node, &edit::edit_value);
        }
        // Both releases read the edited object anew: they differ in the fields that they know.
        let [was, is] =
            [from, to].map(|rules| servings::read::model_serving(object.clone(), rules));
        let restart = upgrades.of(&was, &is).is_some_and(|rolled| match &rolled.played {
            Some(played) => played.pods > 0,
            None => rolled.held < rolled.groups,
        });
        let today = Difference { restart: !upgrades.keeps(before, &was), ..Difference::default() };
        let upgrade = Difference { restart, ..Difference::default() };
        (today, upgrade, servings::upgrade_rules(from, to, &is, others(comparison)))
    };
    let edited_object = |id: &ObjectRef| Some(&before.object).filter(|object| object.id == *id);
    let mut all = Vec::new();
    let proposals = rules.iter().map(|rule| {
        let find = match rule.edit {
            EditRule::None(why) => return Proposal::None(why.to_owned()),
            EditRule::DroppedFields => return Proposal::None(NO_FIELD.to_owned()),
            EditRule::Fields(find) => find,
        };
        let found = find(&Today {
            service: &before.object,
            runtime: None,
            classes: &[],
            config: comparison.sides[0].world.catalog.config(),
            objects: &[],
        });
        for edits in found {
            let (today, upgrade, left) = played(&edits);
            let is_left = left.iter().any(|rule_left| rule_left.is(rule));
            // The struct differs in any case; the edit is enough if the upgrade restarts nothing.
            if !is_left || rule.is(&servings::ROLE_STRUCT) && !upgrade.restart {
                let changes =
                    edits.iter().map(|edit| edit::shown(edit, edited_object(&edit.id))).collect();
                // Only edits that help are tried together.
                all.extend(edits);
                return Proposal::Edit(RuleEdit { changes, today });
            }
        }
        Proposal::None(NO_FIELD.to_owned())
    });
    let proposals = proposals.collect();
    let together = (!all.is_empty()).then(|| {
        let (today, upgrade, _) = played(&all);
        AllEdits {
            service: eco_format!("{}/{}", before.namespace, before.name()),
            changes: all.iter().map(|edit| edit::shown(edit, edited_object(&edit.id))).collect(),
            brought_up: Vec::new(),
            today,
            upgrade,
            settled: Vec::new(),
            patch: edit::patch(&all, |_, id| edited_object(id)),
        }
    });
    (proposals, together)
}
