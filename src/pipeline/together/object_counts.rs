//! Quotas on the number of objects (`count/deployments.apps`, `services`): which workloads of the input
//! a server would not create, of which Deployments their controller would not create the ReplicaSet,
//! and which objects of services their operator would not create.

use super::NotJudged;
use super::claims::{Claim, Refused, Who};
use crate::api::{ComponentKind, Object};
use crate::catalog::Catalog;
use crate::cluster::admission::{Ledger, Usage};
use crate::cluster::fleet::Workload;
use crate::pipeline::counted_object::{CountedObject, quotas, resource};
use crate::pipeline::planned::Planned;
use crate::source::Span;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The workloads that a quota refuses, by their places.
#[derive(Debug, Default)]
pub(super) struct ObjectCounts {
    refused: HashMap<Span, EcoString>,
    ledger: Ledger,
}

impl ObjectCounts {
    /// Counts these objects: those that exist first, then the others in the order of their names.
    pub(super) fn of<'c>(catalog: &Catalog, objects: impl Iterator<Item = &'c Object>) -> Self {
        let mut all = Self { ledger: quotas(catalog), ..Self::default() };
        // Without a quota on objects nothing is refused, and a dump has tens of thousands of
        // objects.
        if all.ledger.is_empty() {
            return all;
        }
        let mut objects: Vec<&Object> = objects.collect();
        objects.sort_by_key(|item| (item.metadata("uid").is_none(), &item.id));
        for object in objects {
            let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
            let resource = resource(object.group(), &object.id.kind);
            // It exists: it uses quota even beyond the limit, because quotas never remove objects.
            if object.metadata("uid").is_some() {
                all.ledger.take(&namespace, &Arc::new(Usage::of_made(&resource, &object.node)));
                continue;
            }
            let name = &object.id.name;
            let mut charge = |resource: &str, name: &str| {
                let charged = all.ledger.charge_object(&namespace, resource);
                charged.map_err(|why| eco_format!("{resource} \"{name}\" is forbidden: {why}"))
            };
            let charged = charge(&resource, name).and_then(|()| match object.id.kind.as_str() {
                // "Rollout"|Its ReplicaSet counts too, and the controller creates it under a name
                // with a hash.
                "Deployment" | "Rollout" => charge("replicasets.apps", &format!("{name}-*")),
                _ => Ok(()),
            });
            if let Err(why) = charged {
                all.refused.insert(object.span, why);
            }
        }
        all
    }

    /// Why a workload has no pods.
    pub(super) fn refused(&self, object: &Object) -> Option<&EcoString> {
        self.refused.get(&object.span)
    }
}

/// Charges what operators have yet to create for services, after all that exists and the workloads of the
/// input. Where the object that runs pods is refused, there are none; of other objects, a line each.
pub(super) fn of_services(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    claims: &mut [Claim],
) -> Vec<NotJudged> {
    if planned.iter().all(|item| item.objects.is_empty()) {
        return Vec::new();
    }
    let counted = |item: &&Object| !catalog.is_copy(item) && item.id.kind != "ResourceQuota";
    let mut ledger = ObjectCounts::of(catalog, catalog.others().iter().filter(counted)).ledger;
    let exists: BTreeSet<(EcoString, &EcoString, &EcoString)> = catalog
        .others()
        .iter()
        .filter(|item| item.metadata("uid").is_some())
        .filter_map(|item| {
            let namespace = item.id.scope.namespace()?;
            Some((resource(item.group(), &item.id.kind), namespace, &item.id.name))
        })
        .collect();
    let mut found = Vec::new();
    let mut refused: HashMap<(usize, Option<ComponentKind>), EcoString> = HashMap::new();
    for (at, item) in planned.iter().enumerate().filter(|(_, item)| item.error.is_none()) {
        let namespace = &item.service.namespace;
        let is_there = |object: &&CountedObject| {
            exists.contains(&(object.resource.clone(), namespace, &object.name))
        };
        // The operator has written it before: what the input lacks of it was not read.
        if item.objects.iter().any(|object| is_there(&object)) {
            continue;
        }
        for object in &item.objects {
            let Err(why) = ledger.charge_made(namespace, &object.usage) else { continue };
            let (resource, name) = (&object.resource, &object.name);
            let message = eco_format!("{resource} \"{name}\" is forbidden: {why}");
            // Without the service itself the operator has nothing to write pods for.
            if resource.starts_with("inferenceservices.") || object.runs.is_some() {
                refused.entry((at, object.runs)).or_insert(message);
            } else {
                found.push(NotJudged {
                    what: eco_format!("{}", item.service),
                    pods: None,
                    message: eco_format!("{message}: the service does not get ready without it"),
                });
            }
        }
    }
    for claim in claims.iter_mut().filter(|item| item.refused.is_none()) {
        let Who::Component(at, component) = claim.who else { continue };
        let kind = planned[at].components[component].kind;
        let why = refused.get(&(at, None)).or_else(|| refused.get(&(at, Some(kind))));
        // Pods that run prove that their object exists, whatever the input has of it.
        if let Some(why) = why.filter(|_| claim.workload.running.is_empty()) {
            claim.refused = Some(Refused::created(why.clone(), &claim.workload));
            claim.workload = Workload::default();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::testing::{Ran, catalog, gpu_node, ome_on, service};

    fn plan(hard: &str) -> Ran {
        let quota = format!(
            "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q, namespace: ml}}\nspec: {{hard: {{{hard}}}}}\n"
        );
        let text = catalog(1) + &service("a", "minReplicas: 1") + &gpu_node("n1", 8, "") + &quota;
        ome_on("plan -o json --no-builtin -f {in.yaml}", &[("in.yaml", &text)])
    }

    #[test]
    fn without_the_object_that_runs_them_there_are_no_pods() {
        for hard in ["count/deployments.apps: '0'", "count/inferenceservices.ome.io: '0'"] {
            let ran = plan(hard);
            assert_eq!(ran.code, 2, "{hard}");
            let message = ran.at("/placement/pending/0/message").to_string();
            assert!(message.contains("exceeded quota: q"), "{message}");
        }
        assert_eq!(plan("count/deployments.apps: '1'").code, 0);
    }

    #[test]
    fn a_service_without_another_of_its_objects_is_not_confirmed() {
        for (hard, verdict) in [
            ("services: '0'", "unknown"),
            ("count/services: '0'", "unknown"),
            ("configmaps: '0'", "unknown"),
            ("services: '50'", "fits"),
            ("secrets: '0'", "fits"),
        ] {
            let ran = plan(hard);
            assert_eq!(ran.code, 0, "{hard}");
            assert_eq!(ran.at("/placement/verdict"), verdict, "{hard}: {}", ran.out);
        }
    }
}
