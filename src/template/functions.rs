//! The built-in functions of Go templates.
//!
//! In: values. Out: a value, or Go's error message. Rules and messages follow Go's
//! `text/template/funcs.go`; [`mod@format`] is `printf`.

use super::ast::{Operand, OperandKind};
use super::error::Failure;
use super::exec::Machine;
use super::format;
use super::html;
use super::quote;
use super::value::{Root, Value};
use ecow::EcoString;
use std::cmp::Ordering;
use std::slice::from_ref;

/// Why a function returned no value.
pub(super) enum Refusal {
    /// Go's function returned this error.
    Go(String),
    /// Another failure, already complete.
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

/// Returns the minimum number of arguments, and the maximum if there is one.
pub(super) fn arity(name: &str) -> (usize, Option<usize>) {
    match name {
        "len" | "not" => (1, Some(1)),
        "ne" | "lt" | "le" | "gt" | "ge" => (2, Some(2)),
        "and" | "or" | "call" | "eq" | "index" | "slice" | "printf" => (1, None),
        _ => (0, None),
    }
}

/// Calls a function other than `and`, `or` and `call`; the number of arguments is right.
pub(super) fn call<'a>(machine: &mut Machine<'a>, name: &str, values: &[Value<'a>]) -> Outcome<'a> {
    // Functions of the program hide built-in ones of the same name, as in Go.
    if let Some(functions) = machine.functions.filter(|functions| functions.arity(name).is_some()) {
        return functions.call(name, values).map_err(Refusal::Failure);
    }
    let text = match name {
        "not" => return Ok(Value::Bool(!values[0].is_true())),
        "len" => return length(&values[0]),
        "index" => return index(&values[0], &values[1..]),
        "slice" => return slice(machine, &values[0], &values[1..]),
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" => return comparison(machine, name, values),
        // `html/template` evaluates the arguments of an escaping function separately if it escapes
        // the result again.
        "print" | "_eval_args_" => sprint(machine, values, "<nil>")?,
        "println" => {
            let words =
                values.iter().map(|value| machine.print(value)).collect::<Result<Vec<_>, _>>()?;
            format!("{}\n", words.join(" "))
        }
        "printf" => match values {
            [Value::Str(text), values @ ..] => format::sprintf(machine, text, values)?,
            _ => return Err(machine.failure("invalid value; expected string").into()),
        },
        "html" => escape_html(&sprint(machine, values, "<no value>")?),
        "js" => escape_js(&sprint(machine, values, "<no value>")?),
        "urlquery" => escape_query(&sprint(machine, values, "<no value>")?),
        html::ESCAPER => {
            // The escaper prints an absent value as nothing.
            let value = values.iter().find(|value| !matches!(value, Value::Absent));
            let printed = value.map_or(Ok(EcoString::new()), |value| machine.print(value))?;
            html::escaped(&printed)
        }
        _ => {
            return Err(machine
                .unsupported(format!("the function `{name}` is not supported"))
                .into());
        }
    };
    machine.charge(text.len())?;
    Ok(Value::Str(text.into()))
}

/// Returns the error for calling a value; no value in a template is a function.
pub(super) fn not_callable(value: &Value<'_>, callee: &str) -> String {
    match value {
        Value::Absent => "call of nil".into(),
        _ => format!("non-function {callee} of type {}", value.type_name()),
    }
}

/// Does the same as `fmt.Sprint`: adds a space between two operands if neither is a text.
fn sprint<'a>(
    machine: &mut Machine<'a>,
    values: &[Value<'a>],
    absent: &str,
) -> Result<String, Failure> {
    let mut out = String::new();
    // No space in front of the first operand.
    let mut after_text = true;
    for value in values {
        let is_text =
            matches!(value, Value::Str(_)) || (matches!(value, Value::Absent) && absent != "<nil>");
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
        // Go follows pointers before it takes a length.
        Value::Pointer(value) => return length(value),
        Value::Str(text) => text.len(),
        Value::Map(pairs) => pairs.len(),
        Value::List(_, items) => items.len(),
        Value::Nil(_) => return go("len of nil pointer"),
        Value::Absent => return go("reflect: call of reflect.Value.Type on zero Value"),
        _ => return go(format!("len of type {}", value.type_name())),
    };
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

/// Converts an index into a value of this length; the length itself is allowed, as in Go.
fn position(index: &Value<'_>, length: usize) -> Result<usize, Refusal> {
    let Some(number) = index.as_int() else {
        return go(match index {
            Value::Absent => "cannot index slice/array with nil".into(),
            _ => format!("cannot index slice/array with type {}", index.type_name()),
        });
    };
    match usize::try_from(number) {
        // A slice may end at the length; `index` refuses it afterwards with other words.
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
                None => return go("reflect: string index out of range"),
            },
            Value::List(_, items) => match items.get(position(index, items.len())?) {
                Some(item) => item.clone(),
                None => return go("reflect: slice index out of range"),
            },
            Value::Map(pairs) => match index {
                Value::Str(key) => {
                    // `index` gives the zero value for a missing key, where a field chain has no
                    // value.
                    Value::Str(pairs.get(key.as_str()).copied().unwrap_or_default().into())
                }
                Value::Absent => return go("value is nil; should be of type string"),
                _ => return go(format!("value has type {}; should be string", index.type_name())),
            },
            _ => return go(format!("can't index item of type {}", value.type_name())),
        };
    }
    Ok(value)
}

fn slice<'a>(machine: &mut Machine<'a>, value: &Value<'a>, indexes: &[Value<'a>]) -> Outcome<'a> {
    let length = match value {
        Value::Absent => return go("slice of untyped nil"),
        Value::Nil(_) => return go("slice of nil pointer"),
        _ if indexes.len() > 3 => return go(format!("too many slice indexes: {}", indexes.len())),
        Value::Str(_) if indexes.len() == 3 => return go("cannot 3-index slice a string"),
        Value::Str(text) => text.len(),
        Value::List(_, items) => items.len(),
        _ => return go(format!("can't slice item of type {}", value.type_name())),
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = position(index, length)?;
    }
    let [start, end, capacity] = bounds;
    if start > end {
        return go(format!("invalid slice index: {start} > {end}"));
    }
    if indexes.len() == 3 && end > capacity {
        return go(format!("invalid slice index: {end} > {capacity}"));
    }
    // Before the copy: a loop over slices could use up the memory.
    machine.charge(end - start)?;
    match value {
        Value::List(name, items) => Ok(Value::List(name, items[start..end].into())),
        Value::Str(text) => match text.get(start..end) {
            Some(part) => Ok(Value::Str(part.into())),
            None => Err(machine
                .unsupported("a slice that cuts a character in two is not supported")
                .into()),
        },
        _ => Ok(value.clone()),
    }
}

