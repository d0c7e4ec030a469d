//! The contextual escapes of `html/template`.
//!
//! In: a parsed template. Out: the same template, ready to be executed as a plain one: every action
//! ends with the functions that make its value safe where it stands in HTML, JavaScript, CSS or a
//! URL, comments are gone, a `<` that begins no tag is `&lt;`, and a template that is called in
//! several contexts is there once for each. Or Go's own sentence on why a place has no context.
//! Nothing is executed here, and no value is known.
//!
//! [`context`] says what a place can be, [`transition`] how text moves from place to place,
//! [`escapers`] what the functions do. Rules, order and words follow Go's
//! `html/template/escape.go`.

pub(crate) mod attributes;
pub(crate) mod context;
pub(crate) mod css;
pub(crate) mod entities;
pub(crate) mod escapers;
pub(crate) mod pipeline;
#[cfg(test)]
mod tests;
pub(crate) mod transition;

pub(super) use escapers::{escape as escape_value, js_value};

use super::ast::{Item, Keyword, List, Pipe, Program};
use super::error::{Failure, Kind};
use super::exec::line_and_column;
use super::parse::MAX_DEPTH;
use crate::quantity::go_quote;
use context::{Attribute, Context, Delimiter, Element, Problem, State, UrlPart};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use transition::{find_any, special_tag_end, transition};

/// Bytes and nodes that may be read, each as often as it is looked at: Go reads the body of a loop
/// twice, and what is nested doubles at every level.
const MAX_WORK: usize = 4 << 20;
/// What a node counts, in bytes of text.
const NODE: usize = 64;

/// Gives every place its escapes.
///
/// # Errors
/// `Syntax` in Go's words, or `Unsupported` for what takes unbounded work.
pub(super) fn escape<'s>(program: &Program<'s>) -> Result<Program<'s>, Failure> {
    let mut escaper = Escaper {
        program,
        outputs: BTreeMap::new(),
        bodies: BTreeMap::new(),
        undo: Vec::new(),
        called: BTreeSet::new(),
        loops: Vec::new(),
        depth: 0,
        work: 0,
    };
    let (context, _) = escaper.template(&Context::default(), 0, program.name)?;
    match &context.problem {
        Some(problem) => Err(escaper.failure(&problem.borrow())),
        None if context.state != State::Text => {
            let message =
                format!("html/template:{}: ends in a non-text context: {context}", program.name);
            Err(Failure { kind: Kind::Syntax, message, offset: program.text.len() })
        }
        None => {
            let mut templates = escaper.bodies;
            let root = templates.remove(program.name).unwrap_or_default();
            Ok(Program {
                name: program.name,
                text: program.text,
                root,
                templates,
                definition: program.definition,
            })
        }
    }
}

/// What is known of a program while it is read.
struct Escaper<'p, 's> {
    program: &'p Program<'s>,
    /// The context behind each template, by the name it has in the context before it.
    outputs: BTreeMap<String, Context>,
    /// The templates with their escapes.
    bodies: BTreeMap<String, List<'s>>,
    /// How to forget what was found under an assumption that turned out wrong.
    undo: Vec<Undo>,
    /// The templates called since the last assumption.
    called: BTreeSet<String>,
    /// The loops around here, with the contexts in which `break` and `continue` leave their
    /// bodies.
    loops: Vec<Loop>,
    depth: usize,
    work: usize,
}

enum Undo {
    Output(String, Option<Context>),
    Body(String),
}

#[derive(Default)]
struct Loop {
    breaks: Vec<(Context, usize)>,
    continues: Vec<(Context, usize)>,
}

type Outcome<T> = Result<T, Failure>;

