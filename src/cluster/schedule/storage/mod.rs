//! Volumes of pods: claims, volumes, storage classes, and the filters that read them
//! (VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone).
//!
//! A provisioner makes a volume in the zone of the node that was chosen, unless it is known to be
//! silent. `ReadWriteOnce` is not looked at, as in the scheduler: attaching fails later.

pub(crate) mod claims;
pub(crate) mod filter;
pub(crate) mod objects;
pub(crate) mod prepare;
#[cfg(test)]
mod tests;
pub(crate) mod volumes;

pub use claims::Storage;

/// The number of a claim.
pub(super) type ClaimId = usize;
