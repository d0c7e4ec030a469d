//! The functions of a pipeline that escape.

use super::super::ast::{Command, Operand, OperandKind, Pipe};

/// The name of the command's function, when it is one that escapes and that templates know.
pub(super) fn predefined<'s>(command: &Command<'s>) -> Option<&'s str> {
    function(command).filter(|name| matches!(*name, "html" | "urlquery"))
}

fn function<'s>(command: &Command<'s>) -> Option<&'s str> {
    match command.first.kind {
        OperandKind::Function(name) => Some(name),
        _ => None,
    }
}

/// The name of the function that a template may use in the escaper's place; the escaper's own name
/// otherwise.
fn equivalent(escaper: &str) -> &str {
    match escaper {
        "_html_template_attrescaper"
        | "_html_template_htmlescaper"
        | "_html_template_rcdataescaper" => "html",
        "_html_template_urlescaper" | "_html_template_urlnormalizer" => "urlquery",
        other => other,
    }
}

/// Whether the second escaper changes nothing that the first one made.
fn is_redundant(first: &str, second: &str) -> bool {
    matches!(
        (first, second),
        (
            "_html_template_commentescaper",
            "_html_template_attrescaper" | "_html_template_htmlescaper"
        ) | (
            "_html_template_cssescaper"
                | "_html_template_jsregexpescaper"
                | "_html_template_jsstrescaper"
                | "_html_template_jstmpllitescaper",
            "_html_template_attrescaper"
        ) | ("_html_template_urlescaper", "_html_template_urlnormalizer")
    )
}

/// The pipeline with the escapers at its end. One that the template itself put there stands for its
/// equivalent; Go loses that one's arguments where other commands precede it.
pub(super) fn with_escapers<'s>(pipe: &Pipe<'s>, mut escapers: Vec<&'s str>) -> Pipe<'s> {
    let mut pipe = pipe.clone();
    if escapers.is_empty() {
        return pipe;
    }
    let at = |name: &'s str, pos: usize| Command {
        pos,
        first: Operand { pos, kind: OperandKind::Function(name) },
        arguments: Vec::new(),
    };
    if let Some(own) = pipe.commands.last().and_then(predefined) {
        if let [only] = pipe.commands.as_mut_slice()
            && !only.arguments.is_empty()
        {
            only.first.kind = OperandKind::Function("_eval_args_");
            pipe.commands.push(at(own, pipe.pos));
        }
        for escaper in escapers.iter_mut().filter(|escaper| equivalent(escaper) == own) {
            *escaper = own;
        }
        if escapers.contains(&own) {
            pipe.commands.pop();
        }
    }
    let present: Vec<&str> =
        pipe.commands.iter().filter_map(|command| function(command).map(equivalent)).collect();
    for escaper in escapers {
        let redundant =
            pipe.commands.last().and_then(function).is_some_and(|last| is_redundant(last, escaper));
        if !redundant && !present.contains(&equivalent(escaper)) {
            pipe.commands.push(at(escaper, pipe.pos));
        }
    }
    pipe
}
