//! The number of elements in the files of a quantized model.
//!
//! Packed formats put several weights in one element and store scales beside them; which matrices
//! are packed follows from the `quantization_config`. The model agent counts elements of tensors as
//! they are stored (pkg/hfutil/modelconfig, FindAndParseSafetensors), and a cluster selects by that
//! count.

use super::count::Count;
use super::quantization;
use super::shape::{Class, Elements};
use crate::yaml::Node;

/// How the weights of a matrix are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packing {
    /// Weights in one element.
    weights: u128,
    /// Weights that share a scale; 0 when scales are too few to count.
    scaled: u128,
    /// Weights that share a packed zero point; 0 without.
    zeroed: u128,
}

impl Packing {
    /// One element each.
    const WHOLE: Self = Self { weights: 1, scaled: 0, zeroed: 0 };
    /// Two in a byte, a scale for 32 (OCP Microscaling Formats, MXFP4).
    const MXFP4: Self = Self { weights: 2, scaled: 32, zeroed: 0 };
    /// Two in a byte, a scale for 16.
    const NVFP4: Self = Self { weights: 2, scaled: 16, zeroed: 0 };
    /// A scale for 32.
    const MXFP8: Self = Self { weights: 1, scaled: 32, zeroed: 0 };

    fn stored(self, count: u128) -> u128 {
        count / self.weights
            + count.checked_div(self.scaled).unwrap_or(0)
            + count.checked_div(self.zeroed).unwrap_or(0)
    }
}

/// Elements in the files: of the model, its draft layers and its scales. If that is not one per
/// parameter, a sentence explains why.
pub(super) fn stored(config: &Node, count: &Count) -> (u128, Option<String>) {
    let Some(quantization) = quantization::config(config) else {
        return (count.elements.total() + count.drafts.total(), None);
    };
    let layers = count.layers.len() as u128;
    // From the most exact statement to the most general one: by module, by type of experts, by
    // method.
    let of_model = |class: Class| {
        listed(quantization, class)
            .or_else(|| fp4_experts(config, class))
            .or_else(|| by_class(quantization, class, layers))
    };
    let of_drafts = |class: Class| {
        if drafts_are_left_out(quantization, layers) {
            fp4_experts(config, class)
        } else {
            of_model(class)
        }
    };
    let mut packed: Vec<&str> = Vec::new();
    let mut sum = |elements: &Elements, packing: &dyn Fn(Class) -> Option<Packing>| -> u128 {
        let stored = elements.iter().map(|(class, count)| {
            // Classes without a packing are stored as they are.
            let packing = packing(class).unwrap_or(Packing::WHOLE);
            if packing.weights > 1 && !packed.contains(&class.as_str()) {
                packed.push(class.as_str());
            }
            packing.stored(count)
        });
        stored.sum()
    };
    let total = sum(&count.elements, &of_model) + sum(&count.drafts, &of_drafts);
    let text = (!packed.is_empty()).then(|| format!("{} packed", packed.join(", ")));
    (total, text)
}

/// DeepSeek V4 declares it outside of the quantization.
fn fp4_experts(config: &Node, class: Class) -> Option<Packing> {
    let is_fp4 = config.get("expert_dtype").and_then(Node::as_str) == Some("fp4");
    (is_fp4 && class == Class::Experts).then_some(Packing::MXFP4)
}

/// What ModelOpt lists for a module of a class.
fn listed(config: &Node, class: Class) -> Option<Packing> {
    // The first module of a class stands for all: ModelOpt quantizes a class in one way.
    let mut modules = config.get("quantized_layers")?.entries();
    let module = modules.find(|module| class_of(&module.key) == Some(class))?;
    by_name(module.node.get("quant_algo")?.as_str()?)
}

/// How the matrices of a class are stored by the method as a whole; none when they are not changed.
fn by_class(config: &Node, class: Class, layers: u128) -> Option<Packing> {
    let is_matrix = matches!(class, Class::Attention | Class::FeedForward | Class::Experts);
    if !is_matrix || is_left_out(config, class, layers) {
        return None;
    }
    by_method(config)
}

/// The packing of an algorithm of ModelOpt.
fn by_name(name: &str) -> Option<Packing> {
    let name = name.to_uppercase();
    // The longer names first: each of them contains `FP4` or `FP8`, too.
    if name.contains("NVFP4") {
        Some(Packing::NVFP4)
    } else if name.contains("MXFP4") {
        Some(Packing::MXFP4)
    } else if name.contains("MXFP8") {
        Some(Packing::MXFP8)
    } else if name.contains("FP8") {
        Some(Packing::WHOLE)
    } else {
        None
    }
}

