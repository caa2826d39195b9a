#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Layers and tables that keep their weights (`--freeze-layers`, `--freeze-embeddings`).
struct FrozenParts {
  Index first_layer = 1, last_layer = 0;  // from 1 on; none where last < first
  bool embeddings = false;

  bool has_layer(Index layer) const { return layer >= first_layer && layer <= last_layer; }
};

/// Low-rank updates of linear layers (Hu et al. 2021), y = W x + s B A dropout(x), of which A and B
/// alone are trained. Layers have the names of Hugging Face's Llama:
/// `model.layers.1.self_attn.q_proj`.
struct LoraConfig {
  Index rank = 0;
  double alpha = 0;
  double dropout = 0;
  bool rank_stabilised = false;  // s = alpha / sqrt(r) in place of alpha / r
  // last parts of names, `all-linear`, or one regular expression of whole names
  std::vector<std::string> target_modules;
  std::map<std::string, Index> rank_pattern;  // by the end of names, which may be an expression
  std::map<std::string, double> alpha_pattern;
  bool base_in_4_bits = false;  // the linear weights of layers that are kept (Dettmers et al. 2023)

  /// The size and scale of one layer's update.
  struct Update {
    Index rank = 0;
    double scale = 0;
  };
  /// Returns nothing for a layer that keeps its weights as they are.
  std::optional<Update> update_of(const std::string& module) const;
};

/// Returns whether a target is a regular expression (ECMAScript's) rather than the last parts of a
/// name.
bool is_expression(const std::string& target);
/// Returns what is wrong with an expression; an empty text where nothing is.
std::string problem_of_expression(const std::string& expression);

/// Returns what Hugging Face's Llama calls the place of parameters with this prefix:
/// `model.layers.1.self_attn.q_proj` for `decoder.layers.1.self_attention.q_proj.`.
std::string module_name(std::string prefix);

/// Return the name, or the end or expression of names, of a module in Llama's words for one in
/// Llama 4's, and the other way around: `mlp.up_proj` and `feed_forward.up_proj`.
std::string module_of_llama(std::string llama4);
std::string module_of_llama4(std::string llama);

}  // namespace mpitron::config
