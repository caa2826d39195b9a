#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules on the sizes of every model.

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

constexpr std::array kModelRules = std::to_array<Constraint>({
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
    {"E026", "padded_vocabulary", "padded_vocab_size >= vocab_size", "padded-vocab-size vocab-size",
     "Every token needs a row of the embedding.", padded_vocabulary},
});

}  // namespace

std::span<const Constraint> model_constraints() {
  return kModelRules;
}

}  // namespace mpitron::config
