//! Groups and kinds: which exist, in which versions, and which operator reads them.
//!
//! An operator that reads another kind adds it here. Sources: the CRDs of OME v0.1.5, KServe, Kthena,
//! Kueue; the API reference of Kubernetes 1.35.

pub use super::used_kinds::{EVERY_KIND, USED};
use crate::diag::nearest;

/// An API group.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its name; empty for the core.
    pub name: &'static str,
    /// Versions in which it is served.
    pub versions: &'static [&'static str],
    /// All of its kinds; empty when misspelled kinds of the group are not reported.
    pub kinds: &'static [&'static str],
    /// Whether its objects are read inside of ConfigMaps too.
    pub ours: bool,
}

impl Group {
    /// The versions in which a kind of the group is served.
    pub fn versions_of(&self, kind: &str) -> &'static [&'static str] {
        match (self.name, kind) {
            ("serving.kserve.io", "InferenceService") => &["v1beta1"],
            ("serving.kserve.io", "LLMInferenceService" | "LLMInferenceServiceConfig") => {
                &["v1alpha1", "v1alpha2"]
            }
            ("serving.kserve.io", _) => &["v1alpha1"],
            (
                "kueue.x-k8s.io",
                "Cohort" | "Topology" | "MultiKueueCluster" | "MultiKueueConfig",
            ) => self.versions,
            ("kueue.x-k8s.io", _) => &["v1beta1", "v1beta2"],
            _ => self.versions,
        }
    }

    /// The `apiVersion` of a kind of the group, in the newest version.
    pub fn api_version_of(&self, kind: &str) -> String {
        let version = self.versions_of(kind).last().copied().unwrap_or("v1");
        if self.name.is_empty() { version.to_owned() } else { format!("{}/{version}", self.name) }
    }
}

/// Groups with a complete list of kinds.
pub static GROUPS: &[Group] = &[
    Group {
        name: "ome.io",
        versions: &["v1beta1"],
        kinds: &[
            "InferenceService",
            "ServingRuntime",
            "ClusterServingRuntime",
            "BaseModel",
            "ClusterBaseModel",
            "FineTunedWeight",
            "AcceleratorClass",
            "BenchmarkJob",
            // Of v1.2.2 (#692) and main (charts/ome-crd/templates).
            "InferenceReplica",
            "AcceleratorQuota",
            "AutoscalerPolicy",
            "RolloutPolicy",
            "TrafficMap",
            "WorkloadCluster",
        ],
        ours: true,
    },
    Group {
        name: "serving.kserve.io",
        versions: &["v1alpha1", "v1alpha2", "v1beta1"],
        kinds: &[
            "InferenceService",
            "ServingRuntime",
            "ClusterServingRuntime",
            "ClusterStorageContainer",
            "InferenceGraph",
            "TrainedModel",
            "LLMInferenceService",
            "LLMInferenceServiceConfig",
            "LocalModelCache",
            "LocalModelNamespaceCache",
            "LocalModelNode",
            "LocalModelNodeGroup",
            // Of v0.21.0.
            "KernelCache",
            // Of ModelMesh.
            "Predictor",
        ],
        ours: true,
    },
    Group {
        name: "workload.serving.volcano.sh",
        versions: &["v1alpha1"],
        kinds: &["ModelServing", "ModelBooster", "AutoscalingPolicy", "AutoscalingPolicyBinding"],
        ours: true,
    },
    Group {
        name: "networking.serving.volcano.sh",
        versions: &["v1alpha1"],
        kinds: &["ModelRoute", "ModelServer", "ExternalModelProvider"],
        ours: true,
    },
    Group {
        name: "kueue.x-k8s.io",
        versions: &["v1alpha1", "v1beta1", "v1beta2"],
        kinds: &[
            "ResourceFlavor",
            "ClusterQueue",
            "LocalQueue",
            "Cohort",
            "Topology",
            "Workload",
            "WorkloadPriorityClass",
            "AdmissionCheck",
            "ProvisioningRequestConfig",
            "MultiKueueCluster",
            "MultiKueueConfig",
        ],
        ours: false,
    },
    Group {
        name: "",
        versions: &["v1"],
        kinds: &[
            "Node",
            "Pod",
            "ConfigMap",
            "Secret",
            "Namespace",
            "Service",
            "ServiceAccount",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Event",
            "Endpoints",
            "LimitRange",
            "ResourceQuota",
            "PodTemplate",
            "ReplicationController",
            "Binding",
            "ComponentStatus",
            "List",
        ],
        ours: false,
    },
];

