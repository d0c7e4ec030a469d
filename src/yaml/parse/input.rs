//! The text as the scanner asks for it, and a guard that stops the scanner where its own work would explode.
//!
//! The scanner must read a whole flow collection before it can say whether that is a key, and at every token it looks at
//! every open collection. Deep or long ones would cost it minutes or gigabytes, and the limits on the tree come too late.
//! So the text ends for the scanner where a limit is passed; the guard remembers which one and where.

use saphyr_parser::Input;
use saphyr_parser::input::SkipTabs;
use std::cell::Cell;

/// The limit that the flow collections of a document passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    Depth,
    Nodes,
}

/// What the guard saw.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// The limit passed, with the byte where it was.
    pub(super) passed: Cell<Option<(Passed, usize)>>,
    /// The byte of the innermost flow collection that is still open, for the message about its missing end.
    pub(super) open: Cell<Option<usize>>,
}

/// A text for the scanner.
pub(super) struct Text<'a> {
    text: &'a str,
    position: usize,
    lookahead: usize,
    /// One past the bracket, brace or comma that was consumed last; 0 when there is none.
    last: usize,
    /// Open flow collections: where they began.
    flow: Vec<usize>,
    /// Items that flow collections are known to have.
    items: usize,
    depth: usize,
    nodes: usize,
    guard: &'a Guard,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str, depth: usize, nodes: usize, guard: &'a Guard) -> Self {
        Self { text, position: 0, lookahead: 0, last: 0, flow: Vec::new(), items: 0, depth, nodes, guard }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.position + ahead).copied().unwrap_or(0)
    }

    fn wide(&self) -> char {
        self.text[self.position..].chars().next().unwrap_or('\0')
    }

    /// Called where a collection begins or ends or goes on: only there does the scanner skip white space directly after one
    /// of these characters.
    fn punctuation(&mut self) {
        let at = self.last - 1;
        self.last = 0;
        match self.text.as_bytes()[at] {
            b'[' | b'{' => {
                self.flow.push(at);
                self.items += 1;
                if self.flow.len() > self.depth {
                    return self.stop(Passed::Depth, at);
                }
            }
            b',' => self.items += 1,
            _ => {
                self.flow.pop();
            }
        }
        self.guard.open.set(self.flow.last().copied());
        // Every collection is a node, and before every comma there is one.
        if self.items > self.nodes {
            self.stop(Passed::Nodes, at);
        }
    }

    fn stop(&mut self, passed: Passed, at: usize) {
        self.guard.passed.set(Some((passed, at)));
        self.position = self.text.len();
    }
}

/// How many characters the scanner takes at once. It makes room for so many in every plain scalar; with this number that
/// fits into what it has anyway.
const AT_ONCE: usize = 24;

