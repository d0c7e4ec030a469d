//! What a server refuses of ResourceClaims, their templates and DeviceClasses beyond fields and types
//! (pkg/apis/resource/validation/validation.go).
//!
//! In: an object. Out: each fault with its place, for findings and for the scheduler, which never
//! sees an object that was refused.

use super::cel::device::{DeviceSelector, SelectorProblem};
use crate::quantity::names;
use crate::yaml::{At, Node};
use std::collections::HashSet;

/// Why a value is refused.
pub(crate) enum Fault<'n> {
    /// It is missing, and what to write in addition to that.
    Required(&'static str),
    /// It has a value that is not allowed.
    Invalid(&'n Node, String),
    /// It has to be one of these.
    Unsupported(&'n Node, &'static [&'static str]),
    /// It is in the list before.
    Duplicate(&'n Node),
}

/// Receives a fault with its place and with what holds the value.
pub(crate) type Found<'f> = dyn FnMut(&At<'_>, &Node, Fault<'_>) + 'f;

const MODES: [&str; 2] = ["ExactCount", "All"];
const ONE_OF: &str = "exactly one of `exactly` or `firstAvailable` is required";

/// Finds the faults of an object; others than those of devices have none.
pub(crate) fn faults(object: &Node, found: &mut Found<'_>) {
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    let Some(version) = text("apiVersion").strip_prefix("resource.k8s.io/") else { return };
    let (root, kind) = (At::ROOT, text("kind"));
    let spec_at = root.field("spec");
    let Some(spec) = object.get("spec") else { return };
    match kind {
        "DeviceClass" => selectors(&spec_at, spec, found),
        "ResourceClaim" => devices(&spec_at.field("devices"), spec, version, found),
        "ResourceClaimTemplate" => {
            let at = spec_at.field("spec");
            if let Some(spec) = spec.get("spec") {
                devices(&at.field("devices"), spec, version, found);
            }
        }
        _ => {}
    }
}

/// Whether a server refuses an object.
pub(crate) fn is_refused(object: &Node) -> bool {
    let mut is_refused = false;
    faults(object, &mut |_, _, _| is_refused = true);
    is_refused
}

/// What is written; a null is nothing.
fn there<'n>(holder: &'n Node, key: &str) -> Option<&'n Node> {
    holder.get(key).filter(|node| !node.is_null())
}

fn devices(at: &At<'_>, spec: &Node, version: &str, found: &mut Found<'_>) {
    let Some(devices) = there(spec, "devices") else { return };
    // In v1beta1 the fields of a request are its own, and not those of `exactly`.
    let is_flat = !matches!(version, "v1" | "v1beta2");
    let list_at = at.field("requests");
    unique(&list_at, devices.items_of("requests"), |request| request.get("name"), found);
    for (index, request) in devices.items_of("requests").iter().enumerate() {
        self::request(&list_at.index(index), request, is_flat, found);
    }
    let names = request_names(devices);
    for (list, needs_attribute) in [("constraints", true), ("config", false)] {
        let list_at = at.field(list);
        for (index, item) in devices.items_of(list).iter().enumerate() {
            let at = list_at.index(index);
            let requests_at = at.field("requests");
            for (index, name) in item.items_of("requests").iter().enumerate() {
                if name.as_str().is_some_and(|name| !names.contains(name)) {
                    let message = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
                    found(
                        &requests_at.index(index),
                        item,
                        Fault::Invalid(name, message.to_owned()),
                    );
                }
            }
            let attributes = ["matchAttribute", "distinctAttribute"];
            if needs_attribute && attributes.iter().all(|key| there(item, key).is_none()) {
                found(&at.field("matchAttribute"), item, Fault::Required(""));
            }
        }
    }
}

/// The names of requests, and of the alternatives in them.
fn request_names(devices: &Node) -> HashSet<String> {
    let name = |node: &Node| node.get("name").and_then(Node::as_str).map(str::to_owned);
    let mut names = HashSet::new();
    for request in devices.items_of("requests") {
        let Some(own_name) = name(request) else { continue };
        for alternative in request.items_of("firstAvailable").iter().filter_map(name) {
            names.insert(format!("{own_name}/{alternative}"));
        }
        names.insert(own_name);
    }
    names
}

fn request(at: &At<'_>, request: &Node, is_flat: bool, found: &mut Found<'_>) {
    // `SetDefaults_DeviceRequest` makes a request of v1beta1 without alternatives an exact one.
    const OWN: [&str; 6] =
        ["deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations"];
    name(at, request, found);
    let alternatives = request.items_of("firstAvailable");
    let exact = if is_flat {
        let is_exact =
            alternatives.is_empty() || OWN.iter().any(|key| there(request, key).is_some());
        is_exact.then_some(request)
    } else {
        there(request, "exactly")
    };
    match (exact, alternatives.is_empty()) {
        (None, true) => found(at, request, Fault::Required(ONE_OF)),
        (Some(_), false) => {
            let message = format!("{ONE_OF}, but multiple fields are set");
            found(at, request, Fault::Invalid(request, message));
        }
        (Some(exact), true) if is_flat => wanted(at, exact, found),
        (Some(exact), true) => wanted(&at.field("exactly"), exact, found),
        (None, false) => {
            let list_at = at.field("firstAvailable");
            unique(&list_at, alternatives, |alternative| alternative.get("name"), found);
            for (index, alternative) in alternatives.iter().enumerate() {
                let at = list_at.index(index);
                name(&at, alternative, found);
                wanted(&at, alternative, found);
            }
        }
    }
}

fn name(at: &At<'_>, holder: &Node, found: &mut Found<'_>) {
    let at = at.field("name");
    match there(holder, "name") {
        None => found(&at, holder, Fault::Required("")),
        Some(name) => {
            for message in name.as_str().map(names::dns1123_label).unwrap_or_default() {
                found(&at, holder, Fault::Invalid(name, message));
            }
        }
    }
}

/// The class, selectors and number of devices of a request or of an alternative.
fn wanted(at: &At<'_>, holder: &Node, found: &mut Found<'_>) {
    let class_at = at.field("deviceClassName");
    match there(holder, "deviceClassName").filter(|class| class.as_str() != Some("")) {
        None => found(&class_at, holder, Fault::Required("")),
        Some(class) => {
            for message in class.as_str().map(names::dns1123_subdomain).unwrap_or_default() {
                found(&class_at, holder, Fault::Invalid(class, message));
            }
        }
    }
    selectors(at, holder, found);
    let mode = there(holder, "allocationMode").filter(|mode| mode.as_str() != Some(""));
    // 0 is what a count has that is not written.
    let count = there(holder, "count").filter(|count| count.as_int() != Some(0));
    let count_at = at.field("count");
    match (mode, mode.and_then(Node::as_str), count) {
        (_, Some("All"), Some(count)) => {
            let message = "must not be specified when allocationMode is 'All'".to_owned();
            found(&count_at, holder, Fault::Invalid(count, message));
        }
        (Some(mode), Some(text), _) if !MODES.contains(&text) => {
            found(&at.field("allocationMode"), holder, Fault::Unsupported(mode, &MODES));
        }
        (_, _, Some(count)) if count.as_int().is_some_and(|count| count < 0) => {
            let message = "must be greater than zero".to_owned();
            found(&count_at, holder, Fault::Invalid(count, message));
        }
        _ => {}
    }
}

fn selectors(at: &At<'_>, holder: &Node, found: &mut Found<'_>) {
    let list_at = at.field("selectors");
    for (index, selector) in holder.items_of("selectors").iter().enumerate() {
        let at = list_at.index(index);
        let cel_at = at.field("cel");
        let Some(cel) = there(selector, "cel") else {
            found(&cel_at, selector, Fault::Required(""));
            continue;
        };
        let Some(expression) = cel.get("expression") else { continue };
        let compiled = expression.as_str().map(DeviceSelector::compile);
        if let Some(Err(SelectorProblem::Invalid(message))) = compiled {
            let message = message.to_string();
            found(&cel_at.field("expression"), cel, Fault::Invalid(expression, message));
        }
    }
}

fn unique(
    at: &At<'_>,
    items: &[Node],
    key: impl Fn(&Node) -> Option<&Node>,
    found: &mut Found<'_>,
) {
    let mut seen = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let Some((node, text)) = key(item).and_then(|node| Some((node, node.as_str()?))) else {
            continue;
        };
        if !seen.insert(text) {
            found(&at.index(index), item, Fault::Duplicate(node));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    /// The places of the faults of a claim with these requests.
    fn found(version: &str, devices: &str) -> Vec<String> {
        let text = format!(
            "apiVersion: resource.k8s.io/{version}\nkind: ResourceClaimTemplate\nmetadata: {{name: c}}\nspec: {{spec: {{devices: {devices}}}}}\n"
        );
        let tree = parse(SourceId(0), &text, 0..text.len(), &Limits::default()).value.unwrap();
        let mut places = Vec::new();
        faults(&tree, &mut |at, _, _| {
            places.push(at.to_string().replace("spec.spec.devices.", ""));
        });
        places
    }

    #[test]
    fn claims_are_judged_as_by_a_server() {
        let of = |version: &str, request: &str| {
            found(version, &format!("{{requests: [{{name: r, {request}}}]}}"))
        };
        for (version, request, expected) in [
            ("v1", "exactly: {deviceClassName: g}", &[][..]),
            ("v1", "exactly: {deviceClassName: g, count: 0}", &[]),
            ("v1", "deviceClassName: g", &["requests[0]"]),
            ("v1beta2", "deviceClassName: g", &["requests[0]"]),
            ("v1beta1", "deviceClassName: g", &[]),
            ("v1beta1", "exactly: {deviceClassName: g}", &["requests[0].deviceClassName"]),
            ("v1beta1", "firstAvailable: [{name: a, deviceClassName: g}]", &[]),
            (
                "v1",
                "exactly: {deviceClassName: g}, firstAvailable: [{name: a, deviceClassName: g}]",
                &["requests[0]"],
            ),
            ("v1", "exactly: {}", &["requests[0].exactly.deviceClassName"]),
            (
                "v1",
                "exactly: {deviceClassName: g, allocationMode: All, count: 2}",
                &["requests[0].exactly.count"],
            ),
            (
                "v1",
                "exactly: {deviceClassName: g, allocationMode: Most}",
                &["requests[0].exactly.allocationMode"],
            ),
            ("v1", "exactly: {deviceClassName: g, count: -1}", &["requests[0].exactly.count"]),
            (
                "v1",
                "exactly: {deviceClassName: g, selectors: [{cel: {expression: 'device.x == 1'}}]}",
                &["requests[0].exactly.selectors[0].cel.expression"],
            ),
            (
                "v1",
                "firstAvailable: [{name: a, deviceClassName: g}, {name: a, deviceClassName: h}]",
                &["requests[0].firstAvailable[1]"],
            ),
        ] {
            assert_eq!(of(version, request), expected, "{version} {request}");
        }
        let request = "{name: r, exactly: {deviceClassName: g}}";
        assert_eq!(found("v1", &format!("{{requests: [{request}, {request}]}}")), ["requests[1]"]);
        let constraint = |constraint: &str| {
            found("v1", &format!("{{requests: [{request}], constraints: [{constraint}]}}"))
        };
        assert!(constraint("{requests: [r], matchAttribute: d/a}").is_empty());
        assert_eq!(
            constraint("{requests: [s], matchAttribute: d/a}"),
            ["constraints[0].requests[0]"]
        );
        assert_eq!(constraint("{requests: [r]}"), ["constraints[0].matchAttribute"]);
    }
}
