//! Limits of a reader.

/// Bounds of one run, each with its flag. A document or file beyond a bound is a finding that names
/// the flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file, before decoding. `--max-file-size`.
    pub file_size: u64,
    /// Bytes of one document of a file, or of one item of a List. `--max-file-size` too.
    pub document_size: u64,
    /// Files below the paths that are named. `--max-files`.
    pub files: usize,
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
    /// Files of 512 MiB with objects of 8 MiB, 64 levels, a million nodes; 50,000 files. The dump of a
    /// cluster is one List with all of its objects.
    fn default() -> Self {
        Self {
            file_size: 512 << 20,
            document_size: 8 << 20,
            files: 50_000,
            depth: 64,
            nodes: 1_000_000,
        }
    }
}
