//! JSON with positions, for texts that are JSON; kubectl tries it before YAML.
//!
//! In: a text that begins with a brace. Out: the result of [`super::parse`], or nothing if the text
//! is not one JSON object; then it is read as YAML.

use super::super::limits::Limits;
use super::super::node::{Node, Origin, Value};
use super::super::part::{Outline, Unread, Unwanted};
use super::super::words;
use super::offset;
use super::tree::{Key, Stopped, Tree};
use crate::diag::{Checked, Code, Diagnostic};
use crate::source::{SourceId, Span};
use ecow::EcoString;

/// Why reading ended early.
enum End {
    /// It is not JSON.
    NotJson,
    /// A limit was passed; the finding has been recorded.
    Limit,
}

impl From<Stopped> for End {
    fn from(_: Stopped) -> Self {
        Self::Limit
    }
}

/// Reads one JSON object without what is `unread`; `base` is where `text` begins in its source.
pub(super) fn parse(
    source: SourceId,
    text: &str,
    base: usize,
    limits: &Limits,
    unread: &'static [Unread],
) -> Option<Checked<Option<Node>>> {
    let mut tree = Tree::new(source, limits);
    let mut json = Json { unread, ..Json::new(text, base) };
    let complete = match json.read(&mut tree) {
        Ok(()) => true,
        Err(End::Limit) => false,
        Err(End::NotJson) => return None,
    };
    for (from, to, odd) in &json.odd {
        let span = tree.span(offset(base + from), offset(base + to));
        tree.finding(Diagnostic::new(Code::AmbiguousScalar, odd.message).at(span).help(odd.help));
    }
    let (root, diagnostics) = tree.into_root();
    Some(Checked { value: root.filter(|_| complete), diagnostics })
}

/// The length of the JSON value at the beginning of a text, white space before it counted, and what
/// it is.
pub(in super::super) fn value(text: &str) -> Option<(usize, Outline)> {
    let mut json = Json::new(text, 0);
    let mut outline = Outline::default();
    // Whether each open collection is a mapping.
    let mut open: Vec<bool> = Vec::new();
    loop {
        json.space();
        outline.nodes += 1;
        match json.byte() {
            byte @ (b'{' | b'[') => {
                json.position += 1;
                json.space();
                let mapping = byte == b'{';
                let empty = json.byte() == if mapping { b'}' } else { b']' };
                open.push(mapping);
                outline.depth = outline.depth.max(open.len());
                // Only the outermost collection decides what the value is.
                outline.is_mapping |= mapping && open.len() == 1;
                if !empty {
                    if mapping {
                        outline.may_be_object |= json.pass_key().ok()? && open.len() == 1;
                    }
                    continue;
                }
                open.pop();
                json.position += 1;
            }
            b'"' => json.pass_string().ok()?,
            _ => {
                json.scalar().ok()?;
            }
        }
        loop {
            let Some(mapping) = open.last().copied() else { return Some((json.position, outline)) };
            json.space();
            match json.byte() {
                b',' => {
                    json.position += 1;
                    if mapping {
                        outline.may_be_object |= json.pass_key().ok()? && open.len() == 1;
                    }
                    break;
                }
                b'}' if mapping => open.pop(),
                b']' if !mapping => open.pop(),
                _ => return None,
            };
            json.position += 1;
        }
    }
}

/// Something in JSON that is read otherwise as YAML.
struct Odd {
    message: &'static str,
    help: &'static str,
}

static SLASH: Odd =
    Odd { message: "`\\/` is a slash in JSON, and an error to kustomize", help: "write `/`" };
static SURROGATE: Odd = Odd {
    message: "`\\u` with half of a pair is a character in JSON, and an error to kustomize",
    help: "write the character itself",
};
static MERGE: Odd = Odd {
    message: "the key `<<` is a key to kubectl and merges to kustomize",
    help: "rename the key",
};
struct Json<'a> {
    text: &'a str,
    base: usize,
    position: usize,
    /// Parts that kustomize, which parses JSON as YAML, reads differently: start, end and reason.
    /// One of each kind.
    odd: Vec<(usize, usize, &'static Odd)>,
    unread: &'static [Unread],
}

/// A collection whose end has not been seen.
struct Open {
    mapping: bool,
    /// Its entries or items that are passed over.
    unread: Option<&'static Unwanted>,
}

impl<'a> Json<'a> {
    fn new(text: &'a str, base: usize) -> Self {
        Self { text, base, position: 0, odd: Vec::new(), unread: &[] }
    }

