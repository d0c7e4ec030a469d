//! Secrets written in plain text in the input.

use super::{View, about};
use crate::api::Object;
use crate::diag::{Code, Diagnostic};
use crate::secret::{self, Place, placeholder};
use crate::yaml::{Node, Segment, Value};

/// Reports values of a spec that are secrets and are written in the file: what is masked wherever
/// it is printed.
pub(crate) fn inline(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    // Schemas describe secrets and hold none; those of a SealedSecret are encrypted.
    let holds = |object: &&Object| {
        let kind = object.id.kind.as_str();
        !object.builtin && !matches!(kind, "CustomResourceDefinition" | "SealedSecret")
    };
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
                // Beside the name of a Secret are the names of its keys.
                let names_keys = map.get("secretName").is_some();
                let is_no_value = |key: &str, node: &Node| {
                    key == "description"
                        // Crossplane lists the keys that a Secret gets, and those that it reads.
                        || key.ends_with("SecretKeys")
                        || key == "fromConnectionSecretKey"
                        // A Predictor names a key of the Secret `storage-config` (ModelMesh).
                        || (key == "secretKey" && self.object.id.kind == "Predictor")
                        || (named.is_some() && key == "keys" && node.as_map().is_some())
                        || (names_keys && key.ends_with("Key") && node.as_str().is_some())
                };
                for entry in
                    map.iter().filter(|field| !is_no_value(field.key.as_str(), &field.node))
                {
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
                    // A shell takes a script behind `-c`, `-ec` or `-lc`, and that is no name.
                    let is_shell = |text: &str| {
                        text.strip_prefix('-').is_some_and(|letters| {
                            letters.ends_with('c')
                                && letters.len() <= 4
                                && !letters.starts_with('-')
                        })
                    };
                    let is_flag = |text: &&str| text.starts_with('-') && !is_shell(text);
                    let flag = item.as_str().filter(is_flag).or(before.filter(is_flag));
                    // The rest of a flag is its value.
                    let name = flag.and_then(|flag| flag.split(['=', ':', ' ']).next());
                    let name = name.map_or(self.name, |name| name.trim_start_matches('-'));
                    let place = self.place.step(node, &Segment::Index(index));
                    Self { place, name, ..self }.walk(item, found);
                }
            }
            Value::Str(text)
                if !names_object(self.name, text)
                    && secret::pieces(self.place, text).iter().any(|piece| {
                        is_plain(piece)
                            && !is_prose(text, piece)
                            && !is_of_program(text, piece)
                            && !names_secret(text, piece)
                    }) =>
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

/// Whether a value is the name of a Secret: fields such as `authSecret` and flags such as `--secret`
/// hold one, where the value looks like the name of an object.
fn names_object(name: &str, value: &str) -> bool {
    // These hold the secret itself.
    const OWNERS: [&str; 10] = [
        "api", "app", "client", "consumer", "cookie", "jwt", "session", "shared", "signing",
        "webhook",
    ];
    let is_field = name.strip_suffix("Secret").is_some_and(|owner| {
        let owner = owner.to_ascii_lowercase();
        !owner.is_empty() && !OWNERS.iter().any(|word| owner.ends_with(word))
    });
    is_object_name(value) && (is_field || (name == "secret" && value.ends_with("-secret")))
}

/// Whether a text looks like the name of an object: words with `-` between them.
fn is_object_name(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            // Words that are drawn at random have digits among their letters.
            && (word.len() <= 3 || !word.bytes().any(|byte| byte.is_ascii_digit()))
    };
    text.contains('-') && text.split(['-', '.']).all(is_word)
}

/// What comes before and after a part of a text.
fn around<'t>(text: &'t str, piece: &str) -> Option<(&'t str, &'t str)> {
    let start = (piece.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    Some((text.get(..start)?, text.get(start + piece.len()..)?))
}

/// Whether a part of a text is the name of a Secret: `--sops-age-secret=sops-age`, or that of a
/// script which reads it, `SECRET=my-ca; kubectl get secret $SECRET`.
fn names_secret(text: &str, piece: &str) -> bool {
    const READS: [&str; 4] = ["get secret", "patch secret", "create secret", "delete secret"];
    let before = around(text, piece).map(|(before, _)| before.trim_end_matches(['"', '\'']));
    before.and_then(|before| before.strip_suffix('=')).is_some_and(|name| {
        let of_flag = name.strip_suffix("-secret").is_some_and(|name| name.ends_with(piece));
        let of_script = name.ends_with("SECRET") && READS.iter().any(|read| text.contains(read));
        of_flag || (of_script && is_object_name(piece))
    })
}

/// Reports whether a text can be a secret: not a variable reference, placeholder, expression of a
/// program, result of a command, item of a list, path, number, duration or boolean.
fn is_plain(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
        && !text.contains(['$', '<', '{', '`', '(', '['])
        && !text.starts_with(['/', '%'])
        // `sorted(all, key=lambda one: …)`.
        && text != "lambda"
        && !placeholder::stands_for_secret(text)
        && !is_file(text)
        && !is_pattern(text)
        && !is_duration(text)
        && text.parse::<f64>().is_err()
        && text.parse::<bool>().is_err()
}

/// Whether a text is a beginning of secrets, or a regular expression of them: `sk-`, `sk-oai-.*`.
fn is_pattern(text: &str) -> bool {
    (text.ends_with('-') && text.len() < 12)
        || [".*", ".+", "\\w", "\\S"].iter().any(|any| text.contains(any))
}

/// Whether a text is the path of a file below a directory, with an extension of letters:
/// `team/app.tfstate`.
fn is_file(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b'.'))
    };
    let extension = text.rsplit_once('.').map_or("", |(_, extension)| extension);
    text.contains('/') && (2..=8).contains(&extension.len()) && text.split('/').all(is_part)
}

