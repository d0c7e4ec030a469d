//! LimitRanges (plugin/pkg/admission/limitranger): amounts that are filled in, and pods and claims
//! that are too small or too large.

use super::resources::{Amounts, Resources, amounts, containers, total};
use super::{name_of, namespace_of, text};
use crate::quantity::Quantity;
use crate::yaml::{Node, Value};
use ecow::{EcoString, eco_format};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One item of a LimitRange.
#[derive(Clone, Debug, Default)]
struct Item {
    /// `Container`, `Pod` or `PersistentVolumeClaim`.
    kind: EcoString,
    min: Amounts,
    max: Amounts,
    ratio: Amounts,
    /// Limits and requests that a container gets.
    limits: Amounts,
    requests: Amounts,
}

impl Item {
    /// Reads an item with the defaults of the API (`SetDefaults_LimitRangeItem`): of containers the
    /// greatest limit is the default limit, the default limit the default request, the least
    /// request the last resort.
    fn read(item: &Node) -> Self {
        let of = |key: &str| amounts(item.get(key));
        let mut limit = Self {
            kind: text(item.get("type")),
            min: of("min"),
            max: of("max"),
            ratio: of("maxLimitRequestRatio"),
            limits: of("default"),
            requests: of("defaultRequest"),
        };
        if limit.kind == "Container" {
            let fill = |into: &mut Amounts, from: &Amounts| {
                for (name, amount) in from {
                    into.entry(name.clone()).or_insert_with(|| amount.clone());
                }
            };
            // In this order, as upstream: what one line fills in is the default of the next.
            fill(&mut limit.limits, &limit.max);
            fill(&mut limit.requests, &limit.limits);
            fill(&mut limit.requests, &limit.min);
        }
        limit
    }

    /// What of some amounts breaks it, in the server's words.
    fn broken(&self, requests: &Amounts, limits: &Amounts) -> Vec<EcoString> {
        let kind = &self.kind;
        let mut broken = Vec::new();
        for (name, least) in &self.min {
            let head = eco_format!("minimum {name} usage per {kind} is {}", least.canonical());
            // A request that is in range hides a limit that is not; the server reports one
            // sentence for each bound.
            match (requests.get(name), limits.get(name)) {
                (None, _) => broken.push(eco_format!("{head}.  No request is specified")),
                (Some(quantity), _) if quantity < least => {
                    broken.push(eco_format!("{head}, but request is {}", quantity.canonical()));
                }
                (_, Some(quantity)) if quantity < least => {
                    broken.push(eco_format!("{head}, but limit is {}", quantity.canonical()));
                }
                _ => {}
            }
        }
        for (name, most) in &self.max {
            let head = eco_format!("maximum {name} usage per {kind} is {}", most.canonical());
            match (limits.get(name), requests.get(name)) {
                (None, _) => broken.push(eco_format!("{head}.  No limit is specified")),
                (Some(quantity), _) if quantity > most => {
                    broken.push(eco_format!("{head}, but limit is {}", quantity.canonical()));
                }
                (_, Some(quantity)) if quantity > most => {
                    broken.push(eco_format!("{head}, but request is {}", quantity.canonical()));
                }
                _ => {}
            }
        }
        broken.extend(self.ratio.iter().filter_map(|(name, most)| {
            let head =
                eco_format!("{name} max limit to request ratio per {kind} is {}", most.canonical());
            let stated = |quantity: Option<&Quantity>| {
                quantity.filter(|quantity| !quantity.is_zero()).cloned()
            };
            let Some(request) = stated(requests.get(name)) else {
                return Some(eco_format!("{head}, but no request is specified or request is 0"));
            };
            let Some(limit) = stated(limits.get(name)) else {
                return Some(eco_format!("{head}, but no limit is specified or limit is 0"));
            };
            let ratio = limit.as_f64() / request.as_f64();
            (ratio > most.as_f64()).then(|| eco_format!("{head}, but provided ratio is {ratio:.6}"))
        }));
        broken
    }
}

/// The items of the LimitRanges, by namespace and name.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits(BTreeMap<EcoString, BTreeMap<EcoString, Vec<Item>>>);

fn sentence(mut broken: Vec<EcoString>) -> Option<EcoString> {
    let mut name = Vec::new();
    // Two containers may break a rule with one sentence; an aggregate error has it once.
    broken.retain(|one| {
        let new = !name.contains(one);
        name.push(one.clone());
        new
    });
    match broken.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        all => Some(eco_format!("[{}]", all.join(", "))),
    }
}

/// The mapping of a key, made where there is none.
pub(super) fn child<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let origin = node.origin;
    let map = node.as_map_mut()?;
    if map.get(key).is_none_or(Node::is_null) {
        map.insert(key, Node::map(origin));
    }
    map.get_mut(key)
}

