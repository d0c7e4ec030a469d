//! The functions of every Go template.
//!
//! In: values. Out: a value, or Go's sentence on why there is none. Rules and words follow Go's
//! `text/template/funcs.go` and `fmt`; of `printf` the verbs `%v %s %d %q %t %x %f` with width, precision, `-` and `0`.

use super::ast::{At, Operand, OperandKind};
use super::error::Failure;
use super::exec::Machine;
use super::quote;
use super::value::Value;
use crate::quantity::go_quote;
use ecow::EcoString;
use std::cmp::Ordering;

/// Why a function gave nothing.
pub(super) enum Refusal {
    /// Go's function returned this error.
    Go(String),
    /// Anything else, complete.
    Failure(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

type Outcome<'a> = Result<Value<'a>, Refusal>;

fn go<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Go(message.into()))
}

/// What Go's reflection says where a function reaches past its checks.
const OUT_OF_RANGE: &str = "reflect: index out of range";

/// The least number of arguments, and the exact one where more are refused.
pub(super) fn arity(name: &str) -> (usize, Option<usize>) {
    match name {
        "len" | "not" => (1, Some(1)),
        "ne" | "lt" | "le" | "gt" | "ge" => (2, Some(2)),
        "and" | "or" | "call" | "eq" | "index" | "slice" | "printf" => (1, None),
        _ => (0, None),
    }
}

/// Calls a function other than `and`, `or` and `call`; the number of arguments is right.
pub(super) fn call<'a>(machine: &mut Machine<'a>, name: &str, node: At<'a>, values: &[Value<'a>]) -> Outcome<'a> {
    let text = match name {
        "not" => return Ok(Value::Bool(!values[0].is_true())),
        "len" => return length(&values[0]),
        "index" => return index(&values[0], &values[1..]),
        "slice" => return slice(machine, &values[0], &values[1..]),
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" => return comparison(machine, name, values),
        "print" => sprint(machine, values, "<nil>")?,
        "println" => {
            let words = values.iter().map(|value| machine.print(value)).collect::<Result<Vec<_>, _>>()?;
            format!("{}\n", words.join(" "))
        }
        "printf" => printf(machine, values)?,
        "html" | "js" | "urlquery" => {
            let apart = name != "js" && machine.evaluates_apart(node);
            let text = sprint(machine, values, if apart { "<nil>" } else { "<no value>" })?;
            match name {
                "html" => escape_html(&text, false),
                "js" => escape_js(&text),
                _ => escape_query(&text),
            }
        }
        _ => return Err(machine.unsupported(format!("the function `{name}` is not supported")).into()),
    };
    machine.charge(text.len())?;
    Ok(Value::Str(text.into()))
}

/// Why a value cannot be called: no value of a template is a function.
pub(super) fn not_callable(value: &Value<'_>, callee: &str) -> String {
    match value {
        Value::Absent => "call of nil".into(),
        _ => format!("non-function {callee} of type {}", value.type_name()),
    }
}

/// `fmt.Sprint`: a space between two operands of which neither is a text.
fn sprint<'a>(machine: &mut Machine<'a>, values: &[Value<'a>], absent: &str) -> Result<String, Failure> {
    let mut out = String::new();
    let mut after_text = true;
    for value in values {
        let is_text = matches!(value, Value::Str(_)) || (matches!(value, Value::Absent) && absent != "<nil>");
        if !after_text && !is_text {
            out.push(' ');
        }
        after_text = is_text;
        if matches!(value, Value::Absent) {
            out.push_str(absent);
        } else {
            out.push_str(&machine.print(value)?);
        }
    }
    Ok(out)
}

fn length<'a>(value: &Value<'a>) -> Outcome<'a> {
    let length = match value {
        Value::Str(text) => text.len(),
        Value::Map(pairs) => pairs.len(),
        Value::Nothing(_) => 0,
        Value::Nil(_) => return go("len of nil pointer"),
        Value::Absent => return go("reflect: call of reflect.Value.Type on zero Value"),
        _ => return go(format!("len of type {}", value.type_name())),
    };
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

/// An index into something of this length; the length itself is allowed, as in Go.
fn position(index: &Value<'_>, length: usize) -> Result<usize, Refusal> {
    let Some(number) = index.as_int() else {
        return go(match index {
            Value::Absent => "cannot index slice/array with nil".into(),
            _ => format!("cannot index slice/array with type {}", index.type_name()),
        });
    };
    match usize::try_from(number) {
        Ok(position) if position <= length => Ok(position),
        _ => go(format!("index out of range: {number}")),
    }
}

