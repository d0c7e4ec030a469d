//! Standard output and standard error of the commands, and whether they are colored.
//!
//! Results go to stdout, diagnostics to stderr. This is the only place that prints.

use super::json_lines;
use super::jsonpath::Template;
use crate::emit::stream;
use crate::report::screen::{guarded, is_obeyed, printable};
use crate::report::table::Style;
use crate::yaml::{Node, Origin, Rule};
use std::io::{self, IsTerminal, Write};

static AS_YAML: Rule =
    Rule { id: "as-yaml", text: "a document of the output, as YAML", cite: "docs/json.md" };

/// Pieces of work, services for instance, that take a moment.
const LONG: usize = 2000;

/// The mark of an answer that holds.
const CONFIRMED: &str = "✓";

/// An HTML page with a sentence at its top.
fn with_heading(page: &str, sentence: &str) -> String {
    // A page without a body begins with the sentence.
    let at = page.find("<body").and_then(|at| Some(at + page[at..].find('>')? + 1)).unwrap_or(0);
    let escaped = sentence.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("{}\n<p><strong>{escaped}</strong></p>{}", &page[..at], &page[at..])
}

/// When to use color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The form of a document for programs.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// As it is.
    Json,
    /// The same as YAML.
    Yaml,
    /// What a template takes of it.
    Template(Template),
}

/// The streams of a command, and their properties.
pub struct Io<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    out_is_terminal: bool,
    err_is_terminal: bool,
    /// `TERM=dumb`: a terminal that obeys no control character.
    is_dumb: bool,
    quiet: bool,
    /// Of documents for programs.
    form: Form,
    color: ColorChoice,
    /// The streams are those of the process.
    standard: bool,
    /// The answer is incomplete: no mark on it confirms anything.
    confirms_nothing: bool,
    /// A sentence for the top of the HTML page that is printed next.
    heading: Option<String>,
}

impl<'a> Io<'a> {
    /// Streams that are no terminal: tests and files.
    pub fn plain(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self {
            out,
            err,
            out_is_terminal: false,
            err_is_terminal: false,
            is_dumb: true,
            quiet: false,
            form: Form::Json,
            color: ColorChoice::Auto,
            standard: false,
            confirms_nothing: false,
            heading: None,
        }
    }

    /// The process's own streams.
    pub fn standard(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self {
            out,
            err,
            out_is_terminal: io::stdout().is_terminal(),
            err_is_terminal: io::stderr().is_terminal(),
            is_dumb: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
            quiet: false,
            form: Form::Json,
            color: ColorChoice::Auto,
            standard: true,
            confirms_nothing: false,
            heading: None,
        }
    }

    /// Whether a line on stderr may be replaced by the next one: on a terminal that obeys.
    pub fn shows_progress(&self) -> bool {
        self.err_is_terminal && !self.is_dumb
    }

    /// Sets the color choice of this run.
    pub fn set_color(&mut self, color: ColorChoice) {
        self.color = color;
    }

    /// Whether only errors are printed.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Sets whether only errors are printed.
    pub fn set_quiet(&mut self, quiet: bool) {
        self.quiet = quiet;
    }

    /// Empties a terminal.
    pub fn clear(&mut self) {
        if self.out_is_terminal && !self.is_dumb {
            // A write that fails here fails again at the next one, which reports it.
            let _ = self.out.write_all(b"\x1b[2J\x1b[H");
        }
    }