/// Returns the basic kind of a value that can be compared; `None` for others.
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
    // `arity` requires one.
    let (left, others) = values.split_first().expect("a comparison has an argument");
    Ok(Value::Bool(match name {
        "eq" | "ne" => equals(machine, left, others)? == (name == "eq"),
        "lt" => less(left, &others[0])?,
        "ge" => !less(left, &others[0])?,
        "le" => less(left, &others[0])? || equals(machine, left, others)?,
        _ => !(less(left, &others[0])? || equals(machine, left, others)?),
    }))
}

fn equals<'a>(
    machine: &mut Machine<'a>,
    left: &Value<'a>,
    others: &[Value<'a>],
) -> Result<bool, Refusal> {
    if others.is_empty() {
        return go("missing argument for comparison");
    }
    for right in others {
        let equal = match (left, right) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Float(a), Value::Float(b)) | (Value::Imaginary(a), Value::Imaginary(b)) => {
                a.partial_cmp(b) == Some(Ordering::Equal)
            }
            (Value::Absent, Value::Absent) => true,
            // Integers and bytes compare with each other.
            _ => match (left.as_int(), right.as_int()) {
                (Some(a), Some(b)) => a == b,
                _ if basic_kind(left).is_none() && basic_kind(right).is_none() => {
                    same(machine, left, right)?
                }
                // An absent value differs from every value with a basic kind.
                _ if matches!(left, Value::Absent) || matches!(right, Value::Absent) => false,
                _ => {
                    return go(format!(
                        "incompatible types for comparison: {} and {}",
                        left.type_name(),
                        right.type_name()
                    ));
                }
            },
        };
        if equal {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Compares values without a basic kind.
fn same<'a>(
    machine: &mut Machine<'a>,
    left: &Value<'a>,
    right: &Value<'a>,
) -> Result<bool, Refusal> {
    let kind = |value: &Value<'_>| match value {
        Value::Map(_) => 0,
        Value::List(..) => 1,
        Value::Nil(_) => 2,
        _ => 3,
    };
    // An empty mapping or list counts as nil, because the decoder does not create it.
    let is_nil = |value: &Value<'_>| match value {
        Value::Absent | Value::Nil(_) => true,
        Value::Map(pairs) => pairs.is_empty(),
        Value::List(_, items) => items.is_empty(),
        _ => false,
    };
    if !matches!(left, Value::Absent)
        && !matches!(right, Value::Absent)
        && kind(left) != kind(right)
    {
        let (left_type, right_type) = (left.type_name(), right.type_name());
        let (left, right) = (
            format::sprintf(machine, "%s", from_ref(left))?,
            format::sprintf(machine, "%s", from_ref(right))?,
        );
        return go(format!("non-comparable types {left}: {left_type}, {right_type}: {right}"));
    }
    match right {
        _ if is_nil(left) || is_nil(right) => Ok(is_nil(left) == is_nil(right)),
        Value::Time(right) => Ok(matches!(left, Value::Time(left) if left == right)),
        Value::Root(Root::Path { .. }) => Ok(left.type_name() == right.type_name()),
        _ => {
            let printed = format::sprintf(machine, "%s", from_ref(right))?;
            go(format!("non-comparable type {printed}: {}", right.type_name()))
        }
    }
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
            _ => go(format!(
                "incompatible types for comparison: {} and {}",
                left.type_name(),
                right.type_name()
            )),
        },
    }
}

