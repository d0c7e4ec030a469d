//! Secrets written in plain text in the input.

use super::{View, about};
use crate::api::Object;
use crate::diag::{Code, Diagnostic};
use crate::secret::{self, Place};
use crate::yaml::{Node, Segment, Value};

/// Reports values of a spec that are secrets and are written in the file: what is masked wherever
/// it is printed.
pub(crate) fn inline(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    // Schemas describe secrets and hold none.
    let holds = |object: &&Object| !object.builtin && object.id.kind != "CustomResourceDefinition";
    for object in view.catalog.objects().filter(holds) {
        if let Some(spec) = object.node.get("spec") {
            let at = At { object, place: Place::default(), name: "spec", how: "a Secret" };
            at.walk(spec, found);
        }
    }
}

/// A place of a spec.
#[derive(Clone, Copy)]
struct At<'a> {
    object: &'a Object,
    place: Place,
    /// The name of the value: of a variable, a flag or a field.
    name: &'a str,
    /// Where such a value comes from instead.
    how: &'static str,
}

impl<'a> At<'a> {
    fn walk(self, node: &'a Node, found: &mut Vec<Diagnostic>) {
        match &node.value {
            Value::Map(map) => {
                let named = map.get("name").and_then(Node::as_str);
                for entry in map {
                    let key = entry.key.as_str();
                    let how = match key {
                        "env" => "a Secret with `valueFrom.secretKeyRef`",
                        // In an accelerator's block, the variables are a map.
                        "environmentOverride" => "a Secret in the runner's `env`",
                        "args" | "command" | "runtimeArgsOverride" => {
                            "an environment variable of a Secret, written as `$(NAME)`"
                        }
                        _ => self.how,
                    };
                    let name = named.filter(|_| key == "value").unwrap_or(key);
                    let place = self.place.step(node, &Segment::Field(entry.key.clone()));
                    Self { place, name, how, ..self }.walk(&entry.node, found);
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let before = index.checked_sub(1).and_then(|index| items[index].as_str());
                    // `--token abc` is two elements, `--token=abc` is one.
                    let is_flag = |text: &&str| text.starts_with('-');
                    let flag = item.as_str().filter(is_flag).or(before.filter(is_flag));
                    // The rest of a flag is its value.
                    let name = flag.and_then(|flag| flag.split(['=', ':', ' ']).next());
                    let name = name.map_or(self.name, |name| name.trim_start_matches('-'));
                    let place = self.place.step(node, &Segment::Index(index));
                    Self { place, name, ..self }.walk(item, found);
                }
            }
            Value::Str(text)
                if secret::pieces(self.place, text).iter().any(|piece| is_plain(piece)) =>
            {
                let message = format!("the value of `{}` is written in the file", self.name);
                let finding = about(Code::InlineSecret, self.object, message)
                    .help(format!("take it from {}", self.how));
                found.push(match node.origin.span() {
                    Some(span) => finding.at(span),
                    None => finding,
                });
            }
            _ => {}
        }
    }
}

/// Reports whether a text can be a secret: not a variable reference, placeholder, result of a
/// command, item of a list, path, number or boolean.
fn is_plain(text: &str) -> bool {
    let is_item = text.ends_with(']') && text.contains('[');
    !text.is_empty()
        && !is_item
        && !text.contains(['$', '<', '{', '`'])
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
            ("runner: {args: [--hfToken, abc]}", true),
            ("runner: {args: ['-u', 'me:abc']}", true),
            ("runner: {env: [{name: A, value: 'https://me:abc@host/x'}]}", true),
            ("runner: {env: [{name: A, value: 'Authorization: Bearer abc1234'}]}", true),
            ("runner: {env: [{name: A, value: 'https://host/x?token=$(T)'}]}", false),
            ("runner: {command: [sh, -c, 'run --password abc']}", true),
            ("runner: {env: [{name: RAY_AUTH, value: token}]}", false),
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
