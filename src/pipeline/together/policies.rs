//! Policies and webhooks that may refuse or change pods when they are created, and that are not
//! evaluated: those of the API server, of Kyverno, Gatekeeper and Kubewarden.
//!
//! In: the objects of a catalog, and the namespaces in which pods are to be created. Out: a line for
//! the policies of a kind. Left out are policies that only report, those that select none of the
//! namespaces or objects, and webhooks of the operators, whose rules are applied where objects are
//! read and written. So are webhooks that let pods of the input run: these are as the webhook left
//! them.

use super::NotJudged;
use super::claims::{Claim, Who};
use super::not_judged::OfNamespaces;
use super::workloads::{counted_objects, services};
use crate::api::{Object, is_about_creation};
use crate::catalog::Catalog;
use crate::cluster::fleet::Fleet;
use crate::cluster::schedule::{Labels, label_selector, labels};
use crate::cluster::selects_namespace;
use crate::operator::Operator;
use crate::operators;
use crate::pipeline::counted_object::resource;
use crate::quantity::wildcard;
use crate::schema;
use crate::yaml::{Map, Node};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// The group of the policies and webhooks of the API server.
const OF_SERVER: &str = "admissionregistration.k8s.io";

/// The groups of projects with policies of their own.
const OF_PROJECTS: [&str; 5] = [
    "kyverno.io",
    "policies.kyverno.io",
    "constraints.gatekeeper.sh",
    "mutations.gatekeeper.sh",
    "policies.kubewarden.io",
];

/// Projects whose webhooks are known here, as words of the names of their configurations.
const KNOWN: [&str; 11] = [
    "ome", "kserve", "kueue", "knative", "kthena", "volcano", "lws", "jobset", "kuberay",
    "llmisvc", "odh",
];

/// How many policies of a kind are named.
const NAMED: usize = 3;

/// An object that is to be created: group, plural name.
type Created = BTreeSet<(EcoString, EcoString)>;

/// What a policy may do to the objects of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Power {
    changes: bool,
    refuses: bool,
}

impl Power {
    const REFUSES: Self = Self { changes: false, refuses: true };
    const CHANGES: Self = Self { changes: true, refuses: false };

    fn and(self, other: Self) -> Self {
        Self { changes: self.changes || other.changes, refuses: self.refuses || other.refuses }
    }

    fn when(self, holds: bool) -> Self {
        if holds { self } else { Self::default() }
    }

    /// The verb of its sentence; `None` when it does nothing.
    fn verb(self) -> Option<&'static str> {
        match (self.changes, self.refuses) {
            (true, true) => Some("change or refuse"),
            (true, false) => Some("change"),
            (false, true) => Some("refuse"),
            (false, false) => None,
        }
    }
}

/// Every policy that may refuse or change some of the pods, those of a kind in one line. `pods` has
/// how many are to be created in each namespace.
pub(super) fn found(
    catalog: &Catalog,
    claims: &[Claim],
    fleet: &Fleet,
    pods: &BTreeMap<EcoString, usize>,
) -> Vec<OfNamespaces> {
    let policies = of(catalog);
    if policies.is_empty() || pods.is_empty() {
        return Vec::new();
    }
    let scene = Scene::of(catalog, claims, fleet, &policies, pods);
    lines(&scene, pods)
}

/// The same of pods alone, which are created again by controllers that exist: how many in each namespace,
/// with their labels.
pub(in crate::pipeline) fn of_pods(
    catalog: &Catalog,
    pods: &BTreeMap<EcoString, Vec<&Labels>>,
) -> Vec<NotJudged> {
    let policies = of(catalog);
    if policies.is_empty() || pods.is_empty() {
        return Vec::new();
    }
    let counts = pods.iter().map(|(name, labels)| (name.clone(), labels.len())).collect();
    let pod = || Created::from([(EcoString::new(), "pods".into())]);
    let scene = Scene {
        catalog,
        policies: &policies,
        created: pods.keys().map(|name| (name.clone(), pod())).collect(),
        namespaces: namespaces(catalog),
        pod_labels: pods.clone(),
    };
    lines(&scene, &counts).into_iter().map(|(line, _)| line).collect()
}

