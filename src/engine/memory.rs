//! The memory that an engine has left for its KV cache, on one device.
//!
//! In: an engine with its release, a device, its weights, the dimensions of the model. Out: an
//! interval with its middle, every term, and the number of public start-up logs behind it. The
//! constants are in a table per range of releases; `examples/engine_memory.rs` fits them and prints
//! the errors, and the tests of `logs.rs` fail when an error grows.
//!
//! vLLM gives the rest of its share after the peak of a trial run (`gpu_worker.py`,
//! `determine_available_memory`), of which tensor parallelism does not divide the sampler's part.
//! SGLang's share is of the memory before loading, TensorRT-LLM's of the memory after it.

use super::identity::Engine;
use crate::quantity::Dimensions;

/// How the trial run samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// PyTorch's sorting sampler, with copies of all logits.
    Sorting,
    /// A sampler without copies.
    Fused,
}

/// What is known of a server when it starts.
#[derive(Clone, Debug)]
pub struct Load {
    /// The engine.
    pub engine: Engine,
    /// Its release; nothing when the tag shows none.
    pub version: Option<[u32; 3]>,
    /// The product of the device, as far as it is known.
    pub product: String,
    /// Memory of one device as the driver reports it, in GiB.
    pub memory: f64,
    /// Devices that split each layer.
    pub tensor: u64,
    /// Weights on one device, in GiB.
    pub weights: f64,
    /// Share of the memory; nothing for the default.
    pub share: Option<f64>,
    /// Concurrent requests; nothing for the default.
    pub sequences: Option<u64>,
    /// Tokens of a step; nothing for the default.
    pub tokens: Option<u64>,
    /// Tokens of a request of full length.
    pub context: Option<u64>,
    /// Whether prompts are computed in parts; nothing for the default.
    pub chunked: Option<bool>,
    /// No graphs are captured.
    pub eager: bool,
    /// The sampler, when it is known.
    pub sampler: Option<Sampler>,
    /// The first generation of vLLM's core, when it is known.
    pub first_generation: Option<bool>,
    /// Tokens of images in a step.
    pub images: u64,
    /// Bytes of the cache, when a flag sets them, in GiB.
    pub fixed: Option<f64>,
}

/// One term of the sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// What it is.
    pub what: &'static str,
    /// GiB on one device.
    pub gib: f64,
}

/// The cache of one device, in GiB.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The middle; less than 0 when the weights leave nothing.
    pub middle: f64,
    /// The middle where what is not known (release, image, product) is as bad as it can be: what
    /// is promised.
    pub at_least: f64,
    /// The same where it is as good as it can be: beyond it a server is refused.
    pub at_most: f64,
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
    /// The share that was used.
    pub share: f64,
    /// The terms that are taken from the share.
    pub terms: Vec<Term>,
    /// Logs behind the constants; 0 when none was measured.
    pub logs: u32,
    /// The releases of these logs.
    pub releases: &'static str,
}

impl Estimate {
    /// An interval around a middle that nothing unknown moves, by weights of this many GiB; without
    /// logs.
    fn within(middle: f64, half: f64, share: f64, weights: f64) -> Self {
        Self {
            middle,
            at_least: middle,
            at_most: middle,
            low: middle - half,
            high: middle + half,
            share,
            terms: vec![Term { what: "weights", gib: weights }],
            logs: 0,
            releases: "",
        }
    }
}

/// The constants of a range of releases.
#[derive(Clone, Copy, Debug)]
struct Releases {
    text: &'static str,
    /// First release, and the first that no longer belongs to it.
    from: [u32; 2],
    until: [u32; 2],
    /// Default shares; two where the boundary is unsure.
    shares: &'static [f64],
    /// The samplers of the project's images; two where it depends on the image.
    samplers: &'static [Sampler],
    /// GiB that graphs are estimated with before the cache is sized.
    graphs: f64,
    /// GiB that were not counted later.
    besides: f64,
    /// The first generation of the core, whose prompts are not computed in parts.
    first_generation: bool,
    /// Public logs.
    logs: u32,
}

