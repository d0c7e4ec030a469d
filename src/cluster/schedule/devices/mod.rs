//! Devices that pods claim (the plugin DynamicResources, with the feature gates that are on by
//! default in Kubernetes 1.35): slices of devices, classes, claims, and the search for devices.

pub(crate) mod allocate;
pub(crate) mod claims;
pub(crate) mod inventory;
pub(crate) mod objects;
pub(crate) mod pools;
pub(crate) mod prepare;
#[cfg(test)]
mod tests;

pub use claims::Devices;
pub use inventory::{Asked, NodeDevice, Published};

/// The number of a claim.
pub(super) type ClaimId = usize;

/// The number of a device.
pub(super) type DeviceId = usize;