/// The policies and webhooks of a catalog.
fn of(catalog: &Catalog) -> Vec<&Object> {
    let is_policy =
        |item: &&Object| item.group() == OF_SERVER || OF_PROJECTS.contains(&item.group());
    let all = catalog.others().iter().filter(is_policy);
    all.filter(|item| !catalog.is_copy(item)).collect()
}

/// Labels of the namespaces that were read.
fn namespaces(catalog: &Catalog) -> BTreeMap<EcoString, Map> {
    let read = catalog.others().iter().filter(|item| item.id.kind == "Namespace");
    read.map(|item| (item.id.name.clone(), item.labels())).collect()
}

/// Those that may act, one line for each kind.
fn lines(scene: &Scene<'_>, pods: &BTreeMap<EcoString, usize>) -> Vec<OfNamespaces> {
    let mut lines: BTreeMap<(&str, &str), Line<'_>> = BTreeMap::new();
    for &policy in scene.policies {
        let power = scene.power(policy);
        for namespace in pods.keys() {
            let Some(verb) = power(namespace).verb() else { continue };
            let line = lines.entry((policy.id.kind.as_str(), verb)).or_default();
            line.names.insert(&policy.id.name);
            line.namespaces.insert(namespace);
        }
    }
    let one = |((kind, verb), line): (_, Line<'_>)| {
        let found = NotJudged {
            what: eco_format!("{kind} {}", line.named()),
            pods: Some(line.namespaces.iter().filter_map(|item| pods.get(*item)).sum()),
            message: eco_format!("{} not evaluated", line.sentence(verb)),
            ..NotJudged::default()
        };
        (found, line.namespaces.into_iter().cloned().collect())
    };
    lines.into_iter().map(one).collect()
}

/// The policies of a kind that do the same.
#[derive(Default)]
struct Line<'a> {
    names: BTreeSet<&'a EcoString>,
    namespaces: BTreeSet<&'a EcoString>,
}

impl Line<'_> {
    fn named(&self) -> String {
        let first: Vec<String> =
            self.names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
        let more = self.names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        first.join(", ") + &more
    }

    fn sentence(&self, verb: &str) -> String {
        let (who, whose) = if self.names.len() == 1 { ("it", "its") } else { ("they", "their") };
        format!("{who} may {verb} these pods or their workloads; {whose} rules are")
    }
}

/// What policies are about: the objects that are to be created.
struct Scene<'a> {
    catalog: &'a Catalog,
    policies: &'a [&'a Object],
    /// What is created, by namespace.
    created: BTreeMap<EcoString, Created>,
    /// Labels of the namespaces that were read.
    namespaces: BTreeMap<EcoString, Map>,
    /// Labels of the pods, by namespace.
    pod_labels: BTreeMap<EcoString, Vec<&'a Labels>>,
}

