//! The parts of a language model's layer: the mixing of tokens, and the feed-forward part.
//!
//! A family selects the parts of its layers, with the widths of its config; elements and cache
//! follow from the shape alone.

use super::layers::{Sizes, linear};

/// Weights that quantization treats alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Tokens and positions.
    Embedding,
    /// Matrices of attention, delta nets and state spaces.
    Attention,
    /// Matrices of dense feed-forward parts and of experts that all tokens share.
    FeedForward,
    /// Matrices of experts.
    Experts,
    /// Norms, routers, convolutions, sinks: parts that are never quantized.
    Rest,
    /// The head.
    Head,
    /// Towers and projectors.
    Vision,
}

impl Class {
    const COUNT: usize = 7;
    const ALL: [Self; Self::COUNT] = [
        Self::Embedding,
        Self::Attention,
        Self::FeedForward,
        Self::Experts,
        Self::Rest,
        Self::Head,
        Self::Vision,
    ];

    /// Its name in output.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Attention => "attention",
            Self::FeedForward => "feed-forward",
            Self::Experts => "experts",
            Self::Rest => "norms and routers",
            Self::Head => "head",
            Self::Vision => "vision and projector",
        }
    }
}

/// Elements by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Elements([u128; Class::COUNT]);

impl Elements {
    pub(super) fn of(class: Class, count: u128) -> Self {
        Self::default().and(class, count)
    }

    pub(super) fn and(mut self, class: Class, count: u128) -> Self {
        self.0[class as usize] += count;
        self
    }

    /// The sum of this many copies.
    pub(super) fn times(self, count: u128) -> Self {
        Self(self.0.map(|elements| elements * count))
    }

    pub(super) fn get(&self, class: Class) -> u128 {
        self.0[class as usize]
    }

    pub(super) fn total(&self) -> u128 {
        self.0.iter().sum()
    }

    /// The classes that are there, in the order of the model.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Class, u128)> {
        Class::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

impl std::ops::AddAssign for Elements {
    fn add_assign(&mut self, other: Self) {
        for (sum, other) in self.0.iter_mut().zip(other.0) {
            *sum += other;
        }
    }
}

/// How a layer combines tokens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mixer {
    /// It does not combine them.
    None,
    /// Attention with grouped keys and values.
    Grouped(Grouped),
    /// Multi-head latent attention: keys and values come from one narrow vector.
    Latent(Latent),
    /// Latent attention over runs of tokens that are compressed into one.
    Compressed(Compressed),
    /// A gated delta net: linear attention with a state per head.
    Delta(Delta),
    /// A state space (Mamba 2).
    StateSpace(StateSpace),
    /// Attention and a state space side by side.
    Parallel(Grouped, StateSpace),
}

/// Attention with grouped keys and values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grouped {
    /// Heads of queries.
    pub(super) heads: u128,
    /// Heads of keys and values.
    pub(super) groups: u128,
    /// Width of a key, and of a query.
    pub(super) key: u128,
    /// Width of a value.
    pub(super) value: u128,
    /// Queries, keys and values have biases.
    pub(super) qkv_bias: bool,
    /// The output has a bias.
    pub(super) out_bias: bool,
    /// Width of the gate on the output; 0 without.
    pub(super) gate: u128,
    /// Elements of norms of queries and keys, and of sinks.
    pub(super) rest: u128,
    /// Keys are also used as values.
    pub(super) keys_are_values: bool,
    /// Number of earlier tokens that are attended to; `None` means all.
    pub(super) window: Option<u128>,
    /// The indexer that selects the attended blocks of tokens.
    pub(super) index: Option<Index>,
}

impl Grouped {
    /// As most have it: widths of the config, no norms, no gate, all tokens.
    pub(super) fn of(sizes: Sizes, qkv_bias: bool, out_bias: bool) -> Self {
        Self {
            heads: sizes.heads,
            groups: sizes.groups,
            key: sizes.head,
            value: sizes.head,
            qkv_bias,
            out_bias,
            gate: 0,
            rest: 0,
            keys_are_values: false,
            window: None,
            index: None,
        }
    }

