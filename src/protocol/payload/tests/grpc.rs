use super::*;

/// Converts every field in a text or a path to lowerCamelCase.
fn in_camel_case(text: &str) -> String {
    text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map(|word| {
            let is_field = word.contains("model_")
                || word.contains("raw_")
                || word.contains("_param")
                || word.contains("_contents");
            if is_field { json_name(word) } else { word.to_owned() }
        })
        .collect()
}

// KServe 0.10 docs, Open Inference Protocol, gRPC.
#[test]
fn invalid_grpc_payloads_are_reported() {
    let tensor = |head: &str, rest: &str| {
        format!(r#"{{"model_name": "m", "inputs": [{{"name": "x", {head}}}]{rest}}}"#)
    };
    for (text, expected) in [
        (
            tensor(
                r#""datatype": "INT32", "shape": [2], "contents": {"int_contents": [1, 2]}"#,
                "",
            ),
            &[][..],
        ),
        (
            tensor(
                r#""datatype": "INT64", "shape": ["2"], "contents": {"int64_contents": ["1", 2]}"#,
                "",
            ),
            &[],
        ),
        (
            tensor(r#""datatype": "INT32", "shape": [2], "contents": {"int_contents": [1]}"#, ""),
            &[("payload-element-count", "inputs[0].contents.int_contents")],
        ),
        (
            tensor(r#""datatype": "INT32", "shape": [2], "contents": {}"#, ""),
            &[("payload-element-count", "inputs[0].contents.int_contents")],
        ),
        (
            tensor(r#""datatype": "INT8", "shape": [1], "contents": {"int_contents": [200]}"#, ""),
            &[("payload-value-range", "inputs[0].contents.int_contents[0]")],
        ),
        (
            tensor(r#""datatype": "INT8", "shape": [1], "contents": {"int_contents": [[1]]}"#, ""),
            &[("payload-type", "inputs[0].contents.int_contents[0]")],
        ),
        (
            tensor(r#""datatype": "FP32", "shape": [1], "contents": {"int_contents": [1]}"#, ""),
            &[("payload-contents-field", "inputs[0].contents.int_contents")],
        ),
        (
            tensor(
                r#""datatype": "FP32", "shape": [1], "contents": {"fp32_contents": [1], "int_contents": []}"#,
                "",
            ),
            &[],
        ),
        (
            tensor(r#""datatype": "FP32", "shape": [1], "contents": {"fp32Content": [1]}"#, ""),
            &[("payload-contents-field", "inputs[0].contents.fp32Content")],
        ),
        (
            tensor(
                r#""datatype": "BYTES", "shape": [1], "contents": {"bytes_contents": ["a!"]}"#,
                "",
            ),
            &[("payload-type", "inputs[0].contents.bytes_contents[0]")],
        ),
        (
            tensor(r#""datatype": "FP16", "shape": [1], "contents": {"fp32_contents": [1.0]}"#, ""),
            &[("payload-fp16-contents", "inputs[0].contents")],
        ),
        (
            tensor(r#""datatype": "FP16", "shape": [1]"#, ""),
            &[("payload-missing-field", "inputs[0].contents")],
        ),
        (tensor(r#""datatype": "FP16", "shape": [0]"#, ""), &[]),
        (
            tensor(
                r#""datatype": "FP16", "shape": [2]"#,
                r#", "raw_input_contents": ["ADwAQA=="]"#,
            ),
            &[],
        ),
        (
            tensor(
                r#""datatype": "INT64", "shape": [2]"#,
                r#", "raw_input_contents": ["AAAAAAAAAAA="]"#,
            ),
            &[("payload-raw-size", "raw_input_contents[0]")],
        ),
        (
            tensor(
                r#""datatype": "BYTES", "shape": [2]"#,
                r#", "raw_input_contents": ["AAAAAAAAAAA="]"#,
            ),
            &[],
        ),
        (
            tensor(
                r#""datatype": "INT8", "shape": [1]"#,
                r#", "raw_input_contents": ["AQ==", "AQ=="]"#,
            ),
            &[("payload-raw-count", "raw_input_contents")],
        ),
        (
            tensor(r#""datatype": "INT8", "shape": [1]"#, r#", "raw_input_contents": ["A"]"#),
            &[("payload-type", "raw_input_contents[0]")],
        ),
        (
            tensor(r#""datatype": "INT8", "shape": [1]"#, r#", "raw_input_contents": "AQ==""#),
            &[("payload-type", "raw_input_contents")],
        ),
        (
            tensor(
                r#""datatype": "INT8", "shape": [1], "contents": {"int_contents": [1]}"#,
                r#", "raw_input_contents": ["AQ=="]"#,
            ),
            &[("payload-raw-and-contents", "raw_input_contents")],
        ),
        // An invalid head is reported once, and its elements are not counted.
        (
            tensor(r#""datatype": "int8", "shape": [1]"#, r#", "raw_input_contents": ["AQID"]"#),
            &[("payload-datatype", "inputs[0].datatype")],
        ),
        (
            tensor(
                r#""datatype": "INT8", "shape": [0]"#,
                r#", "parameters": {"a": {"bool_param": true}, "b": {"int64_param": "7"}, "c": {"string_param": ""}}"#,
            ),
            &[],
        ),
        (
            tensor(
                r#""datatype": "INT8", "shape": [0]"#,
                r#", "parameters": {"a": {"int64_param": 0.5}, "b": {"double_param": 0.5}, "c": 1, "d": {}, "e": {"bool_param": true, "int64_param": 1}, "f": {"string_param": 7}}"#,
            ),
            &[
                ("payload-parameter-type", "parameters.a"),
                ("payload-parameter-type", "parameters.b"),
                ("payload-parameter-type", "parameters.c"),
                ("payload-parameter-type", "parameters.d"),
                ("payload-parameter-type", "parameters.e"),
                ("payload-parameter-type", "parameters.f"),
            ],
        ),
        (
            r#"{"modelname": "m", "inputs": []}"#.to_owned(),
            &[("payload-missing-field", "model_name")],
        ),
        (
            r#"{"model_name": "m", "modelName": "n", "inputs": []}"#.to_owned(),
            &[("duplicate-key", "modelName")],
        ),
    ] {
        expect(Form::GrpcV2, Kind::InferRequest, &[(&text, expected)]);
        // The other spelling of the fields gives the same findings.
        if !text.contains("modelName") {
            let found = examined(Form::GrpcV2, Kind::InferRequest, &in_camel_case(&text));
            let respelled = |(code, path): &Found<'_>| ((*code).to_owned(), in_camel_case(path));
            assert_eq!(
                short(&found).iter().map(respelled).collect::<Vec<_>>(),
                expected.iter().map(respelled).collect::<Vec<_>>(),
                "{text}"
            );
        }
    }
    expect(
        Form::GrpcV2,
        Kind::InferResponse,
        &[(
            r#"{"model_name": "m", "outputs": [{"name": "y", "datatype": "FP32", "shape": [1]}], "raw_output_contents": ["AACAPw=="]}"#,
            &[],
        )],
    );
}
