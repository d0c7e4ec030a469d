//! What decides about pods before a scheduler sees them and is not evaluated: admission policies,
//! webhooks, and namespaces of which it is not known that they exist.
//!
//! In: the other objects of a catalog, and the pods that are to be created. Out: a line for each with
//! the pods that it may refuse. Webhooks of the operators are left out: their rules are applied where
//! objects are read and written. So are those that let pods of the input run: these are as the webhook
//! left them.

use super::NotJudged;
use super::claims::{Claim, Who};
use super::workloads::{counted_objects, services};
use crate::api::{Object, is_about_creation};
use crate::catalog::Catalog;
use crate::cluster::fleet::Fleet;
use crate::cluster::schedule::{Labels, label_selector, labels};
use crate::operator::Operator;
use crate::operators;
use crate::pipeline::counted_object::resource;
use crate::schema;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// The group of the objects that admit others.
const GROUP: &str = "admissionregistration.k8s.io";

/// A namespace that every cluster has: with it, all of them were read.
const OF_EVERY_CLUSTER: &str = "kube-system";

/// The label that every namespace has (pkg/registry/core/namespace/strategy.go).
const NAME: &str = "kubernetes.io/metadata.name";

/// Projects whose webhooks are known here, as words of the names of their configurations.
const KNOWN: [&str; 11] = [
    "ome", "kserve", "kueue", "knative", "kthena", "volcano", "lws", "jobset", "kuberay",
    "llmisvc", "odh",
];

/// An object that is to be created: group, plural name, namespace.
type Created = BTreeSet<(EcoString, EcoString, EcoString)>;

/// Everything that may refuse some of the pods, by kind and name.
pub(super) fn found(catalog: &Catalog, claims: &[Claim], fleet: &Fleet) -> Vec<NotJudged> {
    let mut pods: BTreeMap<EcoString, usize> = BTreeMap::new();
    for (claim, workload) in claims.iter().zip(&fleet.workloads) {
        let wanted: usize = workload.replicas.iter().map(|item| item.pods.len()).sum();
        // Pods that run were admitted before; only new ones meet a policy.
        let new = wanted.saturating_sub(workload.running.len());
        if new > 0 {
            *pods.entry(namespace(claim)).or_default() += new;
        }
    }
    let mut all = unread_namespaces(catalog, &pods);
    all.extend(resized(catalog, claims, fleet));
    let mut of_group = catalog.others().iter().filter(|item| item.group() == GROUP).peekable();
    if of_group.peek().is_none() || pods.is_empty() {
        return all;
    }
    let objects: Vec<&Object> = of_group.filter(|item| !catalog.is_copy(item)).collect();
    let mut labels_of_pods: BTreeMap<EcoString, Vec<&Labels>> = BTreeMap::new();
    for (claim, workload) in claims.iter().zip(&fleet.workloads) {
        let labels = workload.templates.iter().map(|template| &template.labels);
        labels_of_pods.entry(namespace(claim)).or_default().extend(labels);
    }
    let namespaces = catalog.others().iter().filter(|item| item.id.kind == "Namespace");
    let requests = Requests {
        catalog,
        created: created(catalog, claims, &pods),
        labels_of_namespaces: namespaces
            .map(|item| (item.id.name.clone(), labels(item.metadata("labels"))))
            .collect(),
        labels_of_pods,
    };
    for object in &objects {
        let count: usize = match object.id.kind.as_str() {
            "ValidatingAdmissionPolicy" => {
                let meets =
                    |namespace: &EcoString| requests.meet_policy(object, &objects, namespace);
                pods.iter().filter(|(namespace, _)| meets(namespace)).map(|(_, count)| count).sum()
            }
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration"
                if !is_known(&object.id.name) =>
            {
                let hooks = requests.open_hooks(object);
                let meets = |namespace: &EcoString| {
                    hooks.iter().any(|hook| requests.meet_webhook(hook, namespace))
                };
                pods.iter().filter(|(namespace, _)| meets(namespace)).map(|(_, count)| count).sum()
            }
            _ => continue,
        };
        if count > 0 {
            let changes = object.id.kind == "MutatingWebhookConfiguration";
            let may = if changes { "change or refuse" } else { "refuse" };
            all.push(NotJudged {
                what: eco_format!("{} `{}`", object.id.kind, object.id.name),
                pods: Some(count),
                message: eco_format!(
                    "it may {may} these pods or their workloads; its rules are not evaluated"
                ),
            });
        }
    }
    all
}

