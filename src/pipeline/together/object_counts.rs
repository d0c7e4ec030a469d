//! Quotas on the number of objects (`count/deployments.apps`): which workloads of the input a server
//! would not create, and of which Deployments their controller would not create the ReplicaSet.

use crate::api::Object;
use crate::catalog::Catalog;
use crate::cluster::admission::{Ledger, Usage};
use crate::source::Span;
use ecow::{EcoString, eco_format};
use std::collections::HashMap;
use std::sync::Arc;

/// The workloads that a quota refuses, by their places.
#[derive(Debug, Default)]
pub(super) struct ObjectCounts(HashMap<Span, EcoString>);

impl ObjectCounts {
    /// Counts these objects: those that exist first, then the others in the order of their names.
    pub(super) fn of<'c>(catalog: &Catalog, objects: impl Iterator<Item = &'c Object>) -> Self {
        let mut ledger = Ledger::default();
        for object in catalog.others().iter().filter(|own| own.id.kind == "ResourceQuota") {
            ledger.set(&object.node);
        }
        let mut all = Self::default();
        if ledger.is_empty() {
            return all;
        }
        let mut objects: Vec<&Object> = objects.collect();
        objects.sort_by_key(|own| (own.metadata("uid").is_none(), &own.id));
        for object in objects {
            let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
            let resource = resource(object);
            if object.metadata("uid").is_some() {
                ledger.take(&namespace, &Arc::new(Usage::of_object(&resource)));
                continue;
            }
            let name = &object.id.name;
            let mut charge = |resource: &str, name: &str| {
                let charged = ledger.charge_object(&namespace, resource);
                charged.map_err(|why| eco_format!("{resource} \"{name}\" is forbidden: {why}"))
            };
            let made = charge(&resource, name).and_then(|()| match object.id.kind.as_str() {
                "Deployment" | "Rollout" => charge("replicasets.apps", &format!("{name}-*")),
                _ => Ok(()),
            });
            if let Err(why) = made {
                all.0.insert(object.span, why);
            }
        }
        all
    }

    /// Why a workload has no pods.
    pub(super) fn refused(&self, object: &Object) -> Option<&EcoString> {
        self.0.get(&object.span)
    }
}

/// The resource of an object with its group, as quotas name it.
fn resource(object: &Object) -> EcoString {
    let kind = object.id.kind.to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    };
    match object.group() {
        "" => plural.into(),
        group => eco_format!("{plural}.{group}"),
    }
}
