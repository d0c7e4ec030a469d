//! What an upgrade of Kthena makes of a ModelServing.
//!
//! In: a ModelServing of both sides, whose input is the same. Out: its group, with the revision
//! that becomes another one, the update that follows from it, and the rules. Whether the document
//! is right was said when it was read; what is in the cluster is replaced either way.

use super::made::{self, Subject};
use super::{Action, Answer, Change, Comparison, Fate, Found, Group, Names, ObjectChange, Pair};
use crate::api::{Api, ModelServing, Object};
use crate::operators::kthena::upgrade;
use crate::pipeline::serving::serving_gpus;
use crate::pipeline::{ServingUpgrade, Upgrades};
use crate::policy::KthenaPolicy;
use crate::policy::upgrade::ReleaseRule;
use crate::quantity::Count;
use crate::secret::Place;
use crate::yaml::{FieldPath, Node, Origin, Rule, Segment, Value};
use ecow::{EcoString, eco_format};

static REVISION: Rule = Rule {
    id: "kthena-revision",
    text: "the revision is the hash of the roles as the release prints them",
    cite: "volcano-sh/kthena pkg/model-serving-controller/utils/revision_util.go, Revision",
};

/// Answers for a ModelServing under two releases of Kthena.
pub(super) fn answer<'c, 'a>(
    comparison: &Comparison<'c, 'a>,
    upgrades: &Upgrades<'_>,
    before: &'a ModelServing,
    after: &'a ModelServing,
) -> Answer<'c, 'a> {
    let refused = made::broken(comparison.sides[1].world, after).is_some();
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
        let mut group = Group {
            fate: Fate::Changed,
            api: Api::Kthena,
            services: vec![eco_format!("{}/{}", after.namespace, after.name())],
            causes: Vec::new(),
            runtime: None,
            accelerators: Vec::new(),
            error: None,
            objects: vec![revision(after, &rolled, restart)],
            restart,
            pods_restarted: pods,
            gpus: Pair { from: gpus, to: gpus },
            costs: vec![Pair::default()],
            rules: rules(comparison, from, to, after),
            rolled: None,
        };
        group.rolled = Some(rolled);
        // What is played depends on the name: none is put aside.
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

/// The status of the ModelServing, which names the revision.
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
    let queue = serving.object.annotation("scheduling.volcano.sh/queue-name").is_some();
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

/// Whether an object is an autoscaler of a ModelServing.
fn scales(object: &Object, serving: &ModelServing) -> bool {
    let target =
        |key: &str| object.node.at(&["spec", "scaleTargetRef", key]).and_then(Node::as_str);
    matches!(object.id.kind.as_str(), "HorizontalPodAutoscaler" | "ScaledObject")
        && target("kind") == Some("ModelServing")
        && target("name") == Some(serving.name())
        && object.id.scope.namespace() == Some(&serving.namespace)
}
