//! The order of merged lists: the order of the patch for elements that it lists, the order of the
//! base for the others.

use super::directive::PATCH;
use super::{Error, Problem};
use crate::yaml::{Node, Value};
use ecow::{EcoString, EcoVec};
use std::collections::HashMap;

/// Lists longer than this are searched with a hash table.
const SHORT: usize = 16;

/// Returns the identity of a list element: the value of its key, or the scalar itself.
pub(super) fn identity<'a>(item: &'a Node, key: Option<&'static str>) -> Result<&'a Node, Problem> {
    let Some(key) = key else { return Ok(item) };
    let map = item.as_map().ok_or_else(|| Problem::NotAMapping { found: item.kind_name() })?;
    map.get(key).ok_or(Problem::NoMergeKey { key })
}

/// Reports whether two scalars are equal in Go: an integer never equals a float. Two mappings or
/// two lists cannot be compared; a mapping and a scalar are different.
fn equal(a: &Node, b: &Node) -> Result<bool, Problem> {
    match (&a.value, &b.value) {
        (Value::Map(_), Value::Map(_)) | (Value::List(_), Value::List(_)) => {
            Err(Problem::Uncomparable { found: a.kind_name() })
        }
        (a, b) => Ok(same_type(a, b) && a == b),
    }
}

