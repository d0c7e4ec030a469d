//! The effect of a Kthena upgrade on a ModelServing.
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
use crate::api::{Api, FieldEdit, ModelServing, Object, ObjectRef, Today};
use crate::operators::kthena::rules::KthenaPolicy;
use crate::operators::kthena::{read as kthena, upgrade};
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

/// Compares a ModelServing under two releases of Kthena.
pub(super) fn answer<'c, 'a>(
    comparison: &Comparison<'c, 'a>,
    upgrades: &Upgrades<'_>,
    before: &'a ModelServing,
    after: &'a ModelServing,
) -> Answer<'c, 'a> {
    let refused = side::broken(comparison.sides[1].world, after).is_some();
    let gpus = serving_gpus(after);
    let found = upgrades.of(before, after).map(|rolled| {
        let [from, to] = comparison.settings.kthena;
        let all = || i64::try_from(after.pods()).ok().into();
        let pods: Count = match &rolled.played {
            Some(played) => played.pods.into(),
            None if rolled.held == rolled.groups => Count::default(),
            None => all(),
        };
        let restart = pods != Count::default();
        // Without a simulation, either all pods restart or none.
        let gpus_restarted = if restart { gpus } else { Count::default() };
        let rules = rules(comparison, from, to, after);
        let (edits, all_edits) = edits(comparison, upgrades, before, &rules);
        let mut group = Group {
            fate: Fate::Changed,
            api: Api::Kthena,
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

/// The rules by which two releases differ for a ModelServing.
fn rules(
    comparison: &Comparison<'_, '_>,
    from: &KthenaPolicy,
    to: &KthenaPolicy,
    serving: &ModelServing,
) -> Vec<&'static ReleaseRule> {
    let by_role = serving.rollout.value == crate::api::RolloutType::Role;
    let budgets = (from.role_partition, from.role_max_unavailable_default)
        != (to.role_partition, to.role_max_unavailable_default);
    let queue = serving.object.annotation(upgrade::QUEUE_NAME).is_some();
    let mut hit = vec![match (by_role, to.role_partition) {
        (false, _) => &upgrade::ROLE_STRUCT,
        (true, true) => &upgrade::ROLE_STRUCT_BY_ROLE,
        (true, false) => &upgrade::ROLE_STRUCT_UNHELD,
    }];
    if by_role && budgets {
        hit.push(&upgrade::ROLE_BUDGET);
    }
    if queue && from.gang_queue != to.gang_queue {
        hit.push(&upgrade::QUEUE);
    }
    if !from.selects_entries && to.selects_entries {
        let others = comparison.sides[1].world.catalog.others();
        if others.iter().any(|object| scales(object, serving)) {
            hit.push(&upgrade::SCALE_SELECTOR);
        }
    }
    hit
}

/// The edit for each rule, simulated with the update that the upgrade starts, and all edits
/// together.
fn edits(
    comparison: &Comparison<'_, '_>,
    upgrades: &Upgrades<'_>,
    before: &ModelServing,
    rules: &[&'static ReleaseRule],
) -> (Vec<Proposal>, Option<AllEdits>) {
    let [from, to] = comparison.settings.kthena;
    // What restarts before the upgrade and at it, and the rules that still apply.
    let played = |edits: &[FieldEdit]| {
        let mut object = before.object.clone();
        for edit in edits {
            edit.apply(&mut object.node, &edit::made);
        }
        let [was, is] = [from, to].map(|policy| kthena::model_serving(object.clone(), policy));
        let restart = upgrades.of(&was, &is).is_some_and(|rolled| match &rolled.played {
            Some(played) => played.pods > 0,
            None => rolled.held < rolled.groups,
        });
        let today = Difference { restart: !upgrades.keeps(before, &was), ..Difference::default() };
        let upgrade = Difference { restart, ..Difference::default() };
        (today, upgrade, self::rules(comparison, from, to, &is))
    };
    let own = |id: &ObjectRef| Some(&before.object).filter(|object| object.id == *id);
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
            let is_left = left.iter().any(|own| own.is(rule));
            // The struct differs in any case; the edit is enough if the upgrade restarts nothing.
            if !is_left || rule.is(&upgrade::ROLE_STRUCT) && !upgrade.restart {
                let changes = edits.iter().map(|edit| edit::shown(edit, own(&edit.id))).collect();
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
            changes: all.iter().map(|edit| edit::shown(edit, own(&edit.id))).collect(),
            brought_up: Vec::new(),
            today,
            upgrade,
            settled: Vec::new(),
            patch: edit::patch(&all, |_, id| own(id)),
        }
    });
    (proposals, together)
}

/// Whether an object is an autoscaler of a ModelServing.
fn scales(object: &Object, serving: &ModelServing) -> bool {
    let target =
        |key: &str| object.node.at(&["spec", "scaleTargetRef", key]).and_then(Node::as_str);
    matches!(object.id.kind.as_str(), "HorizontalPodAutoscaler" | "ScaledObject")
        && target("kind") == Some("ModelServing")
        && target("name") == Some(serving.name())
        && object.id.scope.namespace() == Some(&serving.namespace)
}
