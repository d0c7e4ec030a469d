//! A service with everything decided and merged: pods, replicas and metadata of its components.
//!
//! In: the result of an operator's composition. Out: the same for every reader, with pods and
//! accelerators counted from the final pods. The container that runs the model is decided here, and
//! nowhere later.

use crate::api::{ComponentKind, DeploymentMode, Failure, Model, Runtime, Service};
use crate::diag::Diagnostic;
use crate::quantity::Range;
use crate::yaml::{Map, Node};
use ecow::EcoString;
use std::collections::BTreeMap;

/// One component of a service, ready to be wrapped into a workload.
#[derive(Clone, Debug)]
pub struct Component {
    /// Which one.
    pub kind: ComponentKind,
    /// `SERVICE-engine` and so on, not truncated.
    pub name: EcoString,
    /// How it is deployed.
    pub mode: DeploymentMode,
    /// The merged component spec: replicas, scaling, deploymentStrategy, timeouts, kedaConfig …
    /// are read from it.
    pub spec: Node,
    /// Labels of objects and pods, without the additions of the workload (`app`, queues).
    pub labels: Map,
    /// Annotations of objects and pods.
    pub annotations: Map,
    /// The main pod's spec: engine, leader, decoder or router, the runner merged into
    /// `containers`.
    pub pod: Node,
    /// The worker's pod spec and how many workers a replica has, when there is a worker.
    pub worker: Option<(Node, i64)>,
    /// Labels and annotations of the worker's objects, where they are not those of the component.
    pub worker_metadata: Option<(Map, Map)>,
    /// Index of the container that runs the model in the main pod's `containers`.
    pub main: usize,
    /// The same of the worker's pod.
    pub worker_main: usize,
}

impl Component {
    /// Pods of one replica; none when the number of workers is none.
    pub fn pods_per_replica(&self) -> Option<i64> {
        match (&self.worker, self.mode) {
            (Some((_, workers)), _) => Range::COUNT.count(*workers).map(|workers| workers + 1),
            // Upstream always makes one worker of the head's pod
            // (pkg/controller/v1beta1/inferenceservice/reconcilers/multinodevllm/ray.go,
            // createRayCluster).
            (None, DeploymentMode::MultiNodeRayVllm) => Some(2),
            (None, _) => Some(1),
        }
    }

    /// Accelerators that one replica requests, by resource: those of its pods as they are written.
    /// None when one of the numbers, or their product, is none that is counted.
    pub fn accelerators(&self) -> Option<BTreeMap<EcoString, i64>> {
        let pods = self.pods_per_replica()?;
        let counts = match &self.worker {
            Some((worker, _)) => vec![(&self.pod, 1), (worker, pods - 1)],
            None => vec![(&self.pod, pods)],
        };
        let mut found = BTreeMap::new();
        // A worker of size 0 is never made, so that its invalid amounts count for nothing.
        for (pod, pods) in counts.into_iter().filter(|(_, pods)| *pods > 0) {
            for (name, each) in crate::pods::gpus::by_resource(pod)? {
                let total: &mut i64 = found.entry(name).or_default();
                // Sizes come from files: 2^40 workers of 2^40 devices must not wrap.
                *total = total.checked_add(each.checked_mul(pods)?)?;
            }
        }
        Some(found)
    }
}

impl Component {
    /// Its workers, as pods that all replicas have together; none where they are not counted.
    pub fn shared_workers(&self) -> Option<Shared> {
        let (worker, workers) = self.worker.as_ref()?;
        let pods = Range::COUNT.count(*workers)?;
        let each = if pods > 0 { crate::pods::gpus::by_resource(worker)? } else { BTreeMap::new() };
        let all = each.into_iter().map(|(name, each)| Some((name, each.checked_mul(pods)?)));
        Some(Shared { pods, accelerators: all.collect::<Option<_>>()? })
    }
}

