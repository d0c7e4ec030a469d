//! Values that differ between the documents and the followed release.
//!
//! In: a value for each of the two, and which is followed. Out: either. This module does not compute
//! the values.

use super::{Semantics, Service};

/// One value by the documents and one by the release.
#[derive(Clone, Copy, Debug)]
pub struct PerReading<T> {
    /// By the documents.
    pub documented: T,
    /// By the controller of the release that is followed or compared with the documents.
    pub controller: T,
    /// The mode of the operator that the value belongs to.
    pub mode: Semantics,
}

impl<T> PerReading<T> {
    /// Computes both values; calls `by` once per mode. `mode` is that of the value's operator.
    pub fn read(mode: Semantics, mut by: impl FnMut(Semantics) -> T) -> Self {
        let [documented, controller] = [Semantics::Documented, Semantics::Controller].map(&mut by);
        Self { documented, controller, mode }
    }

    /// Returns the value that is followed.
    pub fn followed(&self) -> &T {
        self.by(self.mode)
    }

    /// Returns the value for a mode.
    pub fn by(&self, mode: Semantics) -> &T {
        match mode {
            Semantics::Documented => &self.documented,
            Semantics::Controller => &self.controller,
        }
    }
}

/// A service as the documents and as the release read it.
pub type Views = PerReading<Service>;
