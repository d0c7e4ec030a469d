//! Evaluation of expressions.

use super::value::{Value, duration, semver, typed_order};
use super::{Expr, Function, Macro, Operator};
use crate::quantity::Quantity;
use crate::schema::pattern;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::cmp::Ordering;

/// Steps a rule may take. The API server refuses what costs more, too.
pub(in crate::schema) const FUEL: usize = 1_000_000;

/// The result of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schema) enum Outcome {
    /// The value keeps it.
    Holds,
    /// The value breaks it.
    Fails,
    /// It reads a missing field, or a value of another type. The server rejects the object.
    Error,
    /// It takes more than [`FUEL`] steps.
    TooCostly,
}

/// Evaluates a rule about a value.
pub(in crate::schema) fn evaluate(rule: &Expr, about: &Node) -> Outcome {
    run(rule, "self", Value::Node(about)).0
}

/// Evaluates a rule about the value of a variable; with the first error that has words of its own.
pub(super) fn run(rule: &Expr, variable: &str, value: Value<'_>) -> (Outcome, Option<EcoString>) {
    let mut run = Run { fuel: FUEL, scope: vec![(variable.into(), value)], problem: None };
    let truth = run.expr(rule).and_then(|value| value.truth());
    let outcome = match truth {
        // First: an evaluation without fuel ends as an error, which would accuse the object.
        _ if run.fuel == 0 => Outcome::TooCostly,
        Some(true) => Outcome::Holds,
        Some(false) => Outcome::Fails,
        None => Outcome::Error,
    };
    (outcome, run.problem)
}

struct Run<'n> {
    fuel: usize,
    scope: Vec<(EcoString, Value<'n>)>,
    /// The first key that a map did not have, or numbers that have no result, in the words of the
    /// language.
    problem: Option<EcoString>,
}

impl<'n> Run<'n> {
    /// The value of an expression; none is an error.
    fn expr(&mut self, expr: &Expr) -> Option<Value<'n>> {
        // One step for each node of the expression each time it is evaluated: loops pay for each
        // element.
        self.fuel = self.fuel.checked_sub(1).filter(|left| *left > 0).unwrap_or(0);
        if self.fuel == 0 {
            return None;
        }
        match expr {
            Expr::Bool(truth) => Some(Value::Bool(*truth)),
            Expr::Int(number) => Some(Value::Int(*number)),
            Expr::Text(text) => Some(Value::Text(text.clone())),
            Expr::List(items) => items
                .iter()
                .map(|item| self.expr(item))
                .collect::<Option<Vec<_>>>()
                .map(Value::List),
            Expr::Name(name) => self
                .scope
                .iter()
                // The innermost variable hides others of its name.
                .rev()
                .find(|(scope, _)| scope == name)
                .map(|(_, value)| value.clone()),
            Expr::Field(of, name) => {
                let of = self.expr(of)?;
                self.key(&of, name)
            }
            Expr::Has(of, name) => Some(Value::Bool(self.expr(of)?.field(name).is_some())),
            Expr::Index(of, index) => {
                let (of, index) = (self.expr(of)?, self.expr(index)?);
                match index.text() {
                    Some(key) => self.key(&of, key),
                    None => of.elements()?.get(usize::try_from(index.int()?).ok()?).cloned(),
                }
            }
            Expr::Not(of) => Some(Value::Bool(!self.expr(of)?.truth()?)),
            Expr::Choice(condition, then, otherwise) => {
                // Only one branch is evaluated: the other may read what is not there.
                let branch = if self.expr(condition)?.truth()? { then } else { otherwise };
                self.expr(branch)
            }
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expr::Call(function, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.expr(argument))
                    .collect::<Option<Vec<_>>>()?;
                call(*function, &arguments)
            }
            Expr::Macro(over, of, variable, condition) => self.over(*over, of, variable, condition),
            Expr::Bind(variable, value, body) => {
                let value = self.expr(value)?;
                self.scope.push((variable.clone(), value));
                let result = self.expr(body);
                self.scope.pop();
                result
            }
        }
    }

    fn key(&mut self, of: &Value<'n>, name: &str) -> Option<Value<'n>> {
        let found = of.field(name);
        // The first missing key is the one that the server names.
        if found.is_none() && self.problem.is_none() {
            self.problem = Some(eco_format!("no such key: {name}"));
        }
        found
    }

    /// The result for two whole numbers of 64 bits (google/cel-go, common/types/overflow.go).
    fn arithmetic(&mut self, operator: Operator, left: i64, right: i64) -> Option<i64> {
        let (result, by_zero) = match operator {
            Operator::Add => (left.checked_add(right), None),
            Operator::Subtract => (left.checked_sub(right), None),
            Operator::Multiply => (left.checked_mul(right), None),
            Operator::Divide => (left.checked_div(right), Some("division by zero")),
            _ => (left.checked_rem(right), Some("modulus by zero")),
        };
        if result.is_none() && self.problem.is_none() {
            let why = by_zero.filter(|_| right == 0).unwrap_or("integer overflow");
            self.problem = Some(why.into());
        }
        result
    }

    fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr) -> Option<Value<'n>> {
        // One side that decides is enough, whatever becomes of the other.
        if let Operator::Or | Operator::And = operator {
            let decides = operator == Operator::Or;
            let left = self.expr(left).and_then(|value| value.truth());
            if left == Some(decides) {
                return Some(Value::Bool(decides));
            }
            let right = self.expr(right).and_then(|value| value.truth());
            return match (left, right) {
                (_, Some(right)) if right == decides => Some(Value::Bool(decides)),
                (Some(_), Some(_)) => Some(Value::Bool(!decides)),
                _ => None,
            };
        }
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        let ordered = |wanted: &[Ordering]| {
            left.compare(&right).map(|order| Value::Bool(wanted.contains(&order)))
        };
        match operator {
            Operator::Equal => Some(Value::Bool(left.equals(&right))),
            Operator::Unequal => Some(Value::Bool(!left.equals(&right))),
            Operator::Less => ordered(&[Ordering::Less]),
            Operator::LessOrEqual => ordered(&[Ordering::Less, Ordering::Equal]),
            Operator::Greater => ordered(&[Ordering::Greater]),
            Operator::GreaterOrEqual => ordered(&[Ordering::Greater, Ordering::Equal]),
            Operator::In => {
                Some(Value::Bool(right.elements()?.iter().any(|element| element.equals(&left))))
            }
            Operator::Add if left.text().is_some() => {
                Some(Value::Text(eco_format!("{}{}", left.text()?, right.text()?)))
            }
            Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::Remainder => {
                self.arithmetic(operator, left.int()?, right.int()?).map(Value::Int)
            }
            Operator::Or | Operator::And => None,
        }
    }

    fn over(
        &mut self,
        over: Macro,
        of: &Expr,
        variable: &EcoString,
        condition: &Expr,
    ) -> Option<Value<'n>> {
        let elements = self.expr(of)?.elements()?;
        let mut kept = Vec::new();
        let (mut error, mut count) = (false, 0);
        for element in elements {
            self.scope.push((variable.clone(), element.clone()));
            let truth = self.expr(condition).and_then(|value| value.truth());
            self.scope.pop();
            match (over, truth) {
                (Macro::All, Some(false)) => return Some(Value::Bool(false)),
                (Macro::Exists, Some(true)) => return Some(Value::Bool(true)),
                // Unlike `all` and `exists`, these have to know about every element.
                (Macro::ExistsOne | Macro::Filter, None) => return None,
                (Macro::ExistsOne, Some(true)) => count += 1,
                (Macro::Filter, Some(true)) => kept.push(element),
                (_, None) => error = true,
                _ => {}
            }
            if self.fuel == 0 {
                return None;
            }
        }
        match over {
            // No element decided, and for one of them it is not known.
            Macro::All | Macro::Exists if error => None,
            Macro::All => Some(Value::Bool(true)),
            Macro::Exists => Some(Value::Bool(false)),
            Macro::ExistsOne => Some(Value::Bool(count == 1)),
            Macro::Filter => Some(Value::List(kept)),
        }
    }
}

