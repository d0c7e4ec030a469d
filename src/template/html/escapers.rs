//! What escapes, filters or normalises the printed value of an action.
//!
//! In: the name of an escaper, without Go's prefix, and a text. Out: the text as it may stand
//! there. The rules follow Go's `html/template`; content that is trusted by its type does not occur
//! here.

use super::super::quote;
use super::super::value::{Root, Value};
use super::attributes::{self, Content};
use super::css;
use super::transition::is_js_identifier;
use crate::template::error::Failure;
use std::fmt::Write;

/// What stands in place of something unsafe.
const FAILSAFE: &str = "ZgotmplZ";

/// The text as the escaper leaves it; none for a name that is no escaper of texts.
pub(in crate::template) fn escape(escaper: &str, text: &str) -> Option<String> {
    Some(match escaper {
        "attrescaper" | "htmlescaper" | "rcdataescaper" => replaced(text, html),
        "commentescaper" => String::new(),
        "cssescaper" => css_text(text),
        "cssvaluefilter" => css_value(text),
        "htmlnamefilter" => name(text),
        "jsregexpescaper" if text.is_empty() => "(?:)".into(),
        "jsregexpescaper" => replaced(text, |c| js(c, "\"&'+<>", "$()*-./?[\\]^{|}")),
        "jsstrescaper" => replaced(text, |c| js(c, "\"`&'+<>", "/\\")),
        "jstmpllitescaper" => replaced(text, |c| js(c, "\"`&'+<>${}", "/\\")),
        "nospaceescaper" if text.is_empty() => FAILSAFE.into(),
        "nospaceescaper" => replaced(text, unquoted_html),
        "srcsetescaper" => text.split(',').map(srcset_element).collect::<Vec<_>>().join(","),
        "urlescaper" => url(text, false),
        "urlfilter" if !is_safe_url(text) => format!("#{FAILSAFE}"),
        "urlfilter" => text.into(),
        "urlnormalizer" => url(text, true),
        _ => return None,
    })
}

/// Replaces characters.
fn replaced(text: &str, replacement: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match replacement(c) {
            Some(text) => out.push_str(&text),
            None => out.push(c),
        }
    }
    out
}

/// A character of text or of a value in quotes.
fn html(c: char) -> Option<String> {
    Some(match c {
        '\0' => "\u{fffd}".into(),
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '"' | '\'' | '+' => format!("&#{};", u32::from(c)),
        _ => return None,
    })
}

/// A character of a value without quotes.
fn unquoted_html(c: char) -> Option<String> {
    match c {
        '\0' => Some("&#xfffd;".into()),
        '\t'..='\r' | ' ' | '=' | '`' => Some(format!("&#{};", u32::from(c))),
        '\u{fdd0}'..='\u{fdef}' | '\u{fff0}'..='\u{ffff}' => {
            Some(format!("&#x{:x};", u32::from(c)))
        }
        _ => html(c),
    }
}

/// A character of a literal in JavaScript; some by their number, some behind a backslash.
fn js(c: char, numbered: &str, backslashed: &str) -> Option<String> {
    match c {
        '\t' => Some("\\t".into()),
        '\n' => Some("\\n".into()),
        '\x0c' => Some("\\f".into()),
        '\r' => Some("\\r".into()),
        '\0'..='\x1f' | '\u{2028}' | '\u{2029}' => Some(format!("\\u{:04x}", u32::from(c))),
        _ if numbered.contains(c) => Some(format!("\\u{:04x}", u32::from(c))),
        _ if backslashed.contains(c) => Some(format!("\\{c}")),
        _ => None,
    }
}

/// The value as an expression of JavaScript.
///
/// # Errors
/// When the value holds something that no plan can know.
pub(in crate::template) fn js_value(value: &Value<'_>) -> Result<String, Failure> {
    let mut json = String::new();
    if let Value::Imaginary(_) = value {
        return Ok(" /* json: unsupported type: complex128 */null ".into());
    }
    write_json(&mut json, value)?;
    // A word or number must not run into what stands beside it.
    let word = |byte: Option<&u8>| byte.is_some_and(|byte| is_js_identifier(*byte));
    let padded = word(json.as_bytes().first()) || word(json.as_bytes().last());
    Ok(if padded { format!(" {json} ") } else { json })
}

