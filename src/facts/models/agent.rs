//! The values that the model agent of OME reads from a config.json.
//!
//! A row per loader of pkg/hfutil/modelconfig (v0.1.5); every other model type goes through
//! GenericModelConfig. The table has only the differences of loaders. Sizes by files are in
//! `count.rs` and `packing.rs`.

use crate::yaml::{Node, Value};

/// Where a loader looks for the quantization.
#[derive(Clone, Copy)]
enum Quantization {
    /// Nowhere.
    Ignored,
    /// `quantization_config.quant_method`.
    Method,
    /// `quantization_config.format`.
    Format,
}

/// Whether a loader reports a vision capability.
#[derive(Clone, Copy)]
enum Vision {
    No,
    Yes,
    /// When the config has this key.
    Key(&'static str),
}

/// Whether a loader reports an embedding capability.
#[derive(Clone, Copy)]
enum Embeds {
    No,
    Yes,
    /// When this key is a text that is not empty.
    Key(&'static str),
}

/// One loader.
struct Loader {
    types: &'static [&'static str],
    quantization: Quantization,
    /// Paths of the context length; the first one above 0 is used.
    context: &'static [&'static [&'static str]],
    vision: Vision,
    embeds: Embeds,
    /// Architecture of a config that names none.
    architecture: &'static str,
    /// The framework's version is looked for in the config of the language model too.
    nested_version: bool,
}

const PLAIN: Loader = Loader {
    types: &[],
    quantization: Quantization::Ignored,
    context: &[&["max_position_embeddings"]],
    vision: Vision::No,
    embeds: Embeds::No,
    architecture: "",
    nested_version: false,
};

const METHOD: Loader = Loader { quantization: Quantization::Method, ..PLAIN };

const SEQUENCE: Loader =
    Loader { context: &[&["seq_length"], &["max_position_embeddings"]], ..METHOD };

const IN_TEXT: &[&[&str]] = &[&["text_config", "max_position_embeddings"]];

/// GenericModelConfig.
static GENERIC: Loader = Loader {
    context: &[
        &["max_position_embeddings"],
        &["text_config", "max_position_embeddings"],
        &["llm_config", "max_position_embeddings"],
        &["language_config", "max_position_embeddings"],
        &["max_sequence_length"],
    ],
    vision: Vision::Key("vision_config"),
    nested_version: true,
    ..METHOD
};

static LOADERS: &[Loader] = &[
    Loader {
        types: &["baichuan"],
        context: &[&["model_max_length"], &["max_position_embeddings"]],
        ..PLAIN
    },
    Loader { types: &["bert"], embeds: Embeds::Yes, ..PLAIN },
    Loader { types: &["chatglm"], context: &[&["seq_length"]], ..PLAIN },
    Loader {
        types: &["dbrx"],
        context: &[&["max_seq_len"]],
        architecture: "DbrxForCausalLM",
        ..PLAIN
    },
    Loader { types: &["deepseek_v3", "kimi_k2"], ..METHOD },
    Loader {
        types: &["deepseek_vl_v2"],
        context: &[&["language_config", "max_position_embeddings"]],
        vision: Vision::Yes,
        architecture: "DeepseekVLV2ForCausalLM",
        ..PLAIN
    },
    Loader {
        types: &["janus", "multi_modality"],
        context: &[&["language_config", "max_position_embeddings"]],
        vision: Vision::Yes,
        architecture: "JanusMultiModalityCausalLM",
        ..PLAIN
    },
    // The context is the sliding window times the factor of its scaling: see `context`.
    Loader { types: &["gemma3"], context: &[], vision: Vision::Yes, ..PLAIN },
    Loader { types: &["gpt_oss"], architecture: "GptOssForCausalLM", ..METHOD },
    Loader { types: &["llama"], architecture: "LlamaForCausalLM", ..METHOD },
    Loader {
        types: &["llama4"],
        quantization: Quantization::Format,
        context: IN_TEXT,
        vision: Vision::Key("vision_config"),
        architecture: "Llama4ForConditionalGeneration",
        ..PLAIN
    },
    Loader { types: &["llava"], context: IN_TEXT, vision: Vision::Yes, ..PLAIN },
    Loader { types: &["mistral"], embeds: Embeds::Yes, architecture: "MistralModel", ..PLAIN },
    Loader { types: &["mixtral"], architecture: "MixtralForCausalLM", ..PLAIN },
    Loader {
        types: &["mllama"],
        context: IN_TEXT,
        vision: Vision::Yes,
        architecture: "MllamaForConditionalGeneration",
        ..PLAIN
    },
    Loader { types: &["phi3_v"], vision: Vision::Key("img_processor"), ..PLAIN },
    Loader { types: &["qwen", "qwen2", "qwen3_moe"], ..SEQUENCE },
    Loader { types: &["qwen2_vl", "qwen2_5_vl"], vision: Vision::Yes, ..METHOD },
    Loader { types: &["qwen3"], embeds: Embeds::Key("similarity_fn_name"), ..SEQUENCE },
    Loader {
        types: &["qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"],
        context: IN_TEXT,
        vision: Vision::Yes,
        ..METHOD
    },
    Loader {
        types: &[
            "cohere",
            "command-r",
            "exaone",
            "gemma",
            "gemma2",
            "gemma3_text",
            "internlm",
            "internlm2",
            "minicpm",
            "minicpm3",
            "phi",
            "phi3",
            "phi3small",
            "phimoe",
            "stablelm",
            "xverse",
        ],
        ..PLAIN
    },
];

/// A config.json as the model agent reads it.
pub(super) struct Agent<'a> {
    config: &'a Node,
    loader: &'static Loader,
    model_type: &'a str,
}

impl<'a> Agent<'a> {
    pub(super) fn new(config: &'a Node) -> Self {
        let model_type = config.get("model_type").and_then(Node::as_str).unwrap_or_default();
        // An exact name: the agent registers loaders by model type.
        let loader = LOADERS.iter().find(|loader| loader.types.contains(&model_type));
        Self { config, loader: loader.unwrap_or(&GENERIC), model_type }
    }

