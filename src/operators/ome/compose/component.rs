//! Components after merging: one spec and one deployment mode each. `plan` needs only this half of
//! composing.

use super::accelerator::{self, Accelerator};
use super::{accelerated, go_struct, layer, mode};
use crate::api::{ComponentKind, DeploymentMode, Failure, OperatorConfig, Runtime, Service};
use crate::decision::AcceleratorDecision;
use crate::diag::{Checked, Code, Diagnostic};
use crate::merge::history::Recorder;
use crate::merge::written as merge;
use crate::operators::ome::rules::Rules as _;
use crate::operators::ome::rules::{ClassRule, ReplicaRule};
use crate::pods::built::{Outline, count_of_pods};
use crate::pods::lint::Place;
use crate::pods::rules::{MAX_REPLICAS, MIN_REPLICAS, MIN_REPLICAS_RAISED};
use crate::pods::{gpus, lint};
use crate::policy::{AcceleratorOptions, FaultRule, MergeRule, Policy};
use crate::quantity::Range;
use crate::yaml::{Node, Origin, Rule};
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

/// One component of a service with its merged spec.
#[derive(Clone, Debug)]
pub struct MergedComponent<'a> {
    /// Which one.
    pub kind: ComponentKind,
    /// `SERVICE-engine` and so on, not truncated.
    pub name: EcoString,
    /// How it is deployed.
    pub mode: DeploymentMode,
    /// The source of the mode, where several are possible (KServe 0.10 docs, Control Plane;
    /// docs/decisions.md#deployment-mode).
    pub mode_basis: Option<&'static str>,
    /// Runtime and service merged, replica counts filled in.
    pub spec: Node,
    /// The accelerator class it runs on.
    pub accelerator: Option<Accelerator<'a>>,
}

/// The components of a service after merging.
#[derive(Clone, Debug, Default)]
pub struct Merged<'a> {
    /// In the order of output.
    pub components: Vec<MergedComponent<'a>>,
}

impl MergedComponent<'_> {
    /// Least number of replicas: 1 when the spec sets no usable one, none when its value is not a
    /// number of replicas.
    pub fn min_replicas(&self) -> Option<i64> {
        count_of_pods(self.spec.get("minReplicas"), 1)
    }

    /// Greatest number of replicas; none when the spec sets no usable one.
    pub fn max_replicas(&self) -> Option<i64> {
        self.spec
            .get("maxReplicas")
            .and_then(Node::as_int)
            .and_then(|most| Range::COUNT.count(most))
    }

    /// Workers beside the main pod of a replica: 0 when not set and in modes without workers
    /// (OME docs, Serving Runtime, Multi-Node Configuration), none when the value is not a number
    /// of pods.
    pub fn workers(&self) -> Option<i64> {
        Range::COUNT.count(self.written_workers())
    }

    /// The number of workers as written. It may be negative: no schema forbids it, and the operator
    /// copies it.
    pub(crate) fn written_workers(&self) -> i64 {
        let written = || self.spec.at(&["worker", "size"]).and_then(Node::as_int).unwrap_or(0);
        match self.mode {
            DeploymentMode::MultiNode | DeploymentMode::OmeNative => written(),
            // Upstream always makes one worker of the head's pod
            // (pkg/controller/v1beta1/inferenceservice/reconcilers/multinodevllm/ray.go,
            // createRayCluster).
            DeploymentMode::MultiNodeRayVllm => 1,
            DeploymentMode::RawDeployment if self.kind == ComponentKind::Predictor => written(),
            DeploymentMode::RawDeployment
            | DeploymentMode::Serverless
            | DeploymentMode::VirtualDeployment
            | DeploymentMode::ModelMesh => 0,
        }
    }

    /// Pods of one replica.
    pub fn pods_per_replica(&self) -> Option<i64> {
        self.workers().map(|workers| workers + 1)
    }

    /// The part of the spec that the main pod is built from: `leader`, or the spec itself.
    pub(crate) fn leader_part(&self) -> Option<&Node> {
        self.spec.get("leader").filter(|_| mode::uses_leader(self.mode, &self.spec))
    }

    /// The part that worker pods are built from.
    pub(crate) fn worker_part(&self) -> Option<&Node> {
        self.spec.get("worker").filter(|_| self.kind != ComponentKind::Router)
    }

    /// The component as far as it is known without its pods.
    pub(crate) fn outline(&self) -> Outline {
        Outline {
            kind: self.kind,
            mode: self.mode,
            mode_basis: self.mode_basis,
            min_replicas: self.min_replicas(),
            settled_replicas: match self.mode {
                DeploymentMode::VirtualDeployment => Some(0),
                _ => self.min_replicas(),
            },
            max_replicas: self.max_replicas(),
            pods_per_replica: self.pods_per_replica(),
            accelerators: self.gpus(),
            shared: None,
        }
    }

    /// Accelerators of one replica by resource name, as the merged spec requests them: main pod and
    /// workers (OME docs, Serving Runtime, Multi-Node Configuration). None when one of the numbers,
    /// or their product, is not a valid count.
    pub fn gpus(&self) -> Option<BTreeMap<EcoString, i64>> {
        let main = self.leader_part().unwrap_or(&self.spec);
        let worker = match self.mode {
            DeploymentMode::MultiNodeRayVllm => Some(main),
            _ => self.worker_part(),
        };
        let mut found = gpus::of_part(main)?;
        if let (Some(part), workers @ 1..) = (worker, self.workers()?) {
            for (name, each) in gpus::of_part(part)? {
                let sum = found.entry(name).or_insert(0);
                // Both factors are numbers of the input, up to the largest count each: the product
                // may overflow.
                *sum = sum.checked_add(each.checked_mul(workers)?)?;
            }
        }
        Some(found)
    }
}

