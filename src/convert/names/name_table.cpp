#include "convert/names/name_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "config/layer_pattern.h"
#include "convert/names/name_families.h"
#include "utils/error.h"

namespace mpitron::convert {
namespace {

using config::ModelConfig;
using config::PositionEmbedding;
using enum Extent;

Index halves(const ModelConfig& m) {
  return m.gated_linear_unit ? 2 : 1;
}

Index extent_of_latents(Extent which, const ModelConfig& m) {
  const Index n = m.num_attention_heads;
  switch (which) {
    case latent_queries:
      return n * (m.qk_head_dim + m.qk_pos_emb_head_dim);
    case latent_values:
      return n * m.v_head_dim;
    case latent_kv:
      return n * (m.qk_head_dim + m.v_head_dim);
    case query_rank:
      return m.q_lora_rank.value_or(0);
    case kv_rank:
      return m.kv_lora_rank;
    default:
      MPITRON_CHECK(which == kv_rank_and_rope, static_cast<int>(which));
      return m.kv_lora_rank + m.qk_pos_emb_head_dim;
  }
}

Index extent_of_experts(Extent which, const ModelConfig& m) {
  switch (which) {
    case experts:
      return m.moe->num_experts;
    case expert_ffn:
      return m.moe->ffn_hidden_size;
    case expert_fc1:
      return m.moe->ffn_hidden_size * halves(m);
    case shared_ffn:
      return m.moe->shared_expert_intermediate_size;
    case shared_fc1:
      return m.moe->shared_expert_intermediate_size * halves(m);
    default:
      return extent_of_latents(which, m);
  }
}

Index extent(Extent which, const ModelDescription& description) {
  const ModelConfig& m = description.model;
  switch (which) {
    case none:
      return 1;
    case hidden:
      return m.hidden_size;
    case padded_vocabulary:
      return m.padded_vocab_size;
    case vocabulary:
      return description.stored_vocab_size();
    case positions:
      return m.max_position_embeddings;
    case two:
      return 2;
    case queries:
      return m.num_attention_heads * m.kv_channels;
    case keys:
      return m.num_query_groups * m.kv_channels;
    case qkv:
      return (m.num_attention_heads + 2 * m.num_query_groups) * m.kv_channels;
    case kv:
      return 2 * m.num_query_groups * m.kv_channels;
    case ffn:
      return m.ffn_hidden_size;
    case fc1:
      return m.ffn_hidden_size * halves(m);
    case buckets:
      return m.relative_attention_num_buckets;
    case heads:
      return m.num_attention_heads;
    default:
      return extent_of_experts(which, m);
  }
}

/// The rows of one query or key head. Theirs rotate the two halves of a head against each other;
/// where ours rotate neighbours, row 2i of ours is row i of theirs, row 2i + 1 is row i + d/2.
void move_head(const ModelConfig& m, Index ours, Index theirs, std::vector<RowMove>& moves) {
  const Index d = m.kv_channels;
  if (!m.rotary_interleaved || m.position_embedding_type != PositionEmbedding::rope) {
    moves.push_back({ours, theirs, d});
    return;
  }
  for (Index i = 0; i < d / 2; ++i) {
    moves.push_back({ours + 2 * i, theirs + i, 1});
    moves.push_back({ours + 2 * i + 1, theirs + i + d / 2, 1});
  }
}

std::vector<RowMove> group_moves(const ModelConfig& m) {
  const Index d = m.kv_channels, g = m.num_query_groups, heads = m.num_attention_heads / g;
  const Index first_key = m.num_attention_heads * d, first_value = first_key + g * d;
  std::vector<RowMove> moves;
  for (Index group = 0; group < g; ++group) {
    Index ours = group * (heads + 2) * d;
    for (Index head = 0; head < heads; ++head, ours += d) {
      move_head(m, ours, (group * heads + head) * d, moves);
    }
    move_head(m, ours, first_key + group * d, moves);
    moves.push_back({ours + d, first_value + group * d, d});
  }
  return moves;
}

std::vector<RowMove> key_value_moves(const ModelConfig& m) {
  const Index d = m.kv_channels, g = m.num_query_groups;
  std::vector<RowMove> moves;
  for (Index group = 0; group < g; ++group) {
    moves.push_back({2 * group * d, group * d, d});
    moves.push_back({(2 * group + 1) * d, (g + group) * d, d});
  }
  return moves;
}

std::vector<RowMove> moves_of(const Entry& entry, const ModelConfig& m, Index rows) {
  switch (entry.order) {
    case Rows::query_groups:
      return group_moves(m);
    case Rows::key_values:
      return key_value_moves(m);
    case Rows::in_order:
      break;
  }
  return {{0, 0, rows}};
}

/// Of a layer, 0-based; of the model where the entry belongs to none.
bool applies(When when, const ModelConfig& m, Index layer) {
  const bool has_experts =
      config::layer_spec(m, layer + 1).feed_forward == config::FeedForwardKind::experts;
  switch (when) {
    case When::linear_bias:
      return m.add_bias_linear;
    case When::qkv_bias:
      return m.add_qkv_bias;
    case When::untied:
      return m.untie_embeddings_and_output_weights;
    case When::dense_layer:
      return !has_experts;
    case When::expert_layer:
      return has_experts;
    case When::shared_expert:
      return has_experts && m.moe->shared_expert_intermediate_size > 0;
    case When::compressed_queries:
      return m.q_lora_rank.has_value();
    case When::plain_queries:
      return !m.q_lora_rank;
    case When::always:
      break;
  }
  return true;
}

constexpr std::string_view kLayer = "{}", kExpert = "{e}";

bool has(const Entry& entry, std::string_view placeholder) {
  return std::string_view(entry.ours).find(placeholder) != std::string_view::npos;
}

struct Place {
  Index layer = 0, expert = 0;
};

std::string name_at(std::string name, const Place& place) {
  for (const auto& [placeholder, number] :
       {std::pair(kLayer, place.layer), std::pair(kExpert, place.expert)}) {
    if (const std::size_t at = name.find(placeholder); at != std::string::npos) {
      name.replace(at, placeholder.size(), std::to_string(number));
    }
  }
  return name;
}

NameRule make_rule(const Entry& entry, const Place& place, const ModelDescription& description) {
  NameRule rule{.ours = name_at(entry.ours, place),
                .shape = {extent(entry.rows, description)},
                .theirs = {},
                .transposed = entry.transposed,
                .moves = {}};
  if (entry.columns != none) {
    rule.shape.push_back(extent(entry.columns, description));
  }
  const double root = std::sqrt(static_cast<double>(description.model.kv_channels));
  for (const Theirs& part : entry.theirs) {
    if (part.name != nullptr) {
      rule.theirs.push_back({name_at(part.name, place), extent(part.rows, description),
                             part.factor == Factor::sqrt_channels ? root : 1});
    }
  }
  rule.moves = moves_of(entry, description.model, rule.rows_of_theirs());
  return rule;
}

/// Adds the rules of a family's blocks in the order of a model: what stands together in a layer,
/// layer by layer.
class RuleMaker {
 public:
  RuleMaker(const ModelDescription& description, std::vector<NameRule>& rules)
      : description_(description), rules_(rules) {}

