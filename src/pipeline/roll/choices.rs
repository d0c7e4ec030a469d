//! Choices among equals, which a cluster leaves to chance.

/// Choices among equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Choices {
    /// Of equally good nodes the last one, not the first one.
    pub(super) nodes: bool,
    /// Of equal surplus pods the oldest one, not the newest one.
    pub(super) pods: bool,
}
