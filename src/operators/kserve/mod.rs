//! KServe: InferenceServices of `serving.kserve.io`, and their runtimes.
//!
//! In: objects of the catalog, a policy of [`releases`]. Out: typed objects, a decision for each
//! service, its components with their pods, the Kubernetes objects, findings. This module reads no
//! files, prints nothing and refers to no other operator.
//!
//! Order of reading: `read` (documents as objects, older schemas), `admission` (webhooks), `select`
//! (the runtime), `compose` (components and pods; `effective` for the webhook of pods), `objects`
//! (what the controller writes), `build` (a service up to its first failure). Then `checks`
//! (findings of `validate`), `upgrade` and `edits` (differences between releases).

pub(crate) mod admission;
pub(crate) mod build;
pub(crate) mod checks;
pub(crate) mod compose;
pub(crate) mod edits;
pub(crate) mod llm;
pub(crate) mod mode;
pub(crate) mod objects;
pub(crate) mod openshift;
pub(crate) mod operator;
pub mod read;
pub mod releases;
pub mod rules;
pub(crate) mod select;
pub(crate) mod storage_uri;
pub mod upgrade;

use crate::api::Service;

/// The kind of services for language models; the other kind is `InferenceService`.
pub(crate) const LLM_KIND: &str = "LLMInferenceService";

/// Whether a service is one for a language model.
pub(crate) fn is_llm(service: &Service) -> bool {
    service.object.id.kind == LLM_KIND
}
