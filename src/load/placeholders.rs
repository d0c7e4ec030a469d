//! Text that is not yet a manifest: scalars that another tool fills in (`envsubst`, `helm template`,
//! `oc process`, a hand).
//!
//! In: the tree of an object. Out: the scalars that stand for a value which is not there. References
//! that stay in an object are none: `$(VAR)` in commands, arguments and variables, `{{.Field}}` of
//! runtimes, and shell text.

use super::flow::Brackets;
use super::{encrypted, kinds, ytt};
use crate::diag::{Diagnostic, Severity, quoted};
use crate::secret::placeholder::{asks_for_value, is_upper, stands_for_value};
use crate::source::{Source, Span};
use crate::yaml::{Node, Value};
use std::ops::Range;
use std::path::Path;

/// What is shown of a value that SOPS encrypted.
const ENCRYPTED: &str = "ENC[…]";

/// A scalar that is filled in later.
#[derive(Clone, Debug)]
pub struct Placeholder {
    /// Where it is.
    pub span: Span,
    /// The placeholder in it.
    pub text: String,
}

impl Placeholder {
    /// Whether a finding is about the value that is not filled in yet, or about what holds it.
    pub fn causes(&self, finding: &Diagnostic) -> bool {
        let Some(span) = finding.span() else { return false };
        span.source == self.span.source
            // An error about a whole may come from the value in it; a warning hardly does.
            && (self.span.contains(span)
                || (finding.severity == Severity::Error && span.contains(self.span)))
    }
}

/// Whether a value holds a placeholder that is written with signs, wherever it stands; not one of
/// Go templates, which controllers fill in, too.
pub fn has_sign(value: &str) -> bool {
    within(value).any(|(_, style)| matches!(style, Style::Dollar | Style::Word))
}

/// How a placeholder is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `${X}`.
    Dollar,
    /// `{{ X }}`.
    Braces,
    /// `<x>`, `%X%`, `__X__`, `@X@`, `REPLACE_ME`.
    Word,
    /// `{x}`, which YAML reads as a mapping where a scalar begins with it.
    Brace,
    /// `$(X)`, `($x)`, `$X`.
    Parenthesis,
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Most bytes of a placeholder. Without an end, a text of signs that are never closed would be
/// searched once for each of them.
const LONGEST: usize = 1024;

/// The placeholder that begins at the start of a text, by its length.
fn at_start(text: &str) -> Option<(usize, Style)> {
    let text = match text.len() {
        0..=LONGEST => text,
        // Within a character nothing can be cut.
        _ => (LONGEST - 3..=LONGEST).rev().find_map(|end| text.get(..end)).unwrap_or(text),
    };
    let closed = |open: &str, close: &str| {
        let rest = text.strip_prefix(open)?;
        let end = rest.find(close)?;
        (!rest[..end].contains('\n')).then_some((&rest[..end], open.len() + end + close.len()))
    };
    // Longer signs first: `${{` begins as `${` does, and `{{` as `{` does.
    if let Some((_, end)) = closed("${{", "}}") {
        return Some((end, Style::Braces));
    }
    if let Some((inner, end)) = closed("${", "}") {
        // `${NAME:-default}` and `${NAME-default}` are shell forms that envsubst tools fill in.
        let name = inner.split([':', '-']).next().unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        return (is_name && is_word(&name.replace('.', "_"))).then_some((end, Style::Dollar));
    }
    if let Some((_, end)) = closed("{{", "}}") {
        return Some((end, Style::Braces));
    }
    if let Some((inner, end)) = closed("{", "}") {
        return (is_word(inner) && inner.starts_with(|c: char| c.is_ascii_alphabetic()))
            .then_some((end, Style::Brace));
    }
    if let Some((inner, end)) = closed("<", ">") {
        // `<none>` is shown by kubectl too, but no field of a manifest has it. A host may be one below
        // a domain: `<*.your-domain>`.
        let inner = inner.strip_prefix("*.").unwrap_or(inner);
        let is_text = inner
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ' | b'.'));
        let is_named = inner.starts_with(|c: char| c.is_ascii_alphabetic());
        // Plugins of Argo CD: `<path:kv/data/chat#token | base64encode>`, `<secret:domain>`.
        if ["path:", "secret:", "sopssecret:"].iter().any(|plugin| inner.starts_with(plugin))
            && !inner.contains('<')
        {
            return Some((end, Style::Word));
        }
        return (is_text && is_named && !inner.ends_with(' ')).then_some((end, Style::Word));
    }
    for (open, close) in [("%", "%"), ("@", "@"), ("__", "__")] {
        if let Some((inner, end)) = closed(open, close)
            && is_upper(inner)
        {
            return Some((end, Style::Word));
        }
    }
    if let Some(rest) = text.strip_prefix('$') {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let name = &rest[..end.unwrap_or(rest.len())];
        // Names of one letter and of lower case are variables of scripts: `$1`, `$i`, `$path`.
        if name.len() > 1 && is_upper(name) && !name.starts_with(|c: char| c.is_ascii_digit()) {
            return Some((1 + name.len(), Style::Parenthesis));
        }
    }
    for (open, close) in [("$(", ")"), ("($", ")")] {
        if let Some((inner, end)) = closed(open, close)
            && is_word(inner)
        {
            return Some((end, Style::Parenthesis));
        }
    }
    None
}

