//! The devices that drivers publish in ResourceSlices, for nodes on which no device plugin offers
//! them as a resource.

use crate::api::Object;
use crate::cluster::Machine;
use crate::cluster::schedule::devices::{NodeDevice, Published};
use crate::facts;
use ecow::EcoString;

/// Devices by node.
#[derive(Clone, Debug, Default)]
pub(super) struct Slices(Published);

impl Slices {
    pub(super) fn read(objects: &[Object]) -> Self {
        Self(Published::read(objects))
    }

    /// The devices of a machine.
    pub(super) fn devices(&self, machine: &Machine) -> &[NodeDevice] {
        self.0.of(&machine.name)
    }

    /// All and free devices of a machine that are of the vendor of one of these resources, or of
    /// any vendor; a device that a resource counts too is left out.
    pub(super) fn count(&self, machine: &Machine, resources: &[EcoString]) -> (i64, i64) {
        let offers = |vendor: &str| {
            // A device plugin that is installed without devices offers 0, and the driver has them.
            let mut amounts = machine.capacity.iter().filter(|(_, quantity)| !quantity.is_zero());
            amounts.any(|(name, _)| facts::is_device(name) && facts::vendor_of(name) == vendor)
        };
        let counts = |device: &&NodeDevice| {
            let vendor = facts::vendor_of(&device.driver);
            let named = resources.iter().any(|resource| facts::vendor_of(resource) == vendor);
            // A partition is a part of a device that is in the list itself.
            device.profile.is_none() && (named || resources.is_empty()) && !offers(vendor)
        };
        let devices = self.devices(machine).iter().filter(counts);
        devices.fold((0, 0), |(all, free), device| (all + 1, free + i64::from(!device.allocated)))
    }
}
