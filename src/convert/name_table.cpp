#include "convert/name_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include <fmt/ranges.h>

#include "utils/error.h"

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::Normalization;
using config::PositionEmbedding;

/// Sizes that tensors are made of.
enum class Extent {
  none,
  hidden,
  padded_vocabulary,
  vocabulary,
  positions,
  queries,  // heads * channels
  keys,     // groups * channels; values are as many
  qkv,      // queries + keys + values
  ffn,
  fc1  // ffn, or both halves of a gated one
};
/// How rows are ordered in ours.
enum class Rows {
  in_order,
  // theirs: all queries, all keys, all values; ours: per group its queries, key, value
  query_groups
};
enum class When { always, linear_bias, qkv_bias, untied };

struct Theirs {
  const char* name = nullptr;
  Extent rows = Extent::none;
};

/// A rule before the sizes are known; {} stands for the layer.
struct Entry {
  const char* ours;
  Extent rows;
  Extent columns;
  std::array<Theirs, 3> theirs;
  Rows order = Rows::in_order;
  bool transposed = false;
  When when = When::always;
};

using enum Extent;
using enum Rows;

constexpr bool kTransposed = true;

constexpr Entry kGpt2[] = {
    {"embedding.word_embeddings.weight",
     padded_vocabulary,
     hidden,
     {{{"transformer.wte.weight", vocabulary}}}},
    {"embedding.position_embeddings.weight",
     positions,
     hidden,
     {{{"transformer.wpe.weight", positions}}}},
    {"decoder.layers.{}.input_layernorm.weight",
     hidden,
     none,
     {{{"transformer.h.{}.ln_1.weight", hidden}}}},
    {"decoder.layers.{}.input_layernorm.bias",
     hidden,
     none,
     {{{"transformer.h.{}.ln_1.bias", hidden}}}},
    {"decoder.layers.{}.self_attention.linear_proj.weight",
     hidden,
     queries,
     {{{"transformer.h.{}.attn.c_proj.weight", hidden}}},
     in_order,
     kTransposed},
    {"decoder.layers.{}.self_attention.linear_proj.bias",
     hidden,
     none,
     {{{"transformer.h.{}.attn.c_proj.bias", hidden}}}},
    {"decoder.layers.{}.self_attention.linear_qkv.weight",
     qkv,
     hidden,
     {{{"transformer.h.{}.attn.c_attn.weight", qkv}}},
     query_groups,
     kTransposed},
    {"decoder.layers.{}.self_attention.linear_qkv.bias",
     qkv,
     none,
     {{{"transformer.h.{}.attn.c_attn.bias", qkv}}},
     query_groups},
    {"decoder.layers.{}.pre_mlp_layernorm.weight",
     hidden,
     none,
     {{{"transformer.h.{}.ln_2.weight", hidden}}}},
    {"decoder.layers.{}.pre_mlp_layernorm.bias",
     hidden,
     none,
     {{{"transformer.h.{}.ln_2.bias", hidden}}}},
    {"decoder.layers.{}.mlp.linear_fc1.weight",
     ffn,
     hidden,
     {{{"transformer.h.{}.mlp.c_fc.weight", ffn}}},
     in_order,
     kTransposed},
    {"decoder.layers.{}.mlp.linear_fc1.bias",
     ffn,
     none,
     {{{"transformer.h.{}.mlp.c_fc.bias", ffn}}}},
    {"decoder.layers.{}.mlp.linear_fc2.weight",
     hidden,
     ffn,
     {{{"transformer.h.{}.mlp.c_proj.weight", hidden}}},
     in_order,
     kTransposed},
    {"decoder.layers.{}.mlp.linear_fc2.bias",
     hidden,
     none,
     {{{"transformer.h.{}.mlp.c_proj.bias", hidden}}}},
    {"decoder.final_layernorm.weight", hidden, none, {{{"transformer.ln_f.weight", hidden}}}},
    {"decoder.final_layernorm.bias", hidden, none, {{{"transformer.ln_f.bias", hidden}}}},
    {"output_layer.weight",
     padded_vocabulary,
     hidden,
     {{{"lm_head.weight", vocabulary}}},
     in_order,
     !kTransposed,
     When::untied},
};

