//! Evaluates pipelines.

use super::Outcome;
use crate::quantity::go_quote;
use crate::template::ast::{At, Command, Operand, OperandKind, Pipe};
use crate::template::error::{Failure, Kind};
use crate::template::functions;
use crate::template::quote::Number;
use crate::template::value::Value;
use ecow::EcoString;

impl<'a> super::Machine<'a> {
    pub(super) fn pipeline(&mut self, dot: &Value<'a>, pipe: &'a Pipe) -> Outcome<'a> {
        // Go's messages name the part that was evaluated last.
        self.at = Some(At::Pipe(pipe));
        let mut value = None;
        for command in &pipe.commands {
            value = Some(self.command(dot, command, value)?);
        }
        let value = value.unwrap_or(Value::Absent);
        for name in &pipe.variables {
            if pipe.assigns {
                self.set_variable(name, &value)?;
            } else {
                self.variables.push((name, value.clone()));
            }
        }
        Ok(value)
    }

    /// Evaluates a command; `last` is the value that the pipeline passes to it.
    pub(super) fn command(
        &mut self,
        dot: &Value<'a>,
        command: &'a Command,
        last: Option<Value<'a>>,
    ) -> Outcome<'a> {
        self.charge(0)?;
        let first = &command.first;
        let has_arguments = !command.arguments.is_empty() || last.is_some();
        if let OperandKind::Function(name) = &first.kind {
            self.at = Some(At::Operand(first));
            return self.call(name, At::Command(command), &command.arguments, dot, last);
        }
        // They check by themselves whether they may have arguments, with other words than below.
        if let OperandKind::Field(_) | OperandKind::Chain(..) = first.kind {
            return self.operand(dot, first, has_arguments);
        }
        match &first.kind {
            OperandKind::Pipe(_) => {}
            OperandKind::Variable(names) => {
                let value = self.operand(dot, first, has_arguments)?;
                if names.len() > 1 || !has_arguments {
                    return Ok(value);
                }
            }
            _ => self.at = Some(At::Operand(first)),
        }
        if has_arguments {
            // Go prints the operand as written, and a pipeline without its parentheses.
            return Err(self.failure(format!("can't give argument to non-function {first}")));
        }
        if matches!(first.kind, OperandKind::Nil) {
            return Err(self.failure("nil is not a command"));
        }
        self.operand(dot, first, false)
    }

    /// Evaluates an operand; `has_arguments` is true when operands or a piped value follow that
    /// only a function accepts.
    pub(super) fn operand(
        &mut self,
        dot: &Value<'a>,
        operand: &'a Operand,
        has_arguments: bool,
    ) -> Outcome<'a> {
        if !matches!(operand.kind, OperandKind::Pipe(_)) {
            self.at = Some(At::Operand(operand));
        }
        match &operand.kind {
            OperandKind::Dot => Ok(dot.clone()),
            OperandKind::Nil => Ok(Value::Absent),
            OperandKind::Bool(value) => Ok(Value::Bool(*value)),
            OperandKind::Number { text, value } => match value {
                Number::Int(number) => Ok(Value::Int(*number)),
                Number::Float(number) => Ok(Value::Float(*number)),
                Number::Imaginary(number) => Ok(Value::Imaginary(*number)),
                Number::TooLarge => Err(self.failure(format!("{text} overflows int"))),
            },
            OperandKind::Str { value, .. } => Ok(Value::Str(value.as_str().into())),
            OperandKind::Field(names) => self.chain(dot.clone(), names, has_arguments),
            OperandKind::Variable(names) => {
                let Some((_, value)) =
                    self.variables.iter().rev().find(|(name, _)| *name == names[0])
                else {
                    return Err(self.failure(format!("undefined variable: {}", names[0])));
                };
                let value = value.clone();
                self.chain(value, &names[1..], has_arguments)
            }
            OperandKind::Function(name) => {
                self.nested(|machine| machine.call(name, At::Operand(operand), &[], dot, None))
            }
            OperandKind::Pipe(pipe) => self.nested(|machine| machine.pipeline(dot, pipe)),
            OperandKind::Chain(inner, names) => {
                if matches!(inner.kind, OperandKind::Nil) {
                    return Err(
                        self.failure(format!("indirection through explicit nil in {operand}"))
                    );
                }
                let value = self.nested(|machine| machine.operand(dot, inner, false))?;
                self.chain(value, names, has_arguments)
            }
        }
    }

    pub(super) fn chain(
        &mut self,
        mut value: Value<'a>,
        names: &[EcoString],
        has_arguments: bool,
    ) -> Outcome<'a> {
        for (position, name) in names.iter().enumerate() {
            // Arguments belong to the last name of a chain.
            value = self.field(&value, name, has_arguments && position + 1 == names.len())?;
        }
        // Copies of long texts count as work.
        if let Value::Str(text) = &value {
            self.charge(text.len())?;
        }
        Ok(value)
    }

    pub(super) fn field(&self, value: &Value<'a>, name: &str, has_arguments: bool) -> Outcome<'a> {
        match value {
            Value::Absent => Ok(Value::Absent),
            Value::Map(_) if has_arguments => {
                Err(self.failure(format!("{name} is not a method but has arguments")))
            }
            Value::Map(pairs) if self.functions.is_some() && !pairs.contains_key(name) => {
                Err(self.failure(format!("map has no entry for key {}", go_quote(name))))
            }
            Value::Map(pairs) => {
                Ok(pairs.get(name).map_or(Value::Absent, |text| Value::Str((*text).into())))
            }
            Value::Owner(_) | Value::Root(_) if has_arguments && value.has_field(name) => {
                Err(self.failure(format!("{name} has arguments but cannot be invoked as function")))
            }
            Value::Owner(owner) => owner.field(name).ok_or_else(|| self.unknown_field(value, name)),
            Value::Time(_) | Value::Nil(_) => Err(self.unsupported(format!(
                "the field or method `{name}` of {} is not supported",
                value.type_name()
            ))),
            Value::Struct(fields) if has_arguments && fields.has(name) => {
                Err(self.failure(format!("{name} has arguments but cannot be invoked as function")))
            }
            Value::Struct(fields) if !fields.has(name) => Err(self.unknown_field(value, name)),
            Value::Struct(fields) if fields.is_nil() => {
                Err(self.failure(format!("nil pointer evaluating {}.{name}", fields.type_name())))
            }
            Value::Struct(fields) => fields.field(name).map_err(|failure| self.place(failure)),
            Value::Root(root) => match root.field(name) {
                Some(field) => field.map_err(|failure| self.place(failure)),
                None => Err(self.unknown_field(value, name)),
            },
            _ => Err(self.unknown_field(value, name)),
        }
    }

    pub(super) fn unknown_field(&self, value: &Value<'a>, name: &str) -> Failure {
        let failure =
            self.failure(format!("can't evaluate field {name} in type {}", value.type_name()));
        Failure { kind: Kind::UnknownVariable, ..failure }
    }

    pub(super) fn call(
        &mut self,
        name: &'a str,
        node: At<'a>,
        arguments: &'a [Operand],
        dot: &Value<'a>,
        last: Option<Value<'a>>,
    ) -> Outcome<'a> {
        let count = arguments.len() + usize::from(last.is_some());
        let index = self.functions.and_then(|functions| functions.arity(name));
        let (least, most) =
            index.map_or_else(|| functions::arity(name), |index| (index, Some(index)));
        match most {
            Some(most) if count != most => {
                return Err(self
                    .failure(format!("wrong number of args for {name}: want {most} got {count}")));
            }
            None if count < least => {
                return Err(self.failure(format!(
                    "wrong number of args for {name}: want at least {least} got {}",
                    arguments.len()
                )));
            }
            _ => {}
        }
        // These two stop at the first argument that decides: later ones are not evaluated.
        if let "and" | "or" = name {
            let mut value = Value::Absent;
            for argument in arguments {
                value = self.operand(dot, argument, false)?;
                if value.is_true() == (name == "or") {
                    return Ok(value);
                }
            }
            return Ok(last.unwrap_or(value));
        }
        let mut values = Vec::with_capacity(count);
        for (position, argument) in arguments.iter().enumerate() {
            let value = self.operand(dot, argument, false)?;
            // Go checks the type of an argument when it is evaluated, before the next one can fail.
            if name == "printf" && position == 0 {
                functions::check_format(self, argument, &value)?;
            }
            values.push(value);
        }
        if arguments.is_empty() && name == "printf" {
            functions::check_piped_format(self, last.as_ref())?;
        }
        // The piped value is the last argument.
        values.extend(last);
        if name == "call" {
            let callee = match (arguments.first(), &values[0]) {
                (Some(word), _) => ecow::eco_format!("{word}"),
                (None, Value::Str(text)) => text.clone(),
                (None, value) => ecow::eco_format!("<{} Value>", value.type_name()),
            };
            self.at = Some(node);
            return Err(self.failure(format!(
                "error calling call: {}",
                functions::not_callable(&values[0], &callee)
            )));
        }
        let outcome = functions::call(self, name, &values);
        outcome.map_err(|failure| match failure {
            functions::Refusal::Go(message) => {
                self.at = Some(node);
                self.failure(format!("error calling {name}: {message}"))
            }
            functions::Refusal::Failure(failure) => failure,
        })
    }
}
