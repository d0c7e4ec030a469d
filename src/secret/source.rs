//! Secrets in the texts of sources, and findings without those that they quote.

use super::text::{may_hold, redacted, replaced, secrets, sentence};
use super::{MASK, Place};
use crate::diag::{Code, Diagnostic, Severity};
use crate::source::long_list::{self, LongList};
use crate::source::{SourceId, SourceKind, SourceMap, Span, definition_head};
use crate::yaml::{Limits, Node, Part, Value, parse, split};
use rayon::prelude::*;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

/// Where secrets are in a text, in order, each within a line.
pub fn in_text(text: &str) -> Vec<Range<usize>> {
    // Most files have no hint at all, and are not parsed a second time.
    if !may_hold(text) {
        return Vec::new();
    }
    // Places in the text are all that is wanted.
    let id = SourceId(0);
    let mut found = Vec::new();
    for part in split(id, text).value {
        // Schemas hold no values; those of a repository are long.
        if definition_head(&text[part.range.clone()]).is_none() {
            match long_items(text, &part) {
                Some(list) => in_items(id, text, &list, &mut found),
                None => in_document(id, text, part, Place::default(), &mut found),
            }
        }
    }
    in_lines(text, found)
}

/// The items of the dump of a cluster, which is longer than a document may be.
fn long_items(text: &str, part: &Part) -> Option<LongList> {
    let is_long = part.range.len() as u64 > Limits::default().document_size;
    is_long.then(|| long_list::items(text, part.range.clone())).flatten()
}

fn in_items(id: SourceId, text: &str, list: &LongList, found: &mut Vec<Range<usize>>) {
    let is_secrets = list.typed.as_ref().is_some_and(|(_, kind)| kind == "Secret");
    let place = if is_secrets { Place::Secret } else { Place::default() };
    let one = |item: &Range<usize>| {
        let mut found = Vec::new();
        if is_secrets || may_hold(&text[item.clone()]) {
            let part = Part { json: list.json, ..Part::from(item.clone()) };
            in_document(id, text, part, place, &mut found);
        }
        found
    };
    let all: Vec<Vec<Range<usize>>> = list.items.par_iter().map(one).collect();
    found.extend(all.into_iter().flatten());
}

/// A text with [`MASK`] for each of its secrets. Lines keep their numbers.
pub fn masked(text: &str) -> String {
    replaced(text, in_text(text))
}

/// What is around a value where it is written, also within a text in quotes.
const QUOTES: [char; 3] = ['"', '\'', '\\'];

/// The secrets of all sources, each sought when it is first requested.
#[derive(Debug)]
pub struct Secrets {
    ranges: Vec<OnceLock<Vec<Range<usize>>>>,
    texts: Vec<OnceLock<HashSet<String>>>,
}

