//! Variables as the documents define them: only field chains of the service's metadata (OME docs,
//! Serving Runtime, Multi-Node Configuration).
//!
//! In: one string. Out: the string with every variable replaced by its value without escapes, or an
//! error for each invalid variable. Spaces, trim markers and comments work as in Go.

use super::ast::{Command, Item, Operand, OperandKind, Pipe, Program};
use super::error::{Error, Failure, Kind, action_at};
use super::exec::Ran;
use super::parse::parse;
use super::value::{Metadata, Root, Value, is_metadata_field};
use ecow::EcoString;

/// Expands the variables of a string; `None` when it has none, so the string does not change.
///
/// # Errors
/// All errors: unknown variables, missing labels, actions that are not variables.
pub fn expand_documented(
    text: &str,
    metadata: &Metadata<'_>,
) -> Result<Option<String>, Vec<Error>> {
    expand_text(text, metadata, &mut |_| {})
}

/// As [`expand_documented`]; each variable is passed to `each` with its value.
pub(super) fn expand_text(
    text: &str,
    metadata: &Metadata<'_>,
    each: &mut dyn FnMut(Ran<'_>),
) -> Result<Option<String>, Vec<Error>> {
    if !text.contains("{{") {
        return Ok(None);
    }
    let mut out = String::with_capacity(text.len());
    let mut errors = Vec::new();
    // Parsed as Go parses, so that trim markers and comments have their meaning.
    for item in &parsed(text)?.root.items {
        if let Item::Text { text, .. } = item {
            out.push_str(text);
            continue;
        }
        let found = variable(text, item)
            .and_then(|(pos, names)| Ok((pos, value(text, pos, &names, metadata)?)));
        match found {
            Ok((pos, value)) => {
                let braced = |c: char| matches!(c, '{' | '}' | '-') || c.is_whitespace();
                let action = action_at(text, pos).trim_matches(braced);
                each(Ran { pos, action, printed: &value, of_root: true });
                out.push_str(&value);
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(Some(out)) } else { Err(errors) }
}

/// Checks the variables of a string without the service; assumes that every label and annotation
/// exists.
pub fn check_documented(text: &str) -> Vec<Error> {
    if !text.contains("{{") {
        return Vec::new();
    }
    let program = match parsed(text) {
        Ok(program) => program,
        Err(errors) => return errors,
    };
    let check = |item| {
        let (pos, names) = variable(text, item)?;
        check_chain(text, pos, &names)
    };
    program
        .root
        .items
        .iter()
        .filter(|item| !matches!(item, Item::Text { .. }))
        .filter_map(|item| check(item).err())
        .collect()
}

/// Returns the variables of a string as written, such as `{{.Name}}`, known or not, for strings in
/// which variables are not replaced.
pub fn variables(text: &str) -> Vec<&str> {
    if !text.contains("{{") {
        return Vec::new();
    }
    let Ok(program) = parsed(text) else { return Vec::new() };
    let chains = program.root.items.iter().filter(|item| !matches!(item, Item::Text { .. }));
    chains.filter_map(|item| Some(action_at(text, variable(text, item).ok()?.0))).collect()
}

fn parsed(text: &str) -> Result<Program, Vec<Error>> {
    let program = parse("container-tmpl", text).map_err(|failure| {
        // Go's message starts with the template's name and a line, which are not useful here.
        let reason = failure.message.splitn(3, ": ").nth(2).unwrap_or(&failure.message).to_owned();
        let action = action_at(text, failure.offset);
        let message = if action.is_empty() {
            format!("the template cannot be read: {reason}")
        } else {
            format!("`{action}` cannot be read: {reason}")
        };
        vec![Failure { message, ..failure }.into_error(text)]
    })?;
    match program.definition {
        Some(pos) => Err(vec![more_than_a_field(text, pos)]),
        None => Ok(program),
    }
}

fn more_than_a_field(text: &str, pos: usize) -> Error {
    error(text, Kind::Unsupported, pos, |action| {
        format!("`{action}` is more than a field of the service's metadata")
    })
}

fn error(text: &str, kind: Kind, pos: usize, explain: impl FnOnce(&str) -> String) -> Error {
    Failure { kind, message: explain(action_at(text, pos)), offset: pos }.into_error(text)
}

/// Returns the place and the names of an action that is a single field chain.
fn variable<'p>(text: &str, item: &'p Item) -> Result<(usize, Vec<&'p str>), Error> {
    let pos = match item {
        Item::Action { pos, pipe: Pipe { variables, commands, .. } } if variables.is_empty() => {
            match commands.as_slice() {
                [
                    Command {
                        first: Operand { kind: OperandKind::Field(names), .. },
                        arguments,
                        ..
                    },
                ] if arguments.is_empty() => {
                    return Ok((*pos, names.iter().map(EcoString::as_str).collect()));
                }
                _ => *pos,
            }
        }
        Item::Branch { pipe, .. } => pipe.pos,
        Item::Text { pos, .. }
        | Item::Action { pos, .. }
        | Item::Template { pos, .. }
        | Item::Break { pos }
        | Item::Continue { pos } => *pos,
    };
    Err(more_than_a_field(text, pos))
}

/// Checks that a chain refers to a text of the metadata.
fn check_chain(text: &str, pos: usize, names: &[&str]) -> Result<(), Error> {
    match names {
        ["Name" | "Namespace" | "GenerateName"] | ["Labels" | "Annotations", _] => Ok(()),
        [all @ ("Labels" | "Annotations")] => Err(error(text, Kind::Unsupported, pos, |action| {
            format!("`{action}` names all {}, not one", all.to_lowercase())
        })),
        [name] if is_metadata_field(name) => {
            Err(error(text, Kind::UnknownAtPlanTime, pos, |action| {
                format!(
                    "`{action}`: `{name}` is set by the cluster and unknown before the object is there"
                )
            }))
        }
        _ => Err(error(text, Kind::UnknownVariable, pos, |action| {
            format!("`{action}` maps to no field of the service's metadata")
        })),
    }
}

fn value(
    text: &str,
    pos: usize,
    names: &[&str],
    metadata: &Metadata<'_>,
) -> Result<EcoString, Error> {
    // The parser makes no chain without a name.
    let field = Root::Metadata(metadata).field(names[0]);
    match (names, field) {
        ([_, key], Some(Ok(Value::Map(pairs)))) => {
            pairs.get(key).map(|value| (*value).into()).ok_or_else(|| {
                error(text, Kind::MissingKey, pos, |action| {
                    let kind = if names[0] == "Labels" { "label" } else { "annotation" };
                    format!("`{action}`: the service has no {kind} `{key}`")
                })
            })
        }
        // A value that the object sets, or that is certain.
        ([_], Some(Ok(value))) if !matches!(value, Value::Map(_)) => {
            value.print().map_err(|failure| failure.into_error(text))
        }
        _ => {
            Err(check_chain(text, pos, names).err().unwrap_or_else(|| more_than_a_field(text, pos)))
        }
    }
}
