//! `-o jsonpath=TEMPLATE` as kubectl has it: text in which `{…}` prints values of the JSON document
//! (kubernetes.io/docs/reference/kubectl/jsonpath).
//!
//! In: a template and a document. Out: text. A field that is absent prints nothing, several values
//! have a blank between them, and what is no scalar is printed as JSON.

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use serde_json::Value;
use std::cmp::Ordering;
use std::ffi::OsStr;

/// What the format begins with.
const PREFIX: &str = "jsonpath=";

/// The template of `jsonpath=TEMPLATE`; `None` for another format.
pub(super) fn of(format: &OsStr) -> Option<Result<Template, String>> {
    Some(Template::parse(format.to_str()?.strip_prefix(PREFIX)?))
}

/// Reads the formats of a command, and `jsonpath=TEMPLATE` as its JSON.
#[derive(Clone)]
pub(super) struct FormatParser<F: clap::ValueEnum + Clone + Send + Sync + 'static>(
    EnumValueParser<F>,
);

impl<F: clap::ValueEnum + Clone + Send + Sync + 'static> FormatParser<F> {
    pub(super) fn new() -> Self {
        Self(EnumValueParser::new())
    }
}

impl<F: clap::ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for FormatParser<F> {
    type Value = F;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<F, clap::Error> {
        let json = || self.0.parse_ref(command, argument, OsStr::new("json"));
        match of(value) {
            None => self.0.parse_ref(command, argument, value),
            Some(Ok(_)) => json(),
            Some(Err(message)) => {
                let text = format!("invalid template of `-o jsonpath`: {message}\n");
                Err(clap::Error::raw(ErrorKind::ValueValidation, text).with_cmd(command))
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// A template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Values(Path),
    /// What is between `{range PATH}` and `{end}`, once for each value.
    Range(Path, Vec<Piece>),
}

#[derive(Clone, Debug, PartialEq)]
struct Path {
    /// It begins at the document (`$`), not at the value of the innermost range.
    from_root: bool,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Fields(Vec<String>),
    Indices(Vec<i64>),
    /// First, end and distance; negative ones count from the end.
    Slice(Option<i64>, Option<i64>, usize),
    All,
    /// Every value below, the value itself too.
    Below,
    Filter(Operand, Option<(Operator, Operand)>),
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Path),
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Longer ones first: each begins with a shorter one.
const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Less),
    (">", Operator::More),
];

/// How deep ranges and filters may be nested.
const MAX_DEPTH: usize = 100;

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// A sentence that says what was expected and where.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        // As kubectl reads them: a path alone needs no braces.
        let whole = if text.contains('{') {
            text.to_owned()
        } else {
            let dot = if text.starts_with(['.', '$', '@', '[']) { "" } else { "." };
            format!("{{{dot}{text}}}")
        };
        let mut reader = Reader { rest: &whole, whole: &whole, depth: 0 };
        let pieces = reader.pieces(false)?;
        Ok(Self(pieces))
    }

    /// Fills the template in.
    pub(super) fn fill(&self, document: &Value) -> String {
        let mut out = String::new();
        print(&self.0, document, document, &mut out);
        out
    }
}

fn print(pieces: &[Piece], root: &Value, current: &Value, out: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Values(path) => {
                let texts: Vec<String> =
                    path.values(root, current).into_iter().map(text_of).collect();
                out.push_str(&texts.join(" "));
            }
            Piece::Range(path, inner) => {
                for value in path.values(root, current) {
                    print(inner, root, value, out);
                }
            }
        }
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Path {
    fn values<'v>(&self, root: &'v Value, current: &'v Value) -> Vec<&'v Value> {
        let mut values = vec![if self.from_root { root } else { current }];
        for step in &self.steps {
            let mut next = Vec::new();
            for value in values {
                step.take(root, value, &mut next);
            }
            values = next;
        }
        values
    }
}

