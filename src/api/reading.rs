//! Values that differ between the documents and the followed release.
//!
//! In: a value for each of the two. Out: the one that a mode selects. This module does not compute
//! either value.

use super::{AcceleratorClass, Api, Follow, Semantics, Service};

/// A value that belongs to an operator, so the operator's mode selects how it is read.
pub trait Owned {
    /// Returns the operator's API.
    fn api(&self) -> Api;
}

impl Owned for Service {
    fn api(&self) -> Api {
        self.object.api
    }
}

impl Owned for AcceleratorClass {
    fn api(&self) -> Api {
        self.object.api
    }
}

/// One value by the documents and one by the release.
#[derive(Clone, Copy, Debug)]
pub struct PerReading<T> {
    /// By the documents.
    pub documented: T,
    /// By the controller of the release that is followed or compared with the documents.
    pub controller: T,
}

impl<T> PerReading<T> {
    /// Computes both values; calls `by` once per mode.
    pub fn read(mut by: impl FnMut(Semantics) -> T) -> Self {
        Self { documented: by(Semantics::Documented), controller: by(Semantics::Controller) }
    }
}

impl<T: Owned> PerReading<T> {
    /// Returns the value for the mode of its operator.
    pub fn of(&self, follow: impl Into<Follow>) -> &T {
        // Both readings are of one object, so either tells the operator.
        match follow.into().of(self.documented.api()) {
            Semantics::Documented => &self.documented,
            Semantics::Controller => &self.controller,
        }
    }
}

/// A service as the documents and as the release read it.
pub type Views = PerReading<Service>;
