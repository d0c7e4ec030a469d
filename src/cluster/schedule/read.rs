//! Pods, classes of priority and disruption budgets, from trees.
//!
//! A pod is read as the API server stores it: a limit without a request is the request, ports of a
//! pod on the host's network are ports of the host, nodes that fail are tolerated for a while.

use super::pod::{
    HostPort, Labels, Namespaces, NodeTerm, PodSpec, PodTemplate, PodTerm, SpreadConstraint,
    selector_of,
};
use super::requests;
use crate::cluster::Toleration;
use crate::cluster::schedule::fields::{InvalidPod, invalid, items, text};
use crate::quantity::{Requirement, Selector, SelectorOperator};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The PriorityClasses of the input.
#[derive(Clone, Debug, Default)]
pub struct PriorityClasses {
    classes: BTreeMap<EcoString, (i32, bool)>,
    default: Option<EcoString>,
    /// A class outside the input may exist: its pods have priority 0.
    lenient: bool,
}

impl PriorityClasses {
    /// An incomplete set: pods of a class that was not added have priority 0.
    pub fn partial() -> Self {
        Self { lenient: true, ..Self::default() }
    }

    /// Adds a `scheduling.k8s.io/v1` PriorityClass.
    pub fn add(&mut self, class: &Node) {
        let name = text(class.at(&["metadata", "name"]));
        let value = class.get("value").and_then(Node::as_int).unwrap_or(0);
        let never = text(class.get("preemptionPolicy")) == "Never";
        if class.get("globalDefault").and_then(Node::as_bool) == Some(true) {
            // Of several the lowest is taken (plugin/pkg/admission/priority).
            let lower = |known: &EcoString| {
                self.classes.get(known).is_none_or(|(known, _)| i64::from(*known) > value)
            };
            if self.default.as_ref().is_none_or(lower) {
                self.default = Some(name.clone());
            }
        }
        self.classes.insert(name, (clamp(value), never));
    }

    /// Value and `preemptionPolicy: Never` of the class that a pod names, or of the default class.
    fn of(&self, name: &str) -> Option<(i32, bool)> {
        match name {
            "" => Some(
                self.default
                    .as_ref()
                    .and_then(|name| self.classes.get(name))
                    .copied()
                    .unwrap_or((0, false)),
            ),
            // Every cluster has these two (pkg/apis/scheduling/v1/helpers.go).
            "system-node-critical" => Some((2_000_001_000, false)),
            "system-cluster-critical" => Some((2_000_000_000, false)),
            name => self.classes.get(name).copied().or(self.lenient.then_some((0, false))),
        }
    }
}

fn clamp(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX })
}

/// Labels of a mapping; unquoted numbers are their digits.
pub fn labels(map: Option<&Node>) -> Labels {
    map.map(Node::entries)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry.key.clone(), entry.node.scalar_text()?)))
        .collect()
}

impl PodTemplate {
    /// Reads a `v1.PodSpec` whose pods have these labels.
    ///
    /// A pod without a priority has that of its class, or of the default class.
    ///
    /// # Errors
    /// The first field that the API server would reject.
    pub fn read(
        namespace: impl Into<EcoString>,
        labels: Labels,
        spec: &Node,
        classes: &PriorityClasses,
    ) -> Result<Self, InvalidPod> {
        let namespace = namespace.into();
        let class = text(spec.get("priorityClassName"));
        let (mut priority, mut never_preempts) = classes.of(&class).ok_or_else(|| {
            invalid("priorityClassName", format!("no PriorityClass with name {class} was found"))
        })?;
        if let Some(value) = spec.get("priority").and_then(Node::as_int) {
            priority = clamp(value);
        }
        match text(spec.get("preemptionPolicy")).as_str() {
            "Never" => never_preempts = true,
            "" => {}
            _ => never_preempts = false,
        }
        let (requests, [scored, held]) = requests::of(spec)?;
        let affinity = |kind: &str, how: &str| {
            spec.at(&["affinity", kind, how]).map(Node::items).unwrap_or_default()
        };
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        let term = |node: &Node| pod_term(node, &namespace, &labels);
        let mut preferred_pods = Vec::new();
        for (kind, sign) in [("podAffinity", 1), ("podAntiAffinity", -1)] {
            for node in affinity(kind, preferred) {
                let weight = node.get("weight").and_then(Node::as_int).unwrap_or(0);
                let Some(inner) = node.get("podAffinityTerm") else { continue };
                preferred_pods.push((sign * weight, term(inner)?));
            }
        }
        let own = PodSpec {
            requests,
            scored,
            held,
            ports: ports(spec),
            node_selector: node_selector(spec)?,
            node_terms: spec
                .at(&["affinity", "nodeAffinity", required])
                .map(|list| items(list, "nodeSelectorTerms").iter().map(node_term).collect())
                .transpose()?,
            preferred_nodes: affinity("nodeAffinity", preferred)
                .iter()
                .map(|node| {
                    let weight = node.get("weight").and_then(Node::as_int).unwrap_or(0);
                    let inner =
                        node.get("preference").map_or_else(|| Ok(NodeTerm::default()), node_term);
                    Ok((weight, inner?))
                })
                .collect::<Result<_, InvalidPod>>()?,
            tolerations: tolerations(spec),
            affinity: affinity("podAffinity", required)
                .iter()
                .map(term)
                .collect::<Result<_, _>>()?,
            anti_affinity: affinity("podAntiAffinity", required)
                .iter()
                .map(term)
                .collect::<Result<_, _>>()?,
            preferred_pods,
            spread: items(spec, "topologySpreadConstraints")
                .iter()
                .map(|node| constraint(node, &labels))
                .collect::<Result<_, _>>()?,
            images: ["initContainers", "containers"]
                .iter()
                .flat_map(|key| items(spec, key))
                .map(|container| normalized_image(&text(container.get("image"))))
                .collect(),
            claims: claims(spec),
            priority,
            never_preempts,
            gated: !items(spec, "schedulingGates").is_empty(),
            foreign: !matches!(text(spec.get("schedulerName")).as_str(), "" | "default-scheduler"),
        };
        Ok(Self { namespace, labels, owner: None, spec: Arc::new(own) })
    }
}