impl Step {
    fn take<'v>(&self, root: &'v Value, value: &'v Value, out: &mut Vec<&'v Value>) {
        let items = || value.as_array().map(Vec::as_slice).unwrap_or_default();
        match self {
            Self::Fields(names) => out.extend(names.iter().filter_map(|name| value.get(name))),
            Self::Indices(indices) => {
                let found = indices.iter().filter_map(|at| items().get(place(*at, items().len())?));
                out.extend(found);
            }
            Self::Slice(first, end, distance) => {
                let length = items().len();
                // A bound below zero counts from the end; one outside is the nearest end.
                let bound = |at: &Option<i64>, none: usize| {
                    at.map_or(none, |at| match usize::try_from(at) {
                        Ok(at) => at.min(length),
                        Err(_) => place(at, length).unwrap_or(0),
                    })
                };
                let (first, end) = (bound(first, 0), bound(end, length));
                out.extend(items().get(first..end).unwrap_or_default().iter().step_by(*distance));
            }
            Self::All => match value {
                Value::Array(items) => out.extend(items),
                Value::Object(map) => out.extend(map.values()),
                _ => {}
            },
            Self::Below => {
                out.push(value);
                let mut below = Vec::new();
                Self::All.take(root, value, &mut below);
                for value in below {
                    self.take(root, value, out);
                }
            }
            Self::Filter(left, comparison) => {
                out.extend(items().iter().filter(|item| match comparison {
                    None => left.value(root, item).is_some(),
                    Some((operator, right)) => {
                        // Nothing compares with a value that is not there, not even by `!=`.
                        match (left.value(root, item), right.value(root, item)) {
                            (Some(left), Some(right)) => operator.holds(left, right),
                            _ => false,
                        }
                    }
                }));
            }
        }
    }
}

/// The place of an index that counts from the end where it is negative.
fn place(at: i64, length: usize) -> Option<usize> {
    match usize::try_from(at) {
        Ok(at) => Some(at),
        Err(_) => length.checked_sub(usize::try_from(at.unsigned_abs()).ok()?),
    }
}

impl Operand {
    fn value<'v>(&'v self, root: &'v Value, item: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Path(path) => path.values(root, item).first().copied(),
            Self::Literal(value) => Some(value),
        }
    }
}

impl Operator {
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = match (left, right) {
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Number(left), Value::Number(right)) => {
                left.as_f64().partial_cmp(&right.as_f64())
            }
            // Values of other types are equal or in no order.
            _ => (left == right).then_some(Ordering::Equal),
        };
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::AtMost => order.is_some_and(Ordering::is_le),
            Self::More => order == Some(Ordering::Greater),
            Self::AtLeast => order.is_some_and(Ordering::is_ge),
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
    whole: &'t str,
    depth: usize,
}