/// Returns Go's error for a `printf` format that is not a text.
pub(super) fn check_format(
    machine: &Machine<'_>,
    argument: &Operand,
    value: &Value<'_>,
) -> Result<(), Failure> {
    match (&argument.kind, value) {
        (_, Value::Str(_)) => Ok(()),
        (OperandKind::Nil, _) => Err(machine.failure("cannot assign nil to string")),
        (OperandKind::Bool(_) | OperandKind::Number { .. }, _) => {
            Err(machine.failure(format!("expected string; found {argument}")))
        }
        _ => check_piped_format(machine, Some(value)),
    }
}

/// Returns Go's error for a piped `printf` format that is not a text.
pub(super) fn check_piped_format(
    machine: &Machine<'_>,
    value: Option<&Value<'_>>,
) -> Result<(), Failure> {
    match value {
        Some(Value::Str(_)) => Ok(()),
        Some(Value::Absent) | None => Err(machine.failure("invalid value; expected string")),
        Some(value) => Err(machine
            .failure(format!("wrong type for value; expected string; got {}", value.type_name()))),
    }
}

/// Formats a number below 16 as a hexadecimal digit.
fn hexadecimal(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0')
}

fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push('\u{fffd}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
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
            // Characters with a meaning in HTML, in which the script may be.
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
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            byte => out.extend([
                '%',
                hexadecimal(byte >> 4).to_ascii_uppercase(),
                hexadecimal(byte & 15).to_ascii_uppercase(),
            ]),
        }
    }
    out
}