/// The table of vLLM.
static VLLM: [Releases; 6] = [
    Releases {
        text: "0.2–0.5",
        from: [0, 0],
        until: [0, 6],
        shares: &[0.90],
        samplers: &[Sampler::Sorting],
        graphs: 0.0,
        besides: 0.5,
        first_generation: true,
        logs: 2,
    },
    Releases {
        text: "0.6–0.7",
        from: [0, 6],
        until: [0, 8],
        shares: &[0.90],
        samplers: &[Sampler::Sorting],
        graphs: 0.0,
        besides: 0.0,
        first_generation: true,
        logs: 9,
    },
    Releases {
        text: "0.8–0.10",
        from: [0, 8],
        until: [0, 11],
        shares: &[0.90],
        samplers: &[Sampler::Fused, Sampler::Sorting],
        graphs: 0.0,
        besides: 0.0,
        first_generation: false,
        logs: 23,
    },
    Releases {
        text: "0.11–0.15",
        from: [0, 11],
        until: [0, 16],
        shares: &[0.90],
        samplers: &[Sampler::Sorting],
        graphs: 0.0,
        besides: 0.0,
        first_generation: false,
        logs: 13,
    },
    Releases {
        text: "0.16–0.20",
        from: [0, 16],
        until: [0, 21],
        shares: &[0.90, 0.92],
        samplers: &[Sampler::Fused],
        graphs: 0.0,
        besides: 0.0,
        first_generation: false,
        logs: 6,
    },
    Releases {
        text: "0.21–0.27",
        from: [0, 21],
        until: [u32::MAX, 0],
        shares: &[0.92],
        samplers: &[Sampler::Fused],
        graphs: 0.25,
        besides: 0.0,
        first_generation: false,
        logs: 9,
    },
];

/// The constants of all releases of vLLM, fitted to the logs.
#[derive(Clone, Copy, Debug)]
pub struct Constants {
    /// GiB of the device that no process gets.
    pub driver: f64,
    /// Their growth with the memory of the device.
    pub driver_part: f64,
    /// Bytes of a logit in the trial run of the sorting sampler.
    pub sorting: f64,
    /// Bytes of a logit otherwise.
    pub logit: f64,
    /// Part of the activations of a dense layer that is alive at the peak.
    pub dense: f64,
    /// The same of a mixture.
    pub mixture: f64,
    /// GiB outside of PyTorch on one device.
    pub alone: f64,
    /// The same on each of several devices.
    pub together: f64,
    /// The same with large buffers of NCCL.
    pub linked: f64,
    /// The same on a device that shares the memory of the host.
    pub unified: f64,
}

/// The constants in use.
pub static CONSTANTS: Constants = Constants {
    driver: 0.2,
    driver_part: 0.0037,
    sorting: 39.8,
    logit: 7.0,
    dense: 0.82,
    mixture: 0.75,
    alone: 0.05,
    together: 0.25,
    linked: 2.1,
    unified: 3.0,
};

/// Half of the width of an interval in GiB: 90% of the logs are inside. Models that read images
/// have towers with memory of their own.
const HALF: f64 = 0.9;
const HALF_OF_IMAGES: f64 = 3.0;
const HALF_OF_UNIFIED: f64 = 4.0;

/// Memory of a device from which vLLM takes more requests and tokens by default, in GiB.
const LARGE: f64 = 70.0;

const GIB: f64 = 1_073_741_824.0;

/// The largest default share of an engine in the releases that it may be of.
pub fn largest_share(engine: Engine, version: Option<[u32; 3]>) -> f64 {
    if engine != Engine::VLlm {
        return 1.0;
    }
    let version = version.map(|[major, minor, _]| [major, minor]);
    let of = |range: &&Releases| {
        // An unknown release may be any: the largest share of all is still a bound.
        version.is_none_or(|release| release >= range.from && release < range.until)
    };
    let shares = VLLM.iter().filter(of).flat_map(|range| range.shares);
    shares.copied().fold(0.0, f64::max)
}

impl Load {
    /// The memory that is left for the cache; nothing for an engine without a formula.
    pub fn estimate(&self, model: &Dimensions) -> Option<Estimate> {
        self.estimate_with(model, &CONSTANTS)
    }

    /// The same with other constants; for fitting them.
    pub fn estimate_with(&self, model: &Dimensions, constants: &Constants) -> Option<Estimate> {
        let mut found = match self.engine {
            Engine::VLlm => self.vllm(model, constants),
            Engine::SGLang => self.sglang(),
            Engine::TensorRtLlm => self.after_loading(0.9, 0.5 + 1.6, 1.2, 3, "0.8–1.x"),
            Engine::LmDeploy => self.after_loading(0.8, 1.5, 3.0, 0, ""),
            Engine::Tgi => self.plain(1.0, 3.0, 5.0),
            Engine::LlamaCpp => return None,
        };
        // Cache bytes that a flag sets are used as they are, whatever memory is left.
        if let Some(fixed) = self.fixed {
            found.middle = fixed;
            (found.at_least, found.at_most) = (fixed, fixed);
            found.low = fixed;
            found.high = fixed;
        }
        Some(found)
    }

