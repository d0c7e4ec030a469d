//! Where pods run: a fleet on the nodes that are given, as kube-scheduler places it.
//!
//! In: Nodes, pods that run, pods that are wanted. Out: a node for each, or why it waits. Nothing
//! here knows an operator, a file or a document.

pub mod fleet;
pub mod schedule;
