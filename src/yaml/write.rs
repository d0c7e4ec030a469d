//! Writes trees as text that kubectl, kustomize and readers of YAML 1.2 all read alike.
//!
//! In: a tree, and an optional remark for each leaf. Out: block style as kubectl prints it,
//! appended to one string. Order is the tree's. Sources: the recorded tables yaml-emit and
//! yaml-scalars.

use super::node::{Node, Value};
use super::path::{FieldPath, Segment};
use super::scalars::{self, Meaning};
use std::fmt::Write as _;

/// A remark on a leaf, which becomes a comment at the end of its line.
pub type Remark<'a> = dyn FnMut(&FieldPath, &Node) -> Option<String> + 'a;

/// Appends a tree as one document, with a line feed at its end and no marker.
pub fn write(out: &mut String, node: &Node) {
    Writer { out, remark: None, path: FieldPath::root() }.document(node);
}

/// As [`write()`], with a comment after every leaf for which `remark` returns one. A leaf is a
/// scalar or an empty collection.
pub fn write_with(out: &mut String, node: &Node, remark: &mut Remark<'_>) {
    Writer { out, remark: Some(remark), path: FieldPath::root() }.document(node);
}

/// A text in double quotes, with the escapes that YAML 1.1, YAML 1.2 and JSON share where there is
/// a choice.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

/// The longest key that readers find without a `?` mark; kubectl fails after 1024 bytes.
const LONGEST_SIMPLE_KEY: usize = 1000;

struct Writer<'a, 'b> {
    out: &'a mut String,
    remark: Option<&'a mut Remark<'b>>,
    /// Where the writer is; kept only when there may be remarks.
    path: FieldPath,
}

impl Writer<'_, '_> {
    fn document(&mut self, node: &Node) {
        match &node.value {
            Value::Map(map) if !map.is_empty() => self.entries(node, 0, true),
            Value::List(items) if !items.is_empty() => self.items(node, 0, true),
            // A block needs a line above it for its header, which the root does not have.
            Value::Str(text) if text.contains('\n') => {
                push_quoted(self.out, text);
                self.end(node);
            }
            _ => {
                self.leaf(node, 0);
                self.end(node);
            }
        }
    }

    /// The entries of a mapping, each on a line of its own; `indented` when the first one needs its
    /// indentation.
    fn entries(&mut self, node: &Node, indent: usize, mut indented: bool) {
        for entry in node.entries() {
            if indented {
                push_spaces(self.out, indent);
            }
            indented = true;
            if self.remark.is_some() {
                self.path.0.push(Segment::Field(entry.key.clone()));
            }
            self.key(&entry.key, indent);
            match &entry.node.value {
                Value::Map(map) if !map.is_empty() => {
                    self.out.push('\n');
                    self.entries(&entry.node, indent + 2, true);
                }
                Value::List(items) if !items.is_empty() => {
                    self.out.push('\n');
                    // Not indented below their key, as kubectl prints them.
                    self.items(&entry.node, indent, true);
                }
                _ => {
                    self.out.push(' ');
                    self.leaf(&entry.node, indent + 2);
                }
            }
            if self.remark.is_some() {
                self.path.0.pop();
            }
        }
    }

    /// The items of a list; those of a mapping's value are below its key, as kubectl has them.
    fn items(&mut self, node: &Node, indent: usize, mut indented: bool) {
        for (position, item) in node.items().iter().enumerate() {
            if indented {
                push_spaces(self.out, indent);
            }
            indented = true;
            if self.remark.is_some() {
                self.path.0.push(Segment::Index(position));
            }
            self.out.push_str("- ");
            match &item.value {
                Value::Map(map) if !map.is_empty() => self.entries(item, indent + 2, false),
                Value::List(items) if !items.is_empty() => self.items(item, indent + 2, false),
                _ => self.leaf(item, indent + 2),
            }
            if self.remark.is_some() {
                self.path.0.pop();
            }
        }
    }

