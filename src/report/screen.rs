//! Makes text safe for a terminal: no character that a terminal interprets or hides, and no line
//! ends except those of this tool.
//!
//! In: text that may contain names, messages and lines of an input. Out: the same text with every
//! such character escaped, including line ends: GitHub Actions executes a line that begins with
//! `::error::`, and a reader trusts a line that looks like output of this tool. [`printable`]
//! escapes a piece of text, [`Page`] a text under construction; `cli` escapes all output of the
//! process once more.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write;
use std::io;
use std::ops::Range;

/// Takes a text piece by piece.
pub type Draw<'d> = dyn FnMut(&str) -> io::Result<()> + 'd;

/// Whether a character is a control character, invisible, or changes the direction of the text
/// around it: the text would differ from what is visible.
pub(crate) fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Text on one line without control characters: no escape sequence of an input reaches a terminal.
pub fn printable(text: &str) -> String {
    match spelled_out(text) {
        Some(spelled) => spelled,
        None => text.to_owned(),
    }
}

/// The text with unsafe characters escaped; `None` if it has none.
fn spelled_out(text: &str) -> Option<String> {
    // Nearly every text is ASCII, and bytes are tested faster than characters.
    let plain = if text.is_ascii() {
        !text.bytes().any(|byte| byte.is_ascii_control())
    } else {
        !text.chars().any(is_obeyed)
    };
    (!plain).then(|| {
        text.chars().fold(String::with_capacity(text.len() + 8), |mut out, c| {
            if is_obeyed(c) {
                out.push_str(&escape(c));
            } else {
                out.push(c);
            }
            out
        })
    })
}

/// Characters in a part of a source that cannot be drawn unchanged; line ends and tabs can.
pub(super) fn undrawable(text: &str, part: Range<usize>) -> impl Iterator<Item = (usize, char)> {
    let bytes = text.as_bytes();
    let ends_line = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    // The line end of Windows is drawn as one.
    let start = part.start;
    text[part]
        .char_indices()
        .map(move |(at, c)| (start + at, c))
        .filter(move |(at, c)| is_obeyed(*c) && !matches!(c, '\n' | '\t') && !ends_line(*at))
}

/// The escaped form of such a character.
pub(super) fn escape(c: char) -> String {
    if c == '\n' { "\\n".to_owned() } else { format!("\\u{{{:x}}}", u32::from(c)) }
}

/// A text under construction. Lines end only with [`line!`](crate::report::screen::line), at the
/// ends of a template, or with [`Page::end_line`]: values in a template are made printable. Text
/// that is already drawn, and may be colored, is added unchanged.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

impl Page {
    /// Appends a fixed text of this tool.
    pub(crate) fn push_str(&mut self, text: &'static str) {
        self.0.push_str(text);
    }

    /// Appends a formatted template. Only line ends at the beginning and the end of the template
    /// are kept.
    pub(crate) fn put(&mut self, template: &'static str, filled: fmt::Arguments<'_>) {
        let start = self.0.len();
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(filled);
        let trimmed = template.trim_matches('\n');
        // A template of line ends alone counts as an end only: counted twice, the range would be
        // reversed.
        let before = if trimmed.is_empty() {
            0
        } else {
            template.len() - template.trim_start_matches('\n').len()
        };
        let after = template.len() - template.trim_end_matches('\n').len();
        let (start, end) = (start + before, self.0.len() - after);
        // Only the inserted values can have such characters: the template has none.
        if let Some(spelled) = self.0.get(start..end).and_then(spelled_out) {
            self.0.replace_range(start..end, &spelled);
        }
    }

    /// Appends a line end.
    pub(crate) fn end_line(&mut self) {
        self.0.push('\n');
    }

    /// Appends drawn text: a table or another page.
    pub(crate) fn draw(&mut self, drawn: &str) {
        self.0.push_str(drawn);
    }

