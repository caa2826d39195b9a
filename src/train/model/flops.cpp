#include "train/model/flops.h"

#include "nn/attention/attention_costs.h"
#include "nn/layers/layer_rows.h"

namespace mpitron::train {
namespace {

/// Forward and two products of backward, two operations per multiply-add.
constexpr double kPerMultiplyAdd = 3 * 2;

double tokens_of(Index batch_size, Index length) {
  return static_cast<double>(batch_size * length);
}

}  // namespace

/// Source: num_floating_point_operations of the reference: three times the forward pass, two
/// operations a multiply-add, without recomputation.
double flops_per_iteration(const config::ModelConfig& model, Index batch_size) {
  const Index depths = model.mtp_num_layers.value_or(0);
  double layers = 0;
  for (Index number = 1; number <= model.layers_and_depths(); ++number) {
    layers += nn::layer_costs(model, config::layer_spec(model, number)).multiply_adds;
  }
  const auto h = static_cast<double>(model.hidden_size), mtp = static_cast<double>(depths);
  const double mtp_glue = mtp * (3 * h + 2 * h * h);
  const double logits = h * static_cast<double>(model.padded_vocab_size) * (mtp + 1);
  return tokens_of(batch_size, model.seq_length) * kPerMultiplyAdd * (layers + mtp_glue + logits);
}

/// Counts the operations of one layer, for a table by layer.
double layer_flops_per_iteration(const config::ModelConfig& model, const config::LayerSpec& layer,
                                 Index batch_size) {
  if (!layer.cross_attention) {
    return tokens_of(batch_size, model.seq_length) * kPerMultiplyAdd *
           nn::layer_costs(model, layer).multiply_adds;
  }
  config::ModelConfig decoder = model;
  decoder.seq_length = model.decoder_seq_length;
  const double multiply_adds = nn::layer_costs(decoder, layer).multiply_adds +
                               nn::cross_attention_costs(model).multiply_adds;
  return tokens_of(batch_size, model.decoder_seq_length) * kPerMultiplyAdd * multiply_adds;
}

double throughput_per_device(double flops, double seconds, Index world_size) {
  return flops / (seconds * 1e12 * static_cast<double>(world_size));
}

}  // namespace mpitron::train
