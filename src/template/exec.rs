//! Executes a Go template.
//!
//! In: a [`Program`] and the value it starts with. Out: the text that it prints, or Go's error
//! message. Rules and messages follow Go's `text/template/exec.go`; in [`Flavour::Html`], escapes
//! are added to the program first ([`html`]). Work, depth and output are bounded: beyond the
//! bounds, the result is `Unsupported`, never a wrong text.

mod pipeline;

use super::ast::{At, Item, Keyword, Pipe, Program};
use super::error::line_and_column;
use super::error::{Failure, Kind};
use super::html;
use super::parse::MAX_DEPTH;
use super::value::{Functions, Root, Value};
use crate::quantity::go_quote;
use ecow::EcoString;
use std::ops::Range;

/// Maximum number of bytes and steps of one execution.
const MAX_WORK: usize = 16 << 20;
/// Maximum number of bytes in the output of one execution.
const MAX_OUTPUT: usize = 1 << 20;

/// The Go package whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// `text/template`: values are printed as they are.
    Text,
    /// `html/template`: values are escaped according to their place in the text.
    Html,
}

/// The output of a template.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) text: String,
    /// Sources of the pieces of the output: first byte in the output, first byte in the template.
    /// Ascending.
    marks: Vec<(usize, usize)>,
    /// The actions that were executed.
    actions: Vec<Action>,
}

impl Output {
    /// Returns the place in the template that printed a byte of the output.
    pub(super) fn source_of(&self, offset: usize) -> usize {
        let after = self.marks.partition_point(|(written, _)| *written <= offset);
        self.marks.get(after.saturating_sub(1)).map_or(0, |(_, pos)| *pos)
    }

    /// The actions that were executed, in order, each with its text and what it printed: nothing
    /// where it sets a variable, or chooses a branch.
    pub(super) fn of_actions<'o>(&'o self, template: &'o str) -> impl Iterator<Item = Ran<'o>> {
        self.actions.iter().filter_map(move |ran| {
            Some(Ran {
                pos: ran.pos,
                action: inside(template, ran.pos)?,
                printed: self.text.get(ran.printed.clone())?,
                of_root: ran.of_root,
            })
        })
    }
}

/// An action that was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ran<'o> {
    /// A byte within the action in the template.
    pub(crate) pos: usize,
    /// Its text without the braces.
    pub(crate) action: &'o str,
    /// What it printed.
    pub(crate) printed: &'o str,
    /// Its fields are those of the template's data, as outside of `with` and `range`.
    pub(crate) of_root: bool,
}

/// The same by its places.
#[derive(Debug)]
struct Action {
    pos: usize,
    printed: Range<usize>,
    of_root: bool,
}

/// The action around a byte of a template, without its braces. Braces within quotes do not end it.
fn inside(template: &str, pos: usize) -> Option<&str> {
    let open = template.get(..pos)?.rfind("{{")? + 2;
    let inner = &template[open..];
    // Braces inside of a text do not end the action.
    let mut quote = None;
    let mut bytes = inner.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(b'"'), b'\\') => _ = bytes.next(),
            (Some(open), byte) if open == byte => quote = None,
            (None, b'"' | b'`') => quote = Some(byte),
            (None, b'}') if inner[at..].starts_with("}}") => {
                return Some(inner[..at].trim_matches(|c: char| c == '-' || c.is_whitespace()));
            }
            _ => {}
        }
    }
    None
}

/// Executes a program.
///
/// # Errors
/// Go's error message where Go fails, else `UnknownAtPlanTime` or `Unsupported`.
pub(super) fn execute(
    program: &Program,
    flavour: Flavour,
    root: Root<'_>,
) -> Result<Output, Failure> {
    match flavour {
        Flavour::Text => run(program, root),
        Flavour::Html => run(&html::escape(program)?, root),
    }
}

fn run<'a>(program: &'a Program, root: Root<'a>) -> Result<Output, Failure> {
    start(Machine::new(program), program, root)
}

/// Executes a program with functions of its own and the option `missingkey=error`.
///
/// # Errors
/// As for [`execute`].
pub(super) fn execute_with<'a>(
    program: &'a Program,
    functions: &'a dyn Functions,
    root: Root<'a>,
) -> Result<Output, Failure> {
    let machine = Machine { functions: Some(functions), ..Machine::new(program) };
    start(machine, program, root)
}

fn start<'a>(
    mut machine: Machine<'a>,
    program: &'a Program,
    root: Root<'a>,
) -> Result<Output, Failure> {
    let dot = Value::Root(root);
    // `$` is the template's data, wherever the dot moves.
    machine.variables.push(("$", dot.clone()));
    // The flow at the end is of no use: the parser lets no `break` stand outside of a loop.
    machine.list(&dot, &program.root.items)?;
    Ok(machine.output)
}