fn index<'a>(value: &Value<'a>, indexes: &[Value<'a>]) -> Outcome<'a> {
    if matches!(value, Value::Absent) {
        return go("index of untyped nil");
    }
    let mut value = value.clone();
    for index in indexes {
        value = match &value {
            Value::Nil(_) => return go("index of nil pointer"),
            Value::Str(text) => match text.as_bytes().get(position(index, text.len())?) {
                Some(byte) => Value::Byte(*byte),
                None => return go(OUT_OF_RANGE),
            },
            Value::Nothing(_) => {
                position(index, 0)?;
                return go(OUT_OF_RANGE);
            }
            Value::Map(pairs) => match index {
                Value::Str(key) => Value::Str(pairs.get(key.as_str()).copied().unwrap_or_default().into()),
                Value::Absent => return go("value is nil; should be of type string"),
                _ => return go(format!("value has type {}; should be string", index.type_name())),
            },
            _ => return go(format!("can't index item of type {}", value.type_name())),
        };
    }
    Ok(value)
}

fn slice<'a>(machine: &mut Machine<'a>, value: &Value<'a>, indexes: &[Value<'a>]) -> Outcome<'a> {
    let text = match value {
        Value::Absent => return go("slice of untyped nil"),
        Value::Nil(_) => return go("slice of nil pointer"),
        _ if indexes.len() > 3 => return go(format!("too many slice indexes: {}", indexes.len())),
        Value::Str(_) if indexes.len() == 3 => return go("cannot 3-index slice a string"),
        Value::Str(text) => text,
        Value::Nothing(_) => return Err(machine.unsupported("a slice of a list is not supported").into()),
        _ => return go(format!("can't slice item of type {}", value.type_name())),
    };
    let start = indexes.first().map_or(Ok(0), |index| position(index, text.len()))?;
    let end = indexes.get(1).map_or(Ok(text.len()), |index| position(index, text.len()))?;
    if start > end {
        return go(format!("invalid slice index: {start} > {end}"));
    }
    machine.charge(end - start)?;
    match text.get(start..end) {
        Some(part) => Ok(Value::Str(part.into())),
        None => Err(machine.unsupported("a slice that cuts a character in two is not supported").into()),
    }
}

/// The kinds of values that can be compared; none for the others.
fn basic_kind(value: &Value<'_>) -> Option<u8> {
    match value {
        Value::Bool(_) => Some(0),
        Value::Imaginary(_) => Some(1),
        Value::Int(_) => Some(2),
        Value::Float(_) => Some(3),
        Value::Str(_) => Some(4),
        Value::Byte(_) => Some(5),
        _ => None,
    }
}

fn comparison<'a>(machine: &mut Machine<'a>, name: &str, values: &[Value<'a>]) -> Outcome<'a> {
    for value in values {
        if let Value::Str(text) = value {
            machine.charge(text.len())?;
        }
    }
    let (left, others) = values.split_first().expect("a comparison has an argument");
    Ok(Value::Bool(match name {
        "eq" | "ne" => equals(machine, left, others)? == (name == "eq"),
        "lt" => less(left, &others[0])?,
        "ge" => !less(left, &others[0])?,
        "le" => less(left, &others[0])? || equals(machine, left, others)?,
        _ => !(less(left, &others[0])? || equals(machine, left, others)?),
    }))
}

fn equals(machine: &Machine<'_>, left: &Value<'_>, others: &[Value<'_>]) -> Result<bool, Refusal> {
    if others.is_empty() {
        return go("missing argument for comparison");
    }
    for right in others {
        let equal = match (left, right) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Float(a), Value::Float(b)) | (Value::Imaginary(a), Value::Imaginary(b)) => a.partial_cmp(b) == Some(Ordering::Equal),
            (Value::Absent, Value::Absent) => true,
            _ => match (left.as_int(), right.as_int()) {
                (Some(a), Some(b)) => a == b,
                _ if matches!(left, Value::Absent) || matches!(right, Value::Absent) => {
                    // An absent value equals nothing that has a basic kind; among the rest it equals what is nil.
                    match (basic_kind(left), basic_kind(right)) {
                        (None, None) => return Err(machine.unsupported("a comparison of a list or mapping is not supported").into()),
                        _ => false,
                    }
                }
                _ if basic_kind(left).is_none() && basic_kind(right).is_none() => {
                    return Err(machine.unsupported("a comparison of lists or mappings is not supported").into());
                }
                _ => return go(format!("incompatible types for comparison: {} and {}", left.type_name(), right.type_name())),
            },
        };
        if equal {
            return Ok(true);
        }
    }
    Ok(false)
}

