//! The effect of a changed field on a running object: the only table of these effects.

use super::Change;
use crate::quantity::Quantity;
use crate::yaml::{FieldPath, Node, Segment};

/// When a change of a field is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// On any change.
    Always,
    /// If it is set before and after, with different values.
    Kept,
    /// If it becomes another one, or `None` where the server chose one.
    Address,
    /// If it is removed.
    Removed,
    /// If an amount becomes smaller.
    Lowered,
}

impl When {
    /// The wording of the reference page.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "any change",
            Self::Kept => "changed",
            Self::Address => "changed, or set to `None`",
            Self::Removed => "removed",
            Self::Lowered => "lowered",
        }
    }

    /// `below`: the change is inside the field, and the field exists on both sides.
    fn holds(self, change: &Change, below: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Kept => below || (change.from.is_some() && change.to.is_some()),
            Self::Address => match (&change.from, &change.to) {
                (from, Some(to)) => from.is_some() || to.as_str() == Some("None"),
                (_, None) => false,
            },
            Self::Removed => !below && change.to.is_none(),
            Self::Lowered => {
                let amount =
                    |node: &Option<Node>| Quantity::parse(&node.as_ref()?.scalar_text()?).ok();
                matches!((amount(&change.from), amount(&change.to)), (Some(from), Some(to)) if to < from)
            }
        }
    }
}

/// The effects of changes to objects of one kind.
#[derive(Debug)]
pub struct Effect {
    /// API group; empty for the core.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// A change at or below one of these fields replaces its pods.
    pub restarts: &'static [&'static str],
    /// Exceptions of `restarts`; `*` matches any step.
    pub spares: &'static [&'static str],
    /// Fields that the API server, or the admission of the operator, does not allow to change.
    pub immutable: &'static [(&'static str, When)],
    /// Exceptions of `immutable`.
    pub mutable: &'static [&'static str],
    /// Fields that may not change where `immutable` of the object is true.
    pub sealed: &'static [(&'static str, When)],
    /// The field and the value of it with which all of them may change, before or after.
    pub unless: Option<(&'static str, &'static str)>,
    /// The source.
    pub cite: &'static str,
}

/// What a change of a kind does that no row says more of.
const NONE: Effect = Effect {
    group: "",
    kind: "",
    restarts: &[],
    spares: &[],
    immutable: &[],
    mutable: &[],
    sealed: &[],
    unless: None,
    cite: "",
};

impl Effect {
    /// The changes of this object that are refused.
    pub(crate) fn refused<'c>(
        &'c self,
        earlier: &Node,
        all: &'c [Change],
    ) -> impl Iterator<Item = &'c Change> {
        let is_sealed = earlier.get("immutable").and_then(Node::as_bool) == Some(true);
        let is_exempt = |(field, value): (&str, &str)| {
            let keys: Vec<&str> = field.split('.').collect();
            let is_it = |node: Option<&Node>| node.and_then(Node::as_str) == Some(value);
            is_it(earlier.at(&keys))
                || all
                    .iter()
                    .any(|change| change.path.to_string() == field && is_it(change.to.as_ref()))
        };
        let is_exempt = self.unless.is_some_and(is_exempt);
        all.iter().filter(move |change| !is_exempt && self.refuses(change, is_sealed))
    }

    /// Whether objects of the kind run pods.
    pub fn runs_pods(&self) -> bool {
        !self.restarts.is_empty()
    }

    /// Whether a change replaces pods.
    pub fn restarts(&self, change: &Change) -> bool {
        // A change above the field adds or removes the field as well.
        let touches = |field: &str| at_or_below(&change.path, field) || above(&change.path, field);
        self.restarts.iter().any(|field| touches(field))
            && !self.spares.iter().any(|field| at_or_below(&change.path, field))
    }

    /// Whether a change is refused where the fields may not change.
    fn refuses(&self, change: &Change, is_sealed: bool) -> bool {
        // Longer than the field means inside of it.
        let below = |field: &str| change.path.0.len() > field.split('.').count();
        let sealed = self.sealed.iter().filter(|_| is_sealed);
        self.immutable.iter().chain(sealed).any(|(field, when)| {
            at_or_below(&change.path, field) && when.holds(change, below(field))
        }) && !self.mutable.iter().any(|field| at_or_below(&change.path, field))
    }
}

