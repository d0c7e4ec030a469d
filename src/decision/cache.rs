//! The KV cache of an engine, and how many requests of full length fit.

use crate::quantity::{KvCache, Layout, Memory};
use crate::source::Span;
use ecow::EcoString;
use std::sync::Arc;

/// A number with who says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand<T> {
    /// The number.
    pub value: T,
    /// Who says it, in words: a flag, the config of the model, the engine's default.
    pub from: EcoString,
    /// Where it is, when it is somewhere.
    pub span: Option<Span>,
}

/// The cache of one replica of a component: every operand, and what follows.
///
/// What follows is an upper bound: activations, CUDA graphs and fragments take memory too.
#[derive(Clone, Debug)]
pub struct CacheFit {
    /// What the model keeps.
    pub cache: Arc<KvCache>,
    /// Bytes of one element.
    pub width: Operand<u64>,
    /// Accelerators that share the heads of one request.
    pub ways: u64,
    /// Accelerators that hold one copy of the weights.
    pub accelerators: Operand<u64>,
    /// Copies of the engine in one replica, each with a cache of its own.
    pub copies: u64,
    /// Tokens of a request of full length; none when not set.
    pub context: Option<Operand<u64>>,
    /// Memory of one accelerator; none when unknown.
    pub memory: Option<Operand<Memory>>,
    /// Share of the memory that weights and cache may take.
    pub share: Operand<f64>,
    /// Bytes of the weights; none when the size of the model is unknown.
    pub weights: Option<Operand<u64>>,
    /// Most requests at once, as set by the engine's flags.
    pub most: Option<Operand<u64>>,
}

impl CacheFit {
    /// How the cache is kept.
    pub fn layout(&self) -> Layout {
        Layout { width: self.width.value, ways: self.ways }
    }

    /// Bytes of one more token.
    pub fn per_token(&self) -> u64 {
        self.cache.per_token(self.layout())
    }

    /// Bytes of a request of full length.
    pub fn request(&self) -> Option<u64> {
        Some(self.cache.request(self.context.as_ref()?.value, self.layout()))
    }

    /// Bytes that weights and cache of one copy may take.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "bytes of accelerators are far below 2^53, and no operand is negative"
    )]
    pub fn usable(&self) -> Option<u64> {
        let memory = self.memory.as_ref()?.value.0 as f64;
        Some((memory * self.accelerators.value as f64 * self.share.value) as u64)
    }

    /// Bytes of one copy that are left for the cache; 0 when the weights alone are too large.
    pub fn left(&self) -> Option<u64> {
        Some(self.usable()?.saturating_sub(self.weights.as_ref()?.value))
    }

    /// Requests of full length that one replica holds.
    pub fn requests(&self) -> Option<u64> {
        let (left, request) = (self.left()?, self.request()?);
        let held = left.checked_div(request)?.saturating_mul(self.copies);
        Some(self.most.as_ref().map_or(held, |most| held.min(most.value)))
    }

    /// The longest request that one replica holds, up to the context.
    pub fn longest(&self) -> Option<u64> {
        let most = self.context.as_ref()?.value;
        Some(self.cache.longest(self.left()?, most, self.layout()))
    }
}
