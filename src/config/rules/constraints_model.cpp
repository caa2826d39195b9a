#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules on the sizes, positions, norms, types and recomputation of every model.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// All that are missing are told together: each start costs a user a wait.
Result required_options(const Facts& f) {
  std::vector<std::string> missing;
  for (const char* dest : {"num_layers", "hidden_size", "num_attention_heads", "seq_length",
                           "max_position_embeddings", "micro_batch_size"}) {
    if (!f.values.has(dest)) {
      std::string name = dest;
      std::replace(name.begin(), name.end(), '_', '-');
      missing.push_back("--" + name);
    }
  }
  return missing.empty() ? Result()
                         : Violation{fmt::format("missing: {}", fmt::join(missing, ", ")), ""};
}

/// Rules walk over the layers one by one: the bound keeps a mistyped number from taking long.
constexpr Index kMostLayers = 100'000;

/// Checks that sizes lie from 1 to 2^32, and counts of layers from 1 to kMostLayers.
Result possible_sizes(const Facts& f) {
  std::vector<std::string> bad;
  for (const std::string_view dest : {"num_layers",
                                      "encoder_num_layers",
                                      "decoder_num_layers",
                                      "hidden_size",
                                      "ffn_hidden_size",
                                      "num_attention_heads",
                                      "kv_channels",
                                      "num_query_groups",
                                      "seq_length",
                                      "max_position_embeddings",
                                      "micro_batch_size",
                                      "global_batch_size",
                                      "make_vocab_size_divisible_by",
                                      "vocab_size",
                                      "padded_vocab_size",
                                      "rotary_base",
                                      "seed",
                                      "tensor_model_parallel_size",
                                      "pipeline_model_parallel_size",
                                      "context_parallel_size",
                                      "expert_model_parallel_size",
                                      "world_size"}) {
    const Index size = f.values.maybe_integer(dest).value_or(1);
    const Index most = dest.ends_with("num_layers") ? kMostLayers : Index{1} << 32;
    if (size < 1 || size > most) {
      bad.push_back(fmt::format("{} = {}", dest, f.values.text(dest)));
    }
  }
  return bad.empty() ? Result() : Violation{fmt::format("{}", fmt::join(bad, ", ")), ""};
}

Result one_depth(const Facts& f) {
  // The encoder of a vision-language model is that of images, with a depth of its own.
  return f.values.given("num_layers") && f.values.given("encoder_num_layers") &&
                 f.run.model.family().samples != SampleKind::image_texts
             ? Violation{"both are given", "--num-layers " + f.values.text("num_layers")}
             : Result();
}

Result one_length(const Facts& f) {
  return f.values.given("seq_length") && f.values.given("encoder_seq_length")
             ? Violation{"both are given", "--seq-length " + f.values.text("seq_length")}
             : Result();
}

/// Without --kv-channels a head is as wide as its share of the hidden size.
Result head_size(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.num_attention_heads <= 0 || f.values.given("kv_channels") ||
      m.hidden_size % m.num_attention_heads == 0) {
    return {};
  }
  return Violation{
      fmt::format("{} % {} = {}", m.hidden_size, m.num_attention_heads,
                  m.hidden_size % m.num_attention_heads),
      fmt::format("{} | {} | --kv-channels {}",
                  nearest_multiples("hidden-size", m.hidden_size, m.num_attention_heads),
                  nearest_divisors("num-attention-heads", m.hidden_size, m.num_attention_heads),
                  std::max<Index>(1, m.hidden_size / m.num_attention_heads))};
}

Result heads_per_group(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.num_query_groups <= 0 || m.num_attention_heads % m.num_query_groups == 0) {
    return {};
  }
  return Violation{fmt::format("{} % {} = {}", m.num_attention_heads, m.num_query_groups,
                               m.num_attention_heads % m.num_query_groups),
                   nearest_divisors("num-query-groups", m.num_attention_heads, m.num_query_groups)};
}

