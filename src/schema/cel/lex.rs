//! Words of a rule.

use ecow::EcoString;

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(EcoString),
    Int(i64),
    Text(EcoString),
    /// Punctuation and operators.
    Mark(&'static str),
}

/// Marks, the longer ones first.
const MARKS: [&str; 21] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "?", ":", ".", ",", "(", ")", "[", "]", "+",
    "-", "{", "}",
];

/// The tokens of a text; none when a part of it is not a token.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = if let Some(raw) =
            // Before names, of which `r` could be one.
            rest.strip_prefix('r').filter(|raw| raw.starts_with(['"', '\'']))
        {
            let (text, after) = quoted(raw, true)?;
            tokens.push(Token::Text(text));
            after
        } else if first == '"' || first == '\'' {
            let (text, after) = quoted(rest, false)?;
            tokens.push(Token::Text(text));
            after
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end =
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..end].into()));
            &rest[end..]
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            tokens.push(Token::Int(rest[..end].parse().ok()?));
            &rest[end..]
        } else {
            let mark = MARKS.iter().find(|mark| rest.starts_with(**mark))?;
            tokens.push(Token::Mark(mark));
            &rest[mark.len()..]
        };
        rest = after.trim_start();
    }
    Some(tokens)
}

/// A text in single or triple quotes, and what follows it.
fn quoted(text: &str, raw: bool) -> Option<(EcoString, &str)> {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    // An empty text in single quotes is two quotes, so three can only be a fence.
    let fence = if text.starts_with(&triple) { triple.as_str() } else { quote };
    let body = &text[fence.len()..];
    let mut out = EcoString::new();
    let mut at = 0;
    loop {
        let rest = body.get(at..)?;
        if let Some(after) = rest.strip_prefix(fence) {
            return Some((out, after));
        }
        let c = rest.chars().next()?;
        at += c.len_utf8();
        if c == '\\' && !raw {
            let escaped = body[at..].chars().next()?;
            at += escaped.len_utf8();
            out.push(match escaped {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '\\' | '\'' | '"' | '`' | '?' => escaped,
                _ => return None,
            });
        } else {
            out.push(c);
        }
    }
}
