//! Autoscalers of the input: HorizontalPodAutoscalers, ScaledObjects of KEDA, and the policies of Kthena. In:
//! the objects of a catalog. Out: the replicas that they leave a workload, one that an operator writes too.

use super::built::{Workload, WorkloadKind};
use super::planned::{Kept, PlannedComponent};
use crate::api::{Object, Scope};
use crate::catalog::Catalog;
use crate::objects::RenderedObject;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::{HashMap, HashSet};

/// The number of replicas that is placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum At {
    /// minReplicas.
    #[default]
    Min,
    /// maxReplicas of everything at once.
    Max,
    /// As running pods and `spec.replicas` in the input have it.
    Current,
}

/// The group of ModelServings.
const SERVINGS: &str = "workload.serving.volcano.sh";

/// The replicas that an autoscaler may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scaled {
    /// A HorizontalPodAutoscaler leaves a workload with 0 replicas alone
    /// (pkg/controller/podautoscaler/horizontal.go, `reconcileAutoscaler`).
    Between(i64, i64),
    /// A ScaledObject, and a policy of Kthena, scale a workload without pods too (kedacore/keda,
    /// pkg/scaling/executor/scale_scaledobjects.go, `RequestScale`).
    AtLeast(i64, i64),
    /// While no trigger is active, one with `minReplicaCount: 0` takes the last pod away, and one with
    /// `idleReplicaCount` all but those.
    UpTo(i64, i64),
    /// Annotation `autoscaling.keda.sh/paused-replicas`.
    Paused(i64),
    /// The pods of a group, not their groups.
    Roles,
    /// None: its server or its webhook refuses it, for this reason.
    Refused(&'static str),
}

impl Scaled {
    /// The least and the greatest number that it leaves.
    fn limits(self) -> (i64, i64) {
        match self {
            Self::Between(least, most) | Self::AtLeast(least, most) | Self::UpTo(least, most) => {
                (least, most)
            }
            Self::Paused(replicas) => (replicas, replicas),
            Self::Roles | Self::Refused(_) => (i64::MIN, i64::MAX),
        }
    }

    /// Between two numbers, if these are any.
    fn between(least: i64, most: i64, refusal: &'static str) -> Self {
        if least > most { Self::Refused(refusal) } else { Self::Between(least, most) }
    }
}

/// An autoscaler with its kind and name.
#[derive(Clone, Debug)]
struct Scaler {
    name: EcoString,
    scaled: Scaled,
}

impl Scaler {
    fn words(&self) -> EcoString {
        let (least, most) = self.scaled.limits();
        eco_format!("{} ({least}..{most})", self.name)
    }

    /// Why it leaves the number as it is.
    fn refusal(&self) -> Option<EcoString> {
        match self.scaled {
            Scaled::Refused(why) => {
                Some(eco_format!("{} is refused ({why}) and scales nothing", self.name))
            }
            Scaled::Roles => {
                Some(eco_format!("{} scales its roles, which are counted as written", self.name))
            }
            _ => None,
        }
    }
}

/// Namespace, group, kind and name of what is scaled; the group is empty where none is named.
type Target = (EcoString, EcoString, EcoString, EcoString);

/// All autoscalers of an input, by what they scale.
#[derive(Clone, Debug, Default)]
pub(crate) struct Autoscalers(HashMap<Target, Vec<Scaler>>);

