#pragma once
#include "convert/names/name_families.h"

// What families need of a model, in the parts that several of them share.

namespace mpitron::convert {

/// Adds further needs behind those that are there.
void append(Needs& needs, Needs more);

/// Needs of every family: no family has these.
Needs in_any_family(const config::ModelConfig& m, config::ModelKind kind);
/// Needs of layers that all rotate, without norms of heads that have no weights.
Needs rotating_layers(const config::ModelConfig& m);
/// Needs of layers with norms in front alone, and of one kind of rotary positions and scores.
Needs norms_in_front(const config::ModelConfig& m);
/// Norms, gates and mixers of models of before 2025.
Needs classic_layers(const config::ModelConfig& m);
/// Needs of attention that sees all keys, with activations as they are.
Needs unlimited(const config::ModelConfig& m);
/// Needs that Llama and all that came from it share.
Needs modern(const config::ModelConfig& m);
/// Needs of positions that turn all of a head.
Needs whole_heads(const config::ModelConfig& m);
/// A router whose weights are all that decides, and experts that take every token.
Needs plain_routing(const config::MoeConfig& moe);
/// Needs of experts in each layer, of which a token's weights sum to 1, beside nothing or a gated
/// shared one.
Needs experts_everywhere(const config::ModelConfig& m, bool shared);

/// Needs of decoders of 2024 and later, whose layers are not all alike.
Needs gpt_oss(const config::ModelConfig& m);
/// Norms around both branches; Gemma 3 also has norms of heads and rotary positions of windows.
Needs gemma2(const config::ModelConfig& m);
Needs gemma3(const config::ModelConfig& m);
Needs gemma3_images(const config::ModelConfig& m);
Needs llama4(const config::ModelConfig& m);
Needs llama4_images(const config::ModelConfig& m);
Needs qwen3_next(const config::ModelConfig& m);

}  // namespace mpitron::convert