/// Llama, and the families that took its names.
constexpr Entry kLlama[] = {
    {"embedding.word_embeddings.weight",
     padded_vocabulary,
     hidden,
     {{{"model.embed_tokens.weight", vocabulary}}}},
    {"decoder.layers.{}.input_layernorm.weight",
     hidden,
     none,
     {{{"model.layers.{}.input_layernorm.weight", hidden}}}},
    {"decoder.layers.{}.self_attention.linear_proj.weight",
     hidden,
     queries,
     {{{"model.layers.{}.self_attn.o_proj.weight", hidden}}}},
    {"decoder.layers.{}.self_attention.linear_proj.bias",
     hidden,
     none,
     {{{"model.layers.{}.self_attn.o_proj.bias", hidden}}},
     in_order,
     !kTransposed,
     When::linear_bias},
    {"decoder.layers.{}.self_attention.linear_qkv.weight",
     qkv,
     hidden,
     {{{"model.layers.{}.self_attn.q_proj.weight", queries},
       {"model.layers.{}.self_attn.k_proj.weight", keys},
       {"model.layers.{}.self_attn.v_proj.weight", keys}}},
     query_groups},
    {"decoder.layers.{}.self_attention.linear_qkv.bias",
     qkv,
     none,
     {{{"model.layers.{}.self_attn.q_proj.bias", queries},
       {"model.layers.{}.self_attn.k_proj.bias", keys},
       {"model.layers.{}.self_attn.v_proj.bias", keys}}},
     query_groups,
     !kTransposed,
     When::qkv_bias},
    {"decoder.layers.{}.pre_mlp_layernorm.weight",
     hidden,
     none,
     {{{"model.layers.{}.post_attention_layernorm.weight", hidden}}}},
    {"decoder.layers.{}.mlp.linear_fc1.weight",
     fc1,
     hidden,
     {{{"model.layers.{}.mlp.gate_proj.weight", ffn},
       {"model.layers.{}.mlp.up_proj.weight", ffn}}}},
    {"decoder.layers.{}.mlp.linear_fc1.bias",
     fc1,
     none,
     {{{"model.layers.{}.mlp.gate_proj.bias", ffn}, {"model.layers.{}.mlp.up_proj.bias", ffn}}},
     in_order,
     !kTransposed,
     When::linear_bias},
    {"decoder.layers.{}.mlp.linear_fc2.weight",
     hidden,
     ffn,
     {{{"model.layers.{}.mlp.down_proj.weight", hidden}}}},
    {"decoder.layers.{}.mlp.linear_fc2.bias",
     hidden,
     none,
     {{{"model.layers.{}.mlp.down_proj.bias", hidden}}},
     in_order,
     !kTransposed,
     When::linear_bias},
    {"decoder.final_layernorm.weight", hidden, none, {{{"model.norm.weight", hidden}}}},
    {"output_layer.weight",
     padded_vocabulary,
     hidden,
     {{{"lm_head.weight", vocabulary}}},
     in_order,
     !kTransposed,
     When::untied},
};

/// What a family needs of a model; nothing else can be said in its config.json.
struct Family {
  std::string_view model_type;
  std::span<const Entry> entries;
  const char* words;            // their name of the word embeddings
  const char* optional_prefix;  // files of the first releases lack it
  bool gpt2;                    // learned positions, layer norm, biases; else Llama's choices
  bool qkv_bias;                // always there
};
constexpr Family kFamilies[] = {
    {"gpt2", kGpt2, "transformer.wte.weight", "transformer.", true, true},
    {"llama", kLlama, "model.embed_tokens.weight", "", false, false},
    {"mistral", kLlama, "model.embed_tokens.weight", "", false, false},
    {"qwen2", kLlama, "model.embed_tokens.weight", "", false, true},
};

/// Empty, or what the family would need.
std::string obstacle(const Family& family, const ModelConfig& m) {
  const bool gelu =
      m.activation == ActivationKind::gelu_tanh || m.activation == ActivationKind::gelu_erf;
  const std::pair<bool, const char*> common[] = {
      {!m.qk_layernorm && !m.qk_l2_norm, "no --qk-layernorm"},
      {!m.apply_layernorm_1p, "no --apply-layernorm-1p"},
      {!m.num_experts && !m.multi_latent_attention && !m.mtp_num_layers, "a dense decoder"},
  };
  const std::pair<bool, const char*> gpt2[] = {
      {m.position_embedding_type == PositionEmbedding::learned_absolute,
       "--position-embedding-type learned_absolute"},
      {m.normalization == Normalization::layer_norm, "--normalization LayerNorm"},
      {gelu && !m.gated_linear_unit, "a GELU"},
      {m.add_bias_linear, "biases in all linear layers"},
      {m.num_query_groups == m.num_attention_heads, "no --group-query-attention"},
      {m.kv_channels * m.num_attention_heads == m.hidden_size, "kv_channels = hidden / heads"},
  };
  const bool linear_bias_fits = !m.add_bias_linear || family.model_type == "llama";
  const std::pair<bool, const char*> llama[] = {
      {m.position_embedding_type == PositionEmbedding::rope, "--position-embedding-type rope"},
      {m.rotary_percent == 1, "--rotary-percent 1"},
      {m.normalization == Normalization::rms_norm, "--normalization RMSNorm"},
      {m.gated_linear_unit && m.activation == ActivationKind::silu, "--swiglu"},
      {linear_bias_fits, "--disable-bias-linear"},
      {m.add_bias_linear || m.add_qkv_bias == family.qkv_bias,
       family.qkv_bias ? "--add-qkv-bias" : "no --add-qkv-bias"},
  };
  std::vector<std::string> missing;
  const auto collect = [&](const auto& needs) {
    for (const auto& [met, what] : needs) {
      if (!met) {
        missing.emplace_back(what);
      }
    }
  };
  collect(common);
  family.gpt2 ? collect(gpt2) : collect(llama);
  return fmt::format("{}", fmt::join(missing, ", "));
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
  rule.moves = entry.order == query_groups ? group_moves(description.model)
                                           : std::vector<RowMove>{{0, 0, rule.rows_of_theirs()}};
  return rule;
}

