//! Updates of objects of the input that a server refuses, because a field of theirs may not change.

use crate::api::{Failure, Object, ObjectRef, Service, Views, was_in_cluster};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic};
use crate::operators;
use crate::pipeline::together::counted_kinds;
use crate::quantity::Quantity;
use crate::schema::{self, Schema};
use crate::tree::effects::{self, Effect};
use crate::tree::{Change, changes, covers};
use crate::yaml::{FieldPath, Node, Segment};
use ecow::{EcoString, eco_format};
use std::collections::HashMap;

/// Fields below what is immutable that the server fills in, and with what; none for any value.
const FILLED_IN: [(&str, Option<&str>); 9] = [
    ("allocationMode", Some("ExactCount")),
    ("apiVersion", Some("v1")),
    ("count", Some("1")),
    ("creationTimestamp", None),
    ("kind", Some("PersistentVolumeClaim")),
    ("podManagementPolicy", Some("OrderedReady")),
    ("serviceName", Some("")),
    ("status", None),
    ("volumeMode", Some("Filesystem")),
];

/// Annotations by which what applies an object may delete and create it where an update is refused.
const REPLACED: [&str; 4] = [
    "argocd.argoproj.io/hook",
    "argocd.argoproj.io/sync-options",
    "helm.sh/hook",
    "kustomize.toolkit.fluxcd.io/force",
];

/// Why a workload of the input cannot become another one by an update; none where it can.
pub(super) fn refusal(earlier: &Object, object: &Object) -> Option<EcoString> {
    let path = refused_change(earlier, object)?.path;
    let kind = &object.id.kind;
    Some(eco_format!(
        "`{path}` of a {kind} is immutable: a server refuses the update of one that is there, and \
         creates one that was deleted"
    ))
}

/// What the webhook of an operator refuses of the update of a service.
pub(super) fn refused_service(
    before: (&Catalog, &Service),
    after: (&Catalog, &Service),
) -> Option<Failure> {
    let states = [before, after];
    if states.iter().any(|(catalog, service)| is_open(catalog, &service.object))
        || is_replaced(&after.1.object)
    {
        return None;
    }
    let policy = after.0.policy(after.1.object.api)?;
    let [before, after] = states.map(|(catalog, service)| (service, catalog.config()));
    operators::refused_update(policy, before, after)
}

/// The finding on the update of a service that the webhook of its operator refuses.
pub(crate) fn refused_update(
    before: &Catalog,
    after: &Catalog,
    service: &Service,
) -> Option<Diagnostic> {
    let is_it = |views: &&Views| views.followed().object.id == service.object.id;
    let earlier = before.services().find(is_it)?.followed();
    Some(of_failure(service, refused_service((before, earlier), (after, service))?))
}

/// The same for every service.
fn refused_services(before: &Catalog, after: &Catalog) -> Vec<Diagnostic> {
    let earlier: HashMap<&ObjectRef, &Service> = before
        .services()
        .map(Views::followed)
        .map(|service| (&service.object.id, service))
        .collect();
    let finding = |service: &Service| {
        let earlier = earlier.get(&service.object.id)?;
        Some(of_failure(service, refused_service((before, earlier), (after, service))?))
    };
    after.services().map(Views::followed).filter_map(finding).collect()
}

