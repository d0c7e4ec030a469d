//! Checks of messages: requests, responses and metadata, in JSON and in the JSON form of gRPC.

use super::Form;
use super::grpc::Raw;
use super::object::{Checker, Expect, Member, Object, described};
use super::tensor::{self, Shapes};
use crate::diag::{Code, Diagnostic};
use crate::yaml::Node;

/// The platforms of the document, with its misprint corrected (KServe 0.10 docs, Open Inference
/// Protocol, gRPC; docs/decisions.md#inference-protocol).
const PLATFORMS: [&str; 7] = [
    "tensorrt_plan",
    "tensorflow_graphdef",
    "tensorflow_savedmodel",
    "onnx_onnxv1",
    "pytorch_torchscript",
    "mxnet_mxnet",
    "caffe2_netdef",
];
const MISPRINT: &str = "onnx_onxv1";

/// Checks a V1 request, which is loosely typed (KServe 0.10 docs, Data Plane V1).
pub(super) fn predict_request(checker: &mut Checker, root: &Object<'_>) {
    // A remark and no error: servers of one's own read any form.
    if matches!(checker.optional(root, "instances", Expect::Array), Member::Absent) {
        checker.add(instances_missing().at(root.node.origin.span()), &root.path.field("instances"));
    }
}

pub(super) fn instances_missing() -> Diagnostic {
    Diagnostic::new(Code::PayloadInstancesMissing, "the request has no `instances`").help(
        "KServe's own servers read `{\"instances\": […]}`; leave it if yours reads another form",
    )
}

/// Checks an inference request (KServe 0.10 docs, Open Inference Protocol, HTTP/REST and Open
/// Inference Protocol, gRPC).
pub(super) fn request(checker: &mut Checker, root: &Object<'_>) {
    let raw = head(checker, root, "raw_input_contents", checker.form == Form::GrpcV2);
    tensors(checker, root, "inputs", &raw);
    let Some((outputs, path)) = checker.optional(root, "outputs", Expect::Array).is() else {
        return;
    };
    for (index, output) in outputs.items().iter().enumerate() {
        if let Some(output) = checker.object(output, &path.index(index)) {
            checker.required(&output, "name", Expect::String);
            checker.parameters(&output);
        }
    }
}

/// Checks an inference response, and that it returns the id of its request (KServe 0.10 docs, Open
/// Inference Protocol, HTTP/REST).
pub(super) fn response(checker: &mut Checker, root: &Object<'_>, request: Option<&Node>) {
    let raw = head(checker, root, "raw_output_contents", true);
    if let Some(request) = request
        .and_then(|request| request.get("id"))
        .filter(|id| id.as_str().is_some_and(|id| !id.is_empty()))
    {
        id_returned(checker, root, request);
    }
    tensors(checker, root, "outputs", &raw);
}

/// Checks the members that requests and responses start with. A REST request has the model's name
/// in the path.
fn head<'a>(
    checker: &mut Checker,
    root: &Object<'a>,
    raw_key: &'static str,
    names_model: bool,
) -> Raw<'a> {
    if names_model {
        checker.required(root, "model_name", Expect::String);
        checker.optional(root, "model_version", Expect::String);
    }
    checker.optional(root, "id", Expect::String);
    checker.parameters(root);
    if checker.form == Form::GrpcV2 { Raw::of(checker, root, raw_key) } else { Raw::none(raw_key) }
}

fn id_returned(checker: &mut Checker, root: &Object<'_>, node: &Node) {
    let wanted = node.as_str().unwrap_or_default();
    // In ProtoJSON a null is an absent member.
    let returned = root.map.get("id").filter(|id| checker.form != Form::GrpcV2 || !id.is_null());
    let (place, message) = match returned {
        // The wrong type has already been reported.
        Some(id) if id.as_str().is_none() => return,
        Some(id) if id.as_str() == Some(wanted) => return,
        Some(id) => {
            (id.origin.span(), format!("the id is {}, the request has `{wanted}`", described(id)))
        }
        None => {
            (root.node.origin.span(), format!("the response has no id, the request has `{wanted}`"))
        }
    };
    let finding = Diagnostic::new(Code::PayloadIdMismatch, message)
        .at(place)
        .label(node.origin.span(), "the id of the request")
        .help(format!("return the id of the request: `\"id\": \"{wanted}\"`"));
    checker.add(finding, &root.path.field("id"));
}

fn tensors(checker: &mut Checker, root: &Object<'_>, key: &str, raw: &Raw<'_>) {
    let Some((list, path)) = checker.required(root, key, Expect::Array) else { return };
    // All heads before the contents: raw contents are for the tensors together.
    let heads: Vec<_> = list
        .items()
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let object = checker.object(node, &path.index(index))?;
            let head = tensor::head(checker, &object, Shapes::Fixed);
            checker.parameters(&object);
            Some((object, head))
        })
        .collect();
    if checker.form == Form::GrpcV2 {
        raw.check(checker, &heads, key);
        return;
    }
    for (object, head) in heads.iter().flatten() {
        if let (Some((data, path)), Some(head)) =
            (checker.required(object, "data", Expect::Array), head)
        {
            tensor::data(checker, head, data, &path);
        }
    }
}

/// Checks the metadata of a model (KServe 0.10 docs, Open Inference Protocol, HTTP/REST and Open
/// Inference Protocol, gRPC; docs/decisions.md#inference-protocol). Dimensions of variable size are
/// -1.
pub(super) fn model_metadata(checker: &mut Checker, root: &Object<'_>) {
    // The JSON form of a proto message omits empty lists and strings.
    let lists_may_be_absent = checker.form == Form::GrpcV2;
    checker.required(root, "name", Expect::String);
    if let Some((versions, path)) = checker.optional(root, "versions", Expect::Array).is() {
        for (index, version) in
            versions.items().iter().enumerate().filter(|(_, version)| version.as_str().is_none())
        {
            checker.wrong_type(version, &path.index(index), "a string");
        }
    }
    if let Some((platform, path)) = checker.required(root, "platform", Expect::String) {
        let name = platform.as_str().unwrap_or_default();
        // Whoever copied it from the document meant the platform.
        if name == MISPRINT {
            let message = format!("platform `{MISPRINT}` is a misprint of the document");
            checker.say(
                Code::PayloadPlatformTypo,
                platform,
                &path,
                message,
                Some("write `onnx_onnxv1`".into()),
            );
        } else if !PLATFORMS.contains(&name) {
            let message = format!("platform `{name}` is none of the document");
            checker.say(
                Code::PayloadPlatformUnknown,
                platform,
                &path,
                message,
                Some(format!("nothing depends on it; known are {}", PLATFORMS.join(", "))),
            );
        }
    }
    for key in ["inputs", "outputs"] {
        let list = if lists_may_be_absent {
            checker.optional(root, key, Expect::Array).is()
        } else {
            checker.required(root, key, Expect::Array)
        };
        let Some((list, path)) = list else { continue };
        for (index, node) in list.items().iter().enumerate() {
            if let Some(object) = checker.object(node, &path.index(index)) {
                tensor::head(checker, &object, Shapes::Variable);
            }
        }
    }
}