/// What programs fill in by its place (`pod-{}`), and dots or a line for something of the reader's:
/// valid in no name.
fn is_left_open(text: &str) -> bool {
    text == "..." || text == "_" || text.contains("{}")
}

/// Words that a name is written with where it stands for one: no name has upper case.
fn shouts_a_name(text: &str) -> bool {
    const NOUNS: [&str; 24] = [
        "APP",
        "CLUSTER",
        "DOMAIN",
        "ENV",
        "ENVIRONMENT",
        "EXAMPLE",
        "HOST",
        "HOSTNAME",
        "ID",
        "IMAGE",
        "INSTANCE",
        "MODEL",
        "NAME",
        "NAMESPACE",
        "PREFIX",
        "PROJECT",
        "REGION",
        "SECRET",
        "SUFFIX",
        "TEAM",
        "TENANT",
        "USER",
        "USERNAME",
        "ZONE",
    ];
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| {
        // A single word such as `H100` may be a mistake in a name, so only these nouns count.
        let is_joined = word.trim_matches('_').contains('_') && word.len() > 2;
        is_upper(word) && (is_joined || NOUNS.contains(&word))
    })
}

/// Whether a text is a sentence in upper case, as `FILLED BY THE OPERATOR`: no name has blanks.
fn is_shouted_sentence(text: &str) -> bool {
    text.contains(' ') && text.split(' ').all(is_upper)
}

/// Whether a text is a word such as `service_name`, which a script replaces in a template and which
/// no name may be.
fn is_snake(text: &str) -> bool {
    text.contains('_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether a file is a template by its name.
pub(super) fn is_template_file(file: &str) -> bool {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.split(['-', '_', '.']).any(|word| matches!(word, "template" | "tmpl" | "tpl"))
}

/// Whether a name of an object, or a number, is written so.
fn may_shout(text: &str) -> bool {
    let begins = |after: &str| {
        let line = after.split(['\n', ',', '}']).next().unwrap_or_default();
        let value = line.split(' ').next().unwrap_or_default();
        shouts_a_name(value.trim_matches(['"', '\'']))
            || is_shouted_sentence(line.trim().trim_matches(['"', '\'']))
    };
    let shouts_number = |after: &str| after.starts_with(|c: char| c.is_ascii_uppercase());
    let has = |keys: &[&str], shouts: &dyn Fn(&str) -> bool| {
        keys.iter()
            .any(|key| text.match_indices(key).any(|(at, _)| shouts(&text[at + key.len()..])))
    };
    let is_variable = |after: &str| after.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    has(
        &[
            "  name: ",
            "  namespace: ",
            "{name: ",
            "claimName: ",
            "secretName: ",
            "AccountName: ",
            "ClassName: ",
        ],
        &begins,
    ) || has(&[": $", ": \"$", ": '$"], &is_variable)
        || has(&["ort: ", "eplicas: ", "Quota: ", "Limit: "], &shouts_number)
}

/// The placeholders in a text.
fn within(text: &str) -> impl Iterator<Item = (Range<usize>, Style)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            // All signs are ASCII, so the byte is the start of a character and the slice is safe.
            if !matches!(text.as_bytes()[at], b'$' | b'{' | b'<' | b'%' | b'@' | b'_' | b'(') {
                at += 1;
                continue;
            }
            if let Some((length, style)) = at_start(&text[at..]) {
                let found = at..at + length;
                at = found.end;
                return Some((found, style));
            }
            at += 1;
        }
        None
    })
}

