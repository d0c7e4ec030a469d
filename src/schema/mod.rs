//! The schema of every kind: its fields, their types, defaults, list keys and merge strategies, and
//! their output order.
//!
//! In: the tables of `tables/`, made by `examples/schema.rs` from the upstream schemas and checked
//! in. Out: [`Schema`]s, which check a tree ([`Schema::check`]), fill in the defaults of the API
//! server ([`Schema::default`]), marshal it as the controllers' Go structs do ([`marshal()`]),
//! order its keys ([`order()`]), and have the merge strategy ([`Field::patch`]) and the description
//! of a field ([`Schema::describe`]). This module reads no files.
//!
//! Tables are read when a kind is first requested, and types when a tree first reaches them.

pub(crate) mod cel;
mod check;
mod default;
mod describe;
mod device_claim;
mod hint;
mod marshal;
mod names;
mod newer;
mod older;
mod order;
mod overlay;
mod pattern;
mod rules;
mod structural;
mod table;
mod types;

pub use check::Strictness;
pub use default::CRD_DEFAULT;
pub(crate) use device_claim::{Fault, faults as device_faults, is_refused as is_refused_claim};
pub use hint::choices;
pub use marshal::{Library, Misfit, ZERO_VALUE, marshal, prune};
pub use names::{named, names_kind, words};
pub use newer::at_path as newer_at_path;
pub use older::at_path as older_at_path;
pub use order::order;
pub(crate) use pattern::matches;
pub use structural::{Definition as CustomDefinition, Definitions};
pub use types::{Definition, Field, Item, Patch, Rules, Schema, Type};

use std::sync::OnceLock;
use table::TABLES;

/// Kinds of the tables that are written by hand.
const READ_KINDS: [&str; 15] = [
    "apps/v1 DaemonSet daemonsets Namespaced DaemonSet",
    "apps/v1 ReplicaSet replicasets Namespaced ReplicaSet",
    "batch/v1 CronJob cronjobs Namespaced CronJob",
    "networking.k8s.io/v1 NetworkPolicy networkpolicies Namespaced NetworkPolicy",
    "networking.serving.volcano.sh/v1alpha1 ModelRoute modelroutes Namespaced read/ModelRoute",
    "networking.serving.volcano.sh/v1alpha1 ModelServer modelservers Namespaced read/ModelServer",
    "resource.k8s.io/v1 DeviceClass deviceclasses Cluster DeviceClass",
    "resource.k8s.io/v1 ResourceClaim resourceclaims Namespaced ResourceClaimObject",
    "resource.k8s.io/v1 ResourceClaimTemplate resourceclaimtemplates Namespaced ResourceClaimTemplate",
    "resource.k8s.io/v1beta1 DeviceClass deviceclasses Cluster DeviceClass",
    "resource.k8s.io/v1beta1 ResourceClaim resourceclaims Namespaced ResourceClaimV1beta1",
    "resource.k8s.io/v1beta1 ResourceClaimTemplate resourceclaimtemplates Namespaced ResourceClaimTemplateV1beta1",
    "resource.k8s.io/v1beta2 DeviceClass deviceclasses Cluster DeviceClass",
    "resource.k8s.io/v1beta2 ResourceClaim resourceclaims Namespaced ResourceClaimObject",
    "resource.k8s.io/v1beta2 ResourceClaimTemplate resourceclaimtemplates Namespaced ResourceClaimTemplate",
];

static KINDS: OnceLock<Vec<Schema>> = OnceLock::new();

/// Every kind that has a schema, sorted by apiVersion and kind.
pub fn kinds() -> &'static [Schema] {
    KINDS.get_or_init(|| {
        let read = READ_KINDS.iter().copied();
        let lines = table::lines(include_str!("tables/kinds.txt")).chain(read);
        let mut kinds: Vec<Schema> = lines.filter_map(Schema::parse).collect();
        // Completions and `ome schema` list the kinds in this order.
        kinds.sort_by_key(|schema| (schema.api_version, schema.kind));
        kinds
    })
}

/// The schema of a kind; the version must be one that is served.
pub fn kind(api_version: &str, kind: &str) -> Option<&'static Schema> {
    let (kinds, wanted) = (kinds(), (api_version, kind));
    // They are in order, and a fleet asks for each object that it renders.
    let place = kinds.partition_point(|schema| (schema.api_version, schema.kind) < wanted);
    kinds.get(place).filter(|schema| (schema.api_version, schema.kind) == wanted)
}

/// A Go struct of Kubernetes by its short name: `PodSpec`, `Container`.
pub fn structure(name: &str) -> Option<&'static Type> {
    TABLES[0].definition(name).map(Definition::whole)
}

#[cfg(test)]
mod tests;
