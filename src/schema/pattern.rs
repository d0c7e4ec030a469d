//! The regular expressions of schemas, matched as Go's `regexp` matches them.
//!
//! In: a pattern in RE2's syntax and a text. Out: whether the text matches somewhere. A pattern
//! that does not compile matches every text, so that no accepted object is rejected. No pattern
//! backtracks; the size of compiled patterns is limited.

use regex_automata::nfa::thompson;
use regex_automata::nfa::thompson::pikevm::{Cache, PikeVM};
use regex_automata::util::syntax;
use std::cell::RefCell;
use std::collections::HashMap;

/// The most bytes one pattern may compile to.
const MAX_SIZE: usize = 1 << 20;
/// Compiled patterns that a thread keeps. The schemas have about 30.
const MAX_KEPT: usize = 256;

/// Answers about one pattern that a thread keeps, and the bytes of the longest text that is kept: in a
/// fleet the same few hundred words are matched again and again.
const MAX_ANSWERS: usize = 1024;
const MAX_TEXT: usize = 64;

/// A compiled pattern and what it answered.
struct Program {
    machine: PikeVM,
    cache: Cache,
    answers: HashMap<String, bool>,
}

impl Program {
    fn matches(&mut self, text: &str) -> bool {
        if let Some(answer) = self.answers.get(text) {
            return *answer;
        }
        let answer = self.machine.is_match(&mut self.cache, text);
        // Long texts seldom come twice and would fill the memory.
        if text.len() <= MAX_TEXT {
            if self.answers.len() >= MAX_ANSWERS {
                self.answers.clear();
            }
            self.answers.insert(text.to_owned(), answer);
        }
        answer
    }
}

type Compiled = Option<Program>;

thread_local! {
    static COMPILED: RefCell<HashMap<String, Compiled>> = RefCell::default();
}

/// Whether a text matches somewhere, as in Go's `regexp.MatchString`.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    COMPILED.with_borrow_mut(|compiled| {
        if !compiled.contains_key(pattern) {
            // Patterns of definitions in the input are not bounded in number.
            if compiled.len() >= MAX_KEPT {
                compiled.clear();
            }
            compiled.insert(pattern.to_owned(), compile(pattern));
        }
        match compiled.get_mut(pattern) {
            Some(Some(program)) => program.matches(text),
            _ => true,
        }
    })
}

fn compile(pattern: &str) -> Compiled {
    let machine = PikeVM::builder()
        // A deeper pattern would overflow the stack of the compiler.
        .syntax(syntax::Config::new().nest_limit(100))
        .thompson(thompson::Config::new().nfa_size_limit(Some(MAX_SIZE)))
        .build(&rust_syntax(pattern))
        .ok()?;
    let cache = machine.create_cache();
    Some(Program { machine, cache, answers: HashMap::new() })
}

/// The pattern as this library writes it: its `\d`, `\s` and `\w` reach beyond ASCII where Go's do
/// not, within brackets it reads `[`, `&&`, `--` and `~~` as operators, and `{` is never a
/// character.
fn rust_syntax(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(c) = rest.chars().next() {
        let (read, written) = match c {
            '\\' => {
                let escaped = rest.chars().nth(1);
                let read = &rest[..=escaped.map_or(0, char::len_utf8)];
                (read, escaped.and_then(perl).unwrap_or(read))
            }
            '[' if !in_class => {
                in_class = true;
                // A bracket or dash that comes first is a character.
                let open = if rest.starts_with("[^") { "[^" } else { "[" };
                out.push_str(open);
                rest = &rest[open.len()..];
                match rest.as_bytes().first() {
                    Some(b']') => ("]", "\\]"),
                    Some(b'-') => ("-", "\\-"),
                    _ => continue,
                }
            }
            // `[:alpha:]` is a class in both; a single bracket within brackets is a character for
            // Go.
            '[' => match rest.find(":]").filter(|_| rest.starts_with("[:")) {
                Some(end) => (&rest[..end + 2], &rest[..end + 2]),
                None => ("[", "\\["),
            },
            ']' => {
                in_class = false;
                ("]", "]")
            }
            '&' if in_class => ("&", "\\&"),
            '~' if in_class => ("~", "\\~"),
            '-' if in_class && rest.starts_with("--") => ("--", "-\\-"),
            '{' if !in_class && !is_repetition(rest) => ("{", "\\{"),
            _ => (&rest[..c.len_utf8()], &rest[..c.len_utf8()]),
        };
        out.push_str(written);
        rest = &rest[read.len()..];
    }
    out
}

/// Whether `{3}`, `{3,}` or `{3,5}` comes next; any other `{` is a character.
fn is_repetition(rest: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    rest[1..].split_once('}').is_some_and(|(counts, _)| {
        let (least, most) = counts.split_once(',').unwrap_or((counts, ""));
        !least.is_empty() && digits(least) && digits(most)
    })
}

