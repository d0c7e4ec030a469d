//! The previous schema: a framework key such as `sklearn`, instead of `model` or together with it
//! (KServe docs, Serving Runtimes, Previous schema;
//! pkg/apis/serving/v1beta1/inference_service_defaults.go).

use crate::api::Semantics;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};

static FRAMEWORK_KEY: Rule = Rule {
    id: "framework-key",
    text: "a framework key of the previous schema means a model of that format",
    cite: "KServe docs, Serving Runtimes, Previous schema; pkg/apis/serving/v1beta1/inference_service_defaults.go",
};

/// A framework key of the previous schema and the model that it means.
#[derive(Debug)]
pub struct Framework {
    /// The key, which is also the name of the model format.
    pub key: &'static str,
    /// The runtime that the documents name for the key (KServe docs, Serving Runtimes, Previous
    /// schema).
    pub runtime: &'static str,
    /// The runtime for protocol v2, if it is a different one.
    pub v2_runtime: Option<&'static str>,
    /// The controller sets protocol v2 by default.
    pub speaks_v2: bool,
}

const fn framework(key: &'static str, runtime: &'static str) -> Framework {
    Framework { key, runtime, v2_runtime: None, speaks_v2: false }
}

/// Every framework key, in the order in which the controller looks for them.
pub static FRAMEWORKS: [Framework; 10] = [
    Framework {
        v2_runtime: Some("kserve-mlserver"),
        ..framework("sklearn", "kserve-sklearnserver")
    },
    framework("tensorflow", "kserve-tensorflow-serving"),
    Framework { v2_runtime: Some("kserve-mlserver"), ..framework("xgboost", "kserve-xgbserver") },
    framework("pytorch", "kserve-torchserve"),
    Framework { speaks_v2: true, ..framework("triton", "kserve-tritonserver") },
    Framework { speaks_v2: true, ..framework("onnx", "kserve-tritonserver") },
    Framework { speaks_v2: true, ..framework("huggingface", "kserve-huggingfaceserver") },
    framework("pmml", "kserve-pmmlserver"),
    framework("lightgbm", "kserve-lgbserver"),
    framework("paddle", "kserve-paddleserver"),
];

/// A service that was converted to the current schema.
#[derive(Debug)]
pub struct Converted {
    /// The new `spec`.
    pub spec: Node,
    /// The framework key that was rewritten.
    pub framework: &'static Framework,
    /// The position of that key.
    pub span: Option<Span>,
}

impl Converted {
    /// The new model on one line, as JSON: its format and its scalar fields.
    pub fn snippet(&self) -> String {
        let model = self.spec.at(&["predictor", "model"]);
        let short =
            |entry: &&Entry| entry.key == "modelFormat" || entry.node.scalar_text().is_some();
        let origin = Origin::Derived(&FRAMEWORK_KEY);
        let entries = model.map(Node::entries).into_iter().flatten().filter(short).cloned();
        format!("model: {}", Node::new(Value::Map(entries.collect()), origin).to_json())
    }
}

