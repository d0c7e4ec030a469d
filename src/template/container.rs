//! Expands the placeholders of a container.
//!
//! In: the container merged from a service and its runtime. Out: the container with placeholders
//! expanded. A changed string keeps the origin of the string with the placeholder; all other values
//! are unchanged.
//!
//! The controller writes the container as JSON, runs the JSON text as one html template, and reads
//! the result back (OME `merging.go`, KServe `ReplacePlaceholders`). [`Mode::Controller`] does the
//! same. Therefore an action cannot contain quotes, backslashes or line breaks, values are escaped
//! for HTML and not for JSON, and an action can start in one string and end in another.

use super::documented::{check_documented, expand_text};
use super::error::{Error, Failure, Kind, action_at};
use super::exec::{Flavour, Output, Ran, execute};
use super::parse::parse;
use super::value::{Metadata, Root};
use crate::quantity::{go_json, go_quote};
use crate::yaml::{Entry, FieldPath, Map, Node, Origin, Segment, Value};
use serde_json::Value as Json;

/// The rules for the expansion of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only field chains, values without escapes, a missing label is an error (OME docs, Serving
    /// Runtime, Multi-Node Configuration).
    Documented,
    /// The rules of the controllers.
    Controller,
}

/// The name of the template in both controllers.
const TEMPLATE: &str = "container-tmpl";

/// Fields of `corev1.Container` in the order in which Go writes them, which is the order of the
/// actions.
const FIELDS: [&str; 25] = [
    "name",
    "image",
    "command",
    "args",
    "workingDir",
    "ports",
    "envFrom",
    "env",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "volumeMounts",
    "volumeDevices",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "imagePullPolicy",
    "securityContext",
    "stdin",
    "stdinOnce",
    "tty",
];

/// Receives an action that was executed, with the origin of the text that it is in.
pub(crate) type EachAction<'e> = dyn FnMut(Origin, Ran<'_>) + 'e;

/// Expands the placeholders of a container.
///
/// # Errors
/// Every invalid variable in documented mode; the first failure in controller mode.
pub fn expand_container(
    container: &Node,
    metadata: &Metadata<'_>,
    mode: Mode,
) -> Result<Node, Vec<Error>> {
    expand_recorded(container, metadata, mode, &mut |_, _| {})
}

/// As [`expand_container`]; each action that was executed is passed to `each`.
///
/// # Errors
/// As for [`expand_container`].
pub(crate) fn expand_recorded(
    container: &Node,
    metadata: &Metadata<'_>,
    mode: Mode,
    each: &mut EachAction<'_>,
) -> Result<Node, Vec<Error>> {
    // Nearly all containers have no placeholder: they keep every origin and are not written as
    // JSON.
    if !holds_braces(container) {
        return Ok(container.clone());
    }
    match mode {
        Mode::Documented => {
            let mut errors = Vec::new();
            let expanded = map_strings(container, &FieldPath::root(), &mut |text, origin, path| {
                match expand_text(text, metadata, &mut |ran| each(origin, ran)) {
                    Ok(expanded) => expanded,
                    Err(found) => {
                        errors.extend(found.into_iter().map(|error| Error {
                            origin: Some(origin),
                            path: path.clone(),
                            ..error
                        }));
                        None
                    }
                }
            });
            // All errors are collected, since the documents define each variable by itself.
            if errors.is_empty() { Ok(expanded) } else { Err(errors) }
        }
        Mode::Controller => {
            expand_as_controller(container, metadata, each).map_err(|error| vec![error])
        }
    }
}

/// Checks the placeholders of a container in documented mode, without the service.
pub fn check_container(container: &Node) -> Vec<Error> {
    let mut errors = Vec::new();
    if holds_braces(container) {
        map_strings(container, &FieldPath::root(), &mut |text, origin, path| {
            errors.extend(check_documented(text).into_iter().map(|error| Error {
                origin: Some(origin),
                path: path.clone(),
                ..error
            }));
            None
        });
    }
    errors
}

fn holds_braces(node: &Node) -> bool {
    match &node.value {
        Value::Str(text) => text.contains("{{"),
        Value::List(items) => items.iter().any(holds_braces),
        Value::Map(map) => {
            map.iter().any(|entry| entry.key.contains("{{") || holds_braces(&entry.node))
        }
        _ => false,
    }
}

/// Returns a tree in which `change` replaced strings.
fn map_strings(
    node: &Node,
    path: &FieldPath,
    change: &mut impl FnMut(&str, Origin, &FieldPath) -> Option<String>,
) -> Node {
    match &node.value {
        Value::Str(text) => change(text, node.origin, path)
            .map_or_else(|| node.clone(), |text| Node::str(text, node.origin)),
        Value::List(items) if holds_braces(node) => Node::list(
            items
                .iter()
                .enumerate()
                .map(|(index, item)| map_strings(item, &path.index(index), change)),
            node.origin,
        ),
        Value::Map(map) if holds_braces(node) => {
            let entries = map.iter().map(|entry| Entry {
                node: map_strings(&entry.node, &path.field(entry.key.clone()), change),
                ..entry.clone()
            });
            Node::new(Value::Map(entries.collect()), node.origin)
        }
        _ => node.clone(),
    }
}

