//! Where each kind of workload has its replicas and its pod templates, and when it has no pods.

use crate::api::Object;
use crate::pipeline::paused::is_paused_new;
use crate::rollout::has_condition;
use crate::yaml::Node;

/// Where a kind has the number of its pods and their template.
#[derive(Debug)]
pub(super) struct Part {
    /// A field of the object that multiplies all of its parts; 1 where it is not set.
    pub(super) times: &'static [&'static str],
    /// The list or map whose elements have pods of their own; the object itself if it is empty.
    pub(super) each: &'static [&'static str],
    /// The fields whose product is the number of pods; each with its default.
    pub(super) replicas: &'static [(&'static [&'static str], i64)],
    /// The last of `replicas` is not larger than this field, if it is set.
    pub(super) most: Option<&'static [&'static str]>,
    /// The elements are worker groups of Ray: `replicas` has bounds, as [`ray_workers`] counts them.
    ///
    /// [`ray_workers`]: crate::pipeline::built::ray_workers
    pub(super) ray_workers: bool,
    /// The pod template.
    pub(super) template: &'static [&'static str],
    /// What is there is the spec of a pod, without metadata.
    pub(super) bare: bool,
    /// The controller adds what the template lacks, as volumes of tokens.
    pub(super) completed: bool,
}

/// How the pods of a kind are found.
#[derive(Debug)]
pub(super) enum Pods {
    /// By these parts.
    Parts(&'static [Part]),
    /// As the controller of Deployments reads them.
    Deployment,
    /// As the controller of Jobs reads them: those that run at once and have not ended.
    Job,
    /// As the controller of StatefulSets reads them: each with claims of its own.
    Ordinals,
    /// Groups that start as a whole.
    Groups,
    /// One per node that its pods may use.
    PerNode,
    /// The object is a pod.
    Itself,
    /// `autoscaling.knative.dev/min-scale` of the template.
    Knative,
    /// Tasks of Volcano, which start together.
    Volcano,
    /// Services of Dynamo, which state devices without their vendor.
    Dynamo,
}

/// A kind that runs pods.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    pub(super) pods: Pods,
}

/// When an object of a kind has no pods, whatever number it states.
#[derive(Debug)]
pub(super) enum Rest {
    /// This field is true.
    Suspended(&'static [&'static str]),
    /// Its status has one of these conditions.
    Ended(&'static [&'static str]),
    /// `spec.managedBy` is another controller than this one.
    ManagedBy(&'static str),
    /// This field of its status has one of these values.
    State(&'static [&'static str], &'static [&'static str]),
    /// It is paused and in no cluster yet: its controller makes no ReplicaSet for it.
    PausedNew,
}

/// The kinds whose objects may rest. Sources: the API references of the kinds in [`TABLE`]; Jobs are
/// read by their controller.
static RESTS: &[(&str, &str, &[Rest])] = &[
    (
        "jobset.x-k8s.io",
        "JobSet",
        &[
            Rest::Suspended(&["spec", "suspend"]),
            Rest::Ended(&["Completed", "Failed"]),
            Rest::ManagedBy("jobset.sigs.k8s.io/jobset-controller"),
        ],
    ),
    // pkg/controller/deployment/sync.go, `sync`: it asks `getAllReplicaSetsAndSyncRevision` not to create
    // one.
    ("apps", "Deployment", &[Rest::PausedNew]),
    ("batch", "Job", &[Rest::ManagedBy("kubernetes.io/job-controller")]),
    (
        "ray.io",
        "RayCluster",
        &[Rest::Suspended(&["spec", "suspend"]), Rest::ManagedBy("ray.io/kuberay-operator")],
    ),
    (
        "ray.io",
        "RayJob",
        &[
            Rest::Suspended(&["spec", "suspend"]),
            Rest::State(&["status", "jobDeploymentStatus"], &["Complete", "Failed", "Suspended"]),
        ],
    ),
    (
        "batch.volcano.sh",
        "Job",
        &[Rest::State(
            &["status", "state", "phase"],
            &["Aborted", "Completed", "Failed", "Terminated"],
        )],
    ),
    ("kubeflow.org", "MPIJob", TRAINING),
    ("kubeflow.org", "PyTorchJob", TRAINING),
    ("kubeflow.org", "TFJob", TRAINING),
    ("kubeflow.org", "XGBoostJob", TRAINING),
    ("kubeflow.org", "PaddleJob", TRAINING),
    ("kubeflow.org", "JAXJob", TRAINING),
];

/// Jobs of Kubeflow's training operator.
static TRAINING: &[Rest] =
    &[Rest::Suspended(&["spec", "runPolicy", "suspend"]), Rest::Ended(&["Succeeded", "Failed"])];

