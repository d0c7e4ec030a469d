//! Values that the documents and the followed release read differently.
//!
//! In: a value for each of the two. Out: the one that a mode requests. Nothing here knows how they
//! differ.

use super::{AcceleratorClass, Api, Follow, Semantics, Service};

/// What belongs to an operator, and so is read as the operator's mode says.
pub trait Owned {
    /// Whose it is.
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

/// One value for each reading: that of the documents and that of the release.
#[derive(Clone, Copy, Debug)]
pub struct PerReading<T> {
    /// By the documents.
    pub documented: T,
    /// By the controller of the release that is followed, or that the documents are compared with.
    pub controller: T,
}

impl<T> PerReading<T> {
    /// Both readings.
    pub fn read(mut by: impl FnMut(Semantics) -> T) -> Self {
        Self { documented: by(Semantics::Documented), controller: by(Semantics::Controller) }
    }
}

impl<T: Owned> PerReading<T> {
    /// The reading of the mode that its operator is followed by.
    pub fn of(&self, follow: impl Into<Follow>) -> &T {
        match follow.into().of(self.documented.api()) {
            Semantics::Documented => &self.documented,
            Semantics::Controller => &self.controller,
        }
    }
}

/// A service as each reading has it.
pub type Views = PerReading<Service>;
