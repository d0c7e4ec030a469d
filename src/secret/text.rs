//! Secrets within a text: arguments, JSON in a string, a shell command, a URL.

use super::{MASK, names};
use std::borrow::Cow;
use std::ops::Range;

/// Tokens that are known by how they begin: Hugging Face, GitHub, GitLab, NVIDIA.
const TOKENS: [&str; 5] = ["hf_", "ghp_", "github_pat_", "glpat-", "nvapi-"];
/// The shortest of them.
const SHORTEST: usize = 20;

/// A text without the secrets in it: `--api-key=•••`, `"password": "•••"`, `https://me:•••@host`.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let found = secrets(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, found))
}

/// A text with [`MASK`] in place of these ranges.
pub(super) fn replaced(text: &str, secrets: Vec<Range<usize>>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secrets {
        out.push_str(&text[done..secret.start]);
        out.push_str(MASK);
        done = secret.end;
    }
    out.push_str(&text[done..]);
    out
}

/// Whether a value only refers to a secret, or is a placeholder for one.
pub(super) fn is_reference(text: &str) -> bool {
    let within = |open: &str, close: &str| text.starts_with(open) && text.ends_with(close);
    text.is_empty()
        || text.starts_with(MASK)
        || within("$(", ")")
        || within("${", "}")
        || within("{{", "}}")
        || within("<", ">")
}

/// Hints of secrets in a text: words of names, prefixes of tokens, and the character after a
/// password in a URL.
const HINTS: [&str; 8] = ["token", "pass", "pwd", "secret", "key", "cred", "authorization", "@"];

/// Whether a text is worth a search. Most sources are not.
pub(super) fn may_hold(text: &str) -> bool {
    let bytes = text.as_bytes();
    let hint = |at: usize, hint: &str| {
        bytes
            .get(at..at + hint.len())
            .is_some_and(|part| part.eq_ignore_ascii_case(hint.as_bytes()))
    };
    (0..bytes.len()).any(|at| {
        STARTS[bytes[at] as usize] && HINTS.iter().chain(&TOKENS).any(|known| hint(at, known))
    })
}

/// The bytes with which a hint or a token starts, in either case.
const STARTS: [bool; 256] = {
    let mut starts = [false; 256];
    let mut at = 0;
    while at < HINTS.len() + TOKENS.len() {
        let known = if at < HINTS.len() { HINTS[at] } else { TOKENS[at - HINTS.len()] };
        let first = known.as_bytes()[0];
        starts[first.to_ascii_lowercase() as usize] = true;
        starts[first.to_ascii_uppercase() as usize] = true;
        at += 1;
    }
    starts
};

/// Where secrets are in a text, in order.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    // Of `name: X` and `value: Y` beside each other, X is what names Y.
    let mut named = false;
    while let Some(word) = next_word(text, at) {
        at = word.end;
        let name = &text[word.clone()];
        let secret = match name {
            _ if is_token(name) => Some(word),
            "name" => {
                let value = after(text, &word, Separator::Colon);
                named = value.is_some_and(|value| names::names_secret(&text[value]));
                None
            }
            "value" if named => {
                after(text, &word, Separator::Colon).filter(|value| is_hidden(text, value))
            }
            _ => value(text, &word).or_else(|| password(text, &word)),
        };
        if let Some(secret) = secret {
            at = secret.end;
            found.push(secret);
        }
    }
    found
}

fn is_token(word: &str) -> bool {
    word.len() >= SHORTEST && TOKENS.iter().any(|start| word.starts_with(start))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + text[from..].find(is_name)?;
    let end = text[start..].find(|c| !is_name(c)).map_or(text.len(), |length| start + length);
    Some(start..end)
}

/// The separator between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Colon,
    Equals,
    Blank,
}

/// The value that belongs to a name, when the name is that of a secret: `NAME=value`,
/// `"name": "value"`, `--name value`.
fn value(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let name = text[word.clone()].trim_matches(['-', '.']);
    let is_flag = text[word.clone()].starts_with("--");
    let pair = || names::is_secret_key(name).then(|| after(text, word, Separator::Colon)).flatten();
    let assigned = || {
        let value = after(text, word, Separator::Equals);
        value.or_else(|| after(text, word, Separator::Blank).filter(|_| is_flag))
    };
    let value = pair().or_else(|| assigned().filter(|_| names::names_secret(name)));
    value.filter(|value| is_hidden(text, value))
}

/// Whether a value is one, and no reference or truth value.
fn is_hidden(text: &str, value: &Range<usize>) -> bool {
    let value = &text[value.clone()];
    !(is_reference(value) || matches!(value, "true" | "false" | "null"))
}

