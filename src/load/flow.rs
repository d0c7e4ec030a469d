//! Where a text is within `[…]` or `{…}`, whatever else keeps it from being YAML.
//!
//! In: the lines of a text, one after the other. Out: the placeholders of each that stand in a list or
//! mapping in brackets, where their own braces end a scalar.

use std::ops::Range;

/// What the lines before leave open.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    /// The brackets that were opened and not closed.
    depth: usize,
    /// The quote of a text that goes on.
    quote: Option<u8>,
    /// The indentation of the key whose block of text (`|`, `>`) goes on.
    block: Option<usize>,
}

/// The column of the last key or dash of a line, which a block of text below it is indented from.
fn column(line: &str) -> usize {
    let mut column = line.len() - line.trim_start().len();
    loop {
        let rest = &line[column..];
        let Some(inner) = rest.strip_prefix("- ") else { return column };
        let at = column + (rest.len() - inner.trim_start().len());
        if line[at..].starts_with(['|', '>']) {
            return column;
        }
        column = at;
    }
}

/// Whether a line ends with the sign of a block of text.
fn opens_block(line: &str) -> bool {
    let last = line.trim_end().rsplit([' ', '\t']).next().unwrap_or_default();
    let Some(rest) = last.strip_prefix(['|', '>']) else { return false };
    // The key or the dash stands before it.
    last.len() < line.trim().len()
        && rest.len() <= 2
        && rest.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9'))
}

impl Brackets {
    /// Whether the line that follows begins within brackets.
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// The placeholders of the next line that stand within brackets; `length` is that of the
    /// placeholder with which a text begins.
    pub(super) fn next(
        &mut self,
        line: &str,
        length: impl Fn(&str) -> Option<usize>,
    ) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if line.trim().is_empty() {
            return found;
        }
        if let Some(column) = self.block {
            if line.len() - line.trim_start().len() > column {
                return found;
            }
            self.block = None;
        }
        if self.depth == 0 && line.starts_with("---") {
            *self = Self::default();
            return found;
        }
        let bytes = line.as_bytes();
        // The last sign that is no blank; a scalar begins behind some of them only.
        let mut before = b'-';
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if let Some(quote) = self.quote {
                let is_escaped = quote == b'"' && byte == b'\\';
                if byte == quote {
                    self.quote = None;
                }
                before = byte;
                at += if is_escaped { 2 } else { 1 };
                continue;
            }
            let blank = at == 0 || matches!(bytes[at - 1], b' ' | b'\t');
            if byte == b'#' && blank {
                break;
            }
            // Signs are ASCII, so the byte is the start of a character.
            if byte.is_ascii()
                && let Some(length) = length(&line[at..])
            {
                if self.depth > 0 {
                    found.push(at..at + length);
                }
                at += length;
                before = b'x';
                continue;
            }
            let begins =
                matches!(before, b'[' | b'{' | b',') || (matches!(before, b':' | b'-') && blank);
            match byte {
                b'\'' | b'"' if begins => self.quote = Some(byte),
                b'[' | b'{' if begins || self.depth > 0 => self.depth += 1,
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                before = byte;
            }
            at += 1;
        }
        // A quote that is open outside brackets is hardly one that goes on over lines.
        if self.depth == 0 {
            self.quote = None;
            if opens_block(line) {
                self.block = Some(column(line));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_within_brackets_are_found() {
        let length =
            |text: &str| text.starts_with("${").then(|| text.find('}').map(|at| at + 1))?;
        for (text, expected) in [
            ("a: [${A}, x-${B}]\n", &["${A}", "${B}"][..]),
            ("a: {b: ${B}, c: [${C}]}\nd: ${D}\n", &["${B}", "${C}"]),
            ("a: [\n  ${A},\n  b,\n  ${C}\n]\nd: ${D}\n", &["${A}", "${C}"]),
            ("- [\"${A}\", '${B}'] # [${C}]\n", &[]),
            ("a: don't [${A}\nb: x]\nc: [${C}]\n", &["${C}"]),
            ("a: |\n  x: [${A}]\n\n  y: [\nb: [${B}]\n", &["${B}"]),
            ("- a: >-\n    [${A}]\n  b: [${B}]\n- |\n  [${C}]\n", &["${B}"]),
            ("a: [\"\\\"${A}\", ${B}]\n", &["${B}"]),
            ("a: ä[${A}]\n", &[]),
        ] {
            let mut brackets = Brackets::default();
            let found: Vec<&str> = text
                .split_inclusive('\n')
                .flat_map(|line| {
                    let ranges = brackets.next(line, length);
                    ranges.into_iter().map(move |range| &line[range])
                })
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
