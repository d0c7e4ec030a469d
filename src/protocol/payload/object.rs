//! Checks that members of JSON objects are present and have the right type.

use super::Form;
use super::datatype::{Number, number};
use crate::diag::{Code, Diagnostic, nearest};
use crate::source::Span;
use crate::yaml::{Entry, FieldPath, Map, Node, Value};

/// The expected JSON type of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    String,
    Array,
    Object,
}

impl Expect {
    fn admits(self, node: &Node) -> bool {
        match self {
            Self::String => node.as_str().is_some(),
            Self::Array => matches!(node.value, Value::List(_)),
            Self::Object => node.as_map().is_some(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// A JSON object with its path.
#[derive(Clone, Debug)]
pub(super) struct Object<'a> {
    pub(super) node: &'a Node,
    pub(super) map: &'a Map,
    pub(super) path: FieldPath,
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(super) enum Member<'a> {
    Absent,
    /// The member has another type; a finding was added.
    Wrong,
    Is(&'a Node, FieldPath),
}

impl<'a> Member<'a> {
    /// Returns the member, when it is present and of the right type.
    pub(super) fn is(self) -> Option<(&'a Node, FieldPath)> {
        match self {
            Self::Is(node, path) => Some((node, path)),
            Self::Absent | Self::Wrong => None,
        }
    }
}

/// Collects findings about one payload.
pub(super) struct Checker {
    pub(super) form: Form,
    found: Vec<Diagnostic>,
}

impl Checker {
    pub(super) fn new(form: Form) -> Self {
        Self { form, found: Vec::new() }
    }

    pub(super) fn into_findings(self) -> Vec<Diagnostic> {
        self.found
    }

    /// Records a finding about a node.
    pub(super) fn say(
        &mut self,
        code: Code,
        node: &Node,
        path: &FieldPath,
        message: String,
        help: Option<String>,
    ) {
        self.add(Diagnostic::new(code, message).at(node.origin.span()).maybe_help(help), path);
    }

    /// Records a finding that already has a place. The root has no path.
    pub(super) fn add(&mut self, finding: Diagnostic, path: &FieldPath) {
        self.found.push(if path.0.is_empty() { finding } else { finding.path(path.to_string()) });
    }

    /// Reports that a node has the wrong type.
    pub(super) fn wrong_type(&mut self, node: &Node, path: &FieldPath, expected: &str) {
        let message = format!("{} must be {expected}, not {}", called(path), described(node));
        self.say(Code::PayloadType, node, path, message, Some(format!("write {expected}")));
    }

    /// Returns the node as an object, or reports a finding.
    pub(super) fn object<'a>(&mut self, node: &'a Node, path: &FieldPath) -> Option<Object<'a>> {
        let Some(map) = node.as_map() else {
            self.wrong_type(node, path, Expect::Object.words());
            return None;
        };
        Some(Object { node, map, path: path.clone() })
    }

    /// Reads an optional member. In the JSON form of a proto message, null means absent; in JSON it
    /// is a value.
    pub(super) fn optional<'a>(
        &mut self,
        object: &Object<'a>,
        key: &str,
        expect: Expect,
    ) -> Member<'a> {
        let Some(entry) = self.entry(object, key) else { return Member::Absent };
        let node = &entry.node;
        if node.is_null() && self.form == Form::GrpcV2 {
            return Member::Absent;
        }
        // The key as it is written: a proto field has two spellings.
        let path = object.path.field(entry.key.clone());
        if expect.admits(node) {
            return Member::Is(node, path);
        }
        self.wrong_type(node, &path, expect.words());
        Member::Wrong
    }

