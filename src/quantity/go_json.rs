//! Text as Go writes it in JSON.

use std::fmt::Write;

/// Appends a string as Go's encoding/json writes it: `<`, `>`, `&` and the two line separators of
/// Unicode are escaped too.
pub fn string(out: &mut String, text: &str) {
    out.push('"');
    // Most texts are one run of characters that are written as they are.
    let mut rest = text;
    while let Some(at) = rest.find(is_escaped) {
        out.push_str(&rest[..at]);
        let mut after = rest[at..].chars();
        match after.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(other) => _ = write!(out, "\\u{:04x}", u32::from(other)),
            None => {}
        }
        rest = after.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn is_escaped(c: char) -> bool {
    matches!(c, '"' | '\\' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_as_go_escapes_it() {
        for (text, expected) in [
            ("a<b>&", "\"a\\u003cb\\u003e\\u0026\""),
            ("\u{2028}", "\"\\u2028\""),
            ("tab\tbell\u{7}", "\"tab\\tbell\\u0007\""),
            ("日本 \"q\" \\", "\"日本 \\\"q\\\" \\\\\""),
            ("\u{7f}", "\"\u{7f}\""),
        ] {
            let mut out = String::new();
            string(&mut out, text);
            assert_eq!(out, expected, "{text:?}");
        }
    }
}
