//! The flags of each engine, as data: every spelling, the form of the value, the environment
//! variable that the engine reads in its place, and what the flag sets.
//!
//! | engine | source |
//! | --- | --- |
//! | vLLM | `vllm/engine/arg_utils.py`, `EngineArgs.add_cli_args`; `vllm/entrypoints/cli/serve.py` |
//! | SGLang | `python/sglang/srt/server_args.py`, `ServerArgs.add_cli_args` |
//! | TensorRT-LLM | `tensorrt_llm/commands/serve.py`, `serve` |
//! | LMDeploy | `lmdeploy/cli/serve.py`, `add_parser_api_server`; `lmdeploy/cli/utils.py`, `ArgumentHelper` |
//! | TGI | `launcher/src/main.rs`, `Args` |
//! | llama.cpp | `common/arg.cpp`, `common_params_parser_init` |

use super::identity::Engine;
use ecow::{EcoString, eco_format};

/// What a flag sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Devices that split each layer.
    Tensor,
    /// Devices that split the layers among them.
    Pipeline,
    /// Copies of the model, or parts of the requests with data-parallel attention.
    Data,
    /// The copies of this pod.
    DataLocal,
    /// The number of the one copy of this pod.
    DataRank,
    /// What runs the copies.
    DataBackend,
    /// Devices that split the context.
    ContextParallel,
    /// What starts the ranks.
    Executor,
    /// Nodes of one server.
    Nodes,
    /// Experts are split over all ranks.
    Expert,
    /// Requests, not heads, are split within the tensor-parallel group.
    DataAttention,
    /// The pod has ranks and no API.
    Headless,
    /// Tokens of a request of full length.
    Context,
    /// Concurrent requests.
    Sequences,
    /// Tokens of one step.
    BatchedTokens,
    /// Share of the memory of a device.
    Share,
    /// Bytes of the cache, in place of a share.
    CacheBytes,
    /// Type of an element of the cache.
    CacheType,
    /// How the weights are quantized.
    Quantization,
    /// Type of an element of the weights that are not quantized.
    WeightsType,
    /// Adapters are served beside the model.
    Lora,
    /// No graphs are captured.
    Eager,
    /// Prompts are computed in parts.
    Chunked,
    /// A second model, or heads, that propose tokens.
    Speculative,
    /// Weights that stay in the memory of the host.
    Offload,
    /// A file with more settings.
    File,
    /// The model.
    Model,
    /// Values that replace those of the model's config.
    Overrides,
    /// The format of the files that are loaded.
    LoadFormat,
    /// Blocks of the cache, in place of those that fit.
    Blocks,
    /// Tokens of a block of the cache.
    BlockSize,
    /// Tokens of the cache at most.
    CacheTokens,
    /// Adapters on the devices at once.
    Adapters,
    /// The largest rank of an adapter.
    AdapterRank,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// None: the flag alone sets it.
    Switch,
    /// None: the flag alone unsets it.
    Off,
    /// A whole number.
    Int,
    /// A number of tokens with a unit, or `auto`.
    Tokens,
    /// A number.
    Float,
    /// Any text.
    Text,
}

/// One flag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    pub(super) field: Field,
    pub(super) form: Form,
    /// Every spelling, the one of the documentation first.
    pub(super) names: &'static [&'static str],
    /// The variable that sets the same, if the engine reads one.
    pub(super) variable: &'static str,
    /// The last release without it that was looked at, and the first one.
    absent: (Release, Release),
    /// The last release that reads digits only, where later ones read units.
    digits: Release,
    /// The least number that is taken, whether it is taken itself, and the first release that was seen to
    /// refuse less.
    least: Option<(f64, bool, Release)>,
    /// The largest number that is taken.
    most: Option<f64>,
}

/// Major, minor and patch number.
pub(super) type Release = [u32; 3];

impl Flag {
    /// No release up to this one, that was looked at, has it.
    const fn after(mut self, release: Release) -> Self {
        self.absent.0 = release;
        self
    }

    /// No release from this one on has it.
    const fn before(mut self, release: Release) -> Self {
        self.absent.1 = release;
        self
    }

    /// Releases up to this one read digits only.
    const fn digits_until(mut self, release: Release) -> Self {
        self.digits = release;
        self
    }

