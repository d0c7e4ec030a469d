//! The syntax tree of a Go template, and its parts as Go's messages print them.

use super::quote::Number;
use crate::quantity::go_quote;
use ecow::EcoString;
use std::collections::BTreeMap;
use std::fmt;

/// A parsed text: its root and the templates that it defines.
#[derive(Debug)]
pub(super) struct Program {
    /// Its name in messages.
    pub(super) name: &'static str,
    pub(super) text: EcoString,
    pub(super) root: List,
    pub(super) templates: BTreeMap<String, List>,
    /// The first action that defines a template.
    pub(super) definition: Option<usize>,
}

impl Program {
    /// Returns a template by name; the root has the program's name.
    pub(super) fn template(&self, name: &str) -> Option<&List> {
        if name == self.name { Some(&self.root) } else { self.templates.get(name) }
    }
}

/// The body of a template.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    pub(super) pos: usize,
    pub(super) items: Vec<Item>,
}

impl List {
    /// Reports whether the body contains only white space.
    pub(super) fn is_empty(&self) -> bool {
        self.items
            .iter()
            .all(|item| matches!(item, Item::Text { text, .. } if text.trim().is_empty()))
    }
}

/// One piece of a template.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Text { pos: usize, text: EcoString },
    Action { pos: usize, pipe: Pipe },
    Branch { keyword: Keyword, pipe: Pipe, body: Vec<Item>, otherwise: Option<Vec<Item>> },
    Template { pos: usize, name: String, pipe: Option<Pipe> },
    Break { pos: usize },
    Continue { pos: usize },
}

/// The keyword of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    If,
    With,
    Range,
}

impl Keyword {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::With => "with",
            Self::Range => "range",
        }
    }
}

/// Commands joined by `|`, with the variables that they set.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    pub(super) pos: usize,
    /// True for `=`, false for `:=`.
    pub(super) assigns: bool,
    pub(super) variables: Vec<EcoString>,
    pub(super) commands: Vec<Command>,
}

/// A function or a value, with arguments; never empty.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) pos: usize,
    pub(super) first: Operand,
    pub(super) arguments: Vec<Operand>,
}

/// One operand of a command.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) pos: usize,
    pub(super) kind: OperandKind,
}

/// The kind of an operand.
#[derive(Clone, Debug)]
pub(super) enum OperandKind {
    Dot,
    Nil,
    Bool(bool),
    Number {
        text: EcoString,
        value: Number,
    },
    Str {
        literal: EcoString,
        value: String,
    },
    /// `.A.B`, without dots.
    Field(Vec<EcoString>),
    /// `$a.B`: the variable with its dollar sign, then the fields.
    Variable(Vec<EcoString>),
    Function(EcoString),
    Pipe(Box<Pipe>),
    /// A value in parentheses or the result of a function, and its fields.
    Chain(Box<Operand>, Vec<EcoString>),
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            write!(f, "{} {} ", self.variables.join(", "), if self.assigns { "=" } else { ":=" })?;
        }
        for (position, command) in self.commands.iter().enumerate() {
            write!(f, "{}{command}", if position > 0 { " | " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt_nested(f)?;
        for argument in &self.arguments {
            f.write_str(" ")?;
            argument.fmt_nested(f)?;
        }
        Ok(())
    }
}

impl Operand {
    /// Formats it as inside a command or a chain, where a pipeline keeps its parentheses.
    fn fmt_nested(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            OperandKind::Pipe(pipe) => write!(f, "({pipe})"),
            _ => write!(f, "{self}"),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            OperandKind::Dot => f.write_str("."),
            OperandKind::Nil => f.write_str("nil"),
            OperandKind::Bool(value) => write!(f, "{value}"),
            OperandKind::Number { text, .. } => f.write_str(text),
            OperandKind::Str { literal, .. } => f.write_str(literal),
            OperandKind::Field(names) => names.iter().try_for_each(|name| write!(f, ".{name}")),
            OperandKind::Variable(names) => f.write_str(&names.join(".")),
            OperandKind::Function(name) => f.write_str(name),
            OperandKind::Pipe(pipe) => write!(f, "{pipe}"),
            OperandKind::Chain(operand, names) => {
                // A chain on a pipeline reads as `(…).Field`.
                operand.fmt_nested(f)?;
                names.iter().try_for_each(|name| write!(f, ".{name}"))
            }
        }
    }
}

/// A place in a program, with its text in Go's messages.
#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    Pipe(&'a Pipe),
    Command(&'a Command),
    Operand(&'a Operand),
    Template { pos: usize, name: &'a str, pipe: Option<&'a Pipe> },
}

impl At<'_> {
    pub(super) fn pos(self) -> usize {
        match self {
            Self::Pipe(pipe) => pipe.pos,
            Self::Command(command) => command.pos,
            Self::Operand(operand) => operand.pos,
            Self::Template { pos, .. } => pos,
        }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipe(pipe) => write!(f, "{pipe}"),
            Self::Command(command) => write!(f, "{command}"),
            Self::Operand(operand) => write!(f, "{operand}"),
            Self::Template { name, pipe, .. } => {
                write!(f, "{{{{template {}", go_quote(name))?;
                if let Some(pipe) = pipe {
                    write!(f, " {pipe}")?;
                }
                f.write_str("}}")
            }
        }
    }
}
