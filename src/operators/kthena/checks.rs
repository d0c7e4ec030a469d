//! References between Kthena's objects: a ModelRoute names ModelServers and ExternalModelProviders
//! of its namespace, a ModelServer selects pods of its namespace by labels
//! (pkg/apis/networking/v1alpha1/modelroute_types.go, TargetModel;
//! pkg/apis/networking/v1alpha1/modelserver_types.go, WorkloadSelector).

use super::objects::names;
use super::read::ROUTES;
use crate::api::{Object, serving_names};
use crate::check::{Check, View, about};
use crate::diag::{Code, Diagnostic, nearest};
use crate::yaml::{Map, Node};

/// All checks of Kthena.
pub(super) static CHECKS: &[Check] = &[Check {
    codes: &[Code::RouteTargetNotFound],
    on_demand: false,
    cite: "pkg/apis/networking/v1alpha1/modelroute_types.go; pkg/apis/networking/v1alpha1/modelserver_types.go",
    run: routes,
}];

/// Follows the references from routes to pods.
fn routes(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let is_ours = |object: &&Object| {
        object.api_version.split_once('/').is_some_and(|(group, _)| group == ROUTES)
    };
    let others = || view.catalog.others().iter().filter(is_ours);
    let of_kind = |kind: &'static str| others().filter(move |object| object.id.kind == kind);
    for route in of_kind("ModelRoute") {
        let rules = route.node.at(&["spec", "rules"]).map(Node::items).unwrap_or_default();
        for target in rules.iter().flat_map(|rule| rule.items_of("targetModels")) {
            for (field, kind) in [
                ("modelServerName", "ModelServer"),
                ("externalModelProviderName", "ExternalModelProvider"),
            ] {
                let Some((named, name)) =
                    target.get(field).and_then(|named| Some((named, named.as_str()?)))
                else {
                    continue;
                };
                let in_scope = || of_kind(kind).filter(|object| object.id.scope == route.id.scope);
                // The other of the two fields names the target.
                if name.is_empty() || in_scope().any(|object| object.id.name == name) {
                    continue;
                }
                let near = nearest(name, in_scope().map(|object| object.id.name.as_str()));
                let help = near.map_or_else(
                    || "load it with `-f`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                let message = format!("no {kind} with the name `{name}` is loaded");
                found.push(
                    about(Code::RouteTargetNotFound, route, message)
                        .at(named.origin.span().or_else(|| Some(route.name_span())))
                        .help(help),
                );
            }
        }
    }
    for server in of_kind("ModelServer") {
        let labels = server.node.at(&["spec", "workloadSelector", "matchLabels"]);
        let Some(wanted) = labels.and_then(Node::as_map).filter(|labels| !labels.is_empty()) else {
            continue;
        };
        // Only if pods of the namespace were read can none of them have the labels.
        let (mut any, mut selected) = (false, false);
        for serving in view.catalog.model_servings() {
            if server.id.scope.namespace() == Some(&serving.namespace) {
                any = true;
                selected |= serving.roles.iter().any(|role| {
                    let set_by_controller = [
                        (names::NAME, serving.name().as_str()),
                        (names::ROLE, role.name.value.as_str()),
                    ];
                    selects(wanted, &role.entry.labels, &set_by_controller)
                });
            }
        }
        for object in
            view.catalog.others().iter().filter(|object| object.id.scope == server.id.scope)
        {
            if let Some(labels) = template_labels(object) {
                any = true;
                selected |= selects(wanted, labels, &[]);
            }
        }
        if any && !selected {
            let written: Vec<String> = wanted
                .iter()
                .map(|entry| {
                    format!("{}={}", entry.key, entry.node.scalar_text().unwrap_or_default())
                })
                .collect();
            let message = format!("no loaded pod has the labels {}", written.join(","));
            found.push(
                about(Code::RouteTargetNotFound, server, message)
                    .at(labels.and_then(|label| label.origin.span()).or_else(|| Some(server.name_span())))
                    .help("pods get labels from `metadata.labels` of the templates, and `modelserving.volcano.sh/name` from the controller"),
            );
        }
    }
}

/// Whether pods with `labels` and those of the controller have all the labels wanted. Values that
/// differ by pod are not compared.
fn selects(wanted: &Map, labels: &Map, set_by_controller: &[(&str, &str)]) -> bool {
    const BY_POD: [&str; 5] =
        [names::GROUP, names::ROLE_ID, names::REVISION, names::ROLE_HASH, serving_names::ENTRY];
    wanted.iter().all(|entry| {
        let text = entry.node.scalar_text();
        set_by_controller
            .iter()
            .any(|(key, value)| entry.key == *key && text.as_deref() == Some(*value))
            || labels.iter().any(|label| label.key == entry.key && label.node.scalar_text() == text)
            || (!set_by_controller.is_empty() && BY_POD.contains(&entry.key.as_str()))
    })
}

/// The labels of the pods of a Pod or of an object with a pod template.
fn template_labels(object: &Object) -> Option<&Map> {
    let labels = match object.id.kind.as_str() {
        "Pod" => object.node.at(&["metadata", "labels"]),
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "Job" => {
            object.node.at(&["spec", "template", "metadata", "labels"])
        }
        "LeaderWorkerSet" => object.node.at(&[
            "spec",
            "leaderWorkerTemplate",
            "workerTemplate",
            "metadata",
            "labels",
        ]),
        _ => None,
    };
    labels?.as_map()
}