impl Secrets {
    /// Nothing is sought yet.
    pub fn new(sources: &SourceMap) -> Self {
        Self {
            ranges: sources.iter().map(|_| OnceLock::new()).collect(),
            texts: sources.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The same, but for the sources that are `same` as they were when they were searched.
    pub fn again(sources: &SourceMap, before: &Self, same: &HashSet<SourceId>) -> Self {
        let sought = sources.iter().map(|(id, _)| {
            let kept = before.ranges.get(id.0 as usize).filter(|_| same.contains(&id));
            kept.cloned().unwrap_or_default()
        });
        // The sets of texts start empty: they cost little where the ranges are there.
        Self { ranges: sought.collect(), ..Self::new(sources) }
    }

    /// The ranges of secrets in a source, in order, each within a line. Built-in texts have none;
    /// of a file to which a link leads out of the named paths, no line is shown.
    pub fn of(&self, sources: &SourceMap, id: SourceId) -> &[Range<usize>] {
        self.ranges[id.0 as usize].get_or_init(|| match sources.get(id) {
            source if source.kind == SourceKind::Builtin => Vec::new(),
            source if source.outside => {
                let whole = 0..source.text.len();
                in_lines(&source.text, vec![whole])
            }
            source => in_text(&source.text),
        })
    }

    /// Removes secrets from a finding. The path of its field stays as it is: it has names of fields,
    /// and a value may be a part of one.
    pub fn redact(&self, finding: &mut Diagnostic, sources: &SourceMap) {
        const PATH: &str = "\u{0}";
        // Of the text these say its `apiVersion` and kind at most. A repository has one of them for
        // each of thousands of files, none of which is searched for it.
        if matches!(finding.code, Code::NotKubernetes | Code::OtherKind) {
            return sentences(finding)
                .for_each(|sentence| *sentence = redacted(sentence).into_owned());
        }
        let path = finding.path.as_ref().map(|path| format!("`{path}`"));
        let Some(path) = path else { return self.redact_values(finding, sources) };
        // Values are shorter than paths at times: `a` in `spec.a` is a part of the path, not of the
        // value.
        sentences(finding).for_each(|sentence| *sentence = sentence.replace(&path, PATH));
        self.redact_values(finding, sources);
        sentences(finding).for_each(|sentence| *sentence = sentence.replace(PATH, &path));
    }

    fn redact_values(&self, finding: &mut Diagnostic, sources: &SourceMap) {
        let spans: Vec<Span> = finding.labels.iter().map(|label| label.span).collect();
        for span in spans {
            let source = sources.get(span.source);
            if source.outside {
                // Of a file outside, every quotation could be its content.
                sentences(finding)
                    .for_each(|sentence| hide_quoted(sentence, |part| source.text.contains(part)));
                finding.fix.clear();
                continue;
            }
            let text = &*source.text;
            let lines = lines_of(text, span);
            let secrets = self.of(sources, span.source);
            // Sources may have thousands of secrets, and a finding has a line or two.
            let first = secrets.partition_point(|hidden| hidden.end <= lines.start);
            let near = secrets[first..].iter().take_while(|hidden| hidden.start < lines.end);
            for secret in near {
                let secret = text[secret.clone()].trim_matches(QUOTES);
                sentences(finding).for_each(|sentence| hide(sentence, secret));
            }
            // A value may be quoted as it is read, and written with escapes.
            if secrets[first..].first().is_some_and(|hidden| hidden.start < lines.end) {
                finding.message = sentence(&finding.message).into_owned();
            }
            // A finding may quote a value of another line, such as the first definition of a name.
            let all = self.texts(sources, span.source);
            sentences(finding)
                .for_each(|sentence| hide_quoted(sentence, |part| all.contains(part)));
        }
    }

    /// The secrets of a source, as texts.
    fn texts(&self, sources: &SourceMap, id: SourceId) -> &HashSet<String> {
        self.texts[id.0 as usize].get_or_init(|| {
            let text = &*sources.get(id).text;
            let secrets = self.of(sources, id).iter();
            secrets.map(|range| text[range.clone()].trim_matches(QUOTES).to_owned()).collect()
        })
    }
}

/// The sentences of a finding.
fn sentences(finding: &mut Diagnostic) -> impl Iterator<Item = &mut String> {
    std::iter::once(&mut finding.message)
        .chain(&mut finding.help)
        .chain(finding.labels.iter_mut().map(|label| &mut label.text))
}

/// Hides what a sentence quotes and a text holds.
fn hide_quoted(sentence: &mut String, holds: impl Fn(&str) -> bool) {
    let parts: Vec<&str> = sentence.split('`').collect();
    // Every second part is between two backquotes.
    let quoted = |(at, part): (usize, &&str)| at % 2 == 1 && !part.is_empty() && holds(part);
    if parts.iter().enumerate().any(quoted) {
        let shown = |part: (usize, &&str)| if quoted(part) { MASK } else { *part.1 }.to_owned();
        let shown: Vec<String> = parts.iter().enumerate().map(shown).collect();
        *sentence = shown.join("`");
    }
}

/// The lines of a place, as far as they are near it.
fn lines_of(text: &str, span: Span) -> Range<usize> {
    // A minified file is one line of megabytes.
    const NEAR: usize = 4096;
    let bytes = text.as_bytes();
    let start = (span.start as usize).min(bytes.len());
    let end = (span.end as usize).clamp(start, bytes.len());
    let before = &bytes[start.saturating_sub(NEAR)..start];
    let behind = &bytes[end..(end + NEAR).min(bytes.len())];
    let feed = before.iter().rposition(|byte| *byte == b'\n');
    let start = start - before.len() + feed.unwrap_or(0);
    start..end + behind.iter().position(|byte| *byte == b'\n').unwrap_or(behind.len())
}

/// Shorter texts are hidden where they are quoted only: they may be part of other words.
const SHORT: usize = 4;

fn hide(sentence: &mut String, secret: &str) {
    let quoted = format!("`{secret}`");
    if sentence.contains(&quoted) {
        *sentence = sentence.replace(&quoted, &format!("`{MASK}`"));
    }
    if secret.len() < SHORT || !sentence.contains(secret) {
        return;
    }
    // A word may be part of a name: `admin_password`, whose value is `admin`.
    let is_word = secret.bytes().all(|byte| byte.is_ascii_alphabetic());
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let mut shown = String::with_capacity(sentence.len());
    let mut rest = sentence.as_str();
    while let Some((before, behind)) = rest.split_once(secret) {
        let last = before.chars().next_back().or_else(|| shown.chars().next_back());
        let is_part = last.is_some_and(joins) || behind.starts_with(joins);
        shown.push_str(before);
        shown.push_str(if is_word && is_part { secret } else { MASK });
        rest = behind;
    }
    shown.push_str(rest);
    *sentence = shown;
}

/// The secrets of one document. What cannot be read as a whole is searched as text, too.
fn in_document(
    source: SourceId,
    text: &str,
    part: Part,
    place: Place,
    found: &mut Vec<Range<usize>>,
) {
    let range = part.range.clone();
    let checked = parse(source, text, part, &Limits::default());
    if let Some(node) = &checked.value
        && let Some(shown) = place.masked(node)
    {
        differences(node, &shown, text, found);
    }
    // Ranges are of the document, and places of the whole text are wanted.
    let moved = |found: Range<usize>| found.start + range.start..found.end + range.start;
    let document = &text[range.clone()];
    found.extend(in_comments(document).map(moved));
    let broken = checked.diagnostics.iter().any(|finding| finding.severity == Severity::Error);
    // A tree that lacks a part of the text hides secrets in that part only by chance.
    if checked.value.is_none() || broken {
        found.extend(secrets(document).into_iter().map(moved));
        if is_secret_document(document) {
            found.extend(values(document).map(moved));
        }
    }
}

/// The secrets in the comments of a document, which no tree has. What looks like a comment within a
/// text is searched by itself, too.
fn in_comments(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let start = at;
        at += line.len();
        let mark = line
            .match_indices('#')
            .map(|(mark, _)| mark)
            // Within a word, as in `a#b`, YAML begins no comment.
            .find(|mark| line[..*mark].chars().next_back().is_none_or(char::is_whitespace));
        let comment = mark.map(|mark| (start + mark, secrets(&line[mark..])));
        comment.into_iter().flat_map(|(start, found)| {
            found.into_iter().map(move |range| range.start + start..range.end + start)
        })
    })
}

