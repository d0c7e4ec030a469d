//! Fields that only a live object has, in objects whose spec the operator replaces as a whole: the
//! operator removes them when it next writes the object.
//!
//! In: a live object and the one that the operator would write. Out: the fields that neither the
//! server nor another controller wrote, each with the manager that owns it. Sources: OME
//! (pkg/controller/v1beta1/inferenceservice/reconcilers: Deployments, Services and HPAs are compared
//! by spec and updated as a whole), KServe (the same package), and the defaults of Kubernetes 1.35
//! (pkg/apis/*/v1/defaults.go).

use crate::schema::{self, Schema};
use crate::tree::{Change, changes};
use crate::yaml::{FieldPath, Node, Segment, Value};
use ecow::EcoString;

/// Kinds whose spec operators replace, and that no other controller writes to.
const REPLACED: [(&str, &str); 5] = [
    ("apps", "Deployment"),
    ("", "Service"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("policy", "PodDisruptionBudget"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
];

/// Values that the server writes into every object: the field and the value.
static DEFAULTS: &[(&str, &str)] = &[
    ("allocateLoadBalancerNodePorts", "true"),
    ("apiVersion", "v1"),
    ("defaultMode", "420"),
    ("divisor", "0"),
    ("dnsPolicy", "ClusterFirst"),
    ("enableServiceLinks", "true"),
    ("expirationSeconds", "3600"),
    ("externalTrafficPolicy", "Cluster"),
    ("failureThreshold", "3"),
    ("internalTrafficPolicy", "Cluster"),
    ("ipFamilyPolicy", "SingleStack"),
    ("maxSurge", "25%"),
    ("maxUnavailable", "25%"),
    ("path", "/"),
    ("periodSeconds", "10"),
    ("procMount", "Default"),
    ("progressDeadlineSeconds", "600"),
    ("protocol", "TCP"),
    ("restartPolicy", "Always"),
    ("restartPolicy", "RecreateGroupOnPodRestart"),
    ("revisionHistoryLimit", "10"),
    ("scheme", "HTTP"),
    ("schedulerName", "default-scheduler"),
    ("sessionAffinity", "None"),
    ("startupPolicy", "LeaderCreated"),
    ("subdomainPolicy", "Shared"),
    ("successThreshold", "1"),
    ("terminationGracePeriodSeconds", "30"),
    ("terminationMessagePath", "/dev/termination-log"),
    ("terminationMessagePolicy", "File"),
    ("timeoutSeconds", "1"),
    ("type", "ClusterIP"),
    ("type", "RollingUpdate"),
];

/// Fields that the server chooses.
const ASSIGNED: [&str; 6] =
    ["clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies", "nodePort", "targetPort"];

/// Prefixes of labels and annotations of pods that other controllers and tools write: Argo CD,
/// Reloader, Keel, Kyverno, Kustomize, Helm, VPA, Linkerd, Istio.
const WRITERS: [&str; 12] = [
    "argocd.argoproj.io/",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "reloader.stakater.com/",
    "keel.sh/",
    "kyverno.io/",
    "policies.kyverno.io/",
    "kustomize.toolkit.fluxcd.io/",
    "vpaObservedContainers",
    "vpaUpdates",
    "linkerd.io/",
    "sidecar.istio.io/",
];

/// Names of variables that Reloader writes into containers.
const VARIABLES: &str = "STAKATER_";

/// A field that the operator would remove.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) change: Change,
    /// The manager that owns it, from `metadata.managedFields`.
    pub(super) manager: Option<EcoString>,
}

/// The fields of the spec of a live object that the operator would remove.
pub(super) fn fields(live: &Node, wanted: &Node) -> Vec<Added> {
    let text = |key: &str| wanted.get(key).and_then(Node::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let group = version.split_once('/').map_or("", |(group, _)| group);
    if !REPLACED.contains(&(group, kind)) {
        return Vec::new();
    }
    let schema = schema::kind(version, kind);
    let mut stored = wanted.clone();
    if let Some(schema) = schema {
        // The server fills in the same defaults when the operator writes its object.
        schema.default(&mut stored);
    }
    let found = changes(live, &stored, schema.map(Schema::root)).into_iter();
    // Fields with another value are drift of another kind, which the caller reports.
    let found = found.filter(|change| change.to.is_none()).filter(|change| {
        let in_spec = matches!(change.path.0.first(), Some(Segment::Field(name)) if name == "spec");
        in_spec && !is_replicas(&change.path)
    });
    let found = found.filter(|change| {
        let value = change.from.as_ref();
        value.is_some_and(|value| !is_of_server(live, &change.path, value))
            && !is_of_writer(&change.path)
    });
    found.map(|change| Added { manager: manager(live, &change.path), change }).collect()
}

/// The number of replicas has rules of its own.
fn is_replicas(path: &FieldPath) -> bool {
    matches!(path.0.as_slice(), [_, Segment::Field(name)] if name == "replicas")
}

/// Whether the server writes this value where a client writes none.
fn is_of_server(live: &Node, path: &FieldPath, value: &Node) -> bool {
    let Some(Segment::Field(name)) = path.0.last() else { return false };
    if ASSIGNED.contains(&name.as_str()) {
        return true;
    }
    match &value.value {
        Value::Null => true,
        Value::Str(text) if text.is_empty() => true,
        // A mapping is the server's when everything in it is.
        Value::Map(map) => map.iter().all(|entry| {
            let path = path.field(entry.key.clone());
            is_of_writer(&path) || is_of_server(live, &path, &entry.node)
        }),
        Value::List(_) => value.items().iter().all(|item| {
            let name = item.get("name").and_then(Node::as_str);
            // Lists of the server have no names; only Reloader's variables are known by theirs.
            name.is_some_and(|name| name.starts_with(VARIABLES))
        }),
        _ => {
            let text = value.scalar_text().unwrap_or_default();
            DEFAULTS.contains(&(name.as_str(), text.as_str())) || is_derived(live, path, &text)
        }
    }
}

/// Whether the server derives the value from another one of the same object.
fn is_derived(live: &Node, path: &FieldPath, text: &str) -> bool {
    let Some((Segment::Field(name), above)) = path.0.split_last() else { return false };
    let neighbors = |steps: &[Segment], keys: &[&str]| {
        let found = live.select(&FieldPath(steps.to_vec()));
        found.first().and_then(|node| node.at(keys)).and_then(Node::scalar_text)
    };
    match (name.as_str(), above.split_last()) {
        // Requests are the limits where they are not set.
        (_, Some((Segment::Field(side), resources))) if side == "requests" => {
            neighbors(resources, &["limits", name.as_str()]).is_some_and(|limit| limit == text)
        }
        ("serviceAccount", _) => {
            neighbors(above, &["serviceAccountName"]).is_some_and(|name| name == text)
        }
        ("imagePullPolicy", _) => {
            let image = neighbors(above, &["image"]).unwrap_or_default();
            let name = image.rsplit('/').next().unwrap_or_default();
            // The server pulls an image without a tag each time, as it may have changed.
            let is_latest =
                !name.contains('@') && (!name.contains(':') || name.ends_with(":latest"));
            text == if is_latest { "Always" } else { "IfNotPresent" }
        }
        // The ports of a pod in the network of its node.
        ("hostPort", _) => neighbors(above, &["containerPort"]).is_some_and(|name| name == text),
        _ => false,
    }
}

/// Whether another controller or a tool beside the operator writes the field.
fn is_of_writer(path: &FieldPath) -> bool {
    path.0.iter().enumerate().any(|(at, segment)| match segment {
        Segment::Field(name) => {
            // Only below `labels` or `annotations` a name is that of a label.
            let above = at.checked_sub(1).and_then(|at| path.0.get(at));
            let is_meta = matches!(above, Some(Segment::Field(field)) if field == "labels" || field == "annotations");
            is_meta && WRITERS.iter().any(|prefix| name.starts_with(prefix))
        }
        Segment::Keyed(key, name) => key == "name" && name.starts_with(VARIABLES),
        Segment::Index(_) | Segment::All => false,
    })
}

/// The managers that own a field, from `metadata.managedFields`.
fn manager(live: &Node, path: &FieldPath) -> Option<EcoString> {
    let entries = live.at(&["metadata", "managedFields"])?.items();
    let owners = entries
        .iter()
        .filter(|entry| entry.get("fieldsV1").is_some_and(|fields| owns(fields, &path.0)));
    let names: Vec<EcoString> =
        owners.filter_map(|entry| entry.get("manager")?.scalar_text()).collect();
    (!names.is_empty()).then(|| names.join(", ").into())
}

/// Whether a set of fields (`FieldsV1`) has a field.
fn owns(fields: &Node, path: &[Segment]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    let mut inner = fields.entries().filter(|entry| match first {
        Segment::Field(name) => {
            entry.key.strip_prefix("f:").is_some_and(|key| key == name.as_str())
        }
        Segment::Keyed(key, value) => entry.key.strip_prefix("k:").is_some_and(|name| {
            let entry: serde_json::Value = serde_json::from_str(name).unwrap_or_default();
            // Keys of lists are JSON, where a port is a number and the path has its digits.
            let field = &entry[key.as_str()];
            field.as_str().map_or_else(|| field.to_string(), str::to_owned) == value.as_str()
        }),
        Segment::Index(_) | Segment::All => false,
    });
    // An owned field without fields of its own is owned as a whole.
    inner.any(|entry| entry.node.entries().next().is_none() || owns(&entry.node, rest))
}

#[cfg(test)]
mod tests {
    use super::fields;
    use super::{is_of_server, is_replicas, manager};
    use crate::operators::ome::compose::testing::node;
    use crate::yaml::FieldPath;

    fn found(live: &str, wanted: &str) -> Vec<String> {
        let of = |spec: &str| node(&format!("{{apiVersion: apps/v1, kind: Deployment, {spec}}}"));
        let all = fields(&of(live), &of(wanted));
        all.iter()
            .map(|added| {
                let by = added
                    .manager
                    .as_deref()
                    .map_or(String::new(), |manager| format!(" by {manager}"));
                format!("{}{by}", added.change.path)
            })
            .collect()
    }

    const WANTED: &str = "spec: {template: {spec: {containers: [{name: a, image: 'x:1', resources: {limits: {cpu: 1}}}]}}}";

    #[test]
    fn what_the_server_and_other_controllers_write_is_not_added() {
        for live in [
            "spec: {replicas: 3, revisionHistoryLimit: 10, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}, template: {spec: {containers: [{name: a, image: 'x:1', resources: {limits: {cpu: 1}}}]}}}",
            "spec: {template: {metadata: {creationTimestamp: null}, spec: {securityContext: {}, schedulerName: default-scheduler, containers: [{name: a, image: 'x:1', imagePullPolicy: IfNotPresent, resources: {limits: {cpu: 1}, requests: {cpu: 1}}}]}}}",
            "spec: {template: {metadata: {annotations: {reloader.stakater.com/last-reloaded-from: x}, labels: {app.kubernetes.io/instance: y}}, spec: {containers: [{name: a, image: 'x:1', env: [{name: STAKATER_C_CONFIGMAP, value: z}], resources: {limits: {cpu: 1}}}]}}}",
        ] {
            assert_eq!(found(live, WANTED), Vec::<String>::new(), "{live}");
        }
    }

    #[test]
    fn what_a_hand_added_is_named_with_its_manager() {
        for (live, expected) in [
            (
                "spec: {paused: true, minReadySeconds: 5, template: {spec: {containers: [{name: a, image: 'x:1', resources: {limits: {cpu: 1}}}]}}}",
                vec!["spec.minReadySeconds", "spec.paused"],
            ),
            (
                "spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}, spec: {hostNetwork: true, nodeSelector: {a: b}, containers: [{name: a, image: 'x:1', imagePullPolicy: Always, resources: {limits: {cpu: 1}, requests: {cpu: 500m}}}, {name: debug, image: b}]}}}",
                vec![
                    "spec.template.metadata",
                    "spec.template.spec.containers[name=a].imagePullPolicy",
                    "spec.template.spec.containers[name=a].resources.requests",
                    "spec.template.spec.containers[name=debug]",
                    "spec.template.spec.hostNetwork",
                    "spec.template.spec.nodeSelector",
                ],
            ),
            (
                "metadata: {managedFields: [{manager: m, fieldsV1: {'f:spec': {'f:replicas': {}}}}, {manager: kubectl-edit, fieldsV1: {'f:spec': {'f:template': {'f:spec': {'f:containers': {'k:{\"name\":\"a\"}': {'f:env': {'k:{\"name\":\"X\"}': {}}}}}}}}}]}, spec: {template: {spec: {containers: [{name: a, image: 'x:1', env: [{name: Y}, {name: X, value: '1'}], resources: {limits: {cpu: 1}}}]}}}",
                vec!["spec.template.spec.containers[name=a].env[name=X] by kubectl-edit"],
            ),
        ] {
            let wanted = if live.contains("managedFields") {
                WANTED.replace("resources", "env: [{name: Y}], resources")
            } else {
                WANTED.to_owned()
            };
            assert_eq!(found(live, &wanted), expected, "{live}");
        }
    }

    fn of_server(live: &str, path: &str) -> bool {
        let live = crate::testing::node(live);
        let path = FieldPath::parse(path).expect("a path");
        let value = live.select(&path).first().copied().cloned().expect("a value");
        is_of_server(&live, &path, &value)
    }

    #[test]
    fn values_that_the_server_derives_are_not_added_by_hand() {
        let of = |container: &str| format!("{{spec: {{containers: [{{name: c, {container}}}]}}}}");
        let c = "spec.containers[name=c]";
        for (container, field, expected) in [
            ("image: a, imagePullPolicy: Always", "imagePullPolicy", true),
            ("image: a:latest, imagePullPolicy: Always", "imagePullPolicy", true),
            ("image: a:v1, imagePullPolicy: IfNotPresent", "imagePullPolicy", true),
            ("image: a:v1, imagePullPolicy: Always", "imagePullPolicy", false),
            ("image: a, imagePullPolicy: IfNotPresent", "imagePullPolicy", false),
            ("image: 'r:5000/a', imagePullPolicy: Always", "imagePullPolicy", true),
            ("image: 'a@sha256:ab', imagePullPolicy: IfNotPresent", "imagePullPolicy", true),
            ("resources: {limits: {cpu: 2}, requests: {cpu: 2}}", "resources.requests.cpu", true),
            ("resources: {limits: {cpu: 2}, requests: {cpu: 1}}", "resources.requests.cpu", false),
            ("resources: {requests: {cpu: 1}}", "resources.requests.cpu", false),
            ("stdin: true", "stdin", false),
        ] {
            assert_eq!(of_server(&of(container), &format!("{c}.{field}")), expected, "{container}");
        }
        assert!(of_server(
            "{spec: {serviceAccountName: a, serviceAccount: a}}",
            "spec.serviceAccount"
        ));
        assert!(!of_server(
            "{spec: {serviceAccountName: a, serviceAccount: b}}",
            "spec.serviceAccount"
        ));
    }

    #[test]
    fn the_managers_of_a_field_are_those_that_own_it_or_one_above() {
        let live = crate::testing::node(
            r#"{metadata: {managedFields: [
                {manager: kubectl, fieldsV1: {"f:spec": {"f:replicas": {}}}},
                {manager: hpa, fieldsV1: {"f:spec": {"f:replicas": {}, "f:paused": {}}}},
                {manager: istio, fieldsV1: {"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {"f:image": {}}}}}}}},
                {fieldsV1: {"f:data": {}}}]}}"#,
        );
        for (path, expected) in [
            ("spec.replicas", Some("kubectl, hpa")),
            ("spec.paused", Some("hpa")),
            ("spec.template.spec.containers[name=c].image", Some("istio")),
            ("spec.template.spec.containers[name=d].image", None),
            ("spec.other", None),
            ("data", None),
        ] {
            let path = FieldPath::parse(path).expect("a path");
            assert_eq!(manager(&live, &path).as_deref(), expected, "{path}");
        }
        assert_eq!(manager(&crate::testing::node("{}"), &FieldPath::root().field("spec")), None);
    }

    #[test]
    fn only_replicas_of_the_object_itself_have_rules_of_their_own() {
        for (path, expected) in [
            ("spec.replicas", true),
            ("spec.template.replicas", false),
            ("replicas", false),
            ("spec.minReplicas", false),
        ] {
            assert_eq!(is_replicas(&FieldPath::parse(path).expect("a path")), expected, "{path}");
        }
    }
}
