//! The differences of a service between two sides: classes, objects, and whether its pods restart.

use super::side::{Decided, Made};
use super::{Action, Change, ObjectChange, Pair};
use crate::api::{ComponentKind, ObjectRef};
use crate::schema;
use crate::tree::effects::{self, Effect, api_version_and_kind};
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// Whether changes of objects replace pods: in a workload, or because another workload replaces it.
pub(super) fn restart<'o>(objects: impl IntoIterator<Item = &'o ObjectChange>) -> bool {
    let objects: Vec<&ObjectChange> = objects.into_iter().collect();
    let moved = |component: Option<ComponentKind>| {
        let has = |action: Action| {
            objects.iter().any(|object| {
                object.action == action && object.runs_pods && object.component == component
            })
        };
        // A component whose Deployment goes and whose LeaderWorkerSet comes has new pods.
        has(Action::Delete) && has(Action::Create)
    };
    objects.iter().any(|object| object.restart || moved(object.component))
}

/// Marks the objects that the shipped OME controller does not delete. It cleans up components that
/// are removed, but no object of a component that continues as another workload, and no object
/// without a component (pkg/controller/v1beta1/inferenceservice/cleanup.go).
pub(super) fn leave_behind(objects: &mut [ObjectChange], after: &Made<'_>) {
    let component = |node: &Node| {
        node.at(&["metadata", "labels", "component"]).and_then(Node::as_str).map(EcoString::from)
    };
    let active: BTreeSet<EcoString> =
        after.objects.iter().filter_map(|(_, node, _)| component(node)).collect();
    for object in objects.iter_mut().filter(|object| object.action == Action::Delete) {
        let message =
            object.whole.as_ref().and_then(component).filter(|component| !component.is_empty());
        // An object without this label belongs to the service and not to a component.
        object.left_behind = message.is_none_or(|name| active.contains(&name));
    }
}

/// Whether the shipped OME controller does not update an existing object. It compares the spec of
/// Services, HorizontalPodAutoscalers and PodDisruptionBudgets, and writes them as a whole or not
/// at all (service_reconciler.go, semanticServiceEquals; hpa_reconciler.go, semanticHPAEquals;
/// pdb_reconciler.go, semanticPDBEquals).
pub(super) fn keeps_metadata(object: &ObjectChange) -> bool {
    // The class of an autoscaler is compared like its spec.
    let compared = |change: &Change| {
        let text = change.path.to_string();
        !text.starts_with("metadata.") || text.ends_with(r"ome\.io/autoscalerClass")
    };
    object.action == Action::Update
        && matches!(
            object.id.kind.as_str(),
            "Service" | "HorizontalPodAutoscaler" | "PodDisruptionBudget"
        )
        && !object.changes.iter().any(compared)
}

/// Whether a change of an object replaces pods; `None` for a kind without pods.
pub(crate) fn restarts(before: Option<&Node>, after: &Node) -> Option<bool> {
    let (api_version, kind) = api_version_and_kind(after);
    let effect = effects::of(api_version, kind).filter(|effect| effect.runs_pods())?;
    let ty = schema::kind(api_version, kind).map(schema::Schema::root);
    Some(before.is_some_and(|before| {
        crate::tree::changes(before, after, ty).iter().any(|change| effect.restarts(change))
    }))
}