/// The value behind a name and its separator.
fn after(text: &str, word: &Range<usize>, separator: Separator) -> Option<Range<usize>> {
    let run =
        |from: usize, of: &[char]| text[from..].len() - text[from..].trim_start_matches(of).len();
    // A name in JSON ends with a quote, which is escaped when the JSON is in a string.
    let mut at = word.end;
    at += run(at, &['\\']);
    at += run(at, &['"', '\'']);
    if separator == Separator::Blank {
        // The next argument, in a list of any style.
        let blanks = run(at, &[' ', '\t', ',', '\n', '\r']);
        at += blanks + if text[at + blanks..].starts_with("- ") { 2 } else { 0 };
        let quoted = text[at..].starts_with(['"', '\'', '\\']);
        if blanks == 0 || text[at + usize::from(quoted)..].starts_with(['-', '=', ':', ']', '}']) {
            return None;
        }
    } else {
        at += run(at, &[' ', '\t']);
        at += match (separator, text[at..].chars().next()?) {
            (Separator::Colon, ':') => 1 + run(at + 1, &[' ', '\t']),
            (Separator::Equals, '=') => 1,
            _ => return None,
        };
    }
    let slashes = run(at, &['\\']);
    let end = match text[at + slashes..].chars().next()? {
        quote @ ('"' | '\'') => {
            at += slashes + 1;
            end_of_quoted(text, at, quote, slashes)
        }
        '|' | '>' if separator == Separator::Colon => {
            at += text[at..].find('\n')? + 1;
            end_of_block(text, word.start, at)
        }
        open @ ('[' | '{') if separator == Separator::Colon => end_of_brackets(text, at, open),
        _ if separator == Separator::Colon => end_before(text, at, &['\n', '\r', ',', '}', '"']),
        _ => end_before(
            text,
            at,
            &[' ', '\t', '\n', '\r', ',', ';', '&', '"', '\'', '}', ']', ')', '\\'],
        ),
    };
    (at < end).then_some(at..end)
}

/// Where the next of some characters is, without the blanks before it.
fn end_before(text: &str, start: usize, ends: &[char]) -> usize {
    let end = text[start..].find(ends).map_or(text.len(), |length| start + length);
    start + text[start..end].trim_end().len()
}

/// Where the lines end that are indented more than a name.
fn end_of_block(text: &str, name: usize, start: usize) -> usize {
    let column = name - text[..name].rfind('\n').map_or(0, |feed| feed + 1);
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let lines = text[start..].split_inclusive('\n');
    let inside = lines.take_while(|line| line.trim().is_empty() || indent(line) > column);
    start + inside.map(str::len).sum::<usize>()
}

/// Where a bracket is closed, else the end of its line.
fn end_of_brackets(text: &str, start: usize, open: char) -> usize {
    let close = if open == '[' { ']' } else { '}' };
    let mut depth = 0;
    for (at, c) in text[start..].char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
        }
        if depth == 0 {
            return start + at + 1;
        }
    }
    end_before(text, start, &['\n'])
}

/// Where a quoted value ends: at the next quote that is escaped as the first one is.
fn end_of_quoted(text: &str, start: usize, quote: char, slashes: usize) -> usize {
    let mut run = 0;
    for (at, c) in text[start..].char_indices() {
        match c {
            '\\' => run += 1,
            c if c == quote && (run == slashes || (slashes == 0 && run % 2 == 0)) => {
                return start + at - slashes;
            }
            _ => run = 0,
        }
    }
    text.len()
}

/// The password in `scheme://user:password@host`; the word is the scheme.
fn password(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let authority = text[word.end..].strip_prefix("://")?;
    let end =
        authority.find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | '#'));
    let authority = &authority[..end.unwrap_or(authority.len())];
    let user = &authority[..authority.rfind('@')?];
    let colon = user.find(':')?;
    let start = word.end + "://".len();
    let secret = start + colon + 1..start + user.len();
    (!is_reference(&text[secret.clone()])).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_a_text_are_hidden() {
        for (text, expected) in [
            ("--api-key=abc --port=80", "--api-key=••• --port=80"),
            ("--api-key abc --port 80", "--api-key ••• --port 80"),
            ("--api-key --port 80", "--api-key --port 80"),
            ("export HF_TOKEN=abc; run", "export HF_TOKEN=•••; run"),
            ("HF_TOKEN='a b' x", "HF_TOKEN='•••' x"),
            (
                r#"{"secretAccessKey": "a\"b", "region": "x"}"#,
                r#"{"secretAccessKey": "•••", "region": "x"}"#,
            ),
            (r#"{\"password\": \"abc\", \"x\": 1}"#, r#"{\"password\": \"•••\", \"x\": 1}"#),
            ("password: a b c\nuser: x", "password: •••\nuser: x"),
            ("Authorization: Bearer abc", "Authorization: •••"),
            ("https://me:abc@host:80/x?token=abc&y=1", "https://me:•••@host:80/x?token=•••&y=1"),
            ("https://host:80/x", "https://host:80/x"),
            ("s3://key:$(PASS)@bucket", "s3://key:$(PASS)@bucket"),
            ("pull hf_abcdefghijklmnopqrstuvwx now", "pull ••• now"),
            ("token: $(HF_TOKEN)", "token: $(HF_TOKEN)"),
            ("  password: |\n    abc\n    def\n  x: y", "  password: |\n•••  x: y"),
            ("password: [abc, def] x: y", "password: ••• x: y"),
            ("token: {a: {b: c}, d", "token: •••"),
            ("[--hf-token, abc, --x]", "[--hf-token, •••, --x]"),
            ("- --hf-token\n- abc\n- --x", "- --hf-token\n- •••\n- --x"),
            (
                r#"["--hf-token", "abc", "--api-key", "--x"]"#,
                r#"["--hf-token", "•••", "--api-key", "--x"]"#,
            ),
            ("--max-tokens=80 key: a topologyKey: b", "--max-tokens=80 key: a topologyKey: b"),
            ("HF_TOKEN=", "HF_TOKEN="),
            ("HF_TOKEN=•••", "HF_TOKEN=•••"),
            ("ü TOKEN=ü", "ü TOKEN=•••"),
        ] {
            assert_eq!(redacted(text), expected, "{text}");
            assert_eq!(redacted(&redacted(text)), expected, "{text}");
        }
    }
}
