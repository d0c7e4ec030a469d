//! Kinds as kubectl reads them: kind, plural or short name, each with its group or without.

use super::{Schema, kinds};

/// Short names: those of the CRDs, of Kubernetes' own kinds, and of runtimes and models, whose CRDs
/// have none.
const SHORT: [(&str, &str, &[&str]); 38] = [
    ("ome.io", "InferenceService", &["isvc"]),
    ("ome.io", "ServingRuntime", &["sr"]),
    ("ome.io", "ClusterServingRuntime", &["csr"]),
    ("ome.io", "BaseModel", &["bm"]),
    ("ome.io", "ClusterBaseModel", &["cbm"]),
    ("ome.io", "AcceleratorClass", &["ac"]),
    ("serving.kserve.io", "InferenceService", &["isvc"]),
    ("serving.kserve.io", "ServingRuntime", &["sr"]),
    ("serving.kserve.io", "ClusterServingRuntime", &["csr"]),
    ("apps", "Deployment", &["deploy"]),
    ("apps", "StatefulSet", &["sts"]),
    ("apps", "DaemonSet", &["ds"]),
    ("apps", "ReplicaSet", &["rs"]),
    ("autoscaling", "HorizontalPodAutoscaler", &["hpa"]),
    ("batch", "CronJob", &["cj"]),
    ("gateway.networking.k8s.io", "Gateway", &["gtw"]),
    ("keda.sh", "ScaledObject", &["so"]),
    ("keda.sh", "TriggerAuthentication", &["ta", "triggerauth"]),
    ("kueue.x-k8s.io", "ClusterQueue", &["cq"]),
    ("kueue.x-k8s.io", "LocalQueue", &["lq", "queue"]),
    ("kueue.x-k8s.io", "ResourceFlavor", &["rf", "flavor"]),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet", &["lws"]),
    ("networking.istio.io", "DestinationRule", &["dr"]),
    ("networking.istio.io", "VirtualService", &["vs"]),
    ("networking.k8s.io", "Ingress", &["ing"]),
    ("networking.k8s.io", "NetworkPolicy", &["netpol"]),
    ("policy", "PodDisruptionBudget", &["pdb"]),
    ("scheduling.volcano.sh", "PodGroup", &["pg"]),
    ("scheduling.volcano.sh", "Queue", &["q"]),
    ("serving.knative.dev", "Service", &["ksvc", "kservice"]),
    ("", "ConfigMap", &["cm"]),
    ("", "Namespace", &["ns"]),
    ("", "Node", &["no"]),
    ("", "PersistentVolume", &["pv"]),
    ("", "PersistentVolumeClaim", &["pvc"]),
    ("", "Pod", &["po"]),
    ("", "Service", &["svc"]),
    ("", "ServiceAccount", &["sa"]),
];

/// Whether a word names the kind of an object: `Deployment`, `deployments`, `deploy`,
/// `deployments.apps`, `deployment.v1.apps`, in any case.
pub fn names_kind(word: &str, api_version: &str, kind: &str) -> bool {
    let (group, version) = match api_version.split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", api_version),
    };
    let (word, within) = match word.split_once('.') {
        Some((word, within)) => (word, Some(within)),
        None => (word, None),
    };
    // `deployments.apps` or `deployments.v1.apps`: kubectl takes a version in front of the group.
    let is_within = within.is_none_or(|within| {
        within.eq_ignore_ascii_case(group)
            || within.split_once('.').is_some_and(|(first, rest)| {
                first.eq_ignore_ascii_case(version) && rest.eq_ignore_ascii_case(group)
            })
    });
    let is = |name: &str| word.eq_ignore_ascii_case(name);
    let short = || {
        SHORT
            .iter()
            .filter(|(text, name, _)| *text == group && *name == kind)
            .any(|(_, _, short)| short.iter().any(|name| is(name)))
    };
    let plural = || {
        kinds()
            .iter()
            .any(|schema| schema.kind == kind && schema.group() == group && is(schema.plural))
    };
    is_within && (is(kind) || plural() || short())
}

/// The kinds that a word names.
pub fn named(word: &str) -> impl Iterator<Item = &'static Schema> {
    kinds().iter().filter(move |schema| names_kind(word, schema.api_version, schema.kind))
}

/// Every word that names a kind: kinds, plurals, short names.
pub fn words() -> impl Iterator<Item = &'static str> {
    let long = kinds().iter().flat_map(|schema| [schema.kind, schema.plural]);
    long.chain(SHORT.iter().flat_map(|(_, _, short)| short.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_named_as_kubectl_names_it() {
        for (word, api_version, kind, expected) in [
            ("deploy", "apps/v1", "Deployment", true),
            ("Deployments.apps", "apps/v1", "Deployment", true),
            ("deployment.v1.apps", "apps/v1", "Deployment", true),
            ("deployments.extensions", "apps/v1", "Deployment", false),
            ("svc", "v1", "Service", true),
            ("svc", "serving.knative.dev/v1", "Service", false),
            ("ksvc", "serving.knative.dev/v1", "Service", true),
            ("service", "serving.knative.dev/v1", "Service", true),
            ("isvc.ome.io", "ome.io/v1beta1", "InferenceService", true),
            ("isvc.ome.io", "serving.kserve.io/v1beta1", "InferenceService", false),
            ("csr", "ome.io/v1beta1", "ClusterServingRuntime", true),
            ("pod", "v1", "PodTemplate", false),
        ] {
            assert_eq!(names_kind(word, api_version, kind), expected, "{word} {kind}");
        }
    }

    #[test]
    fn every_short_name_is_of_a_kind() {
        for (group, kind, _) in SHORT {
            let is_known =
                kinds().iter().any(|schema| schema.kind == kind && schema.group() == group);
            assert!(is_known, "{group} {kind}");
        }
    }
}
