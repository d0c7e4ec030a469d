//! Limits of a reader.

/// Bounds of one run, each with its flag. A document or file beyond a bound is a finding that names
/// the flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file, before decoding. `--max-file-size`.
    pub file_size: u64,
    /// Levels of lists and mappings in one document; a list of scalars is one level.
    /// `--max-depth`.
    pub depth: usize,
    /// Nodes (keys are none) of one document, aliases and merge keys counted as often as they are
    /// used. `--max-nodes`.
    pub nodes: usize,
}

impl Limits {
    /// The maximum depth of any setting: trees are walked by recursive functions, and the scanner
    /// counts brackets and braces in 8 bits.
    pub const DEEPEST: usize = 250;
}

impl Default for Limits {
    /// 8 MiB, 64 levels, a million nodes.
    fn default() -> Self {
        Self { file_size: 8 << 20, depth: 64, nodes: 1_000_000 }
    }
}
