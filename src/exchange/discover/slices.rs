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
            let mut amounts = machine.capacity.iter().filter(|(_, own)| !own.is_zero());
            amounts.any(|(name, _)| facts::is_device(name) && facts::vendor_of(name) == vendor)
        };
        let counts = |device: &&NodeDevice| {
            let vendor = facts::vendor_of(&device.driver);
            let named = resources.iter().any(|own| facts::vendor_of(own) == vendor);
            device.profile.is_none() && (named || resources.is_empty()) && !offers(vendor)
        };
        let own = self.devices(machine).iter().filter(counts);
        own.fold((0, 0), |(all, free), own| (all + 1, free + i64::from(!own.allocated)))
    }
}