/// Whether a text may hold a placeholder at all.
pub(super) fn may_hold(text: &str) -> bool {
    // Those that are found fastest come first.
    const SIGNS: [&str; 19] = [
        "{",
        ": ...",
        "<",
        "%",
        "@",
        "__",
        "ENC[",
        "ref+",
        "REPLACE",
        "CHANGE",
        "YOUR",
        "$(",
        "($",
        "OVER",
        "PLACEHOLDER",
        "TODO",
        "FIXME",
        "TBD",
        "HERE",
    ];
    SIGNS.iter().any(|sign| text.contains(sign)) || text.contains("PATCHED") || may_shout(text)
}

/// Fields whose value is a name, a place or a number, so that a placeholder within it is no part of
/// its text.
const STRICT: [&str; 23] = [
    "name",
    "namespace",
    "image",
    "storageUri",
    "uri",
    "url",
    "host",
    "hostname",
    "hostnames",
    "hosts",
    "clusterIP",
    "externalName",
    "loadBalancerIP",
    "claimName",
    "secretName",
    "serviceAccountName",
    "runtime",
    "version",
    "replicas",
    "minReplicas",
    "maxReplicas",
    "size",
    "type",
];

/// Fields whose value is a number or a quantity, which no text in upper case is.
const NUMBERS: [&str; 12] = [
    "borrowingLimit",
    "containerPort",
    "hostPort",
    "lendingLimit",
    "maxReplicas",
    "minReplicas",
    "nodePort",
    "nominalQuota",
    "parallelism",
    "port",
    "replicas",
    "sizeLimit",
];

/// Fields in which `name` is the name of an object or of a volume.
const NAMED_BY: [&str; 8] = [
    "configMap",
    "configMapKeyRef",
    "configMapRef",
    "imagePullSecrets",
    "secretKeyRef",
    "secretRef",
    "volumeMounts",
    "volumes",
];

/// Maps whose values are such.
const STRICT_MAPS: [&str; 7] =
    ["labels", "matchLabels", "nodeSelector", "requests", "limits", "capacity", "hard"];

/// Lists whose items compare labels and taints, which no text with such signs is.
const SELECTS: [&str; 4] = ["matchExpressions", "matchFields", "taints", "tolerations"];

/// Whether Go templates of objects of a kind are filled in by its controller.
pub(super) fn is_templated(kind: &str) -> bool {
    matches!(kind, "ServingRuntime" | "ClusterServingRuntime" | "LLMInferenceServiceConfig")
}

/// Whether a text holds only objects whose Go templates their controllers fill in.
pub(super) fn is_filled_by_controllers(text: &str) -> bool {
    let mut kinds = kinds::named(text).peekable();
    kinds.peek().is_some() && kinds.all(is_templated)
}

/// Whether a template names an object of Helm, and no field of the object it is written in.
fn is_of_helm(text: &str) -> bool {
    const OBJECTS: [&str; 7] =
        ["Values", "Release", "Chart", "Subcharts", "Files", "Capabilities", "Template"];
    let field = text.trim_start_matches(['{', '-', ' ']).strip_prefix('.');
    field.is_none_or(|field| OBJECTS.iter().any(|object_field| field.starts_with(object_field)))
}

/// The placeholders of an object.
pub fn of(node: &Node, kind: &str, source: &Source) -> Vec<Placeholder> {
    let templated = is_templated(kind);
    let mut found = Vec::new();
    let mut walk = Walk {
        templated,
        is_secret: kind == "Secret",
        is_template: is_template_file(&source.name),
        source,
        found: &mut found,
        path: Vec::new(),
    };
    walk.node(node);
    found
}

struct Walk<'a, 'n> {
    /// Go templates of the object are filled in by its controller.
    templated: bool,
    /// The values below `data` are base64.
    is_secret: bool,
    /// The file is a template by its name.
    is_template: bool,
    source: &'a Source,
    found: &'a mut Vec<Placeholder>,
    path: Vec<&'n str>,
}