/// Writes the amounts that a container lacks.
fn fill(container: &mut Node, side: &str, given: &Amounts, stated: &Amounts) {
    let origin = container.origin;
    let missing: Vec<_> = given.iter().filter(|(name, _)| !stated.contains_key(*name)).collect();
    if missing.is_empty() {
        return;
    }
    let resources = child(container, "resources").and_then(|node| child(node, side));
    let Some(map) = resources.and_then(Node::as_map_mut) else { return };
    for (name, amount) in missing {
        map.insert(name.clone(), Node::str(amount.canonical(), origin));
    }
}

impl Limits {
    pub(super) fn add(&mut self, object: &Node) {
        let items = object.at(&["spec", "limits"]).map(Node::items).unwrap_or_default();
        let items = items.iter().map(Item::read).collect();
        self.0.entry(namespace_of(object)).or_default().insert(name_of(object), items);
    }

    /// Fills in what the containers of a pod lack; returns whether the namespace has defaults. Of
    /// several LimitRanges the first one by name is taken; which one a server takes is chance.
    pub(super) fn apply(&self, namespace: &str, spec: &mut Cow<'_, Node>) -> bool {
        let items = self.0.get(namespace).into_iter().flat_map(BTreeMap::values).flatten();
        let defaults: Vec<&Item> = items
            .filter(|item| {
                item.kind == "Container" && !(item.limits.is_empty() && item.requests.is_empty())
            })
            .collect();
        // Without defaults the spec is neither copied nor checked again.
        if defaults.is_empty() {
            return false;
        }
        for key in ["containers", "initContainers"] {
            let count = spec.items_of(key).len();
            for at in 0..count {
                for item in &defaults {
                    // Read before the list is borrowed to be changed, and again for each item: an
                    // earlier item may have filled in what a later one has.
                    let Some(resources) = spec.items_of(key).get(at).map(Resources::of) else {
                        break;
                    };
                    let list = spec.to_mut().as_map_mut().and_then(|map| map.get_mut(key));
                    let Some(Value::List(list)) = list.map(|list| &mut list.value) else { break };
                    let Some(container) = list.make_mut().get_mut(at) else { break };
                    // The limits that the container states become its requests first, as the
                    // decoder's defaults do.
                    fill(
                        container,
                        "requests",
                        &resources.requests,
                        &amounts_of(container, "requests"),
                    );
                    fill(container, "limits", &item.limits, &resources.limits);
                    fill(container, "requests", &item.requests, &resources.requests);
                }
            }
        }
        true
    }

    /// Why a pod is refused.
    pub(super) fn refuse(&self, namespace: &str, spec: &Node) -> Option<EcoString> {
        let ranges = self.0.get(namespace)?;
        let all = || {
            let main = containers(spec, "containers");
            main.into_iter().chain(containers(spec, "initContainers"))
        };
        ranges.values().find_map(|items| {
            let broken = items.iter().flat_map(|item| match item.kind.as_str() {
                "Container" => all()
                    .flat_map(|resources| item.broken(&resources.requests, &resources.limits))
                    .collect(),
                "Pod" => item.broken(
                    &total(spec, |resources| &resources.requests),
                    &total(spec, |resources| &resources.limits),
                ),
                _ => Vec::new(),
            });
            sentence(broken.collect())
        })
    }

    /// Why a claim is refused (`PersistentVolumeClaimValidateLimitFunc`).
    pub(super) fn refuse_claim(&self, namespace: &str, claim: &Node) -> Option<EcoString> {
        let quantity = amounts(claim.at(&["spec", "resources", "requests"])).remove("storage")?;
        self.0.get(namespace)?.values().flatten().find_map(|item| {
            if item.kind != "PersistentVolumeClaim" {
                return None;
            }
            let head = |which: &str, bound: &Quantity| {
                eco_format!(
                    "{which} storage usage per PersistentVolumeClaim is {}, but request is {}",
                    bound.canonical(),
                    quantity.canonical()
                )
            };
            let least = item.min.get("storage").filter(|least| quantity < **least);
            let most = item.max.get("storage").filter(|most| quantity > **most);
            let broken = least.map(|least| head("minimum", least));
            broken.or_else(|| most.map(|most| head("maximum", most)))
        })
    }
}

fn amounts_of(container: &Node, side: &str) -> Amounts {
    amounts(container.at(&["resources", side]))
}

/// Appends items to a list of a mapping, made where there is none.
pub(super) fn append_items(node: &mut Node, key: &str, items: impl Iterator<Item = Node>) {
    let origin = node.origin;
    let Some(map) = node.as_map_mut() else { return };
    if map.get(key).is_none_or(Node::is_null) {
        map.insert(key, Node::list([], origin));
    }
    if let Some(Value::List(list)) = map.get_mut(key).map(|list| &mut list.value) {
        list.extend(items);
    }
}
