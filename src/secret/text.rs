//! Secrets within a text: arguments, JSON in a string, a shell command, a URL.

use super::MASK;
use super::names::{self, Doubt, is_reference};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::{Deref, Range};

/// Tokens that are known by how they begin, and whether that is enough: the rest of the others must
/// have a digit or a capital.
const TOKENS: [(&str, bool); 50] = [
    ("hf_", true),
    ("api_org_", true),
    ("ghp_", true),
    ("gho_", true),
    ("ghs_", true),
    ("ghu_", true),
    ("ghr_", true),
    ("github_pat_", true),
    ("glpat-", true),
    ("glrt-", true),
    ("gldt-", true),
    ("glcbt-", true),
    ("glptt-", true),
    ("nvapi-", true),
    ("sk-", false),
    ("sk_live_", true),
    ("sk_test_", true),
    ("rk_live_", true),
    ("whsec_", true),
    ("xoxa-", true),
    ("xoxb-", true),
    ("xoxe-", true),
    ("xoxp-", true),
    ("xoxr-", true),
    ("xoxs-", true),
    ("xapp-", true),
    ("AIza", false),
    ("ya29.", true),
    ("GOCSPX-", true),
    ("dckr_pat_", true),
    ("dckr_oat_", true),
    ("npm_", false),
    ("pypi-", false),
    ("gsk_", true),
    ("r8_", false),
    ("pplx-", true),
    ("xai-", false),
    ("csk-", false),
    ("tgp_v1_", true),
    ("fw_", false),
    ("dop_v1_", true),
    ("dapi", false),
    ("hvs.", true),
    ("hvb.", true),
    ("SG.", true),
    ("glsa_", true),
    ("glc_", true),
    ("sntrys_", true),
    ("tskey-", true),
    ("AGE-SECRET-KEY-", true),
];
/// The shortest of them.
const SHORTEST: usize = 20;
/// Addresses whose path is a secret from a place on: whoever knows it may post.
const WEBHOOKS: [(&str, &str); 14] = [
    ("hooks.slack.com", "/services/"),
    ("hooks.slack.com", "/workflows/"),
    ("hooks.slack.com", "/triggers/"),
    ("discord.com", "/api/webhooks/"),
    ("discordapp.com", "/api/webhooks/"),
    ("webhook.office.com", "/"),
    ("outlook.office.com", "/webhook/"),
    ("logic.azure.com", "/workflows/"),
    ("hooks.zapier.com", "/hooks/catch/"),
    ("api.telegram.org", "/bot"),
    ("open.feishu.cn", "/open-apis/bot/"),
    ("open.larksuite.com", "/open-apis/bot/"),
    ("events.pagerduty.com", "/integration/"),
    ("maker.ifttt.com", "/trigger/"),
];
/// Parameters of a URL that sign it; elsewhere these words mean other things.
const SIGNING: [&str; 5] = ["sig", "signature", "key", "hmac", "code"];

/// A text without the secrets in it: `--api-key=•••`, `"password": "•••"`, `https://me:•••@host`.
pub fn redacted(text: &str) -> Cow<'_, str> {
    // Most texts have no hint, and a search of their words costs more.
    if !may_hold(text) {
        return Cow::Borrowed(text);
    }
    let found = secrets(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, found))
}

/// A sentence without the secrets in what it quotes; its own words stay.
pub fn sentence(text: &str) -> Cow<'_, str> {
    // A sentence without a quotation has words of the program alone.
    if !text.contains('`') || !may_hold(text) {
        return Cow::Borrowed(text);
    }
    let parts = text.split('`').enumerate();
    let shown: Vec<Cow<'_, str>> =
        parts.map(|(at, part)| if at % 2 == 0 { part.into() } else { redacted(part) }).collect();
    Cow::Owned(shown.join("`"))
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

/// Hints of secrets in a text: words of names, beginnings of flags, and the character after a
/// password in a URL.
const HINTS: [&str; 26] = [
    "token",
    "pass",
    "pwd",
    "secret",
    "key",
    "cred",
    "auth",
    "@",
    "bearer",
    "basic",
    "cookie",
    "jwt",
    "eyj",
    "sig",
    "salt",
    "sas",
    "hook",
    "bot",
    "-u",
    "-p=",
    "licen",
    "hmac",
    "code=",
    "logic.azure.com",
    "pagerduty.com",
    "ifttt.com",
];

/// A hint, or the beginning of a token.
const fn hint(at: usize) -> &'static str {
    if at < HINTS.len() { HINTS[at] } else { TOKENS[at - HINTS.len()].0 }
}