/// How the execution of a list ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// The state of one execution.
pub(super) struct Machine<'a> {
    program: &'a Program,
    /// Name of the running template, for messages.
    template: &'a str,
    variables: Vec<(&'a str, Value<'a>)>,
    /// The part of the template that is being evaluated, for messages.
    at: Option<At<'a>>,
    depth: usize,
    work: usize,
    output: Output,
    /// Functions besides the built-in ones; with them a missing key of a map is an error.
    pub(super) functions: Option<&'a dyn Functions>,
}

type Outcome<'a> = Result<Value<'a>, Failure>;

impl<'a> Machine<'a> {
    /// Builds a machine at the start of an execution.
    pub(super) fn new(program: &'a Program) -> Self {
        Machine {
            program,
            template: program.name,
            variables: Vec::new(),
            at: None,
            depth: 0,
            work: 0,
            output: Output { text: String::new(), marks: Vec::new(), actions: Vec::new() },
            functions: None,
        }
    }

    /// Builds a failure in Go's format: place, template and operand.
    pub(super) fn failure(&self, message: impl AsRef<str>) -> Failure {
        let message = message.as_ref();
        let Some(at) = self.at else {
            return Failure::new(
                Kind::Execution,
                format!("template: {}: {message}", self.template),
            );
        };
        let (line, column) = line_and_column(&self.program.text, at.pos());
        let message = format!(
            "template: {}:{line}:{column}: executing {} at <{at}>: {message}",
            self.program.name,
            go_quote(self.template)
        );
        Failure { kind: Kind::Execution, message, offset: at.pos() }
    }

    /// Builds a failure for a feature of Go that is not supported here.
    pub(super) fn unsupported(&self, message: impl Into<String>) -> Failure {
        self.place(Failure::new(Kind::Unsupported, message))
    }

    pub(super) fn place(&self, failure: Failure) -> Failure {
        Failure { offset: self.at.map_or(0, At::pos), ..failure }
    }

    /// Counts work and fails beyond the limit, which bounds the run time of a template.
    pub(super) fn charge(&mut self, amount: usize) -> Result<(), Failure> {
        self.work = self.work.saturating_add(amount).saturating_add(1);
        if self.work > MAX_WORK {
            Err(self.unsupported("a template that does so much work is not supported"))
        } else {
            Ok(())
        }
    }

    /// Prints the value and charges its length.
    pub(super) fn print(&mut self, value: &Value<'a>) -> Result<EcoString, Failure> {
        let text = value.print().map_err(|failure| self.place(failure))?;
        self.charge(text.len())?;
        Ok(text)
    }

    fn write(&mut self, text: &str, pos: usize) -> Result<(), Failure> {
        self.charge(text.len())?;
        if self.output.text.len() + text.len() > MAX_OUTPUT {
            return Err(self.unsupported("a template that writes more than 1 MiB is not supported"));
        }
        // Marks have to ascend strictly, or a place would belong to an action that printed nothing.
        if !text.is_empty() {
            self.output.marks.push((self.output.text.len(), pos));
            self.output.text.push_str(text);
        }
        Ok(())
    }