/// The requests that admission sees: what is created, with the labels by which policies and
/// webhooks select it.
struct Requests<'a> {
    catalog: &'a Catalog,
    created: Created,
    labels_of_namespaces: BTreeMap<EcoString, Labels>,
    /// The labels of new pods, by namespace.
    labels_of_pods: BTreeMap<EcoString, Vec<&'a Labels>>,
}

impl Requests<'_> {
    fn selects(&self, selector: Option<&Node>, namespace: &EcoString) -> bool {
        // What cannot be read may select everything.
        let Ok(Some(selector)) = label_selector(selector) else { return true };
        selector.matches(|key| match key {
            NAME => Some(namespace.as_str()),
            key => self.labels_of_namespaces.get(namespace)?.get(key).map(EcoString::as_str),
        })
    }

    /// Whether a policy and one of its bindings match what is created in a namespace.
    fn meet_policy(&self, policy: &Object, objects: &[&Object], namespace: &EcoString) -> bool {
        let is_matched = policy.node.at(&["spec", "matchConstraints"]).is_some_and(|item| {
            self.selects(item.get("namespaceSelector"), namespace)
                && meets(item.items_of("resourceRules"), &self.created, namespace)
        });
        let mut bindings = objects.iter().filter(|binding| denies(binding, &policy.id.name));
        is_matched
            && bindings.any(|binding| {
                let matched = binding.node.at(&["spec", "matchResources"]);
                self.selects(matched.and_then(|item| item.get("namespaceSelector")), namespace)
            })
    }

    /// The webhooks of a configuration, without those that let pods of the input pass: a webhook that
    /// selects pods which run let such pods pass, as they are in the input.
    fn open_hooks<'h>(&self, configuration: &'h Object) -> Vec<&'h Node> {
        let hooks = configuration.node.items_of("webhooks").iter();
        hooks.filter(|hook| !is_of_pods(hook) || !self.has_run(hook)).collect()
    }

    /// Whether a webhook selects a pod that runs.
    fn has_run(&self, hook: &Node) -> bool {
        let mut live = self.catalog.others().iter().filter(|item| {
            item.id.kind == "Pod"
                && item.metadata("uid").is_some()
                && item.node.at(&["spec", "nodeName"]).is_some()
        });
        live.any(|pod| {
            let namespace = pod.id.scope.namespace().cloned().unwrap_or_default();
            self.selects(hook.get("namespaceSelector"), &namespace)
                && takes(hook, &labels(pod.metadata("labels")))
        })
    }

    fn meet_webhook(&self, hook: &Node, namespace: &EcoString) -> bool {
        let is_met = if is_of_pods(hook) {
            let all = self.labels_of_pods.get(namespace);
            all.is_some_and(|all| all.iter().any(|labels| takes(hook, labels)))
        } else {
            meets(hook.items_of("rules"), &self.created, namespace)
        };
        is_met && self.selects(hook.get("namespaceSelector"), namespace)
    }
}

/// Whether a webhook selects an object by its labels.
fn takes(hook: &Node, labels: &Labels) -> bool {
    let Ok(Some(selector)) = label_selector(hook.get("objectSelector")) else { return true };
    selector.matches(|key| labels.get(key).map(EcoString::as_str))
}

fn is_of_pods(hook: &Node) -> bool {
    hook.items_of("rules").iter().any(|rule| is_about_creation(rule, "", "pods"))
}

/// Workloads whose requests a VerticalPodAutoscaler replaces.
fn resized(catalog: &Catalog, claims: &[Claim], fleet: &Fleet) -> Vec<NotJudged> {
    let of_kind = catalog
        .others()
        .iter()
        .filter(|item| item.id.kind == "VerticalPodAutoscaler" && !catalog.is_copy(item));
    let mut found = Vec::new();
    for object in of_kind {
        let text = |keys: &[&str]| object.node.at(keys).and_then(Node::scalar_text);
        // The default is `Auto`.
        if text(&["spec", "updatePolicy", "updateMode"]).as_deref() == Some("Off") {
            continue;
        }
        let kind = text(&["spec", "targetRef", "kind"]).unwrap_or_default();
        let name = text(&["spec", "targetRef", "name"]).unwrap_or_default();
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let plain = eco_format!("{kind}/{namespace}/{name}");
        let is_target = |claim: &Claim| match claim.who {
            Who::Workload(_) => claim.service == plain,
            _ => namespace == self::namespace(claim) && claim.names.contains(&name),
        };
        let pods: usize = claims
            .iter()
            .zip(&fleet.workloads)
            .filter(|(claim, _)| is_target(claim))
            .flat_map(|(_, item)| &item.replicas)
            .map(|replica| replica.pods.len())
            .sum();
        if pods > 0 {
            found.push(NotJudged {
                what: eco_format!("VerticalPodAutoscaler `{namespace}/{}`", object.id.name),
                pods: Some(pods),
                message: "it replaces the requests of these pods when they are created".into(),
            });
        }
    }
    found
}

