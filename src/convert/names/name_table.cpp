#include "convert/names/name_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/ranges.h>

#include "config/layer_pattern.h"
#include "convert/names/extents.h"
#include "convert/names/name_families.h"
#include "utils/error.h"

// Writes the entries of a family out for every layer and expert of a model: a rule for each
// parameter.

namespace mpitron::convert {
namespace {

using config::ModelConfig;

/// Returns whether the model has such a tensor in this layer, 0-based; entries that belong to no
/// layer ask with 0.
bool applies(When when, const ModelConfig& m, Index layer) {
  using config::FeedForwardKind, config::MixerKind;
  const config::LayerSpec spec = config::layer_spec(m, layer + 1);
  const bool has_experts = spec.feed_forward == FeedForwardKind::experts;
  switch (when) {
    case When::linear_bias:
      return m.add_bias_linear;
    case When::qkv_bias:
      return m.add_qkv_bias;
    case When::untied:
      return m.untie_embeddings_and_output_weights;
    case When::attention_layer:
      return spec.mixer == MixerKind::attention;
    case When::mamba_layer:
      return spec.mixer == MixerKind::state_space;
    case When::delta_layer:
      return spec.mixer == MixerKind::delta_net;
    case When::dense_layer:
      return spec.feed_forward == FeedForwardKind::dense;
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

/// Returns whether the entry stands for a tensor of each layer, or of each expert.
bool has(const Entry& entry, std::string_view placeholder) {
  return std::string_view(entry.ours).find(placeholder) != std::string_view::npos;
}

/// Numbers that stand for {} and {e}.
struct Place {
  Index layer = 0, expert = 0;
};

/// Replaces the placeholders of a name by numbers.
std::string name_at(std::string name, const Place& place) {
  for (const auto& [placeholder, number] :
       {std::pair(kLayer, place.layer), std::pair(kExpert, place.expert)}) {
    if (const std::size_t at = name.find(placeholder); at != std::string::npos) {
      name.replace(at, placeholder.size(), std::to_string(number));
    }
  }
  return name;
}

/// Notes how theirs are cut, where that is neither [rows] nor [rows, columns].
void take_form(Form form, const ModelConfig& model, NameRule& rule) {
  constexpr Index kColours = 3;
  if (form == Form::patches || form == Form::pixels) {
    const Index edge = model.vlm ? model.vlm->patch : model.vision.patch;
    rule.shape_of_theirs = Shape{rule.shape[0], kColours, edge, edge};
    rule.planes = form == Form::pixels ? kColours : 1;
  } else if (form == Form::token) {
    rule.shape_of_theirs = Shape{rule.shape[1]};
  } else if (form == Form::batch_of_one) {
    rule.shape_of_theirs = Shape{1, rule.shape[0], rule.shape[1]};
  }
}

/// Writes an entry out for a layer and an expert: names, shapes, and the moves of rows.
NameRule make_rule(const Entry& entry, const Place& place, const ModelDescription& description) {
  NameRule rule{.ours = name_at(entry.ours, place),
                .shape = {extent(entry.rows, description)},
                .theirs = {},
                .transposed = entry.transposed,
                .moves = {}};
  if (entry.form == Form::convolution) {
    rule.shape.push_back(1);
  }
  if (entry.columns != Extent::none) {
    rule.shape.push_back(extent(entry.columns, description));
  }
  take_form(entry.form, description.model, rule);
  const double root = std::sqrt(static_cast<double>(description.model.kv_channels));
  for (const Theirs& part : entry.theirs) {
    if (part.name != nullptr) {
      rule.theirs.push_back({name_at(part.name, place), extent(part.rows, description),
                             part.factor == Factor::sqrt_channels ? root : 1});
    }
  }
  rule.moves = moves_of(entry.order, description.model, rule.rows_of_theirs());
  return rule;
}

/// Adds the rules of a family's blocks in the order of a model: what stands together in a layer,
/// layer by layer.
class RuleMaker {
 public:
  /// All names begin with a prefix, ours and theirs.
  RuleMaker(const ModelDescription& description, std::vector<NameRule>& rules,
            std::string_view prefix = "", std::string_view their_prefix = "")
      : description_(description), prefix_(prefix), their_prefix_(their_prefix), rules_(rules) {}

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
        NameRule& rule = rules_.back();
        rule.ours.insert(0, prefix_);
        for (NameRule::Part& part : rule.theirs) {
          part.name.insert(0, their_prefix_);
        }
      }
    }
  }

