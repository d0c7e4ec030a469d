//! Secrets written in plain text in the input.

use super::{View, about};
use crate::api::Object;
use crate::diag::{Code, Diagnostic};
use crate::secret::names_secret;
use crate::yaml::{Node, Value};

/// Reports environment variables and flags with a name like a secret and a value in the file.
pub(crate) fn inline(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for object in view.catalog.objects().filter(|object| !object.builtin) {
        if let Some(spec) = object.node.get("spec") {
            walk(object, spec, found);
        }
    }
}

fn walk(object: &Object, node: &Node, found: &mut Vec<Diagnostic>) {
    match &node.value {
        Value::Map(map) => {
            for entry in map {
                match entry.key.as_str() {
                    "env" => entry.node.items().iter().for_each(|variable| {
                        let name = variable.get("name").and_then(Node::as_str).unwrap_or_default();
                        said(
                            object,
                            name,
                            variable.get("value"),
                            "a Secret with `valueFrom.secretKeyRef`",
                            found,
                        );
                    }),
                    // In an accelerator's block, the variables are a map.
                    "environmentOverride" => {
                        if let Some(variables) = entry.node.as_map() {
                            variables.iter().for_each(|variable| {
                                said(
                                    object,
                                    &variable.key,
                                    Some(&variable.node),
                                    "a Secret in the runner's `env`",
                                    found,
                                );
                            });
                        }
                    }
                    "args" | "command" | "runtimeArgsOverride" => {
                        flags(object, entry.node.items(), found);
                    }
                    _ => walk(object, &entry.node, found),
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| walk(object, item, found)),
        _ => {}
    }
}

/// Checks flags of the form `--name=value`, and `--name` followed by its value.
fn flags(object: &Object, arguments: &[Node], found: &mut Vec<Diagnostic>) {
    const HOW: &str = "an environment variable of a Secret, written as `$(NAME)`";
    let mut before: Option<&str> = None;
    for argument in arguments {
        let text = argument.as_str().unwrap_or_default();
        let flag = text.strip_prefix("--");
        match (flag.and_then(|flag| flag.split_once('=')), before) {
            (Some((name, value)), _) if names_secret(name) && is_plain(value) => {
                tell(object, name, argument, HOW, found);
            }
            (None, Some(name)) if flag.is_none() => said(object, name, Some(argument), HOW, found),
            _ => {}
        }
        before = flag;
    }
}

fn said(object: &Object, name: &str, value: Option<&Node>, how: &str, found: &mut Vec<Diagnostic>) {
    if let Some(node) = value
        && names_secret(name)
        && node.as_str().is_some_and(is_plain)
    {
        tell(object, name, node, how, found);
    }
}

fn tell(object: &Object, name: &str, at: &Node, how: &str, found: &mut Vec<Diagnostic>) {
    let finding =
        about(Code::InlineSecret, object, format!("the value of `{name}` is written in the file"))
            .help(format!("take it from {how}"));
    found.push(match at.origin.span() {
        Some(span) => finding.at(span),
        None => finding,
    });
}

/// Reports whether a text can be a secret: not a variable reference, placeholder, path, number or
/// boolean.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(['$', '<', '{'])
        && !text.starts_with('/')
        && text.parse::<f64>().is_err()
        && text.parse::<bool>().is_err()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{codes, run, runtime};
    use crate::api::Semantics::Documented;

    #[test]
    fn inline_secrets_are_found_in_every_place() {
        for (spec, found) in [
            ("runner: {env: [{name: HF_TOKEN, value: hf_abc}]}", true),
            (
                "runner: {env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf, key: token}}}]}",
                false,
            ),
            ("runner: {env: [{name: HF_TOKEN, value: $(OTHER)}]}", false),
            ("runner: {env: [{name: HF_TOKEN, value: <yours>}]}", false),
            ("runner: {env: [{name: MAX_TOKENS, value: abc}]}", false),
            ("runner: {env: [{name: BOS_TOKEN, value: '7'}]}", false),
            ("runner: {env: [{name: SSL_KEY_FILE, value: key.pem}]}", false),
            ("runner: {args: [--api-key=sk-1]}", true),
            ("runner: {args: [--api-key, sk-1]}", true),
            ("runner: {args: [--api-key, $(KEY)]}", false),
            ("runner: {args: [--api-key, --tp=1]}", false),
            (
                "worker: {podSpec: {initContainers: [{name: a, env: [{name: S3_PASSWORD, value: p}]}]}}",
                true,
            ),
        ] {
            let text = runtime("a", &format!("  engineConfig: {{{spec}}}\n"));
            assert_eq!(codes(&run(&text, Documented)).contains(&"inline-secret"), found, "{spec}");
        }
    }
}
