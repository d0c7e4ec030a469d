//! Kueue: quotas of queues and cohorts.

pub mod admit;
pub(crate) mod findings;
pub(crate) mod flavor;
pub mod read;
