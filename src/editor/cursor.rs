//! The field at a place of an object.

use crate::source::Span;
use crate::yaml::{FieldPath, Node, Origin, Segment, Value};

/// The field at a position.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// The field.
    pub path: FieldPath,
    /// The place of its key, where the place is in the key; else that of its value.
    pub span: Span,
    /// The place is in the key.
    pub on_key: bool,
}

/// The innermost field at an offset of the text; the position after the last character belongs to
/// the field that ends there.
pub fn at(root: &Node, place: Span) -> Option<Cursor> {
    let is_at = |origin: Origin| {
        let span = origin.span()?;
        let here = span.source == place.source && span.start <= place.start;
        // The end counts: a cursor behind the last letter is still in the word.
        (here && place.start <= span.end).then_some(span)
    };
    let mut path = FieldPath::root();
    let mut node = root;
    let mut span = is_at(root.origin)?;
    loop {
        let inner = match &node.value {
            Value::Map(map) => map.iter().find_map(|entry| {
                let step = Segment::Field(entry.key.clone());
                // The key first: it ends where the value may begin.
                let key = is_at(entry.key_origin).map(|span| (true, span));
                let found = key.or_else(|| is_at(entry.node.origin).map(|span| (false, span)))?;
                Some((step, &entry.node, found))
            }),
            Value::List(items) => items.iter().enumerate().find_map(|(index, item)| {
                Some((Segment::Index(index), item, (false, is_at(item.origin)?)))
            }),
            _ => None,
        };
        let Some((step, next, (on_key, place))) = inner else {
            return Some(Cursor { path, span, on_key: false });
        };
        path.0.push(step);
        (node, span) = (next, place);
        // A key has nothing inside.
        if on_key {
            return Some(Cursor { path, span, on_key });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    #[test]
    fn keys_and_values_are_found_by_their_place() {
        let text = "spec:\n  model: {name: llama}\n  args: [--a, b]\n  list:\n  - name: x\n";
        let id = SourceId(0);
        let root = parse(id, text, 0..text.len(), &Limits::default()).value.unwrap();
        for (word, nth, path, on_key) in [
            ("spec", 0, "spec", true),
            ("llama", 0, "spec.model.name", false),
            ("name", 0, "spec.model.name", true),
            ("--a", 0, "spec.args[0]", false),
            ("b]", 0, "spec.args[1]", false),
            ("name", 1, "spec.list[0].name", true),
            ("x\n", 0, "spec.list[0].name", false),
        ] {
            let start = u32::try_from(text.match_indices(word).nth(nth).unwrap().0).unwrap();
            let found = at(&root, Span { source: id, start, end: start }).unwrap();
            assert_eq!((found.path.to_string().as_str(), found.on_key), (path, on_key), "{word}");
        }
        let outside = Span { source: SourceId(1), start: 0, end: 0 };
        assert!(at(&root, outside).is_none());
    }
}
