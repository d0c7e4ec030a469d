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

#[cfg(test)]
mod tests {
    use super::glob;

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
}
