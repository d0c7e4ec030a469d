//! A list whose copies share what none of them changes: a search for nodes to add places some pods on
//! copies of a cluster of many.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// Elements that are copied together.
const SIZE: usize = 128;

/// A list in pieces.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct Chunks<T> {
    /// All but the last are full.
    pieces: Vec<Arc<Vec<T>>>,
    length: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), length: 0 }
    }
}

impl<T> Chunks<T> {
    /// How many there are.
    pub(in crate::cluster) fn len(&self) -> usize {
        self.length
    }

    /// An element.
    pub(in crate::cluster) fn get(&self, index: usize) -> Option<&T> {
        self.pieces.get(index / SIZE)?.get(index % SIZE)
    }
}

impl<T: Clone> Chunks<T> {
    /// Adds an element at the end.
    pub(in crate::cluster) fn push(&mut self, element: T) {
        if self.length.is_multiple_of(SIZE) {
            self.pieces.push(Arc::new(Vec::with_capacity(SIZE)));
        }
        if let Some(last) = self.pieces.last_mut() {
            Arc::make_mut(last).push(element);
            self.length += 1;
        }
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        &self.pieces[index / SIZE][index % SIZE]
    }
}

impl<T: Clone> IndexMut<usize> for Chunks<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut Arc::make_mut(&mut self.pieces[index / SIZE])[index % SIZE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_their_elements_until_one_of_them_changes() {
        let mut list = Chunks::default();
        for number in 0..=3 * SIZE {
            list.push(number);
        }
        let mut copy = list.clone();
        copy[SIZE] = 0;
        copy.push(7);
        assert_eq!((list.len(), copy.len()), (3 * SIZE + 1, 3 * SIZE + 2));
        assert_eq!((list[SIZE], copy[SIZE], copy[3 * SIZE + 1]), (SIZE, 0, 7));
        assert!(list.get(3 * SIZE + 1).is_none());
        assert!((0..list.len()).all(|at| list[at] == at));
        let shared =
            list.pieces.iter().zip(&copy.pieces).map(|(one, other)| Arc::ptr_eq(one, other));
        assert!(shared.eq([true, false, true, false]));
    }
}
