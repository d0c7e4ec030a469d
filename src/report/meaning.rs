//! Symbols and their meanings: the only table of colors for terminals and pages. A color always has
//! the same meaning as a symbol next to it.

use super::screen::printable;
use comfy_table::Color;

/// The meaning of a cell, a sign or a sentence.
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
    /// The meaning of the symbol that a text begins with.
    pub(super) fn of(text: &str) -> Option<Self> {
        match text.split(' ').next().unwrap_or_default() {
            "✓" | "+" => Some(Self::Good),
            "✗" | "-/+" => Some(Self::Bad),
            "!" | "~" => Some(Self::Attention),
            // A dash within a sentence is a dash.
            "-" | "default" if !text.contains(' ') => Some(Self::Faint),
            _ => None,
        }
    }

    /// The meaning of the sign of a group of a ModelServing; an old group has no color.
    fn of_group(sign: char) -> Option<Self> {
        match sign {
            '●' => Some(Self::Good),
            '◐' => Some(Self::Attention),
            '·' => Some(Self::Faint),
            _ => None,
        }
    }

    /// The meaning of the sign of a change; any sign that is neither added nor changed means
    /// removed.
    pub(super) fn of_sign(sign: &str) -> Self {
        match sign {
            "+" => Self::Good,
            "~" | "!" => Self::Attention,
            _ => Self::Bad,
        }
    }

    /// The color of a table cell.
    pub(super) fn color(self) -> Color {
        match self {
            Self::Good => Color::Green,
            Self::Bad => Color::Red,
            Self::Attention => Color::Yellow,
            Self::Faint => Color::DarkGrey,
        }
    }

    /// A printable text with the escape sequences for its color on a terminal.
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

/// A line for a terminal, in the color of the symbol that it begins with.
pub(super) fn shown(line: &str, color: bool) -> String {
    let text = printable(line);
    match Meaning::of(&text).filter(|_| color) {
        Some(meaning) => meaning.painted(&text),
        None => text,
    }
}

/// A drawn table with the signs of groups in color.
pub(super) fn with_signs(drawn: &str, color: bool) -> String {
    if !color {
        return drawn.to_owned();
    }
    let mut out = String::with_capacity(drawn.len());
    let mut run = String::new();
    let mut meaning = None;
    for letter in drawn.chars() {
        let next = Meaning::of_group(letter);
        // Runs of one meaning share their escapes: a table has thousands of signs.
        if next != meaning {
            out.push_str(&meaning.map_or_else(|| run.clone(), |meaning| meaning.painted(&run)));
            run.clear();
            meaning = next;
        }
        run.push(letter);
    }
    out.push_str(&meaning.map_or_else(|| run.clone(), |meaning| meaning.painted(&run)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_groups_have_colors() {
        assert_eq!(
            with_signs("0  ○◐●●·  x", true),
            "0  ○\u{1b}[33m◐\u{1b}[0m\u{1b}[32m●●\u{1b}[0m\u{1b}[90m·\u{1b}[0m  x"
        );
        assert_eq!(with_signs("○◐", false), "○◐");
    }

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