    /// Whether a release is known not to have it: between the releases that were looked at nothing is
    /// assumed.
    pub(super) fn is_absent(&self, release: Release) -> bool {
        release <= self.absent.0 || release >= self.absent.1
    }

    /// Releases from this one on refuse less than this number.
    const fn at_least(mut self, least: f64, from: Release) -> Self {
        self.least = Some((least, true, from));
        self
    }

    /// Releases from this one on refuse this number and less.
    const fn above(mut self, least: f64, from: Release) -> Self {
        self.least = Some((least, false, from));
        self
    }

    /// Every release refuses more than this number.
    const fn at_most(mut self, most: f64) -> Self {
        self.most = Some(most);
        self
    }

    /// What the engine takes, in words, where its release is known to refuse this number; `None` for a
    /// release stands for one that is not known.
    pub(super) fn refuses(&self, number: f64, release: Option<Release>) -> Option<EcoString> {
        // An unknown release counts as the oldest: only bounds that every release has refuse then.
        let least = self.least.filter(|(_, _, from)| release.unwrap_or_default() >= *from);
        let too_little =
            least.is_some_and(|(least, itself, _)| number < least || (!itself && number <= least));
        let too_much = self.most.is_some_and(|most| number > most);
        if !too_little && !too_much {
            return None;
        }
        let lower = least.map(|(least, itself, _)| {
            if itself { eco_format!("at least {least}") } else { eco_format!("above {least}") }
        });
        let upper = self.most.map(|most| eco_format!("at most {most}"));
        let bounds: Vec<EcoString> = lower.into_iter().chain(upper).collect();
        Some(eco_format!("a number of {}", bounds.join(" and ")).replace("of above", "above"))
    }

    /// Whether its value is an object of JSON, whose fields vLLM also takes as `--flag.field`.
    pub(super) fn is_object(&self) -> bool {
        matches!(self.field, Field::Overrides | Field::Speculative)
            && self
                .names
                .iter()
                .any(|name| matches!(*name, "--hf-overrides" | "--speculative-config"))
    }

    /// Whether a release is known to read digits only.
    pub(super) fn is_digits(&self, release: Release) -> bool {
        release <= self.digits
    }
}

const ALWAYS: (Release, Release) = ([0; 3], [u32::MAX; 3]);

const fn flag(field: Field, form: Form, names: &'static [&'static str]) -> Flag {
    or_variable(field, form, names, "")
}

const fn or_variable(
    field: Field,
    form: Form,
    names: &'static [&'static str],
    variable: &'static str,
) -> Flag {
    Flag { field, form, names, variable, absent: ALWAYS, digits: [0; 3], least: None, most: None }
}

use Field as F;
use Form::{Float, Int, Off, Switch, Text, Tokens};