    fn elements(&self, hidden: u128) -> Elements {
        // Keys that are values need no matrix of their own.
        let values = if self.keys_are_values { 0 } else { self.groups * self.value };
        // One product for queries, keys and values, as they share input and biases.
        let into = self.heads * self.key + self.groups * self.key + values;
        let attention = linear(hidden, into, self.qkv_bias)
            + linear(self.heads * self.value, hidden, self.out_bias)
            + hidden * self.gate;
        let index = self.index.map_or(0, |index| index.elements(hidden));
        Elements::of(Class::Attention, attention + index).and(Class::Rest, self.rest)
    }
}

/// The indexer that selects the attended tokens: queries and keys of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    /// Heads of its queries.
    pub(super) heads: u128,
    /// Width of a head, and of its one key.
    pub(super) head: u128,
    /// Width that its queries come from; the hidden width when absent.
    pub(super) from: Option<u128>,
    /// Its heads are weighed by the token.
    pub(super) weighed: bool,
    /// Elements of the norm of its keys.
    pub(super) norm: u128,
}

impl Index {
    fn elements(self, hidden: u128) -> u128 {
        self.from.unwrap_or(hidden) * self.heads * self.head
            + hidden * self.head
            + self.norm
            + if self.weighed { hidden * self.heads } else { 0 }
    }
}

/// Multi-head latent attention.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latent {
    pub(super) heads: u128,
    /// Width that queries go through; none when they do not.
    pub(super) query_rank: Option<u128>,
    /// Width of the cached vector of keys and values.
    pub(super) rank: u128,
    /// Width of a query without its turning part.
    pub(super) nope: u128,
    /// Width of the turning part of queries and of the one key.
    pub(super) rope: u128,
    /// Width of a value.
    pub(super) value: u128,
    pub(super) bias: bool,
    /// Width of the gate on the output; 0 without.
    pub(super) gate: u128,
    pub(super) index: Option<Index>,
}

impl Latent {
    fn elements(&self, hidden: u128) -> Elements {
        let queries = self.heads * (self.nope + self.rope);
        let (query, norm) = match self.query_rank {
            // Only the way into the narrow vector may have biases.
            Some(rank) => (linear(hidden, rank, self.bias) + rank * queries, rank),
            None => (hidden * queries, 0),
        };
        let attention = query
            + linear(hidden, self.rank + self.rope, self.bias)
            + self.rank * self.heads * (self.nope + self.value)
            + linear(self.heads * self.value, hidden, self.bias)
            + hidden * self.gate;
        let index = self.index.map_or(0, |index| index.elements(hidden));
        // The norms behind the two narrow vectors, of queries and of keys and values.
        Elements::of(Class::Attention, attention + index).and(Class::Rest, norm + self.rank)
    }
}

/// Attention of DeepSeek V4: one key, which is also the value; a window of uncompressed tokens;
/// before it, runs of tokens that are compressed into one each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compressed {
    pub(super) heads: u128,
    /// Width of a head, of the key and of the value.
    pub(super) head: u128,
    pub(super) query_rank: u128,
    /// Width that all groups of the output go through together.
    pub(super) out_rank: u128,
    /// Groups of the output.
    pub(super) out_groups: u128,
    /// Tokens that become one; 0 when nothing is kept behind the window.
    pub(super) ratio: u128,
    /// Tokens that are kept as they are.
    pub(super) window: u128,
    /// The indexer that selects the attended runs, for ratio 4.
    pub(super) index: Option<Index>,
}

impl Compressed {
    /// Runs of four tokens overlap: each is compressed twice.
    const OVERLAPPING: u128 = 4;

    /// Whether its runs overlap. Only then an indexer selects the attended runs.
    pub(super) fn overlaps(self) -> bool {
        self.ratio == Self::OVERLAPPING
    }

