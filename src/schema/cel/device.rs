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
            (Outcome::Error, problem) => Err(problem.unwrap_or_else(|| "no such overload".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};

    static TEST: Rule = Rule { id: "test", text: "", cite: "" };

    #[test]
    fn an_error_has_the_words_of_the_language() {
        let device = r#"{"driver": "d", "attributes": {"d": {"i": 3}}, "capacity": {}}"#;
        let json = serde_json::from_str(device).unwrap();
        let node = Node::from_json(&json, Origin::Derived(&TEST));
        let one = "device.attributes['d'].i";
        for (rule, expected) in [
            (format!("{one} % 2 == 1"), Ok(true)),
            (format!("{one} * 2 / 2 == 1"), Ok(false)),
            (format!("{one} % 0 == 1"), Err("modulus by zero")),
            (format!("{one} / 0 == 1"), Err("division by zero")),
            (format!("{one} * 9223372036854775807 == 1"), Err("integer overflow")),
            ("device.attributes['d'].none % 2 == 1".into(), Err("no such key: none")),
            (format!("{one} % 'x' == 1"), Err("no such overload")),
        ] {
            let selector = DeviceSelector::compile(&rule).expect(&rule);
            assert_eq!(selector.selects(&node), expected.map_err(EcoString::from), "{rule}");
        }
    }
}
