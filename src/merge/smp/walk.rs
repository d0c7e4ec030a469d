//! Merging of mappings, key by key.

use super::directive::{Key, PATCH, Patch, RETAIN_KEYS};
use super::list::{self, Lists};
use super::{Error, Problem, decide, order};
use crate::merge::history::{Recorder, Step};
use crate::schema::Type;
use crate::yaml::{Entry, Map, Node, Value};

/// Merges whole documents.
pub(super) fn root(
    mut base: Node,
    patch: &Node,
    ty: Option<&'static Type>,
    record: &mut Recorder,
) -> Result<Node, Error> {
    // A null document is an empty one: the patch applies to no fields.
    if base.is_null() {
        base = Node::map(patch.origin);
    }
    for node in [&base, patch] {
        if !matches!(node.value, Value::Map(_) | Value::Null) {
            return Err(Problem::NotAMapping { found: node.kind_name() }.into());
        }
    }
    Walk { record }.mapping(&mut base, patch, ty)?;
    Ok(base)
}

/// The state of one merge.
pub(super) struct Walk<'r> {
    pub(super) record: &'r mut Recorder,
}

impl Walk<'_> {
    /// Merges a mapping into a mapping; a patch of another kind has no effect.
    pub(super) fn mapping(
        &mut self,
        base: &mut Node,
        patch: &Node,
        ty: Option<&'static Type>,
    ) -> Result<(), Error> {
        let Some(changes) = patch.as_map().filter(|map| !map.is_empty()) else { return Ok(()) };
        // The directive wins over every other key of the patch, as in mergeMap upstream.
        if let Some(directive) = changes.get(PATCH) {
            let winner = match Patch::parse(directive)? {
                Patch::Replace => {
                    let rest = changes.iter().filter(|entry| entry.key != PATCH).cloned().collect();
                    Node::new(Value::Map(rest), patch.origin)
                }
                Patch::Delete => Node::map(patch.origin),
                Patch::Merge => return Err(Problem::BadPatch { value: "merge".into() }.into()),
            };
            self.record.lost(base, Some(&winner));
            *base = winner;
            return Ok(());
        }
        // The name is taken before the mutable borrow, which the error could not read through.
        let found = base.kind_name();
        let Some(base) = base.as_map_mut() else {
            return Err(Problem::NotAMapping { found }.into());
        };
        // Before any field is merged: a key that the patch adds must not be dropped again.
        if let Some(keys) = changes.get(RETAIN_KEYS) {
            self.retain(base, changes, keys)?;
        }
        // Nearly no patch has a directive: one scan spares parsing each key.
        let directives = changes.iter().any(|entry| entry.key.starts_with('$'));
        let mut done = Vec::new();
        if directives {
            self.directives(base, changes, ty, &mut done)?;
        }
        for entry in changes {
            if directives
                && (entry.key == RETAIN_KEYS
                    || done.contains(&entry.key.as_str())
                    || !matches!(Key::parse(&entry.key)?, Key::Field(_)))
            {
                continue;
            }
            self.field(base, &entry.key, entry, ty, false)?;
        }
        Ok(())
    }

    /// Applies the directives about lists: first the orders, then the deletions. `done` collects
    /// the lists that were merged.
    fn directives<'a>(
        &mut self,
        base: &mut Map,
        changes: &'a Map,
        ty: Option<&'static Type>,
        done: &mut Vec<&'a str>,
    ) -> Result<(), Error> {
        // Deletions come after: a list that is ordered here is merged with its other changes
        // first.
        for entry in changes {
            if let Key::Order(field) = Key::parse(&entry.key)? {
                self.ordered(base, changes, field, &entry.node, ty)
                    .map_err(|error| error.below(Step::Field(field), &entry.node))?;
                done.push(field);
            }
        }
        for entry in changes {
            if let Key::Delete(field) = Key::parse(&entry.key)? {
                self.field(base, field, entry, ty, true)?;
            }
        }
        Ok(())
    }

    /// Merges one field. `delete`: the patch lists scalars to remove from a list.
    fn field(
        &mut self,
        base: &mut Map,
        name: &str,
        change: &Entry,
        ty: Option<&'static Type>,
        delete: bool,
    ) -> Result<(), Error> {
        let patch = &change.node;
        self.record.enter(Step::Field(name));
        let result = self.value(base, name, change, ty, delete);
        self.record.leave();
        result.map_err(|error| error.below(Step::Field(name), patch))
    }

    fn value(
        &mut self,
        map: &mut Map,
        name: &str,
        change: &Entry,
        ty: Option<&'static Type>,
        delete: bool,
    ) -> Result<(), Error> {
        let patch = &change.node;
        if patch.is_null() {
            if let Some(entry) = map.remove(name) {
                self.record.lost(&entry.node, None);
            }
            return Ok(());
        }
        let Some(base) = map.get_mut(name) else {
            // There is nothing to delete from, and a deletion list must not become the value.
            if !delete && let Some(node) = fresh(patch) {
                map.push(Entry { key: change.key.clone(), key_origin: change.key_origin, node });
            }
            return Ok(());
        };
        match (&mut base.value, &patch.value) {
            (Value::Map(_), Value::Map(_)) => {
                let decision = decide::mapping(ty, name)?;
                if decision.patch.replace {
                    self.replace(base, patch.clone());
                    Ok(())
                } else {
                    self.mapping(base, patch, decision.ty)
                }
            }
            (Value::List(items), Value::List(changes)) => {
                let decision = decide::list(ty, name)?;
                if decision.patch.merge || delete {
                    let lists = Lists { ty: decision.ty, key: decision.patch.key, delete };
                    // Taken, not cloned: a list with one owner is changed in place.
                    let merged = list::merge(self, std::mem::take(items), changes, lists)?;
                    *items = merged.items;
                } else {
                    self.replace(base, patch.clone());
                }
                Ok(())
            }
            (old, new) if order::same_type(old, new) => {
                self.replace(base, patch.clone());
                Ok(())
            }
            // A deletion of scalars says nothing about a value that is no list.
            _ if delete => Ok(()),
            _ => {
                // Values of different types are not merged: the new one counts, without its
                // directives.
                if let Some(node) = fresh(patch) {
                    self.replace(base, node);
                } else {
                    self.record.lost(base, None);
                    map.remove(name);
                }
                Ok(())
            }
        }
    }

    fn replace(&mut self, base: &mut Node, winner: Node) {
        self.record.lost(base, Some(&winner));
        *base = winner;
    }

    /// Drops the keys that `$retainKeys` does not contain.
    fn retain(&mut self, base: &mut Map, changes: &Map, keys: &Node) -> Result<(), Error> {
        let Value::List(keys) = &keys.value else { return Err(Problem::BadRetainKeys.into()) };
        // Upstream puts the keys into a set, which a mapping or a list cannot be in.
        if let Some(key) =
            keys.iter().find(|key| matches!(key.value, Value::Map(_) | Value::List(_)))
        {
            return Err(Problem::Uncomparable { found: key.kind_name() }.into());
        }
        let kept = |name: &str| keys.iter().any(|key| key.as_str() == Some(name));
        for entry in changes {
            let directive =
                entry.key == RETAIN_KEYS || !matches!(Key::parse(&entry.key), Ok(Key::Field(_)));
            if !directive && !entry.node.is_null() && !kept(&entry.key) {
                return Err(Problem::BadRetainKeys.into());
            }
        }
        // Retaining copies a shared map; without anything to drop the base stays shared.
        if base.iter().all(|entry| kept(&entry.key)) {
            return Ok(());
        }
        let record = &mut *self.record;
        base.retain(|entry| {
            let keep = kept(&entry.key);
            if !keep {
                record.at(entry.key.as_str()).lost(&entry.node, None);
            }
            keep
        });
        Ok(())
    }

    /// Merges the list `field` and orders it by `$setElementOrder`.
    fn ordered(
        &mut self,
        base: &mut Map,
        changes: &Map,
        field: &str,
        wanted: &Node,
        ty: Option<&'static Type>,
    ) -> Result<(), Error> {
        fn as_list(node: &Node) -> Result<&ecow::EcoVec<Node>, Problem> {
            match &node.value {
                Value::List(items) => Ok(items),
                _ => Err(Problem::ListNeeded { found: node.kind_name() }),
            }
        }
        let wanted = as_list(wanted)?;
        let patch = changes.get(field).map(as_list).transpose()?;
        let old = base.get(field).map(as_list).transpose()?.cloned();
        let decision = decide::list(ty, field)?;
        let key = decision.patch.key;
        order::validate(patch.map_or(&[], |items| items.as_slice()), wanted, key)?;

        // The order of the base as Go sees it, which in-place edits may have shifted.
        let mut server = old.clone().unwrap_or_default();
        let merged = match (old, patch) {
            (None, None) => return Ok(()),
            (Some(old), None) => old,
            // Nothing is below, so directives of elements have no object and go.
            (None, Some(patch)) => patch.iter().filter_map(without_directives).collect(),
            (Some(old), Some(patch)) if decision.patch.merge => {
                self.record.enter(Step::Field(field));
                let result =
                    list::merge(self, old, patch, Lists { ty: decision.ty, key, delete: false });
                self.record.leave();
                let merged = result?;
                server = merged.base.unwrap_or(server);
                merged.items
            }
            // A list that is replaced keeps the elements of the patch, but still gets the order.
            (Some(_), Some(patch)) => patch.clone(),
        };
        let maps =
            list::element_type([server.as_slice(), patch.map_or(&[], |items| items.as_slice())])?
                .ok_or(Problem::NothingToOrder)?;
        let items = order::arrange(merged, wanted, &server, key, maps)?;
        // The list keeps the origin of its first layer; only its order comes from the directive.
        if let Some(node) = base.get_mut(field) {
            node.value = Value::List(items);
        } else if let Some(entry) = changes.entry(field) {
            base.push(Entry {
                node: Node::new(Value::List(items), entry.node.origin),
                ..entry.clone()
            });
        }
        Ok(())
    }
}

