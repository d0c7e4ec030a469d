//! Selectors of devices (k8s.io/dynamic-resource-allocation, cel): expressions about `device`, with
//! `driver`, and `attributes` and `capacity` by domain and name.

use super::eval::{Outcome, run};
use super::value::Value;
use super::{Expr, parse};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};

/// An expression about a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeviceSelector(Expr);

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SelectorProblem {
    /// The server refuses it, in its words.
    Invalid(EcoString),
    /// It uses a part of the language that is not evaluated here.
    Unsupported,
}

/// A field of `device` that does not exist.
fn undefined(expr: &Expr) -> Option<&EcoString> {
    const FIELDS: [&str; 4] = ["driver", "attributes", "capacity", "allowMultipleAllocations"];

    let parts: Vec<&Expr> = match expr {
        Expr::Field(of, name) | Expr::Has(of, name) => {
            // Only fields of `device` itself are known; below are domains with any names.
            if matches!(&**of, Expr::Name(root) if root == "device")
                && !FIELDS.contains(&name.as_str())
            {
                return Some(name);
            }
            vec![of]
        }
        Expr::Bool(_) | Expr::Int(_) | Expr::Text(_) | Expr::Name(_) => Vec::new(),
        Expr::List(items) | Expr::Call(_, items) => items.iter().collect(),
        Expr::Index(a, b)
        | Expr::Binary(_, a, b)
        | Expr::Macro(_, a, _, b)
        | Expr::Bind(_, a, b) => {
            vec![a, b]
        }
        Expr::Not(of) => vec![of],
        Expr::Choice(a, b, c) => vec![a, b, c],
    };
    parts.into_iter().find_map(undefined)
}

impl DeviceSelector {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn compile(text: &str) -> Result<Self, SelectorProblem> {
        let expr = parse(text).ok_or(SelectorProblem::Unsupported)?;
        match undefined(&expr) {
            Some(field) => Err(SelectorProblem::Invalid(eco_format!("undefined field '{field}'"))),
            None => Ok(Self(expr)),
        }
    }

    /// Whether it selects a device: a tree of `driver`, `attributes` and `capacity`.
    ///
    /// # Errors
    /// The error of the evaluation, in the words of the language.
    pub(crate) fn selects(&self, device: &Node) -> Result<bool, EcoString> {
        match run(&self.0, "device", Value::Node(device)) {
            (Outcome::Holds, _) => Ok(true),
            (Outcome::Fails, _) => Ok(false),
            (Outcome::TooCostly, _) => Err("actual cost limit exceeded".into()),
            (Outcome::Error, Some(key)) => Err(eco_format!("no such key: {key}")),
            (Outcome::Error, None) => Err("no such overload".into()),
        }
    }
}
