//! The endpoints of each protocol, in the order of the tables of the KServe 0.10 docs.

use super::{Protocol, skeleton};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write as _;

/// The condition for an endpoint to exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// The service has an explainer.
    Explainer,
}

/// One row of a table. In the path, `{model}` is replaced by the model's name and `{version}` by
/// `/versions/V` or an empty text.
struct Row {
    api: &'static str,
    verb: &'static str,
    path: &'static str,
    purpose: &'static str,
    needs: Needs,
}

const fn row(
    api: &'static str,
    verb: &'static str,
    path: &'static str,
    purpose: &'static str,
) -> Row {
    Row { api, verb, path, purpose, needs: Needs::Nothing }
}

/// KServe 0.10 docs, Data Plane and Data Plane V1.
static V1: [Row; 4] = [
    row("list-models", "GET", "/v1/models", "lists the models of the registry"),
    row(
        "model-ready",
        "GET",
        "/v1/models/{model}",
        "whether the model is downloaded and ready to serve requests",
    ),
    row(
        "predict",
        "POST",
        "/v1/models/{model}:predict",
        "performs inference with the model, as the TensorFlow V1 HTTP API does",
    ),
    Row {
        api: "explain",
        verb: "POST",
        path: "/v1/models/{model}:explain",
        purpose: "explains the model beside its prediction, in the form of predict",
        needs: Needs::Explainer,
    },
];

/// KServe 0.10 docs, Data Plane; docs/decisions.md#inference-protocol: the printed tables omit the
/// leading slash, and each lacks a placeholder.
static V2: [Row; 6] = [
    row("infer", "POST", "/v2/models/{model}{version}/infer", "performs inference with the model"),
    row(
        "model-metadata",
        "GET",
        "/v2/models/{model}{version}",
        "returns the details of the model: platform, inputs, outputs",
    ),
    row(
        "server-ready",
        "GET",
        "/v2/health/ready",
        "whether all models are ready for inference; suitable for a readiness probe",
    ),
    row(
        "server-live",
        "GET",
        "/v2/health/live",
        "whether the server receives and answers requests; suitable for a liveness probe",
    ),
    row(
        "server-metadata",
        "GET",
        "/v2",
        "returns the details of the server: name, version, extensions",
    ),
    row(
        "model-ready",
        "GET",
        "/v2/models/{model}{version}/ready",
        "whether this model is ready for inference",
    ),
];

/// Endpoints that both SGLang and vLLM serve (KServe docs, Data Plane).
static OPENAI: [Row; 6] = [
    row("list-models", "GET", "/v1/models", "lists the models that are served"),
    row("chat-completions", "POST", "/v1/chat/completions", "answers a conversation"),
    row("completions", "POST", "/v1/completions", "continues a text"),
    row("embeddings", "POST", "/v1/embeddings", "embeds texts, when the model is one that embeds"),
    row(
        "rerank",
        "POST",
        "/v1/rerank",
        "orders documents by relevance, when the model is one that ranks",
    ),
    row("server-ready", "GET", "/health", "whether the server answers requests"),
];

/// Facts about a service for the list of its endpoints.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// Name of the model in paths.
    pub model: &'a str,
    /// Version of the model in paths; V2 only (KServe 0.10 docs, Data Plane).
    pub version: Option<&'a str>,
    /// Scheme and authority in front of the path, without a trailing slash.
    pub base: Option<&'a str>,
    /// The service has an explainer.
    pub explainer: bool,
    /// Prefix of the OpenAI paths: `/openai` for KServe's Hugging Face server, else empty.
    pub prefix: &'a str,
    /// True to add skeletons of the payloads.
    pub payload: bool,
}

/// One endpoint of a service.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Name of the API, kebab-case.
    pub api: &'static str,
    /// HTTP method.
    pub verb: &'static str,
    /// Path with a leading slash.
    pub path: String,
    /// Base and path; `None` when the base is unknown.
    pub url: Option<String>,
    /// Its purpose, one line.
    pub purpose: &'static str,
    /// Skeleton of the request body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// Skeleton of the response body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// Skeleton of the body of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_response: Option<Value>,
}

