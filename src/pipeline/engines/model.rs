//! What the engine's needs are computed from, of the model that a container serves.

use crate::api::Model;
use crate::decision::Operand;
use crate::engine::loaded_weights;
use crate::facts::models::{self, HubId};
use crate::policy::Policy;
use crate::quantity::{Dimensions, KvCache};
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// The facts of a model.
#[derive(Clone, Debug, Default)]
pub(super) struct ServedModel {
    pub(super) name: EcoString,
    /// The repository of the Hub with its files.
    pub(super) repository: Option<EcoString>,
    pub(super) dimensions: Option<Dimensions>,
    pub(super) cache: Option<Arc<KvCache>>,
    /// Bytes of the weights as loaded.
    pub(super) weights: Option<Operand<u64>>,
    /// The longest context that the manifest or the config sets.
    pub(super) longest: Option<Operand<u64>>,
}

impl ServedModel {
    /// Of a model object.
    pub(super) fn of(policy: &Policy, model: &Model) -> Self {
        let dimensions = model.completion.dimensions.as_deref().copied();
        let quantization =
            policy.quantization_of(model).map_or("", |quantization| quantization.value.as_str());
        let parameters = model.parameters();
        let longest = model.object.node.at(&["spec", "maxTokens"]).and_then(|node| {
            let value = node.as_int().and_then(|tokens| u64::try_from(tokens).ok())?;
            let span = node.origin.span();
            (value > 0).then(|| Operand { value, from: "maxTokens of the model".into(), span })
        });
        let repository = HubId::of_model(&model.object.node).map(|id| EcoString::from(id.id));
        let is_gguf = repository.as_deref().is_some_and(is_gguf)
            || model
                .format
                .as_ref()
                .is_some_and(|version| version.name.value.eq_ignore_ascii_case("gguf"));
        Self {
            name: model.object.id.name.clone(),
            weights: parameters.filter(|_| !is_gguf).and_then(|count| {
                weights(count.as_f64(), &count.short(), quantization, dimensions.as_ref())
            }),
            repository,
            dimensions,
            cache: model.completion.cache.clone(),
            longest,
        }
    }

    /// Of a repository of the Hugging Face Hub that a command line names.
    pub(super) fn of_hub(id: &str) -> Option<Self> {
        let id = id.strip_prefix("hf://").unwrap_or(id);
        HubId::parse(&format!("hf://{id}"))?;
        let facts = models::published(id)?.facts();
        let quantization = facts
            .quantization
            .as_ref()
            .and_then(|fact| fact.value.as_str())
            .or_else(|| facts.value("quantization")?.as_str())
            .unwrap_or_default()
            .to_owned();
        let longest = facts.value("maxTokens").and_then(|node| {
            let value = u64::try_from(node.as_int()?).ok()?;
            Some(Operand { value, from: eco_format!("context of {id}"), span: None })
        });
        Some(Self {
            name: id.into(),
            repository: Some(id.into()),
            weights: facts.parameters.and_then(|count| {
                weights(count.as_f64(), &count.short(), &quantization, facts.dimensions.as_ref())
            }),
            dimensions: facts.dimensions,
            cache: facts.cache.map(Arc::new),
            longest,
        })
    }

    /// Whether a command line names another model: a repository, no path in the container.
    pub(super) fn is_other(&self, argument: &str) -> bool {
        let id = argument.strip_prefix("hf://").unwrap_or(argument);
        // A path in the container names no repository, so that it may be the served model.
        HubId::parse(&format!("hf://{id}")).is_some_and(|named| {
            let repository = self.repository.as_deref();
            repository.is_none_or(|name| !name.eq_ignore_ascii_case(named.id))
        })
    }

    /// Whether an engine quantizes its weights to 8 bits when it loads them.
    pub(super) fn is_quantized_by(&self, quantization: Option<&str>) -> bool {
        quantization == Some("fp8")
            // The text tells how the bytes were counted: weights of another width are quantized
            // already.
            && self.weights.as_ref().is_some_and(|operand| operand.from.contains("× 2 bytes"))
    }

    /// Its weights as these settings load them.
    pub(super) fn weights_as(
        &self,
        quantization: Option<&str>,
        dtype: Option<&str>,
    ) -> Option<Operand<u64>> {
        let operand = self.weights.clone()?;
        // Weights in 16 bits that the engine quantizes or widens when it loads them.
        let is_plain = operand.from.contains("× 2 bytes");
        match (quantization, dtype) {
            (Some("fp8"), _) if is_plain => {
                let from = operand.from.replace("× 2 bytes", "× 1 byte");
                let from = eco_format!("{from}, quantized to fp8 while loading");
                Some(Operand { value: operand.value / 2, from, span: operand.span })
            }
            (Some("bitsandbytes" | "mxfp8"), _) if is_plain => None,
            (None, Some(dtype)) if is_plain && is_32_bits(dtype) => {
                let from = operand.from.replace("× 2 bytes", "× 4 bytes");
                let from = eco_format!("{from}, loaded as {dtype}");
                Some(Operand { value: operand.value.saturating_mul(2), from, span: operand.span })
            }
            _ => Some(operand),
        }
    }
}

/// Whether a path or a repository is of files whose width their name has, not their config.
pub(super) fn is_gguf(name: &str) -> bool {
    name.to_ascii_lowercase().contains("gguf")
}

/// Whether a type has 4 bytes, as the engines write it.
pub(super) fn is_32_bits(dtype: &str) -> bool {
    matches!(dtype, "float32" | "float" | "fp32")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of a model are far below 2^53"
)]
fn weights(
    parameters: f64,
    shown: &str,
    quantization: &str,
    dimensions: Option<&Dimensions>,
) -> Option<Operand<u64>> {
    let bytes = loaded_weights(parameters, quantization, dimensions)?;
    let from = match quantization.to_lowercase().as_str() {
        "" | "none" | "fp16" | "bf16" => eco_format!("{shown} parameters × 2 bytes"),
        "fp32" => eco_format!("{shown} parameters × 4 bytes"),
        other => eco_format!("{shown} parameters in {other}, embedding and head in 16 bits"),
    };
    Some(Operand { value: bytes as u64, from, span: None })
}