impl<'n> Walk<'_, 'n> {
    fn node(&mut self, node: &'n Node) {
        match &node.value {
            Value::Map(map) => {
                if let Some(text) = self.bare_word(node) {
                    self.add(node, &text);
                    // Its inner key would be visited as a field of the object.
                    return;
                }
                for entry in map {
                    if let (Some(text), Some(span)) =
                        (ytt::within(&entry.key), entry.key_origin.span())
                    {
                        self.found.push(Placeholder { span, text: text.to_owned() });
                    }
                    self.path.push(&entry.key);
                    self.node(&entry.node);
                    self.path.pop();
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.node(item)),
            Value::Str(text) => self.scalar(node, text),
            _ => {}
        }
    }

    /// `{name}`, which YAML reads as a mapping of a key without a value.
    fn bare_word(&self, node: &Node) -> Option<String> {
        let Value::Map(map) = &node.value else { return None };
        let mut entries = map.iter();
        let (Some(one), None) = (entries.next(), entries.next()) else { return None };
        let span = node.origin.span().filter(|_| one.node.is_null())?;
        let text = self.source.text.get(span.start as usize..span.end as usize)?;
        (text == format!("{{{}}}", one.key) && is_word(&one.key)).then(|| text.to_owned())
    }

    fn scalar(&mut self, node: &Node, text: &str) {
        let last = self.path.last().copied().unwrap_or_default();
        let above = self.path.len().checked_sub(2).map_or("", |at| self.path[at]);
        // Shell text is full of variables that the container fills in itself.
        let is_code = self.path.iter().any(|key| matches!(*key, "command" | "args"));
        let is_value = last == "value" || self.path.first().is_some_and(|key| *key == "data");
        // The API server expands `$(VAR)` and the controller `{{.Field}}` in variables alone.
        let is_variable = last == "value" && self.path.contains(&"env");
        let is_number = NUMBERS.contains(&last) && !is_value;
        let is_base64 = self.is_secret && matches!(self.path[..], ["data", _]);
        let is_strict = !is_code
            && (is_number
                || is_base64
                || (STRICT.contains(&last) && !is_value)
                || STRICT_MAPS.contains(&above)
                || SELECTS.contains(&above)
                || last == "topologyKey");
        if text.starts_with("#@ ") {
            // As a comment it is code, and as a text of its own it is a text.
            let start = node.origin.span().map(|span| span.start as usize);
            let is_comment = start.is_some_and(|at| self.source.text[at..].starts_with('#'));
            if is_comment {
                self.add(node, text);
            }
            return;
        }
        if encrypted::is_value(text) {
            return self.add(node, ENCRYPTED);
        }
        // What vals reads from a store of secrets: `ref+op://vault/item/field`.
        if text.starts_with("ref+") && text.contains("://") {
            return self.add(node, text);
        }
        let is_of_object = matches!(self.path[..], ["metadata", "name" | "namespace"]);
        let names_object = is_of_object
            || matches!(
                last,
                "claimName"
                    | "secretName"
                    | "serviceAccountName"
                    | "storageClassName"
                    | "priorityClassName"
                    | "runtimeClassName"
            )
            || (last == "name" && NAMED_BY.contains(&above));
        for (range, style) in within(text) {
            // A part of a description may have braces for a reader; a whole value is hardly meant
            // so.
            let is_whole = range.len() == text.trim().len();
            let counts = match style {
                // Of services, too, Go templates in commands and arguments are filled in, and
                // fields of the service in variables.
                Style::Braces if self.templated || is_code => false,
                Style::Braces if is_variable && !is_of_helm(&text[range.clone()]) => false,
                Style::Dollar | Style::Braces | Style::Word => is_whole || is_strict,
                Style::Brace => is_strict,
                // Nothing expands a variable in the name of an object, and no name has these signs.
                Style::Parenthesis => is_strict && (is_whole || names_object),
            };
            if counts {
                return self.add(node, &text[range]);
            }
        }
        let asks = |text: &str| {
            asks_for_value(text)
                || (is_strict && is_left_open(text))
                || (is_strict && stands_for_value(text))
                || (names_object && shouts_a_name(text))
                || (matches!(last, "name" | "namespace") && is_shouted_sentence(text))
                || (is_strict && self.is_template && is_snake(text))
                || (is_number && is_upper(text))
        };
        if !is_code && asks(text.trim()) {
            self.add(node, text.trim());
        }
    }

    fn add(&mut self, node: &Node, text: &str) {
        if let Some(span) = node.origin.span() {
            self.found.push(Placeholder { span, text: text.to_owned() });
        }
    }
}