impl<'a> Scene<'a> {
    fn of(
        catalog: &'a Catalog,
        claims: &[Claim],
        fleet: &'a Fleet,
        policies: &'a [&'a Object],
        pods: &BTreeMap<EcoString, usize>,
    ) -> Self {
        let mut pod_labels: BTreeMap<EcoString, Vec<&Labels>> = BTreeMap::new();
        for (claim, workload) in claims.iter().zip(&fleet.workloads) {
            let labels = workload.templates.iter().map(|template| &template.labels);
            pod_labels.entry(claim.namespace().into()).or_default().extend(labels);
        }
        let created = created(catalog, claims, pods);
        let namespaces = namespaces(catalog);
        Self { catalog, policies, created, namespaces, pod_labels }
    }

    /// What a policy may do in a namespace.
    fn power<'s>(&'s self, policy: &'s Object) -> Box<dyn Fn(&EcoString) -> Power + 's> {
        let kind = policy.id.kind.as_str();
        let spec = policy.node.get("spec");
        let nothing = || Box::new(|_: &EcoString| Power::default());
        let Some(spec) = spec.or_else(|| (policy.group() == OF_SERVER).then_some(&policy.node))
        else {
            return nothing();
        };
        match (policy.group(), kind) {
            (OF_SERVER, "ValidatingAdmissionPolicy") => self.bound(policy, spec, Power::REFUSES),
            (OF_SERVER, "MutatingAdmissionPolicy") => self.bound(policy, spec, Power::CHANGES),
            (OF_SERVER, "ValidatingWebhookConfiguration") if !is_known(&policy.id.name) => {
                self.webhooks(policy, Power::REFUSES)
            }
            (OF_SERVER, "MutatingWebhookConfiguration") if !is_known(&policy.id.name) => {
                self.webhooks(policy, Power::REFUSES.and(Power::CHANGES))
            }
            ("kyverno.io", "ClusterPolicy" | "Policy") => Box::new(move |namespace| {
                self.kyverno_rules(spec, namespace).when(is_of(policy, namespace))
            }),
            ("policies.kyverno.io", kind) => {
                let power = if kind.ends_with("MutatingPolicy") {
                    Power::CHANGES
                } else {
                    let is_enforced = spec.texts("validationActions").any(|item| item == "Deny");
                    let validates =
                        kind.ends_with("ValidatingPolicy") && !kind.contains("Generating");
                    Power::REFUSES.when(validates && is_enforced)
                };
                let is_off = spec.at(&["evaluation", "admission", "enabled"]);
                let is_on = is_off.and_then(Node::as_bool) != Some(false);
                Box::new(move |namespace| {
                    let is_met = is_on
                        && is_of(policy, namespace)
                        && self.constrains(spec.get("matchConstraints"), namespace);
                    power.when(is_met)
                })
            }
            ("constraints.gatekeeper.sh", _) => {
                let power = Power::REFUSES.when(gatekeeper_denies(spec));
                Box::new(move |namespace| {
                    let found = spec.get("match");
                    let kinds = found.map(|found| found.items_of("kinds")).unwrap_or_default();
                    power.when(
                        self.gatekeeper_selects(found, namespace)
                            && self.has_kind(kinds, "apiGroups", namespace),
                    )
                })
            }
            ("mutations.gatekeeper.sh", "Assign" | "ModifySet" | "AssignImage") => {
                Box::new(move |namespace| {
                    Power::CHANGES.when(
                        self.gatekeeper_selects(spec.get("match"), namespace)
                            && self.has_kind(spec.items_of("applyTo"), "groups", namespace),
                    )
                })
            }
            ("policies.kubewarden.io", kind) if kind.contains("AdmissionPolicy") => {
                let text = |key: &str| spec.get(key).and_then(Node::scalar_text);
                let changes = spec.get("mutating").and_then(Node::as_bool) == Some(true);
                let power = Power::REFUSES.and(Power::CHANGES.when(changes));
                // The default mode is `protect`.
                let power = power.when(text("mode").as_deref() != Some("monitor"));
                Box::new(move |namespace| {
                    power.when(
                        is_of(policy, namespace)
                            && self.selects(spec.get("namespaceSelector"), namespace)
                            && self.meets(spec.items_of("rules"), namespace),
                    )
                })
            }
            _ => nothing(),
        }
    }

    /// A policy of the API server, which acts where a binding says so.
    fn bound<'s>(
        &'s self,
        policy: &'s Object,
        spec: &'s Node,
        power: Power,
    ) -> Box<dyn Fn(&EcoString) -> Power + 's> {
        let is_binding = |item: &&&Object| binds(item, policy);
        let bindings: Vec<&Object> = self.policies.iter().filter(is_binding).copied().collect();
        Box::new(move |namespace| {
            let is_bound = bindings.iter().any(|binding| {
                let matched = binding.node.at(&["spec", "matchResources"]);
                self.selects(matched.and_then(|item| item.get("namespaceSelector")), namespace)
            });
            power.when(is_bound && self.constrains(spec.get("matchConstraints"), namespace))
        })
    }

    /// Webhooks of which no pod is known that they let pass.
    fn webhooks<'s>(
        &'s self,
        configuration: &'s Object,
        power: Power,
    ) -> Box<dyn Fn(&EcoString) -> Power + 's> {
        let is_of_pods = |hook: &Node| {
            hook.items_of("rules").iter().any(|rule| is_about_creation(rule, "", "pods"))
        };
        let all = configuration.node.items_of("webhooks").iter();
        let hooks: Vec<&Node> =
            all.filter(|hook| !is_of_pods(hook) || !self.let_run(hook)).collect();
        Box::new(move |namespace| {
            let is_met = |hook: &&Node| {
                let takes = if is_of_pods(hook) {
                    let labels = self.pod_labels.get(namespace);
                    labels.is_some_and(|all| all.iter().any(|labels| takes(hook, labels)))
                } else {
                    self.meets(hook.items_of("rules"), namespace)
                };
                takes && self.selects(hook.get("namespaceSelector"), namespace)
            };
            power.when(hooks.iter().any(is_met))
        })
    }

    /// Whether a pod runs that the webhook is about.
    fn let_run(&self, hook: &Node) -> bool {
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

    /// Whether a selector may select a namespace.
    fn selects(&self, selector: Option<&Node>, namespace: &EcoString) -> bool {
        // What cannot be read may select everything.
        let Some(selector) =
            selector.filter(|node| matches!(label_selector(Some(node)), Ok(Some(_))))
        else {
            return true;
        };
        let labels = self.namespaces.get(namespace).cloned();
        selects_namespace(selector, namespace, labels) != Some(false)
    }

    /// Whether the `matchConstraints` of a policy are about something that is created.
    fn constrains(&self, constraints: Option<&Node>, namespace: &EcoString) -> bool {
        constraints.is_some_and(|item| {
            self.selects(item.get("namespaceSelector"), namespace)
                && self.meets(item.items_of("resourceRules"), namespace)
        })
    }

    /// Whether rules are about an object that is created in a namespace.
    fn meets(&self, rules: &[Node], namespace: &EcoString) -> bool {
        self.created_in(namespace)
            .any(|(group, plural)| rules.iter().any(|rule| is_about_creation(rule, group, plural)))
    }

    fn created_in(&self, namespace: &EcoString) -> impl Iterator<Item = &(EcoString, EcoString)> {
        self.created.get(namespace).into_iter().flatten()
    }

    /// What the rules of a Kyverno policy may do in a namespace.
    fn kyverno_rules(&self, spec: &Node, namespace: &EcoString) -> Power {
        if spec.get("admission").and_then(Node::as_bool) == Some(false) {
            return Power::default();
        }
        let of_rule = |rule: &Node| {
            let is_enforced = |part: &Node| {
                let action = part.get("failureAction").or(spec.get("validationFailureAction"));
                let overrides = part.items_of("failureActionOverrides").iter();
                let mut overrides =
                    overrides.chain(spec.items_of("validationFailureActionOverrides"));
                // The first one that names the namespace decides there.
                let named = overrides.find(|item| {
                    item.texts("namespaces").any(|pattern| wildcard(&pattern, namespace))
                });
                let action = named.and_then(|item| item.get("action")).or(action);
                action.and_then(Node::as_str).is_some_and(|it| it.eq_ignore_ascii_case("enforce"))
            };
            let refuses = rule.get("validate").is_some_and(is_enforced)
                || rule.items_of("verifyImages").iter().any(is_enforced);
            // With `targets` it changes objects that exist.
            let changes =
                rule.get("mutate").is_some_and(|mutate| mutate.items_of("targets").is_empty());
            Power { changes, refuses }
        };
        let is_met = |rule: &&Node| {
            self.created_in(namespace).any(|object| {
                let matched = kyverno_filters(rule.get("match"), |filter| {
                    self.kyverno_matches(filter, object, namespace)
                });
                let excluded = kyverno_filters(rule.get("exclude"), |filter| {
                    is_certain(filter) && self.kyverno_matches(filter, object, namespace)
                });
                matched && !excluded
            })
        };
        let rules = spec.items_of("rules").iter().filter(is_met);
        rules.map(of_rule).fold(Power::default(), Power::and)
    }

    /// Whether a filter of Kyverno may select an object that is created.
    fn kyverno_matches(
        &self,
        filter: &Node,
        (group, plural): &(EcoString, EcoString),
        namespace: &EcoString,
    ) -> bool {
        let Some(resources) = filter.get("resources") else { return true };
        let lists = |key: &str, holds: &dyn Fn(&str) -> bool| {
            let mut entries = resources.texts(key).peekable();
            entries.peek().is_none() || entries.any(|entry| holds(&entry))
        };
        lists("kinds", &|kind| is_kyverno_kind(kind, group, plural))
            && lists("namespaces", &|pattern| wildcard(pattern, namespace))
            && lists("operations", &|operation| operation == "CREATE")
            && self.selects(resources.get("namespaceSelector"), namespace)
    }

    /// Whether a `match` of Gatekeeper selects a namespace.
    fn gatekeeper_selects(&self, found: Option<&Node>, namespace: &EcoString) -> bool {
        let Some(found) = found else { return true };
        let has = |key: &str| found.texts(key).any(|pattern| wildcard(&pattern, namespace));
        (found.items_of("namespaces").is_empty() || has("namespaces"))
            && !has("excludedNamespaces")
            && found.get("scope").and_then(Node::as_str) != Some("Cluster")
            && self.selects(found.get("namespaceSelector"), namespace)
    }

    /// Whether one of the entries, of groups and kinds, has something that is created; without any
    /// entry, all do.
    fn has_kind(&self, entries: &[Node], groups: &str, namespace: &EcoString) -> bool {
        let is_listed = |entry: &Node, key: &str, holds: &dyn Fn(&str) -> bool| {
            let mut all = entry.texts(key).peekable();
            all.peek().is_none() || all.any(|item| item == "*" || holds(&item))
        };
        entries.is_empty()
            || self.created_in(namespace).any(|(group, plural)| {
                entries.iter().any(|entry| {
                    is_listed(entry, groups, &|item| item == group)
                        && is_listed(entry, "kinds", &|kind| resource("", kind) == *plural)
                })
            })
    }
}

