//! Turns characters into tokens, by the rules of kubectl's reader.
//!
//! In: the text of one document, without control characters. Out: tokens with byte offsets in that
//! text. The rules are those of YAML 1.1 in go-yaml 2, including its quirks: the same texts are
//! accepted and rejected as in kubectl. Columns count characters, as there.
//!
//! A `:` makes the text before it a key, so a token can be delayed until the end of the line or for
//! 1024 characters; the lookahead is never longer.

use std::borrow::Cow;
use std::collections::VecDeque;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'a> {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Version(u8, u8),
    TagDirective(&'a str, Cow<'a, str>),
    BlockSequence,
    BlockMapping,
    BlockEnd,
    FlowSequence,
    FlowSequenceEnd,
    FlowMapping,
    FlowMappingEnd,
    FlowEntry,
    BlockEntry,
    Key,
    Value,
    Alias(&'a str),
    Anchor(&'a str),
    Tag(&'a str, Cow<'a, str>),
    Scalar(Cow<'a, str>, Style),
}

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Why the text is refused, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct SyntaxError {
    pub(super) what: &'static str,
    pub(super) at: usize,
    /// Where the thing began that is broken.
    pub(super) from: Option<usize>,
}

/// Where a key may have begun, one for each level of flow collections.
#[derive(Clone, Copy, Debug, Default)]
struct SimpleKey {
    possible: bool,
    /// At the indentation of a mapping nothing but a key may be.
    required: bool,
    /// Whether its token is held back.
    held: bool,
    /// The number of its first token.
    token: usize,
    at: usize,
    line: usize,
    column: isize,
}

/// The longest key that needs no `?`, in characters.
const LONGEST_KEY: usize = 1024;

/// The scanner.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    line_start: usize,
    /// A place on the line with its column, where lines hold more than ASCII.
    last_column: (usize, usize),
    ascii: bool,
    /// The column of the innermost block collection; -1 outside of all.
    indent: isize,
    indents: Vec<isize>,
    keys: Vec<SimpleKey>,
    key_allowed: bool,
    tokens: VecDeque<Token<'a>>,
    /// Tokens handed out.
    taken: usize,
    last_end: usize,
    ended: bool,
    /// The last line lacks its end, which kubectl adds; blocks of text have it.
    unended: bool,
}

/// Bytes that can do nothing but go on with a plain scalar, those within a character among them.
static ORDINARY: [bool; 256] = {
    let mut table = [true; 256];
    let others = b"\0 \t\n\r:,?[]{}\xc2\xe2";
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = false;
        at += 1;
    }
    table
};

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        // A mark at the very beginning belongs to the encoding.
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self {
            text,
            at,
            line: 0,
            line_start: at,
            last_column: (at, 0),
            ascii: text.is_ascii(),
            indent: -1,
            indents: Vec::new(),
            keys: vec![SimpleKey::default()],
            key_allowed: true,
            tokens: VecDeque::new(),
            taken: 0,
            last_end: 0,
            ended: false,
            unended: !text.ends_with('\n'),
        }
    }

    /// Whether the scanner is inside of brackets or braces.
    fn in_flow(&self) -> bool {
        self.keys.len() > 1
    }

    #[inline]
    fn byte(&self) -> u8 {
        self.ahead(0)
    }

    #[inline]
    fn ahead(&self, count: usize) -> u8 {
        self.text.as_bytes().get(self.at + count).copied().unwrap_or(0)
    }

    /// The bytes of the line break that is `count` bytes ahead; 0 where there is none.
    #[inline]
    fn break_ahead(&self, count: usize) -> usize {
        match self.ahead(count) {
            b'\n' => 1,
            b'\r' => match (self.ahead(count + 1), self.ahead(count + 2)) {
                (b'\n', _) => 2,
                // Whoever divides the lines for kubectl has taken one of them away.
                (b'\r', b'\n') => 3,
                _ => 1,
            },
            // NEL, and below the separators LS and PS, end a line in YAML 1.1.
            0xc2 if self.ahead(count + 1) == 0x85 => 2,
            0xe2 if self.ahead(count + 1) == 0x80
                && matches!(self.ahead(count + 2), 0xa8 | 0xa9) =>
            {
                3
            }
            _ => 0,
        }
    }

    #[inline]
    fn is_blank(&self) -> bool {
        matches!(self.byte(), b' ' | b'\t')
    }

    /// Whether a line ends here.
    #[inline]
    fn is_end_of_line(&self) -> bool {
        self.byte() == 0 || self.break_ahead(0) > 0
    }

    /// Whether white space, a line break or the end of the text is `count` bytes ahead.
    #[inline]
    fn is_space_ahead(&self, count: usize) -> bool {
        matches!(self.ahead(count), 0 | b' ' | b'\t') || self.break_ahead(count) > 0
    }

    /// The column, in characters.
    fn column(&mut self) -> isize {
        if !self.ascii {
            // The place remembered is on another line, or ahead: counted from the start of the
            // line.
            if self.last_column.0 < self.line_start || self.last_column.0 > self.at {
                self.last_column = (self.line_start, 0);
            }
            let (from, column) = self.last_column;
            self.last_column = (self.at, column + self.text[from..self.at].chars().count());
            return isize::try_from(self.last_column.1).unwrap_or(isize::MAX);
        }
        isize::try_from(self.at - self.line_start).unwrap_or(isize::MAX)
    }

    fn at_line_start(&self) -> bool {
        self.at == self.line_start
    }

    /// Moves over a line break; `bytes` is its length.
    #[inline]
    fn pass_break(&mut self, bytes: usize) {
        self.at += bytes;
        self.line += 1;
        self.line_start = self.at;
    }

    /// Appends a line break to a text: a line feed, except for the two separators of Unicode, which
    /// stay.
    fn take_break(&mut self, into: &mut String) {
        let bytes = self.break_ahead(0);
        match self.byte() {
            0xe2 => into.push_str(&self.text[self.at..self.at + bytes]),
            _ if bytes > 0 => into.push('\n'),
            0 if self.unended => {
                self.unended = false;
                into.push('\n');
            }
            _ => return,
        }
        self.pass_break(bytes);
    }

    fn fault<T>(&self, what: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError { what, at: self.at, from: None })
    }

    fn fault_from<T>(&self, from: usize, what: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError { what, at: self.at, from: Some(from) })
    }

    /// The next token, without removing it.
    pub(super) fn peek(&mut self) -> Result<&Token<'a>, SyntaxError> {
        loop {
            if !self.tokens.is_empty() {
                // The first token waits while a `:` may still make a key of it.
                let waiting = match self.held_key() {
                    Some(level) => self.is_key_valid(level)?,
                    None => false,
                };
                if !waiting {
                    break;
                }
            }
            self.fetch()?;
        }
        // There is one: the loop ends with it.
        self.tokens.front().ok_or(SyntaxError {
            what: "found unexpected end of stream",
            at: self.at,
            from: None,
        })
    }

    /// Removes the token that [`Self::peek`] returned.
    pub(super) fn take(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.pop_front()?;
        self.taken += 1;
        self.last_end = token.end;
        Some(token)
    }

    /// Where the token ends that was taken last.
    pub(super) fn last_end(&self) -> usize {
        self.last_end
    }

    /// The level whose key begins with the first token.
    fn held_key(&self) -> Option<usize> {
        // Numbers of tokens grow with the level.
        let mut level = self.keys.partition_point(|key| key.token < self.taken);
        while let Some(key) = self.keys.get(level).filter(|key| key.token == self.taken) {
            if key.held {
                return Some(level);
            }
            level += 1;
        }
        None
    }

    fn is_key_valid(&mut self, level: usize) -> Result<bool, SyntaxError> {
        let Some(key) = self.keys.get(level).copied() else { return Ok(false) };
        if !key.possible {
            return Ok(false);
        }
        let length = self.at - key.at;
        let too_long = length > LONGEST_KEY
            && (self.ascii || self.text[key.at..self.at].chars().nth(LONGEST_KEY).is_some());
        // A key without `?` has to be on one line with its colon.
        if key.line < self.line || too_long {
            if key.required {
                return self.fault_from(key.at, "could not find expected ':'");
            }
            self.keys[level].possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    fn save_key(&mut self) -> Result<(), SyntaxError> {
        if !self.key_allowed {
            return Ok(());
        }
        let column = self.column();
        // At the column of an open mapping nothing else can begin.
        let required = !self.in_flow() && self.indent == column;
        let key = SimpleKey {
            possible: true,
            required,
            held: true,
            token: self.taken + self.tokens.len(),
            at: self.at,
            line: self.line,
            column,
        };
        self.remove_key()?;
        if let Some(last) = self.keys.last_mut() {
            *last = key;
        }
        Ok(())
    }

    fn remove_key(&mut self) -> Result<(), SyntaxError> {
        let Some(key) = self.keys.last_mut() else { return Ok(()) };
        if key.possible {
            if key.required {
                let from = key.at;
                return self.fault_from(from, "could not find expected ':'");
            }
            key.possible = false;
            key.held = false;
        }
        Ok(())
    }

    fn enter_flow(&mut self) {
        let token = self.taken + self.tokens.len();
        self.keys.push(SimpleKey { token, ..SimpleKey::default() });
    }

    fn leave_flow(&mut self) {
        if self.keys.len() > 1
            && let Some(inner) = self.keys.pop()
            && let Some(outer) = self.keys.last_mut()
            && outer.token == inner.token
        {
            // Quirk: an empty collection makes go-yaml forget that it may be a key, so it is not
            // held back.
            outer.held = false;
        }
    }

    fn push(&mut self, kind: Kind<'a>, start: usize) {
        self.tokens.push_back(Token { kind, start, end: self.at });
    }

    /// Inserts a token before the one with the given number. If that was removed, go-yaml appends
    /// it.
    fn insert(&mut self, number: usize, kind: Kind<'a>, at: usize) {
        let token = Token { kind, start: at, end: at };
        match number.checked_sub(self.taken) {
            Some(position) if position <= self.tokens.len() => self.tokens.insert(position, token),
            _ => self.tokens.push_back(token),
        }
    }

    /// Opens a block collection where the column requests one; `number` is that of the token it
    /// begins with.
    fn roll(&mut self, column: isize, number: Option<usize>, kind: Kind<'a>, at: usize) {
        if !self.in_flow() && self.indent < column {
            self.indents.push(self.indent);
            self.indent = column;
            match number {
                Some(number) => self.insert(number, kind, at),
                None => self.tokens.push_back(Token { kind, start: at, end: at }),
            }
        }
    }

    /// Closes the block collections that are deeper than a column.
    fn unroll(&mut self, column: isize) {
        if self.in_flow() {
            return;
        }
        while self.indent > column {
            self.push(Kind::BlockEnd, self.at);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn fetch(&mut self) -> Result<(), SyntaxError> {
        if self.ended {
            self.push(Kind::StreamEnd, self.at);
            return Ok(());
        }
        self.pass_to_token();
        let column = self.column();
        self.unroll(column);
        let first = self.byte();
        if column == 0 {
            // A percent sign is a directive at the start of a line only.
            if first == b'%' {
                return self.directive();
            }
            if self.is_marker() {
                self.unroll(-1);
                self.remove_key()?;
                self.key_allowed = false;
                let start = self.at;
                self.at += 3;
                self.push(
                    if first == b'-' { Kind::DocumentStart } else { Kind::DocumentEnd },
                    start,
                );
                return Ok(());
            }
        }
        let flow = self.in_flow();
        match first {
            0 => self.stream_end(),
            b'[' => self.flow_start(Kind::FlowSequence),
            b'{' => self.flow_start(Kind::FlowMapping),
            b']' => self.flow_end(Kind::FlowSequenceEnd),
            b'}' => self.flow_end(Kind::FlowMappingEnd),
            b',' => {
                self.remove_key()?;
                self.key_allowed = true;
                self.at += 1;
                self.push(Kind::FlowEntry, self.at - 1);
                Ok(())
            }
            b'-' if self.is_space_ahead(1) => self.block_entry(),
            // In brackets these two need no space behind them.
            b'?' if flow || self.is_space_ahead(1) => self.key(),
            b':' if flow || self.is_space_ahead(1) => self.value(),
            b'*' => self.anchor(true),
            b'&' => self.anchor(false),
            b'!' => self.tag(),
            b'|' if !flow => self.block_scalar(true),
            b'>' if !flow => self.block_scalar(false),
            b'\'' => self.quoted(true),
            b'"' => self.quoted(false),
            // In brackets there are no blocks of text, so the first two are left over.
            b'|' | b'>' | b'#' | b'%' | b'@' | b'`' | b'\t' => {
                self.fault("found character that cannot start any token")
            }
            _ => self.plain(),
        }
    }

    /// Whether `---` or `...` is here, and white space behind it.
    fn is_marker(&self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        (rest.starts_with(b"---") || rest.starts_with(b"...")) && self.is_space_ahead(3)
    }

    fn pass_to_token(&mut self) {
        loop {
            // A tab indents nothing, but it may be between tokens.
            let tabs = self.in_flow() || !self.key_allowed;
            while self.byte() == b' ' || (tabs && self.byte() == b'\t') {
                self.at += 1;
            }
            if self.byte() == b'#' {
                self.pass_line();
            }
            let bytes = self.break_ahead(0);
            if bytes == 0 {
                return;
            }
            self.pass_break(bytes);
            if !self.in_flow() {
                self.key_allowed = true;
            }
        }
    }

    /// Moves to the end of the line.
    fn pass_line(&mut self) {
        while !self.is_end_of_line() {
            self.at += 1;
        }
    }

    fn stream_end(&mut self) -> Result<(), SyntaxError> {
        // The end is on no line where a key could go on.
        self.line += 1;
        self.unroll(-1);
        self.remove_key()?;
        self.key_allowed = false;
        self.ended = true;
        self.push(Kind::StreamEnd, self.at);
        Ok(())
    }

    fn flow_start(&mut self, kind: Kind<'a>) -> Result<(), SyntaxError> {
        self.save_key()?;
        self.enter_flow();
        self.key_allowed = true;
        self.at += 1;
        self.push(kind, self.at - 1);
        Ok(())
    }

    fn flow_end(&mut self, kind: Kind<'a>) -> Result<(), SyntaxError> {
        self.remove_key()?;
        self.leave_flow();
        self.key_allowed = false;
        self.at += 1;
        self.push(kind, self.at - 1);
        Ok(())
    }

    fn block_entry(&mut self) -> Result<(), SyntaxError> {
        self.open_block(
            Kind::BlockSequence,
            "block sequence entries are not allowed in this context",
        )?;
        self.remove_key()?;
        self.key_allowed = true;
        self.at += 1;
        self.push(Kind::BlockEntry, self.at - 1);
        Ok(())
    }

    fn key(&mut self) -> Result<(), SyntaxError> {
        self.open_block(Kind::BlockMapping, "mapping keys are not allowed in this context")?;
        self.remove_key()?;
        self.key_allowed = !self.in_flow();
        self.at += 1;
        self.push(Kind::Key, self.at - 1);
        Ok(())
    }

    /// A block collection begins or goes on at this column; within a flow collection there is none.
    fn open_block(&mut self, kind: Kind<'a>, refused: &'static str) -> Result<(), SyntaxError> {
        if self.in_flow() {
            return Ok(());
        }
        if !self.key_allowed {
            return self.fault(refused);
        }
        let column = self.column();
        self.roll(column, None, kind, self.at);
        Ok(())
    }

    fn value(&mut self) -> Result<(), SyntaxError> {
        let level = self.keys.len() - 1;
        if self.is_key_valid(level)? {
            let key = self.keys[level];
            // The colon shows that the text before was a key: its token is put in front afterwards.
            self.insert(key.token, Kind::Key, key.at);
            self.roll(key.column, Some(key.token), Kind::BlockMapping, key.at);
            self.keys[level].possible = false;
            self.keys[level].held = false;
            self.key_allowed = false;
        } else {
            self.open_block(Kind::BlockMapping, "mapping values are not allowed in this context")?;
            self.key_allowed = !self.in_flow();
        }
        self.at += 1;
        self.push(Kind::Value, self.at - 1);
        Ok(())
    }

    /// Reads letters, digits, `_` and `-`.
    fn word(&mut self) -> &'a str {
        let start = self.at;
        while is_word(self.byte()) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn anchor(&mut self, alias: bool) -> Result<(), SyntaxError> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.at;
        self.at += 1;
        let name = self.word();
        if name.is_empty()
            || !(self.is_space_ahead(0)
                || matches!(self.byte(), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'))
        {
            return self.fault_from(start, "did not find expected alphabetic or numeric character");
        }
        self.push(if alias { Kind::Alias(name) } else { Kind::Anchor(name) }, start);
        Ok(())
    }

    fn tag(&mut self) -> Result<(), SyntaxError> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.at;
        let (handle, suffix) = if self.ahead(1) == b'<' {
            self.at += 2;
            let suffix = self.tag_uri(start, "")?;
            if self.byte() != b'>' {
                return self.fault_from(start, "did not find the expected '>'");
            }
            self.at += 1;
            ("", suffix)
        } else {
            let handle = self.tag_handle(start, false)?;
            if handle.len() > 1 && handle.ends_with('!') {
                (handle, self.tag_uri(start, "")?)
            } else {
                let suffix = self.tag_uri(start, handle)?;
                if suffix.is_empty() { ("", Cow::Borrowed("!")) } else { ("!", suffix) }
            }
        };
        if !self.is_space_ahead(0) {
            return self.fault_from(start, "did not find expected whitespace or line break");
        }
        self.push(Kind::Tag(handle, suffix), start);
        Ok(())
    }

    fn tag_handle(&mut self, start: usize, directive: bool) -> Result<&'a str, SyntaxError> {
        let from = self.at;
        if self.byte() != b'!' {
            return self.fault_from(start, "did not find expected '!'");
        }
        self.at += 1;
        self.word();
        if self.byte() == b'!' {
            self.at += 1;
        } else if directive && self.at > from + 1 {
            return self.fault_from(start, "did not find expected '!'");
        }
        Ok(&self.text[from..self.at])
    }

    /// The rest of a tag; `head` is a handle that turned out to be its beginning.
    fn tag_uri(&mut self, start: usize, head: &'a str) -> Result<Cow<'a, str>, SyntaxError> {
        let from = self.at;
        // The head is directly before.
        let beginning = from - head.len() + usize::from(!head.is_empty());
        let mut escaped: Option<Vec<u8>> = None;
        loop {
            match self.byte() {
                b'%' => {
                    let bytes = self.text.as_bytes();
                    let plain = &bytes[beginning..self.at];
                    let mut uri = escaped.take().unwrap_or_else(|| plain.to_vec());
                    self.uri_escape(start, &mut uri)?;
                    escaped = Some(uri);
                }
                byte if is_word(byte) || (byte != 0 && b";/?:@&=+$,.!~*'()[]".contains(&byte)) => {
                    if let Some(uri) = &mut escaped {
                        uri.push(byte);
                    }
                    self.at += 1;
                }
                _ => break,
            }
        }
        if head.is_empty() && self.at == from {
            return self.fault_from(start, "did not find expected tag URI");
        }
        Ok(match escaped {
            None => Cow::Borrowed(&self.text[beginning..self.at]),
            Some(uri) => Cow::Owned(String::from_utf8_lossy(&uri).into_owned()),
        })
    }

    /// One character as `%` and digits.
    fn uri_escape(&mut self, start: usize, uri: &mut Vec<u8>) -> Result<(), SyntaxError> {
        let mut left = None;
        loop {
            let hexadecimal = |byte: u8| char::from(byte).to_digit(16);
            let digits = (self.byte() == b'%')
                .then(|| Some(hexadecimal(self.ahead(1))? * 16 + hexadecimal(self.ahead(2))?))
                .flatten();
            let Some(octet) = digits.and_then(|octet| u8::try_from(octet).ok()) else {
                return self.fault_from(start, "did not find URI escaped octet");
            };
            let more = match left {
                Some(more) if octet & 0xc0 == 0x80 => more,
                Some(_) => {
                    return self.fault_from(start, "found an incorrect trailing UTF-8 octet");
                }
                None => match octet {
                    0..0x80 => 1,
                    0xc0..0xe0 => 2,
                    0xe0..0xf0 => 3,
                    0xf0..0xf8 => 4,
                    _ => return self.fault_from(start, "found an incorrect leading UTF-8 octet"),
                },
            };
            uri.push(octet);
            self.at += 3;
            if more == 1 {
                return Ok(());
            }
            left = Some(more - 1);
        }
    }

    fn pass_blanks(&mut self) {
        while self.is_blank() {
            self.at += 1;
        }
    }

    fn directive(&mut self) -> Result<(), SyntaxError> {
        self.unroll(-1);
        self.remove_key()?;
        self.key_allowed = false;
        let start = self.at;
        self.at += 1;
        let name = self.word();
        if name.is_empty() {
            return self.fault_from(start, "could not find expected directive name");
        }
        if !self.is_space_ahead(0) {
            return self.fault_from(start, "found unexpected non-alphabetical character");
        }
        let kind = match name {
            "YAML" => {
                self.pass_blanks();
                let major = self.version_number(start)?;
                if self.byte() != b'.' {
                    return self.fault_from(start, "did not find expected digit or '.' character");
                }
                self.at += 1;
                Kind::Version(major, self.version_number(start)?)
            }
            "TAG" => {
                self.pass_blanks();
                let handle = self.tag_handle(start, true)?;
                if !self.is_blank() {
                    return self.fault_from(start, "did not find expected whitespace");
                }
                self.pass_blanks();
                let prefix = self.tag_uri(start, "")?;
                if !self.is_space_ahead(0) {
                    return self
                        .fault_from(start, "did not find expected whitespace or line break");
                }
                Kind::TagDirective(handle, prefix)
            }
            _ => return self.fault_from(start, "found unknown directive name"),
        };
        let end = self.at;
        self.end_of_line(start)?;
        self.tokens.push_back(Token { kind, start, end });
        Ok(())
    }

    /// Moves over white space and a comment to the next line, where nothing else may be.
    fn end_of_line(&mut self, start: usize) -> Result<(), SyntaxError> {
        self.pass_blanks();
        if self.byte() == b'#' {
            self.pass_line();
        }
        if !self.is_end_of_line() {
            return self.fault_from(start, "did not find expected comment or line break");
        }
        self.take_break(&mut String::new());
        Ok(())
    }

    fn version_number(&mut self, start: usize) -> Result<u8, SyntaxError> {
        let from = self.at;
        let mut number = 0;
        while self.byte().is_ascii_digit() {
            if self.at - from == 2 {
                return self.fault_from(start, "found extremely long version number");
            }
            number = number * 10 + (self.byte() - b'0');
            self.at += 1;
        }
        if self.at == from {
            self.fault_from(start, "did not find expected version number")
        } else {
            Ok(number)
        }
    }

    fn block_scalar(&mut self, literal: bool) -> Result<(), SyntaxError> {
        self.remove_key()?;
        self.key_allowed = true;
        let start = self.at;
        self.at += 1;
        // A sign and a digit, in either order.
        let mut keep = None;
        let mut digit = 0;
        for _ in 0..2 {
            match self.byte() {
                sign @ (b'+' | b'-') if keep.is_none() => keep = Some(sign == b'+'),
                b'0' if digit == 0 => {
                    return self.fault_from(start, "found an indentation indicator equal to 0");
                }
                byte @ b'1'..=b'9' if digit == 0 => digit = isize::from(byte - b'0'),
                _ => break,
            }
            self.at += 1;
        }
        self.end_of_line(start)?;

        // The digit counts from the column of the collection around; 0 is found out from the first
        // line.
        let mut indent = if digit > 0 { self.indent.max(0) + digit } else { 0 };
        let mut text = String::new();
        let mut leading = String::new();
        let mut trailing = String::new();
        let mut leading_blank = false;
        let mut content = None;
        let mut end = self.at;
        self.block_breaks(start, &mut indent, &mut trailing)?;
        while self.byte() != 0 && self.column() == indent {
            let blank = self.is_blank();
            // Folding joins lines by a space, except beside lines that begin with white space.
            if !literal && !leading_blank && !blank && leading.starts_with('\n') {
                if trailing.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(&leading);
            }
            leading.clear();
            text.push_str(&trailing);
            trailing.clear();
            leading_blank = blank;
            let line = self.at;
            content.get_or_insert(line);
            self.pass_line();
            text.push_str(&self.text[line..self.at]);
            end = self.at;
            self.take_break(&mut leading);
            self.block_breaks(start, &mut indent, &mut trailing)?;
        }
        // Without a sign one line feed stays, with `+` all, with `-` none.
        if keep != Some(false) {
            text.push_str(&leading);
        }
        if keep == Some(true) {
            text.push_str(&trailing);
        }
        // A block without lines is where its header is.
        let (from, end) = content.map_or((start, start + 1), |content| (content, end));
        let style = if literal { Style::Literal } else { Style::Folded };
        self.tokens.push_back(Token {
            kind: Kind::Scalar(Cow::Owned(text), style),
            start: from,
            end,
        });
        Ok(())
    }

    /// Reads empty lines and the indentation of a block; detects an unknown indentation.
    fn block_breaks(
        &mut self,
        start: usize,
        indent: &mut isize,
        breaks: &mut String,
    ) -> Result<(), SyntaxError> {
        let mut widest = 0;
        loop {
            let mut column = self.column();
            while (*indent == 0 || column < *indent) && self.byte() == b' ' {
                self.at += 1;
                column += 1;
            }
            widest = widest.max(column);
            if (*indent == 0 || column < *indent) && self.byte() == b'\t' {
                return self.fault_from(
                    start,
                    "found a tab character where an indentation space is expected",
                );
            }
            if self.break_ahead(0) == 0 {
                if self.byte() == 0 && self.unended {
                    self.take_break(breaks);
                }
                break;
            }
            self.take_break(breaks);
        }
        if *indent == 0 {
            // A first line that is not indented deeper ends an empty block.
            *indent = widest.max(self.indent + 1).max(1);
        }
        Ok(())
    }

    fn quoted(&mut self, single: bool) -> Result<(), SyntaxError> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.at;
        let quote = if single { b'\'' } else { b'"' };
        self.at += 1;
        // The common case: nothing but text up to the closing quote on the same line.
        let bytes = &self.text.as_bytes()[self.at..];
        let simple = bytes.iter().position(|byte| {
            matches!(*byte, b'"' | b'\'' | b'\\' | b'\n' | b'\r' | 0xc2 | 0xe2)
                && (*byte == quote || !matches!(*byte, b'"' | b'\''))
        });
        if let Some(length) = simple
            && bytes[length] == quote
            && !(single && bytes.get(length + 1) == Some(&quote))
        {
            let text = &self.text[self.at..self.at + length];
            self.at += length + 1;
            self.push(
                Kind::Scalar(
                    Cow::Borrowed(text),
                    if single { Style::Single } else { Style::Double },
                ),
                start,
            );
            return Ok(());
        }
        let mut text = String::new();
        let mut leading = String::new();
        let mut trailing = String::new();
        loop {
            // A marker ends the document even inside quotes, which then never close.
            if self.at_line_start() && self.is_marker() {
                return self.fault_from(start, "found unexpected document indicator");
            }
            if self.byte() == 0 {
                return self.fault_from(start, "found unexpected end of stream");
            }
            let mut broken = false;
            while !self.is_space_ahead(0) {
                let byte = self.byte();
                if byte == quote {
                    if !(single && self.ahead(1) == quote) {
                        break;
                    }
                    text.push('\'');
                    self.at += 2;
                } else if !single && byte == b'\\' {
                    let bytes = self.break_ahead(1);
                    if bytes > 0 {
                        self.at += 1;
                        self.pass_break(bytes);
                        broken = true;
                        break;
                    }
                    self.escape(start, &mut text)?;
                } else {
                    let from = self.at;
                    self.at += 1;
                    // Quotes and spaces are ASCII, so only the start of each character is compared.
                    while !self.text.is_char_boundary(self.at) {
                        self.at += 1;
                    }
                    text.push_str(&self.text[from..self.at]);
                }
            }
            if self.byte() == quote {
                break;
            }
            let blanks = self.at;
            let mut until = self.at;
            loop {
                if self.is_blank() {
                    self.at += 1;
                    if !broken {
                        until = self.at;
                    }
                } else if self.break_ahead(0) > 0 {
                    if broken {
                        self.take_break(&mut trailing);
                    } else {
                        self.take_break(&mut leading);
                        broken = true;
                    }
                } else {
                    break;
                }
            }
            if broken {
                self.fold(&mut text, &mut leading, &mut trailing);
            } else {
                text.push_str(&self.text[blanks..until]);
            }
        }
        self.at += 1;
        self.push(
            Kind::Scalar(Cow::Owned(text), if single { Style::Single } else { Style::Double }),
            start,
        );
        Ok(())
    }

    /// Joins two lines: a space for one line feed, the empty lines for several.
    #[expect(clippy::unused_self, reason = "reads as a step of the scanner")]
    fn fold(&self, text: &mut String, leading: &mut String, trailing: &mut String) {
        if leading.starts_with('\n') {
            if trailing.is_empty() {
                text.push(' ');
            }
        } else {
            text.push_str(leading);
        }
        text.push_str(trailing);
        leading.clear();
        trailing.clear();
    }

    fn escape(&mut self, start: usize, text: &mut String) -> Result<(), SyntaxError> {
        let digits = match self.ahead(1) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => 0,
        };
        // Escapes without digits are two bytes long.
        if digits == 0 {
            let c = match self.ahead(1) {
                b'0' => '\0',
                b'a' => '\u{7}',
                b'b' => '\u{8}',
                b't' | b'\t' => '\t',
                b'n' => '\n',
                b'v' => '\u{b}',
                b'f' => '\u{c}',
                b'r' => '\r',
                b'e' => '\u{1b}',
                b' ' => ' ',
                b'"' => '"',
                b'\'' => '\'',
                b'\\' => '\\',
                b'N' => '\u{85}',
                b'_' => '\u{a0}',
                b'L' => '\u{2028}',
                b'P' => '\u{2029}',
                _ => return self.fault_from(start, "found unknown escape character"),
            };
            text.push(c);
            self.at += 2;
            return Ok(());
        }
        let mut code = 0_u32;
        for digit in 0..digits {
            let Some(value) = char::from(self.ahead(2 + digit)).to_digit(16) else {
                return self.fault_from(start, "did not find expected hexdecimal number");
            };
            // Eight digits fit into 32 bits; saturating costs nothing and cannot wrap.
            code = code.saturating_mul(16).saturating_add(value);
        }
        let Some(c) = char::from_u32(code) else {
            return self.fault_from(start, "found invalid Unicode character escape code");
        };
        text.push(c);
        self.at += 2 + digits;
        Ok(())
    }

    /// Whether a plain scalar ends at this byte, which is no white space.
    #[inline]
    fn ends_plain(&self, flow: bool) -> bool {
        match self.byte() {
            b':' => self.is_space_ahead(1),
            b',' | b'?' | b'[' | b']' | b'{' | b'}' => flow,
            _ => false,
        }
    }

    fn plain(&mut self) -> Result<(), SyntaxError> {
        self.save_key()?;
        self.key_allowed = false;
        let flow = self.in_flow();
        let indent = self.indent + 1;
        let start = self.at;
        // Where the text so far ends, and its lines before the last one when there are several.
        let mut end = start;
        let mut piece = start;
        let mut text: Option<String> = None;
        let mut leading = String::new();
        let mut trailing = String::new();
        let mut broken = false;
        loop {
            if self.at_line_start() && self.is_marker() || self.byte() == b'#' {
                break;
            }
            while !self.is_space_ahead(0) && !self.ends_plain(flow) {
                if broken {
                    let whole = text.get_or_insert_default();
                    whole.push_str(&self.text[piece..end]);
                    if leading.starts_with('\n') {
                        if trailing.is_empty() {
                            whole.push(' ');
                        }
                    } else {
                        whole.push_str(&leading);
                    }
                    whole.push_str(&trailing);
                    leading.clear();
                    trailing.clear();
                    broken = false;
                    piece = self.at;
                }
                self.at += 1;
                while ORDINARY[usize::from(self.byte())] {
                    self.at += 1;
                }
                end = self.at;
            }
            if !(self.is_blank() || self.break_ahead(0) > 0) {
                break;
            }
            loop {
                if self.is_blank() {
                    if broken && self.byte() == b'\t' && self.column() < indent {
                        return self
                            .fault_from(start, "found a tab character that violates indentation");
                    }
                    self.at += 1;
                } else if self.break_ahead(0) > 0 {
                    if broken {
                        self.take_break(&mut trailing);
                    } else {
                        self.take_break(&mut leading);
                        broken = true;
                    }
                } else {
                    break;
                }
            }
            // A line that is indented less belongs to the collection around.
            if !flow && self.column() < indent {
                break;
            }
        }
        let last = &self.text[piece..end];
        let text = match text {
            None => Cow::Borrowed(last),
            Some(mut whole) => {
                whole.push_str(last);
                Cow::Owned(whole)
            }
        };
        if broken {
            self.key_allowed = true;
        }
        self.tokens.push_back(Token { kind: Kind::Scalar(text, Style::Plain), start, end });
        Ok(())
    }
}
