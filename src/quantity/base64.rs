//! Base64: the decoded bytes of a text, and their number.
//!
//! The JSON form of proto messages allows both alphabets, with or without padding; Secrets use the
//! first one.

/// The number of bytes, or none when the text is not base64.
pub fn decoded_length(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if !digits
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_'))
    {
        return None;
    }
    // 6 bits a digit; a single digit behind the last group of four has no value.
    let rest = digits.len() % 4;
    if rest == 1 || (padding > 0 && (rest == 0 || padding != 4 - rest)) {
        return None;
    }
    Some(digits.len() as u64 * 6 / 8)
}

/// The bytes; `None` if the text is not base64. Line breaks are ignored, as in Kubernetes.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    decoded_length(&text)?;
    let mut out = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            _ => 63,
        };
        bits = (bits << 6) | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xff).unwrap_or_default());
        }
    }
    Some(out)
}

/// The text of bytes, with padding, as Secrets have it.
pub fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or_default());
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for digit in 0..4 {
            if digit > group.len() {
                out.push('=');
                continue;
            }
            let index = (bits >> (18 - 6 * digit)) & 63;
            out.push(DIGITS.get(index as usize).copied().map_or('=', char::from));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_length_is_known_only_for_valid_base64() {
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

    #[test]
    fn valid_base64_decodes_to_bytes() {
        for (text, bytes) in [
            ("", Some("")),
            ("YQ==", Some("a")),
            ("YWI", Some("ab")),
            ("aHR0\ncHM6", Some("https:")),
            ("YQ=", None),
            ("?", None),
        ] {
            assert_eq!(decoded(text).as_deref(), bytes.map(str::as_bytes), "{text}");
        }
        assert_eq!(decoded("-_+/"), Some(vec![0xfb, 0xff, 0xbf]));
    }
}
