//! Claims of devices that annotations of a service ask for
//! (pkg/controller/v1alpha2/llmisvc/managed_dra.go).

use super::rules::DEVICES;
use super::scene::{Scene, at_mut};
use crate::merge::edit::{each_mut, map_mut, mapping, position};
use crate::pods::container::push;
use crate::yaml::{Node, Origin, Value};
use ecow::EcoString;

/// Annotations of managed devices.
const DEVICE_CLASS: &str = "serving.kserve.io/exp-dra-device-class";
const DEVICE_CONTAINER: &str = "serving.kserve.io/exp-dra-container-name";
const CLAIM: &str = "managed-device";

/// The class of managed devices, when the service asks for one.
pub(super) fn device_class(scene: &Scene<'_>) -> Option<EcoString> {
    scene.annotation(DEVICE_CLASS).filter(|class| !class.trim().is_empty())
}

/// Claims devices in every pod.
pub(super) fn devices(scene: &Scene<'_>, spec: &mut Node) {
    const BY: Origin = Origin::Derived(&DEVICES);
    if device_class(scene).is_none() {
        return;
    }
    let template = scene.child("-managed-dra");
    let wanted = scene.annotation(DEVICE_CONTAINER).filter(|name| !name.is_empty());
    for path in [&["template"][..], &["worker"], &["prefill", "template"], &["prefill", "worker"]] {
        let Some(pod) = at_mut(spec, path) else { continue };
        // A preset or the user may have written the claim already.
        if position(pod.items_of("resourceClaims"), "name", CLAIM).is_none() {
            let claim = [
                ("name", Node::str(CLAIM, BY)),
                ("resourceClaimTemplateName", Node::str(template.clone(), BY)),
            ];
            push(pod, "resourceClaims", mapping(claim, BY));
        }
        let containers = pod.items_of("containers");
        let index = match &wanted {
            Some(name) => position(containers, "name", name),
            // Without a name the first container gets the device.
            None => (!containers.is_empty()).then_some(0),
        };
        let mut at = 0;
        each_mut(pod, "containers", |container| {
            if Some(at) == index
                && let Some(resources) = map_mut(container, "resources", BY)
            {
                // The resources are moved out and back: `push` takes a node, not a map.
                let mut node = Node::new(Value::Map(std::mem::take(resources)), BY);
                if position(node.items_of("claims"), "name", CLAIM).is_none() {
                    push(&mut node, "claims", mapping([("name", Node::str(CLAIM, BY))], BY));
                }
                if let Value::Map(map) = node.value {
                    *resources = map;
                }
            }
            at += 1;
        });
    }
}