/// Returns the REST endpoints of a protocol in table order; empty for gRPC, and for Cohere, because
/// no document defines its paths.
pub fn endpoints(protocol: Protocol, facts: &Facts<'_>) -> Vec<Endpoint> {
    let (rows, prefix): (&[Row], &str) = match protocol {
        Protocol::V1 => (&V1, ""),
        Protocol::V2 => (&V2, ""),
        Protocol::OpenAi => (&OPENAI, facts.prefix),
        Protocol::GrpcV1 | Protocol::GrpcV2 | Protocol::Cohere => (&[], ""),
    };
    // Names of models may hold slashes, as `org/model`, which would be two segments.
    let model = path_segment(facts.model);
    let version = facts
        .version
        .map_or_else(String::new, |version| format!("/versions/{}", path_segment(version)));
    rows.iter()
        .filter(|row| row.needs == Needs::Nothing || facts.explainer)
        .map(|row| {
            let path = format!(
                "{prefix}{}",
                row.path.replace("{model}", &model).replace("{version}", &version)
            );
            let body = if facts.payload {
                skeleton::of(protocol, row.api, facts)
            } else {
                skeleton::Body::default()
            };
            Endpoint {
                api: row.api,
                verb: row.verb,
                url: facts.base.map(|base| format!("{base}{path}")),
                path,
                purpose: row.purpose,
                request: body.request,
                response: body.response,
                error_response: body.error,
            }
        })
        .collect()
}

/// Encodes a text as one path segment: percent-encodes every character that RFC 3986 does not allow
/// there.
fn path_segment(text: &str) -> Cow<'_, str> {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    if text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(protocol: Protocol, facts: &Facts<'_>) -> Vec<String> {
        endpoints(protocol, facts)
            .into_iter()
            .map(|endpoint| format!("{} {} {}", endpoint.api, endpoint.verb, endpoint.path))
            .collect()
    }

    // KServe 0.10 docs, Data Plane.
    #[test]
    fn version_1_explains_only_with_an_explainer() {
        let facts = Facts {
            model: "iris",
            base: Some("http://iris-default.example.com"),
            ..Facts::default()
        };
        let plain = [
            "list-models GET /v1/models",
            "model-ready GET /v1/models/iris",
            "predict POST /v1/models/iris:predict",
        ];
        assert_eq!(paths(Protocol::V1, &facts), plain);
        assert_eq!(
            endpoints(Protocol::V1, &facts)[2].url.as_deref(),
            Some("http://iris-default.example.com/v1/models/iris:predict")
        );
        let explained = paths(Protocol::V1, &Facts { explainer: true, ..facts });
        assert_eq!(explained[..3], plain);
        assert_eq!(explained[3], "explain POST /v1/models/iris:explain");
        assert!(
            paths(Protocol::V2, &Facts { explainer: true, ..facts })
                .iter()
                .all(|path| !path.contains("explain"))
        );
    }

    // KServe 0.10 docs, Data Plane; docs/decisions.md#inference-protocol.
    #[test]
    fn version_2_has_six_rows_and_an_optional_model_version() {
        let facts = Facts { model: "my_model", version: Some("v10"), ..Facts::default() };
        let expected = [
            "infer POST /v2/models/my_model/versions/v10/infer",
            "model-metadata GET /v2/models/my_model/versions/v10",
            "server-ready GET /v2/health/ready",
            "server-live GET /v2/health/live",
            "server-metadata GET /v2",
            "model-ready GET /v2/models/my_model/versions/v10/ready",
        ];
        assert_eq!(paths(Protocol::V2, &facts), expected);
        let without: Vec<String> =
            expected.iter().map(|row| row.replace("/versions/v10", "")).collect();
        assert_eq!(paths(Protocol::V2, &Facts { version: None, ..facts }), without);
    }

    // KServe 0.10 docs, Open Inference Protocol, gRPC; docs/decisions.md#inference-protocol.
    #[test]
    fn grpc_has_no_paths() {
        assert!(endpoints(Protocol::GrpcV2, &Facts::default()).is_empty());
    }

    #[test]
    fn model_names_are_percent_encoded_and_openai_paths_get_a_prefix() {
        let facts = Facts { model: "a/b c", prefix: "/openai", ..Facts::default() };
        assert_eq!(paths(Protocol::V1, &facts)[1], "model-ready GET /v1/models/a%2Fb%20c");
        assert_eq!(
            paths(Protocol::OpenAi, &facts)[1],
            "chat-completions POST /openai/v1/chat/completions"
        );
    }
}