    fn key(&mut self, key: &str, indent: usize) {
        let start = self.out.len();
        push_inline(self.out, key);
        if self.out.len() - start > LONGEST_SIMPLE_KEY {
            // Known only once the key is written with its quotes.
            self.out.insert_str(start, "? ");
            self.out.push('\n');
            push_spaces(self.out, indent);
        }
        self.out.push(':');
    }

    /// A scalar or an empty collection, to the end of its line; `indent` is that of the lines of a
    /// block.
    fn leaf(&mut self, node: &Node, indent: usize) {
        match &node.value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Int(number) => {
                let _ = write!(self.out, "{number}");
            }
            Value::Big(number) => {
                let _ = write!(self.out, "{number}");
            }
            Value::Float(number) => push_float(self.out, *number),
            Value::Map(_) => self.out.push_str("{}"),
            Value::List(_) => self.out.push_str("[]"),
            Value::Str(text) => {
                if indent > 0
                    // At the root there is no indentation that would end the block.
                    && let Some(header) = block_header(text)
                {
                    self.out.push_str(header);
                    self.end(node);
                    push_lines(self.out, text, indent);
                    return;
                }
                push_inline(self.out, text);
            }
        }
        if indent > 0 {
            self.end(node);
        }
    }

    /// The remark, if there is one, and the end of the line.
    fn end(&mut self, node: &Node) {
        if let Some(remark) = &mut self.remark
            && let Some(text) = remark(&self.path, node)
        {
            self.out.push_str(" # ");
            self.out.extend(text.chars().map(|c| if ends_comment(c) { ' ' } else { c }));
        }
        self.out.push('\n');
    }
}

/// Whether a character may not be in a comment: YAML 1.1 ends a line at NEL, LS and PS (5.4. Line
/// Break Characters), and what follows would be a field; others turn the direction of the text.
fn ends_comment(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn push_spaces(out: &mut String, count: usize) {
    const SPACES: &str = "                                                                ";
    let mut left = count;
    while left > SPACES.len() {
        out.push_str(SPACES);
        left -= SPACES.len();
    }
    out.push_str(&SPACES[..left]);
}

/// A float as Go prints it in JSON. One that JSON cannot hold is null, as in [`Node::to_json`].
fn push_float(out: &mut String, number: f64) {
    let size = number.abs();
    let _ = if !number.is_finite() {
        out.push_str("null");
        Ok(())
    } else if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        match text.split_once('e') {
            // Without a point or a sign of the exponent it is text to older readers.
            Some((mantissa, exponent)) if !exponent.starts_with('-') => {
                write!(out, "{mantissa}e+{exponent}")
            }
            _ => write!(out, "{text}"),
        }
    } else {
        write!(out, "{}", number + 0.0)
    };
}

/// A text on one line: plain where all read it alike, else in quotes.
fn push_inline(out: &mut String, text: &str) {
    match look(text) {
        Look::Plain => out.push_str(text),
        Look::Single => {
            out.push('\'');
            for (position, part) in text.split('\'').enumerate() {
                if position > 0 {
                    out.push_str("''");
                }
                out.push_str(part);
            }
            out.push('\'');
        }
        Look::Double => push_quoted(out, text),
    }
}

/// The quoting style of a one-line text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Plain,
    /// Its characters would be taken for punctuation.
    Single,
    /// Plain, it would not be read as text, or it has characters that need an escape.
    Double,
}

/// The meaning of a byte within a plain scalar.
const ORDINARY: u8 = 0;
const CHECK: u8 = 1;
const ESCAPE: u8 = 2;

/// Per byte: ordinary, to be looked at with its neighbors, or in need of an escape.
static BYTES: [u8; 256] = {
    let mut table = [ORDINARY; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = ESCAPE;
        byte += 1;
    }
    table[0x7f] = ESCAPE;
    table[b':' as usize] = CHECK;
    table[b'#' as usize] = CHECK;
    byte = 0x80;
    while byte < 0x100 {
        table[byte] = CHECK;
        byte += 1;
    }
    table
};

