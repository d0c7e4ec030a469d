//! Tests of the assumed values of a model that affect a decision.

use super::{Scene, asks, completed, model, object, runtime};
use crate::api::{Completed, Completion, Evidence, Model};
use crate::operators::ome::releases::DOCUMENTED;
use crate::select::input::Reasons;
use crate::select::request::select;
use crate::yaml::{FieldPath, Node, Origin, Rule};

static TEST: Rule = Rule { id: "test", text: "Written by a test.", cite: "" };

/// Columns: assumed fields; entry and other fields of each runtime; fields that affect the
/// decision.
type Row<'a> = (&'a [(&'a str, &'a str)], Vec<(&'a str, &'a str)>, &'a [&'a str]);

/// Returns a model whose manifest sets the format and whose other fields come from a table.
fn with_fields(model: &Model, fields: &[(&str, &str)], evidence: Evidence) -> Model {
    let field = |(path, value): &(&str, &str)| Completed {
        path: path.split('.').fold(FieldPath::root(), |path, field| path.field(field)),
        value: Node::from_json(&serde_json::json!(value), Origin::Flag(&TEST)),
        evidence,
    };
    completed(
        model,
        Completion { fields: fields.iter().map(field).collect(), ..Completion::default() },
    )
}

#[test]
fn assumed_values_are_listed_when_they_decide_the_selection() {
    let entry = |rest: &str| format!("modelFormat: {{name: s}}, {rest}");
    let size = ("modelParameterSize", "7B");
    let architecture = ("modelArchitecture", "A");
    let quantization = ("quantization", "fp8");
    let small = ("modelFormat: {name: s}", "modelSizeRange: {min: 1B, max: 9B}");
    let large = ("modelFormat: {name: s}", "modelSizeRange: {min: 60B, max: 80B}");
    let (a, b) = (entry("modelArchitecture: A"), entry("modelArchitecture: B"));
    let (a_int4, b_fp8) = (
        entry("modelArchitecture: A, quantization: int4"),
        entry("modelArchitecture: B, quantization: fp8"),
    );
    let other = "modelFormat: {name: t}, modelArchitecture: B".to_owned();
    let (a, b) = ((a.as_str(), ""), (b.as_str(), ""));
    let b_large = (b.0, large.1);
    let rows: [Row<'_>; 15] = [
        (&[size], vec![small], &["modelParameterSize"]),
        (&[size], vec![("modelFormat: {name: s}", "")], &[]),
        (&[size], vec![("modelFormat: {name: s}", ""), large], &["modelParameterSize"]),
        (&[size], vec![large], &["modelParameterSize"]),
        (&[architecture], vec![a], &["modelArchitecture"]),
        (&[architecture], vec![("modelFormat: {name: s}", "")], &[]),
        (&[architecture], vec![("modelFormat: {name: s}", ""), b], &["modelArchitecture"]),
        (&[architecture], vec![b], &["modelArchitecture"]),
        // Another rule also rejects it.
        (&[architecture], vec![(&other, "")], &[]),
        (&[architecture], vec![("modelFormat: {name: s}", ""), (b.0, "disabled: true")], &[]),
        (&[architecture], vec![b_large], &["modelArchitecture"]),
        (&[size], vec![b_large], &[]),
        (&[size, architecture], vec![b_large], &["modelArchitecture", "modelParameterSize"]),
        (&[quantization, architecture], vec![(&a_int4, "")], &["quantization"]),
        (
            &[architecture, quantization],
            vec![(&a_int4, ""), (&b_fp8, "")],
            &["modelArchitecture", "quantization"],
        ),
    ];
    for (fields, runtimes, expected) in rows {
        let text = runtimes
            .iter()
            .enumerate()
            .fold(model("m", "modelFormat: {name: s}"), |text, (at, (entry, spec))| {
                text + &runtime(&format!("r{at}"), entry, spec)
            });
        let scene = Scene::new(&DOCUMENTED, &text);
        for evidence in [Evidence::Assumed, Evidence::Known] {
            let model = with_fields(scene.model("m"), fields, evidence);
            let decision = select::<Reasons>(&DOCUMENTED, scene.runtimes(), &asks(&model));
            let expected = if evidence == Evidence::Assumed { expected } else { &[] };
            assert_eq!(decision.unwrap().assumed.as_slice(), expected, "{fields:?} {runtimes:?}");
            // The result is the same without a trace.
            let decision = select::<()>(&DOCUMENTED, scene.runtimes(), &asks(&model));
            assert_eq!(decision.unwrap().assumed.as_slice(), expected, "{fields:?} {runtimes:?}");
        }
    }
}

#[test]
fn one_entry_rejected_only_by_an_assumed_value_lists_it() {
    let entries = "supportedModelFormats: [\
                   {modelFormat: {name: t}, modelArchitecture: B, autoSelect: true}, \
                   {modelFormat: {name: s}, modelArchitecture: B, autoSelect: true}]";
    let text =
        model("m", "modelFormat: {name: s}") + &object("ClusterServingRuntime", "r", "", entries);
    let scene = Scene::new(&DOCUMENTED, &text);
    let model = with_fields(scene.model("m"), &[("modelArchitecture", "A")], Evidence::Assumed);
    let decision = select::<()>(&DOCUMENTED, scene.runtimes(), &asks(&model)).unwrap();
    assert_eq!(decision.assumed.as_slice(), ["modelArchitecture"]);
}
