//! One file per kind: builds the object from a component or from a service.
//!
//! In: a [`super::component::Frame`] or the service. Out: a tree. `operators/ome/objects.rs`
//! decides which objects a service gets, and their order.

pub(crate) mod autoscaler;
pub(crate) mod config_map;
pub(crate) mod deployment;
pub(crate) mod disruption;
pub(crate) mod ingress;
pub(crate) mod knative;
pub(crate) mod leader_worker_set;
pub(crate) mod ray;
pub(crate) mod rbac;
pub(crate) mod route;
pub(crate) mod service;
pub(crate) mod sidecar;
pub(crate) mod virtual_service;

use crate::yaml::{Node, Value};

/// A Go conversion to int32, which wraps around.
#[expect(clippy::cast_possible_truncation, reason = "as upstream does")]
fn go_int32(number: i64) -> i64 {
    i64::from(number as i32)
}

/// An integer field of the service as an int32 field of an object.
fn int32(node: &Node) -> Node {
    match node.as_int() {
        // Only a number that wraps gets a new node: others keep their spelling.
        Some(number) if go_int32(number) != number => {
            Node::new(Value::Int(go_int32(number)), node.origin)
        }
        _ => node.clone(),
    }
}