  const ModelDescription& description_;
  std::string prefix_, their_prefix_;
  std::vector<NameRule>& rules_;
};

/// The image encoder of a model that sees images, as a model of its own.
ModelDescription tower_of(const ModelDescription& description) {
  ModelDescription tower{.model = description.model};
  ModelConfig& m = tower.model;
  const config::VlmConfig& vlm = *m.vlm;
  m.num_layers = vlm.tower_layers;
  m.hidden_size = vlm.tower_sizes->hidden_size;
  m.num_attention_heads = m.num_query_groups = vlm.tower_sizes->heads;
  m.kv_channels = vlm.tower_sizes->head_size;
  m.ffn_hidden_size = vlm.tower_sizes->ffn_hidden_size;
  m.max_position_embeddings = vlm.tower_positions();
  m.position_embedding_type = config::PositionEmbedding::learned_absolute;
  m.moe.reset();
  return tower;
}

/// Notes CLIP's end as unused: it is a norm of the class token behind all layers, and LLaVA looks
/// at what is before it. Its values are written as those of a fresh norm.
void leave_the_end_out(const ModelDescription& tower, const std::string& model, NameTable& table) {
  table.unused = {{model + "post_layernorm.weight", tower.model.hidden_size, 1.f},
                  {model + "post_layernorm.bias", tower.model.hidden_size, 0.f}};
  table.layers_with_end = model + "encoder.layers.";
  table.end_of_layers = tower.model.num_layers;
}

/// Returns whether something is computed with a tensor that the table would name so.
bool is_usual_weight(const NameTable& table, std::string_view name) {
  const std::string& layers = table.layers_with_end;
  if (!layers.empty() && name.starts_with(layers)) {
    const std::string number(name.substr(layers.size(), 6));
    // Six characters hold any number of layers; atoi stops at the point behind it.
    return std::atoi(number.c_str()) < table.end_of_layers;
  }
  return !table.is_unused(name) &&
         std::ranges::none_of(table.not_weights,
                              [&](const std::string& end) { return name.ends_with(end); });
}

constexpr std::string_view kTower = "vision_tower.vision_model.";

/// Returns the family; Error(data) lists those there are.
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

/// Returns the shape that the part has in their file.
Shape NameRule::shape_of(const Part& part) const {
  if (shape_of_theirs) {
    return *shape_of_theirs;
  }
  if (transposed) {
    return {columns(), part.rows};
  }
  Shape result = shape;
  result[0] = part.rows;
  return result;
}

std::vector<std::string> NameTable::spelled(const std::string& their_name) const {
  std::vector<std::string> names = {their_name};
  for (const auto& [usual, other] : spellings) {
    if (their_name.starts_with(usual)) {
      names.push_back(other + their_name.substr(std::string_view(usual).size()));
    }
  }
  return names;
}

bool NameTable::is_weight(std::string_view stored_name) const {
  const bool stays_behind = std::ranges::any_of(
      left_out, [&](const char* begin) { return stored_name.starts_with(begin); });
  return !stays_behind && is_usual_weight(*this, stored_name) &&
         std::ranges::all_of(spellings, [&](const Spelling& spelling) {
           const std::string_view other = spelling.other;
           return !stored_name.starts_with(other) ||
                  is_usual_weight(*this,
                                  spelling.usual + std::string(stored_name.substr(other.size())));
         });
}

bool NameTable::is_unused(std::string_view their_name) const {
  return std::ranges::count(unused, their_name, &Unused::name) > 0;
}

std::vector<std::string_view> model_types() {
  std::vector<std::string_view> names;
  for (const Family& family : families()) {
    names.push_back(family.model_type);
  }
  return names;
}

std::optional<GateColumns> stacked_experts(std::string_view model_type) {
  return family_of(model_type).stacked_experts;
}

/// Error(data) names what the family needs and the model has not.
NameTable make_name_table(std::string_view model_type, const ModelDescription& description) {
  const Family& family = family_of(model_type);
  if (const std::string needs = obstacle(family, description.model); !needs.empty()) {
    throw_data("this model cannot be written as {}, which has {}", model_type, needs);
  }
  const ModelConfig& model = description.model;
  if (model.family().has_words() && description.stored_vocab_size() > model.padded_vocab_size) {
    throw_data("vocab_size {} is more than the {} rows of padded_vocab_size",
               description.stored_vocab_size(), model.padded_vocab_size);
  }
  NameTable table{.rules = {},
                  .aliases = {},
                  .spellings = family.spellings,
                  .not_weights = {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq"},
                  .left_out = family.left_out};
  if (!family.tower.empty()) {
    // The encoder comes first, as in our order of parameters.
    const ModelDescription tower = tower_of(description);
    RuleMaker(tower, table.rules).add(family.tower);
    if (model.vlm->tower == config::TowerKind::clip) {
      leave_the_end_out(tower, std::string(kTower), table);
    }
  }
  RuleMaker(description, table.rules).add(family.names);
  RuleMaker(description, table.rules, "language_model.", family.their_language)
      .add(family.language);
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

NameTable make_encoder_table(const ModelDescription& description, const std::string& prefix) {
  NameTable table{.rules = {}, .aliases = {}, .not_weights = {}};
  const bool clip = description.model.vlm->tower == config::TowerKind::clip;
  const ModelDescription tower = tower_of(description);
  RuleMaker(tower, table.rules).add(clip ? clip_names() : siglip_names());
  for (NameRule& rule : table.rules) {
    for (NameRule::Part& part : rule.theirs) {
      part.name.replace(0, kTower.size(), prefix);
    }
  }
  if (clip) {
    leave_the_end_out(tower, prefix, table);
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
