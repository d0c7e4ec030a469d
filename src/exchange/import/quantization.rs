//! How the weights of a model are quantized, in the words of OME: fp8, fbgemm_fp8, int4 (S0-027).

use super::{Basis, Imported};
use crate::diag::{Code, Diagnostic};
use crate::yaml::Node;

/// The part of a config about quantization.
pub(super) fn config(config: &Node) -> Option<&Node> {
    [Some(config), config.get("text_config")].into_iter().flatten().find_map(|part| {
        let found = part.get("quantization_config").or_else(|| part.get("compression_config"))?;
        found.as_map().is_some_and(|map| !map.is_empty()).then_some(found)
    })
}

/// Adds the quantization, or says that OME has no name for it.
pub(super) fn fact(whole: &Node, imported: &mut Imported, found: &mut Vec<Diagnostic>) {
    let Some(config) = config(whole) else { return };
    let method = ["quant_method", "quantization_method", "quant_algo"]
        .into_iter()
        .find_map(|key| config.get(key));
    let name = method.and_then(Node::as_str).unwrap_or_default();
    let place = method.unwrap_or(config).origin.span();
    let (value, why) = match name.to_lowercase().as_str() {
        "fp8" => (Some("fp8"), format!("`quant_method: {name}`")),
        "fbgemm_fp8" => (
            Some("fbgemm_fp8"),
            "`quant_method: fbgemm_fp8`; upstream's model agent writes `fp8` for it".to_owned(),
        ),
        "compressed-tensors" => compressed(config),
        "modelopt" => algorithm(config),
        _ => bits(config, name),
    };
    match value {
        Some(value) => imported.say(&["quantization"], value, Basis::Declared, why, place),
        None => found.push(
            Diagnostic::new(Code::UnknownQuantization, format!("OME has no name for this quantization: {why}"))
                .at(place)
                .path("quantization")
                .help("it is left out, as upstream's model agent does; write it by hand if a runtime asks for it by another name"),
        ),
    }
}

/// compressed-tensors says the kind of number for each group of weights.
fn compressed(config: &Node) -> (Option<&'static str>, String) {
    let mut kinds: Vec<String> = Vec::new();
    for group in config.get("config_groups").into_iter().flat_map(Node::entries) {
        let Some(weights) = group.node.get("weights") else { continue };
        let bits = weights.get("num_bits").and_then(Node::as_int).unwrap_or_default();
        let kind =
            format!("{}{bits}", weights.get("type").and_then(Node::as_str).unwrap_or_default());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let value = match kinds.as_slice() {
        [kind] if kind == "float8" => Some("fp8"),
        [kind] if kind == "int4" => Some("int4"),
        _ => None,
    };
    let shown = if kinds.is_empty() { "of no group".to_owned() } else { kinds.join(", ") };
    (value, format!("`compressed-tensors` with weights {shown}"))
}

/// NVIDIA's ModelOpt names an algorithm.
fn algorithm(config: &Node) -> (Option<&'static str>, String) {
    let name = config
        .get("quant_algo")
        .or_else(|| config.at(&["quantization", "quant_algo"]))
        .and_then(Node::as_str)
        .unwrap_or_default();
    let upper = name.to_uppercase();
    let value = if upper.starts_with("FP8") {
        Some("fp8")
    } else if upper.contains("INT4") || upper.starts_with("W4A") {
        Some("int4")
    } else {
        None
    };
    (value, format!("`modelopt` with `quant_algo: {name}`"))
}

/// GPTQ, AWQ and others of their kind say how many bits a whole number has.
fn bits(config: &Node, method: &str) -> (Option<&'static str>, String) {
    let bits = ["bits", "w_bit", "weight_bits"]
        .into_iter()
        .find_map(|key| Some((key, config.get(key)?.as_int()?)));
    let four = config.get("load_in_4bit").and_then(Node::as_bool) == Some(true);
    let shown = if method.is_empty() { "no method".to_owned() } else { format!("`{method}`") };
    match bits {
        Some((key, 4)) => (Some("int4"), format!("{shown} with `{key}: 4`")),
        Some((key, bits)) => (None, format!("{shown} with `{key}: {bits}`")),
        None if four => (Some("int4"), format!("{shown} with `load_in_4bit: true`")),
        // AWQ has no other width.
        None if method.eq_ignore_ascii_case("awq") => (Some("int4"), shown),
        None => (None, shown),
    }
}