/// Returns the first element with this key value; skips elements without the key.
pub(super) fn position(
    items: &[Node],
    key: &'static str,
    value: &Node,
) -> Result<Option<usize>, Problem> {
    for (index, item) in items.iter().enumerate() {
        if let Some(found) = item.as_map().and_then(|map| map.get(key))
            && equal(found, value)?
        {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Positions of list elements by identity; of equal elements, the first.
pub(super) struct Positions {
    identities: Vec<Option<Node>>,
    /// Set when the list is long.
    table: Option<HashMap<Scalar, usize>>,
    /// True when the elements are their own identities; then a mapping or a list cannot be searched
    /// for.
    scalars: bool,
}

/// A scalar as key of a hash table, with the equality of [`equal`].
#[derive(PartialEq, Eq, Hash)]
enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Float(u64),
    Str(EcoString),
    Map,
    List,
}

#[expect(clippy::cast_precision_loss, reason = "Go reads integers above i64::MAX as floats")]
fn scalar(node: &Node) -> Scalar {
    match &node.value {
        Value::Null => Scalar::Null,
        Value::Bool(value) => Scalar::Bool(*value),
        Value::Int(number) => Scalar::Int(*number),
        // As text it would differ from the float that Go decodes from the same digits.
        Value::Big(number) => Scalar::Float((*number as f64).to_bits()),
        Value::Float(number) => Scalar::Float(number.to_bits()),
        Value::Str(text) => Scalar::Str(text.clone()),
        Value::Map(_) => Scalar::Map,
        Value::List(_) => Scalar::List,
    }
}

impl Positions {
    /// Builds the positions of a list in which every element has the key.
    pub(super) fn of(items: &[Node], key: Option<&'static str>) -> Result<Self, Problem> {
        let identities: Vec<Option<Node>> = items
            .iter()
            .map(|item| identity(item, key).cloned().map(Some))
            .collect::<Result<_, _>>()?;
        // A hash table would find a mapping equal to itself, where Go's comparison panics or
        // fails.
        if key.is_none()
            && let Some(item) =
                items.iter().find(|item| matches!(item.value, Value::Map(_) | Value::List(_)))
        {
            return Err(Problem::Uncomparable { found: item.kind_name() });
        }
        Ok(Self::new(identities, key.is_none()))
    }

    /// Builds the positions of a list of mappings that can lack the key.
    pub(super) fn lenient(items: &[Node], key: &'static str) -> Self {
        Self::new(items.iter().map(|item| identity(item, Some(key)).ok().cloned()).collect(), false)
    }

    fn new(identities: Vec<Option<Node>>, scalars: bool) -> Self {
        let mut positions = Self { identities: Vec::new(), table: None, scalars };
        if identities.len() > SHORT {
            positions.table = Some(HashMap::new());
        }
        for identity in identities {
            positions.add(identity);
        }
        positions
    }

    /// Adds an element at the end.
    pub(super) fn push(&mut self, identity: Node) {
        self.add(Some(identity));
        // The list outgrew the linear search; each further step would make the merge quadratic.
        if self.table.is_none() && self.identities.len() > SHORT {
            *self = Self::new(std::mem::take(&mut self.identities), self.scalars);
        }
    }

    fn add(&mut self, identity: Option<Node>) {
        if let (Some(table), Some(identity)) = (&mut self.table, &identity) {
            // The first position stays: the linear search returns the first of equal elements too.
            table.entry(scalar(identity)).or_insert(self.identities.len());
        }
        self.identities.push(identity);
    }

    /// Returns the first element with this identity.
    pub(super) fn find(&self, wanted: &Node) -> Result<Option<usize>, Problem> {
        let compound = matches!(wanted.value, Value::Map(_) | Value::List(_));
        if compound && self.scalars {
            return Err(Problem::Uncomparable { found: wanted.kind_name() });
        }
        if let Some(table) = &self.table {
            return match table.get(&scalar(wanted)) {
                // The linear search would have met the other mapping and failed; the table must
                // fail as well.
                Some(_) if compound => Err(Problem::Uncomparable { found: wanted.kind_name() }),
                found => Ok(found.copied()),
            };
        }
        for (index, identity) in self.identities.iter().enumerate() {
            if let Some(identity) = identity
                && equal(identity, wanted)?
            {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

/// Checks that the patch's elements are in the order of `$setElementOrder`.
pub(super) fn validate(
    patch: &[Node],
    wanted: &[Node],
    key: Option<&'static str>,
) -> Result<(), Error> {
    if patch.is_empty() || wanted.is_empty() {
        return Ok(());
    }
    let directive = |item: &Node| item.as_map().and_then(|map| map.get(PATCH)).cloned();
    let mut wanted = wanted.iter().peekable();
    for item in patch {
        if key.is_some() && item.as_map().is_none() {
            return Err(Problem::NotAMapping { found: item.kind_name() }.into());
        }
        // An element that is deleted need not be listed in the order.
        let directive = directive(item);
        if key.is_some() && directive.as_ref().and_then(Node::as_str) == Some("delete") {
            continue;
        }
        // Quirk: an element with another directive is skipped, except when all wanted elements were
        // found before.
        if directive.is_some() && wanted.peek().is_some() {
            continue;
        }
        loop {
            let Some(next) = wanted.next() else { return Err(Problem::BadOrder.into()) };
            if equal(identity(item, key)?, identity(next, key)?)? {
                break;
            }
        }
    }
    Ok(())
}

/// One element with its positions.
struct Placed {
    item: Node,
    /// Position in the list that sorts it: the patch's order for listed elements, the base for the
    /// others.
    place: Option<usize>,
    /// Position in the base.
    base: Option<usize>,
}

/// Puts a merged list in order: elements in `wanted` keep its order, all others the order of
/// `base`. When both sequences are combined, the element that comes first in `base` goes first if
/// `base` has both; otherwise the element of `wanted` does.
pub(super) fn arrange(
    merged: EcoVec<Node>,
    wanted: &[Node],
    base: &[Node],
    key: Option<&'static str>,
    maps: bool,
) -> Result<EcoVec<Node>, Problem> {
    // As in upstream code, the key is looked up in all three lists before sorting.
    let in_wanted = Positions::of(wanted, key)?;
    let in_base = Positions::of(base, key)?;
    let mut patched = Vec::new();
    let mut untouched = Vec::new();
    for item in merged {
        let identity = identity(&item, key)?;
        let (place, base) = (in_wanted.find(identity)?, in_base.find(identity)?);
        // Two sequences, as upstream: each keeps its order, and only the interleaving is decided.
        if place.is_some() {
            patched.push(Placed { item, place, base });
        } else {
            untouched.push(Placed { item, place: base, base });
        }
    }
    sort(&mut patched, maps);
    sort(&mut untouched, maps);

    let mut arranged = EcoVec::with_capacity(patched.len() + untouched.len());
    let mut patched = patched.into_iter().peekable();
    let mut untouched = untouched.into_iter().peekable();
    loop {
        let from_base = match (untouched.peek(), patched.peek()) {
            (None, None) => break,
            (None, Some(_)) => false,
            (Some(_), None) => true,
            (Some(left), Some(right)) => {
                matches!((left.base, right.base), (Some(left), Some(right)) if left < right)
            }
        };
        let next = if from_base { untouched.next() } else { patched.next() };
        arranged.extend(next.map(|placed| placed.item));
    }
    Ok(arranged)
}

/// Sorts by place; stable. Mappings with a `$patch: delete` go last.
fn sort(items: &mut Vec<Placed>, maps: bool) {
    let mut last = Vec::new();
    if maps {
        let deletes = |item: &Node| {
            item.as_map().and_then(|map| map.get(PATCH)).and_then(Node::as_str) == Some("delete")
        };
        // The split allocates, and directives inside a list are rare.
        if items.iter().any(|placed| deletes(&placed.item)) {
            let (deleting, rest) =
                std::mem::take(items).into_iter().partition(|placed| deletes(&placed.item));
            (last, *items) = (deleting, rest);
        }
    }
    if items.iter().all(|placed| placed.place.is_some()) {
        items.sort_by_key(|placed| placed.place);
    } else {
        // Quirk: upstream's comparison returns "less" when either element has no place. The result
        // then depends on the algorithm, which is an insertion sort for the lengths that occur.
        for start in 1..items.len() {
            let mut index = start;
            while index > 0 && less(&items[index], &items[index - 1]) {
                items.swap(index, index - 1);
                index -= 1;
            }
        }
    }
    items.append(&mut last);
}

fn less(a: &Placed, b: &Placed) -> bool {
    match (a.place, b.place) {
        (Some(a), Some(b)) => a < b,
        _ => true,
    }
}

/// Reports whether Go decodes both to the same type.
pub(super) fn same_type(a: &Value, b: &Value) -> bool {
    match (a, b) {
        // Integers that do not fit an int64 become float64 when Go decodes them.
        (Value::Big(_) | Value::Float(_), Value::Big(_) | Value::Float(_)) => true,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}
