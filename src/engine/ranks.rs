//! How many ranks a server has, and how many of them run in one pod. A rank is a process with one
//! device.
//!
//! | engine | ranks |
//! | --- | --- |
//! | vLLM | tensor × pipeline × context parallel (`vllm/config/parallel.py`, `world_size`) × data-parallel copies of the pod |
//! | SGLang | tensor × pipeline; data parallelism multiplies only without `--enable-dp-attention` (`server_args.py`) |
//! | TensorRT-LLM | tensor × pipeline × context parallel (`tensorrt_llm/mapping.py`, `Mapping`) |
//! | LMDeploy | tensor; with `--dp` not read |
//! | TGI | shards; without a number all devices of the pod (`launcher/src/main.rs`, `find_num_shards`) |
//! | llama.cpp | no ranks: one process uses all devices |

use super::identity::Engine;
use super::setting::{Known, Setting};
use super::settings::EngineSettings;

/// One factor of a number of ranks.
#[derive(Clone, Debug)]
pub struct Factor {
    /// What it is: `tensor parallelism`.
    pub what: &'static str,
    /// Its number and where it was set.
    pub setting: Setting<u64>,
}

/// The ranks of a server.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// Devices that hold one copy of the weights.
    pub copy: u64,
    /// Ranks of all pods of the server, as far as one pod's command line shows.
    pub all: u64,
    /// Pods that the ranks are spread over, when the command line sets it.
    pub nodes: Option<Setting<u64>>,
    /// The factors that are not 1, or the tensor parallelism when all are 1.
    pub factors: Vec<Factor>,
    /// The ranks of one pod are counted, whatever the number of pods: copies that are local.
    pub is_local: bool,
    /// A factor is unknown: there are at least so many ranks.
    pub is_least: bool,
}

impl Ranks {
    /// The ranks of a server; nothing when no factor is known or the engine has no ranks.
    pub fn of(settings: &EngineSettings) -> Option<Self> {
        let engine = settings.engine;
        let mut is_least = false;
        let mut one = |definitions: &Known<u64>| {
            definitions.or(1, engine).unwrap_or_else(|| {
                is_least = true;
                // 1 is the least that an unknown factor can be.
                Setting { value: 1, from: "unknown".into(), origin: None }
            })
        };
        let factor = |what, setting| Factor { what, setting };
        let mut factors = Vec::new();
        let mut is_local = false;
        let tensor = one(&settings.tensor);
        // Where a number of nodes may be set, nothing is known of one pod.
        let nodes = match engine {
            Engine::VLlm | Engine::SGLang | Engine::LmDeploy if settings.may_set_more => {
                Some(settings.nodes.or(1, engine)?)
            }
            Engine::VLlm | Engine::SGLang | Engine::LmDeploy => settings.nodes.set().cloned(),
            Engine::TensorRtLlm | Engine::Tgi | Engine::LlamaCpp => None,
        };
        match engine {
            Engine::VLlm => {
                factors.push(factor("tensor parallelism", tensor));
                factors.push(factor("pipeline parallelism", one(&settings.pipeline)));
                factors.push(factor("context parallelism", one(&settings.context_parallel)));
                // A headless node, or one with a rank of its own, runs one copy: the others are in
                // other pods.
                let is_single = settings.headless.set().is_some_and(|headless| headless.value)
                    || settings.data_rank.set().is_some();
                // The number of local copies counts before the number of all copies.
                if let Some(local) = settings.data_local.set() {
                    factors.push(factor("local data parallelism", local.clone()));
                    is_local = true;
                } else if is_single {
                    is_local = true;
                } else {
                    let data = one(&settings.data);
                    // With Ray or another backend copies may run on other nodes: how many are here
                    // is unknown.
                    let is_spread = !settings.data_backend.is_default()
                        || matches!(settings.data_local, Known::Unknown)
                        || matches!(settings.headless, Known::Unknown);
                    if data.value > 1 && is_spread {
                        is_least = true;
                    } else {
                        factors.push(factor("data parallelism", data));
                    }
                }
            }
            Engine::SGLang => {
                factors.push(factor("tensor parallelism", tensor));
                factors.push(factor("pipeline parallelism", one(&settings.pipeline)));
                let data = one(&settings.data);
                match settings.data_attention.or(false, engine) {
                    // With data-parallel attention the copies share the tensor-parallel ranks.
                    Some(divides) if divides.value => {}
                    Some(_) => factors.push(factor("data parallelism", data)),
                    None => is_least |= data.value > 1,
                }
            }
            Engine::TensorRtLlm => {
                factors.push(factor("tensor parallelism", tensor));
                factors.push(factor("pipeline parallelism", one(&settings.pipeline)));
                factors.push(factor("context parallelism", one(&settings.context_parallel)));
            }
            Engine::LmDeploy => {
                if one(&settings.data).value > 1 {
                    return None;
                }
                factors.push(factor("tensor parallelism", tensor));
            }
            // Without a number of shards it takes all devices that it sees: nothing to multiply.
            Engine::Tgi => factors.push(factor("shards", settings.tensor.set()?.clone())),
            Engine::LlamaCpp => return None,
        }
        // Nothing is stated and something unknown: a product of defaults would be a claim about
        // nothing.
        if is_least && factors.iter().all(|factor| factor.setting.origin.is_none()) {
            return None;
        }
        let mut all = 1_u64;
        // Copies of data parallelism hold the whole model each: what one copy needs leaves them
        // out.
        let mut copy = 1_u64;
        for factor in &factors {
            all = all.checked_mul(factor.setting.value)?;
            if !factor.what.contains("data") {
                copy = copy.checked_mul(factor.setting.value)?;
            }
        }
        // Factors of 1 explain nothing; one is kept so that the arithmetic is not empty.
        if factors.iter().any(|factor| factor.setting.value > 1) {
            factors.retain(|factor| factor.setting.value > 1);
        } else {
            factors.truncate(1);
        }
        let nodes = nodes.filter(|nodes| nodes.value > 1);
        Some(Self { copy, all, nodes, factors, is_local, is_least })
    }

    /// The product in words: `tensor parallelism 4 × pipeline parallelism 2`.
    pub fn arithmetic(&self) -> String {
        let factors: Vec<String> = self
            .factors
            .iter()
            .map(|factor| format!("{} {}", factor.what, factor.setting.value))
            .collect();
        factors.join(" × ")
    }

    /// The place of the first factor that is set.
    pub fn origin(&self) -> Option<crate::yaml::Origin> {
        self.factors.iter().find_map(|factor| factor.setting.origin)
    }
}