/// A text with its placeholders covered, so that it can be read as YAML; every place stays where it
/// is.
pub(super) struct Covered {
    pub(super) text: String,
    /// The values that are covered.
    pub(super) values: Vec<Range<usize>>,
    /// Lines that stand for any number of lines, or decide about those below them.
    pub(super) lines: Vec<Range<usize>>,
}

/// Covers the placeholders of a text; `None` if there is none.
pub(super) fn covered(text: &str) -> Option<Covered> {
    let mut out = text.to_owned().into_bytes();
    let (mut values, mut lines) = (Vec::new(), Vec::new());
    let mut brackets = Brackets::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let is_within = brackets.is_open();
        let within_brackets = brackets.next(line, |text| Some(at_start(text)?.0));
        let bare = line.trim();
        let offset = start;
        start += line.len();
        let at = offset + (line.len() - line.trim_start().len());
        // A comment may show a placeholder as an example, and nothing fills it in.
        if bare.starts_with('#') {
            if ytt::is_statement(bare) {
                lines.push(at..at + bare.len());
            }
            continue;
        }
        if let Some(range) = ytt::value(line) {
            let range = offset + range.start..offset + range.end;
            out[range.clone()].fill(b'x');
            values.push(range);
            continue;
        }
        let only = within(bare).next().is_some_and(|(range, style)| {
            matches!(style, Style::Braces | Style::Dollar) && range == (0..bare.len())
        });
        // As a comment the line keeps its length, so that all places behind it stay.
        if only {
            out[at..at + bare.len()].fill(b'#');
            lines.push(at..at + bare.len());
            continue;
        }
        for (range, style) in within(line) {
            let before = line[..range.start].trim_end();
            let begins =
                before.ends_with([':', '-', '[', ',', '{']) || (is_within && before.is_empty());
            let breaks = match style {
                Style::Braces => true,
                Style::Brace => {
                    begins && !line[range.end..].starts_with(['\n', '\r', ' ', ',', ']', '}', '#'])
                    // `{x}` alone is a valid mapping, and `{x}.example.org` is none.
                }
                // YAML forbids a scalar to begin with `%` or `@`; elsewhere in it they are plain
                // characters.
                Style::Word => begins && line[range.start..].starts_with(['%', '@']),
                // Its braces end a scalar within brackets, and elsewhere they are a part of it.
                Style::Dollar => within_brackets.contains(&range),
                Style::Parenthesis => false,
            };
            if breaks {
                let range = offset + range.start..offset + range.end;
                out[range.clone()].fill(b'x');
                values.push(range);
            }
        }
    }
    // Only whole placeholders were overwritten, with ASCII: the bytes are UTF-8 still.
    let out = String::from_utf8(out).ok()?;
    (out != text || !lines.is_empty()).then_some(Covered { text: out, values, lines })
}

/// Gives scalars that were read covered their own text again.
pub(super) fn uncover(node: &mut Node, text: &str, places: &[Range<usize>]) {
    match &mut node.value {
        Value::Map(map) => {
            for entry in map.iter_mut() {
                uncover(&mut entry.node, text, places);
            }
        }
        Value::List(items) => {
            items.make_mut().iter_mut().for_each(|item| uncover(item, text, places));
        }
        Value::Str(value) => {
            let Some(span) = node.origin.span() else { return };
            let range = span.start as usize..span.end as usize;
            // Places are in the order of the text, and there may be thousands in a long file.
            let first = places.partition_point(|place| place.end <= range.start);
            if places.get(first).is_some_and(|place| place.start < range.end)
                && let Some(written) = text.get(range)
            {
                *value = written.trim_matches(['"', '\'']).into();
            }
        }
        _ => {}
    }
}

