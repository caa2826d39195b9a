#pragma once
#include <span>

#include "convert/names/name_entry.h"

namespace mpitron::convert {

/// Tensors of decoders in Hugging Face's layout and in ours, in the order of a model.
std::span<const EntryBlock> gpt2_names();
/// Llama, and the families that took its names.
std::span<const EntryBlock> llama_names();
/// Llama's with experts in place of each MLP (Jiang et al. 2024).
std::span<const EntryBlock> mixtral_names();
/// Llama's with latent attention and, behind the first layers, experts (DeepSeek-AI 2024).
std::span<const EntryBlock> deepseek_v2_names();
/// Mamba mixers alone (Dao and Gu 2024).
std::span<const EntryBlock> mamba2_names();
/// Mamba mixers, attention and MLPs as layers of one branch (NVIDIA 2025).
std::span<const EntryBlock> nemotron_h_names();
/// Delta nets, gated attention and experts behind each (Qwen 2025).
std::span<const EntryBlock> qwen3_next_names();

}  // namespace mpitron::convert
