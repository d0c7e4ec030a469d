//! The order of keys in print.

use crate::yaml::Node;

/// Brings an object into the order in which kubectl users read it: `apiVersion`, `kind`, `metadata`, then as built.
/// Labels and annotations are sorted where they are made.
pub fn order(object: &mut Node) {
    const FIRST: [&str; 3] = ["apiVersion", "kind", "metadata"];
    let Some(map) = object.as_map_mut() else { return };
    if map.iter().zip(FIRST).all(|(entry, key)| entry.key == key) {
        return;
    }
    let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    let mut entries: Vec<_> = map.iter().cloned().collect();
    entries.sort_by_key(|entry| rank(&entry.key));
    *map = entries.into_iter().collect();
}