/// How the placeholders of a file are filled in.
pub(super) fn command(file: &str, found: &[Placeholder], is_template: bool) -> String {
    let path = Path::new(file);
    let file = quoted(file);
    let has = |sign: &str| found.iter().any(|placeholder| placeholder.text.starts_with(sign));
    if is_template {
        format!("`oc process --local -f {file} | ome plan -f -` fills them in")
    } else if has(ENCRYPTED) {
        format!("`sops decrypt {file} | ome plan -f -` reads what is in it")
    } else if has("#@") || has("(@") {
        let directory = match path.parent().and_then(Path::to_str) {
            None | Some("") => ".".to_owned(),
            Some(directory) => directory.to_owned(),
        };
        format!("`ytt -f {} | ome plan -f -` fills them in", quoted(&directory))
    } else if has("{{") || has("${{") {
        "`helm template`, or the tool that the file is written for, fills them in: read its output \
         with `-f -`"
            .to_owned()
    } else if has("${") {
        format!("`envsubst < {file} | ome plan -f -` fills them in")
    } else {
        "replace them with values".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, SourceKind};
    use crate::yaml::{Limits, parse};

    fn found(kind: &str, text: &str) -> Vec<String> {
        found_in("a.yaml", kind, text)
    }

    fn found_in(file: &str, kind: &str, text: &str) -> Vec<String> {
        let source = Source::new(file, SourceKind::File, text);
        let tree = parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.unwrap();
        of(&tree, kind, &source).into_iter().map(|own| own.text).collect()
    }

    #[test]
    fn placeholders_are_told_from_references_and_text() {
        for (text, expected) in [
            (
                "metadata: {name: \"${APP}\", namespace: <name space>}",
                &["${APP}", "<name space>"][..],
            ),
            ("spec: {image: \"x/{user}:1\", storageUri: \"s3://${B}/m\"}", &["{user}", "${B}"]),
            ("env: [{name: A, value: \"$(B)\"}, {name: C, value: \"${D}\"}]", &["${D}"]),
            ("args: [\"--x=${A}\", \"${A}\", \"$(A)\", \"{{.Name}}\"]", &["${A}"]),
            ("data: {run: \"echo ${HOME} <b>t</b> $(date)\"}", &[]),
            ("resources: {requests: {storage: FROM_OVERLAY}}\nkind: TODO", &["FROM_OVERLAY"]),
            ("stringData: {k: REPLACE_ME, l: YOUR_KEY, m: ME}", &["REPLACE_ME", "YOUR_KEY"]),
            (
                "metadata: {name: MODEL_NAME-svc, namespace: dev-NAMESPACE}",
                &["MODEL_NAME-svc", "dev-NAMESPACE"],
            ),
            ("metadata: {name: PD-sample}\nenv: [{name: HF_TOKEN}]", &[]),
            ("stringData: {a: \"ENC[AES256_GCM,data:x,iv:y]\"}", &["ENC[…]"]),
            ("volumeID: {volume-id}\nx: {a: }", &["{volume-id}"]),
            ("a: \"%X%\"\nb: __Y__\nc: \"100%\"\nd: __init__", &["%X%", "__Y__"]),
            ("a: {nominalQuota: \"${M}Gi\", containerPort: PORT}", &["${M}", "PORT"]),
            ("a: {serviceAccountName: $SA_NAME}\nb: {value: $X}\nargs: [$HOME]", &["$SA_NAME"]),
            ("data: {port: PORT, hostPort: \"a${B}\"}\nargs: [{port: PORT}]", &[]),
            (
                "hostnames: [\"a.${DOMAIN}\", b.org]\nclusterIP: \"{PREFIX}.16\"",
                &["${DOMAIN}", "{PREFIX}"],
            ),
            (
                "metadata: {namespace: FILLED BY THE OPERATOR, name: A B c}",
                &["FILLED BY THE OPERATOR"],
            ),
            (
                "volumes: [{name: VOLUME_NAME, x: {claimName: CLAIM_NAME}}]\nenv: [{name: A_B}]",
                &["VOLUME_NAME", "CLAIM_NAME"],
            ),
            (
                "matchExpressions: [{key: a, operator: In, values: [b, \"n1.${DOMAIN}\"]}]",
                &["${DOMAIN}"],
            ),
            (
                "tolerations: [{key: a, value: \"t-${TEAM}\"}]\nenv: [{value: \"t-${B}\"}]",
                &["${TEAM}"],
            ),
            ("metadata: {name: service_name}", &[]),
            ("patch: {operation: INSERT_BEFORE}", &[]),
            ("host: <*.your_domain>\nhosts: [<*>]", &["<*.your_domain>"]),
            ("requests: {storage: AUTOMATIC_REPLACE}", &["AUTOMATIC_REPLACE"]),
            (
                "data: {a: \"ref+op://v/i\", b: \"<path:kv/a#b | base64encode>\", c: ref+x}",
                &["ref+op://v/i", "<path:kv/a#b | base64encode>"],
            ),
            ("spec: {serviceAccountName: KSA_NAME, storageClassName: fast}", &["KSA_NAME"]),
            (
                "metadata: {name: my-operator.v$(VERSION)}\nvolumes: [{x: {claimName: c-$(X)}}]\nlabels: {version: 'v$(X)'}",
                &["$(VERSION)", "$(X)"],
            ),
            (
                "metadata: {name: \"pod-n{}\", namespace: ..., labels: {}}\ndata: {a: ..., b: \"{}\"}",
                &["pod-n{}", "..."],
            ),
            ("metadata: {name: _, labels: {a: _b}}\ndata: {a: _}", &["_"]),
            ("hostnames: [\"a.<secret:own-domain>\", \"<b:c>\"]", &["<secret:own-domain>"]),
        ] {
            assert_eq!(found("InferenceService", text), expected, "{text}");
        }
        assert!(found("ServingRuntime", "args: [\"{{.Name}}\"]").is_empty());
        assert_eq!(found("Secret", "data: {token: $HF_TOKEN, b: x$Y}"), ["$HF_TOKEN"]);
        assert!(found("ConfigMap", "data: {token: $HF_TOKEN}").is_empty());
    }

    #[test]
    fn a_template_has_words_in_place_of_names() {
        let text = "metadata: {name: service_name, labels: {app: a-b}}\nhostnames: [a_domain]\nargs: [some_word]";
        for (file, expected) in
            [("x/template.yaml", &["service_name", "a_domain"][..]), ("x/templates.yaml", &[])]
        {
            assert_eq!(found_in(file, "Service", text), expected, "{file}");
        }
    }

    #[test]
    fn signs_that_are_never_closed_are_not_searched_to_the_end() {
        let long = format!("<{}>", "a".repeat(1000));
        assert!(matches!(at_start(&long), Some((1002, Style::Word))));
        let text = "é<".repeat(1 << 18) + &long;
        let begins = text.char_indices().filter(|(at, _)| at_start(&text[*at..]).is_some());
        assert_eq!(begins.count(), 1);
    }

    #[test]
    fn covered_text_keeps_its_places() {
        let text = "a: {{ .X }}\n{{- if .Y }}\nb: {user}/img:1\n{{- end }}\nc: {d: 1}\n";
        let Covered { text: covered, values, lines } = covered(text).unwrap();
        assert_eq!(covered.len(), text.len());
        assert_eq!(lines.len(), 2);
        let mut tree =
            parse(SourceId(0), &covered, 0..covered.len(), &Limits::default()).value.unwrap();
        uncover(&mut tree, text, &values);
        assert_eq!(tree.get("a").and_then(Node::as_str), Some("{{ .X }}"));
        assert_eq!(tree.get("b").and_then(Node::as_str), Some("{user}/img:1"));
        assert!(tree.get("c").is_some_and(|node| node.get("d").is_some()));
    }

    #[test]
    fn placeholders_in_brackets_are_covered_and_true_errors_are_none() {
        for (text, expected) in [
            ("a: [${A}]\n", r#"{"a":["${A}"]}"#),
            ("a: [${A}, b, x-${C}]\n", r#"{"a":["${A}","b","x-${C}"]}"#),
            ("a: {b: ${B}}\n", r#"{"a":{"b":"${B}"}}"#),
            ("a: [{{ .A }}, {{ .B }}]\n", r#"{"a":["{{ .A }}","{{ .B }}"]}"#),
            ("a: {b: {{ .B }}, c: %C%}\n", r#"{"a":{"b":"{{ .B }}","c":"%C%"}}"#),
            ("a: [\n  ${A},\n  @B@,\n]\nb: ${B}\n", r#"{"a":["${A}","@B@"],"b":"${B}"}"#),
        ] {
            let Covered { text: covered, values, .. } = covered(text).expect(text);
            let mut tree = parse(SourceId(0), &covered, 0..covered.len(), &Limits::default());
            assert!(tree.diagnostics.is_empty(), "{text}{:?}", tree.diagnostics);
            let node = tree.value.as_mut().expect(text);
            uncover(node, text, &values);
            assert_eq!(node.to_json().to_string(), expected);
        }
        for text in ["a: [${A}\nb: c\n", "a: [${A}]]\n", "a: {b: ${B}\n c\nd: [\n"] {
            let covered = covered(text).expect(text).text;
            let tree = parse(SourceId(0), &covered, 0..covered.len(), &Limits::default());
            assert!(!tree.diagnostics.is_empty(), "{text}");
        }
    }
}
