//! Public start-up logs of engines, and how far the estimates are from them.
//!
//! In: `testdata/recorded/engines/kv-logs.jsonl`, a log a line, and `kv-models.json`, the dimensions
//! of the models. Out: per log what it reports and what is estimated, and the errors of all.

use super::identity::{Engine, EngineVersion};
use super::memory::{CONSTANTS, Constants, Estimate, Load, Sampler};
use crate::quantity::{Dimensions, Experts};
use serde_json::Value;

/// A log with everything that an estimate needs.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its number.
    pub id: u64,
    /// What it reports of the server.
    pub load: Load,
    /// The dimensions of its model.
    pub model: Dimensions,
    /// The model.
    pub name: String,
    /// GiB of KV cache on one device.
    pub reported: f64,
    /// The engine refused to start.
    pub is_refused: bool,
    /// GiB of a request of full length on one device.
    pub request: Option<f64>,
}

impl Row {
    /// The estimate with these constants.
    pub fn estimate(&self, constants: &Constants) -> Option<Estimate> {
        self.load.estimate_with(&self.model, constants)
    }
}

/// The errors of estimates.
#[derive(Clone, Copy, Debug)]
pub struct Errors {
    /// Logs.
    pub logs: usize,
    /// Median of the errors, as a part of what is reported.
    pub median: f64,
    /// 90th percentile.
    pub ninetieth: f64,
    /// Part of the logs that are inside of their interval.
    pub inside: f64,
    /// Servers that refused to start and whose request of full length is estimated to fit.
    pub promised: usize,
    /// Servers that started and whose request of full length is estimated not to fit.
    pub accused: usize,
}

/// Reads logs; those without a number that an estimate needs are left out.
///
/// # Errors
/// The line that is no log.
pub fn rows(logs: &str, models: &str) -> Result<Vec<Row>, String> {
    let models: Value = serde_json::from_str(models).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for (number, line) in logs.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let log: Value =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
        found.extend(row(&log, &models));
    }
    Ok(found)
}

const GIB: f64 = 1_073_741_824.0;

fn row(log: &Value, models: &Value) -> Option<Row> {
    let text = |key: &str| log[key].as_str().unwrap_or_default();
    // Logs of fine-tuned models name the architecture, whose dimensions are equal.
    let model = [text("model"), text("arch")]
        .into_iter()
        .map(|name| &models[name])
        .find(|model| model["layers"].is_u64());
    let engine = match text("engine") {
        "vllm" => Engine::VLlm,
        "sglang" => Engine::SGLang,
        "trtllm" => Engine::TensorRtLlm,
        _ => return None,
    };
    // Only vLLM's estimate needs the dimensions.
    let model = match (model, engine) {
        (Some(model), _) => model,
        (None, Engine::VLlm) => return None,
        (None, _) => &Value::Null,
    };
    let tensor = log["tp"].as_u64()?;
    let is_unified = text("gpu").contains("GB10");
    // What Linux leaves of 128 GB.
    let memory = match log["gpu_memory_mib"].as_f64() {
        Some(mib) => mib / 1024.0,
        None if is_unified => 119.7,
        None => return None,
    };
    let per_token = per_token(log, model, tensor);
    // Where layers differ, a number of tokens does not give the bytes of the cache.
    let is_even = !model["linear"].is_boolean() && model["sliding_layers"].is_null();
    let by_tokens = || Some(log["kv_tokens"].as_f64()? * per_token?).filter(|_| is_even);
    let reported = log["kv_gib_per_gpu"].as_f64().or_else(by_tokens)?;
    let first = text("generation") == "V0";
    let is_host = log["note"].as_str().is_some_and(|note| note.contains("WSL"));
    let load = Load {
        engine,
        version: EngineVersion::parse(text("version")).map(|version| version.numbers),
        // Under Windows and on ROCm the driver takes nothing from the process.
        product: if is_host { "RX WSL".to_owned() } else { text("gpu").to_owned() },
        memory,
        tensor,
        weights: log["weights_gib_per_gpu"].as_f64()?,
        share: log["share"].as_f64(),
        sequences: log["max_num_seqs"].as_u64(),
        tokens: log["max_num_batched_tokens"].as_u64(),
        context: log["max_model_len"].as_u64(),
        chunked: log["chunked_prefill"].as_bool(),
        eager: log["eager"].as_bool() == Some(true),
        sampler: match text("sampler") {
            "flashinfer" => Some(Sampler::Fused),
            "native" => Some(Sampler::Sorting),
            _ => None,
        },
        first_generation: (engine == Engine::VLlm).then_some(first),
        images: log["encoder_budget_tokens"].as_u64().unwrap_or(0),
        fixed: None,
    };
    // A refused server reports the length that it would need, which is not always the flag's.
    let needed = log["needed_len"].as_f64().or_else(|| log["max_model_len"].as_f64());
    Some(Row {
        id: log["id"].as_u64()?,
        load,
        model: dimensions(model),
        name: text("model").to_owned(),
        reported,
        is_refused: log["refused"].as_bool() == Some(true),
        request: needed.zip(per_token).map(|(tokens, bytes)| tokens * bytes),
    })
}