fn expand_as_controller(
    container: &Node,
    metadata: &Metadata<'_>,
    each: &mut EachAction<'_>,
) -> Result<Node, Error> {
    let mut complete = container.clone();
    if let Value::Map(map) = &mut complete.value
        && !map.contains_key("resources")
    {
        // Go writes this field even when it is empty, and an unclosed action extends into it.
        map.insert("resources", Node::map(container.origin));
    }
    // The order matters where an action begins in one string and ends in a later one.
    let ordered = in_order(&complete, |key| FIELDS.iter().position(|field| *field == key));
    let mut encoder = Encoder::default();
    encoder.node(&ordered);
    let output = parse(TEMPLATE, &encoder.json)
        .and_then(|program| execute(&program, Flavour::Html, Root::Metadata(metadata)))
        .map_err(|failure| encoder.error(failure, container.origin))?;
    let expanded = decode(&output.text).map_err(|failure| {
        // The failure is in the output; the user sees the template.
        let offset = output.source_of(failure.offset);
        encoder.error(Failure { offset, ..failure }, container.origin)
    })?;
    // After the last failure: actions of a container that is refused have no effect.
    encoder.each_action(&output, each);
    let mut expanded = with_origins(&expanded, Some(&ordered), container.origin);
    let written = container.as_map();
    if let Value::Map(map) = &mut expanded.value {
        // The field that was only added for the expansion goes again.
        map.retain(|entry| {
            entry.key != "resources"
                || !entry.node.is_empty()
                || written.is_some_and(|written| written.contains_key("resources"))
        });
    }
    // Back in the order of the user, which later steps keep.
    Ok(in_order(&expanded, |key| written?.iter().position(|entry| entry.key == key)))
}

/// Returns a mapping sorted by rank; keys without a rank come last, in their order.
fn in_order(node: &Node, rank: impl Fn(&str) -> Option<usize>) -> Node {
    let Value::Map(map) = &node.value else { return node.clone() };
    let mut entries: Vec<&Entry> = map.iter().collect();
    entries.sort_by_key(|entry| rank(&entry.key).unwrap_or(usize::MAX));
    Node::new(Value::Map(entries.into_iter().cloned().collect()), node.origin)
}

/// A string with braces in the JSON text.
struct Site {
    /// Position of its opening quote.
    start: usize,
    origin: Origin,
    path: FieldPath,
}

/// Writes JSON as Go's `json.Marshal` does, and records the positions of strings with braces.
#[derive(Default)]
pub(super) struct Encoder {
    pub(super) json: String,
    sites: Vec<Site>,
    path: Vec<Segment>,
}

impl Encoder {
    pub(super) fn node(&mut self, node: &Node) {
        match &node.value {
            Value::Str(text) => self.string(text, node.origin),
            Value::List(items) => {
                self.json.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.json.push(',');
                    }
                    self.path.push(Segment::Index(index));
                    self.node(item);
                    self.path.pop();
                }
                self.json.push(']');
            }
            Value::Map(map) => {
                self.json.push('{');
                for (index, entry) in map.iter().enumerate() {
                    if index > 0 {
                        self.json.push(',');
                    }
                    self.path.push(Segment::Field(entry.key.clone()));
                    self.string(&entry.key, entry.key_origin);
                    self.json.push(':');
                    self.node(&entry.node);
                    self.path.pop();
                }
                self.json.push('}');
            }
            _ => self.json.push_str(&node.to_json().to_string()),
        }
    }

    fn string(&mut self, text: &str, origin: Origin) {
        if text.contains("{{") {
            self.sites.push(Site {
                start: self.json.len(),
                origin,
                path: FieldPath(self.path.clone()),
            });
        }
        go_json::string(&mut self.json, text);
    }

    /// Passes each action of the executed text on, with the origin of the string it begins in.
    pub(super) fn each_action(&self, output: &Output, each: &mut EachAction<'_>) {
        let written = |json: &str| serde_json::from_str::<String>(&format!("\"{json}\"")).ok();
        for ran in output.of_actions(&self.json) {
            // Sites are in the order of the text: the last one that begins before the action holds
            // it.
            let after = self.sites.partition_point(|site| site.start <= ran.pos);
            let Some(site) = after.checked_sub(1).and_then(|index| self.sites.get(index)) else {
                continue;
            };
            let [action, printed] =
                [ran.action, ran.printed].map(|json| written(json).unwrap_or_else(|| json.into()));
            each(site.origin, Ran { action: &action, printed: &printed, ..ran });
        }
    }

    /// Converts a failure in the JSON text to an error of the string that contains it.
    fn error(&self, failure: Failure, container: Origin) -> Error {
        let written = |json: &str| serde_json::from_str::<String>(&format!("\"{json}\"")).ok();
        let after = self.sites.partition_point(|site| site.start <= failure.offset);
        let site = after.checked_sub(1).and_then(|index| self.sites.get(index));
        let start = site.map_or(0, |site| site.start + 1);
        let before =
            self.json.get(start..failure.offset).and_then(written).map_or(0, |text| text.len());
        let action = action_at(&self.json, failure.offset);
        Error {
            kind: failure.kind,
            message: failure.message,
            offset: before,
            action: written(action).unwrap_or_else(|| action.to_owned()),
            origin: Some(site.map_or(container, |site| site.origin)),
            path: site.map_or_else(FieldPath::root, |site| site.path.clone()),
        }
    }
}

