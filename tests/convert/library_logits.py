#!/usr/bin/env python3
"""Writes library_logits.json: logits of tiny models with a state or with images, computed by Hugging Face's own code.

usage: library_logits.py > library_logits.json      (needs torch and transformers; tests only read the file)

The same form as reference_logits.json, and weights by the same function of name and index.
"""
import json
import pathlib
import tempfile

import torch
import transformers
from safetensors.torch import save_file

from reference_logits import HIDDEN, POSITIONS, TOKENS, VOCAB, element

COMMON = {"vocab_size": VOCAB, "hidden_size": HIDDEN, "num_hidden_layers": 3, "tie_word_embeddings": False, "torch_dtype": "float32"}


def mamba(at, tensors, heads, head_dim, state, groups):
    """A mixer behind its norm."""
    width, channels = heads * head_dim, heads * head_dim + 2 * groups * state
    shapes = {"in_proj.weight": [width + channels + heads, HIDDEN], "conv1d.weight": [channels, 1, 4], "conv1d.bias": [channels],
              "dt_bias": [heads], "A_log": [heads], "D": [heads], "norm.weight": [width], "out_proj.weight": [HIDDEN, width]}
    tensors.update({f"{at}.mixer.{name}": shape for name, shape in shapes.items()})


def mamba2():
    config = COMMON | {"model_type": "mamba2", "architectures": ["Mamba2ForCausalLM"], "num_heads": 6, "head_dim": 8, "state_size": 5,
                       "n_groups": 1, "expand": 2, "conv_kernel": 4, "chunk_size": 4, "layer_norm_epsilon": 1e-05,
                       "hidden_act": "silu", "use_bias": False, "use_conv_bias": True, "rms_norm": True}
    tensors = {"backbone.embeddings.weight": [VOCAB, HIDDEN], "backbone.norm_f.weight": [HIDDEN], "lm_head.weight": [VOCAB, HIDDEN]}
    for layer in range(3):
        tensors[f"backbone.layers.{layer}.norm.weight"] = [HIDDEN]
        mamba(f"backbone.layers.{layer}", tensors, 6, 8, 5, 1)
    return config, tensors


def nemotron_h():
    pattern = "M*-M"
    config = COMMON | {"model_type": "nemotron_h", "architectures": ["NemotronHForCausalLM"], "num_hidden_layers": len(pattern),
                       "hybrid_override_pattern": pattern, "mamba_num_heads": 6, "mamba_head_dim": 8, "ssm_state_size": 5,
                       "n_groups": 2, "conv_kernel": 4, "chunk_size": 4, "layer_norm_epsilon": 1e-05, "mamba_hidden_act": "silu",
                       "mlp_hidden_act": "relu2", "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
                       "intermediate_size": 20, "max_position_embeddings": POSITIONS, "use_bias": False, "use_conv_bias": True,
                       "attention_bias": False, "mlp_bias": False, "residual_in_fp32": False}
    tensors = {"backbone.embeddings.weight": [VOCAB, HIDDEN], "backbone.norm_f.weight": [HIDDEN], "lm_head.weight": [VOCAB, HIDDEN]}
    for layer, letter in enumerate(pattern):
        at = f"backbone.layers.{layer}"
        tensors[at + ".norm.weight"] = [HIDDEN]
        if letter == "M":
            mamba(at, tensors, 6, 8, 5, 2)
        elif letter == "*":
            tensors.update({f"{at}.mixer.q_proj.weight": [32, HIDDEN], f"{at}.mixer.k_proj.weight": [16, HIDDEN],
                            f"{at}.mixer.v_proj.weight": [16, HIDDEN], f"{at}.mixer.o_proj.weight": [HIDDEN, 32]})
        else:
            tensors.update({f"{at}.mixer.up_proj.weight": [20, HIDDEN], f"{at}.mixer.down_proj.weight": [HIDDEN, 20]})
    return config, tensors


