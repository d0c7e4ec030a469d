//! What OME asks before it selects a runtime.

pub(crate) mod model;