/// Kinds whose changes do more than update the object. In a kind without a row, every field may
/// change and nothing restarts.
pub static EFFECTS: &[Effect] = &[
    Effect {
        group: "apps",
        kind: "Deployment",
        restarts: &["spec.template"],
        immutable: &[("spec.selector", When::Always)],
        cite: "Kubernetes, Deployments: \"a Deployment's rollout is triggered if and only if the Deployment's Pod template is changed\"; selector immutable in apps/v1",
        ..NONE
    },
    Effect {
        group: "apps",
        kind: "StatefulSet",
        restarts: &["spec.template"],
        immutable: &[("spec", When::Always)],
        mutable: &[
            "spec.replicas",
            "spec.ordinals",
            "spec.template",
            "spec.updateStrategy",
            "spec.revisionHistoryLimit",
            "spec.persistentVolumeClaimRetentionPolicy",
            "spec.minReadySeconds",
        ],
        cite: "Kubernetes, pkg/apis/apps/validation: ValidateStatefulSetUpdate",
        ..NONE
    },
    Effect {
        group: "apps",
        kind: "DaemonSet",
        restarts: &["spec.template"],
        immutable: &[("spec.selector", When::Always)],
        cite: "Kubernetes, pkg/registry/apps/daemonset/strategy.go: ValidateUpdate",
        ..NONE
    },
    Effect {
        group: "apps",
        kind: "ReplicaSet",
        immutable: &[("spec.selector", When::Always)],
        cite: "Kubernetes, pkg/registry/apps/replicaset/strategy.go: ValidateUpdate",
        ..NONE
    },
    Effect {
        group: "batch",
        kind: "Job",
        immutable: &[
            ("spec.template", When::Always),
            ("spec.selector", When::Always),
            ("spec.completionMode", When::Always),
            ("spec.podFailurePolicy", When::Always),
            ("spec.backoffLimitPerIndex", When::Always),
            ("spec.managedBy", When::Always),
        ],
        cite: "Kubernetes, pkg/apis/batch/validation: ValidateJobSpecUpdate",
        ..NONE
    },
    Effect {
        kind: "Service",
        immutable: &[("spec.clusterIP", When::Address), ("spec.clusterIPs.0", When::Address)],
        unless: Some(("spec.type", "ExternalName")),
        cite: "Kubernetes, pkg/apis/core/validation: ValidateServiceUpdate, \"may not change once set\"; an address left out is kept",
        ..NONE
    },
    Effect {
        kind: "PersistentVolumeClaim",
        immutable: &[
            ("spec.accessModes", When::Always),
            ("spec.resources.requests.storage", When::Lowered),
            ("spec.dataSource", When::Kept),
            ("spec.dataSourceRef", When::Kept),
            ("spec.selector", When::Always),
            ("spec.storageClassName", When::Kept),
            ("spec.volumeMode", When::Kept),
            ("spec.volumeName", When::Kept),
        ],
        cite: "Kubernetes, pkg/apis/core/validation: \"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\"; admission and binding fill in what is left out",
        ..NONE
    },
    Effect {
        kind: "PersistentVolume",
        immutable: &[
            ("spec.csi.driver", When::Kept),
            ("spec.csi.volumeAttributes", When::Always),
            ("spec.csi.volumeHandle", When::Kept),
            ("spec.hostPath.path", When::Kept),
            ("spec.local.path", When::Kept),
            ("spec.nfs.path", When::Kept),
            ("spec.nfs.server", When::Kept),
            ("spec.csi", When::Removed),
            ("spec.hostPath", When::Removed),
            ("spec.local", When::Removed),
            ("spec.nfs", When::Removed),
            ("spec.nodeAffinity", When::Kept),
            ("spec.nodeAffinity", When::Removed),
            ("spec.volumeMode", When::Kept),
        ],
        cite: "Kubernetes, pkg/apis/core/validation: ValidatePersistentVolumeUpdate, \"spec.persistentvolumesource is immutable after creation\"",
        ..NONE
    },
    Effect {
        kind: "ConfigMap",
        sealed: &[
            ("binaryData", When::Always),
            ("data", When::Always),
            ("immutable", When::Always),
        ],
        cite: "Kubernetes, pkg/apis/core/validation: ValidateConfigMapUpdate, \"field is immutable when `immutable` is set\"",
        ..NONE
    },
    Effect {
        kind: "Secret",
        immutable: &[("type", When::Kept)],
        sealed: &[
            ("data", When::Always),
            ("immutable", When::Always),
            ("stringData", When::Always),
        ],
        cite: "Kubernetes, pkg/apis/core/validation: ValidateSecretUpdate",
        ..NONE
    },
    Effect {
        kind: "ResourceQuota",
        immutable: &[("spec.scopes", When::Always)],
        cite: "Kubernetes, pkg/apis/core/validation: ValidateResourceQuotaUpdate",
        ..NONE
    },
    Effect {
        group: "networking.k8s.io",
        kind: "IngressClass",
        immutable: &[("spec.controller", When::Kept)],
        cite: "Kubernetes, pkg/apis/networking/validation: ValidateIngressClassUpdate",
        ..NONE
    },
    Effect {
        group: "discovery.k8s.io",
        kind: "EndpointSlice",
        immutable: &[("addressType", When::Kept)],
        cite: "Kubernetes, pkg/apis/discovery/validation: ValidateEndpointSliceUpdate",
        ..NONE
    },
    Effect {
        group: "storage.k8s.io",
        kind: "CSIDriver",
        immutable: &[
            ("spec.attachRequired", When::Kept),
            ("spec.volumeLifecycleModes", When::Kept),
        ],
        cite: "Kubernetes, pkg/apis/storage/validation: ValidateCSIDriverUpdate",
        ..NONE
    },
    Effect {
        group: "storage.k8s.io",
        kind: "StorageClass",
        immutable: &[
            ("parameters", When::Always),
            ("provisioner", When::Kept),
            ("reclaimPolicy", When::Kept),
            ("volumeBindingMode", When::Kept),
        ],
        cite: "Kubernetes, pkg/apis/storage/validation: ValidateStorageClassUpdate, \"updates to parameters are forbidden.\"",
        ..NONE
    },
    Effect {
        group: "scheduling.k8s.io",
        kind: "PriorityClass",
        immutable: &[("value", When::Kept), ("preemptionPolicy", When::Kept)],
        cite: "Kubernetes, pkg/apis/scheduling/validation: ValidatePriorityClassUpdate, \"may not be changed in an update.\"",
        ..NONE
    },
    Effect {
        group: "node.k8s.io",
        kind: "RuntimeClass",
        immutable: &[("handler", When::Kept)],
        cite: "Kubernetes, pkg/apis/node/validation: ValidateRuntimeClassUpdate",
        ..NONE
    },
    Effect {
        group: "resource.k8s.io",
        kind: "ResourceClaim",
        immutable: &[("spec", When::Always)],
        cite: "Kubernetes, pkg/apis/resource/validation: ValidateResourceClaimUpdate",
        ..NONE
    },
    Effect {
        group: "resource.k8s.io",
        kind: "ResourceSlice",
        immutable: &[
            ("spec.driver", When::Kept),
            ("spec.nodeName", When::Kept),
            ("spec.pool.name", When::Kept),
        ],
        cite: "Kubernetes, pkg/apis/resource/validation: ValidateResourceSliceUpdate",
        ..NONE
    },
    Effect {
        group: "resource.k8s.io",
        kind: "ResourceClaimTemplate",
        immutable: &[("spec", When::Always)],
        cite: "Kubernetes, pkg/apis/resource/validation: ValidateResourceClaimTemplateUpdate",
        ..NONE
    },
    Effect {
        group: "rbac.authorization.k8s.io",
        kind: "ClusterRoleBinding",
        immutable: &[("roleRef.kind", When::Kept), ("roleRef.name", When::Kept)],
        cite: "Kubernetes, pkg/apis/rbac/validation: \"cannot change roleRef\"",
        ..NONE
    },
    Effect {
        group: "rbac.authorization.k8s.io",
        kind: "RoleBinding",
        immutable: &[("roleRef.kind", When::Kept), ("roleRef.name", When::Kept)],
        cite: "Kubernetes, pkg/apis/rbac/validation: \"cannot change roleRef\"",
        ..NONE
    },
    Effect {
        group: "kueue.x-k8s.io",
        kind: "LocalQueue",
        immutable: &[("spec.clusterQueue", When::Kept)],
        cite: "Kueue, CRD rules of LocalQueue: \"field is immutable\"",
        ..NONE
    },
    Effect {
        group: "kueue.x-k8s.io",
        kind: "ResourceFlavor",
        immutable: &[("spec.topologyName", When::Kept), ("spec.topologyName", When::Removed)],
        cite: "Kueue, CRD rules of ResourceFlavor: \"topologyName is immutable when topologyName is set\"",
        ..NONE
    },
    Effect {
        group: "kueue.x-k8s.io",
        kind: "AdmissionCheck",
        immutable: &[("spec.controllerName", When::Kept)],
        cite: "Kueue, CRD rules of AdmissionCheck: \"field is immutable\"",
        ..NONE
    },
    Effect {
        group: "serving.kserve.io",
        kind: "LocalModelCache",
        immutable: &[("spec.sourceModelUri", When::Kept)],
        cite: "KServe, CRD rules of LocalModelCache: \"StorageUri is immutable\"",
        ..NONE
    },
    Effect {
        group: "serving.kserve.io",
        kind: "LocalModelNamespaceCache",
        immutable: &[("spec.sourceModelUri", When::Kept)],
        cite: "KServe, CRD rules of LocalModelNamespaceCache: \"StorageUri is immutable\"",
        ..NONE
    },
    Effect {
        group: "leaderworkerset.x-k8s.io",
        kind: "LeaderWorkerSet",
        restarts: &["spec.leaderWorkerTemplate", "spec.networkConfig"],
        immutable: &[
            ("spec.leaderWorkerTemplate.subGroupPolicy", When::Always),
            ("spec.networkConfig.subdomainPolicy", When::Removed),
        ],
        cite: "LeaderWorkerSet v0.5: pkg/webhooks/leaderworkerset_webhook.go; a revision is of the template and the network configuration",
        ..NONE
    },
    Effect {
        group: "serving.knative.dev",
        kind: "Service",
        restarts: &["spec.template"],
        cite: "Knative Serving: a change of the template makes a revision, and a revision has pods of its own",
        ..NONE
    },
    Effect {
        group: "workload.serving.volcano.sh",
        kind: "ModelServing",
        restarts: &["spec.template.roles"],
        spares: &[
            "spec.template.roles.*.replicas",
            "spec.template.roles.*.maxUnavailable",
            "spec.template.roles.*.partition",
        ],
        immutable: &[
            ("spec.template.gangPolicy.minRoleReplicas", When::Kept),
            ("spec.template.gangPolicy", When::Removed),
        ],
        cite: "Kthena blog, A Deep Dive of ModelServing, Rolling Update; docs/decisions.md#model-serving-rollout; pkg/apis/workload/v1alpha1/model_serving_types.go; pkg/model-serving-controller/utils/revision_util.go: CRD rules, and what the revision is made of",
        ..NONE
    },
];

