//! Tokens of a Go template.
//!
//! In: the text of a template. Out: all its tokens, the last one [`Kind::Eof`] or [`Kind::Error`].
//! Spacing, trim markers and comments follow Go's `text/template/parse/lex.go`.

use crate::quantity::go_quote;
use std::borrow::Cow;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The rest of the text cannot be read; the token's text is the error message.
    Error,
    /// Text outside actions.
    Text,
    LeftDelimiter,
    RightDelimiter,
    LeftParen,
    RightParen,
    Space,
    Pipe,
    /// `=`.
    Assign,
    /// `:=`.
    Declare,
    /// Any other printable ASCII character.
    Char,
    /// `'a'`.
    CharConstant,
    /// `1+2i`.
    Complex,
    Number,
    Bool,
    Nil,
    /// A text in double quotes, quotes included.
    Quoted,
    /// A text in backquotes, quotes included.
    Raw,
    Dot,
    /// `.Name`, dot included.
    Field,
    /// `$` or `$name`.
    Variable,
    /// A function's name.
    Identifier,
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Template,
    With,
    Eof,
}

impl Kind {
    /// Reports whether messages write the token as `<word>`.
    fn is_keyword(self) -> bool {
        use Kind::{
            Block, Break, Continue, Define, Dot, Else, End, If, Nil, Range, Template, With,
        };
        matches!(
            self,
            Block
                | Break
                | Continue
                | Dot
                | Define
                | Else
                | End
                | If
                | Nil
                | Range
                | Template
                | With
        )
    }
}

/// One token.
#[derive(Clone, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    /// First byte in the template.
    pub(super) pos: usize,
    pub(super) text: Cow<'s, str>,
}

impl Token<'_> {
    /// Formats the token as in Go's messages.
    pub(super) fn in_words(&self) -> String {
        match self.kind {
            Kind::Eof => "EOF".into(),
            Kind::Error => self.text.clone().into_owned(),
            kind if kind.is_keyword() => format!("<{}>", self.text),
            _ if self.text.len() > 10 => {
                format!("{}...", go_quote(&self.text.chars().take(10).collect::<String>()))
            }
            _ => go_quote(&self.text),
        }
    }
}

const LEFT: &str = "{{";
const RIGHT: &str = "}}";
const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

/// Returns all tokens of a template.
pub(super) fn lex(input: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { input, start: 0, pos: 0, depth: 0, tokens: Vec::new() };
    let end = match lexer.texts() {
        Ok(()) => Token { kind: Kind::Eof, pos: input.len(), text: Cow::Borrowed("") },
        Err(message) => Token { kind: Kind::Error, pos: lexer.start, text: Cow::Owned(message) },
    };
    lexer.tokens.push(end);
    lexer.tokens
}