def qwen3_next():
    kinds = ["linear_attention", "full_attention", "linear_attention"]
    config = COMMON | {"model_type": "qwen3_next", "architectures": ["Qwen3NextForCausalLM"], "layer_types": kinds,
                       "intermediate_size": 40, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "hidden_act": "silu",
                       "partial_rotary_factor": 0.5, "rope_theta": 10000.0, "rms_norm_eps": 1e-06, "max_position_embeddings": POSITIONS,
                       "linear_conv_kernel_dim": 4, "linear_key_head_dim": 6, "linear_value_head_dim": 4, "linear_num_key_heads": 2,
                       "linear_num_value_heads": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 10,
                       "shared_expert_intermediate_size": 12, "norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": []}
    tensors = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN], "lm_head.weight": [VOCAB, HIDDEN]}
    for layer, kind in enumerate(kinds):
        at = f"model.layers.{layer}."
        tensors[at + "input_layernorm.weight"] = tensors[at + "post_attention_layernorm.weight"] = [HIDDEN]
        if kind == "linear_attention":
            shapes = {"in_proj_qkvz.weight": [56, HIDDEN], "in_proj_ba.weight": [8, HIDDEN], "conv1d.weight": [40, 1, 4], "dt_bias": [4],
                      "A_log": [4], "norm.weight": [4], "out_proj.weight": [HIDDEN, 16]}
            tensors.update({f"{at}linear_attn.{name}": shape for name, shape in shapes.items()})
        else:
            shapes = {"q_proj": [64, HIDDEN], "k_proj": [16, HIDDEN], "v_proj": [16, HIDDEN], "o_proj": [HIDDEN, 32], "q_norm": [8], "k_norm": [8]}
            tensors.update({f"{at}self_attn.{name}.weight": shape for name, shape in shapes.items()})
        tensors[at + "mlp.gate.weight"] = [4, HIDDEN]
        tensors[at + "mlp.shared_expert_gate.weight"] = [1, HIDDEN]
        for expert, size in [("shared_expert", 12)] + [(f"experts.{i}", 10) for i in range(4)]:
            tensors[f"{at}mlp.{expert}.gate_proj.weight"] = tensors[f"{at}mlp.{expert}.up_proj.weight"] = [size, HIDDEN]
            tensors[f"{at}mlp.{expert}.down_proj.weight"] = [HIDDEN, size]
    return config, tensors


def gpt_oss():
    """Experts one by one, as the program names them; `stacked` makes the library's tensors."""
    config = COMMON | {"model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"], "intermediate_size": 20, "num_attention_heads": 4,
                       "num_key_value_heads": 2, "head_dim": 8, "hidden_act": "silu", "rms_norm_eps": 1e-05,
                       "layer_types": ["sliding_attention", "full_attention", "sliding_attention"], "sliding_window": 3, "rope_theta": 150000.0,
                       "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096, "beta_fast": 32.0,
                                        "beta_slow": 1.0, "truncate": False},
                       "max_position_embeddings": POSITIONS, "num_local_experts": 4, "num_experts_per_tok": 2, "swiglu_limit": 7.0,
                       "attention_bias": True, "attention_dropout": 0.0}
    tensors = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN], "lm_head.weight": [VOCAB, HIDDEN]}
    for layer in range(3):
        at = f"model.layers.{layer}."
        tensors[at + "input_layernorm.weight"] = tensors[at + "post_attention_layernorm.weight"] = [HIDDEN]
        tensors[at + "self_attn.sinks"] = [4]
        linear = {f"self_attn.{name}_proj": [rows, HIDDEN] for name, rows in (("q", 32), ("k", 16), ("v", 16))}
        linear |= {"self_attn.o_proj": [HIDDEN, 32], "mlp.router": [4, HIDDEN]}
        for expert in range(4):
            linear |= {f"mlp.experts.{expert}.{name}": shape
                       for name, shape in (("gate_proj", [20, HIDDEN]), ("up_proj", [20, HIDDEN]), ("down_proj", [HIDDEN, 20]))}
        for name, shape in linear.items():
            tensors[f"{at}{name}.weight"] = shape
            tensors[f"{at}{name}.bias"] = shape[:1]
    return config, tensors


