//! Compares two trees of one kind, field by field.
//!
//! In: two nodes and their schema type, if known. Out: a [`Change`] per field that differs, sorted
//! by path, with both values and their places; [`differences`] ignores what only a live object has.
//! This module changes no tree and prints nothing; each change records what may be shown of its
//! values.
//!
//! Values are compared, not texts: the order of keys means nothing, quantities are equal when they
//! mean the same amount, null is absent. A list whose elements have a key (of the schema, else
//! unique names) is compared element by element, so that a changed container is one change with a
//! named path and no shift of positions.

pub(crate) mod effects;
pub(crate) mod subset;

pub(crate) use subset::{covers, differences};

use crate::quantity::Quantity;
use crate::schema::{Item, Type};
use crate::secret::Place;
use crate::source::Span;
use crate::yaml::{Entry, FieldPath, Node, Origin, Segment, Value};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// One field that differs.
#[derive(Clone, Debug)]
pub struct Change {
    /// The field; of something that is there on one side only, the highest one.
    pub path: FieldPath,
    /// Its value before; none when it was absent.
    pub from: Option<Node>,
    /// Its value after; none when it is absent.
    pub to: Option<Node>,
    /// Where it is before: its key, or the nearest one above it.
    pub place_before: Option<Span>,
    /// Where it is after: its key, or the nearest one above it.
    pub place_after: Option<Span>,
    /// What may be shown of the values before and after.
    pub shown: [Place; 2],
}

/// The fields in which two objects differ, sorted by path.
pub(crate) fn changes(before: &Node, after: &Node, ty: Option<&'static Type>) -> Vec<Change> {
    compare(before, after, ty, Amounts::Stored)
}

/// When two quantities are equal.
#[derive(Clone, Copy)]
enum Amounts {
    /// The API server stores them alike: `1000m` and `1`, but not `1Gi` and `1073741824`.
    Stored,
    /// They mean one amount, which is how controllers compare (apimachinery, api/equality).
    Meant,
}

impl Amounts {
    fn equal(self, before: &Node, after: &Node) -> bool {
        let amount = |node: &Node| node.scalar_text().and_then(|text| Quantity::parse(&text).ok());
        let (Some(before), Some(after)) = (amount(before), amount(after)) else { return false };
        match self {
            Self::Stored => before.canonical() == after.canonical(),
            Self::Meant => before == after,
        }
    }
}

fn compare(
    before: &Node,
    after: &Node,
    ty: Option<&'static Type>,
    amounts: Amounts,
) -> Vec<Change> {
    let mut walk = Walk { changes: Vec::new(), amounts };
    let here = Here {
        path: FieldPath::root(),
        before: before.origin.span(),
        after: after.origin.span(),
        shown: [Place::default(); 2],
    };
    walk.values(&here, before, after, ty, None);
    walk.changes
}

/// Whether two values are equal as two states of an object are compared.
pub fn equal(one: &Node, other: &Node, ty: Option<&'static Type>) -> bool {
    changes(one, other, ty).is_empty()
}

/// Where the walk is.
struct Here {
    path: FieldPath,
    before: Option<Span>,
    after: Option<Span>,
    shown: [Place; 2],
}

impl Here {
    /// One step further into two values, on the sides that have it.
    fn step(
        &self,
        segment: Segment,
        within: [&Node; 2],
        before: Option<Origin>,
        after: Option<Origin>,
    ) -> Self {
        let place =
            |origin: Option<Origin>, above: Option<Span>| origin.and_then(Origin::span).or(above);
        let [old, new] = self.shown;
        let shown = [old.step(within[0], &segment), new.step(within[1], &segment)];
        let mut path = self.path.clone();
        path.0.push(segment);
        Self { path, before: place(before, self.before), after: place(after, self.after), shown }
    }
}

struct Walk {
    changes: Vec<Change>,
    amounts: Amounts,
}

impl Walk {
    fn push(&mut self, here: &Here, from: Option<&Node>, to: Option<&Node>) {
        self.changes.push(Change {
            path: here.path.clone(),
            from: from.cloned(),
            to: to.cloned(),
            place_before: here.before,
            place_after: here.after,
            shown: here.shown,
        });
    }

    fn values(
        &mut self,
        here: &Here,
        before: &Node,
        after: &Node,
        ty: Option<&'static Type>,
        key: Option<&'static str>,
    ) {
        // Equal subtrees are most of two objects: they are compared once, without a path or a
        // clone.
        if before == after {
            return;
        }
        match (&before.value, &after.value) {
            (Value::Map(_), Value::Map(_)) => self.maps(here, before, after, ty),
            (Value::List(old), Value::List(new)) => {
                self.lists(here, (before, old), (after, new), ty, key);
            }
            // Without the schema `1000m` may be a name or an argument, where each letter counts.
            _ if matches!(ty, Some(Type::Quantity)) && self.amounts.equal(before, after) => {}
            _ => self.push(here, Some(before), Some(after)),
        }
    }

