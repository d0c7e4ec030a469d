//! The part of the Common Expression Language that rules of CustomResourceDefinitions are written
//! in.
//!
//! In: the text of a rule, and the value it is about (`self`). Out: whether the value keeps the
//! rule. The grammar, the macros (`has`, `all`, `exists`, `exists_one`, `filter`) and the functions
//! are those that the shipped rules use; a text with anything else does not parse and is no rule.
//! Errors are values, as in the language: `a || b` holds when one side does, whatever becomes of
//! the other. Work is bounded by [`FUEL`], as the API server bounds its own.

pub(crate) mod device;
mod eval;
mod parse;
mod value;

pub(super) use eval::{FUEL, Outcome, evaluate};
pub(super) use parse::parse;
pub(crate) use value::duration;

use ecow::EcoString;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Bool(bool),
    Int(i64),
    Text(EcoString),
    List(Vec<Expr>),
    /// A variable.
    Name(EcoString),
    /// A field of a value.
    Field(Box<Expr>, EcoString),
    /// An element of a list or a map.
    Index(Box<Expr>, Box<Expr>),
    /// `has(a.b)`.
    Has(Box<Expr>, EcoString),
    Not(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function, or a method whose receiver is the first argument.
    Call(Function, Vec<Expr>),
    /// `list.all(x, condition)` and its like.
    Macro(Macro, Box<Expr>, EcoString, Box<Expr>),
    /// `cel.bind(x, value, body)`.
    Bind(EcoString, Box<Expr>, Box<Expr>),
}

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A function by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Duration,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    Split,
    /// Whether a text is an IP address.
    IsIp,
    Quantity,
    Semver,
    CompareTo,
    IsLessThan,
    IsGreaterThan,
    LowerAscii,
    UpperAscii,
}

/// A macro over the elements of a list, or the keys of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Macro {
    All,
    Exists,
    ExistsOne,
    Filter,
}