/// Reads JSON; the failure's offset is within the text.
fn decode(text: &str) -> Result<Json, Failure> {
    serde_json::from_str(text).map_err(|error| {
        if let Some((offset, message)) = bad_string(text.as_bytes()) {
            return Failure { kind: Kind::Result, message, offset };
        }
        // serde_json counts lines and columns, and the marks of the output count bytes.
        let line_start = text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum::<usize>();
        let offset = line_start + error.column().saturating_sub(1);
        // Go replaces half a surrogate pair, which is not supported here.
        if error.to_string().contains("surrogate") {
            return Failure {
                kind: Kind::Unsupported,
                message: "half a surrogate pair is not supported".into(),
                offset,
            };
        }
        Failure {
            kind: Kind::Result,
            message: format!("the expanded container is no JSON: {error}"),
            offset,
        }
    })
}

/// Returns the first byte that is invalid in a JSON string, with Go's message.
fn bad_string(text: &[u8]) -> Option<(usize, String)> {
    let in_words = |byte: u8, place: &str| {
        let literal = match byte {
            b'\'' => "\\'".to_owned(),
            b'"' => "\"".to_owned(),
            byte => go_quote(&char::from(byte).to_string()).trim_matches('"').to_owned(),
        };
        format!("invalid character '{literal}' in {place}")
    };
    // serde_json stops at other places with other words than Go: this is Go's scanner for strings.
    let mut inside = false;
    let mut bytes = text.iter().copied().enumerate();
    while let Some((offset, byte)) = bytes.next() {
        match byte {
            b'"' => inside = !inside,
            0..=0x1f if inside => return Some((offset, in_words(byte, "string literal"))),
            b'\\' if inside => match bytes.next()? {
                (_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                (_, b'u') => {
                    for _ in 0..4 {
                        let (offset, digit) = bytes.next()?;
                        if !digit.is_ascii_hexdigit() {
                            return Some((
                                offset,
                                in_words(digit, "\\u hexadecimal character escape"),
                            ));
                        }
                    }
                }
                (offset, byte) => return Some((offset, in_words(byte, "string escape code"))),
            },
            _ => {}
        }
    }
    None
}

/// Converts a JSON value to a tree. Values equal to those of the tree before keep their origins, a
/// changed value gets the origin of the value that it replaces, and a value without a counterpart
/// gets the origin of the nearest enclosing node.
pub(super) fn with_origins(json: &Json, before: Option<&Node>, around: Origin) -> Node {
    let origin = before.map_or(around, |node| node.origin);
    match (json, before.map(|node| &node.value)) {
        (Json::Array(items), Some(Value::List(old))) => Node::list(
            items
                .iter()
                .enumerate()
                .map(|(index, item)| with_origins(item, old.get(index), origin)),
            origin,
        ),
        (Json::Object(entries), Some(Value::Map(old))) => {
            let mut map = Map::with_capacity(entries.len());
            let by_place =
                // A key with a placeholder has another name now; its place is the same if none was
                // added.
                |index: usize| old.iter().nth(index).filter(|_| old.len() == entries.len());
            for (index, (key, value)) in entries.iter().enumerate() {
                let counterpart = old.entry(key).or_else(|| by_place(index));
                let key_origin = counterpart.map_or(origin, |entry| entry.key_origin);
                let node = with_origins(value, counterpart.map(|entry| &entry.node), origin);
                map.push(Entry { key: key.as_str().into(), key_origin, node });
            }
            Node::new(Value::Map(map), origin)
        }
        _ => {
            let node = Node::from_json(json, origin);
            // Equal parts keep the origins inside of them.
            before.filter(|before| **before == node).cloned().unwrap_or(node)
        }
    }
}