fn less(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Refusal> {
    let (Some(left_kind), Some(right_kind)) = (basic_kind(left), basic_kind(right)) else {
        return go("invalid type for comparison");
    };
    match (left, right) {
        (Value::Str(a), Value::Str(b)) => Ok(a < b),
        (Value::Float(a), Value::Float(b)) => Ok(a < b),
        _ => match (left.as_int(), right.as_int()) {
            (Some(a), Some(b)) => Ok(a < b),
            _ if left_kind == right_kind => go("invalid type for comparison"),
            _ => go(format!("incompatible types for comparison: {} and {}", left.type_name(), right.type_name())),
        },
    }
}

/// What Go says when the format of `printf` is no text.
pub(super) fn check_format(machine: &Machine<'_>, argument: &Operand<'_>, value: &Value<'_>) -> Result<(), Failure> {
    match (&argument.kind, value) {
        (_, Value::Str(_)) => Ok(()),
        (OperandKind::Nil, _) => Err(machine.failure("cannot assign nil to string")),
        (OperandKind::Bool(_) | OperandKind::Number { .. }, _) => Err(machine.failure(format!("expected string; found {argument}"))),
        _ => check_piped_format(machine, Some(value)),
    }
}

/// The same for a format that comes down the pipeline.
pub(super) fn check_piped_format(machine: &Machine<'_>, value: Option<&Value<'_>>) -> Result<(), Failure> {
    match value {
        Some(Value::Str(_)) => Ok(()),
        Some(Value::Absent) | None => Err(machine.failure("invalid value; expected string")),
        Some(value) => Err(machine.failure(format!("wrong type for value; expected string; got {}", value.type_name()))),
    }
}

/// One directive of a format.
struct Directive {
    verb: char,
    left: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

impl Directive {
    /// The text in its width, counted in characters.
    fn pad(&self, text: &str) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        match (self.left, self.zero, text.strip_prefix('-')) {
            (true, ..) => format!("{text}{}", " ".repeat(missing)),
            (false, true, Some(digits)) => format!("-{}{digits}", "0".repeat(missing)),
            (false, true, None) => format!("{}{text}", "0".repeat(missing)),
            (false, false, _) => format!("{}{text}", " ".repeat(missing)),
        }
    }
}

fn printf<'a>(machine: &mut Machine<'a>, values: &[Value<'a>]) -> Result<String, Failure> {
    let Some((Value::Str(format), values)) = values.split_first() else {
        return Err(machine.failure("invalid value; expected string"));
    };
    let mut out = String::new();
    let mut values = values.iter();
    let mut rest = format.as_str();
    while let Some((text, after)) = rest.split_once('%') {
        out.push_str(text);
        machine.charge(text.len())?;
        let (directive, after) = directive(after).ok_or_else(|| machine.unsupported(format!("the format {} is not supported", go_quote(format))))?;
        rest = after;
        if directive.verb == '%' {
            out.push('%');
            continue;
        }
        let Some(value) = values.next() else {
            out.extend(["%!", directive.verb.encode_utf8(&mut [0; 4]), "(MISSING)"]);
            continue;
        };
        let text = formatted(machine, &directive, value)?;
        let unknown = || machine.unsupported(format!("`%{}` of a value of type {} is not supported", directive.verb, value.type_name()));
        out.push_str(&directive.pad(&text.ok_or_else(unknown)?));
    }
    out.push_str(rest);
    if values.len() > 0 {
        let mut extra = Vec::new();
        for value in values {
            extra.push(if matches!(value, Value::Absent) { "<nil>".into() } else { format!("{}={}", value.type_name(), machine.print(value)?) });
        }
        out.extend(["%!(EXTRA ", &extra.join(", "), ")"]);
    }
    Ok(out)
}

/// Reads what stands behind a `%`; none when a part of it is not supported.
fn directive(text: &str) -> Option<(Directive, &str)> {
    let flags = text.len() - text.trim_start_matches(['-', '0']).len();
    let (flags, rest) = text.split_at(flags);
    let number = |text: &str| -> Option<usize> {
        // Go refuses more than a million; nobody pads to more than a thousand.
        if text.is_empty() { Some(0) } else { text.parse().ok().filter(|width| *width <= 1000) }
    };
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (width, rest) = rest.split_at(digits(rest));
    let (precision, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (precision, rest) = rest.split_at(digits(rest));
            (Some(number(precision)?), rest)
        }
        None => (None, rest),
    };
    let verb = rest.chars().next().filter(|verb| "%vsdqtxf".contains(*verb))?;
    let plain = flags.is_empty() && width.is_empty() && precision.is_none();
    let left = flags.contains('-');
    let directive = Directive { verb, left, zero: flags.contains('0') && !left, width: number(width)?, precision };
    (verb != '%' || plain).then(|| (directive, &rest[1..]))
}