/// Whether a policy is of the whole cluster or of this namespace.
fn is_of(policy: &Object, namespace: &EcoString) -> bool {
    let is_of_cluster = policy.id.kind.starts_with("Cluster")
        || (policy.group() == "policies.kyverno.io" && !policy.id.kind.starts_with("Namespaced"));
    is_of_cluster || policy.id.scope.namespace().is_none_or(|item| item == namespace)
}

/// Whether the filters of `match` or `exclude` hold: any of `any`, all of `all`, or the one that
/// stands alone.
fn kyverno_filters(filters: Option<&Node>, holds: impl Fn(&Node) -> bool) -> bool {
    let Some(filters) = filters else { return false };
    if filters.get("any").is_some() {
        return filters.items_of("any").iter().any(holds);
    }
    if filters.get("all").is_some() {
        return filters.items_of("all").iter().all(holds);
    }
    filters.get("resources").is_some() && holds(filters)
}

/// Whether everything that a filter asks is known: kinds and namespaces.
fn is_certain(filter: &Node) -> bool {
    let has_only =
        |node: &Node, keys: &[&str]| node.entries().all(|entry| keys.contains(&entry.key.as_str()));
    has_only(filter, &["resources"])
        && filter.get("resources").is_some_and(|resources| {
            has_only(resources, &["kinds", "namespaces", "operations", "namespaceSelector"])
        })
}

