//! Adds the escapes of `html/template` in text.
//!
//! In: a parsed template. Out: the same template for execution as a text template, where every
//! action ends with the function that escapes its value for HTML text; or Go's error message for a
//! template that is not allowed. This module executes no template and has no values.
//!
//! The controller templates a container as JSON, and Go writes `<` as `\u003c` there, so no tag
//! starts and the only context of `html/template` is text. A text that starts a tag anyway is
//! rejected. Order and messages follow Go's `html/template/escape.go`.

use super::ast::{Command, Item, Keyword, List, Operand, OperandKind, Pipe, Program};
use super::error::line_and_column;
use super::error::{Failure, Kind};
use super::parse::MAX_DEPTH;
use crate::quantity::go_quote;
use std::collections::BTreeMap;

/// The function that escapes a text.
pub(super) const ESCAPER: &str = "_html_template_htmlescaper";

/// Adds the escape to every action.
///
/// # Errors
/// `Syntax` with Go's message, or `Unsupported` for a text that starts a tag and for nesting that
/// is too deep.
pub(super) fn escape(program: &Program) -> Result<Program, Failure> {
    let mut escaper = Escaper { program, templates: BTreeMap::new(), depth: 0 };
    escaper.template(0, program.name)?;
    let root = escaper.templates.remove(program.name).unwrap_or_default();
    Ok(Program {
        name: program.name,
        text: program.text.clone(),
        root,
        templates: escaper.templates,
        definition: program.definition,
    })
}

/// Escapes a text for HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push('\u{fffd}'),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '+' => out.push_str("&#43;"),
            _ => out.push(c),
        }
    }
    out
}

struct Escaper<'p> {
    program: &'p Program,
    /// The called templates, with their escapes.
    templates: BTreeMap<String, List>,
    depth: usize,
}

impl Escaper<'_> {
    fn failure(&self, pos: usize, message: &str) -> Failure {
        let name = self.program.name;
        let (line, column) = line_and_column(&self.program.text, pos);
        Failure {
            kind: Kind::Syntax,
            message: format!("html/template:{name}:{line}:{column}: {message}"),
            offset: pos,
        }
    }

    fn template(&mut self, pos: usize, name: &str) -> Result<(), Failure> {
        if self.templates.contains_key(name) {
            return Ok(());
        }
        let Some(body) = self.program.template(name) else {
            return Err(self.failure(pos, &format!("no such template {}", go_quote(name))));
        };
        // A recursive template is processed only once.
        self.templates.insert(name.to_owned(), List::default());
        let items = self.nested(pos, |escaper| escaper.list(&body.items))?.0;
        self.templates.insert(name.to_owned(), List { pos: body.pos, items });
        Ok(())
    }

    /// Runs `run` one level deeper.
    fn nested<T>(
        &mut self,
        offset: usize,
        run: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.depth > MAX_DEPTH {
            let message = format!("a template nested more than {MAX_DEPTH} deep is not supported");
            return Err(Failure { offset, ..Failure::new(Kind::Unsupported, &message) });
        }
        self.depth += 1;
        let outcome = run(self);
        self.depth -= 1;
        outcome
    }

    /// Processes the items up to the first one that leaves the list, and returns whether there is
    /// one.
    fn list(&mut self, items: &[Item]) -> Result<(Vec<Item>, bool), Failure> {
        let mut escaped = Vec::with_capacity(items.len());
        for item in items {
            let (item, leaves) = self.item(item)?;
            escaped.push(item);
            // Items that are never reached have no escapes: Go reports no errors in them.
            if leaves {
                return Ok((escaped, true));
            }
        }
        Ok((escaped, false))
    }

    /// Processes an item, and returns whether the items after it are never reached.
    fn item(&mut self, item: &Item) -> Result<(Item, bool), Failure> {
        match item {
            Item::Text { pos, text } if text.contains('<') => {
                let message = "a template that writes HTML tags is not supported";
                Err(Failure { offset: *pos, ..Failure::new(Kind::Unsupported, message) })
            }
            Item::Text { .. } => Ok((item.clone(), false)),
            Item::Break { .. } | Item::Continue { .. } => Ok((item.clone(), true)),
            Item::Action { pos, pipe } => {
                Ok((Item::Action { pos: *pos, pipe: self.action(*pos, pipe)? }, false))
            }
            Item::Template { pos, name, .. } => {
                self.template(*pos, name)?;
                Ok((item.clone(), false))
            }
            Item::Branch { keyword, pipe, body, otherwise } => self.nested(pipe.pos, |escaper| {
                let (body, left) = escaper.list(body)?;
                let (otherwise, left_too) = match otherwise {
                    Some(items) => {
                        let (items, left) = escaper.list(items)?;
                        (Some(items), left)
                    }
                    None => (None, false),
                };
                // A `break` in the body leaves that loop, and what follows the loop is reached.
                let leaves = *keyword != Keyword::Range && left && left_too;
                Ok((
                    Item::Branch { keyword: *keyword, pipe: pipe.clone(), body, otherwise },
                    leaves,
                ))
            }),
        }
    }

    /// Returns the pipeline with the escaper at its end. An `html` that the template itself has
    /// there replaces the escaper; Go drops its arguments if other commands precede it.
    fn action(&self, pos: usize, pipe: &Pipe) -> Result<Pipe, Failure> {
        let mut pipe = pipe.clone();
        // An action that sets variables prints nothing.
        if !pipe.variables.is_empty() {
            return Ok(pipe);
        }
        let last = pipe.commands.len().saturating_sub(1);
        // Escaping in the middle of a pipeline would be escaped once more.
        let early = pipe.commands.iter().take(last).find_map(predefined);
        if let Some(name) = early {
            let message = format!("predefined escaper {} disallowed in template", go_quote(name));
            return Err(self.failure(pos, &message));
        }
        let mut escaper = ESCAPER;
        if let Some(commands) = pipe.commands.last().and_then(predefined) {
            if let [only] = pipe.commands.as_mut_slice()
                && !only.arguments.is_empty()
            {
                // The arguments become the value of the pipeline, so that the escaper gets them as
                // one text.
                only.first.kind = OperandKind::Function("_eval_args_".into());
                pipe.commands.push(call(commands, pipe.pos));
            }
            if commands == "html" {
                escaper = commands;
                pipe.commands.pop();
            }
        }
        pipe.commands.push(call(escaper, pipe.pos));
        Ok(pipe)
    }
}

