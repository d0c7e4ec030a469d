//! Fields of a Knative Service that its webhook refuses unless a feature is switched on.
//!
//! In: ConfigMap `config-features` of Knative and the Knative Services of a cluster, as far as they
//! were read; a rendered Knative Service. Out: the fields that are refused, with the key that allows
//! each. Source: knative.dev/serving pkg/apis/config/features.go and pkg/apis/serving/fieldmask.go.

use crate::diag::{Code, Diagnostic, Severity};
use crate::yaml::{FieldPath, Node, Segment};
use std::collections::BTreeSet;

/// Name of the ConfigMap.
pub(crate) const NAME: &str = "config-features";

/// How a message about a Knative Service begins.
pub(crate) const REFUSES: &str = "the webhook of Knative refuses Service ";

/// What a message says of a feature of which it is not known whether it is on.
const MAY_BE_OFF: &str = "may be off";

/// Whether a finding says that the webhook refuses a Service for a feature that may be on.
pub(crate) fn is_open(finding: &Diagnostic) -> bool {
    finding.message.starts_with(REFUSES) && finding.message.contains(MAY_BE_OFF)
}

/// Fields of the pod spec with the key that allows them, all off by default.
static FIELDS: &[(&str, &str)] = &[
    ("affinity", "kubernetes.podspec-affinity"),
    ("dnsConfig", "kubernetes.podspec-dnsconfig"),
    ("dnsPolicy", "kubernetes.podspec-dnspolicy"),
    ("hostAliases", "kubernetes.podspec-hostaliases"),
    ("hostIPC", "kubernetes.podspec-hostipc"),
    ("hostNetwork", "kubernetes.podspec-hostnetwork"),
    ("hostPID", "kubernetes.podspec-hostpid"),
    ("initContainers", "kubernetes.podspec-init-containers"),
    ("nodeSelector", "kubernetes.podspec-nodeselector"),
    ("priorityClassName", "kubernetes.podspec-priorityclassname"),
    ("runtimeClassName", "kubernetes.podspec-runtimeclassname"),
    ("schedulerName", "kubernetes.podspec-schedulername"),
    ("securityContext", "kubernetes.podspec-securitycontext"),
    ("shareProcessNamespace", "kubernetes.podspec-shareprocessnamespace"),
    ("tolerations", "kubernetes.podspec-tolerations"),
    ("topologySpreadConstraints", "kubernetes.podspec-topologyspreadconstraints"),
];

/// Sources of volumes with their key.
static VOLUMES: &[(&str, &str)] = &[
    ("csi", "kubernetes.podspec-volumes-csi"),
    ("emptyDir", "kubernetes.podspec-volumes-emptydir"),
    ("hostPath", "kubernetes.podspec-volumes-hostpath"),
    ("image", "kubernetes.podspec-volumes-image"),
    ("persistentVolumeClaim", "kubernetes.podspec-persistent-volume-claim"),
];

/// Keys that are on by default.
const ON: [&str; 1] = ["kubernetes.podspec-volumes-emptydir"];

const CAPABILITIES: &str = "kubernetes.containerspec-addcapabilities";
const FIELD_REF: &str = "kubernetes.podspec-fieldref";
const SECURITY: &str = "kubernetes.podspec-securitycontext";
const WRITE: &str = "kubernetes.podspec-persistent-volume-write";

/// The features of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Features {
    /// Keys that ConfigMap or Services of the cluster show as switched on.
    on: BTreeSet<String>,
    /// Keys that the ConfigMap switches off.
    off: BTreeSet<String>,
    /// Those of fields that stored Services have.
    stored: BTreeSet<String>,
    /// The ConfigMap was read, or the input is a cluster's: what is not switched on is off.
    is_known: bool,
}

impl Features {
    /// Those of a cluster, or of an input that may be a part of one.
    pub(crate) fn of(is_live: bool) -> Self {
        Self { is_known: is_live, ..Self::default() }
    }

    /// Reads an object of the input; others than the ConfigMap and Knative Services change nothing.
    pub(crate) fn add(&mut self, object: &Node) {
        let text = |keys: &[&str]| object.at(keys).and_then(Node::as_str).unwrap_or_default();
        // Only a server gives out uids; a Knative Service without one proves nothing about the
        // features.
        let is_stored = object.at(&["metadata", "uid"]).is_some();
        match (text(&["apiVersion"]), text(&["kind"])) {
            ("v1", "ConfigMap") if text(&["metadata", "name"]) == NAME => {
                self.is_known = true;
                for entry in object.get("data").map(Node::entries).into_iter().flatten() {
                    let value = entry.node.scalar_text().unwrap_or_default();
                    // The fields of every other value pass the mask.
                    if value.eq_ignore_ascii_case("disabled") {
                        self.off.insert(entry.key.to_string());
                    } else {
                        self.on.insert(entry.key.to_string());
                    }
                }
            }
            // The server took it with these fields.
            ("serving.knative.dev/v1", "Service") if is_stored => {
                self.stored.extend(gated(object).into_iter().map(|gated| gated.key.to_owned()));
            }
            _ => {}
        }
    }