/// The places at which a tree may not be shown as it is.
fn differences(node: &Node, shown: &Node, text: &str, found: &mut Vec<Range<usize>>) {
    let span = node.origin.span().map(|span| span.start as usize..span.end as usize);
    match (&node.value, &shown.value, span) {
        (Value::Map(all), Value::Map(shown), _) => all
            .iter()
            .zip(shown)
            .for_each(|(entry, shown)| differences(&entry.node, &shown.node, text, found)),
        (Value::List(all), Value::List(shown), _) => {
            all.iter().zip(shown).for_each(|(item, shown)| differences(item, shown, text, found));
        }
        (Value::Str(value), Value::Str(shown), Some(span)) if value != shown && shown != MASK => {
            let within = text.get(span.clone()).map(secrets).unwrap_or_default();
            // Written with escapes, a value may hide more than the search of the text finds.
            let is_same = || replaced(&text[span.clone()], within.clone()).contains(shown.as_str());
            // Neither does a search of a block find less: its lines have blanks before them.
            let is_block = || value.contains('\n') && within.len() == secrets(value).len();
            if within.is_empty() || !(is_same() || is_block()) {
                found.push(span);
            } else {
                let moved = |found: Range<usize>| found.start + span.start..found.end + span.start;
                // As a whole: the search of the text finds less than the tree hides.
                found.extend(within.into_iter().map(moved));
            }
        }
        // A value that is hidden as a whole has no parts to find.
        (_, Value::Str(shown), Some(span)) if shown == MASK => found.push(span),
        _ => {}
    }
}

/// Whether a text holds a Secret: one that cannot be read as a whole, or one in a string.
pub(super) fn is_secret_document(text: &str) -> bool {
    text.match_indices("kind").any(|(at, kind)| {
        // The text may be JSON in a string, with escaped quotes.
        let rest = text[at + kind.len()..].trim_start_matches(['"', '\'', ' ', '\\']);
        rest.strip_prefix(':').is_some_and(|rest| {
            let value = rest.trim_start_matches([' ', '"', '\'', '\\']);
            let kind = value.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            ["secret", "secrets", "secretlist"].iter().any(|one| kind.eq_ignore_ascii_case(one))
        })
    })
}

