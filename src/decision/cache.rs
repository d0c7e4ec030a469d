//! The KV cache of an engine, and how many requests of full length fit.

use crate::engine::{Engine, Estimate};
use crate::quantity::{GIB, KvCache, Layout, Memory};
use crate::source::Span;
use ecow::EcoString;
use std::sync::Arc;

/// A number with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand<T> {
    /// The number.
    pub value: T,
    /// Its source as text: a flag, the config of the model, the engine's default.
    pub from: EcoString,
    /// Its place, when it comes from a text.
    pub span: Option<Span>,
}

/// The cache of one replica of a component: every operand, and the results computed from them.
///
/// What is left for the cache is the middle of an interval (docs/models.md#accuracy).
#[derive(Clone, Debug)]
pub struct CacheFit {
    /// The model's KV cache.
    pub cache: Arc<KvCache>,
    /// Bytes of one element.
    pub width: Operand<u64>,
    /// Accelerators that split the attention heads of one request.
    pub ways: u64,
    /// Accelerators that hold one copy of the weights.
    pub accelerators: Operand<u64>,
    /// Copies of the engine in one replica, each with its own cache.
    pub copies: u64,
    /// Tokens of a request of full length; `None` when not set.
    pub context: Option<Operand<u64>>,
    /// Memory of one accelerator; `None` when unknown.
    pub memory: Option<Operand<Memory>>,
    /// Share of the memory that weights and cache may use; `None` when unknown.
    pub share: Option<Operand<f64>>,
    /// Bytes of the weights; `None` when the size of the model is unknown.
    pub weights: Option<Operand<u64>>,
    /// Maximum number of concurrent requests, as set by the engine's flags.
    pub most: Option<Operand<u64>>,
    /// The engine.
    pub engine: Option<Engine>,
    /// What the engine leaves for the cache on one accelerator; `None` when unknown.
    pub estimate: Option<Estimate>,
}

impl CacheFit {
    /// Returns the layout of the cache.
    pub fn layout(&self) -> Layout {
        Layout { width: self.width.value, ways: self.ways }
    }

    /// Returns the bytes of one more token.
    pub fn per_token(&self) -> u64 {
        self.cache.per_token(self.layout())
    }

    /// Returns the bytes of a request of full length.
    pub fn request(&self) -> Option<u64> {
        Some(self.cache.request(self.context.as_ref()?.value, self.layout()))
    }

    /// Returns the bytes that weights and cache of one copy may use.
    pub fn usable(&self) -> Option<u64> {
        let share = self.share.as_ref()?.value;
        let memory = self.memory.as_ref()?.value.gib();
        Some(self.on_all(memory * share))
    }

    /// Returns the bytes of one copy that remain for the cache; 0 when the weights are too large.
    pub fn left(&self) -> Option<u64> {
        Some(self.on_all(self.estimate.as_ref()?.middle))
    }

    /// Returns the bytes that remain for sure: the middle where nothing is left open, else that of
    /// the worst case.
    pub fn promised(&self) -> Option<u64> {
        Some(self.on_all(self.estimate.as_ref()?.at_least))
    }

    /// Returns the bytes beyond which a server is sure to refuse a request.
    pub fn refused_beyond(&self) -> Option<u64> {
        Some(self.on_all(self.estimate.as_ref()?.at_most))
    }

    /// Returns the least and the most bytes of one copy that remain for the cache.
    pub fn left_range(&self) -> Option<(u64, u64)> {
        let found = self.estimate.as_ref()?;
        Some((self.on_all(found.low), self.on_all(found.high)))
    }

    /// Bytes on all accelerators of a copy, from GiB on one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "bytes of accelerators are far below 2^53, and a negative number becomes 0"
    )]
    fn on_all(&self, gib: f64) -> u64 {
        (gib * GIB as f64 * self.accelerators.value as f64) as u64
    }

    /// Returns the number of requests of full length that fit in one replica.
    pub fn requests(&self) -> Option<u64> {
        self.requests_of(self.context.as_ref()?.value)
    }

    /// Returns the number of requests of so many tokens that fit in one replica.
    pub fn requests_of(&self, tokens: u64) -> Option<u64> {
        let (left, request) = (self.promised()?, self.cache.request(tokens, self.layout()));
        let held = left.checked_div(request)?.saturating_mul(self.copies);
        Some(self.most.as_ref().map_or(held, |most| held.min(most.value)))
    }

    /// Returns the tokens of the longest request that fits in one replica, at most the context.
    pub fn longest(&self) -> Option<u64> {
        let most = self.context.as_ref()?.value;
        Some(self.cache.longest(self.promised()?, most, self.layout()))
    }
}
