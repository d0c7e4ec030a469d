//! From words to an expression.

use super::{Expr, Function, Macro, Operator};
use ecow::EcoString;

/// Deepest nesting that is read.
const DEEPEST: usize = 64;

/// Parses a rule; `None` if it is outside of the supported language.
pub(in crate::schema) fn parse(text: &str) -> Option<Expr> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let expr = parser.choice()?;
    // Text after a complete expression means that a part of it was not understood.
    (parser.at == tokens.len()).then_some(expr)
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

/// Operators by how tightly they bind, the loosest first.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Mark(found)) if *found == mark);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, mark: &str) -> Option<()> {
        self.take(mark).then_some(())
    }

    fn name(&mut self) -> Option<EcoString> {
        let Some(Token::Name(name)) = self.peek().cloned() else { return None };
        self.at += 1;
        Some(name)
    }

    fn choice(&mut self) -> Option<Expr> {
        self.depth += 1;
        // The parser calls itself for each bracket; rules of the input could overflow the stack.
        if self.depth > DEEPEST {
            return None;
        }
        let condition = self.level(0)?;
        let expr = if self.take("?") {
            let then = self.choice()?;
            self.need(":")?;
            let otherwise = self.choice()?;
            Expr::Choice(Box::new(condition), Box::new(then), Box::new(otherwise))
        } else {
            condition
        };
        self.depth -= 1;
        Some(expr)
    }

    fn level(&mut self, level: usize) -> Option<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        loop {
            let found = operators
                .iter()
                .find(|(mark, _)| matches!(self.peek(), Some(Token::Mark(found)) if found == mark))
                .map(|(_, operator)| *operator);
            let contained =
                // `in` binds as tightly as the comparisons, but is lexed as a name.
                level == 2 && matches!(self.peek(), Some(Token::Name(name)) if name == "in");
            let Some(operator) = found.or(contained.then_some(Operator::In)) else {
                return Some(left);
            };
            self.at += 1;
            left = Expr::Binary(operator, Box::new(left), Box::new(self.level(level + 1)?));
        }
    }

    fn unary(&mut self) -> Option<Expr> {
        let mut negated = false;
        while self.take("!") {
            negated = !negated;
        }
        if negated {
            return Some(Expr::Not(Box::new(self.member()?)));
        }
        let mut minus = false;
        while self.take("-") {
            minus = !minus;
        }
        let expr = self.member()?;
        // The least number has no opposite, as it has none when it is taken from 0.
        let zero = || Box::new(Expr::Int(0));
        Some(if minus { Expr::Binary(Operator::Subtract, zero(), Box::new(expr)) } else { expr })
    }

    fn member(&mut self) -> Option<Expr> {
        let mut expr = self.primary()?;
        // After `.?` the value may be absent: under this condition it is there.
        let mut there: Option<Expr> = None;
        loop {
            if there.is_none() && self.take("[") {
                let index = self.choice()?;
                self.need("]")?;
                expr = Expr::Index(Box::new(expr), Box::new(index));
            } else if self.take(".") {
                let optional = self.take("?");
                let name = self.name()?;
                if let Some(there) = there.take_if(|_| !optional && self.take("(")) {
                    expr = self.unwrapped(there, expr, &name)?;
                } else if optional || there.is_some() {
                    let field = unescaped(&name);
                    let has = Expr::Has(Box::new(expr.clone()), field.clone());
                    there = Some(match there.take() {
                        Some(outer) => Expr::Binary(Operator::And, Box::new(outer), Box::new(has)),
                        None => has,
                    });
                    expr = Expr::Field(Box::new(expr), field);
                } else if self.take("(") {
                    expr = self.method(expr, &name)?;
                } else {
                    expr = Expr::Field(Box::new(expr), unescaped(&name));
                }
            } else {
                // A value that may be absent is used by nothing that is evaluated here.
                return there.is_none().then_some(expr);
            }
        }
    }

    /// What a method of a value that may be absent yields.
    fn unwrapped(&mut self, there: Expr, value: Expr, method: &str) -> Option<Expr> {
        let mut arguments = self.arguments()?;
        match (method, arguments.pop()) {
            ("hasValue", None) => Some(there),
            ("orValue", Some(default)) if arguments.is_empty() => {
                Some(Expr::Choice(Box::new(there), Box::new(value), Box::new(default)))
            }
            _ => None,
        }
    }

    fn method(&mut self, receiver: Expr, name: &str) -> Option<Expr> {
        // Written as a method, but `cel` is no value: the first argument is the name of a variable.
        if name == "bind" && matches!(&receiver, Expr::Name(name) if name == "cel") {
            let variable = self.name()?;
            self.need(",")?;
            let value = self.choice()?;
            self.need(",")?;
            let body = self.choice()?;
            self.need(")")?;
            return Some(Expr::Bind(variable, Box::new(value), Box::new(body)));
        }
        let over = match name {
            "all" => Some(Macro::All),
            "exists" => Some(Macro::Exists),
            "exists_one" => Some(Macro::ExistsOne),
            "filter" => Some(Macro::Filter),
            _ => None,
        };
        if let Some(over) = over {
            let variable = self.name()?;
            self.need(",")?;
            let condition = self.choice()?;
            self.need(")")?;
            return Some(Expr::Macro(over, Box::new(receiver), variable, Box::new(condition)));
        }
        let (function, count) = match name {
            "size" => (Function::Size, 0),
            "contains" => (Function::Contains, 1),
            "startsWith" => (Function::StartsWith, 1),
            "endsWith" => (Function::EndsWith, 1),
            "matches" => (Function::Matches, 1),
            "split" => (Function::Split, 1),
            "compareTo" => (Function::CompareTo, 1),
            "isLessThan" => (Function::IsLessThan, 1),
            "isGreaterThan" => (Function::IsGreaterThan, 1),
            "lowerAscii" => (Function::LowerAscii, 0),
            "upperAscii" => (Function::UpperAscii, 0),
            _ => return None,
        };
        let mut arguments = vec![receiver];
        arguments.extend(self.arguments()?);
        // The receiver is the first argument.
        (arguments.len() == count + 1).then_some(Expr::Call(function, arguments))
    }

    fn arguments(&mut self) -> Option<Vec<Expr>> {
        let mut arguments = Vec::new();
        if self.take(")") {
            return Some(arguments);
        }
        loop {
            arguments.push(self.choice()?);
            if self.take(")") {
                return Some(arguments);
            }
            self.need(",")?;
        }
    }

    fn primary(&mut self) -> Option<Expr> {
        if self.take("(") {
            let expr = self.choice()?;
            self.need(")")?;
            return Some(expr);
        }
        if self.take("[") {
            let mut items = Vec::new();
            if self.take("]") {
                return Some(Expr::List(items));
            }
            loop {
                items.push(self.choice()?);
                if self.take("]") {
                    return Some(Expr::List(items));
                }
                self.need(",")?;
            }
        }
        let token = self.peek()?.clone();
        self.at += 1;
        match token {
            Token::Int(number) => Some(Expr::Int(number)),
            Token::Text(text) => Some(Expr::Text(text)),
            Token::Name(name) => match name.as_str() {
                "true" => Some(Expr::Bool(true)),
                "false" => Some(Expr::Bool(false)),
                name if self.take("(") => self.call(name),
                _ => Some(Expr::Name(name)),
            },
            Token::Mark(_) => None,
        }
    }

    fn call(&mut self, name: &str) -> Option<Expr> {
        let mut arguments = self.arguments()?;
        let argument = if arguments.len() == 1 { arguments.pop()? } else { return None };
        match (name, argument) {
            ("has", Expr::Field(of, field)) => Some(Expr::Has(of, field)),
            ("size", argument) => Some(Expr::Call(Function::Size, vec![argument])),
            ("isIP", argument) => Some(Expr::Call(Function::IsIp, vec![argument])),
            ("quantity", argument) => Some(Expr::Call(Function::Quantity, vec![argument])),
            ("semver", argument) => Some(Expr::Call(Function::Semver, vec![argument])),
            ("duration", argument) => Some(Expr::Call(Function::Duration, vec![argument])),
            _ => None,
        }
    }
}

