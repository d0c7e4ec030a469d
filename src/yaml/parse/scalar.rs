//! Scalars of every style and tag become values, keys and remarks.

use super::super::node::{Node, Origin, Value};
use super::super::scalars::{self, Meaning};
use super::super::words;
use super::super::write;
use super::scan::Style;
use super::tree::{Key, Stopped, Tree};
use super::{Reader, offset};
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::yaml::{FieldPath, Segment};
use ecow::{EcoString, eco_format};
use std::borrow::Cow;

/// A scalar as the scanner returns it.
pub(super) struct Written<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) style: Style,
    pub(super) anchor: usize,
    /// In full.
    pub(super) tag: Option<&'a str>,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Nothing is written where a value belongs, in brackets or braces.
    pub(super) absent: bool,
}

/// The value of a scalar.
enum Found {
    Text(EcoString),
    Meaning(Meaning),
}

/// The type of a key to kustomize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyType {
    Text,
    /// A merge key, whatever its text.
    Merge,
    Other,
}

impl Reader<'_> {
    /// Adds a scalar, as a key or as a value.
    pub(super) fn scalar(&self, tree: &mut Tree<'_>, written: &Written<'_>) -> Result<(), Stopped> {
        let is_key = tree.awaits_key();
        if self.old_breaks {
            self.old_breaks(tree, written);
        }
        let plain = written.style == Style::Plain;
        // The common case first: text that can be nothing else.
        let found = if plain && written.tag.is_none() {
            match written.text.as_bytes().first() {
                Some(first) if !scalars::may_mean_more(*first) => {
                    Found::Text(words::shared(&written.text))
                }
                _ => match scalars::plain(&written.text) {
                    Meaning::Text => Found::Text(words::shared(&written.text)),
                    meaning => Found::Meaning(meaning),
                },
            }
        } else if let Some(tag) = written.tag {
            self.tagged(tree, written, tag)?
        } else {
            // Single quotes have neither escapes nor folding that could be read differently.
            if written.style != Style::Single {
                Self::styled(tree, written);
            }
            Found::Text(words::shared(&written.text))
        };
        let span = tree.span(written.start, written.end);
        if is_key {
            self.as_key(tree, written, found, span)
        } else {
            self.as_value(tree, written, found, span)
        }
    }

    fn as_value(
        &self,
        tree: &mut Tree<'_>,
        written: &Written<'_>,
        found: Found,
        span: Span,
    ) -> Result<(), Stopped> {
        let value = match found {
            Found::Text(text) => {
                if written.style == Style::Plain && written.tag.is_none() {
                    // Only such texts can be a time or a number to another reader.
                    let looks_odd = text
                        .as_bytes()
                        .first()
                        .is_some_and(|first| matches!(first, b'0'..=b'9' | b'+' | b'-' | b'.'));
                    if looks_odd {
                        self.remark(tree, written, Meaning::Text, span);
                    }
                }
                Value::Str(text)
            }
            Found::Meaning(Meaning::NotFinite(name)) => {
                let stopped = tree.syntax(
                    span,
                    format!("`{}` is not a number in JSON; kubectl rejects it", written.text),
                );
                tree.help(format!("quote it if the text `{name}` is meant"));
                return Err(stopped);
            }
            Found::Meaning(meaning) => {
                if written.style == Style::Plain && written.tag.is_none() {
                    self.remark(tree, written, meaning, span);
                    if written.absent {
                        let message = "a key in braces without a value has null to kubectl and \"\" to kustomize";
                        tree.finding(
                            Diagnostic::new(Code::AmbiguousScalar, message)
                                .at(span)
                                .path(tree.path().to_string())
                                .help("write `null` or `\"\"`"),
                        );
                    }
                }
                meaning.value().unwrap_or(Value::Null)
            }
        };
        tree.scalar(Node::new(value, Origin::File(span)), span.start, written.anchor)
    }

    fn as_key(
        &self,
        tree: &mut Tree<'_>,
        written: &Written<'_>,
        found: Found,
        span: Span,
    ) -> Result<(), Stopped> {
        let plain = written.style == Style::Plain;
        // Asked before the text is taken out of `found`.
        let others = self.kustomize_key(written);
        let text = match found {
            Found::Text(text) => {
                // `!!merge <<`, as yq writes it, merges in both.
                let is_merge = others == KeyType::Merge && text == "<<";
                if others != KeyType::Text && !is_merge && tree.is_nested() {
                    self.no_key_to_kustomize(tree, written, span);
                }
                text
            }
            Found::Meaning(Meaning::Null) => {
                let stopped =
                    tree.syntax(span, "null cannot be the key of a mapping, kubectl refuses it");
                tree.help("write the key, quoted if it is `null`");
                return Err(stopped);
            }
            Found::Meaning(Meaning::Big(number)) => {
                let stopped = tree.syntax(
                    span,
                    format!(
                        "the number {number} cannot be the key of a mapping, kubectl refuses it"
                    ),
                );
                tree.help("quote the key");
                return Err(stopped);
            }
            Found::Meaning(meaning) => {
                let key: EcoString = match meaning {
                    Meaning::Bool(value) => if value { "true" } else { "false" }.into(),
                    Meaning::Int(number) => eco_format!("{number}"),
                    Meaning::Float(number) => scalars::float_key(number),
                    Meaning::NotFinite(name) => name.into(),
                    Meaning::Text | Meaning::Null | Meaning::Big(_) => EcoString::new(),
                };
                if plain && key != *written.text {
                    let message = format!(
                        "the key `{}` is \"{key}\" to kubectl and \"{}\" to kustomize",
                        written.text, written.text
                    );
                    self.ambiguous(tree, written, span, message);
                } else if others != KeyType::Text && tree.is_nested() {
                    self.no_key_to_kustomize(tree, written, span);
                }
                key
            }
        };
        let merges = text == "<<";
        if others == KeyType::Merge && !merges {
            self.ambiguous(
                tree,
                written,
                span,
                format!(
                    "the tag of the key `{text}` means nothing to kubectl and merges to kustomize"
                ),
            );
        }
        let merge = merges
            && written.tag.map_or(plain, |tag| matches!(tag, "!" | "tag:yaml.org,2002:merge"));
        if merges && !merge {
            self.ambiguous(
                tree,
                written,
                span,
                "the quoted key `<<` is a key to kubectl and merges to kustomize".to_owned(),
            );
        }
        // An alias may name a key and is its text.
        tree.anchor_key(written.anchor, Node::new(Value::Str(text.clone()), Origin::File(span)));
        tree.key(Key { text, span, merge });
        Ok(())
    }

    /// The type of a key in kustomize, which decodes a nested mapping only if all of its keys are
    /// text.
    #[expect(clippy::unused_self, reason = "reads as a question to the reader")]
    fn kustomize_key(&self, written: &Written<'_>) -> KeyType {
        match written.tag {
            Some("tag:yaml.org,2002:str") => KeyType::Text,
            Some("tag:yaml.org,2002:merge") => KeyType::Merge,
            None | Some("!") if written.style != Style::Plain || written.text == "<<" => {
                KeyType::Text
            }
            None | Some("!") => match scalars::plain(&written.text) {
                Meaning::Bool(_)
                    if !matches!(
                        &*written.text,
                        "true" | "True" | "TRUE" | "false" | "False" | "FALSE"
                    ) =>
                {
                    KeyType::Text
                }
                Meaning::Text if !scalars::is_time(&written.text) => KeyType::Text,
                _ => KeyType::Other,
            },
            Some(_) => KeyType::Other,
        }
    }

    fn no_key_to_kustomize(&self, tree: &mut Tree<'_>, written: &Written<'_>, span: Span) {
        let message = format!(
            "the key `{}` is text to kubectl, and kustomize cannot decode a mapping with a key of another type here",
            written.text
        );
        self.ambiguous(tree, written, span, message);
    }

    /// A scalar with a tag, as go-yaml resolves it.
    fn tagged(
        &self,
        tree: &mut Tree<'_>,
        written: &Written<'_>,
        name: &str,
    ) -> Result<Found, Stopped> {
        let text = &*written.text;
        let whole = |text: &str| Ok(Found::Text(EcoString::from(text)));
        let span = tree.span(written.start, written.end);
        if name == "!" && written.style == Style::Plain {
            if scalars::plain(text) != Meaning::Text
                || scalars::otherwise(text, Meaning::Text).is_some()
            {
                self.ambiguous(
                    tree,
                    written,
                    span,
                    format!("`! {text}` is text to kubectl, kustomize does not heed the `!`"),
                );
            }
            return whole(text);
        }
        // Tags of applications mean nothing to kubectl: the value is text.
        let Some(kind) = name.strip_prefix("tag:yaml.org,2002:") else { return whole(text) };
        let meaning = scalars::plain(text);
        let expected = match kind {
            "binary" => return binary(tree, text, span),
            "bool" => {
                if let Meaning::Bool(_) = meaning {
                    if written.style != Style::Plain || scalars::otherwise(text, meaning).is_some()
                    {
                        self.ambiguous(
                            tree,
                            written,
                            span,
                            format!("`!!bool {text}` is a boolean to kubectl only"),
                        );
                    }
                    return Ok(Found::Meaning(meaning));
                }
                "a boolean"
            }
            "int" => match meaning {
                Meaning::Int(_) | Meaning::Big(_) => return Ok(Found::Meaning(meaning)),
                _ => "an integer",
            },
            "float" => match meaning {
                Meaning::Int(_) | Meaning::Big(_) | Meaning::Float(_) | Meaning::NotFinite(_) => {
                    return Ok(Found::Meaning(meaning));
                }
                _ => "a float",
            },
            "null" => match meaning {
                Meaning::Null => return Ok(Found::Meaning(meaning)),
                _ => "null",
            },
            "timestamp" => {
                if meaning == Meaning::Text && scalars::is_time(text) {
                    if let Some(other) = scalars::otherwise(text, meaning) {
                        self.ambiguous(
                            tree,
                            written,
                            span,
                            format!(
                                "`{text}` is text to kubectl and {} to kustomize",
                                other.reading
                            ),
                        );
                    }
                    return whole(text);
                }
                "a timestamp"
            }
            _ => return whole(text),
        };
        let stopped = tree.syntax(
            span,
            format!("`{text}` is {}, its tag requires {expected}", meaning.type_name()),
        );
        tree.help("delete the tag, or correct the value");
        Err(stopped)
    }

    /// Reports quoted and block scalars that kustomize or a reader of YAML 1.2 reads differently.
    fn styled(tree: &mut Tree<'_>, written: &Written<'_>) {
        let text = &*written.text;
        let span = tree.span(written.start, written.end);
        if written.style == Style::Folded {
            // Lines that are indented further are not folded, in two different ways.
            let indented = text.lines().skip(1).any(|line| line.starts_with([' ', '\t']));
            if indented || text.ends_with("\n\n") {
                let finding = Diagnostic::new(
                    Code::AmbiguousScalar,
                    "kubectl and kustomize do not fold this text alike",
                )
                .at(span)
                .path(tree.path().to_string())
                .help("write it as a literal block, with `|`");
                tree.finding(finding);
            }
        }
    }

    /// Characters that end a line in YAML 1.1, which kubectl reads, but not in YAML 1.2.
    fn old_breaks(&self, tree: &mut Tree<'_>, written: &Written<'_>) {
        let raw = self.slice(written.start, written.end);
        let Some(at) = raw.find(['\u{85}', '\u{2028}', '\u{2029}']) else { return };
        let place = written.start + offset(at);
        let c = raw[at..].chars().next().unwrap_or_default();
        let span = tree.span(place, place + offset(c.len_utf8()));
        let message = format!(
            "the character U+{:04X} ends a line for kubectl, but not in YAML 1.2",
            u32::from(c)
        );
        tree.finding(
            Diagnostic::new(Code::AmbiguousScalar, message)
                .at(span)
                .help("write it as an escape in double quotes"),
        );
    }

    /// Remarks on a plain scalar that others read otherwise.
    fn remark(&self, tree: &mut Tree<'_>, written: &Written<'_>, meaning: Meaning, span: Span) {
        let Some(other) = scalars::otherwise(&written.text, meaning) else { return };
        let text = &*written.text;
        if is_file_mode(&tree.path(), text) {
            return;
        }
        let here = match meaning {
            Meaning::Bool(value) => value.to_string(),
            Meaning::Int(number) => number.to_string(),
            Meaning::Big(number) => number.to_string(),
            Meaning::Float(number) => number.to_string(),
            Meaning::Text | Meaning::Null | Meaning::NotFinite(_) => format!("the text \"{text}\""),
        };
        let message =
            format!("`{text}` is {here} to kubectl and {} to {}", other.reading, other.who);
        let help = if meaning == Meaning::Text {
            "quote the text".to_owned()
        } else {
            format!("quote it if text is meant, otherwise write `{here}`")
        };
        let finding = self.ambiguity(tree, written, span, message).help(help);
        tree.finding(finding);
    }

    /// Records that a scalar is not read alike by all; the repair quotes it.
    fn ambiguous(&self, tree: &mut Tree<'_>, written: &Written<'_>, span: Span, message: String) {
        let finding = self.ambiguity(tree, written, span, message);
        tree.finding(finding);
    }

    fn ambiguity(
        &self,
        tree: &Tree<'_>,
        written: &Written<'_>,
        span: Span,
        message: String,
    ) -> Diagnostic {
        let mut finding = Diagnostic::new(Code::AmbiguousScalar, message).at(span).help("quote it");
        let path = tree.path().to_string();
        if !path.is_empty() {
            finding = finding.path(path);
        }
        let written_here = self.slice(span.start, span.end);
        if written.style == Style::Plain && written_here.ends_with(&*written.text) {
            // An anchor stays; a tag is removed, because the quotes have its meaning.
            let anchored = written.anchor > 0;
            let start = if anchored { span.end - offset(written.text.len()) } else { span.start };
            finding = finding.fix(Span { start, ..span }, write::quoted(&written.text));
        }
        finding
    }
}