impl Reader<'_> {
    fn expected(&self, what: &str) -> String {
        let column = self.whole[..self.whole.len() - self.rest.len()].chars().count() + 1;
        let found = match self.rest.chars().next() {
            Some(found) => format!("`{found}`"),
            None => "the end".to_owned(),
        };
        format!("expected {what} at character {column}, found {found}")
    }

    fn skip(&mut self, text: &str) -> bool {
        self.rest.strip_prefix(text).inspect(|rest| self.rest = rest).is_some()
    }

    fn need(&mut self, text: &str) -> Result<(), String> {
        if self.skip(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("ranges and filters are nested more than {MAX_DEPTH} levels deep"));
        }
        Ok(())
    }

    /// Everything up to the end, or to the `{end}` of a range.
    fn pieces(&mut self, in_range: bool) -> Result<Vec<Piece>, String> {
        self.deeper()?;
        let mut pieces = Vec::new();
        loop {
            let (text, rest) = self.rest.split_at(self.rest.find('{').unwrap_or(self.rest.len()));
            self.rest = rest;
            if !text.is_empty() {
                pieces.push(Piece::Text(text.to_owned()));
            }
            if !self.skip("{") {
                if in_range {
                    return Err(self.expected("`{end}`"));
                }
                break;
            }
            self.blanks();
            // Several values may stand between the braces.
            while !self.skip("}") {
                if self.skip_word("end") {
                    self.blanks();
                    if !in_range {
                        return Err(self.expected("a `{range …}` before `{end}`"));
                    }
                    self.need("}")?;
                    self.depth -= 1;
                    return Ok(pieces);
                }
                if self.skip_word("range") {
                    self.blanks();
                    let path = self.path()?;
                    self.blanks();
                    self.need("}")?;
                    pieces.push(Piece::Range(path, self.pieces(true)?));
                    // The braces of `{end}` closed these.
                    break;
                }
                pieces.push(match self.rest.chars().next() {
                    Some('"' | '\'') => Piece::Text(self.quoted()?),
                    _ => Piece::Values(self.path()?),
                });
                self.blanks();
            }
        }
        self.depth -= 1;
        Ok(pieces)
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        match rest.filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn path(&mut self) -> Result<Path, String> {
        let begin = self.rest.len();
        let from_root = self.skip("$");
        if !from_root {
            self.skip("@");
        }
        let mut steps = Vec::new();
        loop {
            if self.skip("..") {
                steps.push(Step::Below);
                // `..[0]` needs no name.
                if self.rest.starts_with('[') {
                    continue;
                }
                steps.push(self.field()?);
            } else if self.skip(".") {
                // `{.}` is the value itself.
                let is_whole = steps.is_empty() && self.rest.starts_with(['}', ' ', '[', ')']);
                if !is_whole {
                    steps.push(self.field()?);
                }
            } else if self.skip("[") {
                steps.push(self.subscript()?);
            } else if self.rest.len() == begin {
                return Err(self.expected("a path such as `.services[*].name`"));
            } else {
                return Ok(Path { from_root, steps });
            }
        }
    }

    /// A name after a dot; a backslash takes what follows as it is.
    fn field(&mut self) -> Result<Step, String> {
        if self.skip("*") {
            return Ok(Step::All);
        }
        let mut name = String::new();
        let mut characters = self.rest.char_indices();
        let end = loop {
            match characters.next() {
                Some((_, '\\')) => name.extend(characters.next().map(|(_, escaped)| escaped)),
                // These end a name, unless a backslash stands before them.
                Some((at, '.' | '[' | '}' | ')' | ' ' | '=' | '!' | '<' | '>' | ',')) => break at,
                Some((_, other)) => name.push(other),
                None => break self.rest.len(),
            }
        };
        if name.is_empty() {
            return Err(self.expected("the name of a field"));
        }
        self.rest = &self.rest[end..];
        Ok(Step::Fields(vec![name]))
    }

    /// What is between `[` and `]`.
    fn subscript(&mut self) -> Result<Step, String> {
        self.blanks();
        let step = if self.skip("*") {
            Step::All
        } else if self.skip("?(") {
            self.deeper()?;
            self.blanks();
            let left = self.operand()?;
            self.blanks();
            let operator = OPERATORS.iter().find(|(text, _)| self.skip(text));
            let comparison = match operator {
                None => None,
                Some((_, operator)) => {
                    self.blanks();
                    Some((*operator, self.operand()?))
                }
            };
            self.blanks();
            self.need(")")?;
            self.depth -= 1;
            Step::Filter(left, comparison)
        } else if self.rest.starts_with(['"', '\'']) {
            let mut names = vec![self.quoted()?];
            while self.comma() {
                names.push(self.quoted()?);
            }
            Step::Fields(names)
        } else {
            self.numbers()?
        };
        self.blanks();
        self.need("]")?;
        Ok(step)
    }

    fn comma(&mut self) -> bool {
        self.blanks();
        let is_there = self.skip(",");
        self.blanks();
        is_there
    }

    /// `1`, `1,2`, `1:3` or `:6:2`.
    fn numbers(&mut self) -> Result<Step, String> {
        let first = self.number();
        if self.skip(":") {
            let end = self.number();
            let distance = if self.skip(":") { self.number() } else { None };
            return match distance.map_or(Ok(1), usize::try_from) {
                Ok(distance) if distance > 0 => Ok(Step::Slice(first, end, distance)),
                _ => Err(self.expected("a distance above 0 before")),
            };
        }
        let what = "an index, a range, a quoted name, `*` or `?(…)`";
        let mut indices = vec![first.ok_or_else(|| self.expected(what))?];
        while self.comma() {
            indices.push(self.number().ok_or_else(|| self.expected("an index"))?);
        }
        Ok(Step::Indices(indices))
    }

    fn number(&mut self) -> Option<i64> {
        let end = self
            .rest
            .char_indices()
            .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')))
            .map_or(self.rest.len(), |(at, _)| at);
        let number = self.rest[..end].parse().ok()?;
        self.rest = &self.rest[end..];
        Some(number)
    }

    fn operand(&mut self) -> Result<Operand, String> {
        match self.rest.chars().next() {
            Some('"' | '\'') => Ok(Operand::Literal(Value::String(self.quoted()?))),
            Some('@' | '$' | '.') => Ok(Operand::Path(self.path()?)),
            _ => {
                // A literal ends where an operator or the bracket begins.
                let end = self.rest.find([')', ' ', '=', '!', '<', '>']).unwrap_or(self.rest.len());
                let value = serde_json::from_str(&self.rest[..end])
                    .map_err(|_| self.expected("a path, a number, true, false or a quoted text"))?;
                self.rest = &self.rest[end..];
                Ok(Operand::Literal(value))
            }
        }
    }

    /// A text in quotes, with the escapes of Go.
    fn quoted(&mut self) -> Result<String, String> {
        let Some(quote @ ('"' | '\'')) = self.rest.chars().next() else {
            return Err(self.expected("a quoted text"));
        };
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        loop {
            match characters.next() {
                Some((at, end)) if end == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                Some((_, '\\')) => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                Some((_, other)) => text.push(other),
                None => break,
            }
        }
        // An open quote takes all that follows, so the error is at the end.
        self.rest = "";
        Err(self.expected(&format!("the closing {quote}")))
    }
}

