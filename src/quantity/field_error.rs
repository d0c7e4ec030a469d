//! Objections to the value of a field, in the words of the API server.

use std::fmt::Write as _;

/// An objection of apimachinery's `field` package. The path is added when it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldError {
    /// Nothing is written.
    Required,
    /// The value is of no use.
    Invalid {
        /// The value, or the part of it that is objected to.
        value: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The value is longer than this many bytes.
    TooLong(usize),
}

impl FieldError {
    pub(super) fn invalid(value: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Invalid { value: value.into(), detail: detail.into() }
    }

    /// The whole sentence, as the API server prints it.
    pub fn at(&self, path: &str) -> String {
        match self {
            Self::Required => format!("{path}: Required value"),
            Self::Invalid { value, detail } => {
                format!("{path}: Invalid value: {}: {detail}", go_quote(value))
            }
            Self::TooLong(limit) => format!("{path}: Too long: may not be more than {limit} bytes"),
        }
    }
}

/// A text in double quotes as Go's `%q` writes it.
pub fn go_quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            // Writing into a string cannot fail.
            '\0'..='\x1f' | '\x7f' => _ = write!(quoted, "\\x{:02x}", u32::from(c)),
            _ if is_printable(c) => quoted.push(c),
            '\0'..='\u{ffff}' => _ = write!(quoted, "\\u{:04x}", u32::from(c)),
            _ => _ = write!(quoted, "\\U{:08x}", u32::from(c)),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether Go's `unicode.IsPrint` holds: letters, marks, numbers, punctuation, symbols and the
/// plain space.
///
/// Rust's own table is behind `escape_debug`; it treats combining marks apart, but only at the
/// start of a text.
fn is_printable(c: char) -> bool {
    let mut pair = ['a', c].into_iter().collect::<String>();
    let plain = pair.len();
    pair = pair.escape_debug().collect();
    pair.len() == plain || matches!(c, '\'' | '"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_go_does() {
        for (text, quoted) in [
            ("a\"b\\c", r#""a\"b\\c""#),
            ("a\tb\nc\0\x7f", r#""a\tb\nc\x00\x7f""#),
            ("'", r#""'""#),
            ("é漢", "\"é漢\""),
            ("e\u{301}", "\"e\u{301}\""),
            ("\u{a0}\u{200b}\u{85}", r#""\u00a0\u200b\u0085""#),
            ("\u{e0001}", r#""\U000e0001""#),
        ] {
            assert_eq!(go_quote(text), quoted);
        }
    }

    #[test]
    fn field_errors_match_the_api_server_messages() {
        assert_eq!(FieldError::Required.at("url"), "url: Required value");
        assert_eq!(FieldError::invalid("x", "no").at("a.b[0]"), "a.b[0]: Invalid value: \"x\": no");
        assert_eq!(
            FieldError::TooLong(262_144).at("annotations"),
            "annotations: Too long: may not be more than 262144 bytes"
        );
    }
}
