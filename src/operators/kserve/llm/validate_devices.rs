//! What the webhook refuses of the annotations that ask for devices (pkg/validation/managed_dra.go).

use super::validate::Refusals;
use crate::api::Object;
use crate::quantity::names::{dns1123_label, dns1123_subdomain};
use crate::yaml::Node;

/// Prefix of the annotations of managed devices.
const DEVICES: &str = "serving.kserve.io/exp-dra-";

pub(super) fn devices(object: &Object, refusals: &mut Refusals<'_>) {
    let annotations = object.annotations();
    let found = |key: &str| annotations.get(&format!("{DEVICES}{key}")).and_then(Node::scalar_text);
    let path = |key: &str| format!("metadata.annotations[\"{DEVICES}{key}\"]");
    let class = found("device-class");
    let (count, selector, container) =
        (found("device-count"), found("cel-selector"), found("container-name"));
    if class.is_none() && (count.is_some() || selector.is_some() || container.is_some()) {
        refusals.add(
            "metadata.annotations",
            format!(
                "{DEVICES}device-class is required when {DEVICES}device-count, {DEVICES}cel-selector or {DEVICES}container-name is set"
            ),
        );
    }
    if let Some(class) = &class {
        let class = class.trim();
        if class.is_empty() {
            refusals.add(&path("device-class"), "device class must not be empty");
        } else if let Some(problem) = dns1123_subdomain(class).into_iter().next() {
            refusals.add(
                &path("device-class"),
                format!("device class must be a DNS subdomain: {problem}"),
            );
        }
    }
    if let Some(count) = count.filter(|count| !count.trim().is_empty())
        && count.trim().parse::<i64>().ok().is_none_or(|count| count < 1)
    {
        refusals.add(
            &path("device-count"),
            format!("invalid {DEVICES}device-count value \"{count}\": must be >= 1"),
        );
    }
    if selector.is_some_and(|selector| selector.trim().is_empty()) {
        refusals.add(
            &path("cel-selector"),
            "cel selector must contain at least one non-empty CEL expression",
        );
    }
    if let Some(container) = &container {
        let name = container.trim();
        if name.is_empty() {
            refusals.add(&path("container-name"), "container name must not be empty");
        } else if let Some(problem) = dns1123_label(name).into_iter().next() {
            refusals.add(
                &path("container-name"),
                format!("container name must be a DNS label: {problem}"),
            );
        }
    }
}