impl Row {
    /// Whether an object of the kind has no pods: it is suspended, unless its queue lets it begin,
    /// finished, or paused before it `exists`.
    pub(super) fn rests(&self, object: &Node, queued: bool, exists: impl Fn() -> bool) -> bool {
        let of_kind =
            |(group, kind, _): &&(&str, &str, &[Rest])| *group == self.group && *kind == self.kind;
        let rests = RESTS.iter().find(of_kind).map(|(.., rests)| *rests).unwrap_or_default();
        rests.iter().any(|rest| match rest {
            Rest::Suspended(path) => {
                !queued && object.at(path).and_then(Node::as_bool) == Some(true)
            }
            Rest::Ended(types) => has_condition(object, types),
            Rest::ManagedBy(manager) => {
                let by = object.at(&["spec", "managedBy"]).and_then(Node::as_str);
                // An empty value is an absent one in the Go struct.
                by.is_some_and(|by| !by.is_empty() && by != *manager)
            }
            Rest::State(path, values) => object
                .at(path)
                .and_then(Node::as_str)
                .is_some_and(|object| values.contains(&object)),
            Rest::PausedNew => is_paused_new(object) && !exists(),
        })
    }
}

const fn part(
    each: &'static [&'static str],
    replicas: &'static [(&'static [&'static str], i64)],
    template: &'static [&'static str],
) -> Part {
    Part {
        times: &[],
        each,
        replicas,
        most: None,
        ray_workers: false,
        template,
        bare: false,
        completed: false,
    }
}

/// The roles of a job of Kubeflow's training operator: a map by the name of the role.
const fn roles(each: &'static [&'static str]) -> Part {
    part(each, &[(&["replicas"], 1)], &["template"])
}

pub(super) const TEMPLATE_OF_PART: &[&str] = &["template"];
pub(super) const TEMPLATE: &[&str] = &["spec", "template"];
const REPLICAS: &[(&[&str], i64)] = &[(&["spec", "replicas"], 1)];

/// The kinds. Sources: the API reference of Kubernetes 1.35, and the CRDs of the projects (JobSet
/// v1alpha2, `KubeRay` v1, Volcano v1alpha1, Argo Rollouts v1alpha1, Knative Serving v1, NVIDIA Dynamo
/// v1alpha1, Kubeflow Trainer v1, MPI Operator v2beta1, Grove v1alpha1, KAITO v1beta1).
pub(super) static TABLE: &[Row] = &[
    Row { group: "apps", kind: "Deployment", pods: Pods::Deployment },
    Row { group: "argoproj.io", kind: "Rollout", pods: Pods::Deployment },
    Row { group: "apps", kind: "ReplicaSet", pods: Pods::Deployment },
    Row {
        group: "",
        kind: "ReplicationController",
        pods: Pods::Parts(&[part(&[], REPLICAS, TEMPLATE)]),
    },
    Row { group: "apps", kind: "StatefulSet", pods: Pods::Ordinals },
    Row { group: "apps", kind: "DaemonSet", pods: Pods::PerNode },
    Row { group: "batch", kind: "Job", pods: Pods::Job },
    Row { group: "", kind: "Pod", pods: Pods::Itself },
    Row { group: "leaderworkerset.x-k8s.io", kind: "LeaderWorkerSet", pods: Pods::Groups },
    Row {
        group: "jobset.x-k8s.io",
        kind: "JobSet",
        pods: Pods::Parts(&[Part {
            most: Some(&["template", "spec", "completions"]),
            ..part(
                &["spec", "replicatedJobs"],
                &[(&["replicas"], 1), (&["template", "spec", "parallelism"], 1)],
                &["template", "spec", "template"],
            )
        }]),
    },
    Row {
        group: "ray.io",
        kind: "RayCluster",
        pods: Pods::Parts(&[
            part(&[], &[], &["spec", "headGroupSpec", "template"]),
            Part {
                ray_workers: true,
                ..part(
                    &["spec", "workerGroupSpecs"],
                    &[(&["replicas"], 0), (&["numOfHosts"], 1)],
                    &["template"],
                )
            },
        ]),
    },
    Row {
        group: "ray.io",
        kind: "RayService",
        pods: Pods::Parts(&[
            Part {
                completed: true,
                ..part(&[], &[], &["spec", "rayClusterConfig", "headGroupSpec", "template"])
            },
            Part {
                ray_workers: true,
                completed: true,
                ..part(
                    &["spec", "rayClusterConfig", "workerGroupSpecs"],
                    &[(&["replicas"], 0), (&["numOfHosts"], 1)],
                    &["template"],
                )
            },
        ]),
    },
    Row { group: "batch.volcano.sh", kind: "Job", pods: Pods::Volcano },
    Row { group: "serving.knative.dev", kind: "Service", pods: Pods::Knative },
    Row { group: "nvidia.com", kind: "DynamoGraphDeployment", pods: Pods::Dynamo },
    Row {
        group: "kubeflow.org",
        kind: "MPIJob",
        pods: Pods::Parts(&[roles(&["spec", "mpiReplicaSpecs"])]),
    },
    Row {
        group: "kubeflow.org",
        kind: "PyTorchJob",
        pods: Pods::Parts(&[roles(&["spec", "pytorchReplicaSpecs"])]),
    },
    Row {
        group: "kubeflow.org",
        kind: "TFJob",
        pods: Pods::Parts(&[roles(&["spec", "tfReplicaSpecs"])]),
    },
    Row {
        group: "kubeflow.org",
        kind: "XGBoostJob",
        pods: Pods::Parts(&[roles(&["spec", "xgbReplicaSpecs"])]),
    },
    Row {
        group: "kubeflow.org",
        kind: "PaddleJob",
        pods: Pods::Parts(&[roles(&["spec", "paddleReplicaSpecs"])]),
    },
    Row {
        group: "kubeflow.org",
        kind: "JAXJob",
        pods: Pods::Parts(&[roles(&["spec", "jaxReplicaSpecs"])]),
    },
    Row {
        group: "ray.io",
        kind: "RayJob",
        pods: Pods::Parts(&[
            Part {
                completed: true,
                ..part(&[], &[], &["spec", "rayClusterSpec", "headGroupSpec", "template"])
            },
            Part {
                ray_workers: true,
                completed: true,
                ..part(
                    &["spec", "rayClusterSpec", "workerGroupSpecs"],
                    &[(&["replicas"], 0), (&["numOfHosts"], 1)],
                    &["template"],
                )
            },
        ]),
    },
    Row {
        group: "grove.io",
        kind: "PodCliqueSet",
        pods: Pods::Parts(&[Part {
            times: &["spec", "replicas"],
            each: &["spec", "template", "cliques"],
            replicas: &[(&["spec", "replicas"], 1)],
            most: None,
            ray_workers: false,
            template: &["spec", "podSpec"],
            bare: true,
            completed: false,
        }]),
    },
    Row {
        group: "kaito.sh",
        kind: "Workspace",
        pods: Pods::Parts(&[Part {
            completed: true,
            ..part(&[], &[(&["resource", "count"], 1)], &["inference", "template"])
        }]),
    },
];

