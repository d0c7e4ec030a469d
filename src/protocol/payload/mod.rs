//! Checks whether requests and responses follow their protocol.
//!
//! In: the text of a body, or its tree. Out: findings, each with the path of the member and its
//! place. A defect is reported once: if the name, shape or datatype of a tensor is invalid, its
//! elements are not checked. Source: KServe 0.10 docs, Data Plane V1.

mod datatype;
mod grpc;
mod infer;
mod object;
mod tensor;
#[cfg(test)]
mod tests;

use crate::diag::{Code, Diagnostic, Severity};
use crate::source::{SourceId, Span};
use crate::yaml::{self, FieldPath, Limits, Node, Value};
use object::{Checker, Expect};
use serde::de::IgnoredAny;

/// The form of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON of the V1 protocol.
    V1,
    /// JSON of the V2 protocol.
    V2,
    /// The JSON form of a message of the V2 gRPC service (protobuf.dev, "ProtoJSON Format"): field
    /// names in lowerCamelCase or as in the proto file, bytes in base64.
    GrpcV2,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::GrpcV2];

    /// Returns the value of `--protocol`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::GrpcV2 => "grpc-v2",
        }
    }

    /// Reports whether a key is a spelling of this field.
    fn names(self, key: &str, field: &str) -> bool {
        key == field || self == Self::GrpcV2 && key == json_name(field)
    }

    /// Returns the kinds that can be checked in this form.
    pub fn kinds(self) -> &'static [Kind] {
        match self {
            Self::V1 => &[Kind::PredictRequest, Kind::Error],
            Self::V2 => {
                &[Kind::InferRequest, Kind::InferResponse, Kind::ModelMetadata, Kind::Error]
            }
            // gRPC reports errors as a status, not as a message of the service.
            Self::GrpcV2 => &[Kind::InferRequest, Kind::InferResponse, Kind::ModelMetadata],
        }
    }
}

/// The kind of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The body of `:predict` and `:explain`.
    PredictRequest,
    /// An inference request.
    InferRequest,
    /// An inference response.
    InferResponse,
    /// The response with the metadata of a model.
    ModelMetadata,
    /// The response after an error.
    Error,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::PredictRequest,
        Self::InferRequest,
        Self::InferResponse,
        Self::ModelMetadata,
        Self::Error,
    ];

    /// Returns the value of `--kind`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PredictRequest => "predict-request",
            Self::InferRequest => "infer-request",
            Self::InferResponse => "infer-response",
            Self::ModelMetadata => "model-metadata",
            Self::Error => "error",
        }
    }
}

/// A text with its source.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// Id of the source.
    pub source: SourceId,
    /// Its text.
    pub text: &'a str,
}

/// Checks the text of a payload; for a response, also that it matches `request`.
///
/// Findings are in the order in which they were found. The payload is valid when none of them is an
/// error.
pub fn examine(
    form: Form,
    kind: Kind,
    body: Body<'_>,
    request: Option<Body<'_>>,
    limits: &Limits,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // Faults of the request come first, as it was sent first.
    let request = request.and_then(|request| read(request, limits, &mut found));
    if kind == Kind::PredictRequest && body.text.trim().is_empty() {
        // The whole body is optional (KServe 0.10 docs, Data Plane V1).
        found.push(infer::instances_missing().at(Some(Span {
            source: body.source,
            start: 0,
            end: 0,
        })));
    } else if let Some(node) = read(body, limits, &mut found) {
        found.extend(check(form, kind, &node, request.as_ref()));
    }
    found
}

/// Returns the name of a field in the JSON form of its message: `raw_input_contents` becomes
/// `rawInputContents`.
fn json_name(field: &str) -> String {
    let mut words = field.split('_');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// Reports whether no finding is an error.
pub fn is_valid(found: &[Diagnostic]) -> bool {
    found.iter().all(|finding| finding.severity < Severity::Error)
}

/// Checks a payload; for a response, also that it matches `request`.
pub fn check(form: Form, kind: Kind, payload: &Node, request: Option<&Node>) -> Vec<Diagnostic> {
    let mut checker = Checker::new(form);
    let Some(root) = checker.object(payload, &FieldPath::root()) else {
        return checker.into_findings();
    };
    match kind {
        Kind::PredictRequest => infer::predict_request(&mut checker, &root),
        Kind::InferRequest => infer::request(&mut checker, &root),
        Kind::InferResponse => infer::response(&mut checker, &root, request),
        Kind::ModelMetadata => infer::model_metadata(&mut checker, &root),
        Kind::Error => {
            checker.required(&root, "error", Expect::String);
        }
    }
    checker.into_findings()
}

/// Reads JSON with places. Rejects YAML that is not JSON, because servers read only JSON.
fn read(body: Body<'_>, limits: &Limits, found: &mut Vec<Diagnostic>) -> Option<Node> {
    // Checked by a reader of JSON, and then read with places by that of YAML, which takes more.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(body.text) {
        found.push(not_json(body, &error));
        return None;
    }
    let checked = yaml::parse(body.source, body.text, 0..body.text.len(), limits);
    // How kubectl and kustomize read a scalar is irrelevant here.
    found.extend(
        checked.diagnostics.into_iter().filter(|finding| finding.code != Code::AmbiguousScalar),
    );
    checked.value.map(|mut node| {
        restore_numbers(&mut node, body.text);
        node
    })
}

/// Restores JSON numbers beyond 64-bit floats, which the YAML reader returns as text. They become
/// infinite, so they are outside every range.
fn restore_numbers(node: &mut Node, text: &str) {
    match &mut node.value {
        Value::Str(_) => {
            let written = node
                .origin
                .span()
                .and_then(|span| text.get(span.start as usize..span.end as usize))
                .unwrap_or("\"");
            // A text in JSON begins with a quote; what does not was a number.
            if !written.starts_with('"') {
                node.value = Value::Float(if written.starts_with('-') {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                });
            }
        }
        Value::List(items) => {
            items.make_mut().iter_mut().for_each(|item| restore_numbers(item, text));
        }
        Value::Map(map) => map.iter_mut().for_each(|entry| restore_numbers(&mut entry.node, text)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => {}
    }
}

fn not_json(body: Body<'_>, error: &serde_json::Error) -> Diagnostic {
    let line_start = body
        .text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum::<usize>();
    let mut start = (line_start + error.column().saturating_sub(1)).min(body.text.len());
    // Columns of serde_json count bytes.
    while !body.text.is_char_boundary(start) {
        start -= 1;
    }
    let end = start + body.text[start..].chars().next().map_or(0, char::len_utf8);
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let words = error.to_string();
    let words = words.split(" at line ").next().unwrap_or(&words);
    Diagnostic::new(Code::PayloadJsonSyntax, format!("the payload is not JSON: {words}"))
        .at(Span { source: body.source, start: offset(start), end: offset(end) })
        .help(if error.is_eof() {
            "complete the text: it ends too early"
        } else {
            "correct the text at the place shown; JSON requires double quotes, and commas between members only"
        })
}
