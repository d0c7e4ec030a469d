//! What flags whose values are objects of JSON set.
//!
//! In: the value of such a flag. Out: whether values that replace those of the model's config change
//! the length of its context only, and the model that proposes tokens.

use super::setting::Setting;
use ecow::EcoString;
use serde_json::{Map, Value};

/// Keys of a config that change how long a context is, and nothing that an engine holds.
const OF_CONTEXT: [&str; 14] = [
    "max_position_embeddings",
    "original_max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "max_sequence_length",
    "max_seq_length",
    "seq_length",
    "seq_len",
    "model_max_length",
    "rope_scaling",
    "rope_parameters",
    "rope_theta",
    "sliding_window",
    "use_sliding_window",
];

fn object(value: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(value).ok()
}

/// Whether values that replace those of the model's config change its context alone.
pub fn only_context(overrides: &Setting<EcoString>) -> bool {
    // The older flag is an object of one key, which changes the context alone.
    if overrides.from.starts_with("--rope") {
        return true;
    }
    // A value that cannot be read may change anything; an empty object is no override to judge.
    let Some(by_key) = object(&overrides.value).filter(|by_key| !by_key.is_empty()) else {
        return false;
    };
    let is_of_context = |key: &str| OF_CONTEXT.contains(&key);
    by_key.iter().all(|(key, value)| match value {
        // Models that read images have a config of their text part.
        Value::Object(inner) if key == "text_config" => inner.keys().all(|key| is_of_context(key)),
        _ => is_of_context(key),
    })
}

/// The model that proposes tokens; nothing where it is none, or heads of the model itself.
pub fn draft_model(speculative: &Setting<EcoString>) -> Option<EcoString> {
    if speculative.from.as_str() == "--speculative-model" {
        return Some(speculative.value.clone());
    }
    let by_key = object(&speculative.value)?;
    // Methods such as `ngram` or `mtp` name no model: their heads are in the model itself.
    Some(by_key.get("model")?.as_str()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(from: &str, value: &str) -> Setting<EcoString> {
        Setting { value: value.into(), from: from.into(), origin: None }
    }

    #[test]
    fn overrides_of_the_context_are_told_from_others() {
        for (from, value, expected) in [
            ("--hf-overrides", r#"{"max_position_embeddings": 8192}"#, true),
            ("--hf-overrides", r#"{"rope_scaling": {"rope_type": "yarn"}, "rope_theta": 1}"#, true),
            ("--hf-overrides", r#"{"text_config": {"rope_parameters": {}}}"#, true),
            ("--hf-overrides", r#"{"num_hidden_layers": 4}"#, false),
            ("--hf-overrides", r#"{"text_config": {"hidden_size": 4}}"#, false),
            (
                "--hf-overrides",
                r#"{"max_position_embeddings": 8192, "architectures": ["A"]}"#,
                false,
            ),
            // A mapping of a file whose fields were not read, and what is no object.
            ("--hf-overrides", "{}", false),
            ("--hf-overrides", "own.py", false),
            ("--rope-scaling", r#"{"type": "linear", "factor": 2}"#, true),
        ] {
            assert_eq!(only_context(&set(from, value)), expected, "{from} {value}");
        }
    }

    #[test]
    fn the_draft_model_is_named_in_the_flag_or_its_value() {
        let of = |from, value| draft_model(&set(from, value));
        assert_eq!(of("--speculative-model", "a/b").as_deref(), Some("a/b"));
        assert_eq!(of("--speculative-config", r#"{"model": "a/b"}"#).as_deref(), Some("a/b"));
        assert_eq!(of("--speculative-config", r#"{"method": "ngram"}"#), None);
        assert_eq!(of("--speculative-algorithm", "EAGLE"), None);
    }
}
