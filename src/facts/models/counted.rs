//! Published parameter counts, one or more per family.

use super::count::count;
use super::keys::Config;
use crate::yaml::{Node, Origin, Rule};

static TEST: Rule = Rule { id: "test", text: "a value of a test", cite: "" };

/// Model, its config, and its parameters as published: on its model card, in its paper, or by
/// `num_parameters()`.
const PUBLISHED: &[(&str, &str, u128)] = &[
    (
        "Llama-2-7b",
        r#"{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000}"#,
        6_738_415_616,
    ),
    (
        "Llama-3.1-8B",
        r#"{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": false}"#,
        8_030_261_248,
    ),
    (
        "Llama-3.1-70B",
        r#"{"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256}"#,
        70_553_706_496,
    ),
    (
        "Llama-3.1-405B",
        r#"{"model_type": "llama", "hidden_size": 16384, "num_hidden_layers": 126, "num_attention_heads": 128, "num_key_value_heads": 8, "intermediate_size": 53248, "vocab_size": 128256}"#,
        405_853_388_800,
    ),
    (
        "Llama-3.2-1B",
        r#"{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": true}"#,
        1_235_814_400,
    ),
    (
        "Mistral-7B-v0.1",
        r#"{"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000}"#,
        7_241_732_096,
    ),
    (
        "Mistral-Nemo-2407",
        r#"{"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 14336, "vocab_size": 131072}"#,
        12_247_782_400,
    ),
    // No head: the model embeds.
    (
        "e5-mistral-7b-instruct",
        r#"{"architectures": ["MistralModel"], "model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000}"#,
        7_110_660_096,
    ),
    (
        "Mixtral-8x7B-v0.1",
        r#"{"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000, "num_local_experts": 8}"#,
        46_702_792_704,
    ),
    (
        "Mixtral-8x22B-v0.1",
        r#"{"model_type": "mixtral", "hidden_size": 6144, "num_hidden_layers": 56, "num_attention_heads": 48, "num_key_value_heads": 8, "intermediate_size": 16384, "vocab_size": 32000, "num_local_experts": 8}"#,
        140_620_634_112,
    ),
    (
        "Qwen2.5-0.5B",
        r#"{"model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864, "vocab_size": 151936, "tie_word_embeddings": true}"#,
        494_032_768,
    ),
    (
        "Qwen2.5-7B",
        r#"{"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": false}"#,
        7_615_616_512,
    ),
    (
        "Qwen2.5-72B",
        r#"{"model_type": "qwen2", "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 29568, "vocab_size": 152064, "tie_word_embeddings": false}"#,
        72_706_203_648,
    ),
    (
        "Qwen1.5-MoE-A2.7B",
        r#"{"model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632, "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60, "decoder_sparse_step": 1, "vocab_size": 151936}"#,
        14_315_784_192,
    ),
    (
        "Qwen3-8B",
        r#"{"model_type": "qwen3", "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936, "tie_word_embeddings": false}"#,
        8_190_735_360,
    ),
    (
        "Qwen3-0.6B",
        r#"{"model_type": "qwen3", "hidden_size": 1024, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 3072, "vocab_size": 151936, "tie_word_embeddings": true}"#,
        596_049_920,
    ),
    (
        "Qwen3-30B-A3B",
        r#"{"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936}"#,
        30_532_122_624,
    ),
    (
        "Qwen3-235B-A22B",
        r#"{"model_type": "qwen3_moe", "hidden_size": 4096, "num_hidden_layers": 94, "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536, "num_experts": 128, "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936}"#,
        235_093_634_560,
    ),
    (
        "Qwen3-Next-80B-A3B",
        r#"{"model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "intermediate_size": 5120, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "num_experts": 512, "decoder_sparse_step": 1, "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128, "vocab_size": 151936}"#,
        79_674_391_296,
    ),
    (
        "DeepSeek-V2-Lite",
        r#"{"model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944, "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "first_k_dense_replace": 1, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": null, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "topk_method": "greedy", "vocab_size": 102400}"#,
        15_706_484_224,
    ),
    (
        "DeepSeek-V2",
        r#"{"model_type": "deepseek_v2", "hidden_size": 5120, "num_hidden_layers": 60, "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536, "n_routed_experts": 160, "n_shared_experts": 2, "first_k_dense_replace": 1, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "topk_method": "group_limited_greedy", "vocab_size": 102400}"#,
        235_741_434_880,
    ),
    (
        "DeepSeek-V3",
        r#"{"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "first_k_dense_replace": 3, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1, "vocab_size": 129280}"#,
        671_026_419_200,
    ),
    (
        "Kimi-K2-Instruct",
        r#"{"model_type": "kimi_k2", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 384, "n_shared_experts": 1, "first_k_dense_replace": 1, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "topk_method": "noaux_tc", "vocab_size": 163840}"#,
        1_026_408_232_448,
    ),
    (
        "GLM-4.5-Air",
        r#"{"model_type": "glm4_moe", "hidden_size": 4096, "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 10944, "moe_intermediate_size": 1408, "n_routed_experts": 128, "n_shared_experts": 1, "first_k_dense_replace": 1, "attention_bias": true, "use_qk_norm": false, "vocab_size": 151552}"#,
        106_852_251_264,
    ),
    (
        "gpt-oss-20b",
        r#"{"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 32, "attention_bias": true, "vocab_size": 201088, "tie_word_embeddings": false}"#,
        20_914_757_184,
    ),
    (
        "gpt-oss-120b",
        r#"{"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 128, "attention_bias": true, "vocab_size": 201088, "tie_word_embeddings": false}"#,
        116_829_156_672,
    ),
    (
        "dbrx-base",
        r#"{"model_type": "dbrx", "d_model": 6144, "n_layers": 40, "n_heads": 48, "attn_config": {"kv_n_heads": 8}, "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16}, "vocab_size": 100352, "tie_word_embeddings": false}"#,
        131_596_523_520,
    ),
    (
        "gemma-2b",
        r#"{"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 16384, "vocab_size": 256000}"#,
        2_506_172_416,
    ),
    (
        "gemma-7b",
        r#"{"model_type": "gemma", "hidden_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 256, "intermediate_size": 24576, "vocab_size": 256000}"#,
        8_537_680_896,
    ),
    (
        "gemma-2-2b",
        r#"{"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216, "vocab_size": 256000}"#,
        2_614_341_888,
    ),
    (
        "gemma-2-27b",
        r#"{"model_type": "gemma2", "hidden_size": 4608, "num_hidden_layers": 46, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128, "intermediate_size": 36864, "vocab_size": 256000}"#,
        27_227_128_320,
    ),
    (
        "gemma-3-1b-it",
        r#"{"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912, "vocab_size": 262144}"#,
        999_885_952,
    ),
    // The nested config omits the defaults of the class.
    (
        "gemma-3-4b-it",
        r#"{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "intermediate_size": 10240}, "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152, "image_size": 896, "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": false}}"#,
        4_300_079_472,
    ),
    (
        "gemma-3-27b-it",
        r#"{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 5376, "num_hidden_layers": 62, "intermediate_size": 21504, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128}, "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152, "image_size": 896, "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": false}}"#,
        27_432_406_640,
    ),
    (
        "phi-2",
        r#"{"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 10240, "vocab_size": 51200, "tie_word_embeddings": false}"#,
        2_779_683_840,
    ),
    (
        "Phi-3-mini-4k-instruct",
        r#"{"model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 8192, "vocab_size": 32064, "tie_word_embeddings": false}"#,
        3_821_079_552,
    ),
    (
        "phi-4",
        r#"{"model_type": "phi3", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 40, "num_key_value_heads": 10, "intermediate_size": 17920, "vocab_size": 100352, "tie_word_embeddings": false}"#,
        14_659_507_200,
    ),
    (
        "Phi-3.5-MoE-instruct",
        r#"{"model_type": "phimoe", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 6400, "num_local_experts": 16, "attention_bias": true, "lm_head_bias": true, "vocab_size": 32064, "tie_word_embeddings": false}"#,
        41_873_153_344,
    ),
    (
        "gpt2",
        r#"{"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}"#,
        124_439_808,
    ),
    (
        "gpt2-xl",
        r#"{"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024, "vocab_size": 50257}"#,
        1_557_611_200,
    ),
    (
        "starcoder",
        r#"{"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48, "n_inner": 24576, "n_positions": 8192, "multi_query": true, "vocab_size": 49152}"#,
        15_517_456_384,
    ),
    (
        "gpt-j-6b",
        r#"{"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_inner": null, "n_positions": 2048, "vocab_size": 50400, "tie_word_embeddings": false}"#,
        6_050_882_784,
    ),
    (
        "gpt-neox-20b",
        r#"{"model_type": "gpt_neox", "hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64, "intermediate_size": 24576, "vocab_size": 50432, "tie_word_embeddings": false}"#,
        20_554_567_680,
    ),
    (
        "pythia-6.9b",
        r#"{"model_type": "gpt_neox", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 16384, "vocab_size": 50432, "tie_word_embeddings": false}"#,
        6_857_302_016,
    ),
    (
        "opt-125m",
        r#"{"model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "ffn_dim": 3072, "max_position_embeddings": 2048, "word_embed_proj_dim": 768, "do_layer_norm_before": true, "vocab_size": 50272}"#,
        125_239_296,
    ),
    (
        "opt-350m",
        r#"{"model_type": "opt", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "ffn_dim": 4096, "max_position_embeddings": 2048, "word_embed_proj_dim": 512, "do_layer_norm_before": false, "vocab_size": 50272}"#,
        331_196_416,
    ),
    (
        "opt-6.7b",
        r#"{"model_type": "opt", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "ffn_dim": 16384, "max_position_embeddings": 2048, "word_embed_proj_dim": 4096, "vocab_size": 50272}"#,
        6_658_473_984,
    ),
    (
        "bloom",
        r#"{"model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112, "vocab_size": 250880}"#,
        176_247_271_424,
    ),
    (
        "bloom-560m",
        r#"{"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16, "vocab_size": 250880}"#,
        559_214_592,
    ),
    (
        "falcon-7b",
        r#"{"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71, "num_kv_heads": 71, "multi_query": true, "new_decoder_architecture": false, "parallel_attn": true, "bias": false, "vocab_size": 65024}"#,
        6_921_720_704,
    ),
    (
        "falcon-40b",
        r#"{"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128, "num_kv_heads": 8, "multi_query": true, "new_decoder_architecture": true, "parallel_attn": true, "bias": false, "vocab_size": 65024}"#,
        41_303_293_952,
    ),
    (
        "falcon-180B, its shared head counted twice as in its files",
        r#"{"model_type": "falcon", "tie_word_embeddings": false, "hidden_size": 14848, "num_hidden_layers": 80, "num_attention_heads": 232, "num_kv_heads": 8, "multi_query": true, "new_decoder_architecture": true, "parallel_attn": true, "bias": false, "vocab_size": 65024}"#,
        179_522_565_120,
    ),
    (
        "mpt-7b",
        r#"{"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32, "expansion_ratio": 4, "no_bias": true, "vocab_size": 50432}"#,
        6_649_286_656,
    ),
    (
        "starcoder2-3b",
        r#"{"model_type": "starcoder2", "hidden_size": 3072, "num_hidden_layers": 30, "num_attention_heads": 24, "num_key_value_heads": 2, "intermediate_size": 12288, "use_bias": true, "vocab_size": 49152}"#,
        3_030_371_328,
    ),
    (
        "starcoder2-7b",
        r#"{"model_type": "starcoder2", "hidden_size": 4608, "num_hidden_layers": 32, "num_attention_heads": 36, "num_key_value_heads": 4, "intermediate_size": 18432, "use_bias": true, "vocab_size": 49152}"#,
        7_173_923_840,
    ),
    (
        "c4ai-command-r-v01",
        r#"{"model_type": "cohere", "hidden_size": 8192, "num_hidden_layers": 40, "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 22528, "vocab_size": 256000}"#,
        34_980_831_232,
    ),
    (
        "c4ai-command-r-plus",
        r#"{"model_type": "cohere", "hidden_size": 12288, "num_hidden_layers": 64, "num_attention_heads": 96, "num_key_value_heads": 8, "intermediate_size": 33792, "use_qk_norm": true, "vocab_size": 256000}"#,
        103_810_674_688,
    ),
    (
        "c4ai-command-r7b-12-2024",
        r#"{"model_type": "cohere2", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 256000}"#,
        8_028_033_024,
    ),
    (
        "SmolLM3-3B",
        r#"{"model_type": "smollm3", "hidden_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4, "intermediate_size": 11008, "vocab_size": 128256, "tie_word_embeddings": true}"#,
        3_075_098_624,
    ),
    (
        "internlm2-7b",
        r#"{"model_type": "internlm2", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "bias": false, "vocab_size": 92544, "tie_word_embeddings": false}"#,
        7_737_708_544,
    ),
    (
        "chatglm3-6b",
        r#"{"architectures": ["ChatGLMModel"], "model_type": "chatglm", "hidden_size": 4096, "num_layers": 28, "num_attention_heads": 32, "kv_channels": 128, "multi_query_attention": true, "multi_query_group_num": 2, "ffn_hidden_size": 13696, "add_qkv_bias": true, "add_bias_linear": false, "padded_vocab_size": 65024, "tie_word_embeddings": false}"#,
        6_243_584_000,
    ),
    (
        "glm-4-9b-chat",
        r#"{"architectures": ["ChatGLMModel"], "model_type": "chatglm", "hidden_size": 4096, "num_layers": 40, "num_attention_heads": 32, "kv_channels": 128, "multi_query_attention": true, "multi_query_group_num": 2, "ffn_hidden_size": 13696, "add_qkv_bias": true, "add_bias_linear": false, "padded_vocab_size": 151552, "tie_word_embeddings": false}"#,
        9_399_951_360,
    ),
    (
        "stablelm-2-1_6b",
        r#"{"model_type": "stablelm", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 5632, "use_qkv_bias": true, "vocab_size": 100352, "tie_word_embeddings": false}"#,
        1_644_515_328,
    ),
    (
        "OLMo-2-1124-7B",
        r#"{"model_type": "olmo2", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 100352, "tie_word_embeddings": false}"#,
        7_298_617_344,
    ),
    (
        "granite-3.1-8b-base",
        r#"{"model_type": "granite", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 12800, "vocab_size": 49155, "tie_word_embeddings": true}"#,
        8_170_848_256,
    ),
    (
        "EXAONE-3.0-7.8B-Instruct",
        r#"{"model_type": "exaone", "hidden_size": 4096, "num_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 14336, "vocab_size": 102400, "tie_word_embeddings": false}"#,
        7_818_448_896,
    ),
    (
        "Llama-4-Scout-17B-16E",
        r#"{"architectures": ["Llama4ForConditionalGeneration"], "model_type": "llama4", "text_config": {"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 1, "num_local_experts": 16, "attention_bias": false, "vocab_size": 202048}, "vision_config": {"hidden_size": 1408, "image_size": 336, "intermediate_size": 5632, "num_channels": 3, "num_hidden_layers": 34, "patch_size": 14, "projector_input_dim": 4096, "projector_output_dim": 4096, "vision_output_dim": 4096}}"#,
        108_641_793_536,
    ),
    (
        "Llama-4-Maverick-17B-128E",
        r#"{"architectures": ["Llama4ForConditionalGeneration"], "model_type": "llama4", "text_config": {"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 2, "num_local_experts": 128, "attention_bias": false, "vocab_size": 202048}, "vision_config": {"hidden_size": 1408, "image_size": 336, "intermediate_size": 5632, "num_channels": 3, "num_hidden_layers": 34, "patch_size": 14, "projector_input_dim": 4096, "projector_output_dim": 4096, "vision_output_dim": 4096}}"#,
        401_583_781_376,
    ),
    (
        "Llama-3.2-11B-Vision",
        r#"{"architectures": ["MllamaForConditionalGeneration"], "model_type": "mllama", "text_config": {"model_type": "mllama_text_model", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38], "vocab_size": 128256, "tie_word_embeddings": false}, "vision_config": {"hidden_size": 1280, "image_size": 560, "intermediate_size": 5120, "max_num_tiles": 4, "num_channels": 3, "num_global_layers": 8, "num_hidden_layers": 32, "patch_size": 14, "vision_output_dim": 7680, "supported_aspect_ratios": [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]]}}"#,
        10_670_220_835,
    ),
    (
        "llava-1.5-7b-hf",
        r#"{"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}, "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336, "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14, "projection_dim": 768, "vocab_size": 32000}, "vocab_size": 32064}"#,
        7_063_427_072,
    ),
    (
        "Mistral-Small-3.1-24B-Instruct-2503",
        r#"{"architectures": ["Mistral3ForConditionalGeneration"], "model_type": "mistral3", "multimodal_projector_bias": false, "spatial_merge_size": 2, "text_config": {"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 32768, "vocab_size": 131072}, "vision_config": {"model_type": "pixtral", "hidden_size": 1024, "head_dim": 64, "image_size": 1540, "intermediate_size": 4096, "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 24, "patch_size": 14}}"#,
        24_011_361_280,
    ),
    (
        "Qwen2-VL-7B-Instruct",
        r#"{"architectures": ["Qwen2VLForConditionalGeneration"], "model_type": "qwen2_vl", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": false, "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "in_chans": 3, "hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}}"#,
        8_291_375_616,
    ),
    (
        "Qwen2.5-VL-7B-Instruct",
        r#"{"architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": false, "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "in_chans": 3, "out_hidden_size": 3584, "patch_size": 14, "spatial_patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}}"#,
        8_292_166_656,
    ),
    (
        "bert-base-uncased, as encoder",
        r#"{"architectures": ["BertModel"], "model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 512, "type_vocab_size": 2, "vocab_size": 30522}"#,
        109_482_240,
    ),
    (
        "bert-base-uncased, with the head of masked words",
        r#"{"architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 512, "type_vocab_size": 2, "vocab_size": 30522}"#,
        109_514_298,
    ),
    (
        "bge-m3",
        r#"{"architectures": ["XLMRobertaModel"], "model_type": "xlm-roberta", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "max_position_embeddings": 8194, "type_vocab_size": 1, "vocab_size": 250002}"#,
        567_754_752,
    ),
    // Families of vision, and Ling 3: from the `safetensors` of their repositories.
    (
        "InternVL3-8B",
        r#"{"model_type": "internvl_chat", "architectures": ["InternVLChatModel"], "downsample_ratio": 0.5, "llm_config": {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 151674, "tie_word_embeddings": false}, "vision_config": {"model_type": "intern_vit_6b", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 448, "patch_size": 14, "qkv_bias": true, "qk_normalization": false, "norm_type": "layer_norm", "num_channels": 3}}"#,
        7_944_373_760,
    ),
    (
        "InternVL3-38B",
        r#"{"model_type": "internvl_chat", "llm_config": {"model_type": "qwen2", "hidden_size": 5120, "num_hidden_layers": 64, "num_attention_heads": 40, "num_key_value_heads": 8, "intermediate_size": 27648, "vocab_size": 151674, "tie_word_embeddings": false}, "vision_config": {"hidden_size": 3200, "intermediate_size": 12800, "num_hidden_layers": 45, "num_attention_heads": 25, "image_size": 448, "patch_size": 14, "qkv_bias": false, "qk_normalization": true, "norm_type": "rms_norm", "num_channels": 3}}"#,
        38_388_164_992,
    ),
    (
        "GLM-4.1V-9B-Thinking",
        r#"{"model_type": "glm4v", "architectures": ["Glm4vForConditionalGeneration"], "text_config": {"model_type": "glm4v_text", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2, "intermediate_size": 13696, "vocab_size": 151552, "attention_bias": true, "tie_word_embeddings": false}, "vision_config": {"depth": 24, "hidden_size": 1536, "intermediate_size": 13696, "out_hidden_size": 4096, "num_heads": 12, "patch_size": 14, "temporal_patch_size": 2, "image_size": 336, "spatial_merge_size": 2, "attention_bias": false}}"#,
        10_292_777_472,
    ),
    (
        "MiniCPM-V-2_6",
        r#"{"model_type": "minicpmv", "architectures": ["MiniCPMV"], "version": "2.6", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 151666, "query_num": 64, "tie_word_embeddings": false, "vision_config": {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 980, "patch_size": 14}}"#,
        8_099_175_152,
    ),
    (
        "MiniCPM-V-4_5",
        r#"{"model_type": "minicpmv", "architectures": ["MiniCPMV"], "version": "4.5", "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151748, "query_num": 64, "tie_word_embeddings": false, "vision_config": {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 980, "patch_size": 14}}"#,
        8_695_895_280,
    ),
    (
        "gemma-4-12B-it",
        r#"{"model_type": "gemma4_unified", "architectures": ["Gemma4UnifiedForConditionalGeneration"], "audio_config": {"audio_embed_dim": 640}, "text_config": {"model_type": "gemma4_unified_text", "hidden_size": 3840, "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 8, "num_global_key_value_heads": 1, "head_dim": 256, "global_head_dim": 512, "attention_k_eq_v": true, "intermediate_size": 15360, "vocab_size": 262144, "tie_word_embeddings": true, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]}, "vision_config": {"patch_size": 16, "pooling_kernel_size": 3, "mm_embed_dim": 3840, "mm_posemb_size": 1120, "output_proj_dims": 3840}}"#,
        11_959_730_224,
    ),
    (
        "Ling-3.0-tiny",
        r#"{"model_type": "bailing_hybrid", "architectures": ["BailingMoeV3ForCausalLM"], "hidden_size": 1536, "intermediate_size": 4608, "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 128, "vocab_size": 157184, "tie_word_embeddings": false, "layer_group_size": 4, "short_conv_kernel_size": 4, "no_kda_lora": true, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "q_lora_rank": 256, "kv_lora_rank": 512, "first_k_dense_replace": 1, "num_experts": 128, "num_shared_experts": 1, "moe_intermediate_size": 512, "moe_router_enable_expert_bias": true}"#,
        7_893_392_800,
    ),
    // The published count has the layer that drafts.
    (
        "Ling-3.0-flash",
        r#"{"model_type": "bailing_hybrid", "architectures": ["BailingMoeV3ForCausalLM"], "hidden_size": 2560, "intermediate_size": 6144, "num_hidden_layers": 42, "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128, "vocab_size": 157184, "tie_word_embeddings": false, "layer_group_size": 6, "short_conv_kernel_size": 4, "no_kda_lora": true, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "q_lora_rank": null, "kv_lora_rank": 512, "first_k_dense_replace": 2, "num_experts": 512, "num_shared_experts": 1, "moe_intermediate_size": 768, "moe_router_enable_expert_bias": true, "num_nextn_predict_layers": 1}"#,
        127_486_405_600,
    ),
];