#[cfg(test)]
mod tests {
    use super::Template;
    use serde_json::json;

    fn filled(template: &str) -> String {
        let document = json!({
            "kind": "List",
            "services": [
                { "name": "chat", "gpus": 1, "labels": { "app.kubernetes.io/name": "a" }, "on": true },
                { "name": "coder", "gpus": 4, "class": null },
                { "name": "writer", "gpus": 8, "class": "h100" },
            ],
        });
        Template::parse(template).unwrap().fill(&document)
    }

    /// The functions that kubectl's page lists, over a document of this program.
    #[test]
    fn templates_print_what_kubectl_prints() {
        for (template, expected) in [
            ("{.kind}", "List"),
            (".kind", "List"),
            ("kind", "List"),
            ("{.services[*].name}", "chat coder writer"),
            ("{.services[0].name} and {.services[-1].name}", "chat and writer"),
            ("{.services[0,2]['name', 'gpus']}", "chat 1 writer 8"),
            ("{.services[0:2].name}", "chat coder"),
            ("{.services[::2].name}", "chat writer"),
            ("{.services[-2:].name}", "coder writer"),
            ("{..name}", "chat coder writer"),
            ("{.services[?(@.name==\"coder\")].gpus}", "4"),
            ("{.services[?(@.gpus>=4)].name}", "coder writer"),
            ("{.services[?(@.on)].name}", "chat"),
            ("{.services[?(@.on==true)].name}", "chat"),
            ("{.services[0].labels.app\\.kubernetes\\.io/name}", "a"),
            ("{.services[0].labels}", "{\"app.kubernetes.io/name\":\"a\"}"),
            ("{.services[*].class}", " h100"),
            ("{.absent.field}", ""),
            (
                "{range .services[*]}{.name}{\"\\t\"}{.gpus}{'\\n'}{end}done",
                "chat\t1\ncoder\t4\nwriter\t8\ndone",
            ),
            ("{range .services[0:1]}{@.name} of {$.kind}{end}", "chat of List"),
            ("plain {\"{\"}text", "plain {text"),
        ] {
            assert_eq!(filled(template), expected, "{template}");
        }
    }

    #[test]
    fn a_wrong_template_is_refused_with_its_place() {
        for (template, expected) in [
            ("{.a", "expected"),
            ("{range .a}{.b}", "expected `{end}` at character 15, found the end"),
            ("{end}", "expected a `{range …}` before `{end}` at character 5"),
            ("{.a[}", "expected an index, a range, a quoted name, `*` or `?(…)` at character 5"),
            ("{.a[?(@.b==)]}", "expected a path, a number, true, false or a quoted text"),
            ("{\"a}", "expected the closing \" at character 5, found the end"),
            ("{.a[::0]}", "expected a distance above 0"),
            ("{name}", "expected a path such as `.services[*].name` at character 2, found `n`"),
            (&"{range .a}".repeat(200), "nested more than 100 levels deep"),
        ] {
            let error = Template::parse(template).unwrap_err();
            assert!(error.contains(expected), "{template}: {error}");
        }
    }
}