/// Whether a kind as Kyverno spells it, `Pod`, `apps/v1/Deployment` or `*/Pod`, is that of an object.
fn is_kyverno_kind(written: &str, group: &str, plural: &str) -> bool {
    let parts: Vec<&str> = written.split('/').collect();
    let starts_small = |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase());
    let Some((kind, before)) = parts.split_last() else { return false };
    // `Pod/exec` and `Pod.status` are about parts of an object.
    if starts_small(kind) || kind.contains('.') {
        return false;
    }
    let is_group = match before {
        [named, _] => *named == "*" || *named == group,
        ["*"] | [] => true,
        // A version alone is of the core.
        _ => group.is_empty(),
    };
    // Wildcards are of kinds, which plural names begin with.
    let is_kind = if kind.contains(['*', '?']) {
        wildcard(&format!("{}*", kind.to_lowercase()), plural)
    } else {
        resource("", kind) == plural
    };
    is_group && is_kind
}

/// Whether a constraint of Gatekeeper refuses, which is its default.
fn gatekeeper_denies(spec: &Node) -> bool {
    match spec.get("enforcementAction").and_then(Node::as_str) {
        None | Some("deny") => true,
        Some("scoped") => spec
            .items_of("scopedEnforcementActions")
            .iter()
            .any(|item| item.get("action").and_then(Node::as_str) == Some("deny")),
        Some(_) => false,
    }
}