/// Returns a value that is new in the tree, without nulls in its mappings and without mappings that
/// have a `$patch`. `None` when nothing remains.
fn fresh(node: &Node) -> Option<Node> {
    // Both copies cost an allocation per mapping; without nulls the node is shared.
    if has_null(node) { without_directives(&without_nulls(node)) } else { without_directives(node) }
}

fn has_null(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => map.iter().any(|entry| entry.node.is_null() || has_null(&entry.node)),
        Value::List(items) => items.iter().any(has_null),
        _ => false,
    }
}

fn without_nulls(node: &Node) -> Node {
    let value = match &node.value {
        Value::Map(map) => {
            let entries = map.iter().filter(|entry| !entry.node.is_null());
            Value::Map(
                entries
                    .map(|entry| Entry { node: without_nulls(&entry.node), ..entry.clone() })
                    .collect(),
            )
        }
        Value::List(items) => Value::List(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    };
    Node::new(value, node.origin)
}

fn has_directive(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => map.iter().any(|entry| entry.key == PATCH || has_directive(&entry.node)),
        Value::List(items) => items.iter().any(has_directive),
        _ => false,
    }
}

/// Quirk: mappings with a `$patch` are dropped, but other directives are kept (`removeDirectives`,
/// patch.go).
fn without_directives(node: &Node) -> Option<Node> {
    if !has_directive(node) {
        return Some(node.clone());
    }
    let value = match &node.value {
        Value::Map(map) if map.contains_key(PATCH) => return None,
        Value::Map(map) => {
            let entries = map.iter().filter_map(|entry| {
                Some(Entry { node: without_directives(&entry.node)?, ..entry.clone() })
            });
            Value::Map(entries.collect())
        }
        Value::List(items) => Value::List(items.iter().filter_map(without_directives).collect()),
        other => other.clone(),
    };
    Some(Node::new(value, node.origin))
}