    /// The text.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// Writes a template into a [`Page`]. It may begin and end with line ends, but contain none.
macro_rules! put {
    ($page:expr, $template:literal $($rest:tt)*) => {{
        const { assert!($crate::report::screen::is_one_line($template), "a template is one line") }
        $page.put($template, format_args!($template $($rest)*))
    }};
}
pub(crate) use put;

/// Writes a template and ends the line.
macro_rules! line {
    ($page:expr, $template:literal $($rest:tt)*) => {{
        $crate::report::screen::put!($page, $template $($rest)*);
        $page.end_line();
    }};
}
pub(crate) use line;

/// Whether a template has line ends only at its beginning and its end.
pub(crate) const fn is_one_line(template: &str) -> bool {
    let text = template.as_bytes();
    let (mut start, mut end) = (0, text.len());
    while start < end && text[start] == b'\n' {
        start += 1;
    }
    while end > start && text[end - 1] == b'\n' {
        end -= 1;
    }
    while start < end {
        if text[start] == b'\n' {
            return false;
        }
        start += 1;
    }
    true
}

/// Lines of a manifest for people. A line that GitHub Actions would read as a command, with or
/// without leading spaces, is escaped.
pub fn unobeyed(text: &str) -> Cow<'_, str> {
    if !text.contains("::") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive('\n') {
        // The runner trims a line before it looks for a command.
        match line.trim_start().strip_prefix("::") {
            Some(rest) => {
                out.push_str(&line[..line.len() - rest.len() - "::".len()]);
                out.push_str("\\u{3a}:");
                out.push_str(rest);
            }
            None => out.push_str(line),
        }
    }
    Cow::Owned(out)
}

/// The output of the process: without control characters, except tabs, line ends and, in colored
/// text, color sequences.
pub(crate) fn guarded(text: &str, colored: bool) -> Cow<'_, str> {
    let kept = |at: usize, c: char| match c {
        '\n' | '\t' => true,
        '\u{1b}' => colored && colors(&text[at..]),
        // Output for programs has other characters than a terminal obeys.
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

/// Whether a text begins with a sequence that only sets the look of the next characters: `ESC [ 1 ;
/// 31 m`.
fn colors(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return false };
    rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, expected) in [
            ("plain üñ", "plain üñ"),
            ("a\n::error::b", "a\\n::error::b"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("a\rb\u{9b}2J\u{7f}", "a\\u{d}b\\u{9b}2J\\u{7f}"),
            ("user\u{202e}nimda", "user\\u{202e}nimda"),
        ] {
            assert_eq!(printable(text), expected);
            let mut page = Page::default();
            put!(page, "{text}");
            assert_eq!(page.finish(), expected);
        }
    }

    #[test]
    fn manifest_lines_never_form_a_github_command() {
        for (text, expected) in [
            ("a: |\n  b::c\n", "a: |\n  b::c\n"),
            (" script: |\n   ::error::x\n::stop", " script: |\n   \\u{3a}:error::x\n\\u{3a}:stop"),
        ] {
            assert_eq!(unobeyed(text), expected);
        }
    }

    #[test]
    fn newlines_come_only_from_the_format_template() {
        let name = "\nname\n";
        let mut page = Page::default();
        put!(page, "\n\n{name}:\n");
        line!(page, "{name}");
        line!(page, "\n{}{name}", name);
        put!(page, "\n");
        assert_eq!(page.finish(), "\n\n\\nname\\n:\n\\nname\\n\n\n\\nname\\n\\nname\\n\n\n");
    }

    #[test]
    fn only_color_escapes_are_printed_and_only_in_color_mode() {
        for (text, colored, expected) in [
            ("\u{1b}[1mNAME\u{1b}[0m\tx\n", true, "\u{1b}[1mNAME\u{1b}[0m\tx\n"),
            ("\u{1b}[1mNAME", false, "\\u{1b}[1mNAME"),
            ("\u{1b}[2J\u{1b}[31;1mé\u{9b}1m\r", true, "\\u{1b}[2J\u{1b}[31;1mé\\u{9b}1m\\u{d}"),
        ] {
            assert_eq!(guarded(text, colored), expected);
        }
    }
}