    /// Elements of the compression of runs into vectors of a width: two matrices, positions within
    /// a run, a norm.
    fn compressor(self, hidden: u128, width: u128) -> u128 {
        let wide = if self.overlaps() { 2 * width } else { width };
        2 * hidden * wide + self.ratio * wide + width
    }

    fn elements(self, hidden: u128) -> Elements {
        let queries = self.heads * self.head;
        let elements = hidden * self.query_rank
            + self.query_rank * queries
            + hidden * self.head
            // Each group of heads has a part of the output's matrix; without groups there is none.
            + queries.checked_div(self.out_groups).unwrap_or(0) * self.out_rank
            + self.out_rank * hidden;
        let behind = if self.ratio == 0 { 0 } else { self.compressor(hidden, self.head) };
        let index = self.index.map_or(0, |index| {
            self.query_rank * index.heads * index.head
                + hidden * index.heads
                + self.compressor(hidden, index.head)
        });
        Elements::of(Class::Attention, elements)
            // Compressors stay in full precision: they count as the rest, not as attention.
            .and(Class::Rest, behind + index + self.query_rank + self.head + self.heads)
    }
}

/// A gated delta net.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delta {
    pub(super) key_heads: u128,
    pub(super) key: u128,
    pub(super) value_heads: u128,
    pub(super) value: u128,
    /// Tokens that the convolution before it sees.
    pub(super) kernel: u128,
    pub(super) gates: DeltaGates,
}

/// How a delta net is gated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeltaGates {
    /// A gate on the output, a decay and a step per head (Qwen3-Next).
    PerHead,
    /// A decay per channel and a gate on the output, each through a narrow matrix (Kimi Linear) or
    /// a whole one (Kimi K3: the gate; Ling 3: both).
    PerChannel { whole_decay: bool, whole_gate: bool },
}

impl Delta {
    fn keys(self) -> u128 {
        self.key_heads * self.key
    }

    fn values(self) -> u128 {
        self.value_heads * self.value
    }

    fn elements(self, hidden: u128) -> Elements {
        let (keys, values) = (self.keys(), self.values());
        let qkvo = hidden * (2 * keys + values) + values * hidden;
        let convolution = (2 * keys + values) * self.kernel;
        let (gates, rest) = match self.gates {
            DeltaGates::PerHead => {
                (hidden * values + hidden * 2 * self.value_heads, 2 * self.value_heads + self.value)
            }
            DeltaGates::PerChannel { whole_decay, whole_gate } => {
                let matrix = |whole: bool| {
                    if whole { hidden * values } else { hidden * self.value + self.value * values }
                };
                let gates = matrix(whole_decay) + matrix(whole_gate);
                (gates + hidden * self.value_heads, self.value_heads + values + self.value)
            }
        };
        Elements::of(Class::Attention, qkvo + gates).and(Class::Rest, convolution + rest)
    }

    /// Numbers that are kept per request: the state of each head, and the tokens that the
    /// convolution still needs.
    pub(super) fn kept(self) -> (u128, u128) {
        // The last token is the one that is computed, so that one less is kept.
        let convolution = (2 * self.keys() + self.values()) * self.kernel.saturating_sub(1);
        (self.value_heads * self.key * self.value, convolution)
    }
}

impl Mixer {
    /// Elements of its weights.
    pub(super) fn elements(&self, hidden: u128) -> Elements {
        match self {
            Self::None => Elements::default(),
            Self::Grouped(groups) => groups.elements(hidden),
            Self::Latent(latent) => latent.elements(hidden),
            Self::Compressed(compressed) => compressed.elements(hidden),
            Self::Delta(mixer) => mixer.elements(hidden),
            Self::StateSpace(state) => {
                let (matrices, rest) = state.elements(hidden);
                Elements::of(Class::Attention, matrices).and(Class::Rest, rest)
            }
            Self::Parallel(groups, state) => {
                let (matrices, rest) = state.elements(hidden);
                groups.elements(hidden).and(Class::Attention, matrices).and(Class::Rest, rest)
            }
        }
    }
}