/// A token behind the last position has no embedding.
Result sequence_fits(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.max_position_embeddings <= 0 || m.seq_length <= m.max_position_embeddings) {
    return {};
  }
  return Violation{fmt::format("{} > {}", m.seq_length, m.max_position_embeddings),
                   fmt::format("--max-position-embeddings {0} | --seq-length {1}", m.seq_length,
                               m.max_position_embeddings)};
}

Result one_activation(const Facts& f) {
  const int count =
      f.values.flag("swiglu") + f.values.flag("squared_relu") + f.values.flag("openai_gelu");
  return count > 1 ? Violation{fmt::format("{} of them are given", count), "--swiglu"} : Result();
}

/// The reference truncates d * percent and rounds the result up to an even number; the sum must fit
/// the head.
Result rotary_dimensions(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const Index head = m.rotary_head_dim();
  if (!m.has_rotary_positions() || head <= 0) {
    return {};
  }
  const auto dims = static_cast<Index>(static_cast<double>(head) * m.rotary_percent);
  const Index turned = dims + dims % 2;  // in pairs
  if (m.rotary_percent > 0 && m.rotary_percent <= 1 && dims > 0 && turned <= head) {
    return {};
  }
  return Violation{fmt::format("int({} * {}) = {}", head, m.rotary_percent, dims),
                   "--rotary-percent 1.0"};
}

/// Stretching divides frequencies: a factor of 0 or less has no meaning.
Result rotary_factors(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const Index interpolation = m.rotary_seq_len_interpolation_factor.value_or(1);
  if (interpolation >= 1 && m.rope_scaling_factor > 0 && m.rotary_scaling_factor > 0) {
    return {};
  }
  return Violation{
      fmt::format("{}, {}, {}", interpolation, m.rope_scaling_factor, m.rotary_scaling_factor), ""};
}

Result one_rotary_stretch(const Facts& f) {
  return f.run.model.rope_type == RopeType::yarn && f.run.model.use_rope_scaling
             ? Violation{"both are given", "--rope-type rope"}
             : Result();
}

/// A list must name every layer; a number must divide the layers, as the reference asserts.
Result layers_without_rotation(const Facts& f) {
  const std::optional<std::string> text = f.values.maybe_text("no_rope_freq");
  const Index layers = f.run.model.num_layers;
  if (!text || layers <= 0) {
    return {};
  }
  const Frequency frequency = parse_list_expression(*text);
  const auto entries = static_cast<Index>(frequency.entries.size());
  if (frequency.is_list) {
    return entries == layers
               ? Result()
               : Violation{fmt::format("the list has {} entries for {} layers", entries, layers),
                           ""};
  }
  if (frequency.number > 0 && layers % frequency.number == 0) {
    return {};
  }
  return Violation{fmt::format("{} layers, every {}-th", layers, frequency.number),
                   nearest_divisors("no-rope-freq", layers, std::max<Index>(1, frequency.number))};
}

Result one_head_norm(const Facts& f) {
  return f.run.model.qk_layernorm && f.run.model.qk_l2_norm
             ? Violation{"both are given", "--qk-layernorm"}
             : Result();
}

Result probabilities(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const auto legal = [](double p) { return p >= 0 && p < 1; };
  if (legal(m.attention_dropout) && legal(m.hidden_dropout)) {
    return {};
  }
  return Violation{fmt::format("attention {}, hidden {}", m.attention_dropout, m.hidden_dropout),
                   ""};
}

Result small_constants(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.norm_epsilon > 0 && m.init_method_std >= 0 &&
      m.embedding_init_method_std.value_or(0) >= 0) {
    return {};
  }
  return Violation{fmt::format("{}, {}, {}", m.norm_epsilon, m.init_method_std,
                               m.embedding_init_method_std.value_or(0)),
                   ""};
}