    /// Returns the entry of a member. A field of a proto message has two spellings; reports a
    /// finding when both are present.
    pub(super) fn entry<'a>(&mut self, object: &Object<'a>, key: &str) -> Option<&'a Entry> {
        let entry = object.map.iter().find(|entry| self.form.names(&entry.key, key))?;
        if let Some(twice) = object
            .map
            .iter()
            .find(|other| other.key != entry.key && self.form.names(&other.key, key))
        {
            let path = object.path.field(twice.key.clone());
            let message = format!("`{}` and `{}` are one field", entry.key, twice.key);
            let finding = Diagnostic::new(Code::DuplicateKey, message)
                .at(twice.key_origin.span())
                .label(entry.key_origin.span(), "given here first")
                .help(format!("delete `{}` or `{}`", entry.key, twice.key));
            self.add(finding, &path);
        }
        Some(entry)
    }

    /// Reads a required member.
    pub(super) fn required<'a>(
        &mut self,
        object: &Object<'a>,
        key: &str,
        expect: Expect,
    ) -> Option<(&'a Node, FieldPath)> {
        match self.optional(object, key, expect) {
            Member::Absent => {
                self.missing(object, key, None);
                None
            }
            member => member.is(),
        }
    }

    /// Reports a missing member at the object's opening brace.
    pub(super) fn missing(&mut self, object: &Object<'_>, key: &str, help: Option<String>) {
        let path = object.path.field(key);
        let within = if object.path.0.is_empty() {
            "the payload".to_owned()
        } else {
            format!("`{}`", object.path)
        };
        // An unknown member is no fault by itself, so that a slip shows here only.
        let slip = nearest(key, object.map.iter().map(|entry| entry.key.as_str()));
        let help = help.unwrap_or_else(|| match slip {
            Some(slip) => format!("add `{key}`; `{slip}` may be meant for it"),
            None => format!("add `{key}`"),
        });
        let brace = object
            .node
            .origin
            .span()
            // The object itself may be thousands of lines long.
            .map(|span| Span { end: span.end.min(span.start + 1), ..span });
        self.add(
            Diagnostic::new(Code::PayloadMissingField, format!("{within} has no `{key}`"))
                .at(brace)
                .help(help),
            &path,
        );
    }

    /// Checks parameters: JSON allows strings, numbers and booleans (KServe 0.10 docs, Open
    /// Inference Protocol, HTTP/REST); gRPC allows one of three wrapped kinds (KServe 0.10 docs,
    /// Open Inference Protocol, gRPC).
    pub(super) fn parameters(&mut self, object: &Object<'_>) {
        let Some((node, path)) = self.optional(object, "parameters", Expect::Object).is() else {
            return;
        };
        for entry in node.entries() {
            let path = path.field(entry.key.clone());
            let problem = if self.form == Form::GrpcV2 {
                grpc_parameter(&entry.node)
            } else {
                json_parameter(&entry.node)
            };
            if let Some((message, help)) = problem {
                self.say(
                    Code::PayloadParameterType,
                    &entry.node,
                    &path,
                    format!("parameter `{}` {message}", entry.key),
                    Some(help),
                );
            }
        }
    }
}

fn json_parameter(node: &Node) -> Option<(String, String)> {
    match node.value {
        Value::Str(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) | Value::Bool(_) => None,
        Value::Null | Value::List(_) | Value::Map(_) => Some((
            format!("is {}", described(node)),
            "write a string, a number or a boolean".into(),
        )),
    }
}

/// Formats the path for a message; the root is called "the payload".
pub(super) fn called(path: &FieldPath) -> String {
    if path.0.is_empty() { "the payload".into() } else { format!("`{path}`") }
}

/// Describes a value by its JSON type, with its text when it is short.
pub(super) fn described(node: &Node) -> String {
    let kind = match node.value {
        Value::Null => return "null".into(),
        Value::List(_) => return "an array".into(),
        Value::Map(_) => return "an object".into(),
        Value::Bool(_) => "the boolean",
        Value::Int(_) | Value::Big(_) | Value::Float(_) => "the number",
        Value::Str(_) => "the string",
    };
    match node.scalar_text() {
        Some(text) if text.chars().count() <= 40 => format!("{kind} `{text}`"),
        _ => kind.replacen("the", "a", 1),
    }
}

/// Returns the error of an `InferParameter` with the help; it must have exactly one of three fields
/// (KServe 0.10 docs, Open Inference Protocol, gRPC).
fn grpc_parameter(node: &Node) -> Option<(String, String)> {
    const ACCEPTED: &str = "write one of `{\"bool_param\": true}`, `{\"int64_param\": 1}`, `{\"string_param\": \"a\"}`";
    let Some(map) = node.as_map() else {
        let wrapped = match &node.value {
            Value::Bool(value) => Some(format!("write `{{\"bool_param\": {value}}}`")),
            Value::Int(value) => Some(format!("write `{{\"int64_param\": {value}}}`")),
            Value::Str(_) => Some("write `{\"string_param\": \"…\"}`".to_owned()),
            _ => None,
        };
        return Some((
            format!("is {}, not an InferParameter", described(node)),
            wrapped.unwrap_or_else(|| ACCEPTED.into()),
        ));
    };
    let mut set = map.iter().filter(|entry| !entry.node.is_null());
    // The three fields are a oneof.
    let (Some(entry), None) = (set.next(), set.next()) else {
        return Some(("does not hold exactly one value".into(), ACCEPTED.into()));
    };
    let choice = ["bool_param", "int64_param", "string_param"]
        .into_iter()
        .find(|field| Form::GrpcV2.names(&entry.key, field));
    let (fits, kind) = match choice {
        Some("bool_param") => (entry.node.as_bool().is_some(), "a boolean"),
        Some("int64_param") => {
            let whole = number(&entry.node, Form::GrpcV2).and_then(Number::whole);
            (whole.is_some_and(|number| i64::try_from(number).is_ok()), "a whole number of 64 bits")
        }
        Some(_) => (entry.node.as_str().is_some(), "a string"),
        None => {
            return Some((
                format!("has `{}`, which is not a field of InferParameter", entry.key),
                ACCEPTED.into(),
            ));
        }
    };
    if fits {
        None
    } else {
        Some((
            format!("has {} as `{}`, which takes {kind}", described(&entry.node), entry.key),
            ACCEPTED.into(),
        ))
    }
}