/// The change of every object, ordered by kind and name.
pub(super) fn object_changes(before: &Made<'_>, after: &Made<'_>) -> Vec<ObjectChange> {
    type Pairs<'m> = BTreeMap<(ObjectRef, &'m str), [Option<(&'m Node, Option<ComponentKind>)>; 2]>;
    let mut pairs: Pairs<'_> = BTreeMap::new();
    for (side, built) in [before, after].into_iter().enumerate() {
        for (id, node, component) in &built.objects {
            // The group is part of the identity: Services of the core and of Knative can have one
            // name.
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
                change.immutable = effect
                    .refused(old, &change.changes)
                    .map(|change| change.path.clone())
                    .collect();
                change.restart = change.changes.iter().any(|change| effect.restarts(change));
            }
            // The server refuses the update, so that only a new object can have the change.
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

/// The classes that differ, by component.
pub(super) fn accelerators(
    before: &Decided<'_>,
    after: &Decided<'_>,
) -> Vec<(ComponentKind, Pair<Option<EcoString>>)> {
    let class = |decided: &Decided<'_>, kind: ComponentKind| {
        decided
            .accelerators
            .iter()
            .find(|(component_kind, _)| *component_kind == kind)
            .and_then(|(_, class)| class.clone())
    };
    let mut kinds: Vec<ComponentKind> =
        before.accelerators.iter().chain(&after.accelerators).map(|(kind, _)| *kind).collect();
    kinds.sort_unstable();
    // A component that has a class on both sides is one pair.
    kinds.dedup();
    let pairs = kinds
        .into_iter()
        .map(|kind| (kind, Pair { from: class(before, kind), to: class(after, kind) }));
    pairs.filter(|(_, pair)| pair.from != pair.to).collect()
}

/// How much two results for one service differ; a different refusal weighs most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distance {
    /// One is refused, or both for different reasons.
    refusal: bool,
    /// Decisions, objects and fields that differ.
    parts: usize,
}

/// Compares two results for one service. If one has no objects because the service is refused, only
/// the refusal counts: there are no objects to compare.
pub(super) fn distance(a: &Made<'_>, b: &Made<'_>) -> Distance {
    let refusal = a.decided.error != b.decided.error;
    // Compared with nothing every object would differ, more than in any real difference.
    if a.has_no_objects() || b.has_no_objects() {
        return Distance { refusal, parts: 0 };
    }
    let objects = object_changes(a, b);
    let fields: usize = objects.iter().map(|object| object.changes.len().max(1)).sum();
    Distance { refusal, parts: choices(a, b) + fields }
}

/// Whether two results for one service have the same decisions and objects.
pub(super) fn is_same(a: &Made<'_>, b: &Made<'_>) -> bool {
    distance(a, b) == Distance::default() && choices(a, b) == 0
}

/// How many choices differ: the runtime, and the classes.
fn choices(a: &Made<'_>, b: &Made<'_>) -> usize {
    let runtime = |built: &Made<'_>| built.decided.runtime.map(|object| object.id.clone());
    usize::from(runtime(a) != runtime(b)) + accelerators(&a.decided, &b.decided).len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::FieldPath;

    const POD: &str = "spec: {containers: [{name: c, image: IMAGE}]}";

    fn deployment(more: &str, image: &str) -> Node {
        crate::testing::node(&format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a}}, spec: {{{more} template: {{metadata: {{labels: {{a: b}}}}, {}}}}}}}",
            POD.replace("IMAGE", image)
        ))
    }

    #[test]
    fn pods_are_replaced_by_a_change_of_their_template_alone() {
        let before = deployment("replicas: 1,", "i:1");
        for (after, expected) in [
            (deployment("replicas: 1,", "i:1"), false),
            (deployment("replicas: 3,", "i:1"), false),
            (deployment("paused: true,", "i:1"), false),
            (deployment("replicas: 1,", "i:2"), true),
        ] {
            assert_eq!(restarts(Some(&before), &after), Some(expected), "{after:?}");
        }
        // A new workload replaces no pod.
        assert_eq!(restarts(None, &before), Some(false));
    }

    #[test]
    fn kinds_without_pods_replace_none() {
        for kind in ["{apiVersion: v1, kind: Service}", "{apiVersion: v1, kind: ConfigMap}", "{}"] {
            let node = crate::testing::node(kind);
            assert_eq!(restarts(Some(&node), &node), None, "{kind}");
        }
    }

    fn change(kind: &str, paths: &[&str]) -> ObjectChange {
        let changes = paths.iter().map(|path| Change {
            path: FieldPath::parse(path).expect("a path"),
            from: None,
            to: None,
            place_before: None,
            place_after: None,
            shown: Default::default(),
        });
        ObjectChange {
            id: ObjectRef {
                kind: kind.into(),
                scope: crate::api::Scope::Namespace("ml".into()),
                name: "a".into(),
            },
            action: Action::Update,
            restart: false,
            changes: changes.collect(),
            immutable: Vec::new(),
            left_behind: false,
            whole: None,
            component: None,
            runs_pods: false,
        }
    }

    #[test]
    fn a_config_map_of_a_service_is_replaced_only_if_it_is_sealed() {
        for (sealed, action) in [("", Action::Update), ("immutable: true, ", Action::Replace)] {
            let [before, after] = ["1", "2"].map(|value| {
                let node = crate::testing::node(&format!(
                    "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, {sealed}data: {{a: '{value}'}}}}"
                ));
                let id = change("ConfigMap", &[]).id;
                Made { objects: vec![(id, node, None)], ..Made::default() }
            });
            let found = object_changes(&before, &after);
            let actions: Vec<Action> = found.iter().map(|change| change.action).collect();
            assert_eq!(actions, [action], "{sealed}");
            assert_eq!(found[0].immutable.is_empty(), sealed.is_empty());
        }
    }

    #[test]
    fn the_shipped_controller_does_not_update_labels_of_some_kinds_alone() {
        for (kind, paths, expected) in [
            ("Service", &["metadata.labels.a"][..], true),
            ("HorizontalPodAutoscaler", &["metadata.annotations.b"], true),
            ("PodDisruptionBudget", &["metadata.labels.a", "metadata.labels.b"], true),
            ("Service", &["metadata.labels.a", "spec.type"], false),
            ("Deployment", &["metadata.labels.a"], false),
        ] {
            let one = change(kind, paths);
            assert_eq!(keeps_metadata(&one), expected, "{kind} {paths:?}");
            assert!(!keeps_metadata(&ObjectChange { action: Action::Create, ..one }));
        }
        let mut scaler = change("HorizontalPodAutoscaler", &["metadata.annotations"]);
        scaler.changes[0].path = scaler.changes[0].path.field("ome.io/autoscalerClass");
        assert!(!keeps_metadata(&scaler), "{}", scaler.changes[0].path);
    }

    #[test]
    fn pods_are_replaced_by_a_restart_or_by_another_workload() {
        let object = |action: Action, runs_pods: bool, restart: bool| ObjectChange {
            action,
            runs_pods,
            restart,
            component: Some(ComponentKind::Engine),
            ..change("Deployment", &[])
        };
        for (objects, expected) in [
            (vec![], false),
            (vec![object(Action::Update, true, false)], false),
            (vec![object(Action::Update, true, true)], true),
            (vec![object(Action::Create, true, false)], false),
            (vec![object(Action::Delete, true, false)], false),
            (vec![object(Action::Delete, true, false), object(Action::Create, true, false)], true),
            (
                vec![object(Action::Delete, false, false), object(Action::Create, true, false)],
                false,
            ),
        ] {
            assert_eq!(restart(&objects), expected);
        }
    }
}
