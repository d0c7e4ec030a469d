//! Names that resemble a misspelled one.

use ecow::EcoString;

/// Up to this number of names, each name is compared.
const FEW: usize = 500;
/// With more names, this many are compared on each side of the word's position, in the list sorted
/// by the beginnings of the names and in the list sorted by their ends.
const AROUND: usize = 100;

/// The candidate nearest to `word` in spelling, if near enough to be worth offering.
///
/// Nearness ignores case and allows about a third of the letters to differ, of three or fewer one;
/// ties go to the first candidate.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    let word = Word::new(word);
    for candidate in candidates {
        if let Some(distance) = word.distance(candidate)
            && best.is_none_or(|(least, _)| distance < least)
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The help for a name that is none of the known ones.
pub fn known_names(name: &str, existing: &[&str]) -> String {
    let all = existing.join(", ");
    match nearest(name, existing.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? known are {all}"),
        None => format!("known are {all}"),
    }
}

/// The misspelled word, prepared for comparison with many candidates.
struct Word {
    lower: String,
    length: usize,
    letters: usize,
    limit: usize,
}

impl Word {
    fn new(word: &str) -> Self {
        let letters = word.chars().count();
        // After two edits, hardly a letter of a short word is left.
        let limit = if letters < 4 { 1 } else { (letters / 3).max(2) };
        let lower = word.to_lowercase();
        // Lower case may have more letters: that of `İ` has two.
        let letters = lower.chars().count();
        Self { lower, length: word.len(), letters, limit }
    }

    /// The edit distance between a candidate and the word; `None` if it is above the limit.
    fn distance(&self, candidate: &str) -> Option<usize> {
        let other = candidate.to_lowercase();
        // Each letter that one of them has more is an edit.
        let is_near = other.chars().count().abs_diff(self.letters) <= self.limit;
        let distance = is_near.then(|| strsim::damerau_levenshtein(&self.lower, &other));
        // One containing the other is the commonest slip with long names.
        let contained = || {
            // Too many names contain a short word by chance.
            self.length > 3
                && !other.is_empty()
                && (other.contains(&self.lower) || self.lower.contains(&other))
        };
        let distance = distance.filter(|distance| *distance <= self.limit);
        // At the limit, so that a name with fewer edits is offered first.
        distance.or_else(|| contained().then_some(self.limit))
    }
}

/// Existing names, prepared for many look-ups. If there are many names, a look-up compares only
/// those that begin or end like the word, so that many misspelled references do not each compare
/// every name.
#[derive(Clone, Debug, Default)]
pub struct Nearby {
    names: Vec<EcoString>,
    /// Lower-case names with their places, in order; empty where there are few.
    by_start: Vec<(String, usize)>,
    /// The same, read backwards.
    by_end: Vec<(String, usize)>,
}

fn backwards(text: &str) -> String {
    text.chars().rev().collect()
}

impl Nearby {
    /// The names, in the order in which ties are decided.
    pub fn new<N: Into<EcoString>>(names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<EcoString> = names.into_iter().map(Into::into).collect();
        let mut nearby = Self { names, ..Self::default() };
        // Sorting pays only where comparing every name would be slow.
        if nearby.names.len() > FEW {
            let lower = nearby.names.iter().map(|name| String::from(name.to_lowercase()));
            nearby.by_start = lower.enumerate().map(|(place, name)| (name, place)).collect();
            nearby.by_end =
                nearby.by_start.iter().map(|(name, place)| (backwards(name), *place)).collect();
            nearby.by_start.sort();
            nearby.by_end.sort();
        }
        nearby
    }

    /// The nearest name, as [`nearest`] finds it.
    pub fn nearest(&self, word: &str) -> Option<&str> {
        self.nearest_of(word, |_| true).map(|place| self.names[place].as_str())
    }

    /// The place of the nearest name among those at the places that `counts` accepts.
    pub fn nearest_of(&self, word: &str, counts: impl Fn(usize) -> bool) -> Option<usize> {
        let mut places: Vec<usize> = if self.by_start.is_empty() {
            (0..self.names.len()).collect()
        } else {
            let lower = word.to_lowercase();
            // A slip at one end leaves the other intact, so one of the lists has the name close by.
            let around = |sorted: &[(String, usize)], word: &str| -> Vec<usize> {
                let middle = sorted.partition_point(|(name, _)| name.as_str() < word);
                let range = middle.saturating_sub(AROUND)..(middle + AROUND).min(sorted.len());
                sorted[range].iter().map(|(_, place)| *place).collect()
            };
            let mut places = around(&self.by_start, &lower);
            places.extend(around(&self.by_end, &backwards(&lower)));
            places.sort_unstable();
            // Most names that resemble the word are near it in both lists.
            places.dedup();
            places
        };
        places.retain(|place| counts(*place));
        let word = Word::new(word);
        let near = places.into_iter().filter_map(|place| {
            let distance = word.distance(&self.names[place])?;
            Some((distance, place))
        });
        // Of equal distances the first place wins, as in `nearest`.
        near.min().map(|(_, place)| place)
    }
}

/// "did you mean `x`?" over names that exist.
pub fn did_you_mean<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    proposed(nearest(name, names))
}

/// "did you mean `x`?" about the nearest name.
pub fn proposed(near: Option<&str>) -> Option<String> {
    near.map(|near| format!("did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_resemble_the_given_word() {
        for (word, offered) in [
            ("Foo", None),
            ("Jop", Some("Job")),
            ("Nod", Some("Node")),
            ("deploymnet", Some("Deployment")),
            ("zzzz", None),
        ] {
            assert_eq!(nearest(word, ["Job", "Node", "Deployment"]), offered, "{word}");
            assert_eq!(Nearby::new(["Job", "Node", "Deployment"]).nearest(word), offered, "{word}");
        }
    }

    #[test]
    fn a_misspelled_name_is_matched_among_thousands() {
        let names: Vec<String> =
            (0..5_000).map(|number| format!("llama-{:05}-instruct", number * 7)).collect();
        let nearby = Nearby::new(names.iter().map(String::as_str));
        for number in [0, 7, 4_242, 4_999] {
            let name = &names[number];
            for slip in [
                name[1..].to_owned(),
                name[..name.len() - 1].to_owned(),
                name.replace("llama", "lama"),
                name.replace("instruct", "instruckt"),
                name.replacen("-i", "i", 1),
                name.to_uppercase(),
            ] {
                assert_eq!(nearby.nearest(&slip), Some(name.as_str()), "{slip}");
            }
        }
        assert_eq!(nearby.nearest("mixtral"), None);
        let odd = nearby.nearest_of(&names[4], |place| place % 2 == 1).expect("a neighbor is near");
        assert_eq!(odd % 2, 1);
    }
}