/// Namespaces of pods that are not among those of a cluster that was read whole.
fn unread_namespaces(catalog: &Catalog, pods: &BTreeMap<EcoString, usize>) -> Vec<NotJudged> {
    let read = catalog.others().iter().filter(|item| item.id.kind == "Namespace");
    let read: BTreeSet<&EcoString> = read.map(|item| &item.id.name).collect();
    if !read.contains(&EcoString::from(OF_EVERY_CLUSTER)) {
        return Vec::new();
    }
    let missing = pods.iter().filter(|(name, _)| !read.contains(name));
    let one = |(name, pods): (&EcoString, &usize)| NotJudged {
        what: eco_format!("Namespace `{name}`"),
        pods: Some(*pods),
        message: eco_format!(
            "it is not among the Namespaces of the input, and a server creates nothing in it before \
             `kubectl create namespace {name}`"
        ),
    };
    missing.map(one).collect()
}

/// The namespace of the pods of a claim.
fn namespace(claim: &Claim) -> EcoString {
    claim.name().split_once('/').map_or("", |(namespace, _)| namespace).into()
}

/// The objects that have to be created before the pods run, and the pods.
fn created(catalog: &Catalog, claims: &[Claim], pods: &BTreeMap<EcoString, usize>) -> Created {
    let mut all = Created::new();
    for namespace in pods.keys() {
        all.insert((EcoString::new(), "pods".into(), namespace.clone()));
    }
    let services = services(catalog);
    // An object with a uid was admitted before.
    for object in
        counted_objects(catalog, &services).filter(|object| object.metadata("uid").is_none())
    {
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let plural = resource(object.group(), &object.id.kind);
        let plural = plural.split('.').next().unwrap_or_default();
        all.insert((object.group().into(), plural.into(), namespace));
    }
    for claim in claims.iter().filter(|claim| !matches!(claim.who, Who::Workload(_))) {
        let namespace = namespace(claim);
        let mut add = |group: &str, plural: &str| {
            all.insert((group.into(), plural.into(), namespace.clone()));
        };
        add("", "services");
        add("apps", "deployments");
        let kinds = operators::operator(claim.api).map(Operator::kinds).unwrap_or_default();
        for kind in schema::kinds().iter().filter(|kind| kinds.contains(&kind.kind)) {
            let group = kind.api_version.split('/').next().unwrap_or_default();
            add(group, &resource("", kind.kind));
        }
    }
    all
}

/// Whether a binding makes the server refuse what a policy forbids.
fn denies(binding: &Object, policy: &str) -> bool {
    let spec = binding.node.get("spec");
    binding.id.kind == "ValidatingAdmissionPolicyBinding"
        && spec.and_then(|spec| spec.get("policyName")).and_then(Node::scalar_text).as_deref()
            == Some(policy)
        && spec.is_some_and(|spec| spec.texts("validationActions").any(|action| action == "Deny"))
}

/// Whether rules are about an object that is created in a namespace.
fn meets(rules: &[Node], created: &Created, namespace: &EcoString) -> bool {
    let mut of_namespace = created.iter().filter(|(.., other)| other == namespace);
    of_namespace
        .any(|(group, plural, _)| rules.iter().any(|rule| is_about_creation(rule, group, plural)))
}

/// Whether the webhooks are those of a project whose rules are applied here.
fn is_known(name: &str) -> bool {
    // Whole words: `ome` is in `homebrew`, which is no webhook of OME.
    name.split(['-', '.', '/']).any(|word| KNOWN.contains(&word))
}

#[cfg(test)]
mod tests {
    use crate::testing::{Ran, gpu_node, ome_on};