/// A field whose name is a word of the language is written with underscores around it.
fn unescaped(name: &str) -> EcoString {
    name.strip_prefix("__").and_then(|name| name.strip_suffix("__")).unwrap_or(name).into()
}

// Words of a rule.

/// A word.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(EcoString),
    Int(i64),
    Text(EcoString),
    /// Punctuation and operators.
    Mark(&'static str),
}

/// Marks, the longer ones first.
const MARKS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "?", ":", ".", ",", "(", ")", "[", "]", "+",
    "-", "*", "/", "%", "{", "}",
];

/// The tokens of a text; none when a part of it is not a token.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = if let Some(raw) =
            // Before names, of which `r` could be one.
            rest.strip_prefix('r').filter(|raw| raw.starts_with(['"', '\'']))
        {
            let (text, after) = quoted(raw, true)?;
            tokens.push(Token::Text(text));
            after
        } else if first == '"' || first == '\'' {
            let (text, after) = quoted(rest, false)?;
            tokens.push(Token::Text(text));
            after
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end =
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..end].into()));
            &rest[end..]
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            tokens.push(Token::Int(rest[..end].parse().ok()?));
            &rest[end..]
        } else {
            let mark = MARKS.iter().find(|mark| rest.starts_with(**mark))?;
            tokens.push(Token::Mark(mark));
            &rest[mark.len()..]
        };
        rest = after.trim_start();
    }
    Some(tokens)
}

/// A text in single or triple quotes, and what follows it.
fn quoted(text: &str, raw: bool) -> Option<(EcoString, &str)> {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    // An empty text in single quotes is two quotes, so three can only be a fence.
    let fence = if text.starts_with(&triple) { triple.as_str() } else { quote };
    let body = &text[fence.len()..];
    let mut out = EcoString::new();
    let mut at = 0;
    loop {
        let rest = body.get(at..)?;
        if let Some(after) = rest.strip_prefix(fence) {
            return Some((out, after));
        }
        let c = rest.chars().next()?;
        at += c.len_utf8();
        if c == '\\' && !raw {
            let escaped = body[at..].chars().next()?;
            at += escaped.len_utf8();
            out.push(match escaped {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '\\' | '\'' | '"' | '`' | '?' => escaped,
                _ => return None,
            });
        } else {
            out.push(c);
        }
    }
}