/// Whether a text is worth a search. Most sources are not.
pub(super) fn may_hold(text: &str) -> bool {
    let bytes = text.as_bytes();
    // One pass for all hints: a search for each would read the text seventy times.
    bytes.iter().enumerate().any(|(at, byte)| {
        let mut starts = STARTS[*byte as usize];
        while starts != 0 {
            let existing = hint(starts.trailing_zeros() as usize).as_bytes();
            let bytes = bytes.get(at..at + existing.len());
            if bytes.is_some_and(|candidate| candidate.eq_ignore_ascii_case(existing)) {
                return true;
            }
            // Clears the lowest bit, which was tried.
            starts &= starts - 1;
        }
        false
    })
}

/// Of each byte which of the hints begin with it, in either case, as bits.
const STARTS: [u128; 256] = {
    let mut starts = [0; 256];
    let mut at = 0;
    while at < HINTS.len() + TOKENS.len() {
        let first = hint(at).as_bytes()[0];
        starts[first.to_ascii_lowercase() as usize] |= 1 << at;
        starts[first.to_ascii_uppercase() as usize] |= 1 << at;
        at += 1;
    }
    starts
};

/// Where secrets are in a text, in order.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let text = &Searched { text, closings: OnceCell::new() };
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    // Of `name: X` and `value: Y` beside each other, X is what names Y.
    let mut named = None;
    // Words are visited in order, and behind each secret the search goes on after it.
    while let Some(word) = next_word(text, at) {
        at = word.end;
        let name = &text[word.clone()];
        let secret = match name {
            _ if is_token(name) => Some(word),
            "name" => {
                let value = after(text, &word, Separator::Colon);
                named = value.and_then(|value| names::of_variable(&text[value]));
                None
            }
            "value" if named.is_some() => after(text, &word, Separator::Colon)
                .filter(|value| named.is_some_and(|doubt| doubt.hides(&text[value.clone()]))),
            // The name may come after its value, since keys are sorted in JSON.
            "value" => named_after(text, &word),
            _ => value(text, &word)
                .or_else(|| in_address(text, &word))
                .or_else(|| credentials(text, &word))
                .or_else(|| private_key(text, &word)),
        };
        if let Some(secret) = secret {
            // What is in a secret is not searched: its words are no names.
            at = secret.end;
            found.push(secret);
        }
    }
    found
}

fn is_token(word: &str) -> bool {
    let is_marked = |rest: &str| rest.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    let starts = |(start, enough): &(&str, bool)| {
        word.strip_prefix(start).is_some_and(|rest| *enough || is_marked(rest))
    };
    // A JSON Web Token is JSON in base64url: `{"` is `eyJ`.
    // Shorter words that begin so are names, such as `eyJ.txt`.
    let is_jwt = word.starts_with("eyJ") && word.len() > 30 && word.contains('.');
    is_jwt || (word.len() >= SHORTEST && TOKENS.iter().any(starts))
}

/// The value before its name, as in `{"value": "Y", "name": "X"}`.
fn named_after(text: &Searched<'_>, word: &Range<usize>) -> Option<Range<usize>> {
    let value = after(text, word, Separator::Colon)?;
    let next = next_word(text, value.end)?;
    // Anything else between the two means that they are of different objects.
    let between = text[value.end..next.start].trim_matches(['"', '\'', '\\', ',', ' ', '\n', '\r']);
    if !between.is_empty() || &text[next.clone()] != "name" {
        return None;
    }
    let name = after(text, &next, Separator::Colon)?;
    let doubt = names::of_variable(&text[name])?;
    doubt.hides(&text[value.clone()]).then_some(value)
}

