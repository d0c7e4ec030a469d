//! Skeletons of payloads: the required members of a body, with the model's name filled in.
//!
//! Optional members are left out. Lists are empty where the table of the document shows `[]`
//! (KServe 0.10 docs, Data Plane V1 and Open Inference Protocol, HTTP/REST;
//! docs/decisions.md#inference-protocol).

use super::{Facts, Protocol};
use serde_json::{Value, json};

/// Bodies of one endpoint.
#[derive(Default)]
pub(super) struct Body {
    pub(super) request: Option<Value>,
    pub(super) response: Option<Value>,
    pub(super) error: Option<Value>,
}

/// Returns the bodies of an endpoint, by its name in [`super::tables`].
pub(super) fn of(protocol: Protocol, api: &str, facts: &Facts<'_>) -> Body {
    let model = facts.model;
    let answer = |response: Value| (None, Some(response));
    let (request, response) = match (protocol, api) {
        (Protocol::V1, "list-models") => answer(json!({ "models": [model] })),
        (Protocol::V1 | Protocol::V2, "model-ready") => {
            answer(json!({ "name": model, "ready": true }))
        }
        (Protocol::V1, "predict") => {
            (Some(json!({ "instances": [] })), Some(json!({ "predictions": [] })))
        }
        // An explainer takes what `predict` takes.
        (Protocol::V1, "explain") => (
            Some(json!({ "instances": [] })),
            Some(json!({ "predictions": [], "explanations": [] })),
        ),
        (Protocol::V2, "infer") => {
            (Some(json!({ "inputs": [tensor("input0")] })), Some(response_of(facts)))
        }
        (Protocol::V2, "model-metadata") => {
            let about = |name: &str| json!({ "name": name, "datatype": "FP32", "shape": [-1] });
            answer(
                json!({ "name": model, "platform": "…", "inputs": [about("input0")], "outputs": [about("output0")] }),
            )
        }
        // The document also prints `live` in the body of server-ready; the gRPC message shows that
        // `ready` is meant (KServe 0.10 docs, Open Inference Protocol, HTTP/REST;
        // docs/decisions.md#inference-protocol).
        (Protocol::V2, "server-ready") => answer(json!({ "ready": true })),
        (Protocol::V2, "server-live") => answer(json!({ "live": true })),
        (Protocol::V2, "server-metadata") => {
            answer(json!({ "name": "…", "version": "…", "extensions": [] }))
        }
        (Protocol::OpenAi, "list-models") => {
            answer(json!({ "object": "list", "data": [{ "id": model, "object": "model" }] }))
        }
        (Protocol::OpenAi, "chat-completions") => (
            Some(json!({ "model": model, "messages": [{ "role": "user", "content": "…" }] })),
            Some(
                json!({ "object": "chat.completion", "model": model, "choices": [{ "index": 0, "message": { "role": "assistant", "content": "…" } }] }),
            ),
        ),
        (Protocol::OpenAi, "completions") => (
            Some(json!({ "model": model, "prompt": "…" })),
            Some(
                json!({ "object": "text_completion", "model": model, "choices": [{ "index": 0, "text": "…" }] }),
            ),
        ),
        (Protocol::OpenAi, "embeddings") => (
            Some(json!({ "model": model, "input": ["…"] })),
            Some(
                json!({ "object": "list", "model": model, "data": [{ "object": "embedding", "index": 0, "embedding": [] }] }),
            ),
        ),
        (Protocol::OpenAi, "rerank") => (
            Some(json!({ "model": model, "query": "…", "documents": ["…"] })),
            Some(json!({ "model": model, "results": [{ "index": 0, "relevance_score": 0.0 }] })),
        ),
        _ => (None, None),
    };
    Body { request, response, error: (protocol == Protocol::V2).then(|| json!({ "error": "…" })) }
}

fn tensor(name: &str) -> Value {
    json!({ "name": name, "shape": [1], "datatype": "FP32", "data": [0.0] })
}

fn response_of(facts: &Facts<'_>) -> Value {
    let mut response = json!({ "model_name": facts.model });
    // Optional members are left out, so that a skeleton has no empty texts.
    if let Some(version) = facts.version {
        response["model_version"] = version.into();
    }
    response["outputs"] = json!([tensor("output0")]);
    response
}

#[cfg(test)]
mod tests {
    use super::super::{endpoints, payload};
    use super::*;
    use crate::yaml::{Node, Origin, Rule};

    static TEST: Rule = Rule { id: "test", text: "a value of a test", cite: "" };

    // KServe 0.10 docs, Data Plane V1 and Open Inference Protocol, HTTP/REST;
    // docs/decisions.md#inference-protocol.
    #[test]
    fn skeleton_bodies_have_the_documented_members() {
        let facts = Facts { model: "iris", explainer: true, payload: true, ..Facts::default() };
        for (protocol, api, request, response) in [
            (Protocol::V1, "list-models", None, json!({ "models": ["iris"] })),
            (Protocol::V1, "model-ready", None, json!({ "name": "iris", "ready": true })),
            (
                Protocol::V1,
                "predict",
                Some(json!({ "instances": [] })),
                json!({ "predictions": [] }),
            ),
            (
                Protocol::V1,
                "explain",
                Some(json!({ "instances": [] })),
                json!({ "predictions": [], "explanations": [] }),
            ),
            (Protocol::V2, "server-ready", None, json!({ "ready": true })),
            (Protocol::V2, "server-live", None, json!({ "live": true })),
        ] {
            let endpoint = endpoints(protocol, &facts)
                .into_iter()
                .find(|endpoint| endpoint.api == api)
                .expect("the row exists");
            assert_eq!((endpoint.request, endpoint.response), (request, Some(response)), "{api}");
            assert_eq!(endpoint.error_response.is_some(), protocol == Protocol::V2, "{api}");
        }
    }

    #[test]
    fn skeletons_of_version_2_pass_their_own_check() {
        let facts = Facts { model: "iris", payload: true, ..Facts::default() };
        for (api, kind, response) in [
            ("infer", payload::Kind::InferRequest, false),
            ("infer", payload::Kind::InferResponse, true),
            ("model-metadata", payload::Kind::ModelMetadata, true),
        ] {
            let endpoint = endpoints(Protocol::V2, &facts)
                .into_iter()
                .find(|endpoint| endpoint.api == api)
                .expect("the row exists");
            let body =
                if response { endpoint.response } else { endpoint.request }.expect("it has a body");
            let node = Node::from_json(&body, Origin::Default(&TEST));
            let found = payload::check(payload::Form::V2, kind, &node, None);
            assert!(
                found.iter().all(|finding| finding.severity == crate::diag::Severity::Info),
                "{api}: {found:?}"
            );
        }
    }
}