    fn allows(&self, key: &str) -> bool {
        // A Service may have been stored before the feature was switched off.
        let unless_off = ON.contains(&key) || self.stored.contains(key);
        self.on.contains(key) || (unless_off && !self.off.contains(key))
    }

    /// Adds a finding about the fields of a Knative Service that the webhook refuses, which it answers
    /// together: an error where the features are known, else a warning.
    pub(crate) fn judge(&self, object: &Node, found: &mut Vec<Diagnostic>) {
        let text = |keys: &[&str]| object.at(keys).and_then(Node::as_str).unwrap_or_default();
        let is_knative = text(&["apiVersion"]).starts_with("serving.knative.dev/");
        if !is_knative || text(&["kind"]) != "Service" {
            return;
        }
        // Without the ConfigMap a feature may be on or off, so that the finding is only a warning.
        let refused: Vec<Gated<'_>> =
            gated(object).into_iter().filter(|gated| !self.allows(gated.key)).collect();
        let Some(first) = refused.first() else { return };
        let (name, namespace) = (text(&["metadata", "name"]), text(&["metadata", "namespace"]));
        let id = match namespace {
            "" => format!("Service/{name}"),
            _ => format!("Service/{namespace}/{name}"),
        };
        let unless = if self.is_known { "is off" } else { MAY_BE_OFF };
        let fields: Vec<String> = refused
            .iter()
            .map(|Gated { key, path, .. }| format!("{path} (`{key}` {unless})"))
            .collect();
        let message = match &fields[..] {
            [_] => format!("{}: must not set the field: `{}` {unless}", first.path, first.key),
            _ => format!("must not set the fields {}", fields.join(", ")),
        };
        // A field may need two features, and two fields the same one.
        let mut keys: Vec<&str> = refused.iter().map(|gated| gated.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}: enabled`")).collect();
        let them = if fields.len() == 1 { "the field" } else { "the fields" };
        let severity = if self.is_known { Severity::Error } else { Severity::Warning };
        let mut finding =
            Diagnostic::new(Code::ServerRefuses, format!("{REFUSES}\"{name}\": {message}"))
                .severity(severity)
                .path(first.path.to_string())
                .object(id)
                .help(format!(
                    "set {} in ConfigMap {NAME} of namespace knative-serving, or leave {them} out",
                    keys.join(", ")
                ));
        let mut places = BTreeSet::new();
        for span in refused.iter().filter_map(|gated| gated.node.origin.span()) {
            if places.insert(span) {
                finding = finding.at(span);
            }
        }
        found.push(finding);
    }
}

/// A field that needs a feature.
struct Gated<'n> {
    key: &'static str,
    path: FieldPath,
    node: &'n Node,
}

/// The fields of a Knative Service that need a feature.
fn gated(object: &Node) -> Vec<Gated<'_>> {
    let mut found = Vec::new();
    let Some(spec) = object.at(&["spec", "template", "spec"]) else { return found };
    let keys = ["spec", "template", "spec"];
    let root = keys.iter().fold(FieldPath::root(), |path, key| path.field(*key));
    for (field, key) in FIELDS {
        // The webhook masks the decoded struct, in which a zero value cannot be told from an absent
        // one.
        let node = spec.get(field).filter(|node| !is_empty(node));
        found.extend(node.map(|node| Gated { key, path: root.field(*field), node }));
    }
    for volume in spec.get("volumes").map(Node::items).unwrap_or_default() {
        let path = named(&root, "volumes", volume);
        for (field, key) in VOLUMES {
            let Some(node) = volume.get(field) else { continue };
            let path = path.field(*field);
            let writes = *field == "persistentVolumeClaim"
                && node.get("readOnly").and_then(Node::as_bool) != Some(true);
            // A writable claim needs two features: that of claims, and that of writing to them.
            found.push(Gated { key, path: path.clone(), node });
            if writes {
                found.push(Gated { key: WRITE, path: path.field("readOnly"), node });
            }
        }
    }
    for container in spec.get("containers").map(Node::items).unwrap_or_default() {
        let path = named(&root, "containers", container);
        for variable in container.get("env").map(Node::items).unwrap_or_default() {
            for field in ["fieldRef", "resourceFieldRef"] {
                let Some(node) = variable.at(&["valueFrom", field]) else { continue };
                let path = named(&path, "env", variable).field("valueFrom").field(field);
                found.push(Gated { key: FIELD_REF, path, node });
            }
        }
        for (keys, key) in
            [(&["capabilities", "add"][..], CAPABILITIES), (&["runAsGroup"][..], SECURITY)]
        {
            let context = container.get("securityContext");
            let Some(node) = context.and_then(|context| context.at(keys)) else { continue };
            if !is_empty(node) {
                let path = path.field("securityContext");
                let path = keys.iter().fold(path, |path, key| path.field(*key));
                found.push(Gated { key, path, node });
            }
        }
    }
    found
}

fn named(path: &FieldPath, list: &str, item: &Node) -> FieldPath {
    let name = item.get("name").and_then(Node::scalar_text).unwrap_or_default();
    let mut path = path.field(list);
    path.0.push(Segment::Keyed("name".into(), name));
    path
}

/// Whether the value is as if it were not set.
fn is_empty(node: &Node) -> bool {
    node.is_null()
        || node.as_bool() == Some(false)
        || node.as_str() == Some("")
        || node.as_map().is_some_and(crate::yaml::Map::is_empty)
        || (matches!(node.value, crate::yaml::Value::List(_)) && node.items().is_empty())
}

#[cfg(test)]
mod tests {
    use super::Features;
    use crate::operators::ome::compose::testing::node;

    fn service(spec: &str) -> crate::yaml::Node {
        node(&format!(
            "{{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {{name: s, namespace: n, uid: u}}, spec: {{template: {{spec: {spec}}}}}}}"
        ))
    }

    fn refused(features: &Features, spec: &str) -> Vec<String> {
        let mut found = Vec::new();
        features.judge(&service(spec), &mut found);
        let Some(finding) = found.first() else { return Vec::new() };
        assert_eq!(found.len(), 1, "{spec}");
        // A finding about several fields lists them; about one it begins with it.
        let words = finding.message.strip_prefix("the webhook of Knative refuses Service \"s\": ");
        let words = words.unwrap_or_default().trim_start_matches("must not set the fields ");
        let fields = words.split(", ").map(|field| field.split([' ', ':']).next().unwrap_or(""));
        let severity = finding.severity;
        fields.map(|field| format!("{severity:?} {field}")).collect()
    }

    #[test]
    fn fields_need_their_feature() {
        let unknown = Features::default();
        for (spec, expected) in [
            (
                "{nodeSelector: {a: b}, tolerations: [], dnsPolicy: ''}",
                vec!["spec.template.spec.nodeSelector"],
            ),
            (
                "{volumes: [{name: a, emptyDir: {}}, {name: b, hostPath: {path: /x}}, {name: c, configMap: {name: d}}]}",
                vec!["spec.template.spec.volumes[name=b].hostPath"],
            ),
            (
                "{volumes: [{name: a, persistentVolumeClaim: {claimName: x}}]}",
                vec![
                    "spec.template.spec.volumes[name=a].persistentVolumeClaim",
                    "spec.template.spec.volumes[name=a].persistentVolumeClaim.readOnly",
                ],
            ),
            (
                "{containers: [{name: c, env: [{name: E, valueFrom: {fieldRef: {fieldPath: x}}}], securityContext: {runAsUser: 1, capabilities: {add: [A]}}}]}",
                vec![
                    "spec.template.spec.containers[name=c].env[name=E].valueFrom.fieldRef",
                    "spec.template.spec.containers[name=c].securityContext.capabilities.add",
                ],
            ),
        ] {
            let expected: Vec<String> =
                expected.into_iter().map(|path| format!("Warning {path}")).collect();
            assert_eq!(refused(&unknown, spec), expected, "{spec}");
        }
    }

    #[test]
    fn the_config_map_and_services_of_the_cluster_show_what_is_on() {
        let spec = "{nodeSelector: {a: b}, tolerations: [{operator: Exists}]}";
        let mut features = Features::default();
        features.add(&node(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: config-features}, data: {kubernetes.podspec-nodeselector: Enabled}}",
        ));
        assert_eq!(refused(&features, spec), ["Error spec.template.spec.tolerations"]);
        features.add(&service("{tolerations: [{operator: Exists}]}"));
        assert_eq!(refused(&features, spec), Vec::<String>::new());
        // What was stored before a feature was switched off does not switch it on.
        features.add(&node(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: config-features}, data: {kubernetes.podspec-tolerations: Disabled}}",
        ));
        assert_eq!(refused(&features, spec), ["Error spec.template.spec.tolerations"]);
    }
}
