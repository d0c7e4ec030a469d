//! The next action for a finding: what was probably meant, and the repair that is mechanical and
//! safe.

use super::overlay;
use super::types::{Field, Object, Type};
use crate::diag::{Replacement, nearest};
use crate::yaml::{Node, Value};

/// As many names a help lists.
const MANY: usize = 12;

/// The help for an unknown field.
pub(super) fn unknown_field(name: &str, parent: &Node, object: &Object) -> Option<String> {
    // A name that the documents once had: the nearest field would be a wrong guess.
    if let Some(hint) = overlay::hint(name) {
        return Some(hint.to_owned());
    }
    // The very name one level lower is no guess; only a slip of the pen is nearer.
    let place = || below(name, parent, object);
    if let Some(place) = slip(name, parent, object).is_none().then(place).flatten() {
        return Some(format!("`{name}` is a field of `{place}`"));
    }
    if slip(name, parent, object).is_none()
        && let Some(inner) = wrapped(name, parent, object)
    {
        let inner: Vec<String> = inner.iter().map(|field| format!("`{field}`")).collect();
        return Some(format!("leave `{name}` out, and write {} in its place", inner.join(", ")));
    }
    let fields = || object.fields.iter().map(|field| field.name);
    if let Some(near) = nearest(name, fields()) {
        // A field that is there already was hardly meant; but better that than nothing. A mapping may
        // have thousands of unknown fields: it is searched only where there is one to offer.
        let is_free = |field: &&str| !parent.as_map().is_some_and(|map| map.contains_key(field));
        let near = if is_free(&near) { None } else { nearest(name, fields().filter(is_free)) }
            .unwrap_or(near);
        return Some(format!("did you mean `{near}`?"));
    }
    let names: Vec<String> =
        object.fields.iter().map(|field| format!("`{}`", field.name)).collect();
    match names.len() {
        0 => Some("delete the key: nothing is known here".into()),
        1..=MANY => Some(format!("the fields are {}", names.join(", "))),
        _ => None,
    }
}

/// The fields below an unknown one that are all fields of the mapping around it: a release has put
/// them there, or they were never lower.
fn wrapped<'n>(name: &str, parent: &'n Node, object: &Object) -> Option<Vec<&'n str>> {
    let inner = parent.get(name)?.as_map().filter(|inner| !inner.is_empty())?;
    let is_field = |key: &str| object.fields.iter().any(|field| field.name == key);
    let is_free = |key: &str| parent.get(key).is_none();
    let keys = inner.iter().map(|entry| entry.key.as_str());
    keys.map(|key| (is_field(key) && is_free(key)).then_some(key)).collect()
}

/// Where a field that is one level too high most often belongs.
const USUAL: &[&str] = &["engine", "engineConfig", "predictor"];

/// The field that a slip of the pen means: the same letters but for case and dashes, or one letter
/// off in a word long enough; it is not there yet, and there is no other such field.
pub(super) fn slip<'o>(name: &str, parent: &Node, object: &'o Object) -> Option<&'o Field> {
    let letters = |name: &str| {
        name.chars()
            .filter(|c| !matches!(c, '-' | '_'))
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let wanted = letters(name);
    let close = |field: &&'o Field| {
        let letters_of_field = letters(field.name);
        // In short words one letter makes another word: `port` and `post`. The difference of
        // lengths is a cheap bound before the distance is computed.
        let is_near =
            letters_of_field.len() > 4 && letters_of_field.len().abs_diff(wanted.len()) <= 4;
        letters_of_field == wanted
            || (is_near && strsim::damerau_levenshtein(&letters_of_field, &wanted) == 1)
    };
    let mut meant = object.fields.iter().filter(close);
    let first = meant.next()?;
    // With two candidates an automatic repair could pick the wrong one.
    (meant.next().is_none() && parent.get(first.name).is_none()).then_some(first)
}

/// A child that has the field: one that is present, else the usual one.
fn below(name: &str, parent: &Node, object: &Object) -> Option<&'static str> {
    let has = |field: &&Field| {
        matches!(field.ty, Type::Object(_))
            && field
                .ty
                .object()
                .is_some_and(|object| object.fields.iter().any(|field| field.name == name))
    };
    let mut children = object.fields.iter().filter(has);
    // The author has begun this child already.
    let present = children.clone().find(|field| parent.get(field.name).is_some());
    let usual = children.clone().find(|field| USUAL.contains(&field.name));
    present.or(usual).or_else(|| children.next()).map(|field| field.name)
}

/// The help for a missing field.
pub(super) fn absent_field(field: &Field) -> String {
    match &field.ty {
        Type::Str(Some(rules)) if !rules.choices.is_empty() && rules.choices.len() <= MANY => {
            format!("add `{}`: {}", field.name, list(&rules.choices))
        }
        _ => format!("add `{}`", field.name),
    }
}

/// The help for a value outside of an enum.
pub fn choices(value: &str, words: &[&str]) -> String {
    match nearest(value, words.iter().copied().filter(|word| !word.is_empty())) {
        // A short list shows what was meant by itself.
        Some(near) if words.len() > 4 => {
            format!("did you mean `{near}`? Accepted are {}", list(words))
        }
        _ => format!("write {}", list(words)),
    }
}