/// Whether a text is a duration of Go: `8h0m0s`.
fn is_duration(text: &str) -> bool {
    let is_unit = |unit: &str| matches!(unit, "h" | "m" | "s" | "ms" | "d");
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = &rest[digits..];
        let end = unit.find(|c: char| c.is_ascii_digit()).unwrap_or(unit.len());
        if digits == 0 || !is_unit(&unit[..end]) {
            return false;
        }
        rest = &unit[end..];
    }
    true
}

/// Whether a part of a text goes on as a sentence after a colon: `PASS: Prometheus is deployed`.
fn is_prose(text: &str, piece: &str) -> bool {
    around(text, piece).is_some_and(|(before, after)| {
        let next = after.strip_prefix(' ').and_then(|after| after.chars().next());
        // `Basic dXNlcjpwYXNz` is two words, and a sentence has more.
        let scheme = piece.split_once(' ').filter(|(_, rest)| !rest.contains(' '));
        let is_credential = scheme.is_some_and(|(scheme, _)| is_scheme(scheme));
        let has_words = piece.contains(' ') && !is_credential;
        before.ends_with(": ") && (has_words || next.is_some_and(char::is_alphabetic))
    })
}

/// Whether a word says how the credentials behind it are written.
fn is_scheme(word: &str) -> bool {
    ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Whether a part of a program is a variable or a piece of an expression: the argument `token=token`,
/// the entry `"token": token`, the attribute `key = item.name`, the beginning of `"Bearer " + token` or
/// of `f"Bearer {token}"`.
fn is_of_program(text: &str, piece: &str) -> bool {
    let Some((before, after)) = around(text, piece) else { return false };
    let quotes = ['"', '\''];
    if is_scheme(piece.trim_end())
        || (matches!(piece, "f" | "b" | "r") && after.starts_with(quotes))
    {
        return true;
    }
    let is_attribute = || {
        let (object, field) = piece.split_once('.').unwrap_or_default();
        let is_identifier = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        before.ends_with("= ")
            && text.contains("import ")
            && is_identifier(object)
            && is_identifier(field)
    };
    let is_entry = || {
        // In JSON and YAML a value without quotes is no text beside a name with them.
        let name = before.trim_end().strip_suffix(':');
        let name = name.and_then(|name| name.strip_suffix(quotes));
        name.is_some_and(|name| name.ends_with(piece))
    };
    let is_argument = || {
        let name = before.strip_suffix('=').and_then(|before| before.strip_suffix(piece));
        // `-` before the name: a flag of one line, whose value is a text.
        name.is_some_and(|name| !name.ends_with(is_of_name))
    };
    text.contains('\n') && (is_argument() || is_entry() || is_attribute())
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
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
            ("runner: {command: [bash, -ec, 'run --password abc']}", true),
            ("runner: {env: [{name: RAY_AUTH, value: token}]}", false),
            ("runner: {args: [--api-key, $(KEY)]}", false),
            ("runner: {args: [--api-key, --tp=1]}", false),
            ("runner: {args: [--cookie-expire=8h0m0s]}", false),
            ("runner: {args: [--cookie-secret=8h0x0s]}", true),
            ("runner: {command: [sh, -c, 'echo \"PASS: Prometheus is deployed\"']}", false),
            ("runner: {command: [sh, -c, 'echo \"PASS: Basic label query works\"']}", false),
            ("runner: {command: [sh, -c, 'curl -H \"Authorization: Basic dXNlcjpwYXNz\"']}", true),
            ("runner: {command: [sh, -c, 'sorted(a, key=lambda one: one.b)']}", false),
            ("runner: {command: [gen.sh, --secret, my-webhook-secret]}", false),
            ("runner: {command: [gen.sh, --secret, s3cr3t-9f8e7d]}", true),
            ("runner: {command: [sh, -c, 'echo \"password: hunter2\"']}", true),
            ("runner: {command: [sh, -c, 'echo \"== Secrets ==\"; date -u +%H:%M:%SZ']}", false),
            (
                "runner: {command: [python, -c, 'a(secret_key=os.environ[\"K\"], token=get(\"T\"))']}",
                false,
            ),
            ("runner: {command: [sh, -c, \"printf '{\\\"token\\\":\\\"%s\\\"}' x\"]}", false),
            (
                "runner: {command: [python, -c, \"f(\\n  token=token if token else None\\n)\"]}",
                false,
            ),
            ("runner: {command: [sh, -c, \"set -e\\nlogin --password=password\"]}", true),
            // What is written in the place of a value.
            ("runner: {env: [{name: HF_TOKEN, value: REPLACE_ME}]}", false),
            ("runner: {env: [{name: HF_TOKEN, value: XXXXX}]}", false),
            ("runner: {env: [{name: HF_TOKEN, value: PLACEHOLDER_WILL_BE_PATCHED}]}", false),
            ("runner: {env: [{name: OPENAI_API_KEYS, value: dummy}]}", false),
            ("runner: {env: [{name: HF_TOKEN, value: changeme}]}", true),
            (
                "runner: {args: [\"cat <<EOF\\nkind: Secret\\nstringData:\\n  token: @TOKEN@\\n  password: $PW\\n  api-key: __KEY__\\n  client-secret: '$(params.x)'\\nEOF\"]}",
                false,
            ),
            (
                "runner: {args: [\"cat <<EOF\\nkind: Secret\\nstringData:\\n  token: $TOKEN\\n  password: hunter2\\nEOF\"]}",
                true,
            ),
            ("runner: {env: [{name: HF_TOKEN, value: yourtoken}]}", false),
            ("runner: {env: [{name: HF_TOKEN, value: INSERT_TOKEN}]}", false),
            ("rule: {value: '^Bearer sk-oai-.*'}", false),
            ("rule: {predicate: '!a.startsWith(\"Bearer sk-oai-\")'}", false),
            // Programs.
            (
                "runner: {args: ['{\"token\": token, \"Authorization\": \"Bearer \" + t,\n\n \"password\": f\"{t}\"}']}",
                false,
            ),
            ("runner: {args: ['{\"token\": \"token\",\n\n \"a\": b}']}", true),
            ("runner: {args: ['import os\n\nkey = child.text']}", false),
            ("runner: {args: ['key = child.text']}", true),
            ("runner: {args: ['key = \"authentik/authentik.tfstate\"']}", false),
            ("runner: {args: ['--x=y --sops-age-secret=sops-age']}", false),
            ("runner: {args: ['SECRET=\"my-tls-ca\"; kubectl get secret $SECRET']}", false),
            ("runner: {args: ['SECRET=\"hunter2\"; kubectl get secret $SECRET']}", true),
            // Names of keys, of variables and of ways.
            ("from: {fromConnectionSecretKey: kubeconfig}", false),
            ("secret: {name: oidc, keys: {clientSecret: client-secret}}", false),
            ("secret: {keys: {clientSecret: client-secret}}", true),
            ("runner: {args: [--token-env=MEMPALACE_TOKEN]}", false),
            ("runner: {args: [--auth=bearer-static]}", false),
            ("params: {auth: [public_v2]}", false),
            ("runner: {args: ['auth = \"apikey\"', 'cookie_samesite = \"lax\"']}", false),
            ("runner: {env: [{name: KAFKA_KEY_SERIALIZER, value: org.apache.X}]}", false),
            ("runner: {env: [{name: A, description: 'the token: abc1'}]}", false),
            ("s3: {secretName: s, accessKey: AWS_KEY, secretKey: AWS_SECRET}", false),
            ("s3: {accessKey: abc1, secretKey: def2}", true),
            ("s3: {secretName: s, password: def2}", true),
            ("source: {authSecret: my-api-secret, modelAccessSecret: hf-token}", false),
            ("source: {authSecret: 9f8e7d6c5b4a}", true),
            ("source: {clientSecret: my-client-secret}", true),
            ("claims: {connectionSecretKeys: [endpoint, password]}", false),
            (
                "worker: {podSpec: {initContainers: [{name: a, env: [{name: S3_PASSWORD, value: p}]}]}}",
                true,
            ),
        ] {
            let text = runtime("a", &format!("  engineConfig: {{{spec}}}\n"));
            assert_eq!(codes(&run(&text, Documented)).contains(&"inline-secret"), found, "{spec}");
        }
    }

    #[test]
    fn a_script_is_named_by_its_field() {
        let text = runtime(
            "a",
            "  engineConfig: {runner: {command: [bash, -ec, 'run --password abc']}}\n",
        );
        let found = run(&text, Documented);
        let message = |finding: &crate::diag::Diagnostic| finding.message.clone();
        let secret = found.iter().find(|finding| finding.code.as_str() == "inline-secret");
        assert_eq!(
            secret.map(message).as_deref(),
            Some("the value of `command` is written in the file")
        );
    }
}
