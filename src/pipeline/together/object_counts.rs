//! Quotas on the number of objects (`count/deployments.apps`, `services`): which workloads of the input
//! a server would not create, of which Deployments their controller would not create the ReplicaSet,
//! and which objects of services their operator would not create.

use super::NotJudged;
use super::claims::{Claim, Refused, Who};
use super::workload_kinds::row;
use crate::api::{ComponentKind, Object};
use crate::catalog::Catalog;
use crate::cluster::admission::{Ledger, Usage};
use crate::cluster::fleet::Workload;
use crate::pipeline::counted_object::{CountedObject, quotas, resource};
use crate::pipeline::named_objects::OF_EVERY_NAMESPACE;
use crate::pipeline::planned::Planned;
use crate::source::Span;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet, HashMap};
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
        take_own(catalog, &mut all.ledger);
        let mut objects: Vec<&Object> = objects.collect();
        objects.sort_by_key(|item| (item.metadata("uid").is_none(), &item.id));
        for object in objects {
            let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
            let resource = resource(object.group(), &object.id.kind);
            let usage = Arc::new(Usage::of_made(&resource, &object.node));
            // It exists: it uses quota even beyond the limit, because quotas never remove objects.
            if object.metadata("uid").is_some() {
                all.ledger.take(&namespace, &usage);
                continue;
            }
            let name = &object.id.name;
            let charged = all.ledger.charge_made(&namespace, &usage);
            let charged = charged.map_err(|why| forbidden(&resource, name, &why));
            let charged =
                charged.and_then(|()| charge_part(&mut all.ledger, &namespace, &resource, name));
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

    /// The objects without pods that a server would not create: what needs them does not start. Claims
    /// for volumes are judged with the pods that use them.
    fn without_pods(&self, catalog: &Catalog) -> Vec<NotJudged> {
        if self.refused.is_empty() {
            return Vec::new();
        }
        let others = catalog.others().iter().filter(|object| {
            row(object).is_none()
                && object.id.kind != "PersistentVolumeClaim"
                && !catalog.is_copy(object)
        });
        let found = others.filter_map(|object| {
            let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
            Some(NotJudged {
                what: eco_format!("{} `{namespace}/{}`", object.id.kind, object.id.name),
                pods: None,
                message: eco_format!("{}: what needs it does not start", self.refused(object)?),
                ..NotJudged::default()
            })
        });
        found.collect()
    }
}

/// The server's answer where a quota refuses an object.
fn forbidden(resource: &str, name: &str, why: &EcoString) -> EcoString {
    eco_format!("{resource} \"{name}\" is forbidden: {why}")
}

/// What a controller creates for an object before its pods, by the resource of the object: without it
/// there are none (pkg/controller/deployment/sync.go, `getNewReplicaSet`; pkg/controller/statefulset,
/// `getStatefulSetRevisions`; pkg/controller/daemon/daemon_controller.go, `constructHistory`).
const PARTS: [(&str, &str); 4] = [
    ("deployments.apps", "replicasets.apps"),
    ("rollouts.argoproj.io", "replicasets.apps"),
    ("statefulsets.apps", "controllerrevisions.apps"),
    ("daemonsets.apps", "controllerrevisions.apps"),
];

/// The services among these lines, by the places of their claims, each with the reason.
pub(super) fn services_of(lines: &[NotJudged], claims: &[Claim]) -> BTreeMap<usize, EcoString> {
    let mut found = BTreeMap::new();
    for line in lines {
        let of_line = |claim: &Claim| claim.api.is_of_operator() && claim.service == line.what;
        for (at, _) in claims.iter().enumerate().filter(|(_, claim)| of_line(claim)) {
            found.entry(at).or_insert_with(|| line.sentence());
        }
    }
    found
}

/// Charges what a controller creates for an object of this name.
fn charge_part(
    ledger: &mut Ledger,
    namespace: &str,
    resource: &str,
    name: &str,
) -> Result<(), EcoString> {
    let Some((_, part)) = PARTS.iter().find(|(counted, _)| *counted == resource) else {
        return Ok(());
    };
    let charged = ledger.charge_object(namespace, part);
    charged.map_err(|why| forbidden(part, &format!("{name}-*"), &why))
}

/// Counts what a cluster creates in every namespace, where the input lacks it.
fn take_own(catalog: &Catalog, ledger: &mut Ledger) {
    let namespaces: BTreeSet<EcoString> =
        ledger.status().into_iter().map(|quota| quota.namespace).collect();
    for (kind, plural, name) in OF_EVERY_NAMESPACE {
        let usage = Arc::new(Usage::of_kind(plural));
        let read: BTreeSet<&EcoString> = catalog
            .others()
            .iter()
            .filter(|object| object.id.kind == kind && object.id.name == name)
            .filter_map(|object| object.id.scope.namespace())
            .collect();
        for namespace in namespaces.iter().filter(|namespace| !read.contains(namespace)) {
            ledger.take(namespace, &usage);
        }
    }
}