    fn colored(&self, terminal: bool) -> bool {
        // An empty variable and `0` switch nothing on.
        let set = |name: &str| {
            std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
        };
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                set("CLICOLOR_FORCE") || (terminal && !self.is_dumb && !set("NO_COLOR"))
            }
        }
    }

    /// Whether data may be colored.
    pub fn out_color(&self) -> bool {
        self.colored(self.out_is_terminal)
    }

    /// Whether stderr may be colored.
    pub fn err_color(&self) -> bool {
        self.colored(self.err_is_terminal)
    }

    /// How text looks where output goes.
    pub fn style(&self) -> Style {
        Style { color: self.out_color(), width: self.width() }
    }

    /// How text looks on stderr.
    pub fn err_style(&self) -> Style {
        let width = if self.err_is_terminal { columns() } else { None };
        Style { color: self.err_color(), width }
    }

    /// Width for tables: that of the terminal, else wide enough for anything, as 0 is.
    pub fn width(&self) -> Option<u16> {
        if self.out_is_terminal { columns() } else { None }
    }

    /// Where data goes.
    pub fn out(&mut self) -> &mut dyn Write {
        self.out
    }

    /// Standard error.
    pub fn err(&mut self) -> &mut dyn Write {
        self.err
    }

    /// Writes data, without terminal control sequences.
    pub fn print(&mut self, text: &str) -> io::Result<()> {
        let colored = self.out_color();
        let mut text = std::borrow::Cow::Borrowed(text);
        if self.confirms_nothing && text.contains(CONFIRMED) {
            text = text.replace(CONFIRMED, "?").into();
        }
        if let Some(heading) = self.heading.take() {
            text = with_heading(&text, &heading).into();
        }
        self.out.write_all(guarded(&text, colored).as_bytes())
    }

    /// Prints marks of confirmation as a question mark from here on: a part of the input was not
    /// read.
    pub fn confirm_nothing(&mut self) {
        self.confirms_nothing = true;
    }

    /// Puts a sentence at the top of the HTML page that is printed next.
    pub fn insert_in_page(&mut self, sentence: &str) {
        self.heading = Some(sentence.to_owned());
    }

    /// Writes data unchanged; on a terminal, control characters are escaped.
    pub fn print_data(&mut self, text: &str) -> io::Result<()> {
        // Escapes in data could control a terminal; a file gets the bytes as they are.
        if self.out_is_terminal {
            return self.print(text);
        }
        self.out.write_all(text.as_bytes())
    }

    /// Standard input of the process, when it is no terminal.
    pub fn piped_stdin(&self) -> Option<io::Stdin> {
        self.standard.then(io::stdin).filter(|stdin| !stdin.is_terminal())
    }

    /// Writes to stderr, with control characters escaped; ignores a closed stderr.
    pub fn say(&mut self, text: &str) {
        let colored = self.err_color();
        // There is nowhere to report that stderr failed.
        let _ = self.err.write_all(guarded(text, colored).as_bytes());
    }

    /// Writes a line of data, which may name what an input named.
    pub fn print_line(&mut self, text: &str) -> io::Result<()> {
        self.print(&(printable(text) + "\n"))
    }

    /// Writes a line to stderr; text of the input in it is escaped.
    pub fn say_line(&mut self, text: &str) {
        self.say(&(printable(text) + "\n"));
    }

    /// Shows the progress of long work on a terminal, on a line that the next call replaces and the
    /// last call removes. Shows nothing for less than [`LONG`] pieces, or if the output goes to the
    /// same terminal.
    pub fn progress(&mut self, done: usize, of: usize, what: &str) {
        // A line that is replaced belongs on a terminal, and not between lines of output.
        if of < LONG || !self.shows_progress() || self.out_is_terminal {
            return;
        }
        let line = if done < of {
            format!("\r\u{1b}[K{what}: {done} of {of}")
        } else {
            "\r\u{1b}[K".to_owned()
        };
        let _ = self.err.write_all(line.as_bytes());
        let _ = self.err.flush();
    }

    /// Writes documents for programs in this form from here on.
    pub(super) fn set_form(&mut self, form: Form) {
        self.form = form;
    }

    /// Writes a JSON document, the same as YAML, or what a template takes of it.
    pub fn print_json(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        let whole = || serde_json::to_value(value).map_err(io::Error::from);
        match &self.form {
            Form::Json => {}
            Form::Yaml => {
                let tree = Node::from_json(&whole()?, Origin::Derived(&AS_YAML));
                return self.print_data(&stream::document(&tree, stream::Format::Yaml));
            }
            Form::Template(template) => {
                let text = template.fill(&whole()?);
                return self.print_data(&text);
            }
        }
        json_lines::write(&mut Escaping(&mut *self.out), value)?;
        self.out.write_all(b"\n")
    }
}

/// Writes JSON with the characters that JSON admits and terminals obey or hide as escapes: U+007F to
/// U+009F, ends of lines, and those that change the direction of the text around them.
struct Escaping<'a>(&'a mut dyn Write);

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // ASCII, nearly all of the output, passes at once.
        if bytes.iter().all(|byte| *byte < 0x7f) {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        }
        // A string is written in whole characters, and its control characters are escapes already:
        // what is left below U+007F is the layout.
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        let mut done = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| *c >= '\u{7f}' && is_obeyed(*c)) {
            self.0.write_all(&bytes[done..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(self.0, "\\u{unit:04x}")?;
            }
            done = at + c.len_utf8();
        }
        self.0.write_all(&bytes[done..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The width of the terminal.
fn columns() -> Option<u16> {
    // A user may choose another width than the terminal has.
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || Some(terminal_size::terminal_size()?.0.0);
    columns.or_else(terminal).filter(|width| *width > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_output_contains_no_control_characters() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let value = serde_json::json!({
            "a\u{9b}": "\u{1b}[2J\u{7f}\u{85}é\u{c2}",
            "b\u{202e}": "\u{2028}\u{2029}\u{2066}\u{feff}\u{e0041}\u{1f600}",
        });
        Io::plain(&mut out, &mut err).print_json(&value).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains(|c: char| is_obeyed(c) && c != '\n'), "{text:?}");
        assert!(text.contains("é") && text.contains('\u{1f600}'), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn an_incomplete_answer_confirms_nothing_from_there_on() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut io = Io::plain(&mut out, &mut err);
        io.print("✓ whole\n").unwrap();
        io.confirm_nothing();
        io.print("✓ a part, ✗ no\n").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "✓ whole\n? a part, ✗ no\n");
    }

    #[test]
    fn progress_is_shown_only_for_long_work_with_redirected_output() {
        let shown = |of: usize, out_is_terminal: bool| {
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let mut io = Io {
                out: &mut out,
                err: &mut err,
                out_is_terminal,
                err_is_terminal: true,
                is_dumb: false,
                quiet: false,
                form: Form::Json,
                color: ColorChoice::Never,
                standard: false,
                confirms_nothing: false,
                heading: None,
            };
            io.progress(1, of, "rendered");
            io.progress(of, of, "rendered");
            String::from_utf8(err).unwrap()
        };
        assert_eq!(shown(LONG, false), "\r\u{1b}[Krendered: 1 of 2000\r\u{1b}[K");
        assert_eq!(shown(LONG - 1, false) + &shown(LONG, true), "");
    }

    #[test]
    fn text_without_color_holds_no_escape() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut io = Io::plain(&mut out, &mut err);
        io.set_color(ColorChoice::Never);
        io.print("a\u{1b}[1m\n").unwrap();
        io.say("b\u{9b}1m\n");
        assert_eq!((out.as_slice(), err.as_slice()), (&b"a\\u{1b}[1m\n"[..], &b"b\\u{9b}1m\n"[..]));
    }
}
