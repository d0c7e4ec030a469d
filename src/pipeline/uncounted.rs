//! Why something of a plan is not counted, and which finding already tells it.

use crate::diag::{Code, Diagnostic};
use crate::quantity::is_accelerator;

/// Why devices are not counted: a request is no number of devices.
pub(super) const UNCOUNTED_REQUEST: &str = "the request of a container is not";
/// Why nothing is counted although every number is valid.
pub(super) const UNCOUNTED_TOTAL: &str = "are more than";

/// Whether a finding about an invalid number tells why something is not counted.
pub(crate) fn tells_why(invalid: &Diagnostic, not_counted: &Diagnostic) -> bool {
    let message = &not_counted.message;
    if not_counted.code != Code::NotCounted || message.contains(UNCOUNTED_TOTAL) {
        return false;
    }
    let is_of_devices = invalid.path.as_deref().is_some_and(|path| {
        // A dot within a key is escaped in the path; `nvidia.com/gpu` is one key.
        let path = path.replace("\\.", "\0");
        path.rsplit('.').next().is_some_and(|name| is_accelerator(&name.replace('\0', ".")))
    });
    if message.contains(UNCOUNTED_REQUEST) {
        invalid.code == Code::InvalidQuantity && is_of_devices
    } else {
        invalid.code == Code::InvalidValue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_tells_why_only_what_it_counts_is_not_counted() {
        let not_counted = |why: &str| Diagnostic::new(Code::NotCounted, why);
        let devices = "spec.engine.runner.resources.limits.nvidia\\.com/gpu";
        let cpu = "spec.engine.runner.resources.limits.cpu";
        let request = format!("the GPUs are not counted: {UNCOUNTED_REQUEST} a number");
        let total = format!("the GPUs are not counted: 2 replicas {UNCOUNTED_TOTAL} 1");
        let replicas = "the pods are not counted: minReplicas is not a number";
        for (code, path, why, expected) in [
            (Code::InvalidQuantity, devices, request.as_str(), true),
            (Code::InvalidQuantity, cpu, request.as_str(), false),
            (Code::InvalidValue, "spec.engine.minReplicas", request.as_str(), false),
            (Code::InvalidValue, "spec.engine.minReplicas", replicas, true),
            (Code::InvalidQuantity, devices, replicas, false),
            (Code::InvalidQuantity, devices, total.as_str(), false),
            (Code::InvalidValue, "spec.engine.minReplicas", total.as_str(), false),
        ] {
            let invalid = Diagnostic::new(code, "x").path(path);
            assert_eq!(tells_why(&invalid, &not_counted(why)), expected, "{path}: {why}");
        }
    }
}