fn call<'n>(function: Function, arguments: &[Value<'n>]) -> Option<Value<'n>> {
    let subject = arguments.first()?;
    let text = || Some((subject.text()?, arguments.get(1)?.text()?));
    match function {
        Function::Size => subject.size().map(Value::Int),
        Function::Duration => duration(subject.text()?).map(Value::Duration),
        Function::Contains => text().map(|(text, part)| Value::Bool(text.contains(part))),
        Function::StartsWith => text().map(|(text, part)| Value::Bool(text.starts_with(part))),
        Function::EndsWith => text().map(|(text, part)| Value::Bool(text.ends_with(part))),
        Function::Matches => {
            text().map(|(text, pattern)| Value::Bool(pattern::matches(pattern, text)))
        }
        Function::IsIp => Some(Value::Bool(subject.text()?.parse::<std::net::IpAddr>().is_ok())),
        Function::Quantity => Quantity::parse(subject.text()?)
            .ok()
            .map(|quantity| Value::Quantity(Box::new(quantity))),
        Function::Semver => semver(subject.text()?).map(|semver| Value::Semver(Box::new(semver))),
        Function::CompareTo => {
            typed_order(subject, arguments.get(1)?).map(|order| Value::Int(i64::from(order as i8)))
        }
        Function::IsLessThan => typed_order(subject, arguments.get(1)?)
            .map(|order| Value::Bool(order == Ordering::Less)),
        Function::IsGreaterThan => typed_order(subject, arguments.get(1)?)
            .map(|order| Value::Bool(order == Ordering::Greater)),
        Function::LowerAscii => Some(Value::Text(subject.text()?.to_ascii_lowercase().into())),
        Function::UpperAscii => Some(Value::Text(subject.text()?.to_ascii_uppercase().into())),
        Function::Split => text().map(|(text, part)| {
            Value::List(text.split(part).map(|part| Value::Text(part.into())).collect())
        }),
    }
}