// Of vLLM the sources of 0.5.5, 0.6.6, 0.7.3, 0.8.2 to 0.8.5, 0.9.2, 0.10.2, 0.11.0, 0.12.0 and 0.14.0
// were looked at, for what a number may be and for what is loaded 0.13.0, 0.16.0 and 0.17.0 too, of SGLang those of 0.2.15, 0.3.6, 0.4.1, 0.4.4 to 0.4.6, 0.4.8, 0.5.2 and 0.5.5.
static VLLM: &[Flag] = &[
    // Heads are divided by it.
    flag(F::Tensor, Int, &["--tensor-parallel-size", "-tp"]).at_least(1.0, [0; 3]),
    flag(F::Pipeline, Int, &["--pipeline-parallel-size", "-pp"]),
    flag(F::Data, Int, &["--data-parallel-size", "-dp"]).after([0, 8, 2]),
    flag(F::DataLocal, Int, &["--data-parallel-size-local", "-dpl"]).after([0, 8, 5]),
    flag(F::DataRank, Int, &["--data-parallel-rank", "-dpn"]).after([0, 8, 5]),
    flag(F::DataBackend, Text, &["--data-parallel-backend", "-dpb"]).after([0, 8, 5]),
    flag(F::ContextParallel, Int, &["--prefill-context-parallel-size", "-pcp"]).after([0, 11, 0]),
    flag(F::Executor, Text, &["--distributed-executor-backend"]),
    flag(F::Nodes, Int, &["--nnodes", "-n"]).after([0, 11, 0]),
    flag(F::Expert, Switch, &["--enable-expert-parallel"]).after([0, 7, 3]),
    flag(F::Expert, Switch, &["-ep"]).after([0, 12, 0]),
    flag(F::Headless, Switch, &["--headless"]).after([0, 8, 5]),
    flag(F::Context, Tokens, &["--max-model-len"])
        .digits_until([0, 8, 3])
        .at_least(-1.0, [0, 14, 0]),
    flag(F::Sequences, Int, &["--max-num-seqs"]).at_least(1.0, [0, 12, 0]),
    flag(F::BatchedTokens, Tokens, &["--max-num-batched-tokens"])
        .digits_until([0, 8, 3])
        .at_least(1.0, [0, 12, 0]),
    flag(F::Share, Float, &["--gpu-memory-utilization"]).above(0.0, [0, 12, 0]).at_most(1.0),
    flag(F::CacheBytes, Tokens, &["--kv-cache-memory-bytes"]).after([0, 9, 2]),
    flag(F::CacheType, Text, &["--kv-cache-dtype"]),
    flag(F::Quantization, Text, &["--quantization", "-q"]),
    flag(F::WeightsType, Text, &["--dtype"]),
    flag(F::Lora, Switch, &["--enable-lora"]),
    flag(F::Eager, Switch, &["--enforce-eager"]),
    flag(F::Eager, Off, &["--no-enforce-eager"]),
    flag(F::Chunked, Switch, &["--enable-chunked-prefill"]),
    flag(F::Chunked, Off, &["--no-enable-chunked-prefill"]).after([0, 8, 4]),
    flag(F::Speculative, Text, &["--speculative-config"]).after([0, 7, 3]),
    flag(F::Speculative, Text, &["--speculative-model"]).before([0, 8, 3]),
    flag(F::Offload, Float, &["--cpu-offload-gb"]),
    flag(F::File, Text, &["--config"]).after([0, 5, 5]),
    flag(F::Model, Text, &["--model"]),
    flag(F::Overrides, Text, &["--hf-overrides"]).after([0, 5, 5]),
    flag(F::Overrides, Text, &["--rope-scaling"]).before([0, 12, 0]),
    flag(F::LoadFormat, Text, &["--load-format"]),
    flag(F::Blocks, Int, &["--num-gpu-blocks-override"]),
    flag(F::BlockSize, Int, &["--block-size"]),
    flag(F::Adapters, Int, &["--max-loras"]),
    flag(F::AdapterRank, Int, &["--max-lora-rank"]),
];

static SGLANG: &[Flag] = &[
    flag(F::Tensor, Int, &["--tensor-parallel-size", "--tp-size", "--tp"]),
    flag(F::Pipeline, Int, &["--pipeline-parallel-size", "--pp-size", "--pp"]).after([0, 4, 6]),
    flag(F::Data, Int, &["--data-parallel-size", "--dp-size", "--dp"]),
    flag(F::Nodes, Int, &["--nnodes"]),
    flag(F::Expert, Int, &["--expert-parallel-size", "--ep-size", "--ep"]).after([0, 3, 6]),
    flag(F::DataAttention, Switch, &["--enable-dp-attention"]).after([0, 2, 15]),
    flag(F::Context, Int, &["--context-length"]),
    flag(F::Sequences, Int, &["--max-running-requests"]),
    flag(F::BatchedTokens, Int, &["--chunked-prefill-size"]),
    // Cache and weights together, which are allocated at once.
    flag(F::Share, Float, &["--mem-fraction-static"]).at_most(1.0),
    flag(F::CacheType, Text, &["--kv-cache-dtype"]),
    flag(F::Quantization, Text, &["--quantization"]),
    flag(F::WeightsType, Text, &["--dtype"]),
    flag(F::Lora, Switch, &["--enable-lora"]).after([0, 4, 8]),
    flag(F::Eager, Switch, &["--disable-cuda-graph"]),
    flag(F::Speculative, Text, &["--speculative-algorithm"]).after([0, 4, 1]),
    flag(F::Offload, Float, &["--cpu-offload-gb"]).after([0, 3, 6]),
    flag(F::File, Text, &["--config"]).after([0, 5, 2]),
    flag(F::Model, Text, &["--model-path", "--model"]),
    flag(F::Overrides, Text, &["--json-model-override-args"]),
    flag(F::LoadFormat, Text, &["--load-format"]),
    flag(F::CacheTokens, Int, &["--max-total-tokens"]),
];

