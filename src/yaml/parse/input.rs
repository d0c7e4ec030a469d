//! The text as the scanner asks for it, and a guard that stops the scanner where its own work would explode.
//!
//! The scanner must read a whole flow collection before it can say whether that is a key, and at every token it looks at
//! every open collection. Deep or long ones would cost it minutes or gigabytes, and the limits on the tree come too late.
//! So the text ends for the scanner where a limit is passed; the guard remembers which one and where.
//!
//! The scanner also wants the lines of a flow collection or a quoted scalar indented, as YAML 1.2 does; kubectl does not, and
//! a closing bracket at the beginning of a line is common. The lenient text puts spaces before such lines, which mean nothing
//! there, and the guard remembers where, so that places stay right.

use saphyr_parser::Input;
use saphyr_parser::input::SkipTabs;
use std::cell::{Cell, RefCell};

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
    /// Spaces that are not in the text: the scanner's count of characters before them, how many they are, and how many there
    /// were before.
    spaces: RefCell<Vec<(usize, usize, usize)>>,
}

impl Guard {
    /// The place in the text of a place that the scanner counted, both in characters.
    pub(super) fn place(&self, counted: usize) -> usize {
        let spaces = self.spaces.borrow();
        let before = spaces.partition_point(|(at, ..)| *at <= counted);
        match before.checked_sub(1).and_then(|last| spaces.get(last)) {
            Some((at, count, earlier)) => counted - earlier - (*count).min(counted - at),
            None => counted,
        }
    }
}

/// Up to this column a line is given the spaces that it lacks.
const DEEPEST_COLUMN: usize = 256;

/// A text for the scanner.
pub(super) struct Text<'a, const LENIENT: bool> {
    whole: &'a str,
    position: usize,
    lookahead: usize,
    /// One past the bracket, brace or comma that was consumed last; 0 when there is none.
    last: usize,
    /// Open flow collections: where they began.
    flow: Vec<usize>,
    /// Items that flow collections are known to have.
    items: usize,
    /// One past the quote that was consumed last.
    quote: usize,
    /// The byte of the opening quote, inside of a quoted scalar.
    quoted: Option<usize>,
    /// Spaces to give before the text goes on.
    spaces: usize,
    /// How many characters the text has before this byte.
    counted: (usize, usize),
    depth: usize,
    nodes: usize,
    guard: &'a Guard,
}

impl<'a, const LENIENT: bool> Text<'a, LENIENT> {
    pub(super) fn new(text: &'a str, depth: usize, nodes: usize, guard: &'a Guard) -> Self {
        Self {
            whole: text,
            position: 0,
            lookahead: 0,
            last: 0,
            flow: Vec::new(),
            items: 0,
            quote: 0,
            quoted: None,
            spaces: 0,
            counted: (0, 0),
            depth,
            nodes,
            guard,
        }
    }

    #[inline]
    fn byte(&self, ahead: usize) -> u8 {
        if LENIENT && self.spaces > 0 {
            return if ahead < self.spaces { b' ' } else { self.whole.as_bytes().get(self.position + ahead - self.spaces).copied().unwrap_or(0) };
        }
        self.whole.as_bytes().get(self.position + ahead).copied().unwrap_or(0)
    }

    /// Moves on by one byte, which is ASCII.
    #[inline]
    fn step(&mut self) {
        if LENIENT && self.spaces > 0 {
            self.spaces -= 1;
        } else {
            self.position += 1;
        }
    }

    /// After the end of a line inside of a flow collection or a quoted scalar: gives spaces where the next one has too few.
    fn indent(&mut self) {
        let Some(opening) = self.quoted.or(self.flow.first().copied()) else { return };
        let bytes = self.whole.as_bytes();
        // Nobody indents by hundreds of columns; whoever does has to indent what follows as well.
        let before = &bytes[opening.saturating_sub(DEEPEST_COLUMN)..opening];
        let line = match before.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(at) => &before[at + 1..],
            None if before.len() == opening => before,
            None => return,
        };
        // Bytes that continue a character are no column.
        let column = line.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        let there = bytes[self.position..].iter().take_while(|byte| **byte == b' ').count();
        if there < column && !matches!(self.byte(there), 0 | b'\n' | b'\r') {
            self.spaces = column - there;
            let (byte, characters) = self.counted;
            let characters = characters + self.whole[byte..self.position].chars().count();
            self.counted = (self.position, characters);
            let mut spaces = self.guard.spaces.borrow_mut();
            let earlier = spaces.last().map_or(0, |(_, count, earlier)| count + earlier);
            spaces.push((characters + earlier, self.spaces, earlier));
        }
    }

    fn wide(&self) -> char {
        self.whole[self.position..].chars().next().unwrap_or('\0')
    }

    /// Called where a collection begins or ends or goes on: only there does the scanner skip white space directly after one
    /// of these characters.
    fn punctuation(&mut self) {
        let at = self.last - 1;
        self.last = 0;
        match self.whole.as_bytes()[at] {
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
        self.position = self.whole.len();
    }
}