/// The value as Go's `encoding/json` writes it.
fn write_json(out: &mut String, value: &Value<'_>) -> Result<(), Failure> {
    match value {
        Value::Str(text) => quote::write_json(out, text),
        Value::Bool(_) | Value::Int(_) | Value::Byte(_) => out.push_str(&value.print()?),
        Value::Float(number) => out.push_str(&quote::json_float(*number)),
        Value::Map(pairs) if !pairs.is_empty() => {
            let members =
                pairs.iter().map(|(key, value)| ((*key).into(), Value::Str((*value).into())));
            write_object(out, &members.collect::<Vec<_>>())?;
        }
        Value::Root(root) => {
            let metadata = matches!(root, Root::Metadata(_));
            let mut members = Vec::new();
            for (name, field) in
                root.fields().iter().filter_map(|name| Some((*name, root.field(name)?)))
            {
                let field = field?;
                // `ObjectMeta` leaves out what is empty, but for one time.
                if !metadata || field.is_true() {
                    members
                        .push((if metadata { lower_camel_case(name) } else { name.into() }, field));
                }
            }
            write_object(out, &members)?;
        }
        Value::List(_, items) if !items.is_empty() => {
            for (position, item) in items.iter().enumerate() {
                out.push(if position == 0 { '[' } else { ',' });
                write_json(out, item)?;
            }
            out.push(']');
        }
        _ => out.push_str("null"),
    }
    Ok(())
}

/// The name of a field as its tag has it.
fn lower_camel_case(name: &str) -> String {
    if name == "UID" { "uid".into() } else { name[..1].to_ascii_lowercase() + &name[1..] }
}

fn write_object(out: &mut String, members: &[(String, Value<'_>)]) -> Result<(), Failure> {
    for (position, (name, value)) in members.iter().enumerate() {
        out.push(if position == 0 { '{' } else { ',' });
        quote::write_json(out, name);
        out.push(':');
        write_json(out, value)?;
    }
    out.push_str(if members.is_empty() { "{}" } else { "}" });
    Ok(())
}

/// A text within quotes of CSS.
fn css_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\0' | '\t' | '\n' | '\x0c' | '\r' | '"' | '&' | '\'' | '(' | ')' | '+' | '/' | ':'
            | ';' | '<' | '>' | '{' | '}' => {
                // Writing to a text cannot fail.
                let _ = write!(out, "\\{:x}", u32::from(c));
                // A digit behind the number would belong to it, and a space end it.
                if chars.peek().is_none_or(|next| {
                    next.is_ascii_hexdigit() || matches!(next, '\t' | '\n' | '\x0c' | '\r' | ' ')
                }) {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// A value of CSS: a quantity, a name, a colour.
fn css_value(text: &str) -> String {
    let decoded = css::decode(text.as_bytes());
    let unsafe_byte = |byte: &u8| b"\0\"'()/;@[\\]`{}<>".contains(byte);
    let names: Vec<u8> = decoded
        .iter()
        .filter(|byte| byte.is_ascii() && **byte != b'-' && css::is_name(char::from(**byte)))
        .map(u8::to_ascii_lowercase)
        .collect();
    let runs_script = [b"expression".as_slice(), b"mozbinding"]
        .iter()
        .any(|word| names.windows(word.len()).any(|window| window == *word));
    if runs_script
        || decoded.iter().any(unsafe_byte)
        || decoded.windows(2).any(|pair| pair == b"--")
    {
        return FAILSAFE.into();
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// A part of an attribute's name.
fn name(text: &str) -> String {
    let name = attributes::lower_case(text);
    let safe = !name.is_empty()
        && attributes::content(&name) == Content::Plain
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if safe { name } else { FAILSAFE.into() }
}

/// Whether a URL is relative or of a harmless scheme.
fn is_safe_url(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return true };
    // The long s is an s where case does not matter.
    let scheme = scheme.replace('\u{17f}', "s");
    scheme.contains('/')
        || ["http", "https", "mailto"].iter().any(|safe| scheme.eq_ignore_ascii_case(safe))
}

/// Percent signs for what cannot stand in a URL; `normal`: what divides a URL and what is escaped
/// already stays.
fn url(text: &str, normal: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    for (position, byte) in bytes.iter().enumerate() {
        let kept = match byte {
            b'-' | b'.' | b'_' | b'~' => true,
            b'%' => {
                normal
                    && bytes
                        .get(position + 1..position + 3)
                        .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            byte if b"!#$&*+,/:;=?@[]".contains(byte) => normal,
            byte => byte.is_ascii_alphanumeric(),
        };
        if kept {
            out.push(char::from(*byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(out, "%{byte:02x}");
        }
    }
    out
}

/// A URL with its width or density.
fn srcset_element(text: &str) -> String {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r');
    let trimmed = text.trim_start_matches(is_space);
    let (source, rest) = trimmed.split_at(trimmed.find(is_space).unwrap_or(trimmed.len()));
    if !is_safe_url(source) || !rest.chars().all(|c| is_space(c) || c.is_ascii_alphanumeric()) {
        return format!("#{FAILSAFE}");
    }
    format!("{}{}{rest}", &text[..text.len() - trimmed.len()], url(source, true))
}
