//! How a text moves the context.
//!
//! In: a context and the text that follows. Out: the context behind the first token, and that
//! token's length. Texts are bytes, for a token may begin in the middle of a character; rules and
//! words follow Go's `html/template/transition.go`.

use super::attributes::{self, Content};
use super::context::{Attribute, Context, Delimiter, Element, Slash, State, UrlPart};
use super::css;
use crate::quantity::go_quote;

/// What a token made of the context, and its length.
type Moved = (Context, usize);

const SPACES: &[u8] = b" \t\n\x0c\r";

/// Reads one token; the delimiter of an attribute is the caller's.
pub(super) fn transition(context: Context, text: &[u8]) -> Moved {
    match context.state {
        State::Text => in_text(context, text),
        State::Tag => in_tag(&context, text),
        State::AttrName => in_attribute_name(context, text),
        State::AfterName => after_name(context, text),
        State::BeforeValue => before_value(context, text),
        State::HtmlComment => match find(text, b"-->") {
            Some(end) => (Context::default(), end + 3),
            None => (context, text.len()),
        },
        State::Rcdata => special_tag_end(context, text),
        State::Attr | State::Error | State::Dead => (context, text.len()),
        State::Url | State::Srcset => (in_url(context, text), text.len()),
        State::MetaContent => in_meta_content(context, text),
        State::MetaContentUrl => match text.iter().position(|byte| *byte == b';') {
            Some(end) => (Context { state: State::MetaContent, ..context }, end + 1),
            None => (context, text.len()),
        },
        State::Js => in_js(context, text),
        State::JsDoubleQuoted => in_js_literal(context, text, b"\\\""),
        State::JsSingleQuoted => in_js_literal(context, text, b"\\'"),
        State::JsRegexp => in_js_literal(context, text, b"\\/[]"),
        State::JsTemplate => in_js_template(context, text),
        State::JsBlockComment => block_comment(context, text, State::Js),
        State::CssBlockComment => block_comment(context, text, State::Css),
        State::JsLineComment | State::JsHtmlOpenComment | State::JsHtmlCloseComment => {
            line_comment(
                context,
                text,
                State::Js,
                &[b"\n", b"\r", "\u{2028}".as_bytes(), "\u{2029}".as_bytes()],
            )
        }
        State::CssLineComment => line_comment(context, text, State::Css, &[b"\n", b"\x0c", b"\r"]),
        State::Css => in_css(context, text),
        State::CssDoubleQuoted | State::CssDoubleQuotedUrl => in_css_string(context, text, b"\\\""),
        State::CssSingleQuoted | State::CssSingleQuotedUrl => in_css_string(context, text, b"\\'"),
        State::CssUrl => in_css_string(context, text, b"\\\t\n\x0c\r )"),
    }
}

/// The end tag that closes the content of a special element; the rest of the text where there is
/// none.
pub(super) fn special_tag_end(context: Context, text: &[u8]) -> Moved {
    // In literals and comments of a script the tag is no end, and is escaped.
    let hidden = context.element == Element::Script
        && (context.state.is_script_literal() || context.state.is_comment());
    if context.element == Element::None || hidden {
        return (context, text.len());
    }
    match tag_end(text, context.element.end_tag()) {
        Some(end) => (Context::default(), end),
        None => (context, text.len()),
    }
}

fn tag_end(text: &[u8], tag: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = find(&text[from..], b"</") {
        let start = from + found;
        from = start + 2;
        let named =
            text.get(from..from + tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(tag));
        if named {
            from += tag.len();
            if text.get(from).is_some_and(|byte| b"> \t\n\x0c/".contains(byte)) {
                return Some(start);
            }
        }
    }
    None
}

/// Where a sequence of bytes begins.
pub(super) fn find(text: &[u8], sequence: &[u8]) -> Option<usize> {
    text.windows(sequence.len()).position(|window| window == sequence)
}

/// The first byte of a set.
pub(super) fn find_any(text: &[u8], set: &[u8]) -> Option<usize> {
    text.iter().position(|byte| set.contains(byte))
}

/// The first byte from `from` that is no space of HTML.
fn after_spaces(text: &[u8], from: usize) -> usize {
    from + text[from..].iter().take_while(|byte| SPACES.contains(byte)).count()
}

/// The bytes as Go's `%q` writes them, at most so many characters of them.
fn quoted(text: &[u8], most: usize) -> String {
    go_quote(&String::from_utf8_lossy(text).chars().take(most).collect::<String>())
}