/// A class or a boundary of Perl as RE2 understands it; brackets within brackets are a union.
fn perl(name: char) -> Option<&'static str> {
    Some(match name {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        's' => "[\\t\\n\\x0C\\r ]",
        'S' => "[^\\t\\n\\x0C\\r ]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        'b' => "(?-u:\\b)",
        'B' => "(?-u:\\B)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::TABLES;

    // Answers of Go 1.26's `regexp.MatchString`.
    #[test]
    fn matches_as_go_does() {
        for (pattern, text, expected) in [
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b", true),
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-", false),
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "", false),
            ("^[a-z]$", "a\n", false),
            ("^$|^a+$", "", true),
            ("^$|^a+$", "aaa", true),
            ("^$|^a+$", "aab", false),
            ("^([0-9]{1,5}(h|m|s|ms)){1,4}$", "10s500ms", true),
            ("^([0-9]{1,5}(h|m|s|ms)){1,4}$", "123456s", false),
            ("^([0-9]{1,5}(h|m|s|ms)){1,4}$", "1s1s1s1s1s", false),
            ("^[a-z]{0,63}$", &"a".repeat(64), false),
            ("^(http|https)://", "https://x", true),
            ("^(http|https)://", "ftp://x", false),
            ("^/.*", "/a", true),
            ("^/", "a/", false),
            ("b", "abc", true),
            ("^.$", "\n", false),
            ("^.$", "é", true),
            ("^(hf://|s3://).+", "s3://", false),
            ("^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$", "X-Header_`1", true),
            ("^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$", "a b", false),
            ("(^\\*$)|(^(http(s)?):\\/\\/\\w)", "http://é", false),
            ("(^\\*$)|(^(http(s)?):\\/\\/\\w)", "http://e", true),
            ("^\\d$", "٣", false),
            ("^[\\w-]$", "-", true),
            ("^[\\W]$", "é", true),
            ("^[[]$", "[", true),
            ("^[]a]$", "]", true),
            ("^[^]a]$", "]", false),
            ("^[[:alpha:]:]+$", "a:", true),
            ("^[a&&b]+$", "&a", true),
            ("^[+--]$", ",", true),
            ("^[--/]$", ".", true),
            ("^{,3}a{$", "{,3}a{", true),
            ("(?i)^abc$", "ABC", true),
            ("^[^-a]$", "-", false),
            ("^[^-a]$", "b", true),
            ("^[-a]$", "-", true),
            ("^[[:digit:]a]+$", "1a", true),
            ("^[[:digit:]a]+$", "b", false),
            ("^a&b~c--d]$", "a&b~c--d]", true),
            ("^[a~~b]+$", "a~b", true),
            ("^[a~~b]+$", "c", false),
            ("^[{]a{2}$", "{aa", true),
            ("^[a]{2}[b]$", "aab", true),
            ("^a{2,}$", "aaa", true),
            ("^a{2,}$", "a", false),
            ("^a{2,3}$", "aaaa", false),
            ("^a{x}$", "a{x}", true),
            ("^a{x}$", "b", false),
            ("^a{2,x}$", "b", false),
            ("^a{x,2}$", "b", false),
            ("^a{,2}$", "b", false),
            ("^a{}$", "b", false),
            ("^a{2$", "b", false),
            ("^a[{]$", "b", false),
            ("^[^]]a$", "ba", true),
            ("^[[:digit:]]{2}$", "1", false),
            ("^[[:digit:]]{2}x$", "12x", true),
            ("^a{2,x}$", "a{2,x}", true),
            ("^a{x,2}$", "a{x,2}", true),
            ("^a{}$", "a{}", true),
            ("^a{2$", "a{2", true),
            ("^é\\b", "é", false),
            ("\\bb", "a b", true),
            ("^(a*)*$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text:?}");
        }
    }

    #[test]
    fn an_invalid_pattern_matches_everything() {
        for pattern in ["(", "[", "\\", "a{1000}{1000}{1000}", "(?=a)", &"(".repeat(10_000)] {
            assert!(matches(pattern, "b"), "{pattern}");
        }
    }

    #[test]
    fn every_schema_pattern_compiles() {
        let mut count = 0;
        for definition in TABLES.iter().flat_map(crate::schema::table::Table::definitions) {
            for line in definition.body().lines() {
                let Some((_, rest)) = line.split_once("pattern=") else { continue };
                let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
                let pattern = values.next().unwrap().unwrap();
                assert!(compile(&pattern).is_some(), "{pattern}");
                count += 1;
            }
        }
        assert!(count > 30, "{count}");
    }
}