/// The credentials behind a word of a header or a command: `Bearer X`, `curl -u me:X`,
/// `machine h login u password X`.
fn credentials(text: &Searched<'_>, word: &Range<usize>) -> Option<Range<usize>> {
    let name = &text[word.clone()];
    let behind = || after(text, word, Separator::Blank);
    let before = || &text[..word.start];
    if name.eq_ignore_ascii_case("bearer") || name.eq_ignore_ascii_case("basic") {
        let value = behind()?;
        // Of a header both are in one line; at its end the word is that of a path or a sentence.
        if text[word.end..value.start].contains('\n') {
            return None;
        }
        let message = &text[value.clone()];
        // Not a sentence: `Basic authentication`.
        let is_word = message.bytes().all(|byte| byte.is_ascii_lowercase());
        return (message.len() >= 6 && !is_word && !is_reference(message)).then_some(value);
    }
    let of_user = matches!(name, "-u" | "-U" | "--user" | "--proxy-user");
    if of_user {
        let value = behind().or_else(|| after(text, word, Separator::Equals))?;
        let (user, password) = text[value.clone()].split_once(':')?;
        // `date -u +%H:%M` prints the time.
        if user.contains('%') {
            return None;
        }
        // `--user 1000:1000` are numbers of a user and a group.
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let is_none = (is_number(user) && is_number(password)) || is_reference(password);
        return (!is_none).then(|| value.end - password.len()..value.end);
    }
    let last = |program: &str| before().trim_end_matches([' ', '"', '\'', ',']).ends_with(program);
    // The words of a command are near each other; a search of the whole would be quadratic.
    let within = |program: &str| tail(before(), 256).contains(program);
    let is_password = match name {
        "-p" => last("sshpass") || within("docker login") || within("podman login"),
        "-a" => within("redis-cli"),
        "password" | "account" => within("login ") && (within("machine ") || within("default ")),
        _ => false,
    };
    if name == "-p"
        && let Some(value) = after(text, word, Separator::Equals)
    {
        let message = &text[value.clone()];
        // A port, a file or an address: the short flag means many things.
        let is_plain = message.contains(['/', ':', '.']) || message.parse::<f64>().is_ok();
        return (!is_plain && !is_reference(message)).then_some(value);
    }
    behind().filter(|value| is_password && !is_reference(&text[value.clone()]))
}

/// The end of a text, of about so many bytes.
fn tail(text: &str, length: usize) -> &str {
    // The cut may be within a character.
    let start = text.len().saturating_sub(length);
    (start..text.len()).find_map(|at| text.get(at..)).unwrap_or_default()
}

/// The body of a private key in PEM (RFC 7468), as far as it goes.
fn private_key(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    const RULE: &str = "-----";
    if !text[word.clone()].ends_with("-----BEGIN") {
        return None;
    }
    let label = text[word.end..].find(RULE)?;
    if !text[word.end..word.end + label].contains("PRIVATE KEY") {
        return None;
    }
    let start = word.end + label + RULE.len();
    // A key that is cut off at the end of the text is hidden to the end.
    let end = text[start..].find("-----END").map_or(text.len(), |length| start + length);
    (start < end).then_some(start..end)
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
fn value(text: &Searched<'_>, word: &Range<usize>) -> Option<Range<usize>> {
    let name = text[word.clone()].trim_matches(['-', '.']);
    let is_flag = text[word.clone()].starts_with("--");
    let hidden = |value: Range<usize>, doubt: Doubt| {
        // Of a mapping, the parts are judged.
        let is_mapping = doubt != Doubt::None && text[value.clone()].starts_with(['{', '[']);
        (!is_mapping && doubt.hides(&text[value.clone()])).then_some(value)
    };
    let pair = || {
        // The name first: the value of most is not looked for.
        let doubt = names::of_field(name)?;
        hidden(after(text, word, Separator::Colon)?, doubt)
    };
    let assigned = || {
        let doubt = names::of_variable(name)?;
        let value = after(text, word, Separator::Equals);
        hidden(value.or_else(|| after(text, word, Separator::Blank).filter(|_| is_flag))?, doubt)
    };
    // Parameters with these names sign an address; as variables they are plain words.
    let signed = || {
        let is_parameter = text[..word.start].ends_with(['?', '&'])
            || text[..word.start].ends_with("&amp;")
            || text[..word.start].ends_with("\\u0026");
        let last = name.rsplit(['-', '_']).next().unwrap_or(name).to_ascii_lowercase();
        let is_signing = is_parameter && SIGNING.contains(&last.as_str());
        hidden(after(text, word, Separator::Equals).filter(|_| is_signing)?, Doubt::None)
    };
    pair().or_else(assigned).or_else(signed)
}

/// The value behind a name and its separator.
fn after(text: &Searched<'_>, word: &Range<usize>, separator: Separator) -> Option<Range<usize>> {
    let run =
        |from: usize, of: &[char]| text[from..].len() - text[from..].trim_start_matches(of).len();
    let mut spaced = false;
    // A name in JSON ends with a quote, which is escaped when the JSON is in a string.
    let mut at = word.end;
    at += run(at, &['\\']);
    at += run(at, &['"', '\'']);
    if separator == Separator::Blank {
        // The next argument, in a list of any style.
        let blanks = run(at, &[' ', '\t', ',', '\n', '\r']);
        at += blanks + if text[at + blanks..].starts_with("- ") { 2 } else { 0 };
        let quoted = text[at..].starts_with(['"', '\'', '\\']);
        // Another flag, or an assignment, follows: the flag has no value of its own.
        if blanks == 0 || text[at + usize::from(quoted)..].starts_with(['-', '=', ':', ']', '}']) {
            return None;
        }
    } else {
        at += run(at, &[' ', '\t']);
        at += match (separator, text[at..].chars().next()?) {
            (Separator::Colon, ':') => 1 + run(at + 1, &[' ', '\t']),
            // `name = value` of a settings file; `A= b` assigns nothing.
            (Separator::Equals, '=') if text[..at].ends_with([' ', '\t']) => {
                spaced = !text[at..].starts_with("==");
                1 + run(at + 1, &[' ', '\t'])
            }
            (Separator::Equals, '=') => 1,
            _ => return None,
        };
    }
    // Escaped quotes end where quotes with as many backslashes are.
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
        '[' | '{' if separator == Separator::Colon => text.end_of_brackets(at),
        // A plain scalar may have blanks; one in a flow mapping ends at the next entry.
        _ if separator == Separator::Colon => end_before(text, at, &['\n', '\r', ',', '}', '"']),
        _ if spaced => end_before(text, at, &['\n', '\r', ',', ';', '}', ']', '"', '\'']),
        // An argument of a shell ends at a blank or a sign of the shell.
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
    // A block belongs to its key, so its lines are deeper than the key.
    let column = name - text[..name].rfind('\n').map_or(0, |feed| feed + 1);
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let lines = text[start..].split_inclusive('\n');
    let inside = lines.take_while(|line| line.trim().is_empty() || indent(line) > column);
    start + inside.map(str::len).sum::<usize>()
}

/// A text whose brackets are paired once: many names may have brackets behind them that are never
/// closed.
struct Searched<'t> {
    text: &'t str,
    closings: OnceCell<HashMap<usize, usize>>,
}

