//! Groups services with the same change.
//!
//! Names are removed: changes that differ only in the name and the namespace of the service are
//! equal. A text that a shared object of the input contains literally, such as the image of a
//! runtime, is not a name, even if it looks like one.

use super::{Action, ObjectChange, State};
use crate::operators::is_service;
use crate::source::Span;
use crate::yaml::{FieldPath, Node, Origin, Segment, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Identifies a change.
pub(super) type Key = [u8; 32];

/// How a key handles the names of the service.
#[derive(Clone, Copy, Debug)]
pub(super) enum Names<'a> {
    /// Namespace and name, which are removed.
    Aside(&'a str, &'a str),
    /// Kept.
    Kept,
}

/// Builds the text that identifies a change.
pub(super) struct Writer<'a> {
    sides: [&'a State<'a>; 2],
    names: Names<'a>,
    text: String,
}

impl<'a> Writer<'a> {
    pub(super) fn new(sides: [&'a State<'a>; 2], names: Names<'a>) -> Self {
        Self { sides, names, text: String::new() }
    }

    /// The key of the whole text.
    pub(super) fn finish(self) -> Key {
        Sha256::digest(self.text.as_bytes()).into()
    }

    /// Adds a text unchanged.
    pub(super) fn plain(&mut self, text: impl std::fmt::Display) {
        let _ = writeln!(self.text, "{text}");
    }

    /// Adds an object change; for a created or deleted object, its whole content.
    pub(super) fn object(&mut self, object: &ObjectChange) {
        let _ =
            write!(self.text, "{} {} {} ", object.action.as_str(), object.id.kind, object.restart);
        self.named(&object.id.name);
        match object.action {
            Action::Create | Action::Delete => {
                let side = usize::from(object.action == Action::Create);
                self.node(object.whole.as_ref(), side);
            }
            Action::Update | Action::Replace => {
                for change in &object.changes {
                    self.path(&change.path);
                    self.node(change.from.as_ref(), 0);
                    self.node(change.to.as_ref(), 1);
                }
            }
        }
    }

    fn path(&mut self, path: &FieldPath) {
        for segment in &path.0 {
            match segment {
                Segment::Field(name) | Segment::Keyed(_, name) => self.named(name),
                Segment::Index(_) | Segment::All => _ = write!(self.text, "{segment:?}"),
            }
            self.text.push('.');
        }
    }

    fn node(&mut self, node: Option<&Node>, side: usize) {
        let Some(node) = node else { return self.text.push_str("-\n") };
        match &node.value {
            Value::Map(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                // The order of keys has no meaning and must not tell two changes apart.
                entries.sort_by(|a, b| a.key.cmp(&b.key));
                self.text.push('{');
                for entry in entries {
                    self.named(&entry.key);
                    self.node(Some(&entry.node), side);
                }
                self.text.push('}');
            }
            Value::List(items) => {
                self.text.push('[');
                items.iter().for_each(|item| self.node(Some(item), side));
                self.text.push(']');
            }
            Value::Str(text) => {
                if self.is_literal(node, text, side) {
                    self.quoted(text);
                } else {
                    self.named(text);
                }
            }
            _ => _ = writeln!(self.text, "{}", node.to_json()),
        }
    }

    /// Whether a shared object of the input contains the text literally.
    fn is_literal(&self, node: &Node, text: &str, side: usize) -> bool {
        // A value that a rule computed may contain the name of the service.
        let Origin::File(span) = node.origin else { return false };
        let world = self.sides[side].world;
        let owner_kind = |span: Span| world.catalog.owner_kind(span).is_some_and(is_service);
        !owner_kind(span) && world.sources.text(span).contains(text)
    }

    fn quoted(&mut self, text: &str) {
        let _ = writeln!(self.text, "{text:?}");
    }

    /// Adds a text without the names of the service.
    fn named(&mut self, text: &str) {
        match self.names {
            Names::Kept => self.quoted(text),
            Names::Aside(namespace, name) => {
                // Characters that no name has, so that no text can look like a removed name.
                let bare = replace(text, name, "\u{1}", char::is_alphanumeric);
                // The same character for both: a service may have the name of its namespace.
                self.quoted(&replace(&bare, namespace, "\u{1}", |c| {
                    c.is_alphanumeric() || c == '-'
                }));
            }
        }
    }
}

/// Replaces a name that is not a part of a longer name, judged by the characters next to it.
fn replace(text: &str, name: &str, by: &str, belongs: impl Fn(char) -> bool) -> String {
    if name.is_empty() || !text.contains(name) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut last = None;
    while let Some(at) = rest.find(name) {
        let end = at + name.len();
        let before = rest[..at].chars().next_back().or(last);
        let alone =
            !before.is_some_and(&belongs) && !rest[end..].chars().next().is_some_and(&belongs);
        out.push_str(&rest[..at]);
        out.push_str(if alone { by } else { name });
        // Of two names in a row the first one is the neighbor of the second.
        last = name.chars().next_back();
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_name_is_masked_only_as_a_whole_word() {
        let name = |text: &str, name: &str| replace(text, name, "*", char::is_alphanumeric);
        for (text, service, expected) in [
            ("svc-0-engine", "svc-0", "*-engine"),
            ("--served-model-name=svc-0", "svc-0", "--served-model-name=*"),
            ("svc-01", "svc-0", "svc-01"),
            ("a.a.aa", "a", "*.*.aa"),
            ("http://chat.team.svc", "chat", "http://*.team.svc"),
            ("", "a", ""),
        ] {
            assert_eq!(name(text, service), expected, "{text}");
        }
        assert_eq!(
            replace("default-scheduler", "default", "*", |c| c.is_alphanumeric() || c == '-'),
            "default-scheduler"
        );
    }
}