impl Input for Text<'_> {
    #[inline]
    fn lookahead(&mut self, count: usize) {
        self.lookahead = self.lookahead.max(count);
    }

    #[inline]
    fn buflen(&self) -> usize {
        self.lookahead
    }

    #[inline]
    fn bufmaxlen(&self) -> usize {
        AT_ONCE
    }

    #[inline]
    fn raw_read_ch(&mut self) -> char {
        let c = self.peek();
        self.skip();
        c
    }

    #[inline]
    fn raw_read_non_breakz_ch(&mut self) -> Option<char> {
        let c = self.peek();
        if matches!(c, '\0' | '\n' | '\r') {
            return None;
        }
        self.position += c.len_utf8();
        Some(c)
    }

    #[inline]
    fn skip(&mut self) {
        let byte = self.byte(0);
        if byte < 0x80 {
            if self.position < self.text.len() {
                if matches!(byte, b'[' | b']' | b'{' | b'}' | b',') {
                    self.last = self.position + 1;
                }
                self.position += 1;
            }
        } else {
            self.position += self.wide().len_utf8();
        }
    }

    #[inline]
    fn skip_n(&mut self, count: usize) {
        for _ in 0..count {
            self.skip();
        }
    }

    #[inline]
    fn peek(&self) -> char {
        let byte = self.byte(0);
        if byte < 0x80 { char::from(byte) } else { self.wide() }
    }

    #[inline]
    fn peek_nth(&self, n: usize) -> char {
        let bytes = self.text.as_bytes();
        if let Some(ahead) = bytes.get(self.position..=self.position + n)
            && ahead.is_ascii()
        {
            return char::from(ahead[n]);
        }
        self.text[self.position..].chars().nth(n).unwrap_or('\0')
    }

    #[inline]
    fn peek_opt(&self) -> Option<char> {
        (self.position < self.text.len()).then(|| self.peek())
    }

    #[inline]
    fn next_2_are(&self, first: char, second: char) -> bool {
        self.peek() == first && self.peek_nth(1) == second
    }

    #[inline]
    fn next_3_are(&self, first: char, second: char, third: char) -> bool {
        self.peek() == first && self.peek_nth(1) == second && self.peek_nth(2) == third
    }

    #[inline]
    fn next_is_document_indicator(&self) -> bool {
        self.next_is_document_start() || self.next_is_document_end()
    }

    #[inline]
    fn next_is_document_start(&self) -> bool {
        self.text.as_bytes()[self.position..].starts_with(b"---") && matches!(self.byte(3), 0 | b' ' | b'\t' | b'\n' | b'\r')
    }

    #[inline]
    fn next_is_document_end(&self) -> bool {
        self.text.as_bytes()[self.position..].starts_with(b"...") && matches!(self.byte(3), 0 | b' ' | b'\t' | b'\n' | b'\r')
    }

    fn skip_ws_to_eol(&mut self, skip_tabs: SkipTabs) -> (usize, Result<SkipTabs, &'static str>) {
        if self.last > 0 && self.last == self.position {
            self.punctuation();
        }
        let start = self.position;
        let (mut tabs, mut spaces) = (false, false);
        loop {
            match self.byte(0) {
                b' ' => spaces = true,
                b'\t' if skip_tabs == SkipTabs::Yes => tabs = true,
                _ => break,
            }
            self.position += 1;
        }
        let mut skipped = self.position - start;
        if self.byte(0) == b'#' {
            if !tabs && !spaces {
                return (skipped, Err("comments must be separated from other tokens by whitespace"));
            }
            skipped += self.skip_while_non_breakz();
        }
        (skipped, Ok(SkipTabs::Result(tabs, spaces)))
    }

    #[inline]
    fn next_can_be_plain_scalar(&self, in_flow: bool) -> bool {
        match self.byte(0) {
            b':' => {
                let next = self.byte(1);
                !(matches!(next, 0 | b' ' | b'\t' | b'\n' | b'\r') || (in_flow && matches!(next, b',' | b'[' | b']' | b'{' | b'}')))
            }
            b',' | b'[' | b']' | b'{' | b'}' => !in_flow,
            _ => true,
        }
    }

    #[inline]
    fn next_is_blank_or_break(&self) -> bool {
        matches!(self.byte(0), b' ' | b'\t' | b'\n' | b'\r')
    }

    #[inline]
    fn next_is_blank_or_breakz(&self) -> bool {
        matches!(self.byte(0), 0 | b' ' | b'\t' | b'\n' | b'\r')
    }

    #[inline]
    fn next_is_blank(&self) -> bool {
        matches!(self.byte(0), b' ' | b'\t')
    }

    #[inline]
    fn next_is_break(&self) -> bool {
        matches!(self.byte(0), b'\n' | b'\r')
    }

    #[inline]
    fn next_is_breakz(&self) -> bool {
        matches!(self.byte(0), 0 | b'\n' | b'\r')
    }

    #[inline]
    fn next_is_z(&self) -> bool {
        self.byte(0) == 0
    }

    fn skip_while_non_breakz(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.position..];
        let length = rest.iter().position(|byte| matches!(byte, 0 | b'\n' | b'\r')).unwrap_or(rest.len());
        let skipped = &self.text[self.position..self.position + length];
        self.position += length;
        if skipped.is_ascii() { length } else { skipped.chars().count() }
    }

    fn skip_while_blank(&mut self) -> usize {
        let start = self.position;
        while self.next_is_blank() {
            self.position += 1;
        }
        self.position - start
    }
}