/// How many characters a message quotes where it does not quote all.
const EXCERPT: usize = 32;

fn in_text(context: Context, text: &[u8]) -> Moved {
    let mut from = 0;
    while let Some(found) = text[from..].iter().position(|byte| *byte == b'<') {
        let open = from + found;
        let rest = &text[open + 1..];
        if rest.starts_with(b"!--") {
            return (Context::of(State::HtmlComment), open + 4);
        }
        let ends = rest.first() == Some(&b'/');
        let name = open + 1 + usize::from(ends);
        let length = tag_name_length(&text[name..]);
        if length > 0 {
            let element = Element::named(
                &String::from_utf8_lossy(&text[name..name + length]).to_ascii_lowercase(),
            );
            return (
                Context {
                    element: if ends { Element::None } else { element },
                    ..Context::of(State::Tag)
                },
                name + length,
            );
        }
        from = name;
    }
    (context, text.len())
}

/// Letters and digits, with single `-` and `:` between them.
fn tag_name_length(text: &[u8]) -> usize {
    if !text.first().is_some_and(u8::is_ascii_alphabetic) {
        return 0;
    }
    let mut length = 1;
    while let Some(byte) = text.get(length) {
        length += match byte {
            byte if byte.is_ascii_alphanumeric() => 1,
            b':' | b'-' if text.get(length + 1).is_some_and(u8::is_ascii_alphanumeric) => 2,
            _ => break,
        };
    }
    length
}

fn in_tag(context: &Context, text: &[u8]) -> Moved {
    let start = after_spaces(text, 0);
    let Some(first) = text.get(start) else { return (context.clone(), text.len()) };
    if *first == b'>' {
        // `meta` has no content, and no end tag.
        let element =
            if context.element == Element::Meta { Element::None } else { context.element };
        return (Context { element, ..Context::of(element.content_state()) }, start + 1);
    }
    let end = match attribute_name_end(text, start) {
        Ok(end) if end > start => end,
        Ok(_) => {
            let found = quoted(&text[start..], usize::MAX);
            return (
                Context::bad_text(format!(
                    "expected space, attr name, or end of tag, but got {found}"
                )),
                text.len(),
            );
        }
        Err(error) => return (error, text.len()),
    };
    let name = attributes::lower_case(&String::from_utf8_lossy(&text[start..end]));
    let attribute = match (context.element, name.as_str()) {
        (Element::Script, "type") => Attribute::ScriptType,
        (Element::Meta, "content") => Attribute::MetaContent,
        _ => match attributes::content(&name) {
            Content::Url => Attribute::Url,
            Content::Css => Attribute::Style,
            Content::Js => Attribute::Script,
            Content::Srcset => Attribute::Srcset,
            Content::Plain | Content::Unsafe => Attribute::None,
        },
    };
    let state = if end == text.len() { State::AttrName } else { State::AfterName };
    (Context { attribute, element: context.element, ..Context::of(state) }, end)
}

/// Where the name of an attribute ends; an error context for what cannot stand in one.
fn attribute_name_end(text: &[u8], start: usize) -> Result<usize, Context> {
    match text[start..].iter().position(|byte| SPACES.contains(byte) || b"=>'\"<".contains(byte)) {
        None => Ok(text.len()),
        Some(length) if b"'\"<".contains(&text[start + length]) => {
            let bad = quoted(&text[start + length..=start + length], 1);
            Err(Context::bad_text(format!("{bad} in attribute name: {}", quoted(text, EXCERPT))))
        }
        Some(length) => Ok(start + length),
    }
}

fn in_attribute_name(context: Context, text: &[u8]) -> Moved {
    match attribute_name_end(text, 0) {
        Err(error) => (error, text.len()),
        Ok(end) if end < text.len() => (Context { state: State::AfterName, ..context }, end),
        Ok(end) => (context, end),
    }
}

fn after_name(context: Context, text: &[u8]) -> Moved {
    let start = after_spaces(text, 0);
    match text.get(start) {
        None => (context, text.len()),
        Some(b'=') => (Context { state: State::BeforeValue, ..context }, start + 1),
        Some(_) => (Context { state: State::Tag, ..context }, start),
    }
}

