//! Quotas of a cluster of which more is used than the objects of the input use.
//!
//! In: `status.used` of live ResourceQuotas, what the input counts, and what was placed. Out: a line for
//! each quota that refuses some of the new objects if the rest belongs to objects that were not read.
//! Files have no such status: what a server stores does not begin with it.

use super::NotJudged;
use crate::catalog::Catalog;
use crate::cluster::admission::{Ledger, QuotaStatus, Usage};
use crate::cluster::fleet::Placed;
use crate::cluster::schedule::PodTemplate;
use crate::pipeline::counted_object::{quotas, resource};
use crate::quantity::Quantity;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Used amounts by namespace, quota and resource.
type Used = BTreeMap<(EcoString, EcoString, EcoString), Quantity>;

fn used(status: Vec<QuotaStatus>, all: &mut Used) {
    for quota in status {
        for (resource, _, amount) in quota.resources {
            let Some(amount) = amount else { continue };
            let key = (quota.namespace.clone(), quota.name.clone(), resource);
            let highest = all.entry(key).or_insert_with(|| Quantity::from_integer(0));
            if amount > *highest {
                *highest = amount;
            }
        }
    }
}

/// What the objects of the input that exist count in their quotas.
fn seen(catalog: &Catalog, running: &[Arc<PodTemplate>]) -> Used {
    let mut ledger = quotas(catalog);
    for pod in running {
        if let Some(usage) = &pod.usage {
            ledger.take(&pod.namespace, usage);
        }
    }
    let others = catalog.others().iter().filter(|object| object.id.kind != "Pod");
    let services = catalog.services().map(|views| &views.documented.object);
    let servings = catalog.model_servings().iter().map(|serving| &serving.object);
    for object in others.chain(services).chain(servings) {
        let namespace = object.id.scope.namespace().filter(|namespace| ledger.has(namespace));
        let live = object.metadata("uid").is_some() && !catalog.is_copy(object);
        if let Some(namespace) = namespace.filter(|_| live) {
            let resource = resource(object.group(), &object.id.kind);
            ledger.take(namespace, &Arc::new(Usage::of_made(&resource, &object.node)));
        }
    }
    let mut all = Used::new();
    used(ledger.status(), &mut all);
    all
}

/// The quotas that do not hold what was placed beside all that they report as used. `running` are the
/// pods that run, `objects` counts the objects without pods.
pub(super) fn beyond(
    catalog: &Catalog,
    running: &[Arc<PodTemplate>],
    placed: &Placed,
    objects: &Ledger,
) -> Vec<NotJudged> {
    let stated = |quota: &&crate::api::Object| {
        quota.id.kind == "ResourceQuota"
            && quota.metadata("uid").is_some()
            && quota.node.at(&["status", "used"]).is_some()
    };
    let live: Vec<_> = catalog.others().iter().filter(stated).collect();
    if live.is_empty() {
        return Vec::new();
    }
    let seen = seen(catalog, running);
    let mut wanted = Used::new();
    used(placed.scheduler.quotas(), &mut wanted);
    used(objects.status(), &mut wanted);
    let zero = Quantity::from_integer(0);
    let mut found = Vec::new();
    for quota in live {
        let namespace = quota.id.scope.namespace().cloned().unwrap_or_default();
        let amount = |side: [&str; 2], name: &str| {
            let text = quota.node.at(&[side[0], side[1], name]).and_then(Node::scalar_text)?;
            Quantity::parse(&text).ok()
        };
        let entries = quota.node.at(&["status", "used"]).map(Node::entries).into_iter().flatten();
        let over = entries.filter_map(|entry| {
            let key = (namespace.clone(), quota.id.name.clone(), entry.key.clone());
            let (seen, wanted) = (seen.get(&key).unwrap_or(&zero), wanted.get(&key)?);
            let reported = amount(["status", "used"], &entry.key)?;
            let hard = amount(["spec", "hard"], &entry.key)?;
            let is_new = wanted > seen && reported > *seen;
            // The rest, and the new objects beside those that were seen.
            let sum = &(wanted + &reported) - seen;
            (is_new && sum > hard).then(|| {
                eco_format!(
                    "{}: used {}, by objects of the input {}, limited to {}",
                    entry.key,
                    reported.canonical(),
                    seen.canonical(),
                    hard.canonical()
                )
            })
        });
        let over: Vec<EcoString> = over.collect();
        if !over.is_empty() {
            found.push(NotJudged {
                what: eco_format!("ResourceQuota `{namespace}/{}`", quota.id.name),
                pods: None,
                message: eco_format!(
                    "it refuses some of the new objects if the rest of what it reports is of others ({})",
                    over.join("; ")
                ),
                ..NotJudged::default()
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    fn verdict(quota: &str, more: &str) -> (String, String) {
        let text = gpu_node("n1", 8, "")
            + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 3, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: '1'}}}]}}}\n"
            + &format!("---\napiVersion: v1\nkind: ResourceQuota\n{quota}\n")
            + more;
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        let why = ran.at("/placement/notJudged/0/message");
        (ran.at("/placement/verdict").as_str().unwrap_or("").to_owned(), why.to_string())
    }

    fn quota(uid: &str, used: u32) -> String {
        format!(
            "metadata: {{name: q, namespace: ml{uid}}}\nspec: {{hard: {{requests.nvidia.com/gpu: '8'}}}}\nstatus: {{hard: {{requests.nvidia.com/gpu: '8'}}, used: {{requests.nvidia.com/gpu: '{used}'}}}}"
        )
    }

    #[test]
    fn what_a_quota_reports_beyond_the_input_may_be_of_others() {
        let (word, why) = verdict(&quota(", uid: u", 6), "");
        assert_eq!(word, "unknown");
        assert!(why.contains("used 6, by objects of the input 0, limited to 8"), "{why}");
        // There is room for all of it.
        assert_eq!(verdict(&quota(", uid: u", 5), "").0, "fits");
        // A file has no status.
        assert_eq!(verdict(&quota("", 6), "").0, "fits");
        // What runs explains a part of it.
        let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml, uid: p}\nspec: {nodeName: n1, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: '2'}}}]}\nstatus: {phase: Running}\n";
        assert_eq!(verdict(&quota(", uid: u", 2), pod).0, "fits");
        assert_eq!(verdict(&quota(", uid: u", 5), pod).0, "fits");
        assert_eq!(verdict(&quota(", uid: u", 6), pod).0, "unknown");
    }
}