fn node_selector(spec: &Node) -> Result<Selector, InvalidPod> {
    let pairs: Vec<(&str, EcoString)> = spec
        .get("nodeSelector")
        .map(Node::entries)
        .into_iter()
        .flatten()
        .map(|entry| (entry.key.as_str(), text(Some(&entry.node))))
        .collect();
    selector_of(pairs.iter().map(|(key, value)| (*key, value.as_str())))
        .map_err(|error| invalid("nodeSelector", error))
}

/// The name of an image in the status of a node (`normalizedImageName`).
fn normalized_image(name: &str) -> EcoString {
    let tag = name.rfind(':');
    let path = name.rfind('/');
    if tag.is_none() || tag < path { eco_format!("{name}:latest") } else { name.into() }
}

fn claims(spec: &Node) -> Vec<EcoString> {
    let named = items(spec, "volumes")
        .iter()
        .filter_map(|volume| volume.at(&["persistentVolumeClaim", "claimName"]));
    named.filter_map(Node::scalar_text).collect()
}

fn restarts(container: &Node) -> bool {
    text(container.get("restartPolicy")) == "Always"
}

fn ports(spec: &Node) -> Vec<HostPort> {
    let host = spec.get("hostNetwork").and_then(Node::as_bool) == Some(true);
    let sidecars = items(spec, "initContainers").iter().filter(|container| restarts(container));
    let containers = items(spec, "containers").iter().chain(sidecars);
    let ports = containers.flat_map(|container| items(container, "ports")).filter_map(|port| {
        let own = port.get("hostPort").and_then(Node::as_int).filter(|port| *port > 0);
        let shared = || port.get("containerPort").and_then(Node::as_int).filter(|_| host);
        let or = |value: EcoString, default: &str| {
            if value.is_empty() { default.into() } else { value }
        };
        Some(HostPort {
            protocol: or(text(port.get("protocol")), "TCP"),
            ip: or(text(port.get("hostIP")), "0.0.0.0"),
            port: own.or_else(shared)?,
        })
    });
    ports.collect()
}

/// Tolerations with those that admission adds to every pod (DefaultTolerationSeconds).
fn tolerations(spec: &Node) -> Vec<Toleration> {
    let mut list: Vec<Toleration> = items(spec, "tolerations").iter().map(Toleration::of).collect();
    let effect = "NoExecute";
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let stated = list.iter().any(|known| {
            (known.key == key || known.key.is_empty())
                && (known.effect == effect || known.effect.is_empty())
        });
        if !stated {
            list.push(Toleration {
                key: key.into(),
                exists: true,
                value: EcoString::new(),
                effect: effect.into(),
            });
        }
    }
    list
}

fn values(expression: &Node) -> impl Iterator<Item = EcoString> {
    items(expression, "values").iter().filter_map(Node::scalar_text)
}

