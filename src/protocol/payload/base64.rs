//! How many bytes a base64 text stands for.
//!
//! The JSON form of proto messages takes both alphabets, with padding or without.

/// The number of bytes, or none when the text is not base64.
pub(super) fn decoded_length(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')) {
        return None;
    }
    // 6 bits a digit; a single digit behind the last group of four says nothing.
    let rest = digits.len() % 4;
    if rest == 1 || (padding > 0 && (rest == 0 || padding != 4 - rest)) {
        return None;
    }
    Some(digits.len() as u64 * 6 / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        for (text, length) in [
            ("", Some(0)),
            ("YQ==", Some(1)),
            ("YQ", Some(1)),
            ("YWI=", Some(2)),
            ("YWJj", Some(3)),
            ("AAAAAAAAAAA=", Some(8)),
            ("-_+/", Some(3)),
            ("Y", None),
            ("YQ=", None),
            ("YWJj=", None),
            ("YQ===", None),
            ("Y Q=", None),
            ("=YQ=", None),
        ] {
            assert_eq!(decoded_length(text), length, "{text}");
        }
    }
}