const Family& family_of(std::string_view model_type) {
  const auto* found = std::ranges::find(kFamilies, model_type, &Family::model_type);
  if (found == std::end(kFamilies)) {
    throw_data("--model-type {}: no table of names; there are {}", model_type,
               fmt::join(model_types(), ", "));
  }
  return *found;
}

/// Calls `copy(row of ours, part, row of the part, rows)` for every run of rows that is contiguous
/// on both sides.
template <class Copy>
void for_each_run(const NameRule& rule, const Copy& copy) {
  std::vector<Index> first{0};
  for (const NameRule::Part& part : rule.theirs) {
    first.push_back(first.back() + part.rows);
  }
  for (RowMove move : rule.moves) {
    while (move.count > 0) {
      const auto next = std::ranges::upper_bound(first, move.theirs);
      const auto part = static_cast<std::size_t>(next - first.begin()) - 1;
      const Index rows = std::min(move.count, *next - move.theirs);
      copy(move.ours, part, move.theirs - first[part], rows);
      move = {move.ours + rows, move.theirs + rows, move.count - rows};
    }
  }
}

template <std::size_t kSize>
void transpose_elements(const std::byte* from, Index rows, Index columns, std::byte* to) {
  constexpr Index kBlock = 32;  // both sides stay in the cache
  for (Index first = 0; first < rows; first += kBlock) {
    for (Index j = 0; j < columns; ++j) {
      for (Index i = first; i < std::min(rows, first + kBlock); ++i) {
        std::memcpy(to + static_cast<std::size_t>(j * rows + i) * kSize,
                    from + static_cast<std::size_t>(i * columns + j) * kSize, kSize);
      }
    }
  }
}

HostTensor transposed(const HostTensor& tensor) {
  const Index rows = tensor.shape()[0], columns = tensor.shape()[1];
  HostTensor result(TensorInfo{"", {columns, rows}, tensor.dtype()});
  if (size_of(tensor.dtype()) == 2) {
    transpose_elements<2>(tensor.bytes().data(), rows, columns, result.data());
  } else {
    MPITRON_CHECK(size_of(tensor.dtype()) == 4, name_of(tensor.dtype()));
    transpose_elements<4>(tensor.bytes().data(), rows, columns, result.data());
  }
  return result;
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
  for (const Family& family : kFamilies) {
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
  bool layers_done = false;
  for (const Entry& entry : family.entries) {
    if (!of_layer(entry)) {
      add(entry, 0);
      continue;
    }
    for (Index layer = 0; !layers_done && layer < model.num_layers; ++layer) {
      for (const Entry& inner : family.entries) {
        if (of_layer(inner)) {
          add(inner, layer);
        }
      }
    }
    layers_done = true;
  }
  if (!model.untie_embeddings_and_output_weights) {
    table.aliases.push_back({"lm_head.weight", family.words});
  }
  return table;
}

std::string_view matching_model_type(const ModelDescription& description) {
  for (const Family& family : kFamilies) {
    if (obstacle(family, description.model).empty()) {
      return family.model_type;
    }
  }
  return {};
}

HostTensor join(const NameRule& rule, const std::vector<HostTensor>& theirs) {
  const DType dtype = theirs.at(0).dtype();
  std::vector<HostTensor> turned;
  for (const HostTensor& tensor : theirs) {
    MPITRON_CHECK(tensor.dtype() == dtype, rule.ours);
    if (rule.transposed) {
      turned.push_back(transposed(tensor));
    }
  }
  const std::vector<HostTensor>& from = rule.transposed ? turned : theirs;
  const std::size_t row_bytes = static_cast<std::size_t>(rule.columns()) * size_of(dtype);
  HostTensor ours(TensorInfo{rule.ours, rule.shape, dtype});
  for_each_run(rule, [&](Index row, std::size_t part, Index from_row, Index rows) {
    std::memcpy(ours.data() + static_cast<std::size_t>(row) * row_bytes,
                from[part].bytes().data() + static_cast<std::size_t>(from_row) * row_bytes,
                static_cast<std::size_t>(rows) * row_bytes);
  });
  return ours;
}

HostTensor take_part(const NameRule& rule, const HostTensor& ours, std::size_t part) {
  const std::size_t row_bytes = static_cast<std::size_t>(rule.columns()) * size_of(ours.dtype());
  Shape shape = rule.shape;
  shape[0] = rule.theirs[part].rows;
  HostTensor result(TensorInfo{rule.theirs[part].name, shape, ours.dtype()});
  for_each_run(rule, [&](Index row, std::size_t of, Index to_row, Index rows) {
    if (of == part) {
      std::memcpy(result.data() + static_cast<std::size_t>(to_row) * row_bytes,
                  ours.bytes().data() + static_cast<std::size_t>(row) * row_bytes,
                  static_cast<std::size_t>(rows) * row_bytes);
    }
  });
  return rule.transposed ? transposed(result) : std::move(result);
}

}  // namespace mpitron::convert