/// A value under a verb, before padding; none where that is not supported.
fn formatted<'a>(machine: &mut Machine<'a>, directive: &Directive, value: &Value<'a>) -> Result<Option<EcoString>, Failure> {
    let text = |text: String| Ok(Some(EcoString::from(text)));
    let plain = directive.width == 0 && directive.precision.is_none();
    match (directive.verb, value) {
        // Zeros are for numbers, precision for texts and fractions.
        (_, Value::Int(_) | Value::Byte(_)) if directive.precision.is_some() => Ok(None),
        ('v' | 's' | 'q', Value::Str(content)) if !directive.zero => {
            let cut = directive.precision.map_or(content.as_str(), |count| content.char_indices().nth(count).map_or(content, |(end, _)| &content[..end]));
            text(if directive.verb == 'q' { go_quote(cut) } else { cut.into() })
        }
        ('x', Value::Str(content)) if plain => {
            machine.charge(content.len())?;
            text(content.bytes().flat_map(|byte| [hexadecimal(byte >> 4), hexadecimal(byte & 15)]).collect())
        }
        ('v' | 'd', Value::Int(_) | Value::Byte(_)) | ('v' | 't', Value::Bool(_)) | ('v', Value::Float(_)) if directive.precision.is_none() => {
            Ok(Some(value.print()?))
        }
        ('x', Value::Int(number)) => text(format!("{}{:x}", if *number < 0 { "-" } else { "" }, number.unsigned_abs())),
        ('x', Value::Byte(number)) => text(format!("{number:x}")),
        ('f', Value::Float(number)) => text(format!("{number:.*}", directive.precision.unwrap_or(6))),
        ('v', Value::Absent | Value::Map(_) | Value::Nothing(_) | Value::Imaginary(_)) | ('s', Value::Map(_) | Value::Nothing(_)) if plain => {
            Ok(Some(machine.print(value)?))
        }
        (verb, Value::Absent) if plain => text(format!("%!{verb}(<nil>)")),
        ('d' | 't' | 'f', Value::Str(_)) | ('s' | 't' | 'f', Value::Int(_) | Value::Byte(_)) | ('s' | 'd' | 'q' | 'x' | 'f', Value::Bool(_)) if plain => {
            text(format!("%!{}({}={})", directive.verb, value.type_name(), machine.print(value)?))
        }
        _ => Ok(None),
    }
}

/// A digit below 16.
fn hexadecimal(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0')
}

/// HTML escapes; `plus`: also of `+`, as `html/template` does and the function `html` does not.
pub(super) fn escape_html(text: &str, plus: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push('\u{fffd}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '+' if plus => out.push_str("&#43;"),
            c => out.push(c),
        }
    }
    out
}

fn escape_js(text: &str) -> String {
    let unicode = |c: char| format!("\\u{:04X}", u32::from(c));
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '\'' | '"' => out.extend(['\\', c]),
            '<' | '>' | '&' | '=' | '\0'..='\u{1f}' => out.push_str(&unicode(c)),
            c if c.is_ascii() || quote::is_printable(c) => out.push(c),
            c => out.push_str(&unicode(c)),
        }
    }
    out
}

fn escape_query(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            byte => out.extend(['%', hexadecimal(byte >> 4).to_ascii_uppercase(), hexadecimal(byte & 15).to_ascii_uppercase()]),
        }
    }
    out
}