/// Whether a webhook takes pods with these labels.
fn takes(hook: &Node, labels: &Labels) -> bool {
    let Ok(Some(selector)) = label_selector(hook.get("objectSelector")) else { return true };
    selector.matches(|key| labels.get(key).map(EcoString::as_str))
}

/// The objects that have to be created before the pods run, and the pods, by namespace.
fn created(
    catalog: &Catalog,
    claims: &[Claim],
    pods: &BTreeMap<EcoString, usize>,
) -> BTreeMap<EcoString, Created> {
    let mut all: BTreeMap<EcoString, Created> = BTreeMap::new();
    for namespace in pods.keys() {
        all.entry(namespace.clone()).or_default().insert((EcoString::new(), "pods".into()));
    }
    let services = services(catalog);
    // An object with a uid was admitted before.
    for object in
        counted_objects(catalog, &services).filter(|object| object.metadata("uid").is_none())
    {
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let plural = resource(object.group(), &object.id.kind);
        let plural = plural.split('.').next().unwrap_or_default();
        all.entry(namespace).or_default().insert((object.group().into(), plural.into()));
    }
    for claim in claims.iter().filter(|claim| !matches!(claim.who, Who::Workload(_))) {
        let here = all.entry(claim.namespace().into()).or_default();
        let mut add = |group: &str, plural: &str| {
            here.insert((group.into(), plural.into()));
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

/// Whether a binding makes a policy of the API server act.
fn binds(binding: &Object, policy: &Object) -> bool {
    let spec = binding.node.get("spec");
    let text = |key: &str| spec.and_then(|spec| spec.get(key)).and_then(Node::scalar_text);
    let validates = binding.id.kind == "ValidatingAdmissionPolicyBinding";
    let denies =
        || spec.is_some_and(|spec| spec.texts("validationActions").any(|action| action == "Deny"));
    binding.id.kind.strip_suffix("Binding") == Some(policy.id.kind.as_str())
        && text("policyName").as_ref() == Some(&policy.id.name)
        && (!validates || denies())
}

/// Whether the webhooks are those of a project whose rules are applied here.
fn is_known(name: &str) -> bool {
    // Whole words: `ome` is in `homebrew`, which is no webhook of OME.
    name.split(['-', '.', '/']).any(|word| KNOWN.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::is_kyverno_kind;
    use crate::quantity::wildcard;
    use crate::testing::{gpu_node, ome_on};

    const WORKLOAD: &str = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x}]}}}\n";

    /// What is not judged beside a Deployment of two pods, each as its name and its sentence's verb.
    fn not_judged(policies: &[&str]) -> Vec<String> {
        let text = gpu_node("n1", 8, "") + WORKLOAD + "---\n" + &policies.join("\n---\n");
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        let all = ran.at("/placement/notJudged");
        let verdict = if all.as_array().is_none_or(Vec::is_empty) { "fits" } else { "unknown" };
        assert_eq!(ran.at("/placement/verdict"), verdict, "{text}");
        let one = |entry: &serde_json::Value| {
            assert_eq!(entry["pods"], 2);
            let message = entry["message"].as_str()?;
            let verb = message.split(" may ").nth(1)?.split(" these").next()?;
            Some(format!("{} {verb}", entry["what"].as_str()?))
        };
        all.as_array().into_iter().flatten().filter_map(one).collect()
    }

    #[test]
    fn policies_of_kyverno_that_only_report_change_nothing() {
        let of = |spec: &str, rule: &str| {
            let text = format!(
                "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {{name: p}}\nspec: {{{spec}rules: [{{name: r, {rule}}}]}}"
            );
            not_judged(&[&text])
        };
        let enforced = "validationFailureAction: Enforce, ";
        let pods = "match: {any: [{resources: {kinds: [Pod]}}]}, ";
        let check = "validate: {message: no, pattern: {spec: {}}}";
        let refuses = ["ClusterPolicy `p` refuse"];
        assert_eq!(of(enforced, &format!("{pods}{check}")), refuses);
        let by_rule = "validate: {failureAction: Enforce, pattern: {spec: {}}}";
        assert_eq!(of("", &format!("{pods}{by_rule}")), refuses);
        assert_eq!(of("", &format!("{pods}mutate: {{}}")), ["ClusterPolicy `p` change"]);
        let here = "match: {resources: {kinds: [apps/v1/Deployment], namespaces: ['m*']}}, ";
        assert_eq!(of(enforced, &format!("{here}{check}")), refuses);
        // An exclusion by name may not hold; one by namespace does.
        let named = "exclude: {any: [{resources: {names: [b]}}]}, ";
        assert_eq!(of(enforced, &format!("{pods}{named}{check}")), refuses);
        for (spec, rule) in [
            ("", format!("{pods}{check}")),
            ("validationFailureAction: Audit, ", format!("{pods}{check}")),
            ("admission: false, validationFailureAction: Enforce, ", format!("{pods}{check}")),
            (
                "validationFailureAction: Enforce, validationFailureActionOverrides: [{action: Audit, namespaces: [ml]}], ",
                format!("{pods}{check}"),
            ),
            (enforced, format!("match: {{any: [{{resources: {{kinds: [Ingress]}}}}]}}, {check}")),
            (
                enforced,
                format!(
                    "match: {{any: [{{resources: {{kinds: [Pod], namespaces: [x]}}}}]}}, {check}"
                ),
            ),
            (
                enforced,
                format!("{pods}exclude: {{any: [{{resources: {{namespaces: [ml]}}}}]}}, {check}"),
            ),
            (enforced, format!("{pods}generate: {{kind: NetworkPolicy}}")),
            (enforced, format!("{pods}mutate: {{targets: [{{kind: Secret, name: s}}]}}")),
        ] {
            assert!(of(spec, &rule).is_empty(), "{spec} {rule}");
        }
    }

    #[test]
    fn a_namespaced_policy_is_of_its_namespace() {
        let of = |namespace: &str| {
            let text = format!(
                "apiVersion: kyverno.io/v1\nkind: Policy\nmetadata: {{name: p, namespace: {namespace}}}\nspec: {{validationFailureAction: Enforce, rules: [{{name: r, match: {{any: [{{resources: {{kinds: ['*']}}}}]}}, validate: {{deny: {{}}}}}}]}}"
            );
            not_judged(&[&text])
        };
        assert_eq!(of("ml"), ["Policy `p` refuse"]);
        assert!(of("other").is_empty());
    }

    #[test]
    fn policies_with_rules_of_resources_are_about_what_is_created() {
        let of = |kind: &str, more: &str, resources: &str| {
            let text = format!(
                "apiVersion: policies.kyverno.io/v1\nkind: {kind}\nmetadata: {{name: p}}\nspec: {{{more}matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [{resources}]}}]}}}}"
            );
            not_judged(&[&text])
        };
        let denies = "validationActions: [Deny], ";
        assert_eq!(of("ValidatingPolicy", denies, "pods"), ["ValidatingPolicy `p` refuse"]);
        assert_eq!(of("MutatingPolicy", "", "pods"), ["MutatingPolicy `p` change"]);
        for (kind, more, resources) in [
            ("ValidatingPolicy", "validationActions: [Audit], ", "pods"),
            ("ValidatingPolicy", denies, "secrets"),
            (
                "ValidatingPolicy",
                "evaluation: {admission: {enabled: false}}, validationActions: [Deny], ",
                "pods",
            ),
            ("GeneratingPolicy", denies, "pods"),
        ] {
            assert!(of(kind, more, resources).is_empty(), "{kind} {more} {resources}");
        }
        let of_server = |bound: &str| {
            let text = format!(
                "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingAdmissionPolicy\nmetadata: {{name: p}}\nspec: {{matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]}}}}\n---\napiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingAdmissionPolicyBinding\nmetadata: {{name: b}}\nspec: {{policyName: {bound}}}"
            );
            not_judged(&[&text])
        };
        assert_eq!(of_server("p"), ["MutatingAdmissionPolicy `p` change"]);
        assert!(of_server("other").is_empty());
    }

    #[test]
    fn constraints_of_gatekeeper_deny_unless_they_say_otherwise() {
        let of = |spec: &str| {
            let text = format!(
                "apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: K8sRequiredLabels\nmetadata: {{name: p}}\nspec: {{{spec}}}"
            );
            not_judged(&[&text])
        };
        let pods = "match: {kinds: [{apiGroups: [''], kinds: [Pod]}]}";
        let refuses = ["K8sRequiredLabels `p` refuse"];
        assert_eq!(of(pods), refuses);
        assert_eq!(of("match: {kinds: [{apiGroups: ['*'], kinds: ['*']}]}"), refuses);
        assert_eq!(of("parameters: {}"), refuses);
        for spec in [
            "enforcementAction: dryrun, match: {}",
            "enforcementAction: warn",
            "match: {kinds: [{apiGroups: [''], kinds: [Namespace]}]}",
            "match: {excludedNamespaces: ['m*']}",
            "match: {namespaces: [other]}",
        ] {
            assert!(of(spec).is_empty(), "{spec}");
        }
        let assign = "apiVersion: mutations.gatekeeper.sh/v1\nkind: Assign\nmetadata: {name: p}\nspec: {applyTo: [{groups: [''], versions: [v1], kinds: [Pod]}], location: spec.nodeSelector}";
        assert_eq!(not_judged(&[assign]), ["Assign `p` change"]);
        let of_cluster = "apiVersion: policies.kubewarden.io/v1\nkind: ClusterAdmissionPolicy\nmetadata: {name: p}\nspec: {mutating: true, rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}";
        assert_eq!(not_judged(&[of_cluster]), ["ClusterAdmissionPolicy `p` change or refuse"]);
        assert!(not_judged(&[&of_cluster.replace("mutating: true", "mode: monitor")]).is_empty());
    }

    #[test]
    fn a_namespace_that_was_not_read_may_have_the_labels_of_a_selector() {
        let constraint = "apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: K8sImages\nmetadata: {name: p}\nspec: {match: {namespaceSelector: {matchLabels: {team: x}}}}";
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}";
        assert_eq!(not_judged(&[constraint]), ["K8sImages `p` refuse"]);
        assert!(not_judged(&[constraint, namespace]).is_empty());
        let by_name = constraint.replace("team: x", "kubernetes.io/metadata.name: other");
        assert!(not_judged(&[&by_name]).is_empty());
    }

    #[test]
    fn policies_of_a_kind_are_one_line() {
        let constraint = |name: &str| {
            format!(
                "apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: K8sImages\nmetadata: {{name: {name}}}\nspec: {{}}"
            )
        };
        let all = ["a", "b", "c", "d", "e"].map(constraint);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        assert_eq!(not_judged(&all), ["K8sImages `a`, `b`, `c` and 2 more refuse"]);
        assert_eq!(not_judged(&all[..2]), ["K8sImages `a`, `b` refuse"]);
    }

    #[test]
    fn kinds_and_wildcards_are_read_as_kyverno_spells_them() {
        for (written, group, plural, expected) in [
            ("Pod", "", "pods", true),
            ("v1/Pod", "", "pods", true),
            ("*/Pod", "", "pods", true),
            ("apps/v1/Deployment", "apps", "deployments", true),
            ("apps/*/Deployment", "apps", "deployments", true),
            ("*", "apps", "deployments", true),
            ("Deploy*", "apps", "deployments", true),
            ("batch/v1/Deployment", "apps", "deployments", false),
            ("Pod/exec", "", "pods", false),
            ("Pod.status", "", "pods", false),
            ("Service", "", "pods", false),
        ] {
            assert_eq!(is_kyverno_kind(written, group, plural), expected, "{written}");
        }
        for (pattern, name, expected) in
            [("ml*", "ml-a", true), ("*-a", "ml-a", true), ("m?", "ml", true), ("m", "ml", false)]
        {
            assert_eq!(wildcard(pattern, name), expected, "{pattern}");
        }
    }
}