    fn maps(&mut self, here: &Here, before: &Node, after: &Node, ty: Option<&'static Type>) {
        let present = |node: &'_ Node| -> BTreeMap<EcoString, Entry> {
            node.entries()
                // The API server drops a null when it decodes, so that a null and no field are one
                // state.
                .filter(|entry| !entry.node.is_null())
                .map(|entry| (entry.key.clone(), entry.clone()))
                .collect()
        };
        let (old, new) = (present(before), present(after));
        let keys: BTreeSet<&EcoString> = old.keys().chain(new.keys()).collect();
        for name in keys {
            let (from, to) = (old.get(name), new.get(name));
            let here = here.step(
                Segment::Field(name.clone()),
                [before, after],
                from.map(|entry| entry.key_origin),
                to.map(|entry| entry.key_origin),
            );
            match (from, to) {
                (Some(from), Some(to)) => {
                    let (ty, key) = match ty {
                        // Keys of a map are no fields: they carry no patch key, and all values
                        // have one type.
                        Some(Type::Map(item)) => (Some(&item.ty), None),
                        Some(ty) => ty
                            .field(name)
                            .map_or((None, None), |field| (Some(&field.ty), field.patch.key)),
                        None => (None, None),
                    };
                    self.values(&here, &from.node, &to.node, ty, key);
                }
                (from, to) => {
                    self.push(&here, from.map(|entry| &entry.node), to.map(|entry| &entry.node));
                }
            }
        }
    }

    fn lists(
        &mut self,
        here: &Here,
        before: (&Node, &[Node]),
        after: (&Node, &[Node]),
        ty: Option<&'static Type>,
        key: Option<&'static str>,
    ) {
        let item = ty.and_then(Type::item);
        let ((old_list, old), (new_list, new)) = (before, after);
        let element = item.map(|item| &item.ty);
        // A key counts only if it is unique on both sides; else elements would hide each other.
        if let Some((key, (old, new))) =
            keys(item, key).find_map(|key| Some((key, (by_key(old, key)?, by_key(new, key)?))))
        {
            return self.keyed(here, key, (old_list, &old), (new_list, &new), element);
        }
        let differing = old.iter().zip(new).filter(|(old, new)| old != new).count();
        // By position only where positions plainly correspond; else the list as a whole says more.
        if old.len() == new.len() && (old.len() <= 2 || differing * 2 <= old.len()) {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                let (lists, origins) = ([old_list, new_list], (Some(old.origin), Some(new.origin)));
                let here = here.step(Segment::Index(index), lists, origins.0, origins.1);
                self.values(&here, old, new, element, None);
            }
            return;
        }
        self.push(here, Some(old_list), Some(new_list));
    }

    fn keyed(
        &mut self,
        here: &Here,
        key: &'static str,
        (old_list, old): (&Node, &[(EcoString, &Node)]),
        (new_list, new): (&Node, &[(EcoString, &Node)]),
        ty: Option<&'static Type>,
    ) {
        let (by_old, by_new): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (old.iter().cloned().collect(), new.iter().cloned().collect());
        let names: BTreeSet<&EcoString> = by_old.keys().chain(by_new.keys()).collect();
        for name in names {
            let (from, to) = (by_old.get(name).copied(), by_new.get(name).copied());
            // The name instead of the index: an inserted element shifts no path of those behind
            // it.
            let here = here.step(
                Segment::Keyed(key.into(), name.clone()),
                [old_list, new_list],
                from.map(|node| node.origin),
                to.map(|node| node.origin),
            );
            match (from, to) {
                (Some(from), Some(to)) => self.values(&here, from, to, ty, None),
                (from, to) => self.push(&here, from, to),
            }
        }
        // The order counts: variables refer to those before them, and pods are compared with it.
        let common =
            |list: &[(EcoString, &Node)], other: &BTreeMap<EcoString, &Node>| -> Vec<EcoString> {
                list.iter()
                    .map(|(name, _)| name.clone())
                    .filter(|name| other.contains_key(name))
                    .collect()
            };
        // Only elements of both sides: what was added or removed is a change of its own already.
        let (was, is) = (common(old, &by_new), common(new, &by_old));
        if was != is {
            let names = |names: Vec<EcoString>, list: &BTreeMap<EcoString, &Node>| {
                let origin = |name: &EcoString| list.get(name).map(|node| node.origin);
                let nodes: Vec<Node> = names
                    .iter()
                    .filter_map(|name| {
                        Some(Node { value: Value::Str(name.clone()), origin: origin(name)? })
                    })
                    .collect();
                let first = nodes.first().map(|node| node.origin)?;
                Some(Node { value: Value::List(nodes.into_iter().collect()), origin: first })
            };
            self.push(here, names(was, &by_old).as_ref(), names(is, &by_new).as_ref());
        }
    }
}

/// What may identify the elements of a list: its merge key, its map keys, else their names.
fn keys(
    item: Option<&'static Item>,
    merge: Option<&'static str>,
) -> impl Iterator<Item = &'static str> {
    let mapped = item.into_iter().flat_map(|item| item.rules.keys.iter().copied());
    merge.into_iter().chain(mapped).chain(std::iter::once("name"))
}