/// The packing of the method as a whole.
fn by_method(config: &Node) -> Option<Packing> {
    let number = |keys: &[&str]| {
        let found = keys.iter().find_map(|key| config.get(key)?.as_int());
        found.and_then(|number| u128::try_from(number).ok())
    };
    // Groups differ in the modules that they name, not in how weights are packed.
    let weights = config
        .get("config_groups")
        .into_iter()
        .flat_map(Node::entries)
        .find_map(|group| group.node.get("weights"));
    // 0 where no group size is set: scales per channel are too few to count.
    let group = weights
        .and_then(|weights| weights.get("group_size")?.as_int())
        .and_then(|size| u128::try_from(size).ok())
        .or_else(|| number(&["group_size", "q_group_size"]))
        .unwrap_or(0);
    let method = quantization::method(config).and_then(Node::as_str).unwrap_or_default();
    match quantization::finest(config).0? {
        "mxfp4" => Some(Packing::MXFP4),
        "nvfp4" => Some(Packing::NVFP4),
        "fp8" => {
            let block = config.get("weight_block_size").map(Node::items).unwrap_or_default();
            let size = block.iter().filter_map(Node::as_int).filter_map(|n| u128::try_from(n).ok());
            // A scale for each block of the two sizes; per tensor there is one, which does not
            // count.
            let block = if block.is_empty() { 0 } else { size.take(2).product() };
            Some(Packing { scaled: block, ..Packing::WHOLE })
        }
        "awq" | "gptq" => {
            let bits = number(&["bits", "w_bit"]).filter(|bits| matches!(bits, 2..=8)).unwrap_or(4);
            // Words of 32 bits: eight weights of 4 bits, or four of 8.
            let weights = 32 / bits;
            Some(Packing { weights, scaled: group, zeroed: weights * group })
        }
        // Eight in a word, where they are packed; bitsandbytes packs two in a byte.
        "int4" if method == "bitsandbytes" => Some(Packing { weights: 2, scaled: 64, zeroed: 0 }),
        "int4" => Some(Packing { weights: 8, scaled: group, zeroed: 0 }),
        _ => Some(Packing::WHOLE),
    }
}

/// Names of modules that stay as they are.
fn left_out(config: &Node) -> impl Iterator<Item = &str> {
    const KEYS: [&str; 4] =
        ["ignore", "exclude_modules", "modules_to_not_convert", "ignored_layers"];
    KEYS.into_iter()
        .filter_map(|key| config.get(key))
        .flat_map(Node::items)
        .filter_map(Node::as_str)
}

/// Whether the matrices of a class are not quantized: a pattern excludes them in all layers, or
/// names exclude at least an eighth of the layers. Fewer excluded layers are exceptions, such as
/// the first and the last one.
fn is_left_out(config: &Node, class: Class, layers: u128) -> bool {
    let named = |name: &&str| class_of(name) == Some(class);
    let (for_all, single): (Vec<&str>, Vec<&str>) = left_out(config)
        .filter(named)
        .partition(|name| !name.contains(|c: char| c.is_ascii_digit()));
    // A name without a number is a pattern for all layers.
    !for_all.is_empty() || single.len() as u128 * 8 >= layers.max(1)
}

/// Whether layers for drafting stay as they are: by name, or by a number behind the last layer.
fn drafts_are_left_out(config: &Node, layers: u128) -> bool {
    left_out(config).any(|name| {
        name.contains("mtp")
            || name.trim_end_matches(['.', '*']).rsplit_once("layers.").is_some_and(
                |(_, number)| number.parse::<u128>().is_ok_and(|number| number >= layers),
            )
    })
}

/// The class of a module's matrices, by its name or pattern.
fn class_of(name: &str) -> Option<Class> {
    // Regular expressions escape the dots of a module's name.
    let name = name.replace('\\', "");
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_norm_or_gate =
        ["norm", "indexer", "e_score", "router"].iter().any(|word| name.contains(word))
            || last == "gate"
            || last.ends_with("_gate");
    if is_norm_or_gate {
        None
    } else if name.contains("shared_expert") {
        Some(Class::FeedForward)
    } else if name.contains("experts") {
        Some(Class::Experts)
    } else if name.contains("attn") || name.contains("attention") {
        Some(Class::Attention)
    } else if name.contains("mlp") {
        Some(Class::FeedForward)
    } else if name.ends_with("lm_head") || name == "head" {
        Some(Class::Head)
    } else if ["visual", "vision", "projector"].iter().any(|word| name.contains(word)) {
        Some(Class::Vision)
    } else {
        None
    }
}
