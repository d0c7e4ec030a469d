//! Failures that end a command early, and their messages.

use super::exit;
use super::proposals::Proposals;
use crate::emit;
use std::io;

/// Why a command could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The call was wrong.
    #[error("{0}")]
    Usage(String),
    /// Something named does not exist; the help offers what does.
    #[error("{message}")]
    NotFound {
        /// The sentence.
        message: String,
        /// The next action.
        help: Option<String>,
    },
    /// The same, and files or documents that may hold it were not read.
    #[error("{failure}")]
    Unread {
        /// The findings about them, as they are printed.
        plain: String,
        /// The same for a terminal with colors.
        colored: String,
        /// The failure to find it.
        failure: Box<Failure>,
    },
    /// Writing failed.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl From<emit::Error> for Failure {
    fn from(error: emit::Error) -> Self {
        let message = error.to_string();
        match error {
            emit::Error::NotADirectory(_) => Self::NotFound {
                message,
                help: Some("name another directory, or move the file away".into()),
            },
            _ => Self::Usage(message),
        }
    }
}

impl Failure {
    /// The help that goes with it.
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::NotFound { help, .. } => help.as_deref(),
            Self::Unread { failure, .. } => failure.help(),
            Self::Usage(_) | Self::Write(_) => None,
        }
    }

    /// With complete commands in its help.
    pub(super) fn proposing(self, proposals: &Proposals) -> Self {
        match self {
            Self::NotFound { message, help } => {
                Self::NotFound { message, help: help.and_then(|help| proposals.complete(&help)) }
            }
            Self::Unread { plain, colored, failure } => {
                Self::Unread { plain, colored, failure: Box::new(failure.proposing(proposals)) }
            }
            Self::Usage(_) | Self::Write(_) => self,
        }
    }

    /// The exit code. A reader that went away (`| head`) is no failure.
    pub fn code(&self) -> u8 {
        match self {
            // Who reads the output may stop early, as `head` does.
            Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => exit::DONE,
            Self::Usage(_) | Self::NotFound { .. } | Self::Unread { .. } | Self::Write(_) => {
                exit::COULD_NOT
            }
        }
    }

    /// Whether there is a message about it.
    pub fn is_quiet(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
