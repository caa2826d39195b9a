#include "convert/names/llama_blocks.h"
#include "convert/names/name_families.h"

// Tables of names of dense decoders: what each of our parameters is called in the families of
// Hugging Face, and in which order its rows stand there.

namespace mpitron::convert {
namespace {

using namespace llama_blocks;

/// GPT-2. Its linear layers are Conv1D modules, which keep the input first: matrices are
/// transposed.
constexpr Entry kGpt2Start[] = {
    padded("embedding.word_embeddings.weight", hidden, "transformer.wte.weight"),
    matrix("embedding.position_embeddings.weight", positions, hidden, "transformer.wpe.weight"),
};

constexpr Entry kGpt2Layer[] = {
    vector("decoder.layers.{}.input_layernorm.weight", hidden, "transformer.h.{}.ln_1.weight"),
    vector("decoder.layers.{}.input_layernorm.bias", hidden, "transformer.h.{}.ln_1.bias"),
    matrix("decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "transformer.h.{}.attn.c_proj.weight")
        .transpose(),
    vector("decoder.layers.{}.self_attention.linear_proj.bias", hidden,
           "transformer.h.{}.attn.c_proj.bias"),
    matrix("decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           "transformer.h.{}.attn.c_attn.weight")
        .ordered(Rows::query_groups)
        .transpose(),
    vector("decoder.layers.{}.self_attention.linear_qkv.bias", qkv,
           "transformer.h.{}.attn.c_attn.bias")
        .ordered(Rows::query_groups),
    vector("decoder.layers.{}.pre_mlp_layernorm.weight", hidden, "transformer.h.{}.ln_2.weight"),
    vector("decoder.layers.{}.pre_mlp_layernorm.bias", hidden, "transformer.h.{}.ln_2.bias"),
    matrix("decoder.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "transformer.h.{}.mlp.c_fc.weight")
        .transpose(),
    vector("decoder.layers.{}.mlp.linear_fc1.bias", ffn, "transformer.h.{}.mlp.c_fc.bias"),
    matrix("decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "transformer.h.{}.mlp.c_proj.weight")
        .transpose(),
    vector("decoder.layers.{}.mlp.linear_fc2.bias", hidden, "transformer.h.{}.mlp.c_proj.bias"),
};

constexpr Entry kGpt2End[] = {
    vector("decoder.final_layernorm.weight", hidden, "transformer.ln_f.weight"),
    vector("decoder.final_layernorm.bias", hidden, "transformer.ln_f.bias"),
    padded("output_layer.weight", hidden, "lm_head.weight").only(untied),
};

/// Gemma: post_attention_layernorm stands behind attention there, and not in front of the MLP.
constexpr Entry kGemmaNorms[] = {
    vector("decoder.layers.{}.input_layernorm.weight", hidden,
           "model.layers.{}.input_layernorm.weight"),
    vector("decoder.layers.{}.post_self_attn_layernorm.weight", hidden,
           "model.layers.{}.post_attention_layernorm.weight"),
    vector("decoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "model.layers.{}.pre_feedforward_layernorm.weight"),
    vector("decoder.layers.{}.post_mlp_layernorm.weight", hidden,
           "model.layers.{}.post_feedforward_layernorm.weight"),
};

/// The families, in the order of a model: blocks whose names have {} are written out layer by
/// layer.
constexpr EntryBlock kGpt2[] = {kGpt2Start, kGpt2Layer, kGpt2End};
constexpr EntryBlock kLlama[] = {kLlamaStart, kLlamaNorms, kLlamaAttention, kLlamaMlp, kLlamaEnd};
constexpr EntryBlock kGemma2[] = {kLlamaStart, kGemmaNorms, kLlamaAttention, kLlamaMlp, kLlamaEnd};
constexpr EntryBlock kGemma3[] = {kLlamaStart, kGemmaNorms, kLlamaAttention,
                                  kHeadNorms,  kLlamaMlp,   kLlamaEnd};

}  // namespace

std::span<const EntryBlock> gpt2_names() {
  return kGpt2;
}

std::span<const EntryBlock> llama_names() {
  return kLlama;
}

std::span<const EntryBlock> gemma2_names() {
  return kGemma2;
}

std::span<const EntryBlock> gemma3_names() {
  return kGemma3;
}

}  // namespace mpitron::convert
