//! Text as Go writes it in JSON.

use std::fmt::Write;

/// Appends a string as Go's encoding/json writes it: `<`, `>`, `&` and the two line separators of
/// Unicode are escaped too.
pub fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
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