/// The text under a tag `!!binary`.
fn binary(tree: &mut Tree<'_>, text: &str, span: Span) -> Result<Found, Stopped> {
    let Some(bytes) = base64(text) else {
        let stopped = tree.syntax(span, "the value of `!!binary` is not base64");
        tree.help("delete the tag, or correct the value");
        return Err(stopped);
    };
    // Each byte that is not UTF-8 becomes a replacement character in JSON.
    let mut decoded = EcoString::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        decoded.push_str(chunk.valid());
        for _ in chunk.invalid() {
            decoded.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Ok(Found::Text(decoded))
}

/// Decodes base64 as Go's standard encoding: padded, line breaks ignored.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let bytes: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let mut decoded = Vec::with_capacity(bytes.len() / 4 * 3);
    let groups = bytes.len() / 4;
    for (position, group) in bytes.chunks_exact(4).enumerate() {
        // Padding belongs to the last group only; an `=` elsewhere is no digit.
        let padding = if position + 1 == groups {
            group.iter().rev().take_while(|byte| **byte == b'=').count()
        } else {
            0
        };
        if padding > 2 {
            return None;
        }
        let mut bits = 0;
        for byte in &group[..4 - padding] {
            bits = bits << 6 | digit(*byte)?;
        }
        // Missing digits are zeros, and the bytes that they would give are cut off.
        bits <<= 6 * padding;
        decoded.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(decoded)
}

/// Whether a number is the mode of a file, which is written in octal, and which all clients of
/// Kubernetes read so (kubernetes.io, Secrets, "Secret files permissions").
fn is_file_mode(path: &FieldPath, text: &str) -> bool {
    const FIELDS: [&str; 2] = ["defaultMode", "mode"];
    let is_mode = |name: &EcoString| FIELDS.contains(&name.as_str());
    let digits = text.strip_prefix('0').unwrap_or_default();
    matches!(path.0.last(), Some(Segment::Field(name)) if is_mode(name))
        && matches!(digits.len(), 1..=4)
        && digits.bytes().all(|digit| matches!(digit, b'0'..=b'7'))
}
