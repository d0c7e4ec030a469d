//! Globs of names: `*` matches any characters, every other character itself.

/// Whether a glob means a name.
pub fn glob(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(first) = parts.next() else { return name.is_empty() };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        // The last part is held back: it has to match at the end, the others at their first place.
        if let Some(previous) = last.replace(part) {
            match rest.find(previous) {
                Some(at) => rest = &rest[at + previous.len()..],
                None => return false,
            }
        }
    }
    match last {
        None => rest.is_empty(),
        Some(last) => rest.ends_with(last),
    }
}

/// Whether a pattern of an admission policy means a name: `?` is any one character beside `*`
/// (ext/wildcard of Kyverno).
pub fn wildcard(pattern: &str, name: &str) -> bool {
    if !pattern.contains('?') {
        return glob(pattern, name);
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut next) = (0, 0);
    // Where the last `*` stands, and how far the name is that it may take.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pattern.get(next) {
            Some('*') => {
                star = Some((next, at));
                next += 1;
            }
            Some(c) if *c == '?' || *c == name[at] => (at, next) = (at + 1, next + 1),
            _ => {
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                (at, next) = (taken + 1, place + 1);
            }
        }
    }
    pattern[next..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::{glob, wildcard};

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*", "", true),
            ("nvidia-h100-*", "nvidia-h100-80gb", true),
            ("nvidia-h100-*", "nvidia-h200-141gb", false),
            ("*h100*", "nvidia-h100-80gb", true),
            ("n*h*b", "nvidia-h100-80gb", true),
            ("n*x*b", "nvidia-h100-80gb", false),
            ("aa*aa", "aaa", false),
        ] {
            assert_eq!(glob(pattern, name), expected, "{pattern} of {name}");
        }
    }

    #[test]
    fn a_question_mark_of_a_policy_is_one_character() {
        for (pattern, name, expected) in [
            ("m?", "ml", true),
            ("m?", "m", false),
            ("m?", "mll", false),
            ("?*-a", "ml-a", true),
            ("*?b*", "aab", true),
            ("*?b", "b", false),
            ("m*", "ml", true),
            ("?", "", false),
        ] {
            assert_eq!(wildcard(pattern, name), expected, "{pattern} of {name}");
        }
    }
}