  void add(std::span<const EntryBlock> blocks) {
    const auto of_layer = [](const EntryBlock& block) { return has(block.front(), kLayer); };
    while (!blocks.empty()) {
      const auto end = std::ranges::find_if_not(blocks, of_layer);
      const auto layers = blocks.first(static_cast<std::size_t>(end - blocks.begin()));
      for (Index layer = 0; !layers.empty() && layer < description_.model.num_layers; ++layer) {
        for (const EntryBlock& block : layers) {
          add(block, layer);
        }
      }
      if (layers.empty()) {
        add(blocks.front(), 0);
      }
      blocks = blocks.subspan(std::max<std::size_t>(layers.size(), 1));
    }
  }

 private:
  void add(const EntryBlock& block, Index layer) {
    for (const Entry& entry : block) {
      if (!applies(entry.when, description_.model, layer)) {
        continue;
      }
      const Index count = has(entry, kExpert) ? description_.model.moe->num_experts : 1;
      for (Index expert = 0; expert < count; ++expert) {
        rules_.push_back(make_rule(entry, {layer, expert}, description_));
      }
    }
  }

  const ModelDescription& description_;
  std::vector<NameRule>& rules_;
};

const Family& family_of(std::string_view model_type) {
  const auto found = std::ranges::find(families(), model_type, &Family::model_type);
  if (found == families().end()) {
    throw_data("--model-type {}: no table of names; there are {}", model_type,
               fmt::join(model_types(), ", "));
  }
  return *found;
}

}  // namespace

Index NameRule::rows_of_theirs() const {
  Index sum = 0;
  for (const Part& part : theirs) {
    sum += part.rows;
  }
  return sum;
}

Shape NameRule::shape_of(const Part& part) const {
  if (shape.rank() == 1) {
    return {part.rows};
  }
  return transposed ? Shape{columns(), part.rows} : Shape{part.rows, columns()};
}

bool NameTable::is_weight(std::string_view their_name) const {
  return std::ranges::none_of(not_weights,
                              [&](const std::string& end) { return their_name.ends_with(end); });
}

std::vector<std::string_view> model_types() {
  std::vector<std::string_view> names;
  for (const Family& family : families()) {
    names.push_back(family.model_type);
  }
  return names;
}

NameTable make_name_table(std::string_view model_type, const ModelDescription& description) {
  const Family& family = family_of(model_type);
  if (const std::string needs = obstacle(family, description.model); !needs.empty()) {
    throw_data("this model cannot be written as {}, which has {}", model_type, needs);
  }
  const ModelConfig& model = description.model;
  if (description.stored_vocab_size() > model.padded_vocab_size) {
    throw_data("vocab_size {} is more than the {} rows of padded_vocab_size",
               description.stored_vocab_size(), model.padded_vocab_size);
  }
  NameTable table{.rules = {},
                  .aliases = {},
                  .optional_prefix = family.optional_prefix,
                  .not_weights = {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq"}};
  RuleMaker(description, table.rules).add(family.names);
  for (const auto& [copy, which] : family.copies) {
    table.aliases.push_back({copy, which});
  }
  for (const char* copy : family.tied) {
    if (!model.untie_embeddings_and_output_weights) {
      table.aliases.push_back({copy, family.words});
    }
  }
  return table;
}

std::string_view matching_model_type(const ModelDescription& description) {
  for (const Family& family : families()) {
    if (obstacle(family, description.model).empty()) {
      return family.model_type;
    }
  }
  return {};
}

}  // namespace mpitron::convert