/// The elements by the text of a key, when each has one of its own.
fn by_key<'n>(list: &'n [Node], key: &str) -> Option<Vec<(EcoString, &'n Node)>> {
    let keyed: Vec<(EcoString, &Node)> = list
        .iter()
        .map(|node| Some((node.get(key)?.scalar_text()?, node)))
        .collect::<Option<_>>()?;
    // Two ports or variables of one name are legal: then positions say more than names.
    let unique: BTreeSet<&EcoString> = keyed.iter().map(|(name, _)| name).collect();
    (unique.len() == keyed.len()).then_some(keyed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;
    use crate::testing::node;

    /// The changes as `path: from -> to`.
    fn shown(before: &str, after: &str, ty: Option<&'static Type>) -> Vec<String> {
        let text = |node: &Option<Node>| {
            node.as_ref().map_or("-".to_owned(), |node| node.to_json().to_string())
        };
        let found = changes(&node(before), &node(after), ty);
        found
            .iter()
            .map(|change| {
                format!("{}: {} -> {}", change.path, text(&change.from), text(&change.to))
            })
            .collect()
    }

    #[test]
    fn elements_of_a_keyed_list_are_compared_by_their_key() {
        let pod = schema::structure("PodSpec");
        for (before, after, expected) in [
            (
                "containers: [{name: a, image: x}, {name: b, image: v}]",
                "containers: [{name: new, image: z}, {name: a, image: x}, {name: b, image: w}]",
                vec![
                    r#"containers[name=b].image: "v" -> "w""#,
                    r#"containers[name=new]: - -> {"name":"new","image":"z"}"#,
                ],
            ),
            (
                "containers: [{name: a, env: [{name: A, value: '1'}, {name: B, value: '2'}]}]",
                "containers: [{name: a, env: [{name: B, value: '2'}, {name: A, value: '1'}]}]",
                vec![r#"containers[name=a].env: ["A","B"] -> ["B","A"]"#],
            ),
            (
                "containers: [{name: a, volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /b}]}]",
                "containers: [{name: a, volumeMounts: [{name: v, mountPath: /b}]}]",
                vec![
                    r#"containers[name=a].volumeMounts[mountPath=/a]: {"name":"v","mountPath":"/a"} -> -"#,
                ],
            ),
        ] {
            assert_eq!(shown(before, after, pod), expected, "{after}");
        }
    }

    #[test]
    fn values_are_compared_and_not_texts() {
        let pod = schema::structure("PodSpec");
        let limits = |cpu: &str| {
            format!("containers: [{{name: a, resources: {{limits: {{cpu: {cpu}, memory: 1Gi}}}}}}]")
        };
        assert_eq!(shown(&limits("1000m"), &limits("'1'"), pod), Vec::<String>::new());
        assert_eq!(
            shown(&limits("1000m"), &limits("2"), pod),
            [r#"containers[name=a].resources.limits.cpu: "1000m" -> 2"#]
        );
        // Where nothing declares an amount it is text.
        assert_eq!(shown("cpu: 1000m", "cpu: '1'", None), [r#"cpu: "1000m" -> "1""#]);
        assert_eq!(shown("{a: 1, b: null}", "{a: 1.0}", None), Vec::<String>::new());
        assert_eq!(shown("{a: 1}", "{b: {c: 2}}", None), ["a: 1 -> -", r#"b: - -> {"c":2}"#]);
    }

    #[test]
    fn unkeyed_lists_are_compared_by_position_unless_shifted() {
        for (before, after, expected) in [
            (
                "[--tp=1, --port=1, --host=x]",
                "[--tp=2, --port=1, --host=x]",
                vec![r#"[0]: "--tp=1" -> "--tp=2""#],
            ),
            ("[a, b, c, d]", "[b, c, d, e]", vec![r#": ["a","b","c","d"] -> ["b","c","d","e"]"#]),
            ("[a, b]", "[a, b, c]", vec![r#": ["a","b"] -> ["a","b","c"]"#]),
            ("[{x: 1}, {x: 2}]", "[{x: 1}, {x: 3}]", vec!["[1].x: 2 -> 3"]),
        ] {
            assert_eq!(shown(before, after, None), expected, "{after}");
        }
    }

    #[test]
    fn the_reverse_comparison_mirrors_the_forward_one() {
        let (before, after) = (
            "{a: [{name: x, v: 1}, {name: y}], b: 1, d: [1, 2, 3]}",
            "{a: [{name: y}, {name: x, v: 2}, {name: z}], c: 1, d: [1, 2]}",
        );
        let there = changes(&node(before), &node(after), None);
        let back = changes(&node(after), &node(before), None);
        let swapped: Vec<_> =
            back.into_iter().map(|change| (change.path, change.to, change.from)).collect();
        assert_eq!(
            there
                .into_iter()
                .map(|change| (change.path, change.from, change.to))
                .collect::<Vec<_>>(),
            swapped
        );
    }
}