impl Expr {
    /// Adds the names of the fields that the expression reads. Whether these and the keys of maps
    /// are all that it depends on: not if it compares two parts of the object with each other, which
    /// may be maps, or reads a key that it computes.
    pub(super) fn reads(&self, names: &mut Vec<EcoString>) -> bool {
        let is_literal = |expr: &Self| match expr {
            Self::Bool(_) | Self::Int(_) | Self::Text(_) | Self::Call(Function::Size, _) => true,
            Self::List(items) => items
                .iter()
                .all(|item| matches!(item, Self::Bool(_) | Self::Int(_) | Self::Text(_))),
            _ => false,
        };
        match self {
            Self::Bool(_) | Self::Int(_) | Self::Text(_) | Self::Name(_) => true,
            Self::List(items) | Self::Call(_, items) => items.iter().all(|item| item.reads(names)),
            Self::Field(of, name) | Self::Has(of, name) => {
                names.push(name.clone());
                of.reads(names)
            }
            Self::Index(of, index) => match &**index {
                Self::Int(_) => of.reads(names),
                Self::Text(name) => {
                    names.push(name.clone());
                    of.reads(names)
                }
                _ => false,
            },
            Self::Not(of) => of.reads(names),
            Self::Binary(operator, left, right) => {
                let compares =
                    matches!(operator, Operator::Equal | Operator::Unequal | Operator::In);
                // Compared with a literal, only the scalar that is read matters.
                (!compares || is_literal(left) || is_literal(right))
                    && left.reads(names)
                    && right.reads(names)
            }
            Self::Choice(condition, then, otherwise) => {
                condition.reads(names) && then.reads(names) && otherwise.reads(names)
            }
            Self::Macro(_, of, _, body) | Self::Bind(_, of, body) => {
                of.reads(names) && body.reads(names)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Node, Origin, Rule};

    static TEST: Rule = Rule { id: "test", text: "", cite: "" };

    fn holds(rule: &str, json: &str) -> Option<bool> {
        let node = Node::from_json(&serde_json::from_str(json).unwrap(), Origin::Derived(&TEST));
        match evaluate(&parse(rule)?, &node) {
            Outcome::Holds => Some(true),
            Outcome::Fails => Some(false),
            Outcome::Error | Outcome::TooCostly => None,
        }
    }

    #[test]
    fn expressions_evaluate_like_cel() {
        // Rows of a rule, the value it is about, and whether it holds; none is an error.
        for (rule, json, expected) in [
            ("self.a == 1", r#"{"a": 1}"#, Some(true)),
            ("self.a == 'x' || true", r#"{"a": 1}"#, Some(true)),
            ("self.none == 'x' || true", "{}", Some(true)),
            ("true || self.none == 'x'", "{}", Some(true)),
            ("self.none == 'x' && false", "{}", Some(false)),
            ("self.none == 'x'", "{}", None),
            ("has(self.a) ? self.a > 2 : true", r#"{"a": 3}"#, Some(true)),
            ("has(self.a) ? self.a > 2 : true", "{}", Some(true)),
            ("!has(self.a) || self.a in ['x', 'y']", r#"{"a": "z"}"#, Some(false)),
            ("'*' in self && self.size() > 1", r#"["*", "b"]"#, Some(true)),
            ("self.all(x, x.n == 1)", r#"[{"n": 1}, {"n": 2}]"#, Some(false)),
            ("self.all(x, self.exists_one(y, x.n == y.n))", r#"[{"n": 1}, {"n": 2}]"#, Some(true)),
            ("self.all(x, self.exists_one(y, x.n == y.n))", r#"[{"n": 1}, {"n": 1}]"#, Some(false)),
            (
                "self.filter(f, f.type == 'CORS').size() <= 1",
                r#"[{"type": "CORS"}, {"type": "CORS"}]"#,
                Some(false),
            ),
            ("self.exists(f, f.none == 1)", r#"[{"a": 1}]"#, None),
            (
                "(self.size() > 0 ? self[0].m.size() : 0) + (self.size() > 1 ? self[1].m.size() : 0) <= 2",
                r#"[{"m": [1, 2]}]"#,
                Some(true),
            ),
            ("duration(self) >= duration('1ms')", r#""1h1.5s""#, Some(true)),
            ("duration(self) >= duration('1ms')", r#""1us""#, Some(false)),
            ("duration(self) >= duration('1ms')", r#""soon""#, None),
            (
                "self.value.startsWith('/') && !self.value.contains('//') && !self.value.endsWith('/..')",
                r#"{"value": "/a/b"}"#,
                Some(true),
            ),
            ("isIP(self) && self.contains(':')", r#""fe80::1""#, Some(true)),
            ("isIP(self)", r#""10.0.0.300""#, Some(false)),
            ("[has(self.a), has(self.b)].filter(x, x).size() <= 1", r#"{"a": 1}"#, Some(true)),
            (
                "[has(self.a), has(self.b)].filter(x, x).size() <= 1",
                r#"{"a": 1, "b": 2}"#,
                Some(false),
            ),
            (r#"self.matches(r"""^[a-z]+$""")"#, r#""abc""#, Some(true)),
            (
                r#"self.all(key, key.split("/")[0].size() < 4)"#,
                r#"{"abc/d": 1, "abcd/e": 1}"#,
                Some(false),
            ),
            (
                "has(self.__namespace__) && self.__namespace__ == ''",
                r#"{"namespace": ""}"#,
                Some(true),
            ),
            ("has(self.a.b)", r#"{"a": {"b": null}}"#, Some(false)),
            ("!self.?a.orValue(false)", "{}", Some(true)),
            ("!self.?a.orValue(false)", r#"{"a": true}"#, Some(false)),
            ("self.?a.b.orValue(2) == 2 && self.?a.?b.orValue(2) == 2", r#"{"a": {}}"#, Some(true)),
            ("self.?a.b.orValue(2) == 2", "{}", Some(true)),
            ("self.?a.b.orValue(2) == 2", r#"{"a": {"b": 1}}"#, Some(false)),
            ("self.?a.hasValue()", "{}", Some(false)),
            ("self[3] == 1", "[1]", None),
            ("2 + 3 * 4 - 6 / 4 == 13 && 7 % 4 * 2 == 6", "{}", Some(true)),
            ("-7 / 2 == -3 && -7 % 2 == -1 && --2 == 2", "{}", Some(true)),
            ("self.a * 2 == 6", r#"{"a": 3}"#, Some(true)),
            ("self.a * 2 == 6", r#"{"a": "3"}"#, None),
            ("1 / self.a == 1", r#"{"a": 0}"#, None),
            ("1 % self.a == 1 || true", r#"{"a": 0}"#, Some(true)),
            ("9223372036854775807 * 2 == 1", "{}", None),
            ("(-9223372036854775807 - 1) / -1 == 1", "{}", None),
            ("self.a + '/' + self.a == 'b/b'", r#"{"a": "b"}"#, Some(true)),
        ] {
            assert_eq!(holds(rule, json), expected, "{rule} of {json}");
        }
    }

    #[test]
    fn invalid_cel_expressions_do_not_parse() {
        for text in [
            "",
            "self.",
            "self.a ==",
            "(self",
            "self.unknown()",
            "self.?a",
            "self.?a == 1",
            "self.?a.orValue()",
            "self.?a.contains('x')",
            "a ? b",
            "self.all(x)",
            "'open",
            "self..a",
            "1 2",
            "1 *",
            "!-1",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
        assert!(parse(&"(".repeat(100_000)).is_none() && parse(&"!".repeat(100_000)).is_none());
    }

    #[test]
    fn work_is_bounded() {
        let long = format!("[{}]", vec!["1"; 5000].join(","));
        let node = Node::from_json(&serde_json::from_str(&long).unwrap(), Origin::Derived(&TEST));
        let rule = parse("self.all(x, self.all(y, self.all(z, true)))").unwrap();
        assert!(matches!(evaluate(&rule, &node), Outcome::TooCostly));
    }
}
