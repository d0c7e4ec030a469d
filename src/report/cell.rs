//! Texts with their meanings, and the only table of colors for terminals and pages. Whoever makes a
//! text says what it means: a name that looks like a symbol has no color.

use super::screen::printable;
use comfy_table::Color;
use ecow::EcoString;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::fmt::Display;

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
    pub(super) fn of_sign(sign: &'static str) -> Self {
        match sign {
            "+" => Self::Good,
            "~" | "!" => Self::Attention,
            _ => Self::Bad,
        }
    }

    /// Its symbol.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Bad => "✗",
            Self::Attention => "!",
            Self::Faint => "·",
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

/// A text with its meaning: a cell of a table, or a sentence. In a template it has the fields `text`
/// and `class`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The text; one with a meaning begins with the symbol of it.
    pub text: String,
    /// The meaning; names and values have none.
    pub(super) meaning: Option<Meaning>,
}

impl Cell {
    /// A text after the symbol of its meaning.
    pub(super) fn marked(meaning: Meaning, text: impl Display) -> Self {
        Self { text: format!("{} {text}", meaning.symbol()), meaning: Some(meaning) }
    }

    /// `✓ text`.
    pub(super) fn good(text: impl Display) -> Self {
        Self::marked(Meaning::Good, text)
    }

    /// `✗ text`.
    pub(super) fn bad(text: impl Display) -> Self {
        Self::marked(Meaning::Bad, text)
    }

    /// `! text`.
    pub(super) fn warn(text: impl Display) -> Self {
        Self::marked(Meaning::Attention, text)
    }

    /// A text in gray: a default.
    pub(super) fn faint(text: impl Into<String>) -> Self {
        Self { text: text.into(), meaning: Some(Meaning::Faint) }
    }

    /// The dash for what is not there.
    pub(super) fn none() -> Self {
        Self::faint("-")
    }

    /// The layer that a value is from; a default is nothing that anyone wrote.
    pub(super) fn layer(name: &'static str) -> Self {
        if name == "default" { Self::faint(name) } else { name.into() }
    }

    /// The text, or the dash.
    pub(super) fn or_none(text: Option<impl Into<Self>>) -> Self {
        text.map_or_else(Self::none, Into::into)
    }

    /// Whether it is the dash.
    pub(super) fn is_none(&self) -> bool {
        self.meaning == Some(Meaning::Faint) && self.text == "-"
    }

    /// The symbol of its meaning; a dot without one.
    pub(super) fn symbol(&self) -> &'static str {
        self.meaning.unwrap_or(Meaning::Faint).symbol()
    }

    /// The text without the symbol of its meaning.
    pub(super) fn words(&self) -> &str {
        let sign = self.meaning.map(Meaning::symbol);
        let rest = sign.and_then(|sign| self.text.strip_prefix(sign)?.strip_prefix(' '));
        rest.unwrap_or(&self.text)
    }

    /// Whether it says that something failed.
    pub(super) fn is_bad(&self) -> bool {
        self.meaning == Some(Meaning::Bad)
    }

    /// The text without its ✓, and without its meaning; any other text as it is.
    pub(super) fn unconfirmed(mut self) -> Self {
        if self.meaning == Some(Meaning::Good) {
            self.meaning = None;
            self.text.drain(.."✓ ".len());
        }
        self
    }

    /// The same meaning with another text.
    pub(super) fn with(&self, text: String) -> Self {
        Self { text, meaning: self.meaning }
    }

    /// The text for a terminal, in its color.
    pub(super) fn shown(&self, color: bool) -> String {
        let text = printable(&self.text);
        match self.meaning.filter(|_| color) {
            Some(meaning) => meaning.painted(&text),
            None => text,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, meaning: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&EcoString> for Cell {
    fn from(text: &EcoString) -> Self {
        text.as_str().into()
    }
}

impl From<EcoString> for Cell {
    fn from(text: EcoString) -> Self {
        text.as_str().into()
    }
}

impl AsRef<str> for Cell {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Cell", 2)?;
        out.serialize_field("text", &self.text)?;
        out.serialize_field("class", self.meaning.map_or("", Meaning::class))?;
        out.end()
    }
}

/// A row of a table; a text in it has no meaning.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($crate::report::cell::Cell::from($cell)),*] };
}
pub(super) use row;

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
    use crate::testing::{catalog, gpu_node, ome, service};

    #[test]
    fn signs_of_groups_have_colors() {
        assert_eq!(
            with_signs("0  ○◐●●·  x", true),
            "0  ○\u{1b}[33m◐\u{1b}[0m\u{1b}[32m●●\u{1b}[0m\u{1b}[90m·\u{1b}[0m  x"
        );
        assert_eq!(with_signs("○◐", false), "○◐");
    }

    #[test]
    fn a_text_has_the_color_that_its_maker_says() {
        for (cell, text, color, class) in [
            (Cell::good("room for 8"), "✓ room for 8", "32", "good"),
            (Cell::bad("stuck"), "✗ stuck", "31", "bad"),
            (Cell::warn("tie: a, b"), "! tie: a, b", "33", "warn"),
            (Cell::none(), "-", "90", "dim"),
            (Cell::faint("default"), "default", "90", "dim"),
        ] {
            assert_eq!(cell.shown(true), format!("\u{1b}[{color}m{text}\u{1b}[0m"));
            assert_eq!(cell.shown(false), text);
            assert_eq!(
                serde_json::to_value(&cell).unwrap(),
                serde_json::json!({ "text": text, "class": class })
            );
        }
    }

    #[test]
    fn a_name_has_no_color_whatever_it_looks_like() {
        for name in ["default", "fits", "none", "-", "✓ yes", "✗ no", "! x", "~ y", "+", "-/+ z"]
        {
            let cells = row![name, name.to_owned(), &EcoString::from(name)];
            for cell in cells {
                assert_eq!(cell.shown(true), name);
                assert!(!cell.is_none() && !cell.is_bad(), "{name}");
                assert_eq!(serde_json::to_value(&cell).unwrap()["class"], "");
                assert_eq!(cell.clone().unconfirmed(), cell);
            }
        }
    }

    #[test]
    fn commands_color_their_verdicts_and_no_name_of_the_input() {
        let input = catalog(2)
            + &service("fits", "")
            + &service("none", "").replace("namespace: ml", "namespace: default")
            + &gpu_node("default", 3, "");
        let page = ome("plan --color always", &input).out;
        for text in ["✓ 1 of 1", "✗ 0 of 1"] {
            assert!(page.contains(&format!("m{text}")), "{text}: {page:?}");
        }
        let page = page + &ome("explain --color always", &input).out;
        assert!(page.contains("NEAREST NODE"), "{page}");
        for name in ["default", "fits", "none"] {
            assert!(page.contains(name) && !page.contains(&format!("m{name}")), "{name}: {page:?}");
        }
    }

    #[test]
    fn what_is_not_confirmed_loses_its_symbol_and_its_color() {
        assert_eq!(Cell::good("complete").unconfirmed(), Cell::from("complete"));
        assert_eq!(Cell::bad("stuck").unconfirmed(), Cell::bad("stuck"));
    }

    #[test]
    fn signs_of_changes_have_meanings() {
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