impl Autoscalers {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let mut all = Self::default();
        let others = || {
            let others = catalog.others().iter();
            others.filter(|object| !catalog.is_unfilled(object) && !catalog.is_copy(object))
        };
        let named = |kind: &'static str| others().filter(move |object| object.id.kind == kind);
        // A cluster may have as many of the one kind as of the other.
        let scaled: HashSet<(&Scope, &EcoString)> =
            named("ScaledObject").map(|object| (&object.id.scope, &object.id.name)).collect();
        for object in named("HorizontalPodAutoscaler") {
            // That of a ScaledObject or a service is known by its owner, where this one was read.
            let owner = owner(object);
            let is_read = owner.is_some_and(|(kind, name)| {
                kind == "InferenceService"
                    || kind == "LLMInferenceService"
                    || kind == "ScaledObject" && scaled.contains(&(&object.id.scope, &name))
            });
            if !is_read {
                all.add(object, horizontal(&object.node));
            }
        }
        for kind in ["AutoscalingPolicy", "AutoscalingPolicyBinding"] {
            for object in named(kind) {
                all.add_policy(object);
            }
        }
        for object in named("ScaledObject") {
            if owner(object).is_none_or(|(kind, _)| !kind.ends_with("InferenceService")) {
                all.add(object, scaled_object(&object.node));
            }
        }
        all
    }

    fn add(&mut self, object: &Object, scaled: Option<Scaled>) {
        if let (Some(target), Some(scaled)) = (target(&object.node), scaled) {
            self.add_to(object, target, scaled);
        }
    }

    fn add_to(&mut self, object: &Object, of: (EcoString, EcoString, EcoString), scaled: Scaled) {
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let (group, kind, name) = of;
        let scaler = Scaler { name: named(&object.id.kind, &object.id.name), scaled };
        self.0.entry((namespace, group, kind, name)).or_default().push(scaler);
    }

    /// A policy of Kthena, which scales the groups of one ModelServing, or of several that share the load;
    /// a target within a ModelServing is one of its roles (volcano-sh/kthena,
    /// pkg/apis/workload/v1alpha1/autoscalingpolicy_types.go). Before v1.0.0 its binding has the target.
    fn add_policy(&mut self, object: &Object) {
        let spec = |path: &[&str]| object.node.get("spec").and_then(|spec| spec.at(path));
        let several = spec(&["heterogeneousTarget", "params"]).map(Node::items).unwrap_or_default();
        let of_groups = spec(&["homogeneousTarget"]).into_iter().chain(several).map(|of| {
            let number = |key: &str| of.get(key).and_then(Node::as_int);
            let scaled = match (number("minReplicas"), number("maxReplicas")) {
                _ if of.at(&["target", "subTarget"]).is_some() => Some(Scaled::Roles),
                (Some(least), Some(most)) if least > most => {
                    Some(Scaled::Refused("its maxReplicas is less than its minReplicas"))
                }
                (Some(least), Some(most)) => Some(Scaled::AtLeast(least, most)),
                _ => None,
            };
            (of.at(&["target", "targetRef", "name"]), scaled)
        });
        let of_roles = spec(&["disaggregatedTarget", "targetRef", "name"]);
        let of_roles = of_roles.map(|name| (Some(name), Some(Scaled::Roles)));
        for (name, scaled) in of_groups.chain(of_roles) {
            if let (Some(name), Some(scaled)) = (name.and_then(Node::as_str), scaled) {
                let target = (SERVINGS.into(), "ModelServing".into(), name.into());
                self.add_to(object, target, scaled);
            }
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there are any for the workloads of a namespace.
    pub(crate) fn may_scale(&self, namespace: &str) -> bool {
        self.0.keys().any(|(other, ..)| other == namespace)
    }

    fn scalers(&self, namespace: &str, group: &str, kind: &str, name: &str) -> Vec<&Scaler> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let key = |group: &str| (namespace.into(), group.into(), kind.into(), name.into());
        let all = self.0.get(&key(group)).into_iter();
        all.chain(self.0.get(&key("")).filter(|_| !group.is_empty())).flatten().collect()
    }

    /// The replicas that a workload has once its autoscalers have run, which read no metrics here: what
    /// it states within the limits. None for a workload without an autoscaler.
    pub(crate) fn replicas(&self, object: &Object, at: At) -> Option<i64> {
        let kept = self.kept(object)?;
        let all = self.of_object(object);
        if let (At::Current, [Scaler { scaled: Scaled::UpTo(_, most), .. }]) = (at, all.as_slice())
        {
            return Some(stated(object)?.min(*most));
        }
        Some(if at == At::Max { kept.most } else { kept.least })
    }

    fn of_object(&self, object: &Object) -> Vec<&Scaler> {
        let namespace = object.id.scope.namespace().map_or("", EcoString::as_str);
        self.scalers(namespace, object.group(), &object.id.kind, &object.id.name)
    }

    /// What the autoscalers of a workload of the input leave it.
    pub(crate) fn kept(&self, object: &Object) -> Option<Kept> {
        let all = self.of_object(object);
        if all.is_empty() {
            return None;
        }
        Some(kept(&all, stated(object)?))
    }

    /// What the autoscalers of a ModelServing leave it, if there are any.
    pub(crate) fn of_serving(&self, namespace: &str, name: &str, replicas: i64) -> Option<Kept> {
        let all = self.scalers(namespace, SERVINGS, "ModelServing", name);
        (!all.is_empty()).then(|| kept(&all, replicas))
    }

    /// Gives the components of a service what the autoscalers of the input leave them, beside those of
    /// the operator, which are among its `objects`.
    pub(crate) fn scale<'o>(
        &self,
        namespace: &str,
        components: &mut [PlannedComponent],
        workloads: impl FnOnce() -> &'o [Workload],
        objects: impl FnOnce() -> &'o [RenderedObject],
    ) {
        if !self.may_scale(namespace) {
            return;
        }
        let mut scaled = Vec::new();
        let workloads = workloads();
        for (at, component) in components.iter().enumerate() {
            let workload = workloads.iter().find(|workload| workload.component == component.kind);
            let replicas = workload.zip(component.settled_replicas.number());
            let Some((workload, replicas)) = replicas else { continue };
            let (group, kind) = match &workload.kind {
                Ok(WorkloadKind::Deployment { .. }) => ("apps", "Deployment"),
                Ok(WorkloadKind::Groups(_)) => ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
                Ok(WorkloadKind::Ray { .. } | WorkloadKind::Knative(_)) | Err(_) => continue,
            };
            let scalers = self.scalers(namespace, group, kind, &workload.name);
            if !scalers.is_empty() {
                scaled.push((at, workload, replicas, kind, scalers));
            }
        }
        if scaled.is_empty() {
            return;
        }
        let objects = objects();
        for (at, workload, replicas, kind, scalers) in scaled {
            let rendered = rendered_scaler(objects, &workload.name);
            // An object of that name in the input is the operator's.
            let is_own = |scaler: &Scaler| {
                rendered.as_ref().is_some_and(|rendered| rendered.name == scaler.name)
            };
            let users: Vec<&Scaler> =
                scalers.into_iter().filter(|scaler| !is_own(scaler)).collect();
            if users.is_empty() {
                continue;
            }
            let mut kept =
                kept(&rendered.iter().chain(users.iter().copied()).collect::<Vec<_>>(), replicas);
            let component = &mut components[at];
            if kind == "Deployment" {
                component.settled_replicas = Some(kept.least).into();
            } else {
                // Groups are those of the operator's object.
                let (least, most) = (kept.least, kept.most);
                (kept.least, kept.most) = (replicas, replicas);
                let other = least != replicas || most != replicas;
                kept.contested = kept.contested.or_else(|| {
                    let names = users[0].words();
                    other.then(|| {
                        eco_format!(
                            "{names} scales it; its groups are counted as the operator writes them"
                        )
                    })
                });
            }
            component.kept = Some(Box::new(kept));
        }
    }
}