fn call(name: &'static str, pos: usize) -> Command {
    Command {
        pos,
        first: Operand { pos, kind: OperandKind::Function(name.into()) },
        arguments: Vec::new(),
    }
}

/// Returns the name of the command's function, if it is a built-in escaper.
fn predefined(command: &Command) -> Option<&'static str> {
    let OperandKind::Function(name) = &command.first.kind else { return None };
    ["html", "urlquery"].into_iter().find(|other| name == other)
}

#[cfg(test)]
mod tests {
    use super::super::exec::{Flavour, execute};
    use super::super::parse::parse;
    use super::super::value::{Metadata, Root, ServerFields};

    fn html(template: &str) -> Result<String, String> {
        let metadata = Metadata {
            name: "chat",
            namespace: "team-a",
            labels: [("team", "a&b")].into(),
            annotations: [("note", "it's <1+1>"), ("list", "k=/a b?c")].into(),
            server: ServerFields::Unset,
            ..Metadata::default()
        };
        let outcome = parse("container-tmpl", template)
            .and_then(|program| execute(&program, Flavour::Html, Root::Metadata(&metadata)));
        outcome.map(|output| output.text).map_err(|failure| failure.message)
    }

    /// Results of Go 1.26.
    #[test]
    fn values_are_escaped_and_text_is_not() {
        for (template, expected) in [
            ("a > b & {{.Annotations.note}}", Ok("a > b & it&#39;s &lt;1&#43;1&gt;")),
            ("{{with .Name}}{{.}}{{else}}{{.Foo}}{{end}}", Ok("chat")),
            ("{{range .Labels}}{{.}}{{break}}{{.Foo | html | print}}{{end}}", Ok("a&amp;b")),
            (
                "{{define `v`}}{{.}}{{end}}{{template `v` .Annotations.note}}",
                Ok("it&#39;s &lt;1&#43;1&gt;"),
            ),
            ("{{define `v`}}{{.Name | html | print}}{{end}}{{.Name}}", Ok("chat")),
            ("{{template `w`}}", Err(r#"html/template:container-tmpl:1:11: no such template "w""#)),
            (
                "{{.Name | html | print}}",
                Err(
                    r#"html/template:container-tmpl:1:2: predefined escaper "html" disallowed in template"#,
                ),
            ),
            ("{{.Annotations.note | html}}", Ok("it&#39;s &lt;1+1&gt;")),
            ("{{.Annotations.list | urlquery}}", Ok("k%3D%2Fa&#43;b%3Fc")),
            ("{{html .Labels.none `+`}}", Ok("&lt;nil&gt;+")),
            ("{{.Name | html `lost`}}", Ok("chat")),
            ("<p>{{.Name}}</p>", Err("a template that writes HTML tags is not supported")),
        ] {
            assert_eq!(
                html(template).as_ref().map(String::as_str).map_err(String::as_str),
                expected,
                "{template}"
            );
        }
    }

    #[test]
    fn depth_is_bounded() {
        let calls = (0..200).fold("{{define `t0`}}{{end}}".to_owned(), |text, level| {
            format!("{text}{{{{define `t{}`}}}}{{{{template `t{level}`}}}}{{{{end}}}}", level + 1)
        }) + "{{template `t200`}}";
        let refused = html(&calls).unwrap_err();
        assert!(refused.ends_with("is not supported"), "{refused}");
        assert_eq!(html("{{define `v`}}x{{if .Foo}}{{end}}{{end}}{{.Name}}").unwrap(), "chat");
    }
}
