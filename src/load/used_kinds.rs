//! Kinds that are no workloads and that answers depend on.

/// In a table of kinds, every kind of the group: the kinds are those of its users.
pub const EVERY_KIND: &str = "*";

/// Kinds of Kubernetes and of other projects that change answers, by group.
pub static USED: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "LimitRange",
            "Namespace",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "ResourceQuota",
            "Secret",
            "ServiceAccount",
        ],
    ),
    ("serving.kserve.io", &["ClusterStorageContainer", "LLMInferenceServiceConfig"]),
    ("infrastructure.opendatahub.io", &["HardwareProfile"]),
    ("datasciencecluster.opendatahub.io", &["DataScienceCluster"]),
    ("dscinitialization.opendatahub.io", &["DSCInitialization"]),
    (
        "kueue.x-k8s.io",
        &[
            "ClusterQueue",
            "Cohort",
            "LocalQueue",
            "ResourceFlavor",
            "Topology",
            "WorkloadPriorityClass",
        ],
    ),
    ("autoscaling", &["HorizontalPodAutoscaler"]),
    ("autoscaling.k8s.io", &["VerticalPodAutoscaler"]),
    ("keda.sh", &["ScaledObject"]),
    ("policy", &["PodDisruptionBudget"]),
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
    ("kyverno.io", &["ClusterPolicy", "Policy"]),
    (
        "policies.kyverno.io",
        &[
            "ValidatingPolicy",
            "MutatingPolicy",
            "ImageValidatingPolicy",
            "NamespacedValidatingPolicy",
            "NamespacedMutatingPolicy",
            "NamespacedImageValidatingPolicy",
        ],
    ),
    ("constraints.gatekeeper.sh", &[EVERY_KIND]),
    ("mutations.gatekeeper.sh", &["Assign", "AssignImage", "ModifySet"]),
    (
        "policies.kubewarden.io",
        &[
            "AdmissionPolicy",
            "AdmissionPolicyGroup",
            "ClusterAdmissionPolicy",
            "ClusterAdmissionPolicyGroup",
        ],
    ),
    ("scheduling.k8s.io", &["PriorityClass"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("storage.k8s.io", &["CSINode", "StorageClass"]),
    (
        "resource.k8s.io",
        &[
            "DeviceClass",
            "DeviceTaintRule",
            "ResourceClaim",
            "ResourceClaimTemplate",
            "ResourceSlice",
        ],
    ),
];
