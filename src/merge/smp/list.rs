//! Merging of lists: by key where elements are mappings, as a set where they are scalars.

use super::directive::{PATCH, Patch};
use super::order::{self, Positions};
use super::walk::Walk;
use super::{Error, Problem};
use crate::merge::history::Step;
use crate::schema::Type;
use crate::yaml::{Node, Value};
use ecow::EcoVec;

/// The properties of two lists that are merged.
#[derive(Clone, Copy)]
pub(super) struct Lists {
    /// Type of the elements.
    pub(super) ty: Option<&'static Type>,
    /// Field that identifies an element.
    pub(super) key: Option<&'static str>,
    /// True when the patch lists scalars to remove.
    pub(super) delete: bool,
}

/// A merged list.
pub(super) struct Merged {
    pub(super) items: EcoVec<Node>,
    /// The base as upstream code sees it when it orders the list afterwards; `None`: unchanged.
    ///
    /// Quirk: Go deletes and appends in place. The caller's slice then contains shifted elements,
    /// and appended elements in the slots of deleted ones.
    pub(super) base: Option<EcoVec<Node>>,
}

impl From<EcoVec<Node>> for Merged {
    fn from(items: EcoVec<Node>) -> Self {
        Self { items, base: None }
    }
}

/// Returns the base after in-place deletions and appends. Each position refers to the list after
/// the deletions before it.
fn shifted(base: EcoVec<Node>, deleted: &[usize], appended: &[Node]) -> EcoVec<Node> {
    // A plain vector: each write into the shared one would check whether it is unique.
    let mut seen: Vec<Node> = base.into_iter().collect();
    let mut length = seen.len();
    for position in deleted {
        for index in *position..length - 1 {
            seen[index] = seen[index + 1].clone();
        }
        length -= 1;
    }
    for (place, node) in seen[length..].iter_mut().zip(appended) {
        *place = node.clone();
    }
    seen.into_iter().collect()
}

/// Merges two lists.
pub(super) fn merge(
    walk: &mut Walk<'_>,
    base: EcoVec<Node>,
    patch: &[Node],
    lists: Lists,
) -> Result<Merged, Error> {
    // Two empty lists have no element that would tell how to merge them; nothing is to be merged.
    let Some(maps) = element_type([base.as_slice(), patch])? else { return Ok(base.into()) };
    if maps {
        // The key is needed only here: a list of scalars with a merge strategy has none.
        let key = lists.key.ok_or(Problem::NotKeyed)?;
        keyed(walk, base, patch, key, lists.ty)
    } else if lists.delete {
        let out = Positions::of(patch, None)?;
        let mut kept = EcoVec::new();
        for item in base {
            if out.find(&item)?.is_none() {
                kept.push(item);
            } else {
                walk.record.at(Step::Scalar(&item)).lost(&item, None);
            }
        }
        Ok(kept.into())
    } else {
        union(&base, patch, lists.key)
    }
}

/// Merges lists of scalars as sets.
fn union(base: &[Node], patch: &[Node], key: Option<&'static str>) -> Result<Merged, Error> {
    let mut seen = Positions::of(&[], None)?;
    let mut both = EcoVec::new();
    for item in base.iter().chain(patch) {
        if seen.find(item)?.is_none() {
            seen.push(item.clone());
            both.push(item.clone());
        }
    }
    // Quirk: the decoder allocates capacity for a power of two of elements. If the patch fits into
    // it, upstream code appends in place, and the removal of duplicates moves the last elements
    // into the base, which then defines the order.
    let unique = Positions::of(base, None)?;
    let twice = base
        .iter()
        .enumerate()
        .any(|(index, item)| unique.find(item).is_ok_and(|first| first != Some(index)));
    let aliased =
        twice && base.len() <= ROOM && base.len() + patch.len() <= base.len().next_power_of_two();
    let moved = if aliased { Some(deduplicated(base, patch)) } else { None };
    let items = order::arrange(both, patch, moved.as_deref().unwrap_or(base), key, false)?;
    Ok(Merged { items, base: moved })
}

/// Maximum length of a list for which Go is known to grow slices by doubling.
const ROOM: usize = 256;

