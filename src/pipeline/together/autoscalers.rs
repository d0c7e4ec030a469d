//! The autoscalers of workloads that no operator writes: HorizontalPodAutoscalers, and ScaledObjects of
//! KEDA. In: the objects of a catalog. Out: the replicas that they leave a workload.

use super::At;
use crate::api::Object;
use crate::catalog::Catalog;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::HashMap;

/// The replicas that an autoscaler may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scaled {
    /// A HorizontalPodAutoscaler leaves a workload with 0 replicas alone
    /// (pkg/controller/podautoscaler/horizontal.go, `reconcileAutoscaler`).
    Between(i64, i64),
    /// A ScaledObject with `minReplicaCount: 0` takes the last pod away while no trigger is active
    /// (kedacore/keda, pkg/scaling/executor/scale_scaledobjects.go, `RequestScale`).
    UpTo(i64),
    /// Annotation `autoscaling.keda.sh/paused-replicas`.
    Paused(i64),
}

/// Namespace, group, kind and name of what is scaled; the group is empty where none is named.
type Target = (EcoString, EcoString, EcoString, EcoString);

/// All autoscalers of an input, by what they scale.
#[derive(Clone, Debug, Default)]
pub(super) struct Autoscalers(HashMap<Target, Scaled>);

impl Autoscalers {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let mut all = Self::default();
        // A ScaledObject makes a HorizontalPodAutoscaler, which never goes below 1.
        for (kind, read) in [
            ("HorizontalPodAutoscaler", horizontal as fn(&Object) -> Option<Scaled>),
            ("ScaledObject", scaled_object),
        ] {
            let objects = catalog.others().iter().filter(|object| object.id.kind == kind);
            let objects =
                objects.filter(|object| !catalog.is_unfilled(object) && !catalog.is_copy(object));
            let found = objects.filter_map(|object| Some((target(object)?, read(object)?)));
            all.0.extend(found);
        }
        all
    }

    /// The replicas that a workload has once its autoscaler has run, which reads no metrics here: what it
    /// states within the limits. None for a workload without an autoscaler.
    pub(super) fn replicas(&self, object: &Object, at: At) -> Option<i64> {
        let (group, kind) = (object.group(), &object.id.kind);
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let key =
            |group: &str| (namespace.clone(), group.into(), kind.clone(), object.id.name.clone());
        // A reference without apiVersion names no group.
        let scaled = self.0.get(&key(group)).or_else(|| self.0.get(&key("")))?;
        let stated = object.node.at(&["spec", "replicas"]);
        let stated = stated.map_or(Some(1), Node::as_int)?;
        Some(match (*scaled, at) {
            (Scaled::Paused(replicas), _) => replicas,
            (Scaled::Between(..), _) if stated == 0 => 0,
            (Scaled::UpTo(_), At::Min) => 0,
            (Scaled::Between(_, most) | Scaled::UpTo(most), At::Max) => most,
            (Scaled::Between(least, most), _) => stated.min(most).max(least),
            (Scaled::UpTo(most), At::Current) => stated.min(most),
        })
    }
}

fn number(object: &Object, path: &[&str]) -> Option<i64> {
    object.node.at(path)?.as_int()
}

/// What an autoscaler scales. KEDA scales a Deployment where none is named.
fn target(object: &Object) -> Option<Target> {
    let of = |key: &str| object.node.at(&["spec", "scaleTargetRef", key]).and_then(Node::as_str);
    let version = of("apiVersion").unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
    let kind = of("kind").unwrap_or("Deployment");
    Some((namespace, group.into(), kind.into(), of("name")?.into()))
}

fn horizontal(object: &Object) -> Option<Scaled> {
    let least = match object.node.at(&["spec", "minReplicas"]) {
        Some(least) => least.as_int()?,
        None => 1,
    };
    // 0 needs a feature gate that is off by default (HPAScaleToZero).
    Some(Scaled::Between(least.max(1), number(object, &["spec", "maxReplicas"])?))
}

fn scaled_object(object: &Object) -> Option<Scaled> {
    let annotations = object.annotations();
    let text = |key: &str| annotations.get(key).and_then(Node::scalar_text);
    let replicas = text("autoscaling.keda.sh/paused-replicas");
    if let Some(replicas) = replicas.and_then(|replicas| replicas.parse().ok()) {
        return Some(Scaled::Paused(replicas));
    }
    // Paused without a number, KEDA leaves the workload at the replicas that it has.
    if text("autoscaling.keda.sh/paused").as_deref() == Some("true") {
        return None;
    }
    // The defaults of KEDA (apis/keda/v1alpha1/scaledobject_types.go).
    let of = |key: &str, default: i64| match object.node.at(&["spec", key]) {
        Some(spec) => spec.as_int(),
        None => Some(default),
    };
    let (least, most) = (of("minReplicaCount", 0)?, of("maxReplicaCount", 100)?);
    Some(if least > 0 { Scaled::Between(least, most) } else { Scaled::UpTo(most) })
}
