//! Words of the command lines that next steps propose.

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    // What is safe is listed, because shells differ in what is not.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        // Nothing is special within single quotes but the quote itself, which has to stand outside.
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_change_them() {
        for (word, expected) in [
            ("ml/chat", "ml/chat"),
            ("", "''"),
            ("a b", "'a b'"),
            ("${NAME}", "'${NAME}'"),
            ("it's", "'it'\\''s'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