fn look(text: &str) -> Look {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return Look::Double };
    let mut punctuation = match first {
        b'!' | b'&' | b'*' | b'#' | b'|' | b'>' | b'@' | b'`' | b'%' | b'{' | b'}' | b'['
        | b']' | b',' | b'\'' | b'"' | b' ' | b'=' => true,
        b'-' | b'?' | b':' => bytes.len() == 1 || bytes[1] == b' ' || text.starts_with("---"),
        b'<' => text == "<<",
        b'.' => text.starts_with("..."),
        _ => false,
    } || matches!(last, b' ' | b':');
    for (position, byte) in bytes.iter().enumerate() {
        match BYTES[usize::from(*byte)] {
            ORDINARY => {}
            ESCAPE => return Look::Double,
            _ => match byte {
                b':' => punctuation |= bytes.get(position + 1) == Some(&b' '),
                b'#' => punctuation |= position > 0 && bytes[position - 1] == b' ',
                _ => {
                    // The first byte beyond ASCII: look at the characters, once.
                    // escape.
                    if text.chars().any(needs_escape) {
                        return Look::Double;
                    }
                    if text[position..].contains([':', '#']) {
                        punctuation |= text.contains(": ") || text.contains(" #");
                    }
                    break;
                }
            },
        }
    }
    // The first byte rules out most texts before the costly question.
    if scalars::may_mean_more(*first) && means_more(text) {
        return Look::Double;
    }
    if punctuation { Look::Single } else { Look::Plain }
}

/// Whether a reader of YAML would not read a plain text as text.
fn means_more(text: &str) -> bool {
    let meaning = scalars::plain(text);
    meaning != Meaning::Text
        || scalars::otherwise(text, meaning).is_some()
        || scalars::is_time(text)
        || is_sexagesimal(text)
}

/// A number to the base of 60, such as `1:30`, to readers of YAML 1.1 other than kubectl.
fn is_sexagesimal(text: &str) -> bool {
    let text = text.trim_start_matches(['+', '-']);
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains(':')
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b':' | b'_' | b'.'))
}

/// Characters that a reader may drop, take for a line end or refuse, invisible spaces, and marks
/// that change the direction of the text around them.
fn needs_escape(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{feff}' | '\u{fdd0}'..='\u{fdef}')
        || u32::from(c) & 0xfffe == 0xfffe
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut done = 0;
    for (at, c) in text.char_indices() {
        if c != '"' && c != '\\' && !needs_escape(c) {
            continue;
        }
        out.push_str(&text[done..at]);
        done = at + c.len_utf8();
        let code = u32::from(c);
        let _ = match c {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\t' => write!(out, "\\t"),
            '\r' => write!(out, "\\r"),
            _ if code < 0x100 => write!(out, "\\x{code:02x}"),
            _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
            _ => write!(out, "\\U{code:08x}"),
        };
    }
    out.push_str(&text[done..]);
    out.push('"');
}

/// The header of a literal block, when the text has several lines and all readers get it back from
/// one.
fn block_header(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    // A block that begins with white space would need its indentation spelled out.
    if matches!(bytes.first()?, b'\n' | b' ' | b'\t') || !text.contains('\n') {
        return None;
    }
    // Any byte that is no white space.
    let mut before = b'a';
    for byte in bytes {
        // White space at the end of a line is easily lost, so it is quoted.
        if *byte == b'\n' && matches!(before, b' ' | b'\t')
            || (*byte < 0x20 && !matches!(byte, b'\n' | b'\t'))
            || *byte == 0x7f
        {
            return None;
        }
        before = *byte;
    }
    if matches!(before, b' ' | b'\t')
        || (!text.is_ascii() && text.chars().any(|c| c != '\n' && c != '\t' && needs_escape(c)))
    {
        return None;
    }
    // The sign behind the bar sets how many line feeds at the end belong to the text.
    Some(match text.strip_suffix('\n') {
        None => "|-",
        Some(rest) if !rest.ends_with('\n') => "|",
        Some(_) => "|+",
    })
}

fn push_lines(out: &mut String, text: &str, indent: usize) {
    // The last line feed is written with its line.
    let body = text.strip_suffix('\n').unwrap_or(text);
    for line in body.split('\n') {
        if !line.is_empty() {
            push_spaces(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}