fn before_value(context: Context, text: &[u8]) -> Moved {
    let start = after_spaces(text, 0);
    let (delimiter, start) = match text.get(start) {
        None => return (context, text.len()),
        Some(b'\'') => (Delimiter::SingleQuote, start + 1),
        Some(b'"') => (Delimiter::DoubleQuote, start + 1),
        Some(_) => (Delimiter::SpaceOrTagEnd, start),
    };
    (Context { state: context.attribute.value_state(), delimiter, ..context }, start)
}

fn in_url(context: Context, text: &[u8]) -> Context {
    let url_part = match context.url_part {
        _ if find_any(text, b"#?").is_some() => UrlPart::QueryOrFragment,
        UrlPart::None if after_spaces(text, 0) < text.len() => UrlPart::PreQuery,
        part => part,
    };
    Context { url_part, ..context }
}

fn in_meta_content(context: Context, text: &[u8]) -> Moved {
    for start in 0..text.len().saturating_sub(3) {
        if text[start..start + 3].eq_ignore_ascii_case(b"url") {
            let sign = after_spaces(text, start + 3);
            if text.get(sign) == Some(&b'=') {
                return (Context { state: State::MetaContentUrl, ..context }, sign + 1);
            }
        }
    }
    (context, text.len())
}

fn in_js(mut context: Context, text: &[u8]) -> Moved {
    let Some(at) = find_any(text, b"\"`'/{}<-#") else {
        context.slash = slash_after(text, context.slash);
        return (context, text.len());
    };
    context.slash = slash_after(&text[..at], context.slash);
    let rest = &text[at..];
    let (state, length) = match rest[0] {
        b'"' => (State::JsDoubleQuoted, 1),
        b'\'' => (State::JsSingleQuoted, 1),
        b'`' => (State::JsTemplate, 1),
        b'/' => match (rest.get(1), context.slash) {
            (Some(b'/'), _) => (State::JsLineComment, 2),
            (Some(b'*'), _) => (State::JsBlockComment, 2),
            (_, Slash::Regexp) => (State::JsRegexp, 1),
            (_, Slash::Division) => {
                context.slash = Slash::Regexp;
                (State::Js, 1)
            }
            (_, Slash::Unknown) => {
                let message =
                    format!("'/' could start a division or regexp: {}", quoted(rest, EXCERPT));
                return (Context::bad_text(message), text.len());
            }
        },
        // Scripts know comments of HTML, up to the end of the line.
        b'<' if rest.starts_with(b"<!--") => (State::JsHtmlOpenComment, 4),
        b'-' if rest.starts_with(b"-->") => (State::JsHtmlCloseComment, 3),
        b'#' if rest.starts_with(b"#!") => (State::JsLineComment, 2),
        brace @ (b'{' | b'}') => {
            if context.braces.count(if brace == b'{' { 1 } else { -1 }) {
                context.slash = slash_after(&rest[..1], context.slash);
                (State::Js, 1)
            } else {
                (State::JsTemplate, 1)
            }
        }
        _ => (State::Js, 1),
    };
    if matches!(state, State::JsDoubleQuoted | State::JsSingleQuoted)
        || (state == State::JsTemplate && rest[0] == b'`')
    {
        context.slash = Slash::Regexp;
    }
    (Context { state, ..context }, at + length)
}

/// What a slash begins behind a run of JavaScript without texts, comments and slashes.
fn slash_after(text: &[u8], before: Slash) -> Slash {
    let run = String::from_utf8_lossy(text);
    let run = run.trim_end_matches(|c| matches!(c, '\u{9}'..='\u{d}' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'));
    let run = run.as_bytes();
    let regexp = match run {
        [] => return before,
        // Two of them are a postfix operator, and three are two and one.
        [.., sign @ (b'+' | b'-')] => {
            run.iter().rev().take_while(|byte| *byte == sign).count() % 2 == 1
        }
        [.., digit, b'.'] => !digit.is_ascii_digit(),
        [.., last] if b".,<>=*%&|^?!~([:;{}".contains(last) => true,
        _ => {
            let name = run.iter().rev().take_while(|byte| is_js_identifier(**byte)).count();
            BEFORE_REGEXP.contains(&&run[run.len() - name..])
        }
    };
    if regexp { Slash::Regexp } else { Slash::Division }
}

/// Keywords behind which a slash begins a regular expression.
const BEFORE_REGEXP: [&[u8]; 14] = [
    b"break",
    b"case",
    b"continue",
    b"delete",
    b"do",
    b"else",
    b"finally",
    b"in",
    b"instanceof",
    b"return",
    b"throw",
    b"try",
    b"typeof",
    b"void",
];

/// Whether the byte can stand in a number or a keyword.
pub(super) fn is_js_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'_')
}