fn list(words: &[&str]) -> String {
    // An empty text means the default, as if the field was left out.
    let words = words.iter().map(|word| word.trim_matches('"')).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// The help for an invalid quantity.
pub(super) fn quantity(text: &str) -> String {
    let number: String = text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    let digits = number.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(number.len());
    let (number, unit) = number.split_at(digits);
    let unit = unit.to_ascii_lowercase();
    // `Bytes`, `GiBytes` and `GB` all end as their letters.
    let unit = unit.trim_end_matches("ytes").trim_end_matches("yte");
    let letter = unit.chars().next().map(|c| if c == 'k' { 'K' } else { c.to_ascii_uppercase() });
    if number.is_empty() || number == "." {
        return "write a number with an optional unit, such as `8Gi` or `500m`".into();
    }
    match (letter, unit) {
        (Some(letter @ ('K' | 'M' | 'G' | 'T' | 'P' | 'E')), unit) if unit.len() <= 3 => {
            let decimal = if letter == 'K' { 'k' } else { letter };
            format!(
                "write `{number}{letter}i` (powers of 1024) or `{number}{decimal}` (powers of 1000)"
            )
        }
        (None | Some('B'), _) => format!("write `{number}`"),
        _ => "write a number with an optional unit, such as `8Gi` or `500m`".into(),
    }
}

/// Whether a plain scalar is read as the number or truth value that its letters are.
fn reads_as_written(node: &Node, text: &str) -> bool {
    match &node.value {
        Value::Bool(value) => text == value.to_string(),
        Value::Int(_) | Value::Big(_) | Value::Float(_) => {
            let octal = text.trim_start_matches(['+', '-']);
            // YAML 1.1 reads a leading zero as octal: `017` is 15.
            let is_octal =
                octal.len() > 1 && octal.starts_with('0') && !octal.contains(['.', 'e', 'E']);
            !is_octal && text.parse::<f64>().is_ok()
        }
        _ => false,
    }
}

/// The help for a value of another type, and its edits. `written`: a scalar as it is in the text.
pub(super) fn mistyped(
    node: &Node,
    ty: &Type,
    written: Option<&str>,
) -> (Option<String>, Vec<Replacement>) {
    let span = node.origin.span();
    let replace = |text: &str| {
        span.map(|span| Replacement { span, insert: text.to_owned() })
            .into_iter()
            .collect::<Vec<_>>()
    };
    match (ty, &node.value) {
        (
            Type::Str(_) | Type::Time | Type::Bytes,
            Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_),
        ) => {
            // A value that is not a text is a plain scalar, so quotes do not change it, unless it is
            // read as something else than its letters: `017` is 15, `on` is true.
            let quoted = format!("\"{}\"", written.unwrap_or_default());
            let is_itself = written.is_some_and(|text| reads_as_written(node, text));
            (
                Some(format!("put it in quotes: `{quoted}`")),
                if is_itself { replace(&quoted) } else { Vec::new() },
            )
        }
        (Type::Bool, Value::Str(text)) => match text.as_str() {
            "true" | "false" => (Some(format!("write `{text}` without quotes")), replace(text)),
            _ => (Some("write `true` or `false`".into()), Vec::new()),
        },
        (Type::Bool, _) => (Some("write `true` or `false`".into()), Vec::new()),
        (Type::Int(_) | Type::Int32(_) | Type::Number(_), Value::Str(text)) => {
            match text.parse::<i64>() {
                // Only a number that is spelled as YAML prints it stays the same without its
                // quotes.
                Ok(number) if number.to_string() == text.as_str() => {
                    (Some(format!("write `{number}` without quotes")), replace(&number.to_string()))
                }
                // Without quotes, a leading zero makes it octal.
                Ok(number) => match i64::from_str_radix(text, 8) {
                    Ok(octal) if text.starts_with('0') => (
                        Some(format!(
                            "write `{text}` without quotes for octal ({octal}), or `{number}`"
                        )),
                        Vec::new(),
                    ),
                    _ => (Some(format!("write `{number}` without quotes")), Vec::new()),
                },
                Err(_) => (Some("write a number".into()), Vec::new()),
            }
        }
        (Type::Int(_) | Type::Int32(_) | Type::IntOrString(_), Value::Float(_)) => {
            (Some("write a whole number".into()), Vec::new())
        }
        (Type::Quantity, Value::Bool(_)) => {
            (Some("write a quantity such as `8Gi` or `500m`".into()), Vec::new())
        }
        (Type::List(item), Value::Map(_)) if matches!(item.ty, Type::Object(_)) => {
            (Some("begin each element with `- `".into()), Vec::new())
        }
        (Type::List(_), _) => match written {
            Some(text) => (Some(format!("write a list: `[{text}]`")), Vec::new()),
            None => (Some("write a list".into()), Vec::new()),
        },
        // A reference that was written as its name alone.
        (Type::Object(definition), Value::Str(text))
            if definition.documented().fields.iter().any(|field| field.name == "name") =>
        {
            (Some(format!("write `name: {text}` on a line of its own below it")), Vec::new())
        }
        _ => (None, Vec::new()),
    }
}
