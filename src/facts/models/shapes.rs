//! The layers of published models: configs by architecture and number of parameters.
//!
//! In: architecture and parameters of a published model, which all models of one shape share,
//! fine-tuned and quantized ones included. Out: the cache and the dimensions of its layers.
//! `shapes.tsv` has a line per shape, sorted: architecture, parameters, and of the config the keys
//! on which count, cache and dimensions depend. A look-up parses one line. A test counts every line.

use super::{Facts, of_config};
use crate::quantity::{Dimensions, KvCache, ParamCount};
use crate::yaml::{Node, Origin};

const TABLE: &str = include_str!("shapes.tsv");

/// Published counts of one shape differ by scales of quantized weights; two shapes of a family
/// differ by more.
const TOLERANCE: f64 = 0.004;

/// The cache and the dimensions of a published model.
pub(super) fn of(architecture: &str, parameters: ParamCount) -> Option<(KvCache, Dimensions)> {
    let wanted = parameters.as_f64();
    // The config of a line is parsed only where architecture and count fit.
    let rows = TABLE.lines().filter_map(|line| {
        let (line, rest) = line.split_once('\t')?;
        if line != architecture {
            return None;
        }
        let (count, config) = rest.split_once('\t')?;
        #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
        let off = (count.parse::<u64>().ok()? as f64 / wanted - 1.0).abs();
        (off < TOLERANCE).then_some((off, config))
    });
    // The nearest count: sizes of one family may be within the tolerance of each other.
    let (_, config) = rows.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let facts = read(config)?;
    Some((facts.cache?, facts.dimensions?))
}

fn read(config: &str) -> Option<Facts> {
    let config = serde_json::from_str(config).ok()?;
    let config = Node::from_json(&config, Origin::Derived(&super::FACTS));
    Some(of_config(&config, None, None).value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A config of a shape counts to the parameters of its line, so a wrong width is found.
    #[test]
    fn every_shape_counts_to_its_parameters_and_has_a_cache() {
        let mut before: Option<(&str, u64)> = None;
        for line in TABLE.lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            let &[architecture, count, config] = cells.as_slice() else {
                panic!("three columns: {line}")
            };
            let count: u64 = count.parse().expect("a number of parameters");
            assert!(before.is_none_or(|before| before < (architecture, count)), "{line}");
            before = Some((architecture, count));
            let facts = read(config).unwrap_or_else(|| panic!("{line}"));
            let counted = facts.parameters.unwrap_or_else(|| panic!("{line}")).0;
            // Counts of DeepSeek V3 with its layer for drafting are published, too.
            let tolerance = if counted > 600_000_000_000 { 0.03 } else { TOLERANCE };
            #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
            let off = (counted as f64 / count as f64 - 1.0).abs();
            assert!(off < tolerance, "{architecture} {count}: {counted}");
            let found = of(architecture, ParamCount(count));
            let (cache, dimensions) = found.unwrap_or_else(|| panic!("{architecture} {count}"));
            assert!(!cache.layers.is_empty() && dimensions.vocabulary > 0, "{line}");
        }
    }

    #[test]
    fn fine_tuned_models_have_the_layers_of_their_base() {
        for (architecture, parameters, layers, heads, bytes) in [
            ("LlamaForCausalLM", 8_030_261_248, 32, 32, 131_072),
            ("LlamaForCausalLM", 8_030_326_784, 32, 32, 131_072),
            ("Qwen2ForCausalLM", 7_615_616_512, 28, 28, 57_344),
            ("Qwen3ForCausalLM", 8_190_735_360, 36, 32, 147_456),
        ] {
            let (cache, dimensions) =
                of(architecture, ParamCount(parameters)).expect("a known shape");
            assert_eq!((dimensions.layers, dimensions.heads), (layers, heads), "{architecture}");
            let layout = crate::quantity::Layout { width: 2, ways: 1 };
            assert_eq!(cache.per_token(layout), bytes, "{architecture}");
        }
        assert!(of("LlamaForCausalLM", ParamCount(5_000_000_000)).is_none());
    }
}