/// Merges every component of a service with the runtime's part and finds how it is deployed.
///
/// Findings are those that need no pods: a raised minReplicas, an absent worker size or image.
///
/// # Errors
/// The operator's error where it fails before it builds anything.
pub fn merged<'a>(
    policy: &Policy,
    service: &'a Service,
    runtime: Option<&'a Runtime>,
    accelerators: &[AcceleratorDecision<'a>],
    options: &AcceleratorOptions,
    config: &OperatorConfig,
    rec: &mut Recorder,
) -> Result<Checked<Merged<'a>>, Failure> {
    let mut findings = Vec::new();
    let parts = layer::components(policy, service);
    let named = |kind| parts.iter().any(|(part, _)| *part == kind);
    let is_virtual = mode::of_service(service, config) == Some(DeploymentMode::VirtualDeployment);
    // A virtual service has no pods, so that none of its components is required.
    if !named(ComponentKind::Engine) && !is_virtual {
        return Err(no_engine(policy, service));
    }
    let beside_decoder = named(ComponentKind::Decoder);
    let mut components = Vec::with_capacity(parts.len());
    for (kind, written) in &parts {
        let place = Place { service, runtime, kind: *kind };
        let written = layer::with_long_resources(policy, *kind, written, &mut findings);
        let upper = layer::of_service(policy, *kind, &written, rec);
        let decision = accelerators.iter().find(|decision| decision.component == *kind);
        let accelerator = decision.and_then(|decision| Accelerator::of(decision, runtime, service));
        let over =
            Over { policy, options, runtime, accelerator: accelerator.as_ref(), place: &place };
        let mut spec = laid_over(&over, *kind, upper, rec, &mut findings)
            .map_err(|message| Failure::of(service, Code::InvalidInput, message))?;
        let name = eco_format!("{}-{}", service.name(), kind.as_str());
        // It makes no pods: neither a class nor replicas apply to it.
        if is_virtual {
            components.push(MergedComponent {
                kind: *kind,
                name,
                mode: DeploymentMode::VirtualDeployment,
                mode_basis: None,
                spec,
                accelerator: None,
            });
            continue;
        }
        if let Some(accelerator) = &accelerator
            && policy.ome().class == ClassRule::Overwrite
            // Resources of the service's runner keep the class from setting any.
            && !accelerator::states_resources(service, *kind)
        {
            let (rule, rec) = (policy.ome().class_resources, &mut rec.at(kind.as_str()));
            accelerator::overwrite_resources(rule, &mut spec, accelerator.class, rec);
        }
        // After the merge: leader and worker of the runtime decide about the mode, too.
        let mode = if policy.ome().native {
            mode::of_native_component(policy, service, *kind, &spec)
        } else {
            mode::of_component(policy, *kind, &spec, beside_decoder)
        };
        // The webhook sees the service alone: what it wrote decides, whatever the runtime has.
        grace_period(&written, config, &mut spec);
        if policy.ome().replicas == ReplicaRule::Runtime {
            let at_least_one = *kind == ComponentKind::Decoder
                || (*kind == ComponentKind::Engine && beside_decoder)
                || mode == DeploymentMode::RawDeployment;
            // Filled in after the mode was decided, which a default of minReplicas must not change.
            fill_in_replicas(&mut spec);
            if at_least_one {
                raise_min_replicas(&place, &mut spec, rec, &mut findings);
            }
        }
        let mut component =
            MergedComponent { kind: *kind, name, mode, mode_basis: None, spec, accelerator };
        if policy.ome().class == ClassRule::Layer {
            // The size of the worker, which only the merged component has, says how many pods share
            // devices.
            let pods = component.pods_per_replica().unwrap_or(1);
            if let Some(accelerator) = &component.accelerator {
                accelerated::counts::count(
                    accelerator,
                    &place,
                    pods,
                    &mut component.spec,
                    &mut findings,
                );
                accelerated::remarks(accelerator, &place, &mut findings);
            }
            accelerated::duplicate_flags(&place, &component.spec, &mut findings);
        }
        faults(policy, &place, &component, &mut findings);
        components.push(component);
    }
    if !is_virtual {
        super::no_effect::of_modes(policy, service, runtime, &components, &mut findings);
    }
    Ok(Checked { value: Merged { components }, diagnostics: findings })
}

