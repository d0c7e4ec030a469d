//! Why nodes take no pod.
//!
//! In: nodes, and what a pod lacks on each. Out: the reasons, counted and grouped.

use super::node::Machine;
use super::shape::{Milli, PODS};
use crate::quantity::{Quantity, is_native};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, HashMap};

/// A node that takes no pod of a kind, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRejection {
    /// Name of the node.
    pub node: EcoString,
    /// Code of the reason: `gpu`, `cpu`, `memory`, `resource` (any other), `pods`, `taint`,
    /// `cordoned`, `selector`, `affinity`, `port`, `volume`, `devices`, `spread`, `pod-affinity`,
    /// `pod-anti-affinity`.
    pub code: &'static str,
    /// The reason with both values.
    pub detail: EcoString,
}

/// Machines without room: their number by reason, and the first of them; a fleet has too many to
/// list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockedNodes {
    first: Vec<NodeRejection>,
    counts: BTreeMap<&'static str, usize>,
    /// The first machine of each of the first kinds of refusal, and how many there are.
    kinds: Vec<(NodeRejection, usize)>,
    all_kinds: usize,
}

/// Machines and kinds of refusal that are kept.
const KEPT: usize = 10;

impl BlockedNodes {
    /// Of these machines.
    pub fn new(all: impl IntoIterator<Item = NodeRejection>) -> Self {
        let mut by_reason: HashMap<(&'static str, EcoString), usize> = HashMap::new();
        let mut out = Self::default();
        for blocked in all {
            *out.counts.entry(blocked.code).or_default() += 1;
            let next = by_reason.len();
            let kind = *by_reason.entry((blocked.code, blocked.detail.clone())).or_insert(next);
            // Only the first kinds are kept; later ones are counted by the size of the index.
            if let Some((_, count)) = out.kinds.get_mut(kind) {
                *count += 1;
            } else if kind < KEPT {
                out.kinds.push((blocked.clone(), 1));
            }
            if out.first.len() < KEPT {
                out.first.push(blocked);
            }
        }
        out.all_kinds = by_reason.len();
        out
    }

    /// The first of them.
    pub fn first(&self) -> &[NodeRejection] {
        &self.first
    }

    /// How many there are by code.
    pub fn counts(&self) -> &BTreeMap<&'static str, usize> {
        &self.counts
    }

    /// Groups of machines with the same reason: the first machine of each and their number, in the
    /// order of the first machines; at most the first groups.
    pub fn kinds(&self) -> impl Iterator<Item = (&NodeRejection, usize)> {
        self.kinds.iter().map(|(first, count)| (first, *count))
    }

    /// How many kinds there are.
    pub fn all_kinds(&self) -> usize {
        self.all_kinds
    }
}

/// The most important of the lacking resources, given as name, request and free amount: its reason
/// code, and both amounts.
pub fn short_of<'a>(
    lacking: impl IntoIterator<Item = (&'a EcoString, Milli, Milli)>,
) -> Option<(&'static str, EcoString)> {
    let code = |name: &str| match name {
        "cpu" => "cpu",
        PODS => "pods",
        name if crate::quantity::is_accelerator(name) || name.contains("/mig-") => "gpu",
        "memory" => "memory",
        _ => "resource",
    };
    let order = ["gpu", "cpu", "memory", "resource", "pods"];
    let lacking =
        lacking.into_iter().map(|(name, requested, left)| (code(name), name, requested, left));
    let (code, name, requested, left) =
        lacking.min_by_key(|(code, ..)| order.iter().position(|other| other == code))?;
    let (requested, left) = (amount(name, requested), amount(name, left.max(0)));
    Some((code, eco_format!("{name}: {requested} requested, {left} free")))
}

/// An amount of a resource as manifests have it: bytes in binary units.
fn amount(name: &str, milli: Milli) -> EcoString {
    let whole = u64::try_from(milli / 1000).ok().filter(|_| milli % 1000 == 0);
    // Only amounts of bytes get binary units: 1024 devices are not 1Ki.
    let bytes = whole.filter(|_| is_native(name) && !matches!(name, "cpu" | PODS));
    bytes.map_or_else(|| Quantity::from_milli(milli), Quantity::from_bytes).canonical()
}

/// The required and the actual value of a node label that differs.
pub fn mismatch(key: &str, required: &str, machine: &Machine) -> EcoString {
    let found = machine.label(key).map(|found| eco_format!("{found} found"));
    let found = found.unwrap_or_else(|| "label absent".into());
    eco_format!("{key}: {required} required, {found}")
}

/// Whether any machine has allocatable amounts.
pub fn is_known(machines: &[Machine]) -> bool {
    machines.iter().any(|machine| machine.allocatable.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_nodes_the_first_are_kept_and_all_are_counted() {
        let lacks = |at: usize| NodeRejection {
            node: format!("n{at}").into(),
            code: "gpu",
            detail: format!("{at} left").into(),
        };
        let many = BlockedNodes::new((0..25).chain([3, 24]).map(lacks));
        let counted: Vec<usize> = many.kinds().map(|(_, count)| count).collect();
        assert_eq!(counted, [1, 1, 1, 2, 1, 1, 1, 1, 1, 1]);
        assert_eq!((many.first().len(), many.all_kinds(), many.counts()["gpu"]), (10, 25, 27));
    }

    #[test]
    fn nothing_that_lacks_is_no_reason() {
        assert!(short_of([]).is_none());
        let (gpu, cpu) = (EcoString::from("nvidia.com/gpu"), EcoString::from("cpu"));
        let said = short_of([(&cpu, 2000, 500), (&gpu, 8000, -1000)]);
        assert_eq!(said, Some(("gpu", "nvidia.com/gpu: 8 requested, 0 free".into())));
    }
}
