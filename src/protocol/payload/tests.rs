//! Tests of whole payloads. Rows: the text and its findings.

mod grpc;

use super::*;
use crate::source::SourceId;

/// A finding: its code, and its path or an empty text.
type Found<'a> = (&'a str, &'a str);

fn body(text: &str, source: u32) -> Body<'_> {
    Body { source: SourceId(source), text }
}

fn examined(form: Form, kind: Kind, text: &str) -> Vec<Diagnostic> {
    examine(form, kind, body(text, 0), None, &Limits::default())
}

fn short(found: &[Diagnostic]) -> Vec<Found<'_>> {
    found
        .iter()
        .map(|finding| (finding.code.as_str(), finding.path.as_deref().unwrap_or("")))
        .collect()
}

fn expect(form: Form, kind: Kind, rows: &[(&str, &[Found<'_>])]) {
    for (text, expected) in rows {
        let found = examined(form, kind, text);
        assert_eq!(short(&found), *expected, "{text}\n{found:#?}");
        for finding in &found {
            assert!(finding.span().is_some(), "{text}: {} has no place", finding.code.as_str());
        }
    }
}

// KServe 0.10 docs, Open Inference Protocol and Open Inference Protocol, HTTP/REST.
#[test]
fn invalid_v2_infer_requests_are_reported() {
    expect(
        Form::V2,
        Kind::InferRequest,
        &[
            (r#"{"inputs": []}"#, &[]),
            (
                r#"{"inputs": [{"name": "a", "shape": [2], "datatype": "FP32", "data": [1.0, 2]}], "outputs": [{"name": "b"}]}"#,
                &[],
            ),
            (
                r#"{"outputs": [{}], "id": 7}"#,
                &[
                    ("payload-type", "id"),
                    ("payload-missing-field", "inputs"),
                    ("payload-missing-field", "outputs[0].name"),
                ],
            ),
            (r#"{"inputs": null}"#, &[("payload-type", "inputs")]),
            (r"[1]", &[("payload-type", "")]),
            // Each bad dimension is reported; elements are not counted.
            (
                r#"{"inputs": [{"name": "a", "shape": [-1, "2", 1.5, 2], "datatype": "INT8", "data": [1]}]}"#,
                &[
                    ("payload-shape", "inputs[0].shape[0]"),
                    ("payload-type", "inputs[0].shape[1]"),
                    ("payload-shape", "inputs[0].shape[2]"),
                ],
            ),
            (
                r#"{"inputs": [{"name": "a", "shape": [1], "datatype": "fp32", "data": [1, 2]}]}"#,
                &[("payload-datatype", "inputs[0].datatype")],
            ),
            (
                r#"{"inputs": [{"shape": [1], "datatype": "INT8", "data": [1000]}]}"#,
                &[("payload-missing-field", "inputs[0].name")],
            ),
            (
                r#"{"inputs": [{"name": "a", "shape": [1], "datatype": "INT8"}]}"#,
                &[("payload-missing-field", "inputs[0].data")],
            ),
            (
                r#"{"inputs": [{"name": "a", "shape": [1], "datatype": "INT8", "data": 1}]}"#,
                &[("payload-type", "inputs[0].data")],
            ),
            (
                r#"{"inputs": [7, {"name": "a", "shape": [1], "datatype": "INT8", "data": [1]}]}"#,
                &[("payload-type", "inputs[0]")],
            ),
            (
                r#"{"inputs": [{"name": "a", "shape": [2, 2], "datatype": "INT8", "data": [[1, 2], [4, 5]]}]}"#,
                &[],
            ),
            (
                r#"{"inputs": [{"name": "a", "shape": [2, 2], "datatype": "INT8", "data": [[1, 2], [4]]}]}"#,
                &[("payload-element-count", "inputs[0].data")],
            ),
            (
                r#"{"inputs": [{"name": "a", "shape": [2, 2], "datatype": "INT8", "data": [[1, 2, 4, 5]]}]}"#,
                &[("payload-element-count", "inputs[0].data")],
            ),
            (
                r#"{"inputs": [{"name": "a", "shape": [2], "datatype": "INT8", "data": [1, [2]]}]}"#,
                &[("payload-element-count", "inputs[0].data")],
            ),
            (r#"{"inputs": [{"name": "a", "shape": [], "datatype": "INT8", "data": [1]}]}"#, &[]),
            (
                r#"{"inputs": [{"name": "a", "shape": [0, 3], "datatype": "INT8", "data": []}]}"#,
                &[],
            ),
            // A wrong count and a wrong value are two findings.
            (
                r#"{"inputs": [{"name": "a", "shape": [2, 2], "datatype": "UINT8", "data": [[1, 256], ["2"]]}]}"#,
                &[
                    ("payload-element-count", "inputs[0].data"),
                    ("payload-value-range", "inputs[0].data[0][1]"),
                    ("payload-type", "inputs[0].data[1][0]"),
                ],
            ),
            (
                r#"{"inputs": [{"name": "a", "shape": [1], "datatype": "FP16", "data": [1e9]}]}"#,
                &[
                    ("payload-fp16-json", "inputs[0].data"),
                    ("payload-value-range", "inputs[0].data[0]"),
                ],
            ),
            (
                r#"{"inputs": [{"name": "a", "shape": [1], "datatype": "FP64", "data": [1e400]}]}"#,
                &[("payload-value-range", "inputs[0].data[0]")],
            ),
            (
                r#"{"inputs": [], "parameters": {"a": 1, "b": 0.5, "c": "x", "d": true, "e.f": [], "g": null}}"#,
                &[
                    ("payload-parameter-type", "parameters.e\\.f"),
                    ("payload-parameter-type", "parameters.g"),
                ],
            ),
            (
                r#"{"inputs": [], "outputs": [{"name": "y", "parameters": {"classification": {}}}]}"#,
                &[("payload-parameter-type", "outputs[0].parameters.classification")],
            ),
            (r#"{"inputs": [], "parameters": []}"#, &[("payload-type", "parameters")]),
            (r#"{"inputs": [], "inputs": []}"#, &[("duplicate-key", "")]),
        ],
    );
}

// KServe 0.10 docs, Open Inference Protocol, HTTP/REST; docs/decisions.md#inference-protocol:
// strict JSON, with the place of the error.
#[test]
fn invalid_json_is_one_finding_at_its_offset() {
    for (text, place) in [
        ("{\n\"id\": \"42\"\n\"outputs\": []}", 13),
        ("{\"inputs\": [],}", 14),
        ("{'inputs': []}", 1),
        ("inputs: []", 0),
        ("{\"inputs\": [", 11),
        ("{\"inputs\": [NaN]}", 12),
        ("{} {}", 3),
        ("", 0),
        ("{\"ü\": ü}", 7),
    ] {
        let found = examined(Form::V2, Kind::InferRequest, text);
        assert_eq!(short(&found), [("payload-json-syntax", "")], "{text}");
        assert_eq!(
            found[0].span().map(|span| span.start),
            Some(place),
            "{text}: {}",
            found[0].message
        );
    }
}

// KServe 0.10 docs, Open Inference Protocol, HTTP/REST.
#[test]
fn invalid_v2_infer_responses_are_reported() {
    expect(
        Form::V2,
        Kind::InferResponse,
        &[
            (r#"{"model_name": "m", "outputs": []}"#, &[]),
            (r#"{"outputs": []}"#, &[("payload-missing-field", "model_name")]),
            (r#"{"model_name": "m"}"#, &[("payload-missing-field", "outputs")]),
            (
                r#"{"model_name": "m", "model_version": 1, "outputs": []}"#,
                &[("payload-type", "model_version")],
            ),
            (
                r#"{"model_name": "m", "outputs": [{"name": "y", "shape": [-1], "datatype": "FP32", "data": []}]}"#,
                &[("payload-shape", "outputs[0].shape[0]")],
            ),
        ],
    );
    for (request, response, expected) in [
        (
            r#"{"id": "42", "inputs": []}"#,
            r#"{"model_name": "m", "outputs": [], "id": "42"}"#,
            &[][..],
        ),
        (
            r#"{"id": "42", "inputs": []}"#,
            r#"{"model_name": "m", "outputs": [], "id": "43"}"#,
            &[("payload-id-mismatch", "id")],
        ),
        (
            r#"{"id": "42", "inputs": []}"#,
            r#"{"model_name": "m", "outputs": []}"#,
            &[("payload-id-mismatch", "id")],
        ),
        (
            r#"{"id": "42", "inputs": []}"#,
            r#"{"model_name": "m", "outputs": [], "id": 42}"#,
            &[("payload-type", "id")],
        ),
        (
            r#"{"id": "42", "inputs": []}"#,
            r#"{"model_name": "m", "outputs": [], "id": null}"#,
            &[("payload-type", "id")],
        ),
        (r#"{"inputs": []}"#, r#"{"model_name": "m", "outputs": [], "id": "43"}"#, &[]),
        (
            r#"{"inputs""#,
            r#"{"model_name": "m", "outputs": [], "id": "43"}"#,
            &[("payload-json-syntax", "")],
        ),
    ] {
        let found = examine(
            Form::V2,
            Kind::InferResponse,
            body(response, 0),
            Some(body(request, 1)),
            &Limits::default(),
        );
        assert_eq!(short(&found), expected, "{request} {response}");
    }
}

// KServe 0.10 docs, Data Plane V1, Open Inference Protocol, HTTP/REST and Open Inference Protocol,
// gRPC; docs/decisions.md#inference-protocol.
#[test]
fn invalid_v1_error_and_metadata_payloads_are_reported() {
    expect(
        Form::V1,
        Kind::PredictRequest,
        &[
            (r#"{"instances": [[1, "a", {}]], "signature_name": "x"}"#, &[]),
            (r#"{"inputs": [[1]]}"#, &[("payload-instances-missing", "instances")]),
            (" \n", &[("payload-instances-missing", "")]),
            (r#"{"instances": {}}"#, &[("payload-type", "instances")]),
        ],
    );
    expect(
        Form::V2,
        Kind::Error,
        &[
            (r#"{"error": "x"}"#, &[]),
            (r#"{"message": "x"}"#, &[("payload-missing-field", "error")]),
            (r#"{"error": {}}"#, &[("payload-type", "error")]),
        ],
    );
    expect(
        Form::V2,
        Kind::ModelMetadata,
        &[
            (
                r#"{"name": "m", "platform": "onnx_onnxv1", "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 4]}], "outputs": []}"#,
                &[],
            ),
            (
                r#"{"name": "m", "platform": "onnx_onxv1", "versions": ["1", 2], "inputs": [{"name": "x", "datatype": "FP32", "shape": [-2]}], "outputs": []}"#,
                &[
                    ("payload-type", "versions[1]"),
                    ("payload-platform-typo", "platform"),
                    ("payload-shape", "inputs[0].shape[0]"),
                ],
            ),
            (
                r#"{"name": "m", "platform": "sklearn", "inputs": []}"#,
                &[("payload-platform-unknown", "platform"), ("payload-missing-field", "outputs")],
            ),
        ],
    );
    expect(
        Form::GrpcV2,
        Kind::ModelMetadata,
        &[(r#"{"name": "m", "platform": "mxnet_mxnet"}"#, &[])],
    );
}

#[test]
fn bad_elements_beyond_twenty_are_counted() {
    let data = vec!["256"; 50].join(",");
    let found = examined(
        Form::V2,
        Kind::InferRequest,
        &format!(
            r#"{{"inputs": [{{"name": "a", "shape": [50], "datatype": "UINT8", "data": [{data}]}}]}}"#
        ),
    );
    assert_eq!(found.len(), 21);
    assert!(found[20].message.contains("30 more"), "{}", found[20].message);
}

#[test]
fn payload_messages_name_tensor_shape_and_datatype() {
    for (text, message, help) in [
        (
            r#"{"inputs": [{"name": "input1", "shape": [3], "datatype": "BOOL", "data": [true]}]}"#,
            "tensor `input1`: shape [3] needs 3, data has 1",
            "correct the shape or complete the data",
        ),
        (
            r#"{"inputs": [{"name": "a", "shape": [1], "datatype": "BF16", "data": [1]}]}"#,
            "`BF16` is no datatype of the protocol",
            "write one of BOOL, UINT8",
        ),
        (
            r#"{"inputs": [{"name": "a", "shape": [1], "datatype": "float32", "data": [1]}]}"#,
            "`float32` is no datatype of the protocol",
            "did you mean `FP32`?",
        ),
        (
            r#"{"input": []}"#,
            "the payload has no `inputs`",
            "add `inputs`; `input` may be meant for it",
        ),
        (
            r#"{"inputs": [{"name": "a", "shape": [1, "2"], "datatype": "INT8", "data": [1]}]}"#,
            "`inputs[0].shape[1]` must be a number, not the string `2`",
            "write a number",
        ),
        (
            r#"{"inputs": [{"name": "a", "shape": [1], "datatype": "UINT8", "data": [256]}]}"#,
            "the number `256` is outside UINT8",
            "UINT8 holds whole numbers from 0 to 255",
        ),
    ] {
        let found = examined(Form::V2, Kind::InferRequest, text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].message, message);
        assert!(
            found[0].help.as_deref().is_some_and(|text| text.starts_with(help)),
            "{:?}",
            found[0].help
        );
    }
}
