//! Escapes of CSS.

/// Whether the text ends with the word `url`, spaces behind it aside.
pub(super) fn ends_with_url(text: &[u8]) -> bool {
    let text = &text
        [..text.len() - text.iter().rev().take_while(|byte| b"\t\n\x0c\r ".contains(byte)).count()];
    let Some((before, word)) = text.len().checked_sub(3).map(|start| text.split_at(start)) else {
        return false;
    };
    word.eq_ignore_ascii_case(b"url")
        && String::from_utf8_lossy(&before[before.len().saturating_sub(4)..])
            .chars()
            .next_back()
            .is_none_or(|c| !is_name(c))
}

/// Whether the character can stand in a name.
pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '\u{80}'..='\u{fffd}' | '\u{10000}'..)
}

/// The text without escapes.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = rest.iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits == 0 {
            // What is escaped stands for itself, as a whole character.
            let next = &rest[..rest.len().min(4)];
            let length = next
                .utf8_chunks()
                .next()
                .and_then(|chunk| chunk.valid().chars().next())
                .map_or(next.len().min(1), char::len_utf8);
            out.extend_from_slice(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let number = |digits: &[u8]| {
            digits
                .iter()
                .filter_map(|digit| char::from(*digit).to_digit(16))
                .fold(0, |number, digit| number * 16 + digit)
        };
        let (mut code, mut length) = (number(&rest[..digits]), digits);
        if code > u32::from(char::MAX) {
            (code, length) = (code / 16, length - 1);
        }
        let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[length..];
        // One space ends the number.
        rest = match rest {
            [b'\r', b'\n', rest @ ..] | [b'\t' | b'\n' | b'\x0c' | b'\r' | b' ', rest @ ..] => rest,
            _ => rest,
        };
    }
    out.extend_from_slice(rest);
    out
}