    /// The range of releases that it belongs to, and the logs behind its constants.
    pub fn releases_of(&self) -> (&'static str, u32) {
        match self.releases() {
            [releases] => (releases.text, releases.logs),
            _ => ("unknown", 0),
        }
    }

    fn is_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.product.contains(name))
    }

    fn is_unified(&self) -> bool {
        self.is_of(&["GB10", "Thor", "Orin"])
    }

    /// The ranges of releases that it may be, the oldest first.
    fn releases(&self) -> &'static [Releases] {
        // An unknown tag is not taken for a release before 0.11: such images are old.
        let Some([major, minor, _]) = self.version else { return &VLLM[3..] };
        let release = [major, minor];
        let at = VLLM.iter().position(|range| release >= range.from && release < range.until);
        at.map_or(&VLLM[3..], |at| &VLLM[at..=at])
    }

    fn vllm(&self, model: &Dimensions, constants: &Constants) -> Estimate {
        let ranges = self.releases();
        let mut scenes: Vec<(f64, f64, Vec<Term>, &Releases)> = Vec::new();
        // From the newest range to the oldest: the first scene is the middle.
        for range in ranges.iter().rev() {
            let is_pinned = self.version.is_some_and(|[_, minor, _]| minor != 20);
            let defaults = match range.shares {
                // 0.20 changed the default within its candidates.
                [first, _] if is_pinned => std::slice::from_ref(first),
                all => all,
            };
            let share = self.share.map(|share| vec![share]);
            for share in share.unwrap_or_else(|| defaults.to_vec()) {
                let samplers = self.sampler.map(|sampler| vec![sampler]);
                for sampler in samplers.unwrap_or_else(|| range.samplers.to_vec()) {
                    for is_large in self.sizes() {
                        let terms = self.terms(model, range, sampler, is_large, constants);
                        let taken: f64 = terms.iter().map(|term| term.gib).sum();
                        scenes.push((
                            // The share is of the whole device: what others use on it is not
                            // subtracted.
                            share * (self.memory - self.driver(constants)) - taken,
                            share,
                            terms,
                            range,
                        ));
                    }
                }
            }
        }
        // What is not known spans the scenes; the interval is their hull and the spread of the logs
        // around it.
        let low = scenes.iter().map(|scene| scene.0).fold(f64::INFINITY, f64::min);
        let high = scenes.iter().map(|scene| scene.0).fold(f64::NEG_INFINITY, f64::max);
        let half = if self.is_unified() {
            HALF_OF_UNIFIED
        } else if model.is_multimodal {
            HALF_OF_IMAGES
        } else {
            HALF
        };
        let logs = ranges.iter().map(|range| range.logs).sum();
        let releases = if ranges.len() > 1 { "0.11–0.27" } else { ranges[0].text };
        // Not removed in order: the rest of the scenes is not used any more.
        let (middle, share, terms, _) = scenes.swap_remove(0);
        Estimate {
            middle,
            at_least: low,
            at_most: high,
            low: low - half,
            high: high + half,
            share,
            terms,
            logs,
            releases,
        }
    }

    /// Whether the device counts as a large one: a large device of an unknown product may be an
    /// A100, which does not (`vllm/engine/arg_utils.py`, `get_batch_defaults`).
    fn sizes(&self) -> Vec<bool> {
        let is_large = self.memory >= LARGE;
        match (is_large, self.product.is_empty()) {
            (false, _) => vec![false],
            (true, false) => vec![!self.is_of(&["A100"])],
            // With both numbers set the default of the device does not matter: one scene is enough.
            (true, true) if self.sequences.is_some() && self.tokens.is_some() => vec![true],
            (true, true) => vec![true, false],
        }
    }

    fn driver(&self, constants: &Constants) -> f64 {
        // ROCm gives a process the whole device.
        if self.is_of(&["MI2", "MI3", "RX "]) {
            return 0.1;
        }
        constants.driver + constants.driver_part * self.memory
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn terms(
        &self,
        model: &Dimensions,
        range: &Releases,
        sampler: Sampler,
        is_large: bool,
        constants: &Constants,
    ) -> Vec<Term> {
        let first = self.first_generation.unwrap_or(range.first_generation);
        // The first generation has the same defaults on every device.
        let is_large = is_large && !first;
        let chunked = self.chunked.unwrap_or(!first);
        let sequences = self.sequences.unwrap_or(if is_large { 1024 } else { 256 }) as f64;
        let tokens = self.tokens.unwrap_or_else(|| match (chunked, is_large) {
            // Without chunks a step holds a whole prompt, at least 2048 tokens.
            (false, _) => self.context.unwrap_or(2048).max(2048),
            (true, true) => 8192,
            (true, false) => 2048,
        }) as f64;
        let tensor = self.tensor as f64;
        let (hidden, vocabulary) = (model.hidden as f64, model.vocabulary as f64);
        let per_token = if let Some(experts) = model.experts {
            let (chosen, width) = (experts.chosen as f64, experts.width as f64);
            // Bytes at two per number: gate, up and their product for the chosen experts, then the
            // hidden states.
            let total = 2.0 * chosen * (3.0 * width / tensor + hidden) + 24.0 * hidden;
            constants.mixture * total
        } else {
            let width = model.intermediate.unwrap_or(0) as f64;
            constants.dense * 8.0 * (width / tensor + hidden)
        };
        // The first generation samples by sorting, but not in the trial run of chunked prompts.
        let sorts = match (first, sampler) {
            (true, _) => !chunked,
            (false, sampler) => sampler == Sampler::Sorting,
        };
        // A model that returns vectors has no logits.
        let (sorting, logits) = match (model.is_pooling, sorts) {
            (true, _) => (0.0, 0.0),
            (false, true) => (constants.sorting, constants.logit),
            (false, false) => (0.0, constants.logit),
        };
        // The sampler runs after the layers, so that the peak is the larger of the two, not the
        // sum.
        let activations = (sorting * sequences * vocabulary)
            .max(logits * sequences * vocabulary + per_token * tokens);
        let outside = if self.is_unified() {
            constants.unified
        } else if self.tensor >= 4 && self.is_of(&["H100", "H200"]) {
            constants.linked
        } else if self.tensor > 1 {
            constants.together
        } else {
            constants.alone
        };
        let graphs = if self.eager { 0.0 } else { range.graphs };
        let term = |what, gib| Term { what, gib };
        let mut terms = vec![
            term("weights", self.weights),
            term("activations", activations / GIB),
            term("outside of PyTorch", outside + range.besides),
        ];
        if graphs > 0.0 {
            terms.push(term("graphs", graphs));
        }
        if model.is_multimodal && !model.is_pooling && self.images > 0 {
            // Two bytes for each number of an image token's hidden state.
            terms.push(term("images", self.images as f64 * hidden * 2.0 / GIB));
        }
        terms
    }

    fn sglang(&self) -> Estimate {
        let is_npu = self.is_of(&["Ascend"]);
        let reserved = match (is_npu, self.tensor >= 8) {
            (true, _) => 3.1,
            (false, true) => 1.6,
            (false, false) => 1.05,
        };
        let share = self.share.unwrap_or(match self.tensor {
            16.. => 0.79,
            8.. => 0.81,
            4.. => 0.85,
            2.. => 0.87,
            _ => 0.88,
        });
        let middle = share * (self.memory - reserved) - self.weights;
        // The default depends on more than the number of devices.
        let half = if self.share.is_some() { HALF } else { HALF + 0.04 * self.memory };
        let logs = if is_npu { 14 } else { 6 };
        Estimate {
            logs,
            releases: "0.4–0.5",
            ..Estimate::within(middle, half, share, self.weights)
        }
    }

    /// An engine whose share is of the memory that is free after loading.
    fn after_loading(
        &self,
        default: f64,
        reserved: f64,
        half: f64,
        logs: u32,
        releases: &'static str,
    ) -> Estimate {
        let share = self.share.unwrap_or(default);
        let middle = share * (self.memory - reserved - self.weights);
        // The term is what the weights take from the cache, which is their share only.
        Estimate { logs, releases, ..Estimate::within(middle, half, share, share * self.weights) }
    }

    /// An engine without logs: the share without the weights, less an allowance.
    fn plain(&self, default: f64, allowance: f64, half: f64) -> Estimate {
        let share = self.share.unwrap_or(default);
        let middle = share * self.memory - self.weights - allowance;
        Estimate::within(middle, half, share, self.weights)
    }
}

#[cfg(test)]
pub(super) mod tests;
