//! Published parameter counts of vision families, and of Ling 3, from the `safetensors` of their
//! repositories.

/// Model, its config, and its parameters as published.
pub(super) const PUBLISHED: &[(&str, &str, u128)] = &[
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