def gemma2():
    """Gemma 3's without norms of heads, with bounds that small logits reach."""
    config, tensors = gemma3()
    config |= {"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "rope_theta": 10000.0, "rope_scaling": None,
               "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0}
    del config["rope_local_base_freq"]
    return config, {name: shape for name, shape in tensors.items() if "_norm" not in name}


def gemma3():
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    config = COMMON | {"model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "intermediate_size": 20, "num_attention_heads": 4,
                       "num_key_value_heads": 2, "head_dim": 8, "hidden_activation": "gelu_pytorch_tanh", "rms_norm_eps": 1e-06,
                       "layer_types": kinds, "sliding_window": 3, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0,
                       "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "max_position_embeddings": POSITIONS,
                       "query_pre_attn_scalar": 12, "attention_bias": False, "attention_dropout": 0.0, "tie_word_embeddings": True}
    tensors = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN]}
    for layer in range(3):
        at = f"model.layers.{layer}."
        shapes = {f"{norm}_layernorm": [HIDDEN] for norm in ("input", "post_attention", "pre_feedforward", "post_feedforward")}
        shapes |= {"self_attn.q_proj": [32, HIDDEN], "self_attn.k_proj": [16, HIDDEN], "self_attn.v_proj": [16, HIDDEN],
                   "self_attn.o_proj": [HIDDEN, 32], "self_attn.q_norm": [8], "self_attn.k_norm": [8],
                   "mlp.gate_proj": [20, HIDDEN], "mlp.up_proj": [20, HIDDEN], "mlp.down_proj": [HIDDEN, 20]}
        tensors.update({f"{at}{name}.weight": shape for name, shape in shapes.items()})
    return config, tensors


def llama4():
    """Experts behind the second layer alone; the third layer does not rotate, and its queries grow from the third token on.
    The others attend within chunks of four tokens."""
    config = COMMON | {"model_type": "llama4_text", "architectures": ["Llama4ForCausalLM"], "intermediate_size": 20, "intermediate_size_mlp": 28,
                       "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "hidden_act": "silu", "rms_norm_eps": 1e-05,
                       "rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 16.0, "low_freq_factor": 1.0,
                                                                "high_freq_factor": 1.0, "original_max_position_embeddings": 8192},
                       "max_position_embeddings": POSITIONS, "num_local_experts": 4, "num_experts_per_tok": 1, "moe_layers": [1],
                       "no_rope_layers": [1, 1, 0], "use_qk_norm": True, "attention_chunk_size": 4, "attn_temperature_tuning": True,
                       "floor_scale": 3, "attn_scale": 0.1, "attention_bias": False, "attention_dropout": 0.0}
    tensors = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN], "lm_head.weight": [VOCAB, HIDDEN]}
    for layer in range(3):
        at = f"model.layers.{layer}."
        shapes = {"input_layernorm": [HIDDEN], "post_attention_layernorm": [HIDDEN], "self_attn.q_proj": [32, HIDDEN],
                  "self_attn.k_proj": [16, HIDDEN], "self_attn.v_proj": [16, HIDDEN], "self_attn.o_proj": [HIDDEN, 32]}
        parts = [("shared_expert.", 20)] + [(f"experts.{i}.", 20) for i in range(4)] if layer == 1 else [("", 28)]
        for part, width in parts:
            shapes |= {f"feed_forward.{part}gate_proj": [width, HIDDEN], f"feed_forward.{part}up_proj": [width, HIDDEN],
                       f"feed_forward.{part}down_proj": [HIDDEN, width]}
        if layer == 1:
            shapes["feed_forward.router"] = [4, HIDDEN]
        tensors.update({f"{at}{name}.weight": shape for name, shape in shapes.items()})
    return config, tensors


def stacked(values, in_turn):
    """Gate and up in turn, or one behind the other, all experts of a layer in one tensor; matrices transposed."""
    result = {name: value for name, value in values.items() if ".experts." not in name}
    for name in [name for name in values if ".experts.0.down_proj.weight" in name]:
        prefix = name.split(".experts.0.")[0] + ".experts."
        part = lambda expert, which: values[f"{prefix}{expert}.{which}"]
        both = lambda expert, kind: torch.stack([part(expert, f"gate_proj.{kind}"), part(expert, f"up_proj.{kind}")], dim=1 if in_turn else 0).flatten(0, 1)
        result[prefix + "gate_up_proj"] = torch.stack([both(e, "weight").T for e in range(4)])
        result[prefix + "down_proj"] = torch.stack([part(e, "down_proj.weight").T for e in range(4)])
        if in_turn:  # GPT-OSS
            result[prefix + "gate_up_proj_bias"] = torch.stack([both(e, "bias") for e in range(4)])
            result[prefix + "down_proj_bias"] = torch.stack([part(e, "down_proj.bias") for e in range(4)])
    return {name: value.contiguous() for name, value in result.items()}