static TENSORRT_LLM: &[Flag] = &[
    flag(F::Tensor, Int, &["--tp_size", "--tensor_parallel_size"]),
    flag(F::Pipeline, Int, &["--pp_size", "--pipeline_parallel_size"]),
    flag(F::ContextParallel, Int, &["--cp_size", "--context_parallel_size"]),
    flag(F::Expert, Int, &["--ep_size", "--moe_expert_parallel_size"]),
    flag(F::Context, Int, &["--max_seq_len"]),
    flag(F::Sequences, Int, &["--max_batch_size"]),
    flag(F::BatchedTokens, Int, &["--max_num_tokens"]),
    flag(F::Share, Float, &["--kv_cache_free_gpu_memory_fraction", "--free_gpu_memory_fraction"]),
    flag(F::CacheType, Text, &["--kv_cache_dtype"]),
    flag(F::File, Text, &["--extra_llm_api_options", "--config"]),
];

/// Fields of the file that `trtllm-serve` reads (`tensorrt_llm/llmapi/llm_args.py`, `TorchLlmArgs`,
/// `KvCacheConfig`).
static TENSORRT_LLM_FILE: &[Flag] = &[
    flag(F::Tensor, Int, &["tensor_parallel_size"]),
    flag(F::Pipeline, Int, &["pipeline_parallel_size"]),
    flag(F::ContextParallel, Int, &["context_parallel_size"]),
    flag(F::Expert, Int, &["moe_expert_parallel_size"]),
    flag(F::Context, Int, &["max_seq_len"]),
    flag(F::Sequences, Int, &["max_batch_size"]),
    flag(F::BatchedTokens, Int, &["max_num_tokens"]),
    flag(F::Share, Float, &["kv_cache_config.free_gpu_memory_fraction"]),
    flag(F::CacheType, Text, &["kv_cache_config.dtype"]),
    flag(
        F::CacheBytes,
        Text,
        &["kv_cache_config.max_tokens", "kv_cache_config.max_gpu_total_bytes"],
    ),
    flag(F::Speculative, Text, &["speculative_config"]),
    flag(F::Quantization, Text, &["quant_config"]),
    flag(F::WeightsType, Text, &["dtype"]),
    flag(F::Lora, Text, &["lora_config"]),
];

/// The fields of files whose keys are no flags.
pub(super) fn in_files() -> &'static [Flag] {
    TENSORRT_LLM_FILE
}

// Every release of LMDeploy from 0.2.0 to 0.16.0 was looked at, and every one of TGI from 0.2.0 to 3.3.7.
static LMDEPLOY: &[Flag] = &[
    flag(F::Tensor, Int, &["--tp"]),
    flag(F::Data, Int, &["--dp"]).after([0, 7, 3]),
    flag(F::Expert, Int, &["--ep"]).after([0, 7, 3]),
    flag(F::Nodes, Int, &["--nnodes"]).after([0, 8, 0]),
    flag(F::Context, Int, &["--session-len"]),
    flag(F::Sequences, Int, &["--max-batch-size"]),
    flag(F::Share, Float, &["--cache-max-entry-count"]),
    flag(F::CacheType, Text, &["--quant-policy"]),
    flag(F::Quantization, Text, &["--model-format"]),
    flag(F::WeightsType, Text, &["--dtype"]).after([0, 6, 0]),
    flag(F::Eager, Switch, &["--eager-mode"]).after([0, 6, 1]),
];

static TGI: &[Flag] = &[
    or_variable(F::Model, Text, &["--model-id"], "MODEL_ID"),
    or_variable(F::Tensor, Int, &["--num-shard"], "NUM_SHARD"),
    or_variable(F::Context, Int, &["--max-total-tokens"], "MAX_TOTAL_TOKENS").after([0, 3, 1]),
    or_variable(F::Sequences, Int, &["--max-batch-size"], "MAX_BATCH_SIZE"),
    or_variable(F::BatchedTokens, Int, &["--max-batch-prefill-tokens"], "MAX_BATCH_PREFILL_TOKENS")
        .after([0, 8, 2]),
    or_variable(F::Share, Float, &["--cuda-memory-fraction"], "CUDA_MEMORY_FRACTION")
        .after([0, 9, 3]),
    or_variable(F::CacheType, Text, &["--kv-cache-dtype"], "KV_CACHE_DTYPE").after([2, 3, 1]),
    or_variable(F::Quantization, Text, &["--quantize"], "QUANTIZE"),
    or_variable(F::WeightsType, Text, &["--dtype"], "DTYPE").after([0, 8, 2]),
];