/// Returns the elements in the base's slots after upstream's removal of duplicates, which replaces
/// each duplicate by the last element.
fn deduplicated(base: &[Node], patch: &[Node]) -> EcoVec<Node> {
    let mut all: Vec<Node> = base.iter().chain(patch).cloned().collect();
    // The list is not empty: it is called only for a base that has an element twice.
    let mut last = all.len() - 1;
    let mut first = 0;
    while first < last {
        let mut other = first + 1;
        while other <= last {
            if all[first] == all[other] {
                all[other] = all[last].clone();
                last -= 1;
            } else {
                other += 1;
            }
        }
        first += 1;
    }
    all.truncate(base.len());
    all.into_iter().collect()
}

/// Merges lists of mappings by key.
fn keyed(
    walk: &mut Walk<'_>,
    base: EcoVec<Node>,
    patch: &[Node],
    key: &'static str,
    ty: Option<&'static Type>,
) -> Result<Merged, Error> {
    // The base before deletions: `shifted` replays on it what Go does to the caller's slice.
    let whole = base.clone();
    let mut rest = base;
    let mut plain = EcoVec::new();
    let mut deleted = Vec::new();
    let mut replaced = false;
    for item in patch {
        let Some(directive) = item.as_map().and_then(|map| map.get(PATCH)) else {
            plain.push(item.clone());
            continue;
        };
        match Patch::parse(directive)? {
            Patch::Delete => {
                let value = order::identity(item, Some(key))?;
                // All elements with this key go, not the first alone: a base may have it twice.
                while let Some(position) = order::position(&rest, key, value)? {
                    let loser = rest.remove(position);
                    walk.record.at(Step::Keyed(key, value)).lost(&loser, None);
                    deleted.push(position);
                }
            }
            // One element with `replace` replaces the whole list, its own fields are not added.
            Patch::Replace => replaced = true,
            Patch::Merge => return Err(Problem::BadPatch { value: "merge".into() }.into()),
        }
    }
    if replaced {
        for loser in &rest {
            // An element without the key has no path that a reader could ask for.
            if let Ok(value) = order::identity(loser, Some(key)) {
                walk.record.at(Step::Keyed(key, value)).lost(loser, None);
            }
        }
        let items = order::arrange(plain.clone(), &[], &plain, Some(key), true)?;
        return Ok(Merged { items, base: Some(shifted(whole, &deleted, &[])) });
    }

    let mut merged: Vec<Node> = rest.iter().cloned().collect();
    // Lenient: an element of the base without the key is kept where it is, as upstream does.
    let mut places = Positions::lenient(&rest, key);
    for item in &plain {
        let value = order::identity(item, Some(key))?;
        if let Some(place) = places.find(value)? {
            walk.record.enter(Step::Keyed(key, value));
            let result = walk.mapping(&mut merged[place], item, ty);
            walk.record.leave();
            result.map_err(|error| error.below(Step::Keyed(key, value), item))?;
        } else {
            // A later element of the patch with the same key merges into this one.
            places.push(value.clone());
            merged.push(item.clone());
        }
    }
    let seen = if deleted.is_empty() {
        None
    } else {
        Some(shifted(whole, &deleted, &merged[rest.len()..]))
    };
    let items = order::arrange(merged.into_iter().collect(), &plain, &rest, Some(key), true)?;
    Ok(Merged { items, base: seen })
}

/// Reports whether all elements are mappings (`Some(true)`) or scalars of one type; `None` for
/// empty lists.
pub(super) fn element_type<'a>(
    lists: impl IntoIterator<Item = &'a [Node]>,
) -> Result<Option<bool>, Problem> {
    let mut first: Option<&Node> = None;
    for item in lists.into_iter().flatten() {
        match first {
            // Go cannot tell the type of a nil element, so that null is refused even beside its
            // like.
            _ if item.is_null() => return Err(Problem::MixedElements),
            None if matches!(item.value, Value::List(_)) => return Err(Problem::ListOfLists),
            None => first = Some(item),
            Some(first) if !order::same_type(&first.value, &item.value) => {
                return Err(Problem::MixedElements);
            }
            Some(_) => {}
        }
    }
    Ok(first.map(|item| matches!(item.value, Value::Map(_))))
}