    const POD: &str = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x}]}}}\n";

    fn plan(more: &str) -> Ran {
        let text = gpu_node("n1", 8, "") + POD + more;
        ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)])
    }

    fn whats(ran: &Ran) -> Vec<String> {
        let all = ran.at("/placement/notJudged");
        let all = all.as_array().into_iter().flatten();
        all.filter_map(|entry| Some(entry["what"].as_str()?.to_owned())).collect()
    }

    fn policy(resources: &str, selector: &str, actions: &str) -> String {
        format!(
            "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: p}}\nspec:\n  matchConstraints: {{{selector}resourceRules: [{{apiGroups: [apps, ''], apiVersions: [v1], operations: [CREATE], resources: [{resources}]}}]}}\n  validations: [{{expression: 'object.spec.replicas <= 1'}}]\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: b}}\nspec: {{policyName: p, validationActions: [{actions}]}}\n"
        )
    }

    #[test]
    fn a_policy_that_may_refuse_pods_or_their_workload_is_not_judged() {
        let one = vec!["ValidatingAdmissionPolicy `p`".to_owned()];
        let here = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ml}}, ";
        let there = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}, ";
        for (resources, selector, actions, expected) in [
            ("deployments", "", "Deny", &one),
            ("pods", "", "Deny", &one),
            ("'*'", "", "Deny", &one),
            ("services", "", "Deny", &vec![]),
            ("deployments", "", "Warn", &vec![]),
            ("deployments", here, "Deny", &one),
            ("deployments", there, "Deny", &vec![]),
        ] {
            let ran = plan(&policy(resources, selector, actions));
            assert_eq!(&whats(&ran), expected, "{resources} {selector} {actions}");
            let verdict = if expected.is_empty() { "fits" } else { "unknown" };
            assert_eq!(ran.at("/placement/verdict"), verdict);
            assert_eq!(ran.code, 0);
        }
    }

    #[test]
    fn a_webhook_is_not_judged_unless_its_rules_are_known() {
        let hook = |name: &str, resources: &str| {
            format!(
                "---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {{name: {name}}}\nwebhooks:\n- name: x.example.com\n  rules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [{resources}]}}]\n"
            )
        };
        let of = |name: &str, resources: &str| whats(&plan(&hook(name, resources)));
        assert_eq!(of("injector", "pods"), ["MutatingWebhookConfiguration `injector`"]);
        assert!(of("injector", "nodes").is_empty());
        assert!(of("kueue-mutating-webhook-configuration", "pods").is_empty());
        let labeled = |label: &str| {
            hook("injector", "pods") + &format!("  objectSelector: {{matchLabels: {{{label}}}}}\n")
        };
        assert_eq!(whats(&plan(&labeled("app: a"))), ["MutatingWebhookConfiguration `injector`"]);
        assert!(whats(&plan(&labeled("inject: 'true'"))).is_empty());
        // What runs has passed it.
        let pod = |label: &str| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: kube-system, uid: u, labels: {{{label}}}}}\nspec: {{nodeName: n1, containers: [{{name: c, image: x}}]}}\n"
            )
        };
        assert!(whats(&plan(&(hook("injector", "pods") + &pod("")))).is_empty());
        assert!(whats(&plan(&(labeled("app: a") + &pod("app: a")))).is_empty());
        let other = whats(&plan(&(labeled("app: a") + &pod("app: b"))));
        assert_eq!(other, ["MutatingWebhookConfiguration `injector`"]);
    }

    #[test]
    fn a_vertical_autoscaler_replaces_requests() {
        let of = |target: &str, mode: &str| {
            let text = format!(
                "---\napiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {{name: v, namespace: ml}}\nspec: {{targetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}{mode}}}\n"
            );
            whats(&plan(&text))
        };
        let named = ["VerticalPodAutoscaler `ml/v`"];
        assert_eq!(of("a", ""), named);
        assert_eq!(of("a", ", updatePolicy: {updateMode: Initial}"), named);
        assert!(of("a", ", updatePolicy: {updateMode: 'Off'}").is_empty());
        assert!(of("b", "").is_empty());
    }

    #[test]
    fn a_namespace_that_a_whole_cluster_lacks_is_not_judged() {
        let namespace = |name: &str| {
            format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")
        };
        let cluster = namespace("kube-system");
        assert_eq!(whats(&plan(&cluster)), ["Namespace `ml`"]);
        assert!(whats(&plan(&(cluster + &namespace("ml")))).is_empty());
        // A repository has the namespaces that it makes, not all.
        assert!(whats(&plan(&namespace("other"))).is_empty());
    }

    #[test]
    fn a_namespace_that_ends_takes_no_pods() {
        let ends = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ml, deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {phase: Terminating}\n";
        let ran = plan(ends);
        assert_eq!(ran.code, 2);
        let message = ran.at("/placement/pending/0/message").to_string();
        let expected =
            "unable to create new content in namespace ml because it is being terminated";
        assert!(message.contains(expected), "{message}");
    }
}
