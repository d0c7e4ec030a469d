//! Checks of catalogs of OME.

pub(crate) mod accelerators;
pub(crate) mod class;
pub(crate) mod model;
pub(crate) mod references;
pub(crate) mod router;
pub(crate) mod runtime;
