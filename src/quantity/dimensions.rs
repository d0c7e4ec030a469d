//! The dimensions of a language model that decide how engines split it and what they reserve.

/// Experts of a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experts {
    /// Experts of a layer.
    pub count: u64,
    /// Experts that compute a token.
    pub chosen: u64,
    /// Width of one expert.
    pub width: u64,
}

/// The dimensions of a model, from its config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Layers.
    pub layers: u64,
    /// Width between the layers.
    pub hidden: u64,
    /// Width of a dense feed-forward part; `None` where all are mixtures.
    pub intermediate: Option<u64>,
    /// Heads of queries.
    pub heads: u64,
    /// Heads of keys and values; `None` where one vector is kept for all heads.
    pub kv_heads: Option<u64>,
    /// Tokens of the vocabulary.
    pub vocabulary: u64,
    /// The head shares its weights with the embedding.
    pub is_tied: bool,
    /// The experts of a mixture.
    pub experts: Option<Experts>,
    /// The longest context that the config allows, scaling included.
    pub positions: Option<u64>,
    /// It also reads images or sounds.
    pub is_multimodal: bool,
    /// It returns vectors, not tokens.
    pub is_pooling: bool,
}