fn requirement(expression: &Node, numbers: bool) -> Result<Requirement, InvalidPod> {
    let operator = match text(expression.get("operator")).as_str() {
        "In" => SelectorOperator::In,
        "NotIn" => SelectorOperator::NotIn,
        "Exists" => SelectorOperator::Exists,
        "DoesNotExist" => SelectorOperator::DoesNotExist,
        "Gt" if numbers => SelectorOperator::GreaterThan,
        "Lt" if numbers => SelectorOperator::LessThan,
        other => {
            return Err(invalid(
                "matchExpressions",
                format!("\"{other}\" is not a valid operator"),
            ));
        }
    };
    Requirement::new(text(expression.get("key")), operator, values(expression))
        .map_err(|error| invalid("matchExpressions", error))
}

fn node_term(node: &Node) -> Result<NodeTerm, InvalidPod> {
    let labels = items(node, "matchExpressions").iter().map(|one| requirement(one, true));
    let mut names = Vec::new();
    for field in items(node, "matchFields") {
        let wanted: Vec<EcoString> = values(field).collect();
        match (text(field.get("key")).as_str(), text(field.get("operator")).as_str(), &*wanted) {
            ("metadata.name", "In", [name]) => names.push((true, name.clone())),
            ("metadata.name", "NotIn", [name]) => names.push((false, name.clone())),
            _ => {
                return Err(invalid(
                    "matchFields",
                    "only metadata.name In or NotIn [NAME] is known",
                ));
            }
        }
    }
    Ok(NodeTerm { labels: Selector::new(labels.collect::<Result<Vec<_>, _>>()?), names })
}

/// Reads a `metav1.LabelSelector`; an absent one selects nothing, an empty one everything.
///
/// # Errors
/// The first field that the API server would reject.
pub fn label_selector(node: Option<&Node>) -> Result<Option<Selector>, InvalidPod> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(None) };
    let equal = selector_of(
        labels(node.get("matchLabels")).iter().map(|(key, value)| (key.as_str(), value.as_str())),
    )
    .map_err(|error| invalid("matchLabels", error))?;
    let mut all = equal.requirements().to_vec();
    for expression in items(node, "matchExpressions") {
        all.push(requirement(expression, false)?);
    }
    Ok(Some(Selector::new(all)))
}

/// Adds the requirements of `matchLabelKeys` and `mismatchLabelKeys` for a pod with these labels.
fn with_keys(
    selector: Option<Selector>,
    node: &Node,
    labels: &Labels,
) -> Result<Option<Selector>, InvalidPod> {
    let Some(selector) = selector else { return Ok(None) };
    let mut all = selector.requirements().to_vec();
    let kinds =
        [("matchLabelKeys", SelectorOperator::In), ("mismatchLabelKeys", SelectorOperator::NotIn)];
    for (field, operator) in kinds {
        for key in items(node, field).iter().filter_map(Node::scalar_text) {
            if let Some(value) = labels.get(&key) {
                let one = Requirement::new(key, operator, [value.clone()]);
                all.push(one.map_err(|error| invalid(field, error))?);
            }
        }
    }
    Ok(Some(Selector::new(all)))
}

fn pod_term(node: &Node, namespace: &EcoString, own: &Labels) -> Result<PodTerm, InvalidPod> {
    let mut names: Vec<EcoString> =
        items(node, "namespaces").iter().filter_map(Node::scalar_text).collect();
    let selector = label_selector(node.get("namespaceSelector"))?;
    if names.is_empty() && selector.is_none() {
        names.push(namespace.clone());
    }
    names.sort_unstable();
    names.dedup();
    Ok(PodTerm {
        namespaces: Namespaces { names, selector },
        selector: with_keys(label_selector(node.get("labelSelector"))?, node, own)?,
        topology_key: text(node.get("topologyKey")),
    })
}

fn constraint(node: &Node, own: &Labels) -> Result<SpreadConstraint, InvalidPod> {
    let policy = |key: &str, default: &str| {
        let stated = text(node.get(key));
        if stated.is_empty() { default == "Honor" } else { stated == "Honor" }
    };
    Ok(SpreadConstraint {
        max_skew: node.get("maxSkew").and_then(Node::as_int).unwrap_or(1),
        topology_key: text(node.get("topologyKey")),
        hard: text(node.get("whenUnsatisfiable")) != "ScheduleAnyway",
        selector: with_keys(label_selector(node.get("labelSelector"))?, node, own)?,
        min_domains: node.get("minDomains").and_then(Node::as_int).unwrap_or(1),
        honors_affinity: policy("nodeAffinityPolicy", "Honor"),
        honors_taints: policy("nodeTaintsPolicy", "Ignore"),
    })
}