/// Padding only adds rows.
Result padded_vocabulary(const Facts& f) {
  const std::optional<Index> size = f.run.data.vocab_size;
  const std::optional<Index> padded = f.run.data.padded_vocab_size;
  if (!size || !padded || *padded >= *size) {
    return {};
  }
  return Violation{fmt::format("{} < {}", *padded, *size),
                   fmt::format("--padded-vocab-size {}",
                               pad_vocab_size(*size, f.run.data.make_vocab_size_divisible_by, 1))};
}

Result one_half_precision(const Facts& f) {
  return f.run.optimizer.fp16 && f.run.optimizer.bf16 ? Violation{"both are given", "--bf16"}
                                                      : Result();
}

Result half_cross_entropy(const Facts& f) {
  return f.run.model.fp16_lm_cross_entropy && !f.run.optimizer.fp16
             ? Violation{"--fp16 is not given", "--fp16"}
             : Result();
}

Result wide_residual(const Facts& f) {
  return f.run.model.fp32_residual_connection && !f.run.optimizer.fp16 && !f.run.optimizer.bf16
             ? Violation{"the model is fp32 already", "--bf16 | --fp16"}
             : Result();
}

Result loss_scales(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  if (o.loss_scale.value_or(1) > 0 && o.min_loss_scale > 0 &&
      o.initial_loss_scale >= o.min_loss_scale && o.loss_scale_window >= 1 && o.hysteresis >= 1) {
    return {};
  }
  return Violation{fmt::format("loss scale {}, initial {}, min {}, window {}, hysteresis {}",
                               o.loss_scale.value_or(1), o.initial_loss_scale, o.min_loss_scale,
                               o.loss_scale_window, o.hysteresis),
                   ""};
}

Result full_recompute(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.recompute_granularity != RecomputeGranularity::full) {
    return {};
  }
  const bool counted =
      m.recompute_num_layers >= 1 && m.recompute_num_layers <= std::max<Index>(1, m.num_layers);
  if (m.recompute_method != RecomputeMethod::none && counted) {
    return {};
  }
  return Violation{fmt::format("method {}, layers {} of {}",
                               f.values.maybe_text("recompute_method").value_or("missing"),
                               m.recompute_num_layers, m.num_layers),
                   "--recompute-method uniform --recompute-num-layers 1"};
}

Result selective_recompute(const Facts& f) {
  if (f.run.model.recompute_granularity != RecomputeGranularity::selective ||
      (!f.values.has("recompute_method") && !f.values.has("recompute_num_layers"))) {
    return {};
  }
  return Violation{"--recompute-method or --recompute-num-layers is given",
                   "--recompute-granularity full"};
}

}  // namespace