/// Rewrites a framework key as `model`. `None` when there is no framework key, or the service
/// requests ModelMesh. In documented mode the model also names the runtime; the controller leaves
/// the runtime open, and sets protocol v2 where [`Framework::speaks_v2`].
///
/// # Errors
/// When the predictor has two framework keys or, in documented mode, a framework key and `model`.
/// The controller ignores `model` if there is also a framework key.
#[expect(clippy::result_large_err, reason = "made once per document that cannot be converted")]
pub fn convert(service: &Node, semantics: Semantics) -> Result<Option<Converted>, Diagnostic> {
    let Some(spec) = service.get("spec").and_then(Node::as_map) else { return Ok(None) };
    let Some(predictor_node) = spec.get("predictor") else { return Ok(None) };
    let Some(predictor) = predictor_node.as_map() else { return Ok(None) };
    let present = |framework: &&Framework| {
        predictor.get(framework.key).is_some_and(|node| node.as_map().is_some())
    };
    // ModelMesh reads the framework keys itself.
    let mesh = service
        .at(&["metadata", "annotations", "serving.kserve.io/deploymentMode"])
        .and_then(Node::as_str)
        == Some("ModelMesh");
    let found: Vec<&'static Framework> = FRAMEWORKS.iter().filter(present).collect();
    let Some(framework) = found.first().copied().filter(|_| !mesh) else { return Ok(None) };
    let span = |key: &str| predictor.entry(key).and_then(|entry| entry.key_origin.span());
    let found =
        found.get(1).map(|other| other.key).or_else(|| predictor.get("model").map(|_| "model"));
    if let Some(more_fields) = found
        // The controller drops `model` silently; two keys are an error for both.
        && (semantics == Semantics::Documented || more_fields != "model")
    {
        return Err(Diagnostic::new(
            Code::ConflictingFields,
            format!("`spec.predictor` has both `{}` and `{more_fields}`", framework.key),
        )
        .at(span(more_fields))
        .label(span(framework.key), "the other one")
        .path(format!("spec.predictor.{more_fields}"))
        .help("write exactly one model"));
    }
    let origin = Origin::Derived(&FRAMEWORK_KEY);
    let Some(old) = predictor.entry(framework.key) else { return Ok(None) };
    let mut model = Map::new();
    let name =
        Entry { key: "name".into(), key_origin: origin, node: Node::str(framework.key, origin) };
    let put = |model: &mut Map, key: &str, node: Node| {
        model.insert_entry(Entry { key: key.into(), key_origin: origin, node });
    };
    put(&mut model, "modelFormat", Node::new(Value::Map([name].into_iter().collect()), origin));
    let protocol = old.node.get("protocolVersion").and_then(Node::as_str);
    if semantics == Semantics::Controller && framework.speaks_v2 && protocol.is_none() {
        put(&mut model, "protocolVersion", Node::str("v2", origin));
    }
    // The documents write `runtime` after `storageUri` (KServe, "Previous schema").
    let mut runtime = (semantics == Semantics::Documented).then(|| {
        let v2 = framework.v2_runtime.filter(|_| protocol == Some("v2"));
        Node::str(v2.unwrap_or(framework.runtime), origin)
    });
    for entry in
        old.node.entries().filter(|entry| !matches!(entry.key.as_str(), "modelFormat" | "runtime"))
    {
        model.insert_entry(entry.clone());
        if entry.key == "storageUri"
            && let Some(runtime) = runtime.take()
        {
            put(&mut model, "runtime", runtime);
        }
    }
    if let Some(runtime) = runtime {
        put(&mut model, "runtime", runtime);
    }
    let replacement = Entry {
        key: "model".into(),
        key_origin: old.key_origin,
        node: Node::new(Value::Map(model), old.node.origin),
    };
    let rewritten: Map = predictor
        .iter()
        .filter(|entry| entry.key != "model")
        .map(|entry| if entry.key == framework.key { replacement.clone() } else { entry.clone() })
        .collect();
    let mut spec_map = spec.clone();
    spec_map.insert("predictor", Node::new(Value::Map(rewritten), predictor_node.origin));
    let spec_origin = service.get("spec").map_or(origin, |spec| spec.origin);
    Ok(Some(Converted {
        spec: Node::new(Value::Map(spec_map), spec_origin),
        framework,
        span: span(framework.key),
    }))
}

