#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model_config.h"
#include "convert/names/name_entry.h"

namespace mpitron::convert {

/// Properties that a family needs of a model, since nothing else can be said in its config.json:
/// whether the model has it, and the option by which one gets it.
using Needs = std::vector<std::pair<bool, std::string>>;

/// A family of models of Hugging Face: its tensors' names, its needs, and what repeats in its
/// files.
struct Family {
  std::string_view model_type;
  std::span<const EntryBlock> names;
  Needs (*needs)(const config::ModelConfig& model);
  const char* words;                   // their name of the word embeddings; null: there are none
  std::vector<const char*> tied = {};  // theirs that repeat the words where the output is tied
  std::vector<std::pair<const char*, const char*>> copies = {};  // that always repeat: what, which
  std::span<const Spelling> spellings = {};
  std::span<const char* const> left_out = {};       // beginnings of names of what is not here
  std::optional<GateColumns> stacked_experts = {};  // absent: each expert has tensors of its own
  // Names of a model that sees images: its encoder, described by the encoder's sizes, and its
  // language model, all of whose names begin with language_model here.
  std::span<const EntryBlock> tower = {}, language = {};
  std::string_view their_language = "language_model.";  // the same in their names
};

/// Returns all there are; where a model fits several, the first is taken.
std::span<const Family> families();

/// Returns what the model would need to belong to the family; empty where it does.
std::string obstacle(const Family& family, const config::ModelConfig& model);

/// Tensors of decoders in Hugging Face's layout and in ours, in the order of a model.
std::span<const EntryBlock> gpt2_names();
/// Llama, and the families that took its names.
std::span<const EntryBlock> llama_names();
/// Llama's with experts in place of each MLP (Jiang et al. 2024).
std::span<const EntryBlock> mixtral_names();
/// Llama's with latent attention and, behind the first layers, experts (DeepSeek-AI 2024).
std::span<const EntryBlock> deepseek_v2_names();
/// Llama's with sinks of attention and, behind each, experts with biases (OpenAI 2025).
std::span<const EntryBlock> gpt_oss_names();
/// Llama's with norms around both branches (Gemma Team 2024).
std::span<const EntryBlock> gemma2_names();
/// The same with norms of heads (Gemma Team 2025).
std::span<const EntryBlock> gemma3_names();
/// Llama's with experts beside a shared one behind some layers (Meta 2025).
std::span<const EntryBlock> llama4_names();
/// Mamba mixers alone (Dao and Gu 2024).
std::span<const EntryBlock> mamba2_names();
/// Mamba mixers, attention and MLPs as layers of one branch (NVIDIA 2025).
std::span<const EntryBlock> nemotron_h_names();
/// Delta nets, gated attention and experts behind each (Qwen 2025).
std::span<const EntryBlock> qwen3_next_names();

/// MegatronBertForPreTraining: BERT with norms before the branches of a layer, as ours.
std::span<const EntryBlock> megatron_bert_names();
/// T5 with gated feed-forward layers and an output matrix of its own, as UL2 (Tay et al. 2022).
/// Theirs does not scale the scores of attention: queries take the square root of the head's width
/// along. Theirs has no bias of the output.
std::span<const EntryBlock> t5_names();

/// CLIP's image encoder within LLaVA, and what lies between it and the language model.
std::span<const EntryBlock> clip_names();
/// SigLIP's, which has no class token, and a norm behind its layers.
std::span<const EntryBlock> siglip_names();
std::span<const EntryBlock> llava_projector_names();
/// What lies between SigLIP's encoder and Gemma 3's language model.
std::span<const EntryBlock> gemma3_projector_names();

/// Qwen2-VL's encoder, whose two frames of a patch are one (formats/folded_frames.h).
std::span<const EntryBlock> qwen2_vl_tower_names();
/// What merges its patches and brings them to the language model's width.
std::span<const EntryBlock> qwen2_vl_merger_names();

/// Llama 4's encoder.
std::span<const EntryBlock> llama4_tower_names();
/// The MLP that its patches go through by fours, and what brings them to the language model's
/// width.
std::span<const EntryBlock> llama4_adapter_names();

/// ViTForImageClassification (Dosovitskiy et al. 2021): one class token, one layer as the head.
std::span<const EntryBlock> vit_names();

}  // namespace mpitron::convert