/// Groups whose objects are only counted: those of Kubernetes, and those of objects that the
/// operators create. So is every group that ends in `.k8s.io`.
static ELSEWHERE: &[&str] = &[
    "apps",
    "autoscaling",
    "batch",
    "policy",
    "extensions",
    "batch.volcano.sh",
    "bus.volcano.sh",
    "flow.volcano.sh",
    "nodeinfo.volcano.sh",
    "scheduling.volcano.sh",
    "topology.volcano.sh",
    "jobset.x-k8s.io",
    "leaderworkerset.x-k8s.io",
    "keda.sh",
    "eventing.keda.sh",
    "serving.knative.dev",
    "networking.internal.knative.dev",
    "autoscaling.internal.knative.dev",
    "networking.istio.io",
    "security.istio.io",
    "telemetry.istio.io",
    "gateway.networking.k8s.io",
    "inference.networking.k8s.io",
    "inference.networking.x-k8s.io",
    "ray.io",
    "monitoring.coreos.com",
    "nfd.k8s-sigs.io",
    "nvidia.com",
    "infrastructure.opendatahub.io",
    "datasciencecluster.opendatahub.io",
    "dscinitialization.opendatahub.io",
];

/// Kinds in version `v1` without a group that no core group has: the file of `kubectl config`
/// (client-go, tools/clientcmd/api), a server's answer, the policy file of kube-scheduler before 1.23.
static OF_CLIENTS: &[&str] = &["Config", "Policy", "Status"];

/// Kinds of OpenShift, which had no group in version 3, and which `oc` still reads so.
static OF_OPENSHIFT: &[&str] = &[
    "BuildConfig",
    "DeploymentConfig",
    "ImageStream",
    "ImageStreamTag",
    "OAuthClient",
    "Project",
    "ProjectRequest",
    "Route",
    "SecurityContextConstraints",
    "Template",
];