/// Where the pods of an object are, if it is of a kind that is counted.
pub(super) fn row(object: &Object) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.kind == object.id.kind && row.group == object.group())
}

/// The kinds with their group and the number of their pods in words, for the page about them.
pub fn counted() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    TABLE.iter().map(|row| (row.group, row.kind, row.pods.words()))
}

impl Pods {
    fn words(&self) -> String {
        match self {
            Self::Parts(parts) => {
                let parts: Vec<String> = parts.iter().map(Part::words).collect();
                parts.join(", and ")
            }
            Self::Deployment | Self::Ordinals => "`spec.replicas`".to_owned(),
            Self::Job => {
                "`spec.parallelism`, at most what is left of `spec.completions`; 0 if suspended"
                    .to_owned()
            }
            Self::Groups => "`spec.replicas` groups, each as a whole".to_owned(),
            Self::PerNode => "one per node that its pods may use".to_owned(),
            Self::Itself => "itself, while it has no node and no owner".to_owned(),
            Self::Knative => "annotation `autoscaling.knative.dev/min-scale`".to_owned(),
            Self::Volcano => {
                "`replicas` of each of `spec.tasks`; `spec.minAvailable` of them start together"
                    .to_owned()
            }
            Self::Dynamo => "replicas × nodes of each service".to_owned(),
        }
    }
}

impl Part {
    fn words(&self) -> String {
        let field = |path: &[&str]| format!("`{}`", path.join("."));
        let times = (!self.times.is_empty()).then(|| field(self.times));
        let fields = self.replicas.iter().map(|(path, _)| field(path));
        let factors: Vec<String> = times.into_iter().chain(fields).collect();
        let mut words = match factors.as_slice() {
            [] => "1".to_owned(),
            _ => factors.join(" × "),
        };
        if let Some(most) = self.most {
            words.push_str(", at most ");
            words.push_str(&field(most));
        }
        match self.each {
            [] => words,
            each => format!("{words} of each of {}", field(each)),
        }
    }
}

/// Kinds that hold pod templates and run no pods.
pub(super) static NO_PODS: &[&str] = &[
    "PodTemplate",
    "Template",
    "ConfigMap",
    "CustomResourceDefinition",
    "ControllerRevision",
    "CronJob",
    "LLMInferenceServiceConfig",
    "Workload",
    "PodGroup",
    "ClusterTrainingRuntime",
    "TrainingRuntime",
    "WorkflowTemplate",
    "ClusterWorkflowTemplate",
    "CronWorkflow",
    "ServingRuntime",
    "ClusterServingRuntime",
    "InferenceService",
    "BaseModel",
    "ClusterBaseModel",
    "Event",
];

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::load::kinds;
    use std::collections::BTreeSet;

    #[test]
    fn kinds_that_are_accounted_as_workloads_are_those_that_are_placed() {
        let placed: BTreeSet<(&str, &str)> =
            TABLE.iter().map(|row| (row.group, row.kind)).collect();
        let accounted: BTreeSet<(&str, &str)> = kinds::PODS
            .iter()
            .flat_map(|(group, kinds)| kinds.iter().map(move |kind| (*group, *kind)))
            .collect();
        assert_eq!(placed, accounted);
    }
}