    fn read(&mut self, tree: &mut Tree<'_>) -> Result<(), End> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            // A value, or the end of an empty collection.
            self.space();
            let start = self.here();
            match self.byte() {
                b'{' => {
                    tree.open(true, start, 0)?;
                    open.push(Open { mapping: true, unread: self.unread(tree, true) });
                    self.position += 1;
                    self.space();
                    if self.byte() != b'}' && self.next_key(tree, &open)? {
                        continue;
                    }
                    self.end(tree, &mut open)?;
                }
                b'[' => {
                    tree.open(false, start, 0)?;
                    open.push(Open { mapping: false, unread: self.unread(tree, false) });
                    self.position += 1;
                    self.space();
                    if self.byte() != b']' {
                        continue;
                    }
                    self.end(tree, &mut open)?;
                }
                _ => {
                    let value = self.scalar()?;
                    let origin = Origin::File(tree.span(start, self.here()));
                    tree.scalar(Node::new(value, origin), start, 0)?;
                }
            }
            // The text after a value.
            loop {
                self.space();
                let Some(mapping) = open.last().map(|collection| collection.mapping) else {
                    return if self.position == self.text.len() {
                        Ok(())
                    } else {
                        Err(End::NotJson)
                    };
                };
                match self.byte() {
                    b',' => {
                        self.position += 1;
                        if !mapping || self.next_key(tree, &open)? {
                            break;
                        }
                        self.end(tree, &mut open)?;
                    }
                    b'}' if mapping => self.end(tree, &mut open)?,
                    b']' if !mapping => self.end(tree, &mut open)?,
                    _ => return Err(End::NotJson),
                }
            }
        }
    }

    /// Reads the next key of the innermost mapping whose value is read; false at its end.
    fn next_key(&mut self, tree: &mut Tree<'_>, open: &[Open]) -> Result<bool, End> {
        let unread = open.last().and_then(|collection| collection.unread);
        loop {
            let (key, span) = self.key(tree)?;
            if unread.is_none_or(|unwanted| !unwanted.has_key(&key)) {
                tree.key(Key { text: key, span, merge: false });
                return Ok(true);
            }
            // Still checked to be JSON, or a broken text would be read as if it were whole.
            let (length, _) = value(&self.text[self.position..]).ok_or(End::NotJson)?;
            self.position += length;
            self.space();
            match self.byte() {
                b',' => self.position += 1,
                b'}' => return Ok(false),
                _ => return Err(End::NotJson),
            }
        }
    }

    fn end(&mut self, tree: &mut Tree<'_>, open: &mut Vec<Open>) -> Result<(), End> {
        self.position += 1;
        open.pop();
        tree.close(Some(self.here()))?;
        if let Some(unwanted) = open.last().and_then(|collection| collection.unread) {
            tree.drop_item_if(|item| unwanted.has_item(item));
        }
        Ok(())
    }

    /// What nothing reads of the collection that was opened last.
    fn unread(&self, tree: &Tree<'_>, mapping: bool) -> Option<&'static Unwanted> {
        let is_it =
            |unread: &&Unread| unread.what.is_of_mapping() == mapping && tree.is_at(unread.at);
        self.unread.iter().find(is_it).map(|unread| &unread.what)
    }

    /// Moves over a key and its colon; whether it may be one that objects of Kubernetes have.
    fn pass_key(&mut self) -> Result<bool, End> {
        self.space();
        let start = self.position;
        self.pass_string()?;
        let key = &self.text[start + 1..self.position - 1];
        self.space();
        self.expect(b':')?;
        // An escape could spell one of the two; decoding every key would be slower.
        Ok(matches!(key, "apiVersion" | "kind") || key.contains('\\'))
    }

    /// Moves over a string.
    fn pass_string(&mut self) -> Result<(), End> {
        self.expect(b'"')?;
        loop {
            self.pass_characters();
            match self.byte() {
                b'"' => break,
                b'\\' => {
                    self.position += 1;
                    self.escape()?;
                }
                _ => return Err(End::NotJson),
            }
        }
        self.position += 1;
        Ok(())
    }

    /// Moves over characters of a string that stand for themselves.
    fn pass_characters(&mut self) {
        let rest = &self.text.as_bytes()[self.position..];
        let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
        self.position += rest.iter().position(ends).unwrap_or(rest.len());
    }

    fn key(&mut self, tree: &mut Tree<'_>) -> Result<(EcoString, Span), End> {
        self.space();
        let start = self.here();
        let text = self.string()?;
        // JSON has no merge keys; a reader of YAML takes it for one.
        if text == "<<" {
            self.odd(start as usize - self.base, self.position, &MERGE);
        }
        let span = tree.span(start, self.here());
        self.space();
        self.expect(b':')?;
        Ok((text, span))
    }

    fn odd(&mut self, from: usize, to: usize, odd: &'static Odd) {
        if !self.odd.iter().any(|(.., other)| std::ptr::eq(*other, odd)) {
            self.odd.push((from, to, odd));
        }
    }

    fn here(&self) -> u32 {
        offset(self.base + self.position)
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.position).copied().unwrap_or(0)
    }

    fn expect(&mut self, byte: u8) -> Result<(), End> {
        if self.byte() != byte {
            return Err(End::NotJson);
        }
        self.position += 1;
        Ok(())
    }

    fn space(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\n' | b'\r') {
            self.position += 1;
        }
    }

    fn scalar(&mut self) -> Result<Value, End> {
        let rest = &self.text[self.position..];
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if rest.starts_with(word) {
                self.position += word.len();
                return Ok(value);
            }
        }
        match self.byte() {
            b'"' => self.string().map(Value::Str),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(End::NotJson),
        }
    }

    fn digits(&mut self) -> Result<(), End> {
        let start = self.position;
        while self.byte().is_ascii_digit() {
            self.position += 1;
        }
        if self.position == start { Err(End::NotJson) } else { Ok(()) }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be integral and within 63 bits"
    )]
    fn number(&mut self) -> Result<Value, End> {
        let start = self.position;
        if self.byte() == b'-' {
            self.position += 1;
        }
        // JSON has no leading zeros: `01` ends behind the 0 and is then no JSON.
        if self.byte() == b'0' {
            self.position += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == b'.' {
            self.position += 1;
            self.digits()?;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.position += 1;
            if matches!(self.byte(), b'+' | b'-') {
                self.position += 1;
            }
            self.digits()?;
        }
        let text = &self.text[start..self.position];
        // Digits alone parse as an integer; a point or an exponent makes it a float below.
        if let Ok(number) = text.parse::<i64>() {
            return Ok(Value::Int(number));
        }
        if let Ok(number) = text.parse::<u64>() {
            return Ok(Value::Big(number));
        }
        match text.parse::<f64>() {
            Ok(number) if number.fract() == 0.0 && number.abs() < 9_223_372_036_854_775_808.0 => {
                Ok(Value::Int(number as i64))
            }
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => Err(End::NotJson),
        }
    }

    fn string(&mut self) -> Result<EcoString, End> {
        self.expect(b'"')?;
        let mut start = self.position;
        let mut decoded: Option<String> = None;
        loop {
            self.pass_characters();
            match self.byte() {
                b'"' => break,
                b'\\' => {
                    let text = decoded.get_or_insert_default();
                    text.push_str(&self.text[start..self.position]);
                    self.position += 1;
                    if self.byte() == b'/' {
                        self.odd(self.position - 1, self.position + 1, &SLASH);
                    }
                    let c = self.escape()?;
                    decoded.get_or_insert_default().push(c);
                    start = self.position;
                }
                _ => return Err(End::NotJson),
            }
        }
        let rest = &self.text[start..self.position];
        self.position += 1;
        Ok(match decoded {
            None => words::shared(rest),
            Some(mut text) => {
                text.push_str(rest);
                text.into()
            }
        })
    }

    fn escape(&mut self) -> Result<char, End> {
        let byte = self.byte();
        self.position += 1;
        Ok(match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hexadecimal()?;
                if (0xd800..0xe000).contains(&first) {
                    self.odd(self.position - 6, self.position, &SURROGATE);
                }
                if (0xd800..0xdc00).contains(&first)
                    && self.text[self.position..].starts_with("\\u")
                {
                    // The second escape may be no half of the pair: then it is read by itself.
                    let before = self.position;
                    self.position += 2;
                    let second = self.hexadecimal()?;
                    if (0xdc00..0xe000).contains(&second) {
                        return Ok(char::from_u32(
                            0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                        )
                        .unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    self.position = before;
                }
                // Half a pair becomes a replacement character, as in Go.
                char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(End::NotJson),
        })
    }

    fn hexadecimal(&mut self) -> Result<u32, End> {
        let digits = self
            .text
            .get(self.position..self.position + 4)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .ok_or(End::NotJson)?;
        self.position += 4;
        u32::from_str_radix(digits, 16).map_err(|_| End::NotJson)
    }
}