    /// Architecture of a config that names none.
    pub(super) fn default_architecture(&self) -> Option<&'static str> {
        Some(self.loader.architecture).filter(|name| !name.is_empty())
    }

    /// Whether the version of the framework may be that of the language model.
    pub(super) fn reads_nested_version(&self) -> bool {
        self.loader.nested_version
    }

    /// The quantization it writes for the name in the config.
    pub(super) fn quantization(&self) -> Option<&'static str> {
        let key = match self.loader.quantization {
            Quantization::Ignored => return None,
            Quantization::Method => "quant_method",
            Quantization::Format => "format",
        };
        written_for(self.config.at(&["quantization_config", key])?.as_str()?)
    }

    /// The context length it reads; 0 when it finds none.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as in Go")]
    pub(super) fn context(&self) -> i64 {
        let number = |path: &[&str]| self.config.at(path).and_then(Node::as_int).unwrap_or(0);
        if self.model_type == "gemma3" {
            let window = number(&["text_config", "sliding_window"]);
            let factor = self.config.at(&["text_config", "rope_scaling", "factor"]);
            let factor = match factor.map(|factor| &factor.value) {
                // JSON has one kind of number, and `8` and `8.0` are the same factor to Go.
                Some(Value::Float(factor)) => *factor,
                Some(Value::Int(factor)) => *factor as f64,
                _ => 1.0,
            };
            let factor = if factor > 0.0 { factor } else { 1.0 };
            // Without a window the agent falls back to 8192, whatever the other keys are.
            return if window > 0 { (window as f64 * factor) as i64 } else { 8192 };
        }
        self.loader.context.iter().map(|path| number(path)).find(|tokens| *tokens > 0).unwrap_or(0)
    }

    /// The capabilities it writes (determineModelCapabilitiesFromHF).
    pub(super) fn capabilities(&self, architecture: &str) -> &'static [&'static str] {
        let architecture = architecture.to_lowercase();
        let model_type = self.model_type.to_lowercase();
        let named = |words: &[&str]| words.iter().any(|word| architecture.contains(word));
        // Before anything else: these models would count as plain text models below.
        if model_type.contains("nemotronh_nano") {
            return &["IMAGE_TEXT_TO_TEXT", "TEXT_TO_TEXT", "AUDIO_TO_TEXT"];
        }
        let sees = match self.loader.vision {
            Vision::No => false,
            Vision::Yes => true,
            Vision::Key(key) => self.config.get(key).is_some_and(|node| !node.is_null()),
        };
        // The order is the agent's: a model that sees is nothing else to it.
        if sees {
            return &["IMAGE_TEXT_TO_TEXT"];
        }
        if named(&["omni"]) {
            return &[
                "TEXT_TO_AUDIO",
                "IMAGE_TEXT_TO_AUDIO",
                "VIDEO_TEXT_TO_AUDIO",
                "AUDIO_TO_TEXT",
                "AUDIO_TO_AUDIO",
            ];
        }
        if named(&["whisper", "wav2vec2", "hubert", "fortc", "forspeechtotext"]) {
            return &["AUDIO_TO_TEXT"];
        }
        let embeds = match self.loader.embeds {
            Embeds::No => false,
            Embeds::Yes => true,
            Embeds::Key(key) => {
                self.config.get(key).and_then(Node::as_str).is_some_and(|text| !text.is_empty())
            }
        };
        if embeds
            || named(&["embedding", "sentence"])
            || model_type.contains("bert")
            || model_type.contains("mistral") && named(&["mistralmodel"])
        {
            return &["EMBEDDING"];
        }
        &["TEXT_TO_TEXT"]
    }
}

/// The capabilities that the model agent writes for a pipeline of diffusers.
pub(super) fn capabilities_of_pipeline(class: &str) -> &'static [&'static str] {
    let class = class.to_lowercase();
    let named = |words: &[&str]| words.iter().any(|word| class.contains(word));
    if named(&["imageedit", "pix2pix", "img2img", "inpaint"]) {
        // The longer words first: an `ImageEditPipeline` has `image` in its name, too.
        &["IMAGE_TEXT_TO_IMAGE"]
    } else if named(&["image", "pix", "stablediffusion"]) {
        &["TEXT_TO_IMAGE"]
    } else if named(&["texttovideo", "t2v"]) {
        &["TEXT_TO_VIDEO"]
    } else if named(&["video"]) {
        &["IMAGE_TEXT_TO_VIDEO"]
    } else {
        // Pipelines count as models that see.
        &["IMAGE_TEXT_TO_TEXT"]
    }
}

/// The value of the model agent for a quantization of this name.
pub(super) fn written_for(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    // `int4` is looked for before `fp8`, for names that have both.
    if name.contains("int4") {
        Some("int4")
    } else if name.contains("fp8") {
        Some("fp8")
    } else {
        None
    }
}
