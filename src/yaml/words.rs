//! Texts that a run reads again and again, as one string each: keys, types, images.

use ecow::EcoString;
use std::cell::RefCell;

/// How many of them a thread remembers; a new one replaces another of its place.
const PLACES: usize = 1024;
/// The longest that are remembered.
const LONGEST: usize = 64;

thread_local! {
    static WORDS: RefCell<Vec<EcoString>> = const { RefCell::new(Vec::new()) };
}

/// A text as a string, which is shared with those that were read before it if it is too long to need
/// no memory of its own: the dump of a cluster has a few hundred such texts a million times.
pub(super) fn shared(text: &str) -> EcoString {
    if !(EcoString::INLINE_LIMIT + 1..=LONGEST).contains(&text.len()) {
        return text.into();
    }
    WORDS.with_borrow_mut(|words| {
        if words.is_empty() {
            words.resize(PLACES, EcoString::new());
        }
        let word = &mut words[place(text)];
        if word != text {
            *word = text.into();
        }
        word.clone()
    })
}

/// The place of a text, by its beginning, middle and end: texts of one shape differ in one of them.
fn place(text: &str) -> usize {
    let bytes = text.as_bytes();
    let part = |at: usize| {
        bytes[at..at + 8].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let mixed = [part(bytes.len() / 2 - 4), part(bytes.len() - 8)]
        .into_iter()
        .fold(part(0), |mixed, part| {
            (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
    // The upper half is mixed best.
    usize::try_from(mixed >> 32).unwrap_or(0) % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_of_some_length_are_one_string() {
        for length in 0..2 * LONGEST {
            let text = "x".repeat(length);
            let (one, other) = (shared(&text), shared(&text));
            assert_eq!((one.as_str(), other.as_str()), (&*text, &*text));
            let is_shared = (EcoString::INLINE_LIMIT + 1..=LONGEST).contains(&length);
            assert_eq!(one.as_ptr() == other.as_ptr(), is_shared, "{length}");
        }
        // More than there are places for.
        let texts: Vec<String> = (0..4 * PLACES).map(|number| format!("{number:020}")).collect();
        assert!(texts.iter().all(|text| shared(text) == *text));
    }
}