impl Deref for Searched<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.text
    }
}

impl Searched<'_> {
    /// Where a bracket is closed, else the end of its line.
    fn end_of_brackets(&self, start: usize) -> usize {
        let closings = self.closings.get_or_init(|| {
            let (mut lists, mut mappings) = (Vec::new(), Vec::new());
            let mut closings = HashMap::new();
            for (at, byte) in self.text.bytes().enumerate() {
                // Each kind is paired by itself: a text need not be well formed.
                let closed = match byte {
                    b'[' => {
                        lists.push(at);
                        None
                    }
                    b'{' => {
                        mappings.push(at);
                        None
                    }
                    b']' => lists.pop(),
                    b'}' => mappings.pop(),
                    _ => None,
                };
                closings.extend(closed.map(|open| (open, at + 1)));
            }
            closings
        });
        closings.get(&start).copied().unwrap_or_else(|| end_before(self.text, start, &['\n']))
    }
}

/// Where a quoted value ends: at the next quote that is escaped as the first one is.
fn end_of_quoted(text: &str, start: usize, quote: char, slashes: usize) -> usize {
    let mut run = 0;
    for (at, c) in text[start..].char_indices() {
        match c {
            '\\' => run += 1,
            // Without a backslash before the first quote, pairs of them are escaped backslashes.
            c if c == quote && (run == slashes || (slashes == 0 && run % 2 == 0)) => {
                return start + at - slashes;
            }
            _ => run = 0,
        }
    }
    text.len()
}

/// The secret in an address: the password in `scheme://user:password@host`, a token in the place of
/// the user, the path of a webhook. The word is the scheme.
fn in_address(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let rest = text[word.end..].strip_prefix("://")?;
    let start = word.end + "://".len();
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\');
    let url = &rest[..rest.find(ends).unwrap_or(rest.len())];
    let path = url.find(['/', '?', '#']).unwrap_or(url.len());
    let authority = &url[..path];
    if let Some(at) = authority.rfind('@') {
        let user = &authority[..at];
        let scheme = &text[word.clone()];
        return match user.split_once(':') {
            // GitHub takes a token as the user, with an empty or a fixed password.
            Some((name, "" | "x-oauth-basic")) => Some(start..start + name.len()),
            Some((name, password)) if !is_reference(password) => {
                Some(start + name.len() + 1..start + at)
            }
            Some(_) => None,
            None => {
                let is_token =
                    // `git` is the user of every SSH address, and names no one.
                    (scheme.starts_with("http") && user != "git") || names::is_random(user);
                (is_token && !is_reference(user)).then_some(start..start + at)
            }
        };
    }
    let (host, path) = url.split_at(path);
    let host = host.split(':').next().unwrap_or(host);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let (_, before) = WEBHOOKS.iter().find(|(name, before)| {
        let is_host =
            // A name that only ends so, as `evilslack.com`, is another host.
            host.strip_suffix(name).is_some_and(|sub| sub.is_empty() || sub.ends_with('.'));
        is_host && path.starts_with(before)
    })?;
    let (from, until) = (authority.len() + before.len(), authority.len() + path.len());
    (from < until).then_some(start + from..start + until)
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
