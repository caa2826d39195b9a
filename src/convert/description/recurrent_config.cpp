#include "convert/description/recurrent_config.h"

#include <algorithm>

#include <fmt/format.h>

#include "config/layer_pattern.h"
#include "nn/state_space/recurrent_layers.h"

// The config.json of decoders whose layers carry a state: Mamba-2, and Nemotron-H (Mamba, attention
// and MLPs by letters). Settings that cannot be computed here are refused together.

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::MambaConfig;
using config::ModelConfig;
using config::ModelKind;
using config::Normalization;
using config::PositionEmbedding;

/// Longest sequence of Mamba, which has none of its own.
constexpr Index kAnyLength = Index{1} << 20;

/// Names of the sizes of Mamba mixers, which the two families call differently.
struct MambaNames {
  const char *heads, *head_dim, *state_dim, *activation;
};
constexpr MambaNames kMamba2Names{"num_heads", "head_dim", "state_size", "hidden_act"};
constexpr MambaNames kNemotronNames{"mamba_num_heads", "mamba_head_dim", "ssm_state_size",
                                    "mamba_hidden_act"};
constexpr SizeNames kNemotronSizes{
    "num_hidden_layers",       "hidden_size",        "intermediate_size", "num_attention_heads",
    "max_position_embeddings", "layer_norm_epsilon", "mlp_hidden_act"};

/// Reads the sizes of Mamba mixers, and refuses what would need another computation.
void read_mamba(ConfigReading& reading, const MambaNames& names) {
  const JsonObject& json = reading.json;
  ModelConfig& m = reading.result.model;
  MambaConfig& mamba = m.hybrid.mamba;
  m.kind = ModelKind::mamba;
  mamba.heads = json.size(names.heads);
  mamba.head_dim = json.size(names.head_dim);
  mamba.state_dim = json.size(names.state_dim);
  mamba.groups = json.size("n_groups");
  m.normalization = Normalization::rms_norm;
  m.position_embedding_type = PositionEmbedding::none;
  m.untie_embeddings_and_output_weights = !json.flag("tie_word_embeddings", false);
  m.add_bias_linear = m.add_qkv_bias = false;
  m.hidden_dropout = 0;
  m.attention_dropout = json.real("attention_dropout", 0);
  reading.require(mamba.heads % mamba.groups == 0, "heads that groups do not share evenly");
  reading.require(m.norm_epsilon == 1e-5, "layer_norm_epsilon that differs from the mixers' 1e-5");
  reading.require(json.size("conv_kernel", nn::kMambaConvWidth) == nn::kMambaConvWidth,
                  "conv_kernel that is not 4");
  const std::string activation = json.text(names.activation, "silu");
  reading.require(activation == "silu" || activation == "swish",
                  fmt::format("{} {}", names.activation, activation));
  for (const char* bias : {"use_bias", "mamba_proj_bias", "attention_bias", "mlp_bias"}) {
    reading.require(!json.flag(bias, false), bias);
  }
  reading.require(json.flag("use_conv_bias", true), "use_conv_bias false");
  const std::vector<double> limits = json.reals("time_step_limit");
  reading.require(limits.empty() || (limits.front() <= 0 && limits.back() > 1e30),
                  "time_step_limit that bounds steps");
}

/// Writes `expand`, the width of the mixers over the hidden size and at least 1, although it
/// follows from the heads: readers of the file need it.
void write_mamba(const ModelConfig& m, const MambaNames& names, JsonObject& json) {
  const MambaConfig& mamba = m.hybrid.mamba;
  json.set(names.heads, mamba.heads);
  json.set(names.head_dim, mamba.head_dim);
  json.set(names.state_dim, mamba.state_dim);
  json.set("n_groups", mamba.groups);
  json.set("conv_kernel", nn::kMambaConvWidth);
  json.set("expand", std::max<Index>(1, mamba.width() / m.hidden_size));
  json.set(names.activation, "silu");
  json.set("use_bias", false);
  json.set("use_conv_bias", true);
}

/// Reads the layers as a pattern or, in newer files, by name.
std::string read_letters(ConfigReading& reading) {
  constexpr std::pair<const char*, char> kNames[] = {
      {"mamba", 'M'}, {kLinear, 'M'}, {"attention", '*'}, {kFull, '*'}, {"mlp", '-'}};
  std::string letters = reading.json.text("hybrid_override_pattern");
  if (letters.empty()) {
    for (const std::string& name : reading.json.texts("layers_block_type")) {
      const auto* found =
          std::ranges::find(kNames, name, [](const auto& row) { return std::string(row.first); });
      letters += found == std::end(kNames) ? '?' : found->second;
    }
  }
  reading.require(!letters.empty() && letters.find_first_not_of("M*-") == std::string::npos,
                  fmt::format("layers {}, of which there are M, * and - here", letters));
  return letters;
}

}  // namespace

/// A model of mixers alone. The norm of the mixers spans all channels there, and a group's here, so
/// only models with one group can be read.
void read_mamba2(ConfigReading& reading) {
  const JsonObject& json = reading.json;
  ModelConfig& m = reading.result.model;
  m.num_layers = json.size("num_hidden_layers");
  m.hidden_size = m.kv_channels = json.size("hidden_size");
  m.num_attention_heads = m.num_query_groups = 1;  // no layer has attention
  m.ffn_hidden_size = 4 * m.hidden_size;           // nor an MLP
  m.max_position_embeddings = kAnyLength;
  m.norm_epsilon = json.real("layer_norm_epsilon", m.norm_epsilon);
  m.activation = ActivationKind::gelu_erf;
  read_mamba(reading, kMamba2Names);
  m.hybrid.pattern.assign(static_cast<std::size_t>(m.num_layers), 'M');
  reading.require(m.hybrid.mamba.groups == 1, "n_groups above 1, whose norm spans all groups");
  reading.require(json.flag("rms_norm", true), "rms_norm false");
}

void write_mamba2(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  json.set("num_hidden_layers", m.num_layers);
  json.set("hidden_size", m.hidden_size);
  json.set("layer_norm_epsilon", m.norm_epsilon);
  json.set("rms_norm", true);
  write_mamba(m, kMamba2Names, json);
}

void read_nemotron_h(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const std::string letters = read_letters(reading);
  m.num_layers = static_cast<Index>(letters.size());  // newer files leave it out
  read_sizes(kNemotronSizes, reading);
  read_query_groups(reading);
  read_mamba(reading, kNemotronNames);
  m.hybrid.pattern = letters;
  reading.require(m.activation == ActivationKind::squared_relu, "mlp_hidden_act that is not relu2");
}

void write_nemotron_h(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  write_sizes(m, kNemotronSizes, json);
  json.set(kNemotronSizes.positions, m.max_position_embeddings);
  json.set("num_key_value_heads", m.num_query_groups);
  json.set("head_dim", m.kv_channels);
  json.set("hybrid_override_pattern", m.hybrid.pattern.c_str());
  json.erase("layers_block_type");
  json.set("attention_bias", false);
  json.set("mlp_bias", false);
  write_mamba(m, kNemotronNames, json);
}

}  // namespace mpitron::convert
