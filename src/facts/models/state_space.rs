//! State spaces (Mamba 2), as `transformers` has them in `models/mamba2/modeling_mamba2.py`.
//!
//! In: widths of a config. Out: elements and state of the layer.

use super::layers::linear;

/// A state space (Mamba 2).
#[derive(Clone, Copy, Debug)]
pub(super) struct StateSpace {
    pub(super) heads: u128,
    pub(super) head: u128,
    pub(super) groups: u128,
    pub(super) state: u128,
    pub(super) kernel: u128,
    pub(super) convolution_bias: bool,
    pub(super) bias: bool,
    /// There is a norm between.
    pub(super) norm: bool,
}

impl StateSpace {
    fn inner(self) -> u128 {
        self.heads * self.head
    }

    fn convolved(self) -> u128 {
        self.inner() + 2 * self.groups * self.state
    }

    /// Elements of its matrices, and of the rest.
    pub(super) fn elements(self, hidden: u128) -> (u128, u128) {
        // One matrix makes gate, input of the convolution and steps.
        let into = linear(hidden, self.inner() + self.convolved() + self.heads, self.bias);
        let out = linear(self.inner(), hidden, self.bias);
        let convolution = self.convolved() * self.kernel
            + if self.convolution_bias { self.convolved() } else { 0 };
        let norm = if self.norm { self.inner() } else { 0 };
        // A decay, a skip and a step per head.
        (into + out, convolution + 3 * self.heads + norm)
    }

    /// Numbers that are kept per request: the state of each head, and the tokens that the
    /// convolution still needs.
    pub(super) fn kept(self) -> (u128, u128) {
        (self.inner() * self.state, self.convolved() * self.kernel.saturating_sub(1))
    }
}
