#include "config/resolve/resolve.h"

// Options on hybrid models as a HybridConfig: letters of layers, sizes of Mamba-2 mixers and gated
// delta nets, and the layers of a GPT that get one.

namespace mpitron::config {
namespace {

/// Marks the layers with a delta net instead of attention: a list says it for each, a number n
/// leaves every n-th its attention. Empty without --experimental-attention-variant.
std::vector<bool> delta_layers(const OptionValues& v, Index layers) {
  std::vector<bool> result;
  if (v.maybe_text("experimental_attention_variant").value_or("") != "gated_delta_net") {
    return result;
  }
  const Frequency frequency =
      parse_list_expression(v.maybe_text("linear_attention_freq").value_or("1"));
  for (const Index entry : frequency.entries) {
    result.push_back(entry != 0);
  }
  for (Index layer = 1; !frequency.is_list && frequency.number > 0 && layer <= layers; ++layer) {
    result.push_back(layer % frequency.number != 0);
  }
  return result;
}

/// Lets the heads fill twice the width where no number is given: the reference's expand factor 2.
MambaConfig mamba(const OptionValues& v) {
  MambaConfig m{.state_dim = v.integer("mamba_state_dim"),
                .head_dim = v.integer("mamba_head_dim"),
                .groups = v.integer("mamba_num_groups")};
  const Index width = 2 * v.maybe_integer("hidden_size").value_or(0);
  m.heads = v.maybe_integer("mamba_num_heads").value_or(m.head_dim > 0 ? width / m.head_dim : 0);
  return m;
}

}  // namespace

/// Turns patterns and ratios into the same letters, so that no code behind asks which was given.
HybridPattern given_pattern(const OptionValues& v) {
  if (!family_of(v.text("model")).by_letters) {
    return {};
  }
  for (const char* option : {"hybrid_layer_pattern", "hybrid_override_pattern"}) {
    if (const auto text = v.maybe_text(option)) {
      return read_pattern(*text);
    }
  }
  return {.letters =
              pattern_of_ratios(v.maybe_integer("num_layers").value_or(0),
                                v.real("hybrid_attention_ratio"), v.real("hybrid_mlp_ratio"))};
}

bool has_letter(const OptionValues& v, char letter) {
  const HybridPattern pattern = given_pattern(v);
  return count_letter(pattern.letters, letter) > 0 ||
         (!pattern.depths.empty() && count_letter(pattern.depths.front(), letter) > 0);
}

bool has_sparse_attention(const OptionValues& v) {
  return has_letter(v, 'D') || v.maybe_text("experimental_attention_variant").value_or("") == "dsa";
}

HybridConfig resolve_hybrid(const OptionValues& v) {
  const HybridPattern pattern = given_pattern(v);
  return {.pattern = pattern.letters,
          .depth_pattern = pattern.depths.empty() ? "" : pattern.depths.front(),
          .one_branch_a_layer = v.flag("is_hybrid_model"),
          .mamba = mamba(v),
          .delta_net = {.conv_width = v.integer("linear_conv_kernel_dim"),
                        .key_dim = v.integer("linear_key_head_dim"),
                        .value_dim = v.integer("linear_value_head_dim"),
                        .key_heads = v.integer("linear_num_key_heads"),
                        .value_heads = v.integer("linear_num_value_heads")},
          .delta_layers = delta_layers(v, v.maybe_integer("num_layers").value_or(0))};
}

}  // namespace mpitron::config