fn unfinished(text: &[u8], language: &str) -> Moved {
    (
        Context::bad_text(format!(
            "unfinished escape sequence in {language} string: {}",
            quoted(text, usize::MAX)
        )),
        text.len(),
    )
}

fn in_js_template(mut context: Context, text: &[u8]) -> Moved {
    let mut from = 0;
    while let Some(found) = find_any(&text[from..], b"`\\$") {
        let at = from + found;
        from = at + 1;
        match (text[at], text.get(from)) {
            (b'\\', None) => return unfinished(text, "JS"),
            (b'\\', _) => from += 1,
            (b'$', Some(b'{')) => {
                context.braces.push();
                return (Context { state: State::Js, ..context }, from + 1);
            }
            (b'`', _) => return (Context { state: State::Js, ..context }, from),
            _ => {}
        }
    }
    (context, text.len())
}

/// A text or a regular expression; `specials` are the backslash, what ends it, and for the latter
/// the brackets.
fn in_js_literal(context: Context, text: &[u8], specials: &[u8]) -> Moved {
    let (mut from, mut in_set) = (0, false);
    while let Some(found) = find_any(&text[from..], specials) {
        let at = from + found;
        from = at + 1;
        match text[at] {
            b'\\' if from == text.len() => return unfinished(text, "JS"),
            b'\\' => from += 1,
            b'[' => in_set = true,
            b']' => in_set = false,
            // The tag is escaped, and the slash is no end.
            b'/' if at > 0
                && text
                    .get(at - 1..at + 7)
                    .is_some_and(|tag| tag.eq_ignore_ascii_case(b"</script")) =>
            {
                from += 1;
            }
            _ if in_set => {}
            _ => return (Context { state: State::Js, slash: Slash::Division, ..context }, from),
        }
    }
    if in_set {
        return (
            Context::bad_text(format!(
                "unfinished JS regexp charset: {}",
                quoted(text, usize::MAX)
            )),
            text.len(),
        );
    }
    (context, text.len())
}

fn block_comment(context: Context, text: &[u8], then: State) -> Moved {
    match find(text, b"*/") {
        Some(end) => (Context { state: then, ..context }, end + 2),
        None => (context, text.len()),
    }
}

/// A comment up to the end of the line, which is no part of it.
fn line_comment(context: Context, text: &[u8], then: State, ends: &[&[u8]]) -> Moved {
    match (0..text.len()).find(|at| ends.iter().any(|end| text[*at..].starts_with(end))) {
        Some(end) => (Context { state: then, ..context }, end),
        None => (context, text.len()),
    }
}

fn in_css(context: Context, text: &[u8]) -> Moved {
    let mut from = 0;
    while let Some(found) = find_any(&text[from..], b"(\"'/") {
        let at = from + found;
        from = at + 1;
        let (state, length) = match (text[at], text.get(from)) {
            (b'(', _) if css::ends_with_url(&text[..at]) => {
                let start = after_spaces(text, from);
                match text.get(start) {
                    Some(b'"') => (State::CssDoubleQuotedUrl, start + 1),
                    Some(b'\'') => (State::CssSingleQuotedUrl, start + 1),
                    _ => (State::CssUrl, start),
                }
            }
            (b'/', Some(b'/')) => (State::CssLineComment, from + 1),
            (b'/', Some(b'*')) => (State::CssBlockComment, from + 1),
            (b'"', _) => (State::CssDoubleQuoted, from),
            (b'\'', _) => (State::CssSingleQuoted, from),
            _ => continue,
        };
        return (Context { state, ..context }, length);
    }
    (context, text.len())
}

/// A text or URL in CSS; every text counts as a URL.
fn in_css_string(mut context: Context, text: &[u8], specials: &[u8]) -> Moved {
    let (mut from, mut escape) = (0, 0);
    loop {
        let Some(found) = find_any(&text[from..], specials) else {
            return (in_url(context, &text[from..]), text.len());
        };
        let at = from + found;
        if text[at] != b'\\' {
            return (Context { state: State::Css, ..context }, at + 1);
        }
        if at + 1 == text.len() {
            return unfinished(text, "CSS");
        }
        // Go sees an escape by its first digit here, and as a whole with the next one.
        context = in_url(context, &css::decode(&text[escape..at + 2]));
        (from, escape) = (at + 2, at);
    }
}
