//! Mappings that keep their order.

use super::node::{Entry, Node};
use super::path::{FieldPath, Segment};
use ecow::{EcoString, EcoVec};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Most entries that are looked through one by one. Nearly every mapping of a manifest has fewer;
/// a ConfigMap or the labels of a generated object may have many thousands.
const FEW: usize = 32;

/// A mapping that keeps its order. Copies share their entries until one of them changes.
#[derive(Clone, Debug)]
pub struct Map(Entries);

#[derive(Clone, Debug)]
enum Entries {
    Few(EcoVec<Entry>),
    Many(Arc<Many>),
}

/// Entries with the place of each key, found out when a key is first looked for.
#[derive(Clone, Debug, Default)]
struct Many {
    entries: Vec<Entry>,
    places: OnceLock<HashMap<EcoString, usize>>,
}

impl Many {
    fn position(&self, key: &str) -> Option<usize> {
        let places = self.places.get_or_init(|| {
            let mut places = HashMap::with_capacity(self.entries.len());
            for (index, entry) in self.entries.iter().enumerate() {
                // The first one is used, as in short lists.
                places.entry(entry.key.clone()).or_insert(index);
            }
            places
        });
        places.get(key).copied()
    }

    fn push(&mut self, entry: Entry) {
        // An index that exists is kept; before the first search there is none to keep.
        if let Some(places) = self.places.get_mut() {
            places.entry(entry.key.clone()).or_insert(self.entries.len());
        }
        self.entries.push(entry);
    }

    /// The entries, to be moved or renamed.
    fn changed(&mut self) -> &mut Vec<Entry> {
        // Positions may change below; the next search counts them anew.
        self.places.take();
        &mut self.entries
    }
}

impl Default for Map {
    fn default() -> Self {
        Self(Entries::Few(EcoVec::new()))
    }
}

/// Whether an entry has a key. Keys of one length mostly differ in the first byte, which is cheaper
/// than the call that compares the rest.
fn has_key(entry: &Entry, key: &str) -> bool {
    let (of_entry, wanted) = (entry.key.as_bytes(), key.as_bytes());
    of_entry.len() == wanted.len() && of_entry.first() == wanted.first() && of_entry == wanted
}