/// The part after the mixing of tokens, for each token alone.
#[derive(Clone, Copy, Debug)]
pub(super) enum FeedForward {
    /// Nothing.
    None,
    /// Matrices to an inner width and back: two, or three with a gate.
    Dense(Dense),
    /// Experts, of which each token uses a few.
    Mixture(Mixture),
}

/// A dense feed-forward part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dense {
    /// Width between.
    pub(super) inner: u128,
    /// Three matrices instead of two.
    pub(super) gated: bool,
    pub(super) bias: bool,
}

impl Dense {
    fn elements(self, hidden: u128) -> u128 {
        let into = linear(hidden, self.inner, self.bias);
        let out = linear(self.inner, hidden, self.bias);
        if self.gated { 2 * into + out } else { into + out }
    }
}

/// A mixture of experts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixture {
    /// How many there are.
    pub(super) experts: u128,
    /// One of them.
    pub(super) expert: Dense,
    /// Width that experts work in, when it is not the hidden width: tokens are projected to it and
    /// back.
    pub(super) width: Option<u128>,
    /// Inner width of the shared expert; 0 without one.
    pub(super) shared: u128,
    /// The shared expert has its own gate.
    pub(super) shared_gate: bool,
    /// Elements of the router other than its matrix: bias, corrections, scales.
    pub(super) router: u128,
}

impl Mixture {
    /// As most have it: experts with a gate, without biases, and nothing shared.
    pub(super) fn of(experts: u128, inner: u128) -> Self {
        Self {
            experts,
            expert: Dense { inner, gated: true, bias: false },
            width: None,
            shared: 0,
            shared_gate: false,
            router: 0,
        }
    }

    fn elements(&self, hidden: u128) -> Elements {
        let width = self.width.unwrap_or(hidden);
        let experts = self.experts * Dense { bias: false, ..self.expert }.elements(width);
        // Biases of experts stay as they are.
        let biases = self.experts * self.expert.elements(width) - experts;
        let projections = self.width.map_or(0, |width| 2 * hidden * width);
        let shared = Dense { inner: self.shared, ..self.expert };
        let shared = if self.shared == 0 { 0 } else { shared.elements(hidden) };
        let gate = if self.shared_gate { hidden } else { 0 };
        Elements::of(Class::Experts, experts)
            .and(Class::FeedForward, shared + projections)
            // The router is a matrix, but it is never quantized.
            .and(Class::Rest, hidden * self.experts + self.router + gate + biases)
    }
}

impl FeedForward {
    /// With a gate and without biases.
    pub(super) fn gated(inner: u128) -> Self {
        Self::Dense(Dense { inner, gated: true, bias: false })
    }

    /// Two matrices.
    pub(super) fn plain(inner: u128, bias: bool) -> Self {
        Self::Dense(Dense { inner, gated: false, bias })
    }

    /// Elements of its weights.
    pub(super) fn elements(&self, hidden: u128) -> Elements {
        match self {
            Self::None => Elements::default(),
            Self::Dense(dense) => Elements::of(Class::FeedForward, dense.elements(hidden)),
            Self::Mixture(mixture) => mixture.elements(hidden),
        }
    }
}

/// One layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    pub(super) mixer: Mixer,
    pub(super) feed_forward: FeedForward,
    /// Elements of its norms and other small parts.
    pub(super) rest: u128,
}

impl Layer {
    /// Elements of its weights.
    pub(super) fn elements(&self, hidden: u128) -> Elements {
        let mut elements = self.mixer.elements(hidden);
        elements += self.feed_forward.elements(hidden);
        elements.and(Class::Rest, self.rest)
    }
}

// State spaces (Mamba 2), as `transformers` has them in `models/mamba2/modeling_mamba2.py`.
//
// In: widths of a config. Out: elements and state of the layer.

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
    fn elements(self, hidden: u128) -> (u128, u128) {
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
