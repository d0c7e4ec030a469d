//! Indices of list elements by their keys.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Most elements that are looked through one by one.
const FEW: usize = 16;

/// The indices of list elements by their keys: the first index of a key is used. For a few elements
/// there is no index.
#[derive(Clone, Debug)]
pub struct Places<K> {
    few: Vec<(K, usize)>,
    many: HashMap<K, usize>,
}

impl<K: Eq + Hash> Places<K> {
    /// No elements.
    pub fn new() -> Self {
        Self { few: Vec::new(), many: HashMap::new() }
    }

    /// Elements with their places; those without a key are nowhere.
    pub fn of(keys: impl IntoIterator<Item = Option<K>>) -> Self {
        let mut places = Self::new();
        for (place, key) in keys.into_iter().enumerate() {
            if let Some(key) = key {
                places.insert(key, place);
            }
        }
        places
    }

    /// The place of an element.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        if self.many.is_empty() {
            let existing = self.few.iter().find(|(other, _)| other.borrow() == key);
            return existing.map(|(_, place)| *place);
        }
        self.many.get(key).copied()
    }

    /// Adds an element unless one of this key is there; the place of that one.
    pub fn insert(&mut self, key: K, place: usize) -> Option<usize> {
        let existing = self.get(&key);
        if existing.is_none() {
            if self.many.is_empty() && self.few.len() < FEW {
                self.few.push((key, place));
            } else {
                // Kept in one of the two: `get` decides by whether the index is empty.
                self.many.extend(self.few.drain(..));
                self.many.insert(key, place);
            }
        }
        existing
    }
}

impl<K: Eq + Hash> Default for Places<K> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_position_of_a_repeated_key_is_returned() {
        for count in [0, 1, FEW - 1, FEW, FEW + 1, 10 * FEW] {
            let mut places = Places::of((0..count).map(|number| Some(number.to_string())));
            for number in 0..count {
                assert_eq!(places.get(&number.to_string()), Some(number));
                assert_eq!(places.insert(number.to_string(), 7), Some(number));
            }
            assert!(places.get("x").is_none());
            assert_eq!(places.insert("x".to_owned(), 99), None);
            assert_eq!(places.get("x"), Some(99));
        }
        let some = Places::of([Some("a"), None, Some("a"), Some("b")]);
        assert_eq!((some.get("a"), some.get("b"), some.get("c")), (Some(0), Some(3), None));
    }
}
