//! Kueue: quotas of queues and cohorts.
//!
//! In: ResourceFlavors, ClusterQueues and LocalQueues of the catalog, shapes of pods, the queue
//! that they name. Out: the flavor and the number of replicas that the quota admits, findings.
//! Kueue writes no objects of a service and has no policy: its rules do not differ between releases
//! here. This module reads no files and refers to no other operator.
//!
//! Order of reading: `read` (documents as objects), `flavor` (whether a pod fits a flavor), `admit`
//! (flavors and quota in the order of Kueue's scheduler), `pods` (which pods have quota), `update`, `findings`.

pub mod admit;
pub(crate) mod cohort;
pub(crate) mod findings;
pub(crate) mod flavor;
pub(crate) mod pods;
pub mod read;
pub mod update;