static GRACE_PERIOD: Rule = Rule {
    id: "ome-grace-period",
    text: "the webhook writes the grace period of the operator's settings into a component without one",
    cite: "pkg/webhook/admission/isvc/inference_service_defaults.go, defaultTerminationGracePeriod",
};

/// Sets the grace period of the operator's settings, which the webhook writes into a component of
/// the service without one; there it overrides the runtime's.
fn grace_period(written: &Node, config: &OperatorConfig, spec: &mut Node) {
    const KEY: &str = "terminationGracePeriodSeconds";
    if let (Some(seconds), None, Some(spec)) =
        (config.grace_period, written.get(KEY), spec.as_map_mut())
    {
        spec.insert(KEY, Node::int(seconds, Origin::Default(&GRACE_PERIOD)));
    }
}

/// Findings about a merged component that need no pods.
fn faults(
    policy: &Policy,
    place: &Place<'_>,
    component: &MergedComponent<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let path = |origin: Origin, field: &str| place.path(origin, field);
    lint::worker_size(&component.spec, &path, findings);
    // Under this rule the API server judges the objects later, and a second finding would repeat
    // it.
    if policy.ome().pod_faults == FaultRule::Print {
        return;
    }
    lint::metric(&component.spec, component.mode == DeploymentMode::Serverless, &path, findings);
    lint::replica_range(&component.spec, &path, findings);
    let main = component.leader_part().unwrap_or(&component.spec);
    lint::image(main, component.kind.as_str(), place, findings);
    if component.mode != DeploymentMode::MultiNode
        || lint::worker_container(&component.spec, &path, findings)
    {
        return;
    }
    if let Some(worker) = component.worker_part() {
        lint::image(worker, &format!("{} worker", component.kind.as_str()), place, findings);
    }
}

