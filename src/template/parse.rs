//! Parses tokens to the syntax tree of a Go template.
//!
//! In: a text and its name in messages. Out: a [`Program`], or Go's error message. The grammar, the
//! order of checks and the messages follow Go's `text/template/parse/parse.go`.

use super::ast::{Command, Item, Keyword, List, Operand, OperandKind, Pipe, Program};
use super::error::{Failure, Kind as FailureKind};
use super::lex::{Kind, Token, lex};
use super::quote;
use crate::quantity::go_quote;
use ecow::EcoString;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Maximum nesting depth of parentheses, branches and blocks. Go allows 10,000 parentheses; real
/// templates have fewer than a hundred.
pub(super) const MAX_DEPTH: usize = 100;

/// The built-in functions of Go templates.
const FUNCTIONS: [&str; 19] = [
    "and", "call", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not", "or",
    "print", "printf", "println", "slice", "urlquery",
];

/// Parses a template.
///
/// # Errors
/// `Syntax` with Go's message, or `Unsupported`.
pub(super) fn parse(name: &'static str, text: &str) -> Result<Program, Failure> {
    parse_with(name, text, &[])
}

/// Parses a template that may call functions of its program besides the built-in ones.
///
/// # Errors
/// As for [`parse`].
pub(super) fn parse_with(
    name: &'static str,
    text: &str,
    functions: &'static [&'static str],
) -> Result<Program, Failure> {
    let mut parser = Parser {
        name,
        functions,
        text,
        tokens: lex(text),
        next: 0,
        furthest: 0,
        variables: vec!["$"],
        ranges: 0,
        depth: 0,
        action_line: None,
        open: Vec::new(),
        templates: BTreeMap::new(),
        definition: None,
    };
    let root = parser.top()?;
    // The root is a template by its name: a definition of the same name would be a second one.
    parser.add(name.to_owned(), root)?;
    let root = parser.templates.remove(name).unwrap_or_default();
    Ok(Program {
        name,
        text: text.into(),
        root,
        templates: parser.templates,
        definition: parser.definition,
    })
}

struct Parser<'s> {
    name: &'static str,
    /// Functions besides the built-in ones.
    functions: &'static [&'static str],
    text: &'s str,
    tokens: Vec<Token<'s>>,
    /// Index of the next token.
    next: usize,
    /// Index of the last token that was read; messages contain its line.
    furthest: usize,
    variables: Vec<&'s str>,
    /// Number of enclosing ranges.
    ranges: usize,
    depth: usize,
    action_line: Option<usize>,
    /// Start positions of the enclosing actions.
    open: Vec<usize>,
    templates: BTreeMap<String, List>,
    definition: Option<usize>,
}

enum Parsed {
    Item(Item),
    End,
    Else,
}

impl Parsed {
    fn in_words(&self) -> &'static str {
        match self {
            Self::End => "{{end}}",
            Self::Else | Self::Item(_) => "{{else}}",
        }
    }
}

type Outcome<T> = Result<T, Failure>;