/// GiB of one token on one device.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn per_token(log: &Value, model: &Value, tensor: u64) -> Option<f64> {
    let number = |value: &Value| value.as_f64();
    let layers = number(&model["layers"])?;
    let width = if log["kv_cache_dtype"].as_str()?.starts_with("fp8") { 1.0 } else { 2.0 };
    let latent = &model["mla"];
    let bytes = if latent.is_object() {
        let index = number(&latent["index"]).unwrap_or(0.0);
        layers * (number(&latent["rank"])? + number(&latent["rope"])? + index) * width
    } else {
        let full = number(&model["full_attention_layers"])
            .unwrap_or(layers - number(&model["sliding_layers"]).unwrap_or(0.0));
        // Devices beyond the number of key-value heads hold copies: less than one head is not kept.
        let heads = (number(&model["kv_heads"])? / tensor as f64).max(1.0);
        full * heads * 2.0 * number(&model["head_dim"])? * width
    };
    let stages = log["pp"].as_f64().unwrap_or(1.0).max(1.0);
    Some(bytes / stages / GIB)
}

fn dimensions(model: &Value) -> Dimensions {
    let number = |key: &str| model[key].as_u64();
    let experts = &model["moe"];
    let is = |key: &str| model[key].as_bool() == Some(true);
    Dimensions {
        layers: number("layers").unwrap_or(0),
        hidden: number("hidden").unwrap_or(0),
        intermediate: number("intermediate"),
        heads: 0,
        kv_heads: number("kv_heads"),
        vocabulary: number("vocab").unwrap_or(0),
        is_tied: is("tied"),
        experts: experts.is_object().then(|| Experts {
            count: experts["experts"].as_u64().unwrap_or(0),
            chosen: experts["topk"].as_u64().unwrap_or(0),
            width: experts["inter"].as_u64().unwrap_or(0),
        }),
        positions: None,
        is_multimodal: is("vision"),
        is_pooling: is("pooling"),
    }
}

/// The errors of all logs with these constants.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few hundred logs"
)]
pub fn errors<'r>(
    rows: impl IntoIterator<Item = &'r Row>,
    constants: Option<&Constants>,
) -> Errors {
    let constants = constants.unwrap_or(&CONSTANTS);
    let mut all = Vec::new();
    let (mut inside, mut promised, mut accused) = (0, 0, 0);
    for row in rows {
        let Some(found) = row.estimate(constants) else { continue };
        // A log that reports 0 would divide by zero.
        all.push((found.middle - row.reported).abs() / row.reported.max(f64::EPSILON));
        inside += usize::from(found.low <= row.reported && row.reported <= found.high);
        if let Some(request) = row.request {
            // Refused and promised is the error that a user pays for: `at_least` must stay below.
            promised += usize::from(row.is_refused && request <= found.at_least);
            accused += usize::from(!row.is_refused && request > found.at_most);
        }
    }
    all.sort_by(f64::total_cmp);
    let at = |part: f64| all.get((all.len() as f64 * part) as usize).copied().unwrap_or(0.0);
    Errors {
        logs: all.len(),
        median: at(0.5),
        ninetieth: at(0.9),
        inside: inside as f64 / (all.len().max(1)) as f64,
        promised,
        accused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGS: &str = include_str!("../../testdata/recorded/engines/kv-logs.jsonl");
    const MODELS: &str = include_str!("../../testdata/recorded/engines/kv-models.json");

    /// docs/models.md#accuracy has these numbers.
    #[test]
    fn estimates_agree_with_public_logs() {
        let rows = rows(LOGS, MODELS).expect("the logs can be read");
        let found = errors(&rows, None);
        assert!(found.logs >= 85, "{found:?}");
        assert!(found.median <= 0.025 && found.ninetieth <= 0.13, "{found:?}");
        assert!(found.inside >= 0.9, "{found:?}");
        assert_eq!(found.promised, 0, "{found:?}");
    }

    /// The number of logs behind a range of releases is what is shown as evidence.
    #[test]
    fn every_range_of_releases_states_its_logs() {
        let rows = rows(LOGS, MODELS).expect("the logs can be read");
        for row in rows.iter().filter(|row| row.load.version.is_some()) {
            let Some(found) = row.estimate(&CONSTANTS) else { continue };
            assert!(found.logs > 0, "{}", row.id);
        }
        let mut counts = std::collections::BTreeMap::new();
        let of_vllm = |row: &&Row| row.load.engine == Engine::VLlm && row.load.version.is_some();
        for row in rows.iter().filter(of_vllm) {
            let entry = counts.entry(row.load.releases_of()).or_insert(0_u32);
            *entry += 1;
        }
        for ((releases, stated), counted) in counts {
            assert_eq!(stated, counted, "{releases}");
        }
    }
}