static LLAMA_CPP: &[Flag] = &[
    or_variable(F::Context, Int, &["--ctx-size", "-c"], "LLAMA_ARG_CTX_SIZE"),
    or_variable(F::Sequences, Int, &["--parallel", "-np"], "LLAMA_ARG_N_PARALLEL"),
    or_variable(F::BatchedTokens, Int, &["--ubatch-size", "-ub"], "LLAMA_ARG_UBATCH"),
    or_variable(F::CacheType, Text, &["--cache-type-k", "-ctk"], "LLAMA_ARG_CACHE_TYPE_K"),
];

/// The flags of an engine.
pub(super) fn of(engine: Engine) -> &'static [Flag] {
    match engine {
        Engine::VLlm => VLLM,
        Engine::SGLang => SGLANG,
        Engine::TensorRtLlm => TENSORRT_LLM,
        Engine::LmDeploy => LMDEPLOY,
        Engine::Tgi => TGI,
        Engine::LlamaCpp => LLAMA_CPP,
    }
}

/// What a word of a command line is to an engine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    /// This flag.
    Flag(&'static Flag),
    /// The beginning of several flags of the table.
    Ambiguous,
    /// No flag of the table.
    Other,
}

/// The flag of a name. vLLM takes `_` for `-` (vllm/utils, `FlexibleArgumentParser`), and Python's
/// `argparse` takes the beginning of a name for the name when no other flag begins so.
pub(super) fn named(engine: Engine, name: &str) -> Named {
    let flags = of(engine);
    let dashed;
    let name = if engine == Engine::VLlm && name.starts_with("--") && name.contains('_') {
        dashed = name.replace('_', "-");
        dashed.as_str()
    } else {
        name
    };
    if let Some(found) = flags.iter().find(|flag| flag.names.contains(&name)) {
        return Named::Flag(found);
    }
    let abbreviates = matches!(engine, Engine::VLlm | Engine::SGLang | Engine::LmDeploy);
    // Shorter ones are flags outside this table more often than beginnings of its flags.
    if !abbreviates || name.len() < "--tens".len() || !name.starts_with("--") {
        return Named::Other;
    }
    // Two hits are enough: whether there are more does not matter.
    let mut fields =
        flags.iter().filter(|flag| flag.names.iter().any(|names| names.starts_with(name)));
    match (fields.next(), fields.next()) {
        (None, _) => Named::Other,
        (Some(found), None) => Named::Flag(found),
        (Some(_), Some(_)) => Named::Ambiguous,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_of_one_flag() {
        for engine in Engine::ALL {
            let mut names: Vec<&str> =
                of(engine).iter().flat_map(|flag| flag.names.iter().copied()).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{engine:?}");
        }
    }

    #[test]
    fn names_are_found_as_the_parsers_find_them() {
        let field = |engine, name| match named(engine, name) {
            Named::Flag(flag) => Some(flag.field),
            Named::Ambiguous | Named::Other => None,
        };
        assert_eq!(field(Engine::VLlm, "--tensor_parallel_size"), Some(Field::Tensor));
        assert_eq!(field(Engine::VLlm, "--tensor-par"), Some(Field::Tensor));
        assert_eq!(field(Engine::VLlm, "-tp"), Some(Field::Tensor));
        assert_eq!(field(Engine::SGLang, "-tp"), None);
        assert_eq!(field(Engine::SGLang, "--tp_size"), None);
        assert_eq!(field(Engine::TensorRtLlm, "--tp_size"), Some(Field::Tensor));
        assert!(matches!(named(Engine::VLlm, "--data-parallel"), Named::Ambiguous));
        assert!(matches!(named(Engine::VLlm, "--port"), Named::Other));
    }
}