def qwen2_vl_text():
    """The language model alone; the library makes an encoder up."""
    config = COMMON | {"model_type": "qwen2_vl_text", "architectures": ["Qwen2VLTextModel"], "intermediate_size": 20,
                       "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_act": "silu", "rms_norm_eps": 1e-06, "rope_theta": 10000.0,
                       "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 1]}, "max_position_embeddings": POSITIONS,
                       "use_sliding_window": False, "attention_dropout": 0.0,
                       "vision_config": {"model_type": "qwen2_vl", "depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": HIDDEN}}
    tensors = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN], "lm_head.weight": [VOCAB, HIDDEN]}
    for layer in range(3):
        at = f"model.layers.{layer}."
        shapes = {"self_attn.q_proj": 24, "self_attn.k_proj": 12, "self_attn.v_proj": 12, "mlp.gate_proj": 20, "mlp.up_proj": 20}
        tensors.update({f"{at}{name}.weight": [rows, HIDDEN] for name, rows in shapes.items()})
        tensors.update({f"{at}self_attn.{name}_proj.bias": [shapes[f"self_attn.{name}_proj"]] for name in "qkv"})
        tensors |= {at + "self_attn.o_proj.weight": [HIDDEN, 24], at + "mlp.down_proj.weight": [HIDDEN, 20],
                    at + "input_layernorm.weight": [HIDDEN], at + "post_attention_layernorm.weight": [HIDDEN]}
    return config, tensors


def qwen2_vl():
    """The same behind an encoder of two layers, whose sixteen patches are merged to four positions."""
    config, tensors = qwen2_vl_text()
    config |= {"model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"], "image_token_id": IMAGE,
               "vision_config": {"model_type": "qwen2_vl", "depth": 2, "embed_dim": 16, "num_heads": 2, "mlp_ratio": 2, "hidden_act": "quick_gelu",
                                 "hidden_size": HIDDEN, "patch_size": 4, "spatial_merge_size": 2, "temporal_patch_size": 2, "image_size": 16}}
    encoder = {"patch_embed.proj.weight": [16, 3, 4, 4]}
    linear = {"merger.mlp.0": (64, 64), "merger.mlp.2": (HIDDEN, 64)}
    norms = ["merger.ln_q"] + [f"blocks.{i}.norm{k}" for i in range(2) for k in (1, 2)]
    for layer in range(2):
        shapes = {"attn.qkv": (48, 16), "attn.proj": (16, 16), "mlp.fc1": (32, 16), "mlp.fc2": (16, 32)}
        linear |= {f"blocks.{layer}.{name}": shape for name, shape in shapes.items()}
    for name, (rows, columns) in linear.items():
        encoder |= {f"{name}.weight": [rows, columns], f"{name}.bias": [rows]}
    encoder |= {f"{norm}.{part}": [16] for norm in norms for part in ("weight", "bias")}
    return config, tensors | {f"visual.{name}": shape for name, shape in encoder.items()}


def two_frames(values):
    """The matrix of patches, whole here, as a quarter in the first frame and the rest in the second."""
    name = "visual.patch_embed.proj.weight"
    return values | {name: torch.stack([values[name] * 0.25, values[name] * 0.75], dim=2)}


