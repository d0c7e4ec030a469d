//! The mode: whether the documents or the controllers are followed.

use serde::Serialize;
use std::fmt;

/// The mode: documents or controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Semantics {
    /// The documents as written, contradictions read as docs/decisions.md reads them.
    #[default]
    Documented,
    /// What the pinned upstream code does, quirks included.
    Controller,
}

impl Semantics {
    /// The other one.
    pub fn twin(self) -> Self {
        match self {
            Self::Documented => Self::Controller,
            Self::Controller => Self::Documented,
        }
    }

    /// The word used in flags and output.
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