/// The layers below the service's part, and the rules of the merge.
struct Over<'a> {
    policy: &'a Policy,
    options: &'a AcceleratorOptions,
    runtime: Option<&'a Runtime>,
    accelerator: Option<&'a Accelerator<'a>>,
    place: &'a Place<'a>,
}

/// Merges the service's part over the runtime's, with the accelerator's layer between the two.
fn laid_over(
    over: &Over<'_>,
    kind: ComponentKind,
    upper: Node,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) -> Result<Node, String> {
    let Over { policy, runtime, .. } = *over;
    let rec = &mut rec.at(kind.as_str());
    match policy.ome().merge {
        MergeRule::Written => {
            let lower = runtime.and_then(|runtime| layer::of_runtime(runtime, kind));
            Ok(match (over.accelerator, lower) {
                (Some(accelerator), lower) => accelerated::layered(
                    accelerator,
                    over.options,
                    over.place,
                    lower.as_ref(),
                    &upper,
                    rec,
                    findings,
                ),
                (None, Some(lower)) => merge::written(&lower, &upper, rec),
                (None, None) => upper,
            })
        }
        MergeRule::Typed => {
            let lower = runtime
                .and_then(|runtime| go_struct::of_runtime(policy, runtime, kind))
                .transpose()?;
            go_struct::component(kind, lower, &upper, rec)
        }
    }
}

/// Default replica counts (OME docs, Serving Runtime, Engine Configuration and Using
/// ClusterServingRuntimes; docs/decisions.md#replicas).
fn fill_in_replicas(spec: &mut Node) {
    // Three cases: absent, a number, and a value that is no number, which gets no default maximum.
    let least = spec.get("minReplicas").map(Node::as_int);
    let has_max = spec.get("maxReplicas").is_some();
    let Some(map) = spec.as_map_mut() else { return };
    if least.is_none() {
        map.insert("minReplicas", Node::int(1, Origin::Default(&MIN_REPLICAS)));
    }
    if let Some(least) = least.unwrap_or(Some(1)).filter(|_| !has_max) {
        // A maximum of 0 would allow no pod at all, also where the minimum is 0.
        map.insert("maxReplicas", Node::int(least.max(1), Origin::Default(&MAX_REPLICAS)));
    }
}

/// Raises minReplicas to 1 in a component that cannot scale to zero (OME docs, Serving Runtime,
/// Engine Configuration and Decoder Configuration; docs/decisions.md#replicas).
fn raise_min_replicas(
    place: &Place<'_>,
    spec: &mut Node,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) {
    let Some(zero) = spec.get("minReplicas").filter(|node| node.as_int() == Some(0)).cloned()
    else {
        return;
    };
    let one = Node::int(1, Origin::Derived(&MIN_REPLICAS_RAISED));
    rec.at(place.kind.as_str()).at("minReplicas").lost(&zero, Some(&one));
    findings.push(
        Diagnostic::new(
            Code::MinReplicasRaised,
            format!(
                "the {} cannot scale to zero here: minReplicas 0 is raised to 1",
                place.kind.as_str()
            ),
        )
        .at(zero.origin.span())
        .path(place.path(zero.origin, "minReplicas"))
        .help("write `minReplicas: 1`"),
    );
    if let Some(map) = spec.as_map_mut() {
        map.insert("minReplicas", one);
    }
}

fn no_engine(policy: &Policy, service: &Service) -> Failure {
    let decoder =
        service.component(ComponentKind::Decoder).and_then(|decoder| decoder.origin.span());
    let refused = if policy.ome().implied_engine {
        Failure::with_help(
            service,
            Code::DecoderWithoutEngine,
            "a decoder needs an engine",
            "add `engine: {}`",
        )
    } else {
        Failure::with_help(
            service,
            Code::InvalidInput,
            "engine component is required",
            "add `engine: {}`",
        )
    };
    Failure { span: decoder.or(refused.span), ..refused }
}
