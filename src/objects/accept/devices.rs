//! ResourceClaims, their templates, and DeviceClasses.

use super::judge::Judge;
use crate::schema::{Fault, device_faults};

/// Judges an object of devices.
pub(super) fn object(judge: &mut Judge<'_>) {
    let object = judge.object;
    device_faults(object, &mut |at, holder, fault| match fault {
        Fault::Required(detail) => judge.required(at, holder, detail),
        Fault::Invalid(node, message) => {
            judge.invalid(at, node, &message, "correct it as the message describes");
        }
        Fault::Unsupported(node, accepted) => judge.unsupported(at, node, accepted),
        Fault::Duplicate(node) => {
            let detail = format!("Duplicate value: {}", node.to_json());
            judge.refuse(at, node.origin.span(), &detail, "write another name");
        }
    });
}