fn of_failure(service: &Service, failure: Failure) -> Diagnostic {
    let finding = Diagnostic::new(failure.code, failure.message).at(failure.span);
    let finding = finding.object(service.object.id.to_string());
    match failure.help {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// Whether what is not filled in, or is patched elsewhere, is not what a server is given.
fn is_open(catalog: &Catalog, object: &Object) -> bool {
    catalog.is_unfilled(object) || catalog.patched().contains_key(&object.span.source)
}

/// Findings on updates that a server refuses of services and of objects without pods: volumes, claims,
/// classes, bindings. For workloads the rollout says it.
pub(crate) fn refused(before: &Catalog, after: &Catalog) -> Vec<Diagnostic> {
    let judged = |object: &Object| {
        let is_it = |(group, kind, _)| group == object.group() && kind == object.id.kind;
        !object.builtin && effect(object).is_some() && !counted_kinds().any(is_it)
    };
    let earlier: HashMap<&ObjectRef, &Object> = before
        .objects()
        .filter(|object| judged(object))
        .map(|object| (&object.id, object))
        .collect();
    let change = |object: &Object| {
        let earlier = earlier.get(&object.id)?;
        if is_open(before, earlier) || is_open(after, object) || is_replaced(object) {
            return None;
        }
        let change = refused_change(earlier, object);
        let refused = change.map(|change| finding(&object.id, &change));
        refused.or_else(|| refused_growth(after, earlier, object))
    };
    let mut found = refused_services(before, after);
    found.extend(after.objects().filter(|object| judged(object)).filter_map(change));
    found
}

/// The finding on a change that a server refuses.
pub(crate) fn finding(object: &ObjectRef, change: &Change) -> Diagnostic {
    Diagnostic::new(
        Code::ImmutableField,
        format!("`{}` of {object} may not change: the API server refuses the update", change.path),
    )
    .at(change.to.as_ref().and_then(|node| node.origin.span()).or(change.place_after))
    .path(change.path.to_string())
    .object(object.to_string())
    .help(if object.kind.starts_with("PersistentVolume") {
        "keep the field as it was, or add one of another name: deleting this one may delete its data"
    } else {
        "delete the object before the change is applied, or keep the field as it was"
    })
}

/// The finding on a claim that becomes larger where its volume cannot (plugin/pkg/admission/storage/
/// persistentvolume/resize/admission.go, `Validate`). A claim of a manifest is taken as bound.
fn refused_growth(catalog: &Catalog, earlier: &Object, object: &Object) -> Option<Diagnostic> {
    const SIZE: [&str; 4] = ["spec", "resources", "requests", "storage"];
    if object.id.kind != "PersistentVolumeClaim" {
        return None;
    }
    let size = |object: &Object| Quantity::parse(&object.node.at(&SIZE)?.scalar_text()?).ok();
    if size(object)? <= size(earlier)? {
        return None;
    }
    // A manifest need not name the class that the server filled in.
    let class = |object: &Object| object.spec("storageClassName").and_then(Node::scalar_text);
    let class = class(earlier).or_else(|| class(object))?;
    let phase = earlier.node.at(&["status", "phase"]).and_then(Node::as_str);
    let (why, help) = if phase.is_some_and(|phase| phase != "Bound") {
        ("only a bound claim can grow".to_owned(), "wait until the claim is bound".to_owned())
    } else {
        let mut all = catalog.others().iter();
        let is_it = |other: &&Object| other.id.kind == "StorageClass" && other.id.name == class;
        let found = all.find(is_it).filter(|class| !is_open(catalog, class))?;
        if found.node.get("allowVolumeExpansion").and_then(Node::as_bool) == Some(true) {
            return None;
        }
        (
            format!("StorageClass `{class}` does not have `allowVolumeExpansion: true`"),
            format!(
                "set `allowVolumeExpansion: true` in StorageClass `{class}` if its driver can expand volumes, or keep the size"
            ),
        )
    };
    let path = SIZE.iter().fold(FieldPath::root(), |path, key| path.field(*key)).to_string();
    let message =
        format!("`{path}` of {} may not grow: the API server refuses the update: {why}", object.id);
    let place = object.node.at(&SIZE).and_then(|node| node.origin.span());
    let found = Diagnostic::new(Code::ImmutableField, message).at(place).path(path);
    Some(found.object(object.id.to_string()).help(help))
}

/// Whether an annotation may replace an object instead of updating it.
fn is_replaced(object: &Object) -> bool {
    REPLACED.iter().any(|key| object.annotation(key).is_some())
}

/// The row of an object.
fn effect(object: &Object) -> Option<&'static Effect> {
    effects::of(&object.api_version, &object.id.kind)
}

/// The first change that a server refuses of an update.
fn refused_change(earlier: &Object, object: &Object) -> Option<Change> {
    let effect = effect(object)?;
    // Of another version the server compares what it converts, which is not done here.
    if earlier.api_version != object.api_version {
        return None;
    }
    let ty = schema::kind(&object.api_version, &object.id.kind).map(Schema::root);
    let live = [earlier, object].map(|state| was_in_cluster(&state.node));
    let all = changes(&earlier.node, &object.node, ty);
    let mut refused = effect.refused(&earlier.node, &all);
    refused.find(|change| !is_filled_in(change) && !is_of_server(change, live)).cloned()
}

/// Whether one side has what the server fills in on the other.
fn is_filled_in(change: &Change) -> bool {
    let ((Some(value), None) | (None, Some(value))) = (&change.from, &change.to) else {
        return false;
    };
    let Some(Segment::Field(field)) = change.path.0.last() else { return false };
    FILLED_IN.iter().any(|(name, filled)| {
        name == field
            && filled.is_none_or(|filled| value.scalar_text().is_some_and(|text| text == filled))
    })
}

/// Whether a manifest is beside the object of a cluster, which has more than the manifest states.
fn is_of_server(change: &Change, live: [bool; 2]) -> bool {
    let has_all = |manifest: Option<&Node>, live: Option<&Node>| match (manifest, live) {
        (None, _) => true,
        (Some(manifest), live) => live.is_some_and(|live| covers(manifest, live)),
    };
    let (from, to) = (change.from.as_ref(), change.to.as_ref());
    match live {
        [true, false] => has_all(to, from),
        [false, true] => has_all(from, to),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    fn stateful(more: &str, meta: &str) -> String {
        format!(
            "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: a, namespace: ml{meta}}}\nspec: {{selector: {{matchLabels: {{app: a}}}}, {more}template: {{metadata: {{labels: {{app: a}}}}, spec: {{containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    }

    fn deployment(label: &str) -> String {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{selector: {{matchLabels: {{app: {label}}}}}, template: {{metadata: {{labels: {{app: {label}}}}}, spec: {{containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    }

    #[test]
    fn an_update_that_a_server_refuses_is_not_judged() {
        let set = |more: &str| stateful(more, "");
        let claims = |size: &str, more: &str| {
            format!(
                "volumeClaimTemplates: [{{metadata: {{name: d}}, spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: {size}}}}}{more}}}}}], "
            )
        };
        let live = stateful(
            &format!(
                "podManagementPolicy: OrderedReady, serviceName: '', {}",
                claims("1Gi", ", storageClassName: x, volumeMode: Filesystem")
            ),
            ", uid: u",
        );
        for (before, after, path) in [
            (deployment("a"), deployment("b"), Some("spec.selector.matchLabels.app")),
            (deployment("a"), deployment("a"), None),
            (set("serviceName: a, "), set("serviceName: b, "), Some("spec.serviceName")),
            (set(""), set("podManagementPolicy: Parallel, "), Some("spec.podManagementPolicy")),
            (set(""), set("podManagementPolicy: OrderedReady, "), None),
            (set(""), set("replicas: 2, "), None),
            (set(&claims("1Gi", "")), set(&claims("2Gi", "")), Some("spec.volumeClaimTemplates")),
            (set(&claims("1Gi", "")), set(&claims("1024Mi", "")), None),
            // A manifest beside the object that a server completed.
            (live.clone(), set(&claims("1Gi", "")), None),
            (live, set(&claims("2Gi", "")), Some("spec.volumeClaimTemplates")),
        ] {
            let [old, new] = [&before, &after].map(|text| gpu_node("n1", 8, "") + text);
            let files = [("before.yaml", old.as_str()), ("after.yaml", new.as_str())];
            let ran = ome_on("diff -o json --base {before.yaml} -f {after.yaml}", &files);
            let message = ran.at("/capacity/notJudged/0/message");
            let message = message.as_str().unwrap_or("");
            let is_named = path.is_none_or(|path| message.starts_with(&format!("`{path}")));
            let is_refused = message.contains("is immutable");
            assert!(is_named && is_refused == path.is_some(), "{before}{after}{message}");
        }
    }

    /// The paths of the findings on refused updates, by `diff` and by `rollout`, which agree.
    fn found(before: &str, after: &str) -> Vec<String> {
        const PLAIN: &str = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml}\nspec: {containers: [{name: c, image: x}]}\n";
        let [old, new] = [before, after].map(|text| gpu_node("n1", 8, "") + PLAIN + "---\n" + text);
        let files = [("before.yaml", old.as_str()), ("after.yaml", new.as_str())];
        let paths = |command: &str| {
            let ran = ome_on(
                &format!("{command} -o json --base {{before.yaml}} -f {{after.yaml}}"),
                &files,
            );
            let all = ran.at("/findings").as_array().cloned().unwrap_or_default();
            let is_it = |finding: &serde_json::Value| finding["code"] == "immutable-field";
            let found = all.iter().filter(|finding| is_it(finding));
            found
                .map(|finding| finding["path"].as_str().unwrap_or("").to_owned())
                .collect::<Vec<_>>()
        };
        let [diff, rollout] = ["diff", "rollout --all"].map(paths);
        assert_eq!(diff, rollout, "{before}{after}");
        diff
    }

    #[test]
    fn an_update_of_an_object_without_pods_that_a_server_refuses_is_a_finding() {
        let object = |of: &str, meta: &str, rest: &str| {
            let (api_version, kind) = of.rsplit_once('/').expect("a version and a kind");
            format!(
                "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a{meta}}}\n{rest}\n"
            )
        };
        for (of, before, after, path) in [
            ("scheduling.k8s.io/v1/PriorityClass", "value: 1", "value: 2", "value"),
            ("scheduling.k8s.io/v1/PriorityClass", "value: 1", "value: 1\nglobalDefault: true", ""),
            (
                "v1/PersistentVolumeClaim",
                "spec: {accessModes: [ReadWriteOnce]}",
                "spec: {accessModes: [ReadWriteMany]}",
                "spec.accessModes[0]",
            ),
            // A default class and a binding fill these in.
            (
                "v1/PersistentVolumeClaim",
                "spec: {accessModes: [ReadWriteOnce]}",
                "spec: {accessModes: [ReadWriteOnce], storageClassName: x, volumeName: v}",
                "",
            ),
            (
                "v1/PersistentVolumeClaim",
                "spec: {resources: {requests: {storage: 1Gi}}}",
                "spec: {resources: {requests: {storage: 2Gi}}}",
                "",
            ),
            (
                "storage.k8s.io/v1/StorageClass",
                "provisioner: x\nparameters: {type: a}",
                "provisioner: x\nparameters: {type: b}",
                "parameters.type",
            ),
            (
                "v1/ConfigMap",
                "data: {a: b}\nimmutable: true",
                "data: {a: c}\nimmutable: true",
                "data.a",
            ),
            ("v1/Service", "spec: {}", "spec: {clusterIP: None}", "spec.clusterIP"),
            ("v1/Secret", "type: a/b", "type: c/d", "type"),
            ("v1/Secret", "data: {a: YQ==}", "data: {a: Yg==}", ""),
            (
                "v1/Secret",
                "data: {a: YQ==}\nimmutable: true",
                "data: {a: Yg==}\nimmutable: true",
                "data.a",
            ),
            (
                "v1/ResourceQuota",
                "spec: {hard: {pods: 1}}",
                "spec: {hard: {pods: 1}, scopes: [BestEffort]}",
                "spec.scopes",
            ),
            (
                "v1/PersistentVolumeClaim",
                "spec: {resources: {requests: {storage: 1Ti}}}",
                "spec: {resources: {requests: {storage: 512Gi}}}",
                "spec.resources.requests.storage",
            ),
            (
                "v1/PersistentVolume",
                "spec: {hostPath: {path: /a}}",
                "spec: {nfs: {server: a, path: /a}}",
                "spec.hostPath",
            ),
            (
                "kueue.x-k8s.io/v1beta1/LocalQueue",
                "spec: {clusterQueue: a}",
                "spec: {clusterQueue: b}",
                "spec.clusterQueue",
            ),
            ("v1/ConfigMap", "data: {a: b}", "data: {a: c}\nimmutable: true", ""),
            (
                "resource.k8s.io/v1/ResourceClaimTemplate",
                "spec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: a}}]}}}",
                "spec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: b}}]}}}",
                "spec.spec.devices.requests[name=g].exactly.deviceClassName",
            ),
            (
                "resource.k8s.io/v1/ResourceClaimTemplate",
                "spec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: a}}]}}}",
                "spec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: a, allocationMode: ExactCount, count: 1}}]}}}",
                "",
            ),
        ] {
            let expected: Vec<String> =
                (!path.is_empty()).then(|| path.to_owned()).into_iter().collect();
            assert_eq!(
                found(&object(of, "", before), &object(of, "", after)),
                expected,
                "{of} {after}"
            );
            // Argo CD may replace it.
            let replaced = ", annotations: {argocd.argoproj.io/sync-options: Replace=true}";
            assert_eq!(found(&object(of, "", before), &object(of, replaced, after)), [""; 0]);
        }
    }

    #[test]
    fn a_claim_grows_where_its_class_allows_it() {
        let claim = |size: &str, class: &str, status: &str| {
            format!(
                "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: a, namespace: ml}}\nspec: {{accessModes: [ReadWriteOnce]{class}, resources: {{requests: {{storage: {size}}}}}}}\n{status}---\n"
            )
        };
        let class = |more: &str| {
            format!(
                "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: s}}\nprovisioner: x\n{more}\n"
            )
        };
        let (named, size) = (", storageClassName: s", "spec.resources.requests.storage");
        let (grows, stays) = (class("allowVolumeExpansion: true"), class(""));
        let pending = "status: {phase: Pending}\n";
        for (before, after, path) in [
            (claim("1Gi", named, "") + &grows, claim("2Gi", named, "") + &grows, None),
            (claim("1Gi", named, "") + &stays, claim("2Gi", named, "") + &stays, Some(size)),
            // A change of the class comes with it.
            (claim("1Gi", named, "") + &stays, claim("2Gi", named, "") + &grows, None),
            // The default class may be any.
            (claim("1Gi", "", "") + &stays, claim("2Gi", "", "") + &stays, None),
            // The class was not read.
            (claim("1Gi", named, ""), claim("2Gi", named, ""), None),
            (claim("1Gi", named, pending) + &grows, claim("2Gi", named, "") + &grows, Some(size)),
        ] {
            let expected: Vec<String> = path.iter().map(|path| (*path).to_owned()).collect();
            assert_eq!(found(&before, &after), expected, "{before}{after}");
        }
    }

    #[test]
    fn an_update_of_a_service_that_its_webhook_refuses_leaves_it_unchanged() {
        let service = |mode: &str| {
            format!(
                "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: ml{mode}}}\nspec: {{predictor: {{containers: [{{name: kserve-container, image: x}}]}}}}\n"
            )
        };
        let mode = |mode: &str| {
            service(&format!(", annotations: {{serving.kserve.io/deploymentMode: {mode}}}"))
        };
        let llm = |parallelism: &str| {
            format!(
                "---\napiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {{name: a, namespace: ml}}\nspec: {{model: {{uri: 'hf://a/b'}}, parallelism: {{{parallelism}}}, worker: {{containers: [{{name: main, image: x}}]}}, template: {{containers: [{{name: main, image: x}}]}}}}\n"
            )
        };
        let refused = "the webhook refuses the update: deploymentMode cannot be changed from";
        for (before, after, message) in [
            (mode("RawDeployment"), mode("Serverless"), Some(refused)),
            (mode("Standard"), mode("RawDeployment"), None),
            (mode("RawDeployment"), service(""), None),
            // The settings of the cluster were not read, which tell its mode.
            (service(""), mode("RawDeployment"), None),
            (
                llm("pipeline: 2"),
                llm("pipeline: 4"),
                Some(
                    "the webhook refuses the update: spec.parallelism: total parallelism size is immutable, previous size 2, curr size 4",
                ),
            ),
            (llm("tensor: 2"), llm("tensor: 4"), None),
        ] {
            let [old, new] = [&before, &after].map(|text| gpu_node("n1", 8, "") + text);
            let files = [("before.yaml", old.as_str()), ("after.yaml", new.as_str())];
            let diff = ome_on("diff -o json --base {before.yaml} -f {after.yaml}", &files);
            let all = diff.at("/findings").as_array().cloned().unwrap_or_default();
            let found = all.iter().find(|finding| finding["code"] == "immutable-field");
            let text = found.and_then(|finding| finding["message"].as_str());
            let is_it = |text: &str| message.is_some_and(|message| text.starts_with(message));
            assert!(
                text.is_some() == message.is_some() && text.is_none_or(is_it),
                "{after}{text:?}"
            );
            let rollout = ome_on("rollout --all --base {before.yaml} -f {after.yaml}", &files);
            let is_named =
                rollout.err.contains(message.unwrap_or("the webhook refuses the update"));
            assert_eq!(is_named, message.is_some(), "{after}{}{}", rollout.out, rollout.err);
        }
    }
}
