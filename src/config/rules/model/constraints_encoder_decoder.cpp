#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of encoders with a decoder: its sizes and its relative positions.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Checks a T5's decoder: its length has positions, its layers are as many as the encoder's, and
/// tensor ranks divide it.
Result decoder_sizes(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.family().encoder_decoder) {
    return {};
  }
  if (m.decoder_seq_length < 1 || m.decoder_seq_length > m.max_position_embeddings) {
    return Violation{fmt::format("decoder_seq_length {}, max_position_embeddings {}",
                                 m.decoder_seq_length, m.max_position_embeddings),
                     fmt::format("--decoder-seq-length {}", m.max_position_embeddings)};
  }
  const Index layers = f.values.maybe_integer("decoder_num_layers").value_or(m.num_layers);
  if (layers != m.num_layers) {
    return Violation{
        fmt::format("{} layers of the encoder, {} of the decoder", m.num_layers, layers),
        fmt::format("--decoder-num-layers {}", m.num_layers)};
  }
  const Index ranks = f.run.parallel.tensor_model_parallel_size;
  if (ranks > 0 && m.num_query_groups % ranks != 0) {
    return Violation{fmt::format("{} query groups on {} tensor ranks", m.num_query_groups, ranks),
                     nearest_divisors("tensor-model-parallel-size", m.num_query_groups, ranks)};
  }
  if (f.run.parallel.sequence_parallel && ranks > 0 && m.decoder_seq_length % ranks != 0) {
    return Violation{
        fmt::format("{} % {} = {}", m.decoder_seq_length, ranks, m.decoder_seq_length % ranks),
        nearest_multiples("decoder-seq-length", m.decoder_seq_length, ranks)};
  }
  return {};
}

/// In the encoder each direction has half of the buckets, and half of those stand for single
/// distances: hence the multiple of 4, and a largest distance beyond them.
Result relative_positions(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.position_embedding_type != PositionEmbedding::relative) {
    return {};
  }
  if (!m.family().encoder_decoder) {
    return Violation{"--model " + f.values.text("model"), "--position-embedding-type rope"};
  }
  if (f.run.parallel.pipeline_model_parallel_size > 1) {
    return Violation{"the tables of the bias lie on one stage",
                     "--pipeline-model-parallel-size 1 | --position-embedding-type rope"};
  }
  const Index buckets = m.relative_attention_num_buckets;
  if (buckets >= 4 && buckets % 4 == 0 && m.relative_attention_max_distance > buckets / 2) {
    return {};
  }
  return Violation{
      fmt::format("{} buckets, distance {}", buckets, m.relative_attention_max_distance),
      "--relative-attention-num-buckets 32 --relative-attention-max-distance 128"};
}

constexpr std::array kEncoderDecoderRules = std::to_array<Constraint>({
    {"E156", "decoder_sizes",
     "T5: 1 <= decoder_seq_length <= max_position_embeddings; as many decoder as encoder layers; "
     "tensor ranks divide the query groups and, with sequence parallelism, the decoder's length",
     "model decoder-seq-length decoder-num-layers max-position-embeddings num-query-groups "
     "tensor-model-parallel-size sequence-parallel",
     "The reference gives the decoder --encoder-num-layers layers and reads --decoder-num-layers "
     "nowhere else; a different number would be ignored.",
     decoder_sizes},
    {"E157", "relative_positions",
     "relative positions: T5 on one pipeline stage, buckets % 4 == 0, distance > buckets / 2",
     "position-embedding-type model relative-attention-num-buckets "
     "relative-attention-max-distance pipeline-model-parallel-size",
     "Half of the buckets are exact, the others logarithmic up to the distance; all layers share "
     "one table.",
     relative_positions},
});

}  // namespace

std::span<const Constraint> encoder_decoder_constraints() {
  return kEncoderDecoderRules;
}

}  // namespace mpitron::config
