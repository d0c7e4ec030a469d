//! What may reach a terminal: text without anything that a terminal would obey or hide.
//!
//! In: text that may hold names, messages and lines of an input. Out: the same with every such
//! character spelt out. [`printable`] guards a piece of text, [`Page`] a text under construction;
//! `cli` guards once more what leaves the process.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write;
use std::ops::Range;

/// Control characters, characters that are not seen, and marks that turn the direction of what
/// stands around them: text would not be what is seen.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Text without control characters: no escape of an input reaches a terminal. Line feeds stay.
pub fn printable(text: &str) -> String {
    if text.chars().all(|c| !is_obeyed(c) || c == '\n') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    spell_out(&mut out, text);
    out
}

fn spell_out(out: &mut String, text: &str) {
    for c in text.chars() {
        if is_obeyed(c) && c != '\n' {
            out.push_str(&escape(c));
        } else {
            out.push(c);
        }
    }
}

/// Characters in a part of a source that cannot be drawn as they are: ends of lines and tabs can.
pub(super) fn undrawable(text: &str, part: Range<usize>) -> impl Iterator<Item = (usize, char)> {
    let bytes = text.as_bytes();
    let ends_line = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    let start = part.start;
    text[part]
        .char_indices()
        .map(move |(at, c)| (start + at, c))
        .filter(move |(at, c)| is_obeyed(*c) && !matches!(c, '\n' | '\t') && !ends_line(*at))
}

/// How such a character is written.
pub(super) fn escape(c: char) -> String {
    format!("\\u{{{:x}}}", u32::from(c))
}

/// A text under construction: what is written into it is made printable, what is already drawn (and
/// may be coloured) is not.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

impl Page {
    /// Appends text.
    pub(crate) fn push_str(&mut self, text: &str) {
        spell_out(&mut self.0, text);
    }

    /// Appends an end of a line.
    pub(crate) fn end_line(&mut self) {
        self.0.push('\n');
    }

    /// Appends a table, whose cells are printable.
    pub(crate) fn draw(&mut self, table: &str) {
        self.0.push_str(table);
    }

    /// The text.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

impl fmt::Write for Page {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

/// What leaves the process for people or programs: nothing that a terminal obeys, but tabs, ends of
/// lines, and where text is coloured the sequences that only colour.
pub(crate) fn guarded(text: &str, colored: bool) -> Cow<'_, str> {
    let kept = |at: usize, c: char| match c {
        '\n' | '\t' => true,
        '\u{1b}' => colored && colours(&text[at..]),
        _ => !c.is_control(),
    };
    if text.is_ascii()
        && !text.bytes().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t'))
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if kept(at, c) {
            out.push(c);
        } else {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
    Cow::Owned(out)
}

/// Whether a text begins with a sequence that only chooses how the next characters look: `ESC [ 1 ;
/// 31 m`.
fn colours(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return false };
    rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    #[test]
    fn what_a_terminal_obeys_is_spelt_out() {
        for (text, expected) in [
            ("plain\nüñ", "plain\nüñ"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("a\rb\u{9b}2J\u{7f}", "a\\u{d}b\\u{9b}2J\\u{7f}"),
            ("user\u{202e}nimda", "user\\u{202e}nimda"),
        ] {
            assert_eq!(printable(text), expected);
            let mut page = Page::default();
            write!(page, "{text}").unwrap();
            assert_eq!(page.finish(), expected);
        }
    }

    #[test]
    fn only_colours_leave_the_process_and_only_where_there_are_any() {
        for (text, colored, expected) in [
            ("\u{1b}[1mNAME\u{1b}[0m\tx\n", true, "\u{1b}[1mNAME\u{1b}[0m\tx\n"),
            ("\u{1b}[1mNAME", false, "\\u{1b}[1mNAME"),
            ("\u{1b}[2J\u{1b}[31;1mé\u{9b}1m\r", true, "\\u{1b}[2J\u{1b}[31;1mé\\u{9b}1m\\u{d}"),
        ] {
            assert_eq!(guarded(text, colored), expected);
        }
    }
}