std::span<const Constraint> model_constraints() {
  static constexpr std::array kRules = std::to_array<Constraint>({
      {"E010", "required_options", "a model and a batch need these sizes",
       "num-layers hidden-size num-attention-heads seq-length max-position-embeddings "
       "micro-batch-size",
       "They have no default: the reference refuses to guess them as well.", required_options},
      {"E011", "possible_sizes", "sizes are at least 1 and at most 2^32, layers at most 10^5",
       "num-layers hidden-size ffn-hidden-size num-attention-heads micro-batch-size seed",
       "A size of zero or less describes nothing, and no machine holds a larger one.",
       possible_sizes},
      {"E012", "one_depth", "--num-layers or --encoder-num-layers, not both",
       "num-layers encoder-num-layers",
       "The second is another name of the first for models with an encoder.", one_depth},
      {"E013", "one_length", "--seq-length or --encoder-seq-length, not both",
       "seq-length encoder-seq-length",
       "The second is another name of the first for models with an encoder.", one_length},
      {"E014", "head_size", "hidden_size % num_attention_heads == 0, unless --kv-channels is given",
       "hidden-size num-attention-heads kv-channels",
       "Without --kv-channels the hidden size is cut into heads of equal dimension.", head_size},
      {"E015", "heads_per_group", "num_attention_heads % num_query_groups == 0",
       "num-attention-heads num-query-groups",
       "Each key/value head serves the same number of query heads.", heads_per_group},
      {"E016", "sequence_fits", "seq_length <= max_position_embeddings",
       "seq-length max-position-embeddings", "Positions beyond the table have no embedding.",
       sequence_fits},
      {"E018", "one_activation", "at most one of --swiglu, --squared-relu, --openai-gelu",
       "swiglu squared-relu openai-gelu", "The MLP has one activation.", one_activation},
      {"E019", "rotary_dimensions",
       "0 < rotary_percent <= 1 and int(d * rotary_percent), made even, is in [2, d], d = "
       "kv_channels, or qk_pos_emb_head_dim of latent attention",
       "kv-channels qk-pos-emb-head-dim rotary-percent",
       "Rotation acts on pairs of dimensions: of an odd number of them, one more is turned.",
       rotary_dimensions},
      {"E020", "rotary_factors", "interpolation factor >= 1, scaling factors > 0",
       "rotary-seq-len-interpolation-factor rope-scaling-factor rotary-scaling-factor",
       "Positions and frequencies are divided by them.", rotary_factors},
      {"E021", "one_rotary_stretch", "--use-rope-scaling or --rope-type yarn, not both",
       "use-rope-scaling rope-type", "Both stretch the same frequencies, by different rules.",
       one_rotary_stretch},
      {"E022", "layers_without_rotation",
       "no_rope_freq divides num_layers, or lists one entry per layer", "no-rope-freq num-layers",
       "A number n skips the rotation in every n-th layer; a list names the layers (1: skip).",
       layers_without_rotation},
      {"E023", "one_head_norm", "--qk-layernorm or --qk-l2-norm, not both",
       "qk-layernorm qk-l2-norm", "Queries and keys pass one norm before positions are applied.",
       one_head_norm},
      {"E024", "probabilities", "0 <= dropout < 1", "attention-dropout hidden-dropout",
       "What is kept is divided by 1 - p.", probabilities},
      {"E025", "small_constants", "norm_epsilon > 0, standard deviations >= 0",
       "norm-epsilon init-method-std embedding-init-method-std",
       "A constant row has variance zero.", small_constants},
      {"E026", "padded_vocabulary", "padded_vocab_size >= vocab_size",
       "padded-vocab-size vocab-size", "Every token needs a row of the embedding.",
       padded_vocabulary},
      {"E030", "one_half_precision", "--fp16 or --bf16, not both", "fp16 bf16",
       "Parameters have one type.", one_half_precision},
      {"E031", "half_cross_entropy", "--fp16-lm-cross-entropy needs --fp16",
       "fp16-lm-cross-entropy fp16", "It keeps the logits in the type of an fp16 model.",
       half_cross_entropy},
      {"E032", "wide_residual", "--fp32-residual-connection needs --fp16 or --bf16",
       "fp32-residual-connection fp16 bf16",
       "Only a half-precision model has a narrower residual stream.", wide_residual},
      {"E033", "loss_scales",
       "0 < min_loss_scale <= initial_loss_scale, loss_scale > 0, window >= 1, hysteresis >= 1",
       "loss-scale initial-loss-scale min-loss-scale loss-scale-window hysteresis",
       "The scale is halved after `hysteresis` overflows and doubled after `window` clean steps.",
       loss_scales},
      {"E034", "full_recompute",
       "--recompute-granularity full needs --recompute-method and 1 <= recompute_num_layers <= "
       "num_layers",
       "recompute-granularity recompute-method recompute-num-layers",
       "uniform recomputes groups of that many layers, block the first that many layers of each "
       "stage.",
       full_recompute},
      {"E035", "selective_recompute",
       "--recompute-granularity selective takes no method and no layer count",
       "recompute-granularity recompute-method recompute-num-layers",
       "It recomputes the parts named by --recompute-modules in every layer.", selective_recompute},
  });
  return kRules;
}

}  // namespace mpitron::config