fn parsed(text: &str) -> Node {
    Node::from_json(
        &serde_json::from_str(text).expect("a config of a test is JSON"),
        Origin::Default(&TEST),
    )
}

#[test]
fn counted_parameters_match_the_published_counts() {
    let mut wrong = Vec::new();
    for (model, text, expected) in PUBLISHED {
        let node = parsed(text);
        let mut config = Config::new(&node, None);
        let architecture = node
            .get("architectures")
            .and_then(|list| list.items().first())
            .and_then(Node::as_str)
            .map(str::to_owned);
        let counted = count(&mut config, architecture.as_deref());
        let total = counted.as_ref().map(super::count::Count::total);
        if total != Some(*expected) || !config.missing.is_empty() || !config.bad.is_empty() {
            wrong.push(format!(
                "{model}: {total:?}, published {expected}, off by {:?}, missing {:?}",
                total.map(|total| total.cast_signed() - expected.cast_signed()),
                config.missing
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A config with every number replaced, by turns.
fn disturbed(value: &mut serde_json::Value, numbers: &mut impl Iterator<Item = i64>) {
    match value {
        serde_json::Value::Number(_) => *value = numbers.next().unwrap_or(0).into(),
        serde_json::Value::Array(items) => {
            for item in items {
                disturbed(item, numbers);
            }
        }
        serde_json::Value::Object(map) => {
            map.values_mut().for_each(|value| disturbed(value, numbers));
        }
        _ => {}
    }
}

// Overflow would be a panic in this build.
#[test]
fn parameter_counting_does_not_overflow() {
    // Zeros, the largest accepted numbers and impossible ones, in changing places.
    const NUMBERS: [i64; 9] = [10_000_000, 10_000, 0, 1, 10_000_000, 10_001, -1, i64::MAX, 10_000];
    let json = |text: &str| -> serde_json::Value {
        serde_json::from_str(text).expect("a config of a test is JSON")
    };
    let older = PUBLISHED.iter().map(|(model, text, _)| ((*model).to_owned(), json(text)));
    let current = super::tests::COUNTS.lines().map(|line| {
        let row = json(line);
        (row["id"].to_string(), row["config"].clone())
    });
    for (model, whole) in older.chain(current) {
        // Each start gives every key of the config another number.
        for start in [0, 2, 5, 7] {
            let mut value = whole.clone();
            disturbed(&mut value, &mut NUMBERS.into_iter().cycle().skip(start));
            let node = Node::from_json(&value, Origin::Default(&TEST));
            let mut config = Config::new(&node, None);
            assert!(
                count(&mut config, None).is_some(),
                "{model}: the family is known whatever its numbers are"
            );
        }
        let mut value = whole.clone();
        disturbed(&mut value, &mut std::iter::repeat(10_000));
        let node = Node::from_json(&value, Origin::Default(&TEST));
        let mut config = Config::new(&node, None);
        let counted = count(&mut config, None).expect("the family is known");
        assert!(config.bad.is_empty() && counted.total() > 0, "{model}");
    }
}