/// How many characters the scanner takes at once. It makes room for so many in every plain scalar; with this number that
/// fits into what it has anyway.
const AT_ONCE: usize = 24;

impl<const LENIENT: bool> Input for Text<'_, LENIENT> {
    #[inline]
    fn lookahead(&mut self, count: usize) {
        self.lookahead = self.lookahead.max(count);
        // Directly after an opening quote, and after no other, the scanner asks for four characters.
        if LENIENT && self.quote > 0 && self.quote == self.position {
            if count == 4 {
                self.quoted = Some(self.position - 1);
            }
            self.quote = 0;
        }
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
        self.skip();
        Some(c)
    }

    #[inline]
    fn skip(&mut self) {
        let byte = self.byte(0);
        if byte >= 0x80 {
            self.position += self.wide().len_utf8();
            return;
        }
        if self.position >= self.whole.len() {
            return;
        }
        self.step();
        match byte {
            b'[' | b']' | b'{' | b'}' | b',' => self.last = self.position,
            b'"' | b'\'' if LENIENT => self.quote = self.position,
            b'\n' if LENIENT => self.indent(),
            b'\r' if LENIENT && self.byte(0) != b'\n' => self.indent(),
            _ => {}
        }
    }

    #[inline]
    fn skip_n(&mut self, count: usize) {
        for _ in 0..count {
            self.skip();
        }
        // Two quotes, or an escaped one: neither opens or closes anything.
        self.quote = 0;
    }

    #[inline]
    fn peek(&self) -> char {
        let byte = self.byte(0);
        if byte < 0x80 { char::from(byte) } else { self.wide() }
    }

    #[inline]
    fn peek_nth(&self, n: usize) -> char {
        if LENIENT && self.spaces > 0 {
            return char::from(self.byte(n));
        }
        let bytes = self.whole.as_bytes();
        if let Some(ahead) = bytes.get(self.position..=self.position + n)
            && ahead.is_ascii()
        {
            return char::from(ahead[n]);
        }
        self.whole[self.position..].chars().nth(n).unwrap_or('\0')
    }

    #[inline]
    fn peek_opt(&self) -> Option<char> {
        (self.position < self.whole.len()).then(|| self.peek())
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
        self.byte(0) == b'-' && self.byte(1) == b'-' && self.byte(2) == b'-' && matches!(self.byte(3), 0 | b' ' | b'\t' | b'\n' | b'\r')
    }

    #[inline]
    fn next_is_document_end(&self) -> bool {
        self.byte(0) == b'.' && self.byte(1) == b'.' && self.byte(2) == b'.' && matches!(self.byte(3), 0 | b' ' | b'\t' | b'\n' | b'\r')
    }

    fn skip_ws_to_eol(&mut self, skip_tabs: SkipTabs) -> (usize, Result<SkipTabs, &'static str>) {
        if self.last > 0 && self.last == self.position {
            self.punctuation();
        }
        if LENIENT && self.quote > 0 && self.quote == self.position {
            self.quoted = None;
        }
        let mut skipped = 0;
        let (mut tabs, mut spaces) = (false, false);
        loop {
            match self.byte(0) {
                b' ' => spaces = true,
                b'\t' if skip_tabs == SkipTabs::Yes => tabs = true,
                _ => break,
            }
            self.step();
            skipped += 1;
        }
        // kubectl takes `]# comment` and a tab after a colon.
        if self.byte(0) == b'#' {
            skipped += self.skip_while_non_breakz();
        }
        (skipped, Ok(SkipTabs::Result(tabs, spaces || tabs)))
    }

    #[inline]
    fn next_can_be_plain_scalar(&self, in_flow: bool) -> bool {
        match self.byte(0) {
            b':' => !matches!(self.byte(1), 0 | b' ' | b'\t' | b'\n' | b'\r'),
            // kubectl ends plain text at a question mark there.
            b',' | b'[' | b']' | b'{' | b'}' | b'?' => !in_flow,
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
        let given = std::mem::take(&mut self.spaces);
        let rest = &self.whole.as_bytes()[self.position..];
        let length = rest.iter().position(|byte| matches!(byte, 0 | b'\n' | b'\r')).unwrap_or(rest.len());
        let skipped = &self.whole[self.position..self.position + length];
        self.position += length;
        given + if skipped.is_ascii() { length } else { skipped.chars().count() }
    }

    fn skip_while_blank(&mut self) -> usize {
        let mut skipped = 0;
        while self.next_is_blank() {
            self.step();
            skipped += 1;
        }
        skipped
    }
}
