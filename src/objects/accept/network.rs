//! `NetworkPolicies` (pkg/apis/networking/validation), and ranges of addresses.

use super::judge::Judge;
use super::metadata;
use crate::quantity::names;
use crate::yaml::{At, Node};
use std::net::IpAddr;

const INVALID_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const RANGE_HELP: &str = "write an address and the bits of its network";

/// Judges the spec of a NetworkPolicy (`ValidateNetworkPolicySpec`).
pub(super) fn policy(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    metadata::selector(judge, &at.field("podSelector"), spec.get("podSelector"), true);
    for (key, side) in [("ingress", "from"), ("egress", "to")] {
        let rules_at = at.field(key);
        for (index, rule) in spec.items_of(key).iter().enumerate() {
            let at = rules_at.index(index);
            let ports_at = at.field("ports");
            for (index, port) in rule.items_of("ports").iter().enumerate() {
                self::port(judge, &ports_at.index(index), port);
            }
            let peers_at = at.field(side);
            for (index, peer) in rule.items_of(side).iter().enumerate() {
                self::peer(judge, &peers_at.index(index), peer);
            }
        }
    }
    let types_at = at.field("policyTypes");
    let types = spec.items_of("policyTypes");
    if let Some(list) = spec.get("policyTypes").filter(|_| types.len() > 2) {
        let message = "may not specify more than two policyTypes";
        return judge.invalid(&types_at, list, message, "keep `Ingress` and `Egress`");
    }
    for (index, kind) in types.iter().enumerate() {
        if kind.as_str().is_some_and(|text| !matches!(text, "Ingress" | "Egress")) {
            judge.unsupported(&types_at.index(index), kind, &["Ingress", "Egress"]);
        }
    }
}

fn port(judge: &mut Judge<'_>, at: &At<'_>, port: &Node) {
    judge.one_of(&at.field("protocol"), port.get("protocol"), &["TCP", "UDP", "SCTP"]);
    let (port_at, end_at) = (at.field("port"), at.field("endPort"));
    let first = port.get("port").filter(|node| !node.is_null());
    let end = port.get("endPort").filter(|node| !node.is_null());
    let number = first.and_then(Node::as_int);
    match (first, end) {
        (None, Some(end)) => {
            let message = "may not be specified when `port` is not specified";
            judge.invalid(&end_at, end, message, "write `port`, too");
        }
        (Some(first), Some(end)) if first.as_str().is_some() => {
            let message = "may not be specified when `port` is non-numeric";
            judge.invalid(&end_at, end, message, "write `port` as a number");
        }
        (Some(first), Some(end)) => {
            if end.as_int().zip(number).is_some_and(|(end, first)| end < first) {
                let message = "must be greater than or equal to `port`";
                // The server quotes the port here.
                let shown = Node::int(number.unwrap_or_default(), end.origin);
                judge.invalid(&end_at, &shown, message, "write the greater port here");
            }
            let objections = end.as_int().map(names::port_number).unwrap_or_default();
            judge.shaped(&end_at, end, objections);
            judge.shaped(&port_at, first, number.map(names::port_number).unwrap_or_default());
            return;
        }
        _ => {}
    }
    if let Some(first) = first {
        let objections = match number {
            Some(number) => names::port_number(number),
            None => first.as_str().map(names::port_name).unwrap_or_default(),
        };
        judge.shaped(&port_at, first, objections);
    }
}

fn peer(judge: &mut Judge<'_>, at: &At<'_>, peer: &Node) {
    let chosen = |key: &str| peer.get(key).filter(|node| !node.is_null());
    for key in ["podSelector", "namespaceSelector"] {
        metadata::selector(judge, &at.field(key), chosen(key), true);
    }
    let block = chosen("ipBlock");
    if let Some(block) = block {
        self::block(judge, &at.field("ipBlock"), block);
    }
    let is_selected = chosen("podSelector").is_some() || chosen("namespaceSelector").is_some();
    match block {
        None if !is_selected => judge.required(at, peer, "must specify a peer"),
        Some(_) if is_selected => {
            let message = "may not specify both ipBlock and another peer";
            judge.forbidden(at, peer, message, "write them as two peers");
        }
        _ => {}
    }
}

/// Judges a range of addresses and the parts that are left out of it (`ValidateIPBlock`).
fn block(judge: &mut Judge<'_>, at: &At<'_>, block: &Node) {
    let Some(whole) = judge.present(at, block, "cidr") else { return };
    let Some(outer) = is_range(judge, &at.field("cidr"), whole) else { return };
    let list_at = at.field("except");
    for (index, part) in block.items_of("except").iter().enumerate() {
        let at = list_at.index(index);
        let Some(inner) = is_range(judge, &at, part) else { continue };
        if inner.1 <= outer.1 || !contains(outer, inner.0) {
            let message = "must be a strict subset of `cidr`";
            judge.invalid(&at, part, message, "write a smaller range within `cidr`");
        }
    }
}

/// Whether an address is in a range.
fn contains((network, bits): (IpAddr, u8), address: IpAddr) -> bool {
    let (network, address, width) = match (network, address) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            (u128::from(one.to_bits()), u128::from(other.to_bits()), 32)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits(), other.to_bits(), 128),
        _ => return false,
    };
    // A shift by the whole width would overflow: with no bits everything is in the range.
    (network ^ address).checked_shr(width - u32::from(bits)).unwrap_or(0) == 0
}

/// A range of addresses: its address, and the bits of the network. Numbers of IPv4 may begin with
/// zeros, as in fields that are older than the rule against them.
fn range(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let short: Vec<&str> = address
        .split('.')
        .map(|part| {
            let short = part.trim_start_matches('0');
            if short.is_empty() && !part.is_empty() { "0" } else { short }
        })
        .collect();
    let plain = if address.contains(':') { address.to_owned() } else { short.join(".") };
    let address: IpAddr = plain.parse().ok()?;
    let most = if address.is_ipv6() { 128 } else { 32 };
    // The digits are checked first: Rust's parser takes a `+`, Go's does not.
    let bits: u8 = bits.bytes().all(|byte| byte.is_ascii_digit()).then(|| bits.parse().ok())??;
    (bits <= most).then_some((address, bits))
}

/// Judges that a value is a range of addresses.
pub(super) fn is_range(judge: &mut Judge<'_>, at: &At<'_>, node: &Node) -> Option<(IpAddr, u8)> {
    let found = node.as_str().and_then(range);
    if found.is_none() {
        judge.invalid(at, node, INVALID_RANGE, RANGE_HELP);
    }
    found
}