/// Charges what operators have yet to create for services, after all that exists and the objects of the
/// input. Where the object that runs pods is refused, there are none; of other objects, a line each.
/// The ledger has all that was charged.
pub(super) fn of_services(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    claims: &mut [Claim],
) -> (Vec<NotJudged>, Ledger) {
    let limited = quotas(catalog);
    let counted = |item: &&Object| {
        let namespace = item.id.scope.namespace();
        namespace.is_some_and(|namespace| limited.counts_objects(namespace))
            && !matches!(item.id.kind.as_str(), "Pod" | "ResourceQuota")
            && !catalog.is_copy(item)
            && !catalog.is_unfilled(item)
    };
    if limited.is_empty() {
        return (Vec::new(), limited);
    }
    let counts = ObjectCounts::of(catalog, catalog.others().iter().filter(counted));
    let mut found = counts.without_pods(catalog);
    let mut ledger = counts.ledger;
    let exists: BTreeSet<(EcoString, &EcoString, &EcoString)> = catalog
        .others()
        .iter()
        .filter(|item| item.metadata("uid").is_some())
        .filter_map(|item| {
            let namespace = item.id.scope.namespace()?;
            Some((resource(item.group(), &item.id.kind), namespace, &item.id.name))
        })
        .collect();
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
            let (resource, name) = (&object.resource, &object.name);
            let charged = ledger.charge_made(namespace, &object.usage);
            let charged = charged.map_err(|why| forbidden(resource, name, &why));
            let charged =
                charged.and_then(|()| charge_part(&mut ledger, namespace, resource, name));
            let Err(message) = charged else { continue };
            // Without the service itself the operator has nothing to write pods for.
            if resource.starts_with("inferenceservices.") || object.runs.is_some() {
                refused.entry((at, object.runs)).or_insert(message);
            } else {
                found.push(NotJudged {
                    what: eco_format!("{}", item.service),
                    pods: None,
                    message: eco_format!("{message}: the service does not get ready without it"),
                    of: BTreeSet::from([eco_format!("{}", item.service)]),
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
    (found, ledger)
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
        for hard in [
            "count/deployments.apps: '0'",
            "count/replicasets.apps: '0'",
            "count/inferenceservices.ome.io: '0'",
        ] {
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
            // Every namespace has kube-root-ca.crt.
            ("configmaps: '2'", "fits"),
            ("configmaps: '1'", "unknown"),
        ] {
            let ran = plan(hard);
            assert_eq!(ran.code, 0, "{hard}");
            assert_eq!(ran.at("/placement/verdict"), verdict, "{hard}: {}", ran.out);
        }
    }

    #[test]
    fn objects_of_the_input_count_too() {
        let plan = |hard: &str, more: &str| {
            let text = format!(
                "{}---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q, namespace: ml}}\nspec: {{hard: {{{hard}}}}}\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: s, namespace: ml}}\nspec: {{replicas: 1, serviceName: s, selector: {{matchLabels: {{app: s}}}}, template: {{metadata: {{labels: {{app: s}}}}, spec: {{containers: [{{name: c, image: x}}]}}}}}}\n{more}",
                gpu_node("n1", 8, "")
            );
            ome_on("plan -o json --no-builtin -f {in.yaml}", &[("in.yaml", &text)])
        };
        let of = |kind: &str, spec: &str| {
            format!(
                "---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: a, namespace: ml}}\n{spec}"
            )
        };
        let service = of("Service", "spec: {ports: [{port: 80}]}\n");
        for (hard, more, what) in [
            ("services: '0'", &service, "Service `ml/a`"),
            ("count/services: '0'", &service, "Service `ml/a`"),
            ("configmaps: '1'", &of("ConfigMap", "data: {a: b}\n"), "ConfigMap `ml/a`"),
            ("count/secrets: '0'", &of("Secret", ""), "Secret `ml/a`"),
            ("count/serviceaccounts: '1'", &of("ServiceAccount", ""), "ServiceAccount `ml/a`"),
        ] {
            let ran = plan(hard, more);
            assert_eq!(ran.at("/placement/verdict"), "unknown", "{hard}: {}", ran.out);
            assert_eq!(ran.at("/placement/notJudged/0/what"), what, "{hard}");
        }
        let ports = of("Service", "spec: {type: NodePort, ports: [{port: 80}, {port: 81}]}\n");
        for (hard, verdict) in [("1", "unknown"), ("2", "fits")] {
            let ran = plan(&format!("services.nodeports: '{hard}'"), &ports);
            assert_eq!(ran.at("/placement/verdict"), verdict, "{hard}");
        }
        assert_eq!(plan("services: '1'", &service).at("/placement/verdict"), "fits");
        assert_eq!(plan("configmaps: '1'", &service).at("/placement/verdict"), "fits");
        // The controller of StatefulSets keeps a revision before it creates pods.
        let ran = plan("count/controllerrevisions.apps: '0'", "");
        assert_eq!(ran.code, 2, "{}", ran.out);
    }
}
