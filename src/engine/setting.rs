//! A value of an engine with the leaf that set it, and what an engine cannot read.

use super::identity::Engine;
use crate::yaml::Origin;
use ecow::{EcoString, eco_format};

/// A value with the leaf that set it.
#[derive(Clone, Debug)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// The flag or the variable as written, or `default of ENGINE`.
    pub from: EcoString,
    /// Where it was written; nothing for a default.
    pub origin: Option<Origin>,
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub enum Known<T> {
    /// It is set.
    Set(Setting<T>),
    /// Nothing sets it, and the engine's default applies.
    Default,
    /// Something may set it that is not known offline.
    Unknown,
}

impl<T: Clone> Known<T> {
    /// The value that is set.
    pub fn set(&self) -> Option<&Setting<T>> {
        match self {
            Self::Set(setting) => Some(setting),
            Self::Default | Self::Unknown => None,
        }
    }

    /// Whether the engine's default applies.
    pub fn is_default(&self) -> bool {
        matches!(self, Self::Default)
    }

    /// The value, or this default; nothing when it is unknown.
    pub fn or(&self, default: T, engine: Engine) -> Option<Setting<T>> {
        match self {
            Self::Set(setting) => Some(setting.clone()),
            Self::Default => Some(Setting {
                value: default,
                from: eco_format!("default of {engine}"),
                origin: None,
            }),
            Self::Unknown => None,
        }
    }
}

/// A part of a command line that the engine cannot read.
#[derive(Clone, Debug)]
pub enum Fault {
    /// One element holds a whole command line.
    CommandLine {
        /// The element.
        text: EcoString,
        /// Its place.
        origin: Origin,
    },
    /// The release of the engine has no such flag.
    Unknown {
        /// The flag.
        flag: EcoString,
        /// The release.
        release: EcoString,
        /// Its place.
        origin: Origin,
    },
    /// Flags and their values that are one element.
    Joined {
        /// The element.
        text: EcoString,
        /// Its words, as a shell splits them.
        words: Vec<EcoString>,
        /// The server does not start with it; it does where a flag that takes any text takes it.
        stops: bool,
        /// Its place.
        origin: Origin,
    },
    /// A number that the engine refuses.
    Range {
        /// The flag.
        flag: EcoString,
        /// The value.
        text: EcoString,
        /// The numbers that are taken.
        expected: EcoString,
        /// Its place.
        origin: Origin,
    },
    /// A step has fewer tokens than requests.
    FewTokens {
        /// The flag of the tokens, and its number.
        tokens: (EcoString, u64),
        /// The flag of the requests, and its number.
        requests: (EcoString, u64),
        /// The place of the tokens.
        origin: Origin,
    },
    /// A value is no number as the engine reads it.
    Number {
        /// The flag.
        flag: EcoString,
        /// The value.
        text: EcoString,
        /// A number of this kind is expected.
        expected: &'static str,
        /// Its place.
        origin: Origin,
    },
}
