//! The position in a tree that is walked: a chain to the root that becomes a path only for a
//! finding.

use super::Node;
use crate::source::Span;
use std::fmt;

/// A place in an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'a> {
    above: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    /// The object itself.
    pub(crate) const ROOT: At<'static> = At { above: None, step: Step::Root };

    /// A field of a struct.
    pub(crate) fn field(&'a self, name: &'a str) -> At<'a> {
        At { above: Some(self), step: Step::Field(name) }
    }

    /// A key of a map, which the server prints in brackets.
    pub(crate) fn key(&'a self, key: &'a str) -> At<'a> {
        At { above: Some(self), step: Step::Key(key) }
    }

    /// An element of a list.
    pub(crate) fn index(&'a self, index: usize) -> At<'a> {
        At { above: Some(self), step: Step::Index(index) }
    }

    /// The place that holds this one; `None` for the object itself.
    pub(crate) fn parent(&self) -> Option<&'a At<'a>> {
        self.above
    }

    /// Span of this place, or of the nearest one above that exists: of its key, or of the element
    /// in a list. For the object as a whole, the span of its first key.
    pub(crate) fn written_in(&self, object: &Node) -> Option<Span> {
        self.found_in(object).1
    }

    /// The node at this place, if there is one, with the span of the nearest key above.
    fn found_in<'n>(&self, object: &'n Node) -> (Option<&'n Node>, Option<Span>) {
        let Some(above) = self.above else {
            let first = object.entries().next().and_then(|entry| entry.key_origin.span());
            return (Some(object), first);
        };
        let (node, span) = above.found_in(object);
        // The step above is missing, so its nearest parent is all there is to show.
        let Some(node) = node else { return (None, span) };
        match self.step {
            Step::Root => (Some(node), span),
            Step::Field(name) | Step::Key(name) => {
                match node.as_map().and_then(|map| map.entry(name)) {
                    Some(entry) => (
                        Some(&entry.node),
                        entry.key_origin.span().or_else(|| entry.node.origin.span()),
                    ),
                    None => (None, span),
                }
            }
            Step::Index(index) => match node.items().get(index) {
                Some(item) => (Some(item), item.origin.span().or(span)),
                None => (None, span),
            },
        }
    }
}

impl fmt::Display for At<'_> {
    /// As the API server prints paths: `spec.containers[0].resources.limits[cpu]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(above) = self.above else { return Ok(()) };
        above.fmt(f)?;
        match self.step {
            Step::Root => Ok(()),
            Step::Field(name) if matches!(above.step, Step::Root) => f.write_str(name),
            Step::Field(name) => write!(f, ".{name}"),
            Step::Key(key) => write!(f, "[{key}]"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}