/// The autoscaler of a workload among the objects of a service.
fn rendered_scaler(objects: &[RenderedObject], workload: &str) -> Option<Scaler> {
    let text = |node: &Node, path: &[&str]| node.at(path).and_then(Node::scalar_text);
    objects.iter().find_map(|object| {
        let kind = text(&object.node, &["kind"])?;
        let scaled = match kind.as_str() {
            "HorizontalPodAutoscaler" => horizontal(&object.node)?,
            "ScaledObject" => scaled_object(&object.node)?,
            _ => return None,
        };
        let (_, _, target) = target(&object.node).filter(|(.., target)| target == workload)?;
        let name = text(&object.node, &["metadata", "name"]).unwrap_or(target);
        Some(Scaler { name: named(&kind, &name), scaled })
    })
}

/// What autoscalers leave a workload that states so many replicas. Each keeps the number within its
/// limits before it reads metrics, and two of one workload read none: `AmbiguousSelector`
/// (pkg/controller/podautoscaler/horizontal.go, `reconcileAutoscaler`, `validateAndParseSelector`).
fn kept(all: &[&Scaler], stated: i64) -> Kept {
    if let Some(refusal) = all.iter().find_map(|scaler| scaler.refusal()) {
        let others: Vec<&Scaler> =
            all.iter().copied().filter(|scaler| scaler.refusal().is_none()).collect();
        let rest = match others[..] {
            [] => Kept { least: stated, most: stated, contested: None },
            _ => kept(&others, stated),
        };
        return Kept { contested: Some(refusal), ..rest };
    }
    let limits = || all.iter().map(|scaler| scaler.scaled.limits());
    let floor = limits().map(|(least, _)| least).max().unwrap_or(0);
    let most = limits().map(|(_, most)| most).min().unwrap_or(i64::MAX);
    let fights = floor > most;
    let scaler = |is: fn(&Scaled) -> bool| all.iter().any(|scaler| is(&scaler.scaled));
    let rests =
        stated == 0 && all.iter().all(|scaler| matches!(scaler.scaled, Scaled::Between(..)));
    let least = if scaler(|scaled| matches!(scaled, Scaled::Paused(_))) {
        floor
    } else if rests {
        0
    } else if scaler(|scaled| matches!(scaled, Scaled::UpTo(..))) {
        floor
    } else {
        stated.min(most).max(floor)
    };
    let contested = (all.len() > 1).then(|| {
        let names: Vec<EcoString> = all.iter().map(|scaler| scaler.words()).collect();
        let names = names.join(" and ");
        if fights {
            eco_format!("{names} scale it and set {most} and {floor} replicas in turn")
        } else {
            eco_format!("{names} scale it, and none of them follows its metrics while both exist")
        }
    });
    let most = match (rests, fights) {
        (true, _) => 0,
        (_, true) => floor,
        _ => most.max(least),
    };
    Kept { least, most, contested }
}

