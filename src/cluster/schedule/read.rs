//! Pods, from trees.
//!
//! A pod is read as the API server stores it: a limit without a request is the request, ports of a
//! pod on the host's network are ports of the host, nodes that fail are tolerated for a while.

use super::devices::objects::claims_of;
use super::kubelet::Kubelet;
use super::pod::{
    HostPort, Labels, Namespaces, NodeTerm, PodSpec, PodTemplate, PodTerm, SpreadConstraint,
    selector_of,
};
use super::requests;
use super::selectors::{label_selector, node_term};
use super::storage::objects::volumes_of;
use crate::cluster::Toleration;
use crate::cluster::admission::{Admission, Admitted, priority};
use crate::cluster::schedule::fields::{InvalidPod, invalid, items, text};
use crate::quantity::{Requirement, Selector, SelectorOperator};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

impl PodTemplate {
    /// Reads a `v1.PodSpec` whose pods have these labels, as admission leaves it. Pods that
    /// admission refuses have a template: only creating them fails.
    ///
    /// A pod without a priority has that of its class, or of the default class.
    ///
    /// # Errors
    /// The first field that the API server would reject.
    pub fn read(
        namespace: impl Into<EcoString>,
        labels: Labels,
        spec: &Node,
        admission: &Admission,
    ) -> Result<Self, InvalidPod> {
        let namespace = namespace.into();
        let Admitted { spec, refused, usage } = admission.admit(&namespace, spec);
        let spec = &*spec;
        let class = text(spec.get("priorityClassName"));
        let (mut priority, mut never_preempts) =
            admission.priorities.of(&class).unwrap_or_default();
        if let Some(value) = spec.get("priority").and_then(Node::as_int) {
            priority = priority::clamp(value);
        }
        match text(spec.get("preemptionPolicy")).as_str() {
            "Never" => never_preempts = true,
            "" => {}
            _ => never_preempts = false,
        }
        let (requests, [scored, held]) = requests::of(spec)?;
        let (tolerations, brief) = tolerations(spec);
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
        let spec = PodSpec {
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
            tolerations,
            brief,
            assumed: Vec::new(),
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
            volumes: volumes_of(spec, &namespace, admission),
            claims: claims_of(spec),
            refused,
            refusal_unjudged: None,
            open: None,
            usage,
            node: Some(text(spec.get("nodeName"))).filter(|name| !name.is_empty()),
            scheduler: text(spec.get("schedulerName")),
            priority,
            never_preempts,
            gated: !items(spec, "schedulingGates").is_empty(),
            foreign: !matches!(text(spec.get("schedulerName")).as_str(), "" | "default-scheduler"),
            host_network: is_on_host_network(spec),
            kubelet: Kubelet::read(spec),
        };
        Ok(Self { name: EcoString::new(), namespace, labels, owner: None, spec: Arc::new(spec) })
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

fn is_on_host_network(spec: &Node) -> bool {
    spec.get("hostNetwork").and_then(Node::as_bool) == Some(true)
}

fn restarts(container: &Node) -> bool {
    text(container.get("restartPolicy")) == "Always"
}

fn ports(spec: &Node) -> Vec<HostPort> {
    let host = is_on_host_network(spec);
    let sidecars = items(spec, "initContainers").iter().filter(|container| restarts(container));
    let containers = items(spec, "containers").iter().chain(sidecars);
    let ports = containers.flat_map(|container| items(container, "ports")).filter_map(|port| {
        let host_port = port.get("hostPort").and_then(Node::as_int).filter(|port| *port > 0);
        let shared = || port.get("containerPort").and_then(Node::as_int).filter(|_| host);
        let or = |value: EcoString, default: &str| {
            if value.is_empty() { default.into() } else { value }
        };
        Some(HostPort {
            protocol: or(text(port.get("protocol")), "TCP"),
            ip: or(text(port.get("hostIP")), "0.0.0.0"),
            port: host_port.or_else(shared)?,
        })
    });
    ports.collect()
}

/// The taints of nodes that fail, which every pod tolerates for a while.
const OF_FAILURE: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
/// For how long (`defaultNotReadyTolerationSeconds`).
const DEFAULT_SECONDS: i64 = 300;

/// Tolerations with those that admission adds to every pod (DefaultTolerationSeconds), and those of them
/// that end, with their seconds.
fn tolerations(spec: &Node) -> (Vec<Toleration>, Vec<(Toleration, i64)>) {
    let stated = items(spec, "tolerations");
    let mut list: Vec<Toleration> = stated.iter().map(Toleration::of).collect();
    let seconds = |one: &Node| one.get("tolerationSeconds").and_then(Node::as_int);
    // Of equal ones the first decides.
    let is_first = |at: &usize| !list[..*at].contains(&list[*at]);
    let first = (0..list.len()).filter(is_first);
    let mut brief: Vec<(Toleration, i64)> =
        first.filter_map(|at| Some((list[at].clone(), seconds(&stated[at])?))).collect();
    let effect = "NoExecute";
    for key in OF_FAILURE {
        let stated = list.iter().any(|toleration| {
            (toleration.key == key || toleration.key.is_empty())
                && (toleration.effect == effect || toleration.effect.is_empty())
        });
        if !stated {
            let added = Toleration {
                key: key.into(),
                exists: true,
                value: EcoString::new(),
                effect: effect.into(),
            };
            brief.push((added.clone(), DEFAULT_SECONDS));
            list.push(added);
        }
    }
    (list, brief)
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

fn pod_term(node: &Node, namespace: &EcoString, labels: &Labels) -> Result<PodTerm, InvalidPod> {
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
        selector: with_keys(label_selector(node.get("labelSelector"))?, node, labels)?,
        topology_key: text(node.get("topologyKey")),
    })
}

fn constraint(node: &Node, labels: &Labels) -> Result<SpreadConstraint, InvalidPod> {
    let policy = |key: &str, default: &str| {
        let stated = text(node.get(key));
        if stated.is_empty() { default == "Honor" } else { stated == "Honor" }
    };
    Ok(SpreadConstraint {
        max_skew: node.get("maxSkew").and_then(Node::as_int).unwrap_or(1),
        topology_key: text(node.get("topologyKey")),
        hard: text(node.get("whenUnsatisfiable")) != "ScheduleAnyway",
        selector: with_keys(label_selector(node.get("labelSelector"))?, node, labels)?,
        min_domains: node.get("minDomains").and_then(Node::as_int).unwrap_or(1),
        honors_affinity: policy("nodeAffinityPolicy", "Honor"),
        honors_taints: policy("nodeTaintsPolicy", "Ignore"),
    })
}