impl<'s> Escaper<'_, 's> {
    fn failure(&self, problem: &Problem) -> Failure {
        let name = self.program.name;
        let place = match (problem.node, problem.line) {
            (Some(pos), _) => {
                let (line, column) = line_and_column(self.program.text, pos);
                format!("{name}:{line}:{column}")
            }
            (None, Some(line)) => format!("{name}:{line}"),
            (None, None) => name.to_owned(),
        };
        Failure {
            kind: Kind::Syntax,
            message: format!("html/template:{place}: {}", problem.message),
            offset: problem.offset,
        }
    }

    fn charge(&mut self, amount: usize, offset: usize) -> Outcome<()> {
        self.work = self.work.saturating_add(amount).saturating_add(1);
        if self.work > MAX_WORK {
            Err(unsupported(
                "a template that takes so much work to escape is not supported",
                offset,
            ))
        } else {
            Ok(())
        }
    }

    /// Runs `run` one level deeper.
    fn nested<T>(
        &mut self,
        offset: usize,
        run: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        if self.depth == MAX_DEPTH {
            return Err(unsupported(
                &format!("a template nested more than {MAX_DEPTH} deep is not supported"),
                offset,
            ));
        }
        self.depth += 1;
        let outcome = run(self);
        self.depth -= 1;
        outcome
    }

    fn list(
        &mut self,
        mut context: Context,
        items: &[Item<'s>],
    ) -> Outcome<(Context, Vec<Item<'s>>)> {
        let mut escaped = Vec::with_capacity(items.len());
        for item in items {
            self.charge(NODE, 0)?;
            let (after, item) = self.item(context, item)?;
            escaped.push(item);
            context = after;
            // What follows is never reached.
            if context.state == State::Dead {
                break;
            }
        }
        Ok((context, escaped))
    }

    fn item(&mut self, context: Context, item: &Item<'s>) -> Outcome<(Context, Item<'s>)> {
        match item {
            Item::Text { pos, text } => {
                let (context, text) = self.text(context, *pos, text)?;
                Ok((context, Item::Text { pos: *pos, text }))
            }
            Item::Action { pos, pipe } => {
                let (context, pipe) = action(context, *pos, pipe);
                Ok((context, Item::Action { pos: *pos, pipe }))
            }
            Item::Branch { keyword, pipe, body, otherwise } => self.nested(pipe.pos, |escaper| {
                let otherwise_context = context.apart();
                let (mut after, body) = escaper.body(context.apart(), *keyword, pipe, body)?;
                let mut escaped = None;
                if after.state != State::Error || *keyword != Keyword::Range {
                    let (after_otherwise, items) = escaper
                        .list(otherwise_context, otherwise.as_deref().unwrap_or_default())?;
                    escaped = otherwise.as_ref().map(|_| items);
                    after = join(&after, &after_otherwise, pipe.pos, *keyword);
                }
                Ok((
                    after,
                    Item::Branch {
                        keyword: *keyword,
                        pipe: pipe.clone(),
                        body,
                        otherwise: escaped,
                    },
                ))
            }),
            Item::Template { pos, name, pipe } => {
                let (context, name) =
                    self.nested(*pos, |escaper| escaper.template(&context, *pos, name))?;
                Ok((context, Item::Template { pos: *pos, name, pipe: pipe.clone() }))
            }
            Item::Break { pos } => {
                if let Some(around) = self.loops.last_mut() {
                    around.breaks.push((context, *pos));
                }
                Ok((Context::of(State::Dead), item.clone()))
            }
            Item::Continue { pos } => {
                if let Some(around) = self.loops.last_mut() {
                    around.continues.push((context, *pos));
                }
                Ok((Context::of(State::Dead), item.clone()))
            }
        }
    }

    /// The first branch; that of a loop must end in the context in which it begins again.
    fn body(
        &mut self,
        context: Context,
        keyword: Keyword,
        pipe: &Pipe<'s>,
        items: &[Item<'s>],
    ) -> Outcome<(Context, Vec<Item<'s>>)> {
        if keyword != Keyword::Range {
            return self.list(context, items);
        }
        let (first, escaped) = self.loop_body(context, items)?;
        if first.state == State::Error {
            return Ok((first, escaped));
        }
        // A second time, and nothing is kept of it but the context.
        let (mark, called) = (self.undo.len(), std::mem::take(&mut self.called));
        self.loops.push(Loop::default());
        let again = self.list(first.clone(), items)?.0;
        let around = self.loops.pop().unwrap_or_default();
        self.undo_to(mark);
        self.called = called;
        let joined = join(&first, &again, pipe.pos, keyword);
        if joined.state == State::Error {
            let line = line_and_column(self.program.text, pipe.pos).0;
            explain(&joined, "on range loop re-entry: ", line);
            return Ok((joined, escaped));
        }
        Ok((self.left(joined, around), escaped))
    }

    fn loop_body(
        &mut self,
        context: Context,
        items: &[Item<'s>],
    ) -> Outcome<(Context, Vec<Item<'s>>)> {
        self.loops.push(Loop::default());
        let (context, escaped) = self.list(context, items)?;
        let around = self.loops.pop().unwrap_or_default();
        Ok((
            if context.state == State::Error { context } else { self.left(context, around) },
            escaped,
        ))
    }

    /// The context behind a loop's body, with those in which it is left early.
    fn left(&self, mut context: Context, around: Loop) -> Context {
        for (exits, message) in [
            (around.breaks, "at range loop break: "),
            (around.continues, "at range loop continue: "),
        ] {
            for (exit, pos) in exits {
                context = join(&context, &exit, pos, Keyword::Range);
                if context.state == State::Error {
                    explain(&context, message, line_and_column(self.program.text, pos).0);
                    return context;
                }
            }
        }
        context
    }

    /// A template called in a context: the context behind it, and the name that it has in this
    /// context.
    fn template(
        &mut self,
        context: &Context,
        pos: usize,
        name: &str,
    ) -> Outcome<(Context, String)> {
        let derived = context.template_name(name);
        self.charge(derived.len(), pos)?;
        self.called.insert(derived.clone());
        if let Some(after) = self.outputs.get(&derived) {
            return Ok((after.clone(), derived));
        }
        let program = self.program;
        let Some(body) = program.template(name) else {
            let message = format!("no such template {}", go_quote(name));
            return Ok((
                Context::error(Problem { node: Some(pos), line: None, offset: pos, message }),
                derived,
            ));
        };
        let body = program.template(&derived).unwrap_or(body);
        let (mut after, mut certain) = self.assume(context, &derived, body)?;
        if !certain {
            // It may end as it did under the assumption that it ends as it begins.
            let (again, fixed) = self.assume(&after, &derived, body)?;
            if fixed {
                (after, certain) = (again, true);
            }
        }
        if !certain && after.state != State::Error {
            let message = format!("cannot compute output context for template {derived}");
            after = Context::error(Problem {
                node: Some(body.pos),
                line: None,
                offset: body.pos,
                message,
            });
        }
        Ok((after, derived))
    }

    /// Reads a template that begins in a context, as if it ended there too where it calls itself.
    /// Whether that was right, or did not matter.
    fn assume(
        &mut self,
        context: &Context,
        name: &str,
        body: &List<'s>,
    ) -> Outcome<(Context, bool)> {
        let before = self.outputs.insert(name.to_owned(), context.clone());
        self.undo.push(Undo::Output(name.to_owned(), before));
        let (mark, mut called) = (self.undo.len(), std::mem::take(&mut self.called));
        let (after, items) = self.list(context.clone(), &body.items)?;
        let certain =
            after.state != State::Error && (!self.called.contains(name) || context.same(&after));
        if certain {
            self.bodies.insert(name.to_owned(), List { pos: body.pos, items });
            self.undo.push(Undo::Body(name.to_owned()));
            if called.len() < self.called.len() {
                std::mem::swap(&mut called, &mut self.called);
            }
            self.charge(called.len(), body.pos)?;
            self.called.append(&mut called);
        } else {
            self.undo_to(mark);
            self.called = called;
        }
        Ok((after, certain))
    }

    fn undo_to(&mut self, mark: usize) {
        for step in self.undo.drain(mark..).rev() {
            match step {
                Undo::Output(name, Some(context)) => drop(self.outputs.insert(name, context)),
                Undo::Output(name, None) => drop(self.outputs.remove(&name)),
                Undo::Body(name) => drop(self.bodies.remove(&name)),
            }
        }
    }

    /// A text without comments, and with every `<` that begins no tag escaped.
    fn text<'t>(
        &mut self,
        mut context: Context,
        pos: usize,
        text: &Cow<'t, str>,
    ) -> Outcome<(Context, Cow<'t, str>)> {
        let bytes = text.as_bytes();
        let mut edited = Vec::new();
        // What stands before this byte is written, or dropped.
        let mut written = 0;
        let mut start = 0;
        let mut tag_end = TagEnd::default();
        while start < bytes.len() {
            let (after, length) = after_text(&context, &bytes[start..], start, &mut tag_end);
            self.charge(length, pos)?;
            if let Some(problem) = after.problem.as_ref().filter(|_| context.state != State::Error)
            {
                problem.borrow_mut().offset = pos;
            }
            let end = start + length;
            let moves = after.state != context.state;
            let token = &bytes[start..end];
            if let State::Text | State::Rcdata = context.state {
                // What moves on begins with the last `<`, which stays.
                let plain = if moves {
                    token.iter().rposition(|byte| *byte == b'<').unwrap_or(token.len())
                } else {
                    token.len()
                };
                for open in (start..start + plain).filter(|at| bytes[*at] == b'<') {
                    if !bytes[open..]
                        .get(..DOCTYPE.len())
                        .is_some_and(|word| word.eq_ignore_ascii_case(DOCTYPE))
                    {
                        edited.extend_from_slice(&bytes[written..open]);
                        edited.extend_from_slice(b"&lt;");
                        written = open + 1;
                    }
                }
            } else if context.state.is_comment() && context.delimiter == Delimiter::None {
                match context.state {
                    // The comment of a script counts as a line where it holds the end of one.
                    State::JsBlockComment => {
                        let lines = String::from_utf8_lossy(&bytes[written..end])
                            .contains(['\n', '\r', '\u{2028}', '\u{2029}']);
                        edited.push(if lines { b'\n' } else { b' ' });
                    }
                    State::CssBlockComment => edited.push(b' '),
                    _ => {}
                }
                written = end;
            }
            if moves && after.state.is_comment() && after.delimiter == Delimiter::None {
                let opening = match after.state {
                    State::HtmlComment | State::JsHtmlOpenComment => 4,
                    State::JsHtmlCloseComment => 3,
                    _ => 2,
                };
                edited.extend_from_slice(&bytes[written..end - opening]);
                written = end;
            }
            if context.state.is_script_literal()
                && let Some(safe) = without_script_tags(token)
            {
                edited.extend_from_slice(&bytes[written..start]);
                edited.extend_from_slice(&safe);
                written = end;
            }
            if length == 0 && !moves {
                return Err(unsupported("a text that never ends is not supported", pos));
            }
            (context, start) = (after, end);
        }
        if written == 0 || context.state == State::Error {
            return Ok((context, text.clone()));
        }
        if !context.state.is_comment() || context.delimiter != Delimiter::None {
            edited.extend_from_slice(&bytes[written..]);
        }
        Ok((context, String::from_utf8_lossy(&edited).into_owned().into()))
    }
}

const DOCTYPE: &[u8] = b"<!DOCTYPE";

fn unsupported(message: &str, offset: usize) -> Failure {
    Failure { offset, ..Failure::new(Kind::Unsupported, message) }
}

/// The context behind two branches of the node at a place.
fn join(left: &Context, right: &Context, pos: usize, keyword: Keyword) -> Context {
    left.join(right).unwrap_or_else(|| {
        let message = format!(
            "{{{{{}}}}} branches end in different contexts: {left}, {right}",
            keyword.as_str()
        );
        Context::error(Problem { node: Some(pos), line: None, offset: pos, message })
    })
}

/// Says which part of a loop an error belongs to.
fn explain(context: &Context, message: &str, line: usize) {
    if let Some(problem) = &context.problem {
        let mut problem = problem.borrow_mut();
        problem.line = Some(line);
        problem.message.insert_str(0, message);
    }
}

/// An action in its context, with the escapers that it needs there.
fn action<'s>(context: Context, pos: usize, pipe: &Pipe<'s>) -> (Context, Pipe<'s>) {
    if !pipe.variables.is_empty() {
        return (context, pipe.clone());
    }
    let mut context = context.nudged();
    let error = |message: String| {
        (
            Context::error(Problem { node: Some(pos), line: None, offset: pos, message }),
            pipe.clone(),
        )
    };
    let unquoted = context.state == State::Attr && context.delimiter == Delimiter::SpaceOrTagEnd;
    for (position, command) in pipe.commands.iter().enumerate() {
        if let Some(name) = pipeline::predefined(command)
            && (position + 1 < pipe.commands.len() || (unquoted && name == "html"))
        {
            return error(format!("predefined escaper {} disallowed in template", go_quote(name)));
        }
    }
    let mut escapers = Vec::with_capacity(3);
    match context.state {
        State::Error | State::Dead => return (context, pipe.clone()),
        State::Url
        | State::CssDoubleQuoted
        | State::CssSingleQuoted
        | State::CssDoubleQuotedUrl
        | State::CssSingleQuotedUrl
        | State::CssUrl => {
            if context.url_part == UrlPart::None {
                escapers.push("_html_template_urlfilter");
            }
            escapers.push(match (context.url_part, context.state) {
                (UrlPart::Unknown, _) => {
                    return error(format!(
                        "{{{{{pipe}}}}} appears in an ambiguous context within a URL"
                    ));
                }
                (UrlPart::QueryOrFragment, _) => "_html_template_urlescaper",
                (_, State::CssDoubleQuoted | State::CssSingleQuoted) => "_html_template_cssescaper",
                _ => "_html_template_urlnormalizer",
            });
        }
        State::MetaContentUrl => escapers.push("_html_template_urlfilter"),
        State::Js => {
            escapers.push("_html_template_jsvalescaper");
            // A slash behind a value divides.
            context.slash = context::Slash::Division;
        }
        State::JsDoubleQuoted | State::JsSingleQuoted => {
            escapers.push("_html_template_jsstrescaper");
        }
        State::JsTemplate => escapers.push("_html_template_jstmpllitescaper"),
        State::JsRegexp => escapers.push("_html_template_jsregexpescaper"),
        State::Css => escapers.push("_html_template_cssvaluefilter"),
        State::Text => escapers.push("_html_template_htmlescaper"),
        State::Rcdata => escapers.push("_html_template_rcdataescaper"),
        State::AttrName | State::Tag | State::AfterName | State::BeforeValue => {
            escapers.push("_html_template_htmlnamefilter");
        }
        State::Srcset => escapers.push("_html_template_srcsetescaper"),
        // The delimiter says what they need.
        State::Attr | State::MetaContent => {}
        State::HtmlComment
        | State::JsBlockComment
        | State::JsLineComment
        | State::JsHtmlOpenComment
        | State::JsHtmlCloseComment
        | State::CssBlockComment
        | State::CssLineComment => escapers.push("_html_template_commentescaper"),
    }
    match context.delimiter {
        Delimiter::None => {}
        Delimiter::SpaceOrTagEnd => escapers.push("_html_template_nospaceescaper"),
        Delimiter::DoubleQuote | Delimiter::SingleQuote => {
            escapers.push("_html_template_attrescaper");
        }
    }
    let pipe = pipeline::with_escapers(pipe, escapers);
    (context, pipe)
}

