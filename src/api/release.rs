//! Releases of operators, and the two modes: follow the documents or the code of a release.

use serde::Serialize;
use std::fmt;

/// The mode: documented or controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Semantics {
    /// The documents as written; docs/decisions.md resolves contradictions.
    #[default]
    Documented,
    /// The behavior of the pinned upstream code, including quirks.
    Controller,
}

impl Semantics {
    /// Returns the value used in flags and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::Controller => "controller",
        }
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A release of an operator. Its tag is unique within the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The tag, as `--release` takes it.
    pub tag: &'static str,
    /// Date of the tag, or of the commit.
    pub date: &'static str,
    /// Commit in the operator's repository.
    pub commit: &'static str,
    /// How its rules are known.
    pub knowledge: Knowledge,
}

/// How the rules of a release are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// Its documents are the rules.
    Documents,
    /// Its controllers were run: services whose objects were recorded.
    Recorded(u32),
    /// Its sources were read; what could not be read to its end.
    Read(&'static [&'static str]),
}

impl Knowledge {
    /// Returns the word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Recorded(_) => "recorded",
            Self::Read(_) => "read",
        }
    }
}
