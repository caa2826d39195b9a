#include "convert/name_table.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "convert/name_families.h"
#include "utils/error.h"

namespace mpitron::convert {
namespace {

using config::ModelConfig;
using config::PositionEmbedding;
using enum Extent;

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
    case queries:
      return m.num_attention_heads * m.kv_channels;
    case keys:
      return m.num_query_groups * m.kv_channels;
    case qkv:
      return (m.num_attention_heads + 2 * m.num_query_groups) * m.kv_channels;
    case ffn:
      return m.ffn_hidden_size;
    case fc1:
      break;
  }
  return m.ffn_hidden_size * (m.gated_linear_unit ? 2 : 1);
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

bool applies(When when, const ModelConfig& m) {
  switch (when) {
    case When::linear_bias:
      return m.add_bias_linear;
    case When::qkv_bias:
      return m.add_qkv_bias;
    case When::untied:
      return m.untie_embeddings_and_output_weights;
    case When::always:
      break;
  }
  return true;
}

std::string with_layer(std::string name, Index layer) {
  if (const std::size_t at = name.find("{}"); at != std::string::npos) {
    name.replace(at, 2, std::to_string(layer));
  }
  return name;
}

NameRule make_rule(const Entry& entry, Index layer, const ModelDescription& description) {
  NameRule rule{.ours = with_layer(entry.ours, layer),
                .shape = {extent(entry.rows, description)},
                .theirs = {},
                .transposed = entry.transposed,
                .moves = {}};
  if (entry.columns != none) {
    rule.shape.push_back(extent(entry.columns, description));
  }
  for (const Theirs& part : entry.theirs) {
    if (part.name != nullptr) {
      rule.theirs.push_back({with_layer(part.name, layer), extent(part.rows, description)});
    }
  }
  rule.moves = entry.order == Rows::query_groups
                   ? group_moves(description.model)
                   : std::vector<RowMove>{{0, 0, rule.rows_of_theirs()}};
  return rule;
}

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
  const auto add = [&](const Entry& entry, Index layer) {
    if (applies(entry.when, model)) {
      table.rules.push_back(make_rule(entry, layer, description));
    }
  };
  const auto of_layer = [](const Entry& entry) {
    return std::string_view(entry.ours).find("{}") != std::string_view::npos;
  };
  // The entries of a layer stand together.
  const auto first = std::ranges::find_if(family.entries, of_layer);
  const auto last = std::find_if_not(first, family.entries.end(), of_layer);
  for (const Entry& entry : std::span(family.entries.begin(), first)) {
    add(entry, 0);
  }
  for (Index layer = 0; layer < model.num_layers; ++layer) {
    for (const Entry& entry : std::span(first, last)) {
      add(entry, layer);
    }
  }
  for (const Entry& entry : std::span(last, family.entries.end())) {
    add(entry, 0);
  }
  if (!model.untie_embeddings_and_output_weights) {
    table.aliases.push_back({"lm_head.weight", family.words});
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