/// Everything in a Secret that cannot be read but its keys and what names it.
fn values(text: &str) -> impl Iterator<Item = Range<usize>> {
    const SHOWN: [&str; 5] = ["apiVersion", "kind", "name", "namespace", "type"];
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let content = line.trim();
        // Items and comments are read as values of the key above, or by their own search.
        if content.is_empty() || content.starts_with(['#', '-']) {
            return None;
        }
        let (key, value) = match content.split_once(':') {
            Some((key, value)) if !key.contains([' ', '{', '"']) => (key, value.trim_start()),
            _ => ("", content),
        };
        let offset = start + line.trim_end().len() - value.len();
        (!value.is_empty() && !SHOWN.contains(&key)).then(|| offset..offset + value.len())
    })
}

/// Places in order, each once, none of more than a line and none with the blanks around it.
fn in_lines(text: &str, mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|range| (range.start, range.end));
    // Ranges may overlap, as those of a tree and of the comments in its blocks.
    let mut lines: Vec<Range<usize>> = Vec::new();
    for range in found {
        let mut at = range.start;
        for line in text.get(range).unwrap_or_default().split_inclusive('\n') {
            // Blanks stay, so that the indentation of a line is seen behind the mask.
            let start = at + line.len() - line.trim_start().len();
            let end = at + line.trim_end().len();
            at += line.len();
            match lines.last_mut() {
                Some(last) if start < last.end => last.end = last.end.max(end),
                _ if start < end => lines.push(start..end),
                _ => {}
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    #[test]
    fn items_of_a_list_of_secrets_need_no_kind() {
        let list = "apiVersion: v1\nkind: SecretList\nitems:\n- metadata:\n    name: a\n  data:\n    word: c3VwZXI=\n";
        let shown = masked(list);
        assert!(!shown.contains("c3VwZXI=") && shown.contains("name: a"), "{shown}");
        let broken = format!("{list}  x: [\n");
        assert!(!masked(&broken).contains("c3VwZXI="), "a list that cannot be read");
    }

    #[test]
    fn a_list_that_is_longer_than_a_document_is_searched_by_its_items() {
        let config = r#"{"kind":"ConfigMap","data":{"a":"b","password":"bGl0dGxl"}}"#;
        let secret = r#"{"metadata":{"name":"n"},"data":{"word":"c3VwZXI="}}"#;
        for (kind, hidden) in [("List", "bGl0dGxl"), ("SecretList", "c3VwZXI=")] {
            let text =
                format!(r#"{{"apiVersion":"v1","kind":"{kind}","items":[{config},{secret}]}}"#);
            let list = long_list::items(&text, 0..text.len()).expect("a list");
            let mut found = Vec::new();
            in_items(SourceId(0), &text, &list, &mut found);
            let shown = replaced(&text, in_lines(&text, found));
            assert!(!shown.contains(hidden) && shown.contains(r#""name":"n""#), "{shown}");
        }
    }

    #[test]
    fn a_value_that_is_written_with_escapes_is_not_quoted() {
        let mut sources = SourceMap::new();
        let text = r#"args: ["--x={{ .Broken \"password=abcdef\" }}"]"#;
        let id = sources.add(Source::new("a.yaml", SourceKind::File, text));
        let at = Span { source: id, start: 8, end: 40 };
        let message = "`{{ .Broken \"password=abcdef\" }}` cannot be filled in";
        let mut finding = Diagnostic::new(Code::TemplateInvalid, message).at(at);
        Secrets::new(&sources).redact(&mut finding, &sources);
        assert!(!finding.message.contains("abcdef"), "{}", finding.message);
        assert!(finding.message.ends_with("` cannot be filled in"), "{}", finding.message);
    }

    #[test]
    fn a_kind_that_is_a_token_is_not_shown() {
        let mut sources = SourceMap::new();
        let token = "hf_abcdefghijklmnopqrstuvwxyz";
        let text = format!("apiVersion: a.b/v1\nkind: {token}\npassword: supported\n");
        let id = sources.add(Source::new("a.yaml", SourceKind::File, text));
        let at = Span { source: id, start: 0, end: 30 };
        let message = format!("`a.b/v1 {token}` is not supported");
        let mut finding = Diagnostic::new(Code::OtherKind, message).at(at);
        Secrets::new(&sources).redact(&mut finding, &sources);
        assert_eq!(finding.message, "`a.b/v1 •••` is not supported");
    }

    #[test]
    fn the_path_of_a_field_is_shown_where_a_value_is_a_part_of_it() {
        let mut sources = SourceMap::new();
        let text = "endpointUrl: 1\ntoken: endpoint\n";
        let id = sources.add(Source::new("a.yaml", SourceKind::File, text));
        let at = Span { source: id, start: 0, end: 30 };
        let message = "`spec.endpointUrl` must be string, not endpoint";
        let mut finding =
            Diagnostic::new(Code::InvalidType, message).at(at).path("spec.endpointUrl");
        Secrets::new(&sources).redact(&mut finding, &sources);
        assert_eq!(finding.message, "`spec.endpointUrl` must be string, not •••");
    }

    #[test]
    fn a_word_that_is_a_secret_is_shown_as_part_of_a_name() {
        for (value, given, expected) in [
            (
                "admin",
                "`admin_password` of admin, admin1 and (admin)",
                "`admin_password` of •••, admin1 and (•••)",
            ),
            ("admin1", "`admin1_password` of admin1", "`•••_password` of •••"),
        ] {
            let mut sources = SourceMap::new();
            let text = format!("admin_password: {value}\n");
            let id = sources.add(Source::new("a.yaml", SourceKind::File, text));
            let at = Span { source: id, start: 0, end: 14 };
            let mut finding = Diagnostic::new(Code::InlineSecret, given).at(at);
            Secrets::new(&sources).redact(&mut finding, &sources);
            assert_eq!(finding.message, expected);
        }
    }

    #[test]
    fn secrets_are_masked_in_source_excerpts() {
        for (text, expected) in [
            (
                "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  token: \"abc\" # why\n  cert: |\n    a\n    b\n  n: 1\n",
                "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  token: ••• # why\n  cert: |\n    •••\n    •••\n  n: •••\n",
            ),
            (
                "env: [{name: HF_TOKEN, value: abc}, {name: LEVEL, value: x}]\nargs: [--api-key, abc, '--token=abc']\n",
                "env: [{name: HF_TOKEN, value: •••}, {name: LEVEL, value: x}]\nargs: [--api-key, •••, '--token=•••']\n",
            ),
            // Of two values the tree has one.
            (
                "apiVersion: v1\nkind: Secret\nstringData:\n  token: abc\n  token: def\n",
                "apiVersion: v1\nkind: Secret\nstringData:\n  token: •••\n  token: •••\n",
            ),
            // Broken, and so are its neighbors.
            (
                "kind: Secret\ndata:\n  a: b: c\n  d\n---\nenv:\n- name: HF_TOKEN\n  value: abc\n  b: c: d\n",
                "kind: Secret\ndata:\n  a: •••\n  •••\n---\nenv:\n- name: HF_TOKEN\n  value: •••\n  b: c: d\n",
            ),
            ("{\"kind\": \"Secret\", \"data\": {\"a\": \"b\"}", "•••"),
            ("token: $(TOKEN)\nkey: a\n", "token: $(TOKEN)\nkey: a\n"),
            // No tree has comments.
            (
                "# old: hf://me:abc@host/m\na: b # token: def\nc: 'x # y' # no secret\nd: e\n",
                "# old: hf://me:•••@host/m\na: b # token: •••\nc: 'x # y' # no secret\nd: e\n",
            ),
            // Of a kind in lower case, too.
            (
                "kind: secret\nmetadata: {name: s}\ndata: {k: abc, k: def}\n",
                "kind: secret\nmetadata: •••\ndata: •••\n",
            ),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn findings_do_not_quote_secrets() {
        let text = "stringData: {token: 17, other: a-long-secret}\nkind: Secret\napiVersion: v1\n";
        let mut sources = SourceMap::new();
        sources.add(Source::new("a.yaml", SourceKind::File, text));
        let span = |start: u32| Span { source: SourceId(0), start, end: start + 2 };
        let mut finding = Diagnostic::new(Code::InvalidType, "`17` of 117 is a-long-secret")
            .label(span(20), "a-long-secret")
            .help("write `\"17\"`");
        Secrets::new(&sources).redact(&mut finding, &sources);
        assert_eq!(finding.message, "`•••` of 117 is •••");
        assert_eq!(finding.labels[0].text, "•••");
    }
}