struct Lexer<'s> {
    input: &'s str,
    /// First byte of the token being read.
    start: usize,
    pos: usize,
    /// Number of open parentheses in the action.
    depth: usize,
    tokens: Vec<Token<'s>>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.input[self.pos..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    fn emit(&mut self, kind: Kind) {
        self.tokens.push(Token {
            kind,
            pos: self.start,
            text: Cow::Borrowed(&self.input[self.start..self.pos]),
        });
        self.start = self.pos;
    }

    /// Moves to a place and skips the text before it.
    fn skip_to(&mut self, pos: usize) {
        self.start = pos;
        self.pos = pos;
    }

    fn texts(&mut self) -> Result<(), String> {
        while let Some(length) = self.rest().find(LEFT) {
            let open = self.pos + length;
            // A trim marker needs the space: `{{-3}}` is a number.
            let trims = trims_left(&self.input[open + LEFT.len()..]);
            let text = &self.input[self.pos..open];
            self.pos += if trims { text.trim_end_matches(SPACES).len() } else { text.len() };
            if self.pos > self.start {
                self.emit(Kind::Text);
            }
            // The minus and its space.
            let inside = open + LEFT.len() + if trims { 2 } else { 0 };
            self.skip_to(open);
            if self.input[inside..].starts_with("/*") {
                self.skip_to(inside);
                self.comment()?;
            } else {
                self.pos += LEFT.len();
                self.emit(Kind::LeftDelimiter);
                self.skip_to(inside);
                self.action()?;
            }
        }
        self.pos = self.input.len();
        if self.pos > self.start {
            self.emit(Kind::Text);
        }
        Ok(())
    }

    /// Returns, if a closing delimiter is here, whether it trims the text after it.
    fn right_delimiter(&self) -> Option<bool> {
        let rest = self.rest();
        if trims_right(rest) {
            return Some(true);
        }
        rest.starts_with(RIGHT).then_some(false)
    }

    fn pass_right_delimiter(&mut self, trims: bool, emitted: bool) {
        if trims {
            self.skip_to(self.pos + 2);
        }
        self.pos += RIGHT.len();
        if emitted {
            self.emit(Kind::RightDelimiter);
        }
        let rest = self.rest();
        let spaces = if trims { rest.len() - rest.trim_start_matches(SPACES).len() } else { 0 };
        self.skip_to(self.pos + spaces);
    }

    fn comment(&mut self) -> Result<(), String> {
        let length = self.input[self.pos + 2..].find("*/").ok_or("unclosed comment")?;
        self.pos += 2 + length + 2;
        let trims = self.right_delimiter().ok_or("comment ends before closing delimiter")?;
        self.pass_right_delimiter(trims, false);
        Ok(())
    }

    fn action(&mut self) -> Result<(), String> {
        self.depth = 0;
        loop {
            if let Some(trims) = self.right_delimiter() {
                if self.depth > 0 {
                    return Err("unclosed left paren".into());
                }
                self.pass_right_delimiter(trims, true);
                return Ok(());
            }
            let first = self.advance().ok_or("unclosed action")?;
            match first {
                ' ' | '\t' | '\r' | '\n' => self.spaces(),
                '=' => self.emit(Kind::Assign),
                ':' => {
                    if self.advance() != Some('=') {
                        return Err("expected :=".into());
                    }
                    self.emit(Kind::Declare);
                }
                '|' => self.emit(Kind::Pipe),
                '"' => self.quoted('"', Kind::Quoted, "unterminated quoted string")?,
                '\'' => self.quoted('\'', Kind::CharConstant, "unterminated character constant")?,
                '`' => {
                    let length = self.rest().find('`').ok_or("unterminated raw quoted string")?;
                    self.pos += length + 1;
                    self.emit(Kind::Raw);
                }
                '$' => self.name(Kind::Variable, Kind::Variable)?,
                // `.5` is a number.
                '.' if self.peek().is_some_and(|c| !c.is_ascii_digit()) => {
                    self.name(Kind::Field, Kind::Dot)?;
                }
                '.' | '+' | '-' | '0'..='9' => {
                    self.pos = self.start;
                    self.number()?;
                }
                c if is_alphanumeric(c) => self.identifier()?,
                '(' => {
                    self.depth += 1;
                    self.emit(Kind::LeftParen);
                }
                ')' => {
                    self.depth = self.depth.checked_sub(1).ok_or("unexpected right paren")?;
                    self.emit(Kind::RightParen);
                }
                c if c.is_ascii_graphic() => self.emit(Kind::Char),
                c => return Err(format!("unrecognized character in action: {}", code_point(c))),
            }
        }
    }

    /// Reads a run of spaces, without the last one if it starts a trimming delimiter.
    fn spaces(&mut self) {
        self.pos = self.start + (self.input.len() - self.start)
            - self.input[self.start..].trim_start_matches(SPACES).len();
        // The last space belongs to the trim marker.
        if trims_right(&self.input[self.pos - 1..]) {
            self.pos -= 1;
        }
        if self.pos > self.start {
            self.emit(Kind::Space);
        }
    }

    fn quoted(&mut self, quote: char, kind: Kind, unterminated: &str) -> Result<(), String> {
        loop {
            match self.advance() {
                // The character behind a backslash never ends the text.
                Some('\\') if !matches!(self.advance(), None | Some('\n')) => {}
                None | Some('\n' | '\\') => return Err(unterminated.into()),
                Some(c) if c == quote => break,
                Some(_) => {}
            }
        }
        self.emit(kind);
        Ok(())
    }

    /// Reads letters and digits, and checks the character after them.
    fn word(&mut self) -> Result<(), String> {
        while self.peek().is_some_and(is_alphanumeric) {
            self.advance();
        }
        match self.peek() {
            Some(c) if !self.at_terminator() => Err(format!("bad character {}", code_point(c))),
            _ => Ok(()),
        }
    }

    fn at_terminator(&self) -> bool {
        self.peek()
            .is_none_or(|c| SPACES.contains(&c) || matches!(c, '.' | ',' | '|' | ':' | ')' | '('))
            || self.rest().starts_with(RIGHT)
    }

    /// Reads a token that starts with a dot or a dollar sign; its kind is `alone` when no name
    /// follows the sign.
    fn name(&mut self, kind: Kind, alone: Kind) -> Result<(), String> {
        if self.at_terminator() {
            self.emit(alone);
            return Ok(());
        }
        self.word()?;
        self.emit(kind);
        Ok(())
    }

    fn identifier(&mut self) -> Result<(), String> {
        self.word()?;
        self.emit(match &self.input[self.start..self.pos] {
            "block" => Kind::Block,
            "break" => Kind::Break,
            "continue" => Kind::Continue,
            "define" => Kind::Define,
            "else" => Kind::Else,
            "end" => Kind::End,
            "if" => Kind::If,
            "range" => Kind::Range,
            "nil" => Kind::Nil,
            "template" => Kind::Template,
            "with" => Kind::With,
            "true" | "false" => Kind::Bool,
            _ => Kind::Identifier,
        });
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        let well_formed = self.scan_number();
        let complex = well_formed && matches!(self.peek(), Some('+' | '-'));
        if !well_formed
            || (complex && !(self.scan_number() && self.input[..self.pos].ends_with('i')))
        {
            return Err(format!(
                "bad number syntax: {}",
                go_quote(&self.input[self.start..self.pos])
            ));
        }
        self.emit(if complex { Kind::Complex } else { Kind::Number });
        Ok(())
    }

    /// Reads the characters of a number in any of Go's forms; the conversion finds invalid numbers.
    fn scan_number(&mut self) -> bool {
        self.accept("+-");
        let mut digits = "0123456789_";
        if self.accept("0") {
            if self.accept("xX") {
                digits = "0123456789abcdefABCDEF_";
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        while self.accept(digits) {}
        if self.accept(".") {
            while self.accept(digits) {}
        }
        let exponent = match digits.len() {
            // By the length of the set: decimal and hexadecimal numbers have exponents, the others
            // have none.
            11 => self.accept("eE"),
            23 => self.accept("pP"),
            _ => false,
        };
        if exponent {
            self.accept("+-");
            while self.accept("0123456789_") {}
        }
        self.accept("i");
        // The wrong character is part of the message.
        if self.peek().is_some_and(is_alphanumeric) {
            self.advance();
            return false;
        }
        true
    }

    fn accept(&mut self, valid: &str) -> bool {
        let found = self.peek().is_some_and(|c| valid.contains(c));
        if found {
            self.advance();
        }
        found
    }
}

fn trims_left(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.starts_with(SPACES))
}

/// Reports whether the text starts with a space, a minus and a closing delimiter.
fn trims_right(text: &str) -> bool {
    text.strip_prefix(SPACES).is_some_and(|rest| rest.starts_with("-}}"))
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_ascii_digit() || c.is_alphabetic()
}

/// Formats a character like Go's `%#U`.
fn code_point(c: char) -> String {
    let code = format!("U+{:04X}", u32::from(c));
    if super::quote::is_printable(c) { format!("{code} '{c}'") } else { code }
}