/// The row of a kind.
pub(crate) fn of(api_version: &str, kind: &str) -> Option<&'static Effect> {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    EFFECTS.iter().find(|effect| effect.kind == kind && effect.group == group)
}

/// Whether a path is the field or lies below it.
fn at_or_below(path: &FieldPath, field: &str) -> bool {
    let mut segments = path.0.iter();
    field.split('.').all(|name| {
        segments.next().is_some_and(|segment| match segment {
            _ if name == "*" => true,
            Segment::Field(field) => field == name,
            Segment::Index(index) => name.parse() == Ok(*index),
            _ => false,
        })
    })
}

/// Whether the field is below the path: the change adds or removes a parent of the field.
fn above(path: &FieldPath, field: &str) -> bool {
    let mut names = field.split('.');
    path.0.iter().all(|segment| {
        names.next().is_some_and(|name| matches!(segment, Segment::Field(field) if field == name))
    })
}

/// `apiVersion` and kind of an object.
pub(crate) fn api_version_and_kind(object: &Node) -> (&str, &str) {
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    (text("apiVersion"), text("kind"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::tree::changes;
    use crate::yaml::{Limits, parse};

    fn node(text: &str) -> Node {
        parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.unwrap()
    }

    #[test]
    fn changed_fields_restart_pods_or_are_refused_per_the_table() {
        for (api_version, kind, before, after, restarts, refused) in [
            (
                "apps/v1",
                "Deployment",
                "{template: {spec: {a: 1}}}",
                "{template: {spec: {a: 2}}}",
                true,
                false,
            ),
            ("apps/v1", "Deployment", "{replicas: 1}", "{replicas: 2}", false, false),
            (
                "apps/v1",
                "Deployment",
                "{selector: {matchLabels: {app: a}}}",
                "{selector: {matchLabels: {app: b}}}",
                false,
                true,
            ),
            (
                "apps/v1",
                "StatefulSet",
                "{serviceName: a, replicas: 1}",
                "{serviceName: a, replicas: 2}",
                false,
                false,
            ),
            ("apps/v1", "StatefulSet", "{serviceName: a}", "{serviceName: b}", false, true),
            ("v1", "Service", "{ports: []}", "{ports: [], clusterIP: None}", false, true),
            // The address may be the one that the server chose.
            ("v1", "Service", "{ports: []}", "{ports: [], clusterIP: 10.0.0.7}", false, false),
            ("v1", "Service", "{clusterIP: None}", "{clusterIP: 10.0.0.7}", false, true),
            ("v1", "Service", "{clusterIPs: [None]}", "{clusterIPs: [10.0.0.7]}", false, true),
            (
                "v1",
                "Service",
                "{clusterIPs: [10.0.0.7]}",
                "{clusterIPs: [10.0.0.7, 'fd00::7']}",
                false,
                false,
            ),
            ("v1", "Service", "{type: ExternalName}", "{clusterIP: None}", false, false),
            (
                "v1",
                "Service",
                "{clusterIP: 10.0.0.7}",
                "{clusterIP: '', type: ExternalName}",
                false,
                false,
            ),
            ("v1", "Service", "{ports: [], clusterIP: None}", "{ports: []}", false, false),
            ("v1", "Service", "{ports: [{port: 1}]}", "{ports: [{port: 2}]}", false, false),
            (
                "serving.knative.dev/v1",
                "Service",
                "{template: {spec: {a: 1}}}",
                "{template: {spec: {a: 2}}}",
                true,
                false,
            ),
            (
                "leaderworkerset.x-k8s.io/v1",
                "LeaderWorkerSet",
                "{leaderWorkerTemplate: {size: 2}}",
                "{leaderWorkerTemplate: {size: 3}}",
                true,
                false,
            ),
            (
                "leaderworkerset.x-k8s.io/v1",
                "LeaderWorkerSet",
                "{replicas: 2}",
                "{replicas: 3}",
                false,
                false,
            ),
            // KubeRay does not replace the pods of a changed template.
            (
                "ray.io/v1",
                "RayCluster",
                "{headGroupSpec: {a: 1}}",
                "{headGroupSpec: {a: 2}}",
                false,
                false,
            ),
            (
                "workload.serving.volcano.sh/v1alpha1",
                "ModelServing",
                "{template: {roles: [{name: p, replicas: 1, entryTemplate: {a: 1}}]}}",
                "{template: {roles: [{name: p, replicas: 2, entryTemplate: {a: 1}}]}}",
                false,
                false,
            ),
            (
                "workload.serving.volcano.sh/v1alpha1",
                "ModelServing",
                "{template: {roles: [{name: p, workerReplicas: 1}]}}",
                "{template: {roles: [{name: p, workerReplicas: 2}]}}",
                true,
                false,
            ),
            (
                "workload.serving.volcano.sh/v1alpha1",
                "ModelServing",
                "{template: {gangPolicy: {minRoleReplicas: {p: 1}}}}",
                "{template: {gangPolicy: {minRoleReplicas: {p: 2}}}}",
                false,
                true,
            ),
            (
                "workload.serving.volcano.sh/v1alpha1",
                "ModelServing",
                "{template: {gangPolicy: {minRoleReplicas: {p: 1}}}}",
                "{template: {gangPolicy: {minRoleReplicas: {p: 1, d: 1}}}}",
                false,
                true,
            ),
            (
                "workload.serving.volcano.sh/v1alpha1",
                "ModelServing",
                "{template: {gangPolicy: {minRoleReplicas: {p: 1}}}}",
                "{template: {}}",
                false,
                true,
            ),
            (
                "workload.serving.volcano.sh/v1alpha1",
                "ModelServing",
                "{template: {}}",
                "{template: {gangPolicy: {minRoleReplicas: {p: 1}}}}",
                false,
                false,
            ),
        ] {
            let object = |spec: &str| node(&format!("{{spec: {spec}}}"));
            let earlier = object(before);
            let found = changes(&earlier, &object(after), None);
            assert!(!found.is_empty());
            let effect = of(api_version, kind);
            let restarts_any = |effect: &Effect| found.iter().any(|change| effect.restarts(change));
            let refuses_any = |effect: &Effect| effect.refused(&earlier, &found).next().is_some();
            assert_eq!(
                (effect.is_some_and(restarts_any), effect.is_some_and(refuses_any)),
                (restarts, refused),
                "{kind}: {before} -> {after}"
            );
        }
    }

    #[test]
    fn fields_at_or_below_one_are_told_from_those_above() {
        let path = |text: &str| FieldPath::parse(text).expect("a path");
        for (name, field, below, over) in [
            ("spec.template", "spec.template", true, true),
            ("spec.template.spec.nodeName", "spec.template", true, false),
            ("spec", "spec.template", false, true),
            ("spec.replicas", "spec.template", false, false),
            ("metadata", "spec.template", false, false),
            ("spec.anything.spec", "spec.*.spec", true, false),
        ] {
            assert_eq!(at_or_below(&path(name), field), below, "{name} {field}");
            assert_eq!(above(&path(name), field), over, "{name} {field}");
        }
    }

    #[test]
    fn kinds_are_known_by_their_group_too() {
        for (version, kind, runs_pods) in [
            ("apps/v1", "Deployment", Some(true)),
            ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", Some(true)),
            ("v1", "Deployment", None),
            ("example.com/v1", "Deployment", None),
            ("v1", "ConfigMap", None),
        ] {
            let found = of(version, kind).map(Effect::runs_pods);
            assert_eq!(found.filter(|runs| *runs), runs_pods, "{version} {kind}");
        }
    }
}
