//! Symbols and what they mean: the one table of colors for terminals and pages. A color never says
//! anything that a symbol does not say too.

use comfy_table::Color;

/// What a cell, a sign or a sentence means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Chosen, fits, complete, added: green.
    Good,
    /// Rejected, stuck, in error, removed: red.
    Bad,
    /// Tied, pending, changed: yellow.
    Attention,
    /// None, or a default: gray.
    Faint,
}

impl Meaning {
    /// By the symbol that a text begins with.
    pub(super) fn of(text: &str) -> Option<Self> {
        match text.split(' ').next().unwrap_or_default() {
            "✓" | "+" => Some(Self::Good),
            "✗" | "-/+" => Some(Self::Bad),
            "!" | "~" => Some(Self::Attention),
            "-" | "default" if !text.contains(' ') => Some(Self::Faint),
            _ => None,
        }
    }

    /// By the sign of a change: what is neither added nor changed is removed.
    pub(super) fn of_sign(sign: &str) -> Self {
        match sign {
            "+" => Self::Good,
            "~" | "!" => Self::Attention,
            _ => Self::Bad,
        }
    }

    /// Of a cell of a table.
    pub(super) fn color(self) -> Color {
        match self {
            Self::Good => Color::Green,
            Self::Bad => Color::Red,
            Self::Attention => Color::Yellow,
            Self::Faint => Color::DarkGrey,
        }
    }

    /// The text as a terminal shows it in color. The text is printable already.
    pub(super) fn painted(self, text: &str) -> String {
        let code = match self {
            Self::Good => "32",
            Self::Bad => "31",
            Self::Attention => "33",
            Self::Faint => "90",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Its class in the stylesheet of pages.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Attention => "warn",
            Self::Faint => "dim",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_has_one_meaning() {
        for (text, expected) in [
            ("✓ room for 8", Some(Meaning::Good)),
            ("✗ stuck", Some(Meaning::Bad)),
            ("! tie: a, b", Some(Meaning::Attention)),
            ("-", Some(Meaning::Faint)),
            ("- of 3", None),
            ("-4", None),
            ("chat", None),
        ] {
            assert_eq!(Meaning::of(text), expected, "{text}");
        }
        for (sign, expected) in [
            ("+", Meaning::Good),
            ("~", Meaning::Attention),
            ("-", Meaning::Bad),
            ("-/+", Meaning::Bad),
        ] {
            assert_eq!(Meaning::of_sign(sign), expected, "{sign}");
        }
    }
}
