//! The documents of a text, for printing it again unchanged.
//!
//! In: a text that was read. Out: the bytes of each document with its separator, and the objects in
//! it. Nothing is reported here: [`super::load`] has done that.

use super::embedded;
use super::kinds::{self, Whose};
use crate::source::{SourceId, Span};
use crate::yaml::{Entry, Limits, Node, Value, parse, split};
use ecow::EcoString;
use std::ops::Range;

/// An object of a document.
#[derive(Clone, Debug)]
pub struct Item {
    /// The object.
    pub node: Node,
    /// Its `apiVersion`; an item of a typed list has that of the list.
    pub api_version: Option<EcoString>,
    /// Its kind.
    pub kind: Option<EcoString>,
}

impl Item {
    /// Where it is in the text.
    pub fn span(&self) -> Option<Span> {
        self.node.origin.span()
    }

    /// Whether manifests are rendered from it, so that it is not printed beside them.
    pub fn is_rendered(&self) -> bool {
        match (&self.api_version, &self.kind) {
            (Some(api_version), Some(kind)) => kinds::is_rendered(api_version, kind),
            _ => false,
        }
    }

    /// Whether it is not a Kubernetes object: it has neither `apiVersion` nor `kind`, or it is the
    /// input of another tool that looks like one.
    pub fn is_plain(&self) -> bool {
        match (&self.api_version, &self.kind) {
            (Some(api_version), Some(kind)) => {
                matches!(kinds::whose(api_version, kind), Whose::NoObject)
            }
            (None, None) => true,
            _ => false,
        }
    }

    /// Whether a decision depends on it: never on objects of other tools, and of Kubernetes' own
    /// only on Nodes and on the content of ConfigMaps.
    pub fn is_consulted(&self) -> bool {
        let (Some(api_version), Some(kind)) = (&self.api_version, &self.kind) else { return false };
        match kinds::whose(api_version, kind) {
            Whose::Known(group) if group.name.is_empty() => match kind.as_str() {
                "Node" => true,
                "ConfigMap" => self
                    .node
                    .get("data")
                    .into_iter()
                    .flat_map(Node::entries)
                    .any(|entry| embedded::text_of_objects(&entry.node).is_some()),
                _ => false,
            },
            Whose::Known(_) | Whose::UnknownKind(_) | Whose::UnknownVersion(_) => true,
            Whose::Elsewhere | Whose::Foreign | Whose::NoObject => false,
        }
    }
}

/// A document of a text.
#[derive(Clone, Debug)]
pub struct DocumentText {
    /// Its bytes, from the end of the document before it: separator and comments included.
    pub whole: Range<usize>,
    /// Its bytes without the separator.
    pub body: Range<usize>,
    /// Its root; absent when it is empty or cannot be read.
    pub root: Option<Node>,
    /// The objects in it; a list is taken apart.
    pub items: Vec<Item>,
}

/// The documents of a text, in order. Text after the last one belongs to none of them.
pub fn parts(source: SourceId, text: &str, limits: &Limits) -> Vec<DocumentText> {
    let mut end = 0;
    split(source, text)
        .value
        .into_iter()
        .map(|part| {
            let body = part.range.clone();
            let whole = end..body.end;
            end = body.end;
            let root = parse(source, text, part, limits).value;
            let items = root.clone().map_or_else(Vec::new, |root| items(root).collect());
            DocumentText { whole, body, root, items }
        })
        .collect()
}

/// The objects of a document: itself, or those of the list that it is, lists in lists included.
pub(super) fn items(root: Node) -> impl Iterator<Item = Item> {
    items_of(root, None)
}

/// The same for an item of a list; one of a typed list can omit the fields that the list declares.
pub(super) fn items_of(
    root: Node,
    typed: Option<(EcoString, EcoString)>,
) -> impl Iterator<Item = Item> {
    let mut waiting: Vec<(Node, Option<(EcoString, EcoString)>)> = vec![(root, typed)];
    std::iter::from_fn(move || {
        while let Some((node, inherited)) = waiting.pop() {
            let text = |key: &str| {
                node.get(key)
                    .and_then(Node::as_str)
                    .filter(|text| !text.is_empty())
                    .map(EcoString::from)
            };
            // A scalar or a null among the items is no object, whatever the list declares.
            let inherited = inherited.filter(|_| node.as_map().is_some());
            let (api_version, kind) = match (text("apiVersion"), text("kind"), inherited) {
                // Both are left out in typed lists; one of the two alone is a mistake to report.
                (None, None, Some((api_version, kind))) => (Some(api_version), Some(kind)),
                (api_version, kind, _) => (api_version, kind),
            };
            if let (Some(api_version), Some(kind)) = (&api_version, &kind)
                && let (Some(single), Some(Entry { node: items, .. })) = (
                    kind.strip_suffix("List"),
                    node.entries().find(|entry| entry.key == "items"),
                )
                // Go writes an empty list as null, for which `Node::get` returns `None`.
                && (items.is_null() || matches!(items.value, Value::List(_)))
            {
                let items = items.items();
                let of_items =
                    (!single.is_empty()).then(|| (api_version.clone(), EcoString::from(single)));
                // In reverse, since the last one is taken first: objects stay in the order of the
                // text.
                waiting.extend(items.iter().rev().map(|item| (item.clone(), of_items.clone())));
                continue;
            }
            return Some(Item { node, api_version, kind });
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_ranges_cover_the_whole_text() {
        let text = "# head\n---\n# Source: a\nkind: A\n--- # b\nkind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: B}\n- {apiVersion: ome.io/v1beta1, kind: BaseModel}\n---\n# tail\n";
        let parts = parts(SourceId(0), text, &Limits::default());
        let texts: Vec<&str> = parts.iter().map(|part| &text[part.whole.clone()]).collect();
        assert_eq!(texts[0], "# head\n---\n# Source: a\nkind: A\n");
        assert!(texts[1].starts_with("--- # b\nkind: List\n"), "{texts:?}");
        let kinds = |part: &DocumentText| {
            part.items
                .iter()
                .map(|item| (item.kind.clone().unwrap_or_default(), item.is_rendered()))
                .collect::<Vec<_>>()
        };
        assert_eq!(kinds(&parts[0]), [("A".into(), false)]);
        assert_eq!(kinds(&parts[1]), [("B".into(), false), ("BaseModel".into(), true)]);
        assert_eq!(parts.len(), 2);
    }
}