/// The classification of a document's kind.
#[derive(Clone, Copy, Debug)]
pub enum Whose {
    /// A kind of a group with a complete list.
    Known(&'static Group),
    /// The group has a complete list without this kind.
    UnknownKind(&'static Group),
    /// The group has the kind, but not in this version.
    UnknownVersion(&'static Group),
    /// A kind of Kubernetes or of an operator nearby, which is not read here.
    Elsewhere,
    /// The group is unknown.
    Foreign,
    /// Input of another tool that looks like an object: a Kustomization, the configuration of a
    /// function.
    NoObject,
}

/// Classifies a document by `apiVersion` and `kind`.
pub fn whose(api_version: &str, kind: &str) -> Whose {
    let (name, version) = api_version.split_once('/').unwrap_or(("", api_version));
    // Only `v1` and misspellings of it are the core group.
    let is_version = version
        .strip_prefix(['v', 'V'])
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    // Without a group and a version it is a file of another tool, such as `apiVersion: 1` of
    // Grafana.
    if name.is_empty() && !is_version {
        return Whose::NoObject;
    }
    // The core group has no version but `v1`. Documents of other programs have others, such as
    // `v1alpha1` of Talos Linux; a kind of Kubernetes or of an operator there is a mistake.
    if name.is_empty() && !version.eq_ignore_ascii_case("v1") && !is_nearly_of_a_group(kind) {
        return Whose::NoObject;
    }
    if api_version == "v1" && OF_CLIENTS.contains(&kind) {
        return Whose::NoObject;
    }
    if api_version == "v1" && OF_OPENSHIFT.contains(&kind) {
        return Whose::Foreign;
    }
    // The functionConfig of `ome` itself is input of an orchestrator such as Kustomize.
    let is_function = name == "ome.io" && kind == "OmeRender";
    if is_function || name == "kustomize.config.k8s.io" || name == "config.kubernetes.io" {
        return Whose::NoObject;
    }
    if let Some(group) = group(name) {
        return if !group.kinds.contains(&kind) {
            Whose::UnknownKind(group)
        } else if !group.versions.contains(&version) {
            Whose::UnknownVersion(group)
        } else {
            Whose::Known(group)
        };
    }
    // The suffix belongs to Kubernetes, whose groups grow with each release.
    if ELSEWHERE.contains(&name) || name.ends_with(".k8s.io") {
        Whose::Elsewhere
    } else {
        Whose::Foreign
    }
}

/// By how many letters a misspelled kind is longer or shorter.
const MOST_LETTERS: usize = 3;

/// Whether a kind is one of a group with a complete list, or a misspelling of one.
fn is_nearly_of_a_group(kind: &str) -> bool {
    let kinds = || GROUPS.iter().flat_map(|group| group.kinds).copied();
    // A kind that only contains another is no misspelling: `ExtensionServiceConfig` of Talos Linux.
    let is_slip = |near: &str| near.len().abs_diff(kind.len()) <= MOST_LETTERS;
    kinds().any(|listed| listed == kind) || nearest(kind, kinds()).is_some_and(is_slip)
}

/// The group of an operator that an unknown group of a document with this kind may be a misspelling
/// of.
pub fn misspelled(api_version: &str, kind: &str) -> Option<&'static Group> {
    let (name, _) = api_version.split_once('/')?;
    // Only with a kind of that group: other projects have groups with similar names.
    let names = GROUPS.iter().filter(|group| group.ours && group.kinds.contains(&kind));
    group(nearest(name, names.map(|group| group.name))?)
}

/// Kinds that manifests are rendered from, by group: services, and the objects that decide about
/// them. Objects of other kinds are applied as they are.
static RENDERED: &[(&str, &[&str])] = &[
    (
        "ome.io",
        &[
            "InferenceService",
            "ServingRuntime",
            "ClusterServingRuntime",
            "BaseModel",
            "ClusterBaseModel",
            "FineTunedWeight",
            "AcceleratorClass",
        ],
    ),
    ("serving.kserve.io", &["InferenceService", "ServingRuntime", "ClusterServingRuntime"]),
    ("workload.serving.volcano.sh", &["ModelServing", "ModelBooster"]),
];

/// Kinds that run pods, by group; their pods are counted and placed.
pub static PODS: &[(&str, &[&str])] = &[
    ("", &["Pod", "ReplicationController"]),
    ("apps", &["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]),
    ("batch", &["Job"]),
    ("leaderworkerset.x-k8s.io", &["LeaderWorkerSet"]),
    ("jobset.x-k8s.io", &["JobSet"]),
    ("ray.io", &["RayCluster", "RayService", "RayJob"]),
    ("batch.volcano.sh", &["Job"]),
    ("argoproj.io", &["Rollout"]),
    ("serving.knative.dev", &["Service"]),
    ("nvidia.com", &["DynamoGraphDeployment"]),
    ("kubeflow.org", &["MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"]),
    ("grove.io", &["PodCliqueSet"]),
    ("kaito.sh", &["Workspace"]),
];

/// Whether pods of the kind are counted.
pub fn runs_pods(group: &str, kind: &str) -> bool {
    has(PODS, group, kind)
}

/// Kinds of the cluster that are read and have no schema here.
static OF_CLUSTER: &[(&str, &[&str])] = &[
    (
        "kueue.x-k8s.io",
        &[
            "Cohort",
            "Topology",
            "WorkloadPriorityClass",
            "AdmissionCheck",
            "ProvisioningRequestConfig",
            "MultiKueueCluster",
            "MultiKueueConfig",
        ],
    ),
    ("scheduling.k8s.io", &["PriorityClass"]),
    (
        "admissionregistration.k8s.io",
        &[
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
            "MutatingWebhookConfiguration",
        ],
    ),
    ("kyverno.io", &["ClusterPolicy"]),
    ("policies.kyverno.io", &["ValidatingPolicy", "MutatingPolicy", "ImageValidatingPolicy"]),
    ("constraints.gatekeeper.sh", &[EVERY_KIND]),
    ("mutations.gatekeeper.sh", &["Assign", "AssignImage", "ModifySet"]),
    ("policies.kubewarden.io", &["ClusterAdmissionPolicy", "ClusterAdmissionPolicyGroup"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("storage.k8s.io", &["CSINode", "StorageClass"]),
    ("resource.k8s.io", &["DeviceClass", "DeviceTaintRule", "ResourceSlice"]),
    ("serving.kserve.io", &["ClusterStorageContainer"]),
    ("datasciencecluster.opendatahub.io", &["DataScienceCluster"]),
    ("dscinitialization.opendatahub.io", &["DSCInitialization"]),
];

/// Whether objects of a kind without a schema have no namespace.
pub fn is_of_cluster(group: &str, kind: &str) -> bool {
    has(OF_CLUSTER, group, kind)
}

/// Whether an object of the kind changes answers without being planned or placed.
pub fn changes_answers(group: &str, kind: &str) -> bool {
    has(USED, group, kind)
}

/// Whether an object of the kind is placed or changes answers: it is no kind without support.
pub fn is_read(api_version: &str, kind: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    runs_pods(group, kind) || changes_answers(group, kind)
}

/// Whether nothing is known of a kind: neither its group nor what reads it.
pub fn is_stranger(api_version: &str, kind: &str) -> bool {
    matches!(whose(api_version, kind), Whose::Foreign)
        && misspelled(api_version, kind).is_none()
        && !is_read(api_version, kind)
        && !is_older(api_version, kind)
}

/// Whether documents of this version are files of a program that are never applied to a cluster:
/// `kind` and `eksctl` create one from theirs, and components of Kubernetes are configured with
/// those of `*.config.k8s.io`.
pub fn is_of_client(api_version: &str) -> bool {
    const GROUPS: [&str; 10] = [
        "audit.k8s.io",
        "backstage.io",
        "eksctl.io",
        "install.istio.io",
        "k3d.io",
        "kind.sigs.k8s.io",
        "kind.x-k8s.io",
        "kops.k8s.io",
        "kubeadm.k8s.io",
        "skaffold",
    ];
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    GROUPS.contains(&group) || group.ends_with(".config.k8s.io")
}

/// Whether an object is a service of a group that had another name, which `ome convert` rewrites.
pub fn is_older(api_version: &str, kind: &str) -> bool {
    api_version.starts_with("serving.kubeflow.org/") && kind == "InferenceService"
}

/// Whether an operator of this tool, or one that it writes objects for, has the group.
pub fn is_of_operator(name: &str) -> bool {
    const BESIDE: [&str; 3] = [
        "leaderworkerset.x-k8s.io",
        "inference.networking.k8s.io",
        "inference.networking.x-k8s.io",
    ];
    name == "kueue.x-k8s.io"
        || BESIDE.contains(&name)
        || GROUPS.iter().any(|group| group.ours && group.name == name)
}

fn has(table: &[(&str, &[&str])], group: &str, kind: &str) -> bool {
    table.iter().any(|(name, kinds)| {
        *name == group && (kinds.contains(&kind) || kinds.contains(&EVERY_KIND))
    })
}

/// Whether manifests are rendered from objects of this kind.
pub fn is_rendered(api_version: &str, kind: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    has(RENDERED, group, kind)
}

/// The same by the kind alone, for an object with a known group.
pub fn is_rendered_kind(kind: &str) -> bool {
    RENDERED.iter().any(|(_, kinds)| kinds.contains(&kind))
}

/// Kinds of Kubernetes and Kueue whose objects decide about services: where pods may run, what they
/// get, and what admits them.
static DECISIVE: &[&str] = &[
    "Node",
    "List",
    "PriorityClass",
    "RuntimeClass",
    "ResourceQuota",
    "LimitRange",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StorageClass",
    "CSINode",
    "ResourceSlice",
    "DeviceTaintRule",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "DeviceClass",
    "ResourceFlavor",
    "ClusterQueue",
    "LocalQueue",
    "Cohort",
    "Topology",
    "WorkloadPriorityClass",
    "AdmissionCheck",
    "ClusterStorageContainer",
    "LLMInferenceServiceConfig",
    "HardwareProfile",
];

/// Kinds whose pods take room on nodes.
static WORKLOADS: &[&str] =
    &["Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "LeaderWorkerSet"];

/// ConfigMaps that decide about services, by name: settings of the operators and of Knative.
static SETTINGS: &[&str] =
    &["inferenceservice-config", "config-features", "config-domain", "config-autoscaler"];

/// ConfigMaps with certificates that OpenShift AI joins for its storage initializers.
static BUNDLES: &[&str] =
    &["odh-trusted-ca-bundle", "odh-kserve-custom-ca-bundle", "openshift-service-ca.crt"];

/// Whether an operator reads a ConfigMap of this name; those that pods mount change no answer.
pub fn is_read_by_operators(name: &str) -> bool {
    SETTINGS.contains(&name) || BUNDLES.contains(&name)
}

/// Whether an object that all services share decides about them.
pub fn is_decisive(kind: &str, name: &str) -> bool {
    DECISIVE.contains(&kind) || (kind == "ConfigMap" && SETTINGS.contains(&name))
}

/// Whether objects of this kind are the state of a cluster, which those below a directory of tests or
/// of another project are not.
pub fn is_state(kind: &str) -> bool {
    // What services use by its name may be that of the services beside it.
    let is_used_by_name = matches!(
        kind,
        "ClusterStorageContainer"
            | "LLMInferenceServiceConfig"
            | "HardwareProfile"
            | "PriorityClass"
            | "RuntimeClass"
            | "PersistentVolume"
            | "PersistentVolumeClaim"
            | "StorageClass"
            | "ResourceClaim"
            | "ResourceClaimTemplate"
            | "DeviceClass"
    );
    kind == "Pod" || (DECISIVE.contains(&kind) && !is_used_by_name)
}

/// The services that a decisive object can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All.
    Every,
    /// Those of its namespace.
    Namespace,
    /// Those that are merged with presets.
    Presets,
    /// Those of namespaces with a LocalQueue.
    Queues,
    /// Those of namespaces with claims for volumes.
    Volumes,
    /// Those of namespaces with claims for devices.
    Devices,
}

/// What an object of a decisive kind can reach.
pub fn reach(kind: &str) -> Reach {
    match kind {
        "ResourceQuota"
        | "LimitRange"
        | "PersistentVolumeClaim"
        | "ResourceClaim"
        | "ResourceClaimTemplate"
        | "LocalQueue" => Reach::Namespace,
        "LLMInferenceServiceConfig" => Reach::Presets,
        "ResourceFlavor"
        | "ClusterQueue"
        | "Cohort"
        | "Topology"
        | "WorkloadPriorityClass"
        | "AdmissionCheck" => Reach::Queues,
        "PersistentVolume" | "StorageClass" | "CSINode" => Reach::Volumes,
        "ResourceSlice" | "DeviceClass" | "DeviceTaintRule" => Reach::Devices,
        _ => Reach::Every,
    }
}

/// Whether an operator of this tool makes pods of objects of this kind.
pub fn is_like_service(kind: &str) -> bool {
    matches!(kind, "LLMInferenceService" | "ModelBooster" | "InferenceGraph")
}

/// Whether objects of this kind are parts of a service, which they name.
pub fn is_of_service(kind: &str) -> bool {
    kind == "TrainedModel"
}

/// Whether objects of this kind have pods that are placed beside those of services.
pub fn is_workload(kind: &str) -> bool {
    WORKLOADS.contains(&kind)
}

/// Whether something reads an object, so that two definitions of it differ in their effect.
pub fn is_compared(api_version: &str, kind: &str, name: &str) -> bool {
    // Other operators have an `InferenceService` too.
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let is_ours = || is_of_operator(group) || is_older(api_version, kind);
    (is_rendered_kind(kind) || is_like_service(kind)) && is_ours() || is_decisive(kind, name)
}

/// Whether an object of this kind may touch the answer about a service; pods of workloads do if
/// there are nodes.
pub fn touches_answers(kind: &str, counts_pods: bool) -> bool {
    let is_ours = GROUPS.iter().any(|group| group.ours && group.kinds.contains(&kind));
    DECISIVE.contains(&kind)
        || is_named_by_others(kind)
        || (counts_pods && is_workload(kind))
        || is_ours
}

/// Whether a kind may be one of ours that is misspelled.
pub fn is_nearly_ours(kind: &str) -> bool {
    // A kind of Kubernetes or Kueue is spelled as it should be, whatever kind it is near to.
    let (ours, others): (Vec<&Group>, Vec<&Group>) = GROUPS.iter().partition(|group| group.ours);
    let is_another = others.iter().any(|group| group.kinds.contains(&kind));
    let mut ours = ours.iter().flat_map(|group| group.kinds);
    !is_another && ours.any(|ours| nearest(kind, [*ours]).is_some())
}

/// Whether a kind may be a decisive one that is misspelled, or a workload where pods are placed.
pub fn is_nearly_decisive(kind: &str, counts_pods: bool) -> bool {
    let of_groups = GROUPS.iter().flat_map(|group| group.kinds);
    let all = of_groups.chain(DECISIVE).chain(WORKLOADS).copied();
    nearest(kind, all)
        .is_some_and(|near| DECISIVE.contains(&near) || (counts_pods && WORKLOADS.contains(&near)))
}

/// Whether a group may be one of an operator: by its name, misspelled, or left out.
pub fn is_nearly_of_operator(name: &str) -> bool {
    let mut groups = GROUPS.iter().filter(|group| group.ours);
    name.is_empty()
        || is_of_operator(name)
        || groups.any(|group| nearest(name, [group.name]).is_some())
}

/// Whether objects of this kind decide only where somebody names them.
pub fn is_named_by_others(kind: &str) -> bool {
    matches!(kind, "ConfigMap" | "Secret" | "ServiceAccount")
}

/// The kinds that a text names as those of its objects, read line by line: the text may be no YAML.
/// A kind within an object, such as that of a reference, counts only where no line begins with one,
/// or where that is a list of objects.
pub fn named(text: &str) -> impl Iterator<Item = &str> {
    let outer = |line: &&str| line.starts_with("kind:");
    // Where the outermost kind is a List or a Template, the objects within it are the ones meant.
    let is_object =
        text.lines().any(|line| outer(&line)) && !text.lines().filter(outer).any(is_list);
    text.lines().filter(move |line| !is_object || outer(line)).filter_map(|line| {
        let line = line.trim_start_matches([' ', '-', '{', '\t']);
        let rest = ["kind:", "\"kind\":", "'kind':"].iter().find_map(|key| line.strip_prefix(key));
        // A flow mapping has its kind after other keys: `{apiVersion: v1, kind: Node}`.
        let rest = rest.or_else(|| Some(line.split_once("kind:")?.1))?;
        let kind = rest.trim_start_matches([' ', '"', '\'']);
        let end = kind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(kind.len());
        (end > 0).then_some(&kind[..end])
    })
}

/// Whether a line names the kind of a list of objects, or of a template of some.
fn is_list(line: &str) -> bool {
    let kind = line.trim_end().trim_end_matches(['"', '\'']);
    kind.ends_with("List") || kind.ends_with("Template")
}

/// Advice about a kind that was proposed and does not exist.
pub fn instead(group: &str, kind: &str) -> Option<&'static str> {
    match (group, kind) {
        // OEP-0003, Proposal: deferred in OEP-0003.
        ("ome.io", "AcceleratorProfile") => {
            Some("there are no profiles: use `spec.acceleratorSelector` of the service")
        }
        _ => None,
    }
}

/// The group of this name, if its list of kinds is complete.
pub fn group(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_the_kinds_of_its_objects() {
        for (text, expected) in [
            ("kind: Route\nspec:\n  to:\n    kind: Service\n", &["Route"][..]),
            ("kind: Route\nkind: Node\n", &["Route", "Node"]),
            ("kind: List\nitems:\n- kind: Node\n", &["List", "Node"]),
            ("kind: \"ServiceList\"\nitems:\n  - kind: Service\n", &["ServiceList", "Service"]),
            ("  kind: Node\n", &["Node"]),
            ("{\"kind\": \"Node\"}", &["Node"]),
        ] {
            assert_eq!(named(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn kinds_of_other_operators_are_not_compared() {
        for (api_version, kind, expected) in [
            ("serving.kserve.io/v1beta1", "InferenceService", true),
            ("serving.kubeflow.org/v1beta1", "InferenceService", true),
            ("ome.io/v1beta1", "ServingRuntime", true),
            ("inference.llmkube.dev/v1alpha1", "InferenceService", false),
            ("v1", "Node", true),
            ("kueue.x-k8s.io/v1beta1", "ClusterQueue", true),
            ("infrastructure.opendatahub.io/v1", "HardwareProfile", true),
            ("apps/v1", "Deployment", false),
        ] {
            assert_eq!(is_compared(api_version, kind, "a"), expected, "{api_version} {kind}");
        }
    }

    #[test]
    fn kinds_are_classified_as_known_misspelled_or_foreign() {
        for (api_version, kind, expected) in [
            ("ome.io/v1beta1", "ServingRuntime", "Known"),
            ("ome.io/v1beta1", "ServingRuntimes", "UnknownKind"),
            ("ome.io/v1", "ServingRuntime", "UnknownVersion"),
            ("v1", "Node", "Known"),
            ("v1", "Nodes", "UnknownKind"),
            ("apps/v1", "Deployment", "Elsewhere"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "Elsewhere"),
            ("widgets.example.com/v1", "Widget", "Foreign"),
            ("kustomize.config.k8s.io/v1beta1", "Kustomization", "NoObject"),
            ("ome.io/v1", "OmeRender", "NoObject"),
            ("v1", "Config", "NoObject"),
            ("v1", "Configs", "UnknownKind"),
            ("v1", "Policy", "NoObject"),
            ("v1", "Template", "Foreign"),
            // Documents of Talos Linux.
            ("v1alpha1", "HostnameConfig", "NoObject"),
            ("v1alpha1", "OOMConfig", "NoObject"),
            ("v1alpha1", "ExtensionServiceConfig", "NoObject"),
            ("v1alpha1", "InferenceService", "UnknownKind"),
            ("v1beta1", "ServingRuntimes", "UnknownKind"),
            ("v2", "Node", "UnknownVersion"),
            ("V1", "Widget", "UnknownKind"),
        ] {
            let found = format!("{:?}", whose(api_version, kind));
            assert!(found.starts_with(expected), "{api_version} {kind}: {found}");
        }
    }
}
