#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The part of a layer in which positions of a sequence see each other.
enum class MixerKind {
  none,
  attention,
  latent_attention,
  sparse_attention,
  state_space,
  delta_net
};
/// The part of a layer that works on each position alone.
enum class FeedForwardKind { none, dense, experts };

/// State that a layer carries from position to position when tokens come one by one.
enum class LayerState { none, key_value_cache, recurrent };

/// Facts on a kind of mixer that flags and rules need; nn has the other half of its description.
struct MixerFacts {
  MixerKind kind;
  const char* name;  // in tables for readers
  char letter;       // in --hybrid-layer-pattern; 0: has none
  LayerState state;
};

/// Facts on a kind of feed-forward network; it has no state, and any rank may have any positions.
struct FeedForwardFacts {
  FeedForwardKind kind;
  const char* name;
  char letter;
};

/// One row a kind, in the order of the enumerators.
std::span<const MixerFacts> mixer_kinds();
const MixerFacts& facts(MixerKind kind);
const FeedForwardFacts& facts(FeedForwardKind kind);

/// Returns whether a table has a row for each enumerator, at its place.
template <class Rows>
constexpr bool in_order(const Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].kind) != i) {
      return false;
    }
  }
  return true;
}

/// A layer: x + mixer(norm(x)), the same with cross attention, the same with the feed-forward
/// network; without what is `none`.
struct LayerSpec {
  MixerKind mixer = MixerKind::attention;
  bool cross_attention = false;
  FeedForwardKind feed_forward = FeedForwardKind::dense;
  bool causal = true;   // a position sees itself and those before it
  bool rotates = true;  // in a model with rotary positions
  bool window = false;  // keys farther than --window-size are hidden
  Index chunk = 0;      // keys of other chunks of so many positions are hidden; 0: none

  /// "attention", "self and cross", "mamba", ...; "-" where there is none.
  const char* mixer_name() const;
  bool operator==(const LayerSpec&) const = default;
};

/// Returns what the flags or the pattern's letter make of layer `number`, 1-based and global; T5
/// counts those of its decoder behind those of its encoder. Depths of multi-token prediction are
/// layers behind the last one, with letters of their own where the pattern has them, else as that
/// one, but rotate as the first layer: the reference's have its number (MultiTokenPredictionLayer
/// gives its transformer layer none).
LayerSpec layer_spec(const ModelConfig& model, Index number);

/// Returns all layers of the model, without depths of prediction.
std::vector<LayerSpec> layer_pattern(const ModelConfig& model);

/// Returns whether a layer of a hybrid, or of a GPT with an attention variant, has this mixer.
bool has_mixer(const ModelConfig& model, MixerKind kind);

/// Returns whether one of the layers `first` to `last` (numbers of layer_spec) carries something
/// else than keys and values from position to position.
bool keeps_states(const ModelConfig& model, Index first, Index last);

/// Returns the letters that a pattern may have.
std::string pattern_letters();

/// Returns the letters of --hybrid-attention-ratio and --hybrid-mlp-ratio: attention layers lie
/// evenly among all, MLPs evenly among the others (the reference's allocate_layers).
std::string pattern_of_ratios(Index layers, double attention_ratio, double mlp_ratio);

/// Counts a letter in a pattern.
Index count_letter(std::string_view pattern, char letter);

/// A pattern with what it says beside its letters: M*|M*/MM/MM has two pipeline segments and two
/// depths of multi-token prediction.
struct HybridPattern {
  std::string letters = {};              // of the layers, without bars
  std::vector<Index> segments = {};      // layers of each pipeline segment; empty without bars
  std::vector<std::string> depths = {};  // letters of each depth of prediction, wanted equal
};
/// Takes a pattern apart; unknown letters are left to the rules.
HybridPattern read_pattern(std::string_view text);

}  // namespace mpitron::config