/// Rewrites `model` as the framework key of its format, and reports the fields that the previous
/// schema cannot express. `None` when there is no model, or no key for its format.
///
/// A key means one runtime in the documents (KServe docs, Serving Runtimes, Previous schema), and
/// none in the controller (pkg/apis/serving/v1beta1/inference_service_defaults.go).
pub fn previous(service: &Node, semantics: Semantics) -> Option<(Node, Vec<Diagnostic>)> {
    let spec = service.get("spec")?;
    let predictor = spec.get("predictor")?;
    let model = predictor.get("model").filter(|model| model.as_map().is_some())?;
    let format = model.at(&["modelFormat", "name"]).and_then(Node::as_str)?;
    let framework = FRAMEWORKS.iter().find(|framework| framework.key == format)?;
    let mut losses = Vec::new();
    let mut lose = |key: &str, node: &Node, why: String| {
        losses.push(
            Diagnostic::new(Code::ConversionLoss, why)
                .at(node.origin.span())
                .path(format!("spec.predictor.model.{key}")),
        );
    };
    let protocol = model.get("protocolVersion").and_then(Node::as_str);
    // The key stands for another runtime where the model asks for v2.
    let meant =
        framework.v2_runtime.filter(|_| protocol == Some("v2")).unwrap_or(framework.runtime);
    match (model.get("runtime"), semantics) {
        (Some(named), Semantics::Documented) if named.as_str() == Some(meant) => {}
        (Some(named), Semantics::Documented) => {
            lose("runtime", named, format!("the key `{format}` means the runtime {meant}"));
        }
        (Some(named), Semantics::Controller) => {
            lose("runtime", named, format!("the key `{format}` names no runtime: one is chosen"));
        }
        (None, Semantics::Documented) => lose(
            "runtime",
            model,
            format!("the key `{format}` means the runtime {meant}, and the model leaves it open"),
        ),
        (None, Semantics::Controller) => {}
    }
    if let Some(version) = model.at(&["modelFormat", "version"]) {
        lose(
            "modelFormat.version",
            version,
            format!("the key `{format}` has no version of the format"),
        );
    }
    // Without a loss the way back would give another protocol.
    if semantics == Semantics::Controller && framework.speaks_v2 && protocol.is_none() {
        lose(
            "protocolVersion",
            model,
            format!("the key `{format}` selects v2 where the model sets no protocol"),
        );
    }
    let by_key: Map = model
        .entries()
        .filter(|entry| !matches!(entry.key.as_str(), "modelFormat" | "runtime"))
        .cloned()
        .collect();
    let rewritten: Map = predictor
        .entries()
        .map(|entry| match entry.key.as_str() {
            "model" => Entry {
                key: framework.key.into(),
                key_origin: entry.key_origin,
                node: Node::new(Value::Map(by_key.clone()), model.origin),
            },
            _ => entry.clone(),
        })
        .collect();
    let mut map = spec.as_map()?.clone();
    map.insert("predictor", Node::new(Value::Map(rewritten), predictor.origin));
    Some((Node::new(Value::Map(map), spec.origin), losses))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(json: &serde_json::Value) -> Node {
        Node::from_json(json, Origin::Derived(&FRAMEWORK_KEY))
    }

    // KServe docs, Serving Runtimes, Previous schema.
    #[test]
    fn framework_keys_become_models() {
        for (key, protocol, semantics, expected) in [
            (
                "sklearn",
                None,
                Semantics::Documented,
                serde_json::json!({"modelFormat": {"name": "sklearn"}, "runtime": "kserve-sklearnserver", "storageUri": "u"}),
            ),
            (
                "xgboost",
                Some("v2"),
                Semantics::Documented,
                serde_json::json!({"modelFormat": {"name": "xgboost"}, "runtime": "kserve-mlserver", "storageUri": "u", "protocolVersion": "v2"}),
            ),
            (
                "onnx",
                None,
                Semantics::Controller,
                serde_json::json!({"modelFormat": {"name": "onnx"}, "protocolVersion": "v2", "storageUri": "u"}),
            ),
            (
                "pmml",
                None,
                Semantics::Controller,
                serde_json::json!({"modelFormat": {"name": "pmml"}, "storageUri": "u"}),
            ),
        ] {
            let mut old = serde_json::json!({"storageUri": "u"});
            if let Some(protocol) = protocol {
                old["protocolVersion"] = protocol.into();
            }
            let service =
                node(&serde_json::json!({"spec": {"predictor": {key: old, "minReplicas": 2}}}));
            let converted = convert(&service, semantics).unwrap().expect("a framework key");
            assert_eq!(
                converted.spec.to_json(),
                serde_json::json!({"predictor": {"model": expected, "minReplicas": 2}}),
                "{key}"
            );
        }
    }

    #[test]
    fn two_models_are_refused() {
        let both = |other: &str| {
            node(&serde_json::json!({"spec": {"predictor": {"sklearn": {}, other: {}}}}))
        };
        assert!(convert(&both("pmml"), Semantics::Documented).is_err());
        assert!(convert(&both("pmml"), Semantics::Controller).is_err());
        assert!(convert(&both("model"), Semantics::Documented).is_err());
        assert!(convert(&both("model"), Semantics::Controller).unwrap().is_some(), "the key wins");
        assert!(convert(&both("minReplicas"), Semantics::Documented).unwrap().is_some());
    }

    // KServe docs, Serving Runtimes, Previous schema, in reverse: a model that sets no more than
    // its framework key can express converts back without loss.
    #[test]
    fn models_become_framework_keys() {
        for semantics in [Semantics::Documented, Semantics::Controller] {
            for framework in &FRAMEWORKS {
                let old = node(
                    &serde_json::json!({"spec": {"predictor": {framework.key: {"storageUri": "u", "protocolVersion": "v2"}, "minReplicas": 2}}}),
                );
                let mut service = old.clone();
                service
                    .as_map_mut()
                    .unwrap()
                    .insert("spec", convert(&old, semantics).unwrap().unwrap().spec);
                let (spec, losses) = previous(&service, semantics).expect("a key");
                assert_eq!(
                    (&spec.to_json(), losses.len()),
                    (&old.to_json()["spec"], 0),
                    "{}",
                    framework.key
                );
            }
        }
    }

    #[test]
    fn fields_that_a_framework_key_cannot_express_are_listed() {
        let lost = |model: serde_json::Value, semantics| {
            let service = node(&serde_json::json!({"spec": {"predictor": {"model": model}}}));
            previous(&service, semantics).map(|(_, losses)| {
                losses.into_iter().filter_map(|loss| loss.path).collect::<Vec<_>>()
            })
        };
        let format =
            |name: &str| serde_json::json!({"modelFormat": {"name": name, "version": "1"}});
        assert_eq!(lost(format("mlflow"), Semantics::Documented), None);
        let paths = |tails: &[&str]| {
            Some(
                tails.iter().map(|tail| format!("spec.predictor.model.{tail}")).collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            lost(format("sklearn"), Semantics::Documented),
            paths(&["runtime", "modelFormat.version"])
        );
        assert_eq!(
            lost(format("onnx"), Semantics::Controller),
            paths(&["modelFormat.version", "protocolVersion"])
        );
        let named = serde_json::json!({"modelFormat": {"name": "sklearn"}, "runtime": "mine"});
        assert_eq!(lost(named.clone(), Semantics::Documented), paths(&["runtime"]));
        assert_eq!(lost(named, Semantics::Controller), paths(&["runtime"]));
    }
}
