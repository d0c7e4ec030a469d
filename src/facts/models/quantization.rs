//! The quantization of a model's weights: the finest name, and the name in OME.

use super::agent::Agent;
use super::{Basis, Facts};
use crate::diag::{Code, Diagnostic};
use crate::yaml::Node;

/// The part of a config about quantization.
pub(super) fn config(config: &Node) -> Option<&Node> {
    // Models of several parts quantize their language model, and its part has the settings.
    [Some(config), config.get("text_config")].into_iter().flatten().find_map(|part| {
        let found = part.get("quantization_config").or_else(|| part.get("compression_config"))?;
        // Some tools leave an empty object behind when they remove the quantization.
        found.as_map().is_some_and(|map| !map.is_empty()).then_some(found)
    })
}

/// Adds the quantization as the model agent writes it, and its finest name.
pub(super) fn fact(
    whole: &Node,
    agent: &Agent<'_>,
    facts: &mut Facts,
    found: &mut Vec<Diagnostic>,
) {
    let Some(config) = config(whole) else { return };
    let (finest, why) = finest(config);
    let place = method(config).unwrap_or(config).origin.span();
    let written = agent.quantization();
    if let Some(finest) = finest {
        facts.finest_quantization(finest, Basis::Declared, why.clone(), place);
    }
    let shown = finest.map_or_else(|| why.clone(), |finest| format!("`{finest}`: {why}"));
    match written {
        // One name in both needs no explanation; else the finer one is the evidence.
        Some(written) if finest == Some(written) => {
            facts.say(&["quantization"], written, Basis::Declared, why, place);
        }
        Some(written) => facts.say(
            &["quantization"],
            written,
            Basis::Declared,
            format!("what the model agent writes for {shown}"),
            place,
        ),
        None => found.push(
            Diagnostic::new(
                Code::UnknownQuantization,
                format!("the model agent leaves `quantization` out for {shown}"),
            )
            .at(place)
            .path("quantization")
            .help("write it by hand if a runtime requires another name for it"),
        ),
    }
}

pub(super) fn method(config: &Node) -> Option<&Node> {
    ["quant_method", "quantization_method", "quant_algo"]
        .into_iter()
        .find_map(|key| config.get(key))
}

/// The finest name, and the text in the config.
pub(super) fn finest(config: &Node) -> (Option<&'static str>, String) {
    let name = method(config).and_then(Node::as_str).unwrap_or_default();
    let plain = |value| (Some(value), format!("`quant_method: {name}`"));
    // Names come from many tools, in any case of letters.
    match name.to_lowercase().as_str() {
        "fp8" => plain("fp8"),
        "fbgemm_fp8" => plain("fbgemm_fp8"),
        "mxfp4" => plain("mxfp4"),
        "compressed-tensors" => compressed(config),
        "modelopt" | "modelopt_fp4" | "modelopt_mixed" | "quark" => algorithm(config, name),
        _ => bits(config, name),
    }
}

/// compressed-tensors has a number type for each group of weights.
fn compressed(config: &Node) -> (Option<&'static str>, String) {
    let mut kinds: Vec<String> = Vec::new();
    let mut scales = None;
    for group in config.get("config_groups").into_iter().flat_map(Node::entries) {
        let Some(weights) = group.node.get("weights") else { continue };
        let bits = weights.get("num_bits").and_then(Node::as_int).unwrap_or_default();
        let kind =
            format!("{}{bits}", weights.get("type").and_then(Node::as_str).unwrap_or_default());
        // The groups of one model share the size in which scales are stored.
        scales = weights.get("group_size").and_then(Node::as_int);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    // Formats of four-bit floating point differ in how many values share a scale.
    let of_kind = |kind: &str| match (kind, scales) {
        ("float8", _) => Some("fp8"),
        ("int4", _) => Some("int4"),
        ("int8", _) => Some("int8"),
        ("float4", Some(32)) => Some("mxfp4"),
        ("float4", _) => Some("nvfp4"),
        _ => None,
    };
    let value = match kinds.as_slice() {
        [kind] => of_kind(kind),
        // A runtime must support the narrowest of several.
        several => several.iter().filter(|kind| kind.ends_with('4')).find_map(|kind| of_kind(kind)),
    };
    let shown = if kinds.is_empty() { "of no group".to_owned() } else { kinds.join(", ") };
    (value, format!("`compressed-tensors` with weights {shown}"))
}

/// NVIDIA's ModelOpt names an algorithm, or one per layer.
fn algorithm(config: &Node, method: &str) -> (Option<&'static str>, String) {
    let direct = config
        .get("quant_algo")
        .or_else(|| config.at(&["quantization", "quant_algo"]))
        .and_then(Node::as_str)
        .unwrap_or_default();
    let of_name = |name: &str| {
        let upper = name.to_uppercase();
        if upper.contains("NVFP4") {
            Some("nvfp4")
        } else if upper.contains("MXFP4") {
            Some("mxfp4")
        } else if upper.starts_with("FP8") {
            Some("fp8")
        } else if upper.contains("INT4") || upper.starts_with("W4A") {
            Some("int4")
        } else {
            None
        }
    };
    let layers = config.get("quantized_layers").into_iter().flat_map(Node::entries);
    let of_layers = || {
        let mut names: Vec<&'static str> =
            layers.filter_map(|layer| of_name(layer.node.get("quant_algo")?.as_str()?)).collect();
        // Four bits before eight.
        names.sort_unstable_by_key(|name| !name.ends_with('4'));
        names.first().copied()
    };
    let grouped = || compressed(config).0;
    let value = of_name(direct).or_else(of_layers).or_else(grouped);
    (value, format!("`{method}` with `quant_algo: {direct}`"))
}

/// GPTQ, AWQ and similar methods have the bits of an integer.
fn bits(config: &Node, method: &str) -> (Option<&'static str>, String) {
    let bits = ["bits", "w_bit", "weight_bits"]
        .into_iter()
        .find_map(|key| Some((key, config.get(key)?.as_int()?)));
    let is = |key: &str| config.get(key).and_then(Node::as_bool) == Some(true);
    let shown = match (method, bits) {
        ("", None) => "no method".to_owned(),
        ("", Some((key, bits))) => format!("`{key}: {bits}`"),
        (method, None) => format!("`quant_method: {method}`"),
        (method, Some((key, bits))) => format!("`quant_method: {method}` with `{key}: {bits}`"),
    };
    let value = match (method.to_lowercase().as_str(), bits.map(|(_, bits)| bits)) {
        // The name of the method is finer than its number of bits.
        ("awq", _) => Some("awq"),
        ("gptq", _) => Some("gptq"),
        (_, Some(4)) => Some("int4"),
        (_, Some(8)) => Some("int8"),
        // bitsandbytes has switches in place of a number.
        _ if is("load_in_4bit") => Some("int4"),
        _ if is("load_in_8bit") => Some("int8"),
        _ => None,
    };
    (value, shown)
}