    /// Runs `run` one level deeper.
    fn nested<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.depth == MAX_DEPTH {
            return Err(self.unsupported(format!(
                "a template nested more than {MAX_DEPTH} deep is not supported"
            )));
        }
        self.depth += 1;
        let outcome = run(self);
        self.depth -= 1;
        outcome
    }

    fn list(&mut self, dot: &Value<'a>, items: &'a [Item]) -> Result<Flow, Failure> {
        for item in items {
            self.charge(0)?;
            match item {
                Item::Text { pos, text } => self.write(text, *pos)?,
                Item::Action { pos, pipe } => self.action(dot, *pos, pipe)?,
                Item::Break { .. } => return Ok(Flow::Break),
                Item::Continue { .. } => return Ok(Flow::Continue),
                Item::Branch { keyword, pipe, body, otherwise } => {
                    // Recorded before the body: the condition is read before what it guards.
                    self.ran(dot, pipe.pos, 0);
                    let outer = self.variables.len();
                    let flow = self.nested(|machine| match keyword {
                        Keyword::Range => machine.range(dot, pipe, body, otherwise.as_deref()),
                        Keyword::If | Keyword::With => {
                            let value = machine.pipeline(dot, pipe)?;
                            if value.is_true() {
                                machine.list(
                                    if *keyword == Keyword::With { &value } else { dot },
                                    body,
                                )
                            } else {
                                machine.list(dot, otherwise.as_deref().unwrap_or_default())
                            }
                        }
                    })?;
                    self.variables.truncate(outer);
                    if flow != Flow::Next {
                        return Ok(flow);
                    }
                }
                Item::Template { pos, name, pipe } => {
                    self.at = Some(At::Template { pos: *pos, name, pipe: pipe.as_ref() });
                    let Some(body) = self.program.template(name) else {
                        return Err(
                            self.failure(format!("template {} not defined", go_quote(name)))
                        );
                    };
                    let dot =
                        pipe.as_ref().map_or(Ok(Value::Absent), |pipe| self.pipeline(dot, pipe))?;
                    let variables =
                        // A called template sees none of the caller's variables.
                        std::mem::replace(&mut self.variables, vec![("$", dot.clone())]);
                    let template = std::mem::replace(&mut self.template, name);
                    self.nested(|machine| machine.list(&dot, &body.items))?;
                    self.variables = variables;
                    self.template = template;
                }
            }
        }
        Ok(Flow::Next)
    }

    fn action(&mut self, dot: &Value<'a>, pos: usize, pipe: &'a Pipe) -> Result<(), Failure> {
        let value = self.pipeline(dot, pipe)?;
        if !pipe.variables.is_empty() {
            self.ran(dot, pos, 0);
            return Ok(());
        }
        // `text/template` prints a missing value with words of its own, other than `fmt` does.
        let text = match &value {
            Value::Absent => "<no value>".into(),
            _ => self.print(&value)?,
        };
        self.write(&text, pos)?;
        self.ran(dot, pos, text.len());
        Ok(())
    }

    /// Records an action that printed the last bytes of the output.
    fn ran(&mut self, dot: &Value<'a>, pos: usize, printed: usize) {
        let end = self.output.text.len();
        let of_root = matches!(dot, Value::Root(_));
        self.output.actions.push(Action { pos, printed: end - printed..end, of_root });
    }

    fn range(
        &mut self,
        dot: &Value<'a>,
        pipe: &'a Pipe,
        body: &'a [Item],
        otherwise: Option<&'a [Item]>,
    ) -> Result<Flow, Failure> {
        let value = self.pipeline(dot, pipe)?;
        let elements: Box<dyn Iterator<Item = (Value<'a>, Value<'a>)> + 'a> = match &value {
            Value::Int(_) | Value::Byte(_) if pipe.variables.len() > 1 => {
                let printed = self.print(&value)?;
                return Err(self.failure(format!(
                    "can't use {printed} to iterate over more than one variable"
                )));
            }
            // A range over a byte counts in bytes.
            Value::Byte(count) => {
                Box::new((0..*count).map(|index| (Value::Absent, Value::Byte(index))))
            }
            Value::Int(count) => {
                Box::new((0..*count).map(|index| (Value::Absent, Value::Int(index))))
            }
            Value::Map(pairs) => Box::new(
                pairs
                    .iter()
                    .map(|(key, value)| (Value::Str((*key).into()), Value::Str((*value).into()))),
            ),
            Value::List(_, items) => {
                // The iterator may not borrow from `value`; the elements are cheap to clone.
                let items: Vec<Value<'a>> = items.to_vec();
                let numbered = |(index, item)| (Value::Int(index), item);
                Box::new((0_i64..).zip(items).map(numbered))
            }
            Value::Absent => Box::new(std::iter::empty()),
            Value::Bool(_)
            | Value::Float(_)
            | Value::Imaginary(_)
            | Value::Str(_)
            | Value::Nil(_)
            | Value::Owner(_)
            | Value::Time(_)
            | Value::Struct(_)
            | Value::Pointer(_)
            | Value::Root(_) => {
                let printed = self.print(&value)?;
                return Err(self.failure(format!("range can't iterate over {printed}")));
            }
        };
        let mark = self.variables.len();
        let mut elements = elements.peekable();
        if elements.peek().is_none() {
            // In the `else` part, `break` leaves this loop and `continue` applies to the enclosing
            // loop.
            let flow = self.list(dot, otherwise.unwrap_or_default())?;
            return Ok(if flow == Flow::Break { Flow::Next } else { flow });
        }
        for (index, element) in elements {
            self.charge(0)?;
            match pipe.variables.as_slice() {
                [] => {}
                [name] => self.set_range_variable(pipe, 1, name, &element)?,
                [first, second, ..] => {
                    self.set_range_variable(pipe, 2, first, &index)?;
                    self.set_range_variable(pipe, 1, second, &element)?;
                }
            }
            let flow = self.list(&element, body)?;
            // Variables of one round are gone in the next.
            self.variables.truncate(mark);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(Flow::Next)
    }

    /// Sets a variable of a range to its next value: an assigned one by name, a declared one by its
    /// position from the top of the stack.
    fn set_range_variable(
        &mut self,
        pipe: &Pipe,
        from_top: usize,
        name: &'a str,
        value: &Value<'a>,
    ) -> Result<(), Failure> {
        if pipe.assigns {
            return self.set_variable(name, value);
        }
        // `pipeline` has pushed them on the stack just before the loop.
        let index = self.variables.len() - from_top;
        self.variables[index].1 = value.clone();
        Ok(())
    }

    fn set_variable(&mut self, name: &str, value: &Value<'a>) -> Result<(), Failure> {
        match self.variables.iter_mut().rev().find(|(variable, _)| *variable == name) {
            Some((_, slot)) => {
                *slot = value.clone();
                Ok(())
            }
            None => Err(self.failure(format!("undefined variable: {name}"))),
        }
    }
}