fn named(kind: &str, name: &str) -> EcoString {
    eco_format!("{kind} `{name}`")
}

/// `spec.replicas` of a workload.
fn stated(object: &Object) -> Option<i64> {
    object.node.at(&["spec", "replicas"]).map_or(Some(1), Node::as_int)
}

/// Kind and name of the controller of an object.
fn owner(object: &Object) -> Option<(EcoString, EcoString)> {
    let owners = object.metadata("ownerReferences").map(Node::items).unwrap_or_default();
    let owner = owners.iter().find(|owner_reference| {
        owner_reference.get("controller").and_then(Node::as_bool) == Some(true)
    })?;
    let text = |key: &str| owner.get(key).and_then(Node::scalar_text);
    Some((text("kind")?, text("name")?))
}

/// Group, kind and name of what an autoscaler scales. KEDA scales a Deployment where none is named.
fn target(object: &Node) -> Option<(EcoString, EcoString, EcoString)> {
    let of = |key: &str| object.at(&["spec", "scaleTargetRef", key]).and_then(Node::as_str);
    let version = of("apiVersion").unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let kind = of("kind").unwrap_or("Deployment");
    Some((group.into(), kind.into(), of("name")?.into()))
}

fn horizontal(object: &Node) -> Option<Scaled> {
    let number = |path: &[&str]| object.at(path)?.as_int();
    let least = match object.at(&["spec", "minReplicas"]) {
        Some(least) => least.as_int()?,
        None => 1,
    };
    // 0 needs a feature gate that is off by default (HPAScaleToZero).
    let most = number(&["spec", "maxReplicas"])?;
    Some(Scaled::between(least.max(1), most, "its maxReplicas is less than its minReplicas"))
}

fn scaled_object(object: &Node) -> Option<Scaled> {
    let text = |key: &str| object.at(&["metadata", "annotations", key]).and_then(Node::scalar_text);
    let replicas = text("autoscaling.keda.sh/paused-replicas");
    if let Some(replicas) = replicas.and_then(|replicas| replicas.parse().ok()) {
        return Some(Scaled::Paused(replicas));
    }
    // Paused without a number, KEDA leaves the workload at the replicas that it has; so does a text that
    // is no truth value (apis/keda/v1alpha1/scaledobject_types.go, `NeedToBePausedByAnnotation`).
    let runs = |text: &str| matches!(text, "0" | "f" | "F" | "false" | "False" | "FALSE");
    if text("autoscaling.keda.sh/paused").is_some_and(|text| !runs(&text)) {
        return None;
    }
    // The defaults of KEDA, and its bounds (the same file, `CheckReplicaCountBoundsAreValid`).
    let number = |key: &str| match object.at(&["spec", key]) {
        Some(spec) => Some(Some(spec.as_int()?)),
        None => Some(None),
    };
    let [stated, most, idle] =
        [number("minReplicaCount")?, number("maxReplicaCount")?, number("idleReplicaCount")?];
    let (least, most) = (stated.unwrap_or(0), most.unwrap_or(100));
    let bound = stated.map_or(0, |stated| stated.max(1));
    if bound > most {
        return Some(Scaled::Refused("its maxReplicaCount is less than its minReplicaCount"));
    }
    if idle.is_some_and(|idle| idle >= bound) {
        return Some(Scaled::Refused("its idleReplicaCount is not less than its minReplicaCount"));
    }
    // Neither trigger is ever inactive alone (pkg/scaling/scale_handler.go, `getScaledObjectState`), and
    // the webhook refuses 0 with them (apis/keda/v1alpha1/scaledobject_webhook.go,
    // `verifyCPUMemoryScalers`).
    let triggers = object.at(&["spec", "triggers"]).map(Node::items).unwrap_or_default();
    let measures_pods = |trigger: &Node| {
        matches!(trigger.get("type").and_then(Node::as_str), Some("cpu" | "memory"))
    };
    let is_active = !triggers.is_empty() && triggers.iter().all(measures_pods);
    Some(match (least > 0, is_active) {
        (false, true) => {
            Scaled::Refused("its triggers are cpu or memory alone, with minReplicaCount 0")
        }
        (false, false) => Scaled::UpTo(0, most),
        (true, true) => Scaled::AtLeast(least, most),
        (true, false) => idle.map_or(Scaled::AtLeast(least, most), |idle| Scaled::UpTo(idle, most)),
    })
}
