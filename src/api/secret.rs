//! Which names say that their value is a secret.
//!
//! In: the name of an environment variable or of a flag. Out: whether its value is kept off screens
//! and reports. Nothing here looks at a value.

/// Whether a name is that of a secret: one of its words says so.
pub fn names_secret(name: &str) -> bool {
    const WORDS: [&str; 7] =
        ["TOKEN", "PASSWORD", "PASSWD", "SECRET", "KEY", "APIKEY", "CREDENTIALS"];
    name.to_ascii_uppercase().split(['_', '-', '.']).any(|word| WORDS.contains(&word))
}

/// Whether it names something about a secret, such as the file it stands in, and not the secret
/// itself.
pub fn names_its_place(name: &str) -> bool {
    const LAST: [&str; 10] =
        ["FILE", "PATH", "DIR", "NAME", "ID", "URL", "URI", "ENDPOINT", "HOST", "SIZE"];
    name.to_ascii_uppercase()
        .rsplit(['_', '-', '.'])
        .next()
        .is_some_and(|word| LAST.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_a_word_of_their_name() {
        for (name, secret) in [
            ("HF_TOKEN", true),
            ("aws-secret-access-key", true),
            ("API_KEY", true),
            ("MAX_TOKENS", false),
            ("TOKENIZER", false),
            ("LEVEL", false),
        ] {
            assert_eq!(names_secret(name), secret, "{name}");
        }
    }

    #[test]
    fn places_of_secrets_are_none() {
        for (name, place) in [
            ("SSL_KEY_FILE", true),
            ("AWS_ACCESS_KEY_ID", true),
            ("ssl-key-path", true),
            ("HF_TOKEN", false),
            ("FILE_TOKEN", false),
        ] {
            assert_eq!(names_its_place(name), place, "{name}");
        }
    }
}