/// Where the end tag of the element that is being read begins in a text, once it was looked for.
#[derive(Default)]
struct TagEnd(Option<(Element, usize)>);

/// The context behind the next token of a text that begins at `start`, and the token's length.
fn after_text(
    context: &Context,
    text: &[u8],
    start: usize,
    tag_end: &mut TagEnd,
) -> (Context, usize) {
    if context.delimiter == Delimiter::None {
        let literal = context.element == Element::Script
            && (context.state.is_script_literal() || context.state.is_comment());
        let end = match tag_end.0 {
            _ if context.element == Element::None || literal => text.len(),
            // It is looked for once: a script has many tokens.
            Some((element, end)) if element == context.element && end >= start => end - start,
            _ => {
                let end = special_tag_end(context.clone(), text).1;
                tag_end.0 = Some((context.element, start + end));
                end
            }
        };
        return if end == 0 {
            (Context::default(), 0)
        } else {
            transition(context.clone(), &text[..end])
        };
    }
    let ends: &[u8] = match context.delimiter {
        Delimiter::DoubleQuote => b"\"",
        Delimiter::SingleQuote => b"'",
        Delimiter::None | Delimiter::SpaceOrTagEnd => b" \t\n\x0c\r>",
    };
    let end = find_any(text, ends);
    let value = &text[..end.unwrap_or(text.len())];
    let unquoted = context.delimiter == Delimiter::SpaceOrTagEnd;
    if unquoted && let Some(at) = find_any(value, b"\"'<=`") {
        // Readers of HTML differ on where such a value ends.
        let quoted = |text: &[u8]| go_quote(&String::from_utf8_lossy(text));
        return (
            Context::bad_text(format!(
                "{} in unquoted attr: {}",
                quoted(&value[at..=at]),
                quoted(value)
            )),
            text.len(),
        );
    }
    let Some(end) = end else {
        let decoded = entities::unescape(value);
        let (mut context, mut rest) = (context.clone(), decoded.as_slice());
        while !rest.is_empty() {
            let (after, length) = transition(context, rest);
            (context, rest) = (after, &rest[length..]);
        }
        return (context, text.len());
    };
    let foreign = context.state == State::Attr
        && context.element == Element::Script
        && context.attribute == Attribute::ScriptType
        && !attributes::is_js_type(&String::from_utf8_lossy(value));
    let element = if foreign { Element::None } else { context.element };
    (Context { element, ..Context::of(State::Tag) }, end + usize::from(!unquoted))
}

/// A token with the beginnings of script tags and comments escaped; none when it has none.
fn without_script_tags(token: &[u8]) -> Option<Vec<u8>> {
    let begins_tag = |rest: &[u8]| {
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        // The long s is an s where case does not matter.
        [b"script".as_slice(), "\u{17f}cript".as_bytes()]
            .iter()
            .any(|name| rest.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name)))
    };
    let is_special = |at: usize| {
        token[at] == b'<' && (token[at + 1..].starts_with(b"!--") || begins_tag(&token[at + 1..]))
    };
    let mut out = Vec::new();
    let mut written = 0;
    for at in (0..token.len()).filter(|at| is_special(*at)) {
        out.extend_from_slice(&token[written..at]);
        out.extend_from_slice(b"\\x3C");
        written = at + 1;
    }
    out.extend_from_slice(&token[written..]);
    (written > 0).then_some(out)
}