impl Shared {
    /// All accelerators.
    pub fn devices(&self) -> i64 {
        self.accelerators.values().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// A service with everything decided and merged.
#[derive(Clone, Debug)]
pub struct Built<'a> {
    /// The service.
    pub service: &'a Service,
    /// Its model.
    pub model: Option<&'a Model>,
    /// Its runtime.
    pub runtime: Option<&'a Runtime>,
    /// Its components in order: engine, decoder, router. None of a service that is a
    /// `VirtualDeployment` as a whole: of it nothing at all is deployed.
    pub components: Vec<Component>,
}

/// The facts of a component before its pods are built, or if they cannot be built.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Which one.
    pub kind: ComponentKind,
    /// How it is deployed.
    pub mode: DeploymentMode,
    /// The source of the mode, if there are several possible ones.
    pub mode_basis: Option<&'static str>,
    /// Minimum number of replicas; `None` if the value is not a valid number.
    pub min_replicas: Option<i64>,
    /// Replicas that its controllers run when nothing scales it further: an HPA runs at least one,
    /// and without a number a Deployment has one.
    pub settled_replicas: Option<i64>,
    /// Greatest number of replicas; none when nothing scales it.
    pub max_replicas: Option<i64>,
    /// Pods of one replica; none when the number of workers is none.
    pub pods_per_replica: Option<i64>,
    /// Accelerators of one replica by resource; none when they cannot be counted.
    pub accelerators: Option<BTreeMap<EcoString, i64>>,
    /// Those of its pods that all replicas have together.
    pub shared: Option<Shared>,
}

impl Outline {
    /// One of single pods beside the components that serve, whose number nothing scales.
    pub(crate) fn of_fixed_count(
        kind: ComponentKind,
        replicas: Option<i64>,
        accelerators: Option<BTreeMap<EcoString, i64>>,
    ) -> Self {
        Self {
            kind,
            mode: DeploymentMode::RawDeployment,
            mode_basis: None,
            min_replicas: replicas,
            settled_replicas: replicas,
            max_replicas: replicas,
            pods_per_replica: Some(1),
            accelerators,
            shared: None,
        }
    }
}

/// Pods that stand once, whatever the number of replicas is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// How many.
    pub pods: i64,
    /// Their accelerators by resource.
    pub accelerators: BTreeMap<EcoString, i64>,
}

/// A number of replicas or pods as written; `default` where it is absent or null, none where the
/// value is not such a number ([`Range::COUNT`]).
pub fn count_of_pods(written: Option<&Node>, default: i64) -> Option<i64> {
    // The API server drops a null, so that the default applies.
    let written = written.filter(|node| !node.is_null());
    Range::COUNT.count(written.map_or(Some(default), Node::as_int)?)
}

/// How far an operator that writes one component after the other got before it failed.
#[derive(Clone, Debug)]
pub struct Unfinished<'a> {
    /// The service with the components that are written as a whole.
    pub built: Built<'a>,
    /// The component it failed on; none where it failed after the last one.
    pub stopped: Option<Stopped>,
}

/// The component that an operator failed on.
#[derive(Clone, Debug)]
pub enum Stopped {
    /// Its pods could not be built: it has a name and metadata, and an empty pod.
    Pods(Component),
    /// Its pods are built, and not all of its objects could be written.
    Objects(Component),
}

/// The state of a service before its objects are written.
#[derive(Clone, Debug, Default)]
pub struct Outcome<'a> {
    /// Its components as built; if building fails, as merged; without a decision, as in the service
    /// alone.
    pub outlines: Vec<Outline>,
    /// The components with their pods, where nothing failed.
    pub built: Option<Built<'a>>,
    /// The earliest failure.
    pub error: Option<Failure>,
    /// The objects that are written although a component, or a step after the last one, failed.
    pub unfinished: Option<Unfinished<'a>>,
    /// Findings, without the error.
    pub diagnostics: Vec<Diagnostic>,
}