impl Map {
    /// An empty mapping.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty mapping with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(if capacity <= FEW {
            Entries::Few(EcoVec::with_capacity(capacity))
        } else {
            let entries = Vec::with_capacity(capacity);
            Entries::Many(Arc::new(Many { entries, places: OnceLock::new() }))
        })
    }

    fn entries(&self) -> &[Entry] {
        match &self.0 {
            Entries::Few(entries) => entries,
            Entries::Many(many) => &many.entries,
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.0 {
            Entries::Few(entries) => entries.iter().find(|entry| has_key(entry, key)),
            Entries::Many(many) => many.position(key).map(|index| &many.entries[index]),
        }
    }

    /// The value of a key, mutable; copies a shared map.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let index = self.position(key)?;
        Some(&mut self.at(index).node)
    }

    /// Whether the key is there.
    pub fn contains_key(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    fn position(&self, key: &str) -> Option<usize> {
        match &self.0 {
            Entries::Few(entries) => entries.iter().position(|entry| has_key(entry, key)),
            Entries::Many(many) => many.position(key),
        }
    }

    /// An entry; its key must not be changed.
    fn at(&mut self, index: usize) -> &mut Entry {
        match &mut self.0 {
            Entries::Few(entries) => &mut entries.make_mut()[index],
            Entries::Many(many) => &mut Arc::make_mut(many).entries[index],
        }
    }

    /// Sets a key: in place when it is there, else at the end. The key's origin becomes the
    /// value's.
    pub fn insert(&mut self, key: impl Into<EcoString>, node: Node) {
        let key = key.into();
        let origin = node.origin;
        self.insert_entry(Entry { key, key_origin: origin, node });
    }

    /// Sets an entry: in place when its key is there, else at the end.
    pub fn insert_entry(&mut self, entry: Entry) {
        match self.position(&entry.key) {
            Some(index) => *self.at(index) = entry,
            None => self.push(entry),
        }
    }

    /// Sets the value at a path of fields, and creates missing mappings; a value on the path that
    /// is neither a mapping nor null stays.
    pub fn insert_at(&mut self, path: &FieldPath, node: &Node) {
        let mut map = self;
        let mut steps = path.0.iter().peekable();
        // Steps through lists are not created: nothing tells how many elements there should be.
        while let Some(Segment::Field(key)) = steps.next() {
            if steps.peek().is_none() {
                return map.insert(key.clone(), node.clone());
            }
            if map.get(key).is_none_or(Node::is_null) {
                map.insert(key.clone(), Node::map(node.origin));
            }
            let Some(inner) = map.get_mut(key).and_then(Node::as_map_mut) else { return };
            map = inner;
        }
    }

    /// Adds an entry whose key is known to be absent.
    pub fn push(&mut self, entry: Entry) {
        match &mut self.0 {
            Entries::Few(entries) if entries.len() < FEW => entries.push(entry),
            Entries::Few(entries) => {
                let mut many = Many::default();
                // A mapping that outgrows the short form is most often still being read.
                many.entries.reserve(2 * FEW);
                many.entries.extend(std::mem::take(entries));
                many.entries.push(entry);
                self.0 = Entries::Many(Arc::new(many));
            }
            Entries::Many(many) => Arc::make_mut(many).push(entry),
        }
    }

    /// Removes an entry and keeps the order of the others.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let index = self.position(key)?;
        Some(match &mut self.0 {
            Entries::Few(entries) => entries.remove(index),
            Entries::Many(many) => Arc::make_mut(many).changed().remove(index),
        })
    }

    /// The entries in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries().iter()
    }

    /// The entries in order, mutable; copies a shared map.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Entry> {
        match &mut self.0 {
            Entries::Few(entries) => entries.make_mut().iter_mut(),
            Entries::Many(many) => Arc::make_mut(many).changed().iter_mut(),
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Keeps the entries for which `keep` answers true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Entry) -> bool) {
        match &mut self.0 {
            Entries::Few(entries) => entries.retain(|entry| keep(entry)),
            Entries::Many(many) => Arc::make_mut(many).changed().retain(|entry| keep(entry)),
        }
    }

    /// Sorts the entries by key, byte order.
    pub fn sort(&mut self) {
        match &mut self.0 {
            Entries::Few(entries) => entries.make_mut().sort_by(|a, b| a.key.cmp(&b.key)),
            Entries::Many(many) => {
                Arc::make_mut(many).changed().sort_by(|a, b| a.key.cmp(&b.key));
            }
        }
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Map {
    type Item = &'a mut Entry;
    type IntoIter = std::slice::IterMut<'a, Entry>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl FromIterator<Entry> for Map {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        let entries = entries.into_iter();
        let mut map = Self::with_capacity(entries.size_hint().0);
        entries.for_each(|entry| map.push(entry));
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};
    use proptest::prelude::*;

    static RULE: Rule = Rule { id: "test", text: "", cite: "" };

    fn entry(key: &str, value: i64) -> Entry {
        let origin = Origin::Derived(&RULE);
        Entry { key: key.into(), key_origin: origin, node: Node::int(value, origin) }
    }

    /// An operation on a mapping.
    #[derive(Clone, Debug)]
    enum Act {
        Insert(u8),
        Push(u8),
        Remove(u8),
        Change(u8),
        Rename(u8),
        Keep(u8),
        Sort,
        Copy,
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            12 => any::<u8>().prop_map(Act::Insert),
            12 => any::<u8>().prop_map(Act::Push),
            3 => any::<u8>().prop_map(Act::Remove),
            3 => any::<u8>().prop_map(Act::Change),
            1 => any::<u8>().prop_map(Act::Rename),
            1 => any::<u8>().prop_map(Act::Keep),
            1 => Just(Act::Sort),
            1 => Just(Act::Copy),
        ]
    }

    proptest! {
        #[test]
        fn small_and_large_maps_behave_alike(acts in prop::collection::vec(act(), 0..200)) {
            let mut map = Map::new();
            let mut model: Vec<(String, i64)> = Vec::new();
            let mut copies: Vec<(Map, Vec<(String, i64)>)> = Vec::new();
            for (number, act) in (0_i64..).zip(acts) {
                let find = |model: &[(String, i64)], key: &str| model.iter().position(|(model, _)| model == key);
                match act {
                    Act::Insert(key) => {
                        let key = key.to_string();
                        map.insert_entry(entry(&key, number));
                        match find(&model, &key) {
                            Some(index) => model[index].1 = number,
                            None => model.push((key, number)),
                        }
                    }
                    Act::Push(key) => {
                        let key = key.to_string();
                        map.push(entry(&key, number));
                        model.push((key, number));
                    }
                    Act::Remove(key) => {
                        let key = key.to_string();
                        let removed = map.remove(&key).and_then(|entry| entry.node.as_int());
                        let expected = find(&model, &key).map(|index| model.remove(index).1);
                        prop_assert_eq!(removed, expected);
                    }
                    Act::Change(key) => {
                        let key = key.to_string();
                        if let Some(node) = map.get_mut(&key) {
                            *node = Node::int(number, Origin::Derived(&RULE));
                        }
                        if let Some(index) = find(&model, &key) {
                            model[index].1 = number;
                        }
                    }
                    Act::Rename(by) => {
                        map.iter_mut().for_each(|entry| entry.key = format!("{}{by}", entry.key).into());
                        for (key, _) in &mut model { *key = format!("{key}{by}"); }
                    }
                    Act::Keep(by) => {
                        map.retain(|entry| entry.node.as_int().is_some_and(|value| value % 7 != i64::from(by % 7)));
                        model.retain(|(_, value)| value % 7 != i64::from(by % 7));
                    }
                    Act::Sort => {
                        map.sort();
                        model.sort_by(|a, b| a.0.cmp(&b.0));
                    }
                    Act::Copy => copies.push((map.clone(), model.clone())),
                }
                for key in ["0", "7", "31", "255"] {
                    let expected = find(&model, key).map(|index| model[index].1);
                    prop_assert_eq!(map.get(key).and_then(Node::as_int), expected);
                }
            }
            copies.push((map, model));
            for (map, model) in copies {
                let found: Vec<(String, i64)> = map.iter().map(|entry| (entry.key.to_string(), entry.node.as_int().unwrap())).collect();
                prop_assert_eq!(&found, &model);
                prop_assert_eq!(map.len(), model.len());
                let again: Map = map.iter().cloned().collect();
                for (key, _) in &model {
                    prop_assert_eq!(again.get(key), map.get(key));
                }
            }
        }
    }
}
