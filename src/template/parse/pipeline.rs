//! Parses pipelines, commands and operands.

use super::{FUNCTIONS, Outcome};
use crate::quantity::go_quote;
use crate::template::ast::{Command, Operand, OperandKind, Pipe};
use crate::template::error::{Failure, Kind as FailureKind};
use crate::template::lex::Kind;
use crate::template::quote;
use ecow::EcoString;
use std::borrow::Cow;

impl super::Parser<'_> {
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Outcome<Pipe> {
        self.skip_spaces();
        let mut pipe = Pipe {
            pos: self.peek().pos,
            assigns: false,
            variables: Vec::new(),
            commands: Vec::new(),
        };
        while self.peek_non_space() == Kind::Variable {
            let start = self.next;
            let variable = self.next();
            let Cow::Borrowed(name) = variable.text else { break };
            self.skip_spaces();
            let separator = self.peek().clone();
            let comma = separator.kind == Kind::Char && separator.text == ",";
            if !comma && !matches!(separator.kind, Kind::Assign | Kind::Declare) {
                self.next = start;
                break;
            }
            self.next += 1;
            pipe.assigns = separator.kind == Kind::Assign;
            pipe.variables.push(name.into());
            // Declared before its value is parsed, as in Go: `{{$x := $x}}` is no undefined
            // variable.
            self.variables.push(name);
            if !comma {
                break;
            }
            if context != "range" || pipe.variables.len() > 1 {
                return Err(self.error(format!("too many declarations in {context}")));
            }
            if !matches!(
                self.peek_non_space(),
                Kind::Variable | Kind::RightDelimiter | Kind::RightParen
            ) {
                return Err(self.error("range can only initialize variables"));
            }
        }
        loop {
            self.skip_spaces();
            let kind = self.peek_kind();
            match kind {
                kind if kind == end => {
                    self.next += 1;
                    break;
                }
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::Raw
                | Kind::Quoted
                | Kind::Variable
                | Kind::LeftParen => pipe.commands.push(self.command()?),
                _ => {
                    let token = self.next();
                    return Err(self.unexpected(&token, context));
                }
            }
        }
        if pipe.commands.is_empty() {
            return Err(self.error(format!("missing value for {context}")));
        }
        let constant = |command: &Command| {
            matches!(
                command.first.kind,
                OperandKind::Bool(_)
                    | OperandKind::Dot
                    | OperandKind::Nil
                    | OperandKind::Number { .. }
                    | OperandKind::Str { .. }
            )
        };
        // A value cannot take the result of the stage before it.
        if let Some(stage) = pipe.commands.iter().skip(1).position(constant) {
            return Err(
                self.error(format!("non executable command in pipeline stage {}", stage + 2))
            );
        }
        Ok(pipe)
    }

    pub(super) fn command(&mut self) -> Outcome<Command> {
        let pos = self.peek().pos;
        let mut words = Vec::new();
        loop {
            self.skip_spaces();
            words.extend(self.operand()?);
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                // The pipeline around looks at the end again.
                Kind::RightDelimiter | Kind::RightParen => self.next -= 1,
                Kind::Pipe => {}
                _ => return Err(self.unexpected(&token, "operand")),
            }
            break;
        }
        let mut words = words.into_iter();
        let first = words.next().ok_or_else(|| self.error("empty command"))?;
        Ok(Command { pos, first, arguments: words.collect() })
    }

    pub(super) fn operand(&mut self) -> Outcome<Option<Operand>> {
        let Some(mut operand) = self.term()? else { return Ok(None) };
        // A space before the dot makes the field an operand of its own.
        if self.peek_kind() != Kind::Field {
            return Ok(Some(operand));
        }
        let pos = self.peek().pos;
        let mut names = Vec::new();
        while self.peek_kind() == Kind::Field {
            if let Cow::Borrowed(text) = self.next().text {
                names.push(EcoString::from(&text[1..]));
            }
        }
        operand = match operand.kind {
            OperandKind::Field(mut all) => {
                all.extend(names);
                Operand { pos, kind: OperandKind::Field(all) }
            }
            OperandKind::Variable(mut all) => {
                all.extend(names);
                Operand { pos, kind: OperandKind::Variable(all) }
            }
            OperandKind::Pipe(_) | OperandKind::Function(_) | OperandKind::Chain(..) => {
                Operand { pos, kind: OperandKind::Chain(Box::new(operand), names) }
            }
            _ => {
                return Err(self
                    .error(format!("unexpected . after term {}", go_quote(&operand.to_string()))));
            }
        };
        Ok(Some(operand))
    }

    /// Reads an operand; `None` when there is none here.
    pub(super) fn term(&mut self) -> Outcome<Option<Operand>> {
        self.skip_spaces();
        let token = self.next();
        let Cow::Borrowed(text) = token.text else {
            self.next -= 1;
            return Ok(None);
        };
        let kind =
            match token.kind {
                Kind::Identifier if FUNCTIONS.contains(&text) || self.functions.contains(&text) => {
                    OperandKind::Function(text.into())
                }
                Kind::Identifier => {
                    return Err(self.error(format!("function {} not defined", go_quote(text))));
                }
                Kind::Dot => OperandKind::Dot,
                Kind::Nil => OperandKind::Nil,
                Kind::Bool => OperandKind::Bool(text == "true"),
                Kind::Variable if self.variables.contains(&text) => {
                    OperandKind::Variable(vec![text.into()])
                }
                Kind::Variable => {
                    return Err(self.error(format!("undefined variable {}", go_quote(text))));
                }
                Kind::Field => OperandKind::Field(vec![text[1..].into()]),
                Kind::CharConstant | Kind::Complex | Kind::Number => {
                    OperandKind::Number { text: text.into(), value: self.number(token.kind, text)? }
                }
                Kind::LeftParen => OperandKind::Pipe(Box::new(self.nested(|parser| {
                    parser.pipeline("parenthesized pipeline", Kind::RightParen)
                })?)),
                Kind::Quoted | Kind::Raw => {
                    OperandKind::Str { literal: text.into(), value: self.literal(text)? }
                }
                _ => {
                    self.next -= 1;
                    return Ok(None);
                }
            };
        Ok(Some(Operand { pos: token.pos, kind }))
    }

    pub(super) fn number(&self, kind: Kind, text: &str) -> Outcome<quote::Number> {
        match kind {
            Kind::CharConstant => quote::character(text)
                .map(quote::Number::Int)
                .map_err(|failure| self.place(failure)),
            Kind::Complex => Err(self.place(Failure::new(
                FailureKind::Unsupported,
                format!("the complex number {text} is not supported"),
            ))),
            _ => quote::number(text).map_err(|failure| self.place(failure)),
        }
    }
}