impl<'s> Parser<'s> {
    fn peek(&mut self) -> &Token<'s> {
        // The last token is the end or an error, and the parser does not read past it.
        let index = self.next.min(self.tokens.len() - 1);
        self.furthest = self.furthest.max(index);
        &self.tokens[index]
    }

    fn peek_kind(&mut self) -> Kind {
        self.peek().kind
    }

    fn next(&mut self) -> Token<'s> {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn skip_spaces(&mut self) {
        while self.peek_kind() == Kind::Space {
            self.next += 1;
        }
    }

    fn next_non_space(&mut self) -> Token<'s> {
        self.skip_spaces();
        self.next()
    }

    fn peek_non_space(&mut self) -> Kind {
        self.skip_spaces();
        self.peek_kind()
    }

    fn line(&self, pos: usize) -> usize {
        1 + self.text[..pos.min(self.text.len())].matches('\n').count()
    }

    fn error(&self, message: impl AsRef<str>) -> Failure {
        let token = &self.tokens[self.furthest];
        Failure {
            kind: FailureKind::Syntax,
            message: format!(
                "template: {}:{}: {}",
                self.name,
                self.line(token.pos),
                message.as_ref()
            ),
            offset: token.pos,
        }
    }

    /// Adds the parser's place to the failure of a literal conversion.
    fn place(&self, failure: Failure) -> Failure {
        match failure.kind {
            FailureKind::Syntax => self.error(failure.message),
            _ => Failure { offset: self.tokens[self.furthest].pos, ..failure },
        }
    }

    fn unexpected(&self, token: &Token<'s>, context: &str) -> Failure {
        if token.kind != Kind::Error {
            return self.error(format!("unexpected {} in {context}", token.in_words()));
        }
        let started = match self.action_line {
            Some(line) if line != self.line(token.pos) && token.text.ends_with(" action") => {
                format!(" started at {}:{line}", self.name)
            }
            Some(line) if line != self.line(token.pos) => {
                format!(" in action started at {}:{line}", self.name)
            }
            _ => String::new(),
        };
        self.error(format!("{}{started}", token.text))
    }

    fn expect_right_delimiter(&mut self, context: &str) -> Outcome<()> {
        let token = self.next_non_space();
        if token.kind == Kind::RightDelimiter {
            Ok(())
        } else {
            Err(self.unexpected(&token, context))
        }
    }

    /// Runs `parse` one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.depth == MAX_DEPTH {
            return Err(Failure {
                kind: FailureKind::Unsupported,
                message: format!("a template nested more than {MAX_DEPTH} deep is not supported"),
                offset: self.tokens[self.furthest].pos,
            });
        }
        self.depth += 1;
        let outcome = parse(self);
        self.depth -= 1;
        outcome
    }

    fn top(&mut self) -> Outcome<List> {
        let mut root = List { pos: self.peek().pos, items: Vec::new() };
        while self.peek_kind() != Kind::Eof {
            if self.peek_kind() == Kind::LeftDelimiter {
                let delimiter = self.next;
                self.next += 1;
                if self.next_non_space().kind == Kind::Define {
                    self.open.push(self.tokens[delimiter].pos);
                    self.definition()?;
                    self.open.pop();
                    continue;
                }
                // It was no definition: the action is read again from its delimiter.
                self.next = delimiter;
            }
            match self.text_or_action()? {
                Parsed::Item(item) => root.items.push(item),
                other => return Err(self.error(format!("unexpected {}", other.in_words()))),
            }
        }
        Ok(root)
    }

    fn definition(&mut self) -> Outcome<()> {
        let context = "define clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, context)?;
        self.expect_right_delimiter(context)?;
        self.define(name, context)
    }

    /// Parses the body of a `define` or `block`, in its own scope.
    fn define(&mut self, name: String, context: &str) -> Outcome<()> {
        let variables = std::mem::replace(&mut self.variables, vec!["$"]);
        // A `break` in a definition does not belong to a loop around it.
        let ranges = std::mem::take(&mut self.ranges);
        // The place of the first definition is shown.
        self.definition = self.definition.or(self.open.last().copied());
        self.skip_spaces();
        let pos = self.peek().pos;
        let (items, end) = self.nested(Self::items)?;
        if !matches!(end, Parsed::End) {
            return Err(self.error(format!("unexpected {} in {context}", end.in_words())));
        }
        self.variables = variables;
        self.ranges = ranges;
        self.add(name, List { pos, items })
    }

    /// Adds a template. If two templates have the same name, one of them must be empty.
    fn add(&mut self, name: String, body: List) -> Outcome<()> {
        match self.templates.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(body);
            }
            Entry::Occupied(mut entry) if entry.get().is_empty() => {
                entry.insert(body);
            }
            Entry::Occupied(entry) if !body.is_empty() => {
                let message =
                    format!("template: multiple definition of template {}", go_quote(entry.key()));
                return Err(self.error(message));
            }
            // An empty body does not replace one that has content.
            Entry::Occupied(_) => {}
        }
        Ok(())
    }

    fn items(&mut self) -> Outcome<(Vec<Item>, Parsed)> {
        let mut items = Vec::new();
        while self.peek_non_space() != Kind::Eof {
            match self.text_or_action()? {
                Parsed::Item(item) => items.push(item),
                end => return Ok((items, end)),
            }
        }
        // The error is at the unclosed action, because the end of the text does not show it.
        let failure = self.error("unexpected EOF");
        Err(Failure { offset: self.open.last().copied().unwrap_or(failure.offset), ..failure })
    }

    fn text_or_action(&mut self) -> Outcome<Parsed> {
        let token = self.next_non_space();
        match (token.kind, token.text) {
            (Kind::Text, Cow::Borrowed(text)) => {
                Ok(Parsed::Item(Item::Text { pos: token.pos, text: text.into() }))
            }
            (Kind::LeftDelimiter, _) => {
                // Messages about an unclosed action name the line on which it began.
                self.action_line = Some(self.line(token.pos));
                self.open.push(token.pos);
                let parsed = self.action()?;
                self.open.pop();
                self.action_line = None;
                Ok(parsed)
            }
            (kind, text) => Err(self.unexpected(&Token { kind, pos: token.pos, text }, "input")),
        }
    }

    fn action(&mut self) -> Outcome<Parsed> {
        self.skip_spaces();
        let start = self.next;
        let token = self.next();
        Ok(Parsed::Item(match token.kind {
            Kind::Block => self.block()?,
            Kind::Break => self.loop_control("{{break}}", Item::Break { pos: token.pos })?,
            Kind::Continue => {
                self.loop_control("{{continue}}", Item::Continue { pos: token.pos })?
            }
            Kind::If => self.nested(|parser| parser.branch(Keyword::If))?,
            Kind::Range => self.nested(|parser| parser.branch(Keyword::Range))?,
            Kind::With => self.nested(|parser| parser.branch(Keyword::With))?,
            Kind::Template => {
                let token = self.next_non_space();
                let name = self.template_name(&token, "template clause")?;
                let pipe = if self.peek_non_space() == Kind::RightDelimiter {
                    self.next += 1;
                    None
                } else {
                    Some(self.pipeline("template clause", Kind::RightDelimiter)?)
                };
                Item::Template { pos: token.pos, name, pipe }
            }
            Kind::End => {
                self.expect_right_delimiter("end")?;
                return Ok(Parsed::End);
            }
            Kind::Else => {
                // The enclosing branch reads the rest of an `else if` or `else with`.
                if !matches!(self.peek_non_space(), Kind::If | Kind::With) {
                    self.expect_right_delimiter("else")?;
                }
                return Ok(Parsed::Else);
            }
            _ => {
                self.next = start;
                Item::Action {
                    pos: token.pos,
                    pipe: self.pipeline("command", Kind::RightDelimiter)?,
                }
            }
        }))
    }

    fn loop_control(&mut self, words: &str, item: Item) -> Outcome<Item> {
        self.expect_right_delimiter(words)?;
        if self.ranges == 0 {
            Err(self.error(format!("{words} outside {{{{range}}}}")))
        } else {
            Ok(item)
        }
    }

    fn template_name(&mut self, token: &Token<'s>, context: &str) -> Outcome<String> {
        match token.kind {
            Kind::Quoted | Kind::Raw => self.literal(&token.text),
            _ => Err(self.unexpected(token, context)),
        }
    }

    fn literal(&self, text: &str) -> Outcome<String> {
        quote::unquoted(text).map_err(|failure| {
            self.place(
                failure.unwrap_or_else(|| Failure::new(FailureKind::Syntax, "invalid syntax")),
            )
        })
    }

    fn block(&mut self) -> Outcome<Item> {
        let context = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, context)?;
        let pipe = self.pipeline(context, Kind::RightDelimiter)?;
        self.define(name.clone(), context)?;
        Ok(Item::Template { pos: token.pos, name, pipe: Some(pipe) })
    }

    fn branch(&mut self, keyword: Keyword) -> Outcome<Item> {
        let outer = self.variables.len();
        let pipe = self.pipeline(keyword.as_str(), Kind::RightDelimiter)?;
        let looped = usize::from(keyword == Keyword::Range);
        // `break` is valid in the body only, not in the `else` part.
        self.ranges += looped;
        let (body, end) = self.items()?;
        self.ranges -= looped;
        let otherwise = match (end, keyword, self.peek_kind()) {
            // `else if` is a branch inside the `else` part, which ends with the same `end`.
            (Parsed::Else, Keyword::If, Kind::If) | (Parsed::Else, Keyword::With, Kind::With) => {
                self.next += 1;
                Some(vec![self.nested(|parser| parser.branch(keyword))?])
            }
            (Parsed::Else, ..) => {
                let (items, end) = self.items()?;
                if !matches!(end, Parsed::End) {
                    return Err(self.error(format!("expected end; found {}", end.in_words())));
                }
                Some(items)
            }
            _ => None,
        };
        self.variables.truncate(outer);
        Ok(Item::Branch { keyword, pipe, body, otherwise })
    }

    // Pipelines, commands and operands.

    fn pipeline(&mut self, context: &str, end: Kind) -> Outcome<Pipe> {
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

    fn command(&mut self) -> Outcome<Command> {
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

    fn operand(&mut self) -> Outcome<Option<Operand>> {
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
    fn term(&mut self) -> Outcome<Option<Operand>> {
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

    fn number(&self, kind: Kind, text: &str) -> Outcome<quote::Number> {
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