def in_squares(pixels, patch):
    """Patches of an image, twice each, in the library's order: square by square of two by two."""
    edge = pixels.shape[-1] // patch
    squares = pixels.reshape(3, edge // 2, 2, patch, edge // 2, 2, patch).permute(1, 4, 2, 5, 0, 3, 6)
    return squares.unsqueeze(5).expand(-1, -1, -1, -1, -1, 2, -1, -1).reshape(edge * edge, -1)


IMAGE = 60  # stands four times for the image that is one token (-200) here


def tower(positions, kind):
    """Tensors of an encoder of three layers of width 16; norms of its own are `kind`."""
    at = "vision_tower.vision_model."
    tensors = {at + "embeddings.patch_embedding.weight": [16, 3, 4, 4], at + "embeddings.position_embedding.weight": [positions, 16]}
    norms = kind + [f"encoder.layers.{i}.layer_norm{k}" for i in range(3) for k in (1, 2)]
    tensors.update({f"{at}{norm}.{part}": [16] for norm in norms for part in ("weight", "bias")})
    for layer in range(3):
        shapes = {f"self_attn.{name}_proj": (16, 16) for name in ("q", "k", "v", "out")} | {"mlp.fc1": (32, 16), "mlp.fc2": (16, 32)}
        for name, (rows, columns) in shapes.items():
            tensors[f"{at}encoder.layers.{layer}.{name}.weight"] = [rows, columns]
            tensors[f"{at}encoder.layers.{layer}.{name}.bias"] = [rows]
    return tensors


def gemma3_images():
    """Sixteen patches pooled to four positions, which see each other within the window of three in two layers."""
    text, words = gemma3()
    text |= {"initializer_range": 0.02, "attn_logit_softcapping": None, "final_logit_softcapping": None}
    vision = {"model_type": "siglip_vision_model", "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 3,
              "image_size": 16, "patch_size": 4, "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-06, "vision_use_head": False}
    config = {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "text_config": text, "vision_config": vision,
              "mm_tokens_per_image": 4, "image_token_index": IMAGE, "torch_dtype": "float32", "tie_word_embeddings": True}
    tensors = tower(16, ["post_layernorm"]) | {"vision_tower.vision_model.embeddings.patch_embedding.bias": [16],
                                               "multi_modal_projector.mm_soft_emb_norm.weight": [16],
                                               "multi_modal_projector.mm_input_projection_weight": [16, HIDDEN]}
    return config, tensors | {f"language_model.{name}": shape for name, shape in words.items()}


def llava():
    """An encoder of three layers, behind the second of which the language model looks."""
    text = COMMON | {"model_type": "llama", "num_hidden_layers": 2, "intermediate_size": 40, "num_attention_heads": 4, "num_key_value_heads": 2,
                     "head_dim": 6, "hidden_act": "silu", "rms_norm_eps": 1e-05, "max_position_embeddings": POSITIONS, "rope_theta": 10000.0,
                     "rope_scaling": None, "attention_bias": False, "mlp_bias": False, "initializer_range": 0.02}
    vision = {"model_type": "clip_vision_model", "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 3,
              "image_size": 8, "patch_size": 4, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-05}
    config = {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"], "text_config": text, "vision_config": vision,
              "image_token_index": IMAGE, "image_seq_length": 4, "vision_feature_layer": -2, "vision_feature_select_strategy": "default",
              "projector_hidden_act": "gelu", "torch_dtype": "float32", "tie_word_embeddings": False}
    tensors = {"vision_tower.vision_model.embeddings.class_embedding": [16]} | tower(5, ["pre_layrnorm", "post_layernorm"])
    for name, columns in (("linear_1", 16), ("linear_2", HIDDEN)):
        tensors[f"multi_modal_projector.{name}.weight"] = [HIDDEN, columns]
        tensors[f"multi_modal_projector.{name}.bias"] = [HIDDEN]
    at = "language_model."
    tensors.update({at + "model.embed_tokens.weight": [VOCAB, HIDDEN], at + "model.norm.weight": [HIDDEN], at + "lm_head.weight": [VOCAB, HIDDEN]})
    for layer in range(2):
        shapes = {"self_attn.q_proj": [24, HIDDEN], "self_attn.k_proj": [12, HIDDEN], "self_attn.v_proj": [12, HIDDEN],
                  "self_attn.o_proj": [HIDDEN, 24], "mlp.gate_proj": [40, HIDDEN], "mlp.up_proj": [40, HIDDEN], "mlp.down_proj": [HIDDEN, 40],
                  "input_layernorm": [HIDDEN], "post_attention_layernorm": [HIDDEN]}
        tensors.update({f"{at}model.layers.{layer}.{name}.weight": shape for name, shape in shapes.items()})
    return config, tensors


def llama4_images():
    """Sixteen patches and a class token behind them, in an encoder of four layers whose heads of 8 have two frequencies an axis; the image's
    four positions reach over the end of a chunk."""
    text, words = llama4()
    text |= {"initializer_range": 0.02}
    vision = {"model_type": "llama4_vision_model", "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 64, "num_hidden_layers": 4,
              "image_size": 16, "patch_size": 4, "hidden_act": "gelu", "norm_eps": 1e-05, "num_channels": 3, "pixel_shuffle_ratio": 0.5,
              "projector_input_dim": 20, "projector_output_dim": 20, "vision_output_dim": 20, "multi_modal_projector_bias": False,
              "projector_dropout": 0.0, "attention_dropout": 0.0, "rope_theta": 10000, "vision_feature_select_strategy": "default"}
    config = {"model_type": "llama4", "architectures": ["Llama4ForConditionalGeneration"], "text_config": text, "vision_config": vision,
              "image_token_index": IMAGE, "boi_token_index": 58, "eoi_token_index": 59, "torch_dtype": "float32", "tie_word_embeddings": False}
    encoder = {"class_embedding": [16], "positional_embedding_vlm": [17, 16], "patch_embedding.linear.weight": [16, 48],
               "vision_adapter.mlp.fc1.weight": [20, 64], "vision_adapter.mlp.fc2.weight": [20, 20]}
    norms = ["layernorm_pre", "layernorm_post"]
    for at in (f"model.layers.{layer}." for layer in range(4)):
        shapes = {f"self_attn.{name}_proj": (16, 16) for name in "qkvo"} | {"mlp.fc1": (64, 16), "mlp.fc2": (16, 64)}
        for name, (rows, columns) in shapes.items():
            encoder |= {f"{at}{name}.weight": [rows, columns], f"{at}{name}.bias": [rows]}
        norms += [at + "input_layernorm", at + "post_attention_layernorm"]
    encoder |= {f"{norm}.{part}": [16] for norm in norms for part in ("weight", "bias")}
    tensors = {f"vision_model.{name}": shape for name, shape in encoder.items()} | {"multi_modal_projector.linear_1.weight": [HIDDEN, 20]}
    return config, tensors | {f"language_model.{name}": shape for name, shape in words.items()}


CLASSES = 5


def vit():
    """Two layers over nine patches and the class token."""
    config = {"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": HIDDEN, "num_hidden_layers": 2,
              "num_attention_heads": 4, "intermediate_size": 40, "hidden_act": "gelu", "hidden_dropout_prob": 0.0,
              "attention_probs_dropout_prob": 0.0, "initializer_range": 0.02, "layer_norm_eps": 1e-12, "image_size": 12, "patch_size": 4,
              "num_channels": 3, "qkv_bias": True, "encoder_stride": 4, "torch_dtype": "float32",
              "id2label": {str(i): f"class {i}" for i in range(CLASSES)}, "label2id": {f"class {i}": i for i in range(CLASSES)}}
    tensors = {"vit.embeddings.cls_token": [1, 1, HIDDEN], "vit.embeddings.position_embeddings": [1, 10, HIDDEN],
               "vit.embeddings.patch_embeddings.projection.weight": [HIDDEN, 3, 4, 4],
               "vit.embeddings.patch_embeddings.projection.bias": [HIDDEN]}
    linear = {f"attention.attention.{name}": (HIDDEN, HIDDEN) for name in ("query", "key", "value")}
    linear |= {"attention.output.dense": (HIDDEN, HIDDEN), "intermediate.dense": (40, HIDDEN), "output.dense": (HIDDEN, 40)}
    for at in (f"vit.encoder.layer.{layer}." for layer in range(2)):
        for name, (rows, columns) in linear.items():
            tensors[f"{at}{name}.weight"], tensors[f"{at}{name}.bias"] = [rows, columns], [rows]
        for norm in ("layernorm_before", "layernorm_after"):
            tensors[f"{at}{norm}.weight"], tensors[f"{at}{norm}.bias"] = [HIDDEN], [HIDDEN]
    tensors |= {"vit.layernorm.weight": [HIDDEN], "vit.layernorm.bias": [HIDDEN], "classifier.weight": [CLASSES, HIDDEN],
                "classifier.bias": [CLASSES]}
    return config, tensors


def pixels_of(edge):
    """An image without a pattern."""
    pixels = torch.tensor([(i * 37 % 101) / 50 - 1 for i in range(3 * edge * edge)], dtype=torch.float64)
    return pixels.reshape(1, 3, edge, edge)


def inputs_of(config):
    """Tokens as this program has them, and what the library is given for them."""
    if config["model_type"] == "vit":
        return [], {"pixel_values": pixels_of(config["image_size"])}
    if "vision_config" not in config or config["model_type"] == "qwen2_vl_text":
        return TOKENS, {"input_ids": torch.tensor([TOKENS])}
    pixels = pixels_of(config["vision_config"]["image_size"])
    tokens = [3, -200, 1, 5, 9]
    ids = [x for token in tokens for x in ([IMAGE] * 4 if token == -200 else [token])]
    inputs = {"input_ids": torch.tensor([ids]), "pixel_values": pixels}
    if config["model_type"] == "qwen2_vl":
        patch = config["vision_config"]["patch_size"]
        edge = pixels.shape[-1] // patch
        inputs |= {"pixel_values": in_squares(pixels[0], patch), "image_grid_thw": torch.tensor([[1, edge, edge]]),
                   "mm_token_type_ids": (inputs["input_ids"] == IMAGE).int()}
    if config["model_type"] == "gemma3":
        inputs["token_type_ids"] = (inputs["input_ids"] == IMAGE).long()
    return tokens, inputs


def logits_of(config, tensors, inputs):
    """Of the folder that the library loads, in double precision."""
    with tempfile.TemporaryDirectory() as folder:
        values = {}
        for name, shape in tensors.items():
            count = torch.Size(shape).numel()
            values[name] = torch.tensor([element(name, i) for i in range(count)], dtype=torch.float32).reshape(shape)
        if config["model_type"] in ("gpt_oss", "llama4_text", "llama4"):
            values = stacked(values, config["model_type"] == "gpt_oss")
        if config["model_type"] == "qwen2_vl":
            values = two_frames(values)
        if config["model_type"] == "qwen2_vl_text":
            config = config | {"model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"]}
        save_file(values, pathlib.Path(folder) / "model.safetensors", metadata={"format": "pt"})
        (pathlib.Path(folder) / "config.json").write_text(json.dumps(config))
        words = config.get("text_config", config)
        more = {"experts_implementation": "eager"} if {"num_experts", "num_local_experts"} & words.keys() else {}  # the other has no double precision
        kinds = {"llava": transformers.LlavaForConditionalGeneration, "gemma3": transformers.Gemma3ForConditionalGeneration,
                 "llama4": transformers.Llama4ForConditionalGeneration, "qwen2_vl": transformers.Qwen2VLForConditionalGeneration, "vit": transformers.ViTForImageClassification}
        kind = kinds.get(config["model_type"], transformers.AutoModelForCausalLM)
        model, told = kind.from_pretrained(folder, dtype=torch.float64, output_loading_info=True, **more)
        if not any(name.startswith("visual.") for name in tensors):
            told["missing_keys"] = {name for name in told["missing_keys"] if not name.startswith("model.visual.")}
        assert not any(told.values()), told
        if config["model_type"] == "llama4":  # transformers 5.24 looks there for what its words never have
            model.language_model.register_forward_hook(lambda _, given, output: setattr(output, "image_outputs", None))
        with torch.no_grad():
            logits = model.eval()(**inputs).logits[0]
        return logits.reshape(-1, logits.shape[-1]).tolist()


def main():
    rows = []
    for make in (mamba2, nemotron_h, qwen3_next, gpt_oss, gemma2, gemma3, llama4, qwen2_vl_text, qwen2_vl, llava, gemma3_images, llama4_images,
                 vit):
        config, tensors = make()
        tokens, inputs = inputs_of(config)
        entry = {"config": config, "tensors": tensors, "tokens": tokens,
                 "logits": [[round(x, 7) for x in row] for row in logits_of(config, tensors, inputs)]}
        rows.append(f" {json.dumps(config['model_type'])}: {json.dumps(entry)}")
    print("{\n" + ",\n".join(rows) + "\n}")


if __name__ == "__main__":
    main()
