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
    /// Tokens that the cache of one copy holds at most, as set by the engine's flags.
    pub held: Option<Operand<u64>>,
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
        // A request of no bytes, as of a model without a cache, gives no number.
        let by_memory = left.checked_div(request)?;
        let by_tokens = self.held.as_ref().and_then(|held| held.value.checked_div(tokens));
        // Both limits hold at once; a flag for the tokens is for one copy as well.
        let held = by_tokens.map_or(by_memory, |by_tokens| by_memory.min(by_tokens));
        let held = held.saturating_mul(self.copies);
        Some(self.most.as_ref().map_or(held, |most| held.min(most.value)))
    }

    /// Returns the tokens of the longest request that fits in one replica, at most the context.
    pub fn longest(&self) -> Option<u64> {
        let most = self.context.as_ref()?.value;
        let most = self.held.as_ref().map_or(most, |held| most.min(held.value));
        Some(self.cache.longest(self.promised()?, most, self.layout()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Kept, KeptLayers};

    fn operand<T>(value: T) -> Operand<T> {
        Operand { value, from: "a flag".into(), span: None }
    }

    /// 16 layers of 8 heads that keep 64 + 64 elements: 32 KiB a token in 16 bits, on two devices of
    /// 24 GiB of which 4 GiB each are left, 3 for sure.
    fn fit() -> CacheFit {
        let kept = Kept::Grouped { heads: 8, key: 64, value: 64, window: None, index: 0 };
        let layers = vec![KeptLayers { layers: 16, kept }];
        CacheFit {
            cache: Arc::new(KvCache { layers, width: 2, in_8_bits: false }),
            width: operand(2),
            ways: 2,
            accelerators: operand(2),
            copies: 1,
            context: Some(operand(8192)),
            memory: Some(operand(Memory(24 * GIB))),
            share: Some(operand(0.5)),
            weights: Some(operand(8 * GIB)),
            most: None,
            held: None,
            engine: Some(Engine::VLlm),
            estimate: Some(Estimate {
                middle: 4.0,
                at_least: 3.0,
                at_most: 5.0,
                low: 2.5,
                high: 5.5,
                share: 0.5,
                terms: Vec::new(),
                logs: 1,
                releases: "",
            }),
        }
    }

    #[test]
    fn amounts_are_those_of_all_devices_of_a_copy() {
        let fit = fit();
        assert_eq!(fit.usable(), Some(24 * GIB));
        assert_eq!(fit.left(), Some(8 * GIB));
        assert_eq!(fit.promised(), Some(6 * GIB));
        assert_eq!(fit.refused_beyond(), Some(10 * GIB));
        assert_eq!(fit.left_range(), Some((5 * GIB, 11 * GIB)));
    }

    #[test]
    fn requests_are_those_that_fit_for_sure_in_every_copy() {
        let cache_fit = fit();
        assert_eq!(cache_fit.per_token(), 32 << 10);
        assert_eq!(cache_fit.request(), Some(256 << 20));
        assert_eq!(cache_fit.requests(), Some(24));
        assert_eq!(cache_fit.requests_of(1024), Some(192));
        assert_eq!(CacheFit { copies: 3, ..fit() }.requests(), Some(72));
        assert_eq!(CacheFit { most: Some(operand(16)), ..fit() }.requests(), Some(16));
        // A cache in 8 bits holds twice as many.
        assert_eq!(CacheFit { width: operand(1), ..fit() }.requests(), Some(48));
    }

    #[test]
    fn a_flag_limits_the_tokens_of_the_cache() {
        let limited = |tokens| CacheFit { held: Some(operand(tokens)), ..fit() };
        assert_eq!(limited(8192 * 3 + 1).requests(), Some(3));
        assert_eq!((limited(1600).requests(), limited(1600).longest()), (Some(0), Some(1600)));
        // More than there is memory for.
        assert_eq!(limited(u64::MAX).requests(), Some(24));
    }

    #[test]
    fn the_longest_request_is_at_most_the_context() {
        assert_eq!(fit().longest(), Some(8192));
        let long = CacheFit { context: Some(operand(1 << 20)), ..fit() };
        assert_eq!(long.longest(), Some((6 * GIB) / (32 << 10)));
        assert_eq!(long.requests(), Some(0));
    }

    #[test]
    fn nothing_is_said_of_what_is_not_known() {
        let unknown = CacheFit { estimate: None, ..fit() };
        assert_eq!((unknown.left(), unknown.requests()), (None, None));
        let unset = CacheFit { context: None, ..fit() };
        assert_eq!((unset.request(), unset.requests(), unset.longest()), (None, None, None));
        assert!(unset.left().is_some());
        assert_eq!(CacheFit { share: None, ..fit() }.usable(), None);
        assert_eq!(CacheFit { memory: None, ..fit() }.usable(), None);
    }

    #[test]
    fn weights_that_leave_nothing_leave_no_request() {
        let mut fit = fit();
        let estimate = fit.estimate.as_mut().unwrap();
        (estimate.middle, estimate.at_least) = (-1.0, -2.0);
        assert_eq!((fit.left(), fit.promised(), fit.requests()), (Some(0), Some(0), Some(0)));
    }
}
