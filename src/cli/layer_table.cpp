#include "cli/layer_table.h"

#include <fmt/format.h>

#include "nn/transformer_layer.h"
#include "train/model/flops.h"

namespace mpitron::cli {
namespace {

bool has_cross_attention(const config::LayerKind& kind) {
  return kind.attention == config::LayerKind::Attention::self_and_cross;
}

/// Parameters of a layer that is made without values.
Index parameters_of(const config::ModelConfig& model, Index number) {
  const comm::ParallelGroups groups = comm::groups_of_one(*comm::make_single_world());
  autograd::ParameterList parameters;
  const bool cross_attention = has_cross_attention(config::layer_kind(model, number));
  const nn::TransformerLayer layer(nn::Builder({model, groups, parameters}), number,
                                   {.cross_attention = cross_attention});
  Index count = 0;
  for (const autograd::Parameter& parameter : parameters) {
    count += parameter.shape.numel();
  }
  return count;
}

/// A decoder that has an encoder reads another length.
double flops_of(const config::RunConfig& run, const config::LayerKind& kind) {
  const bool experts = kind.feed_forward == config::LayerKind::FeedForward::experts;
  const Index batch = run.training.global_batch_size;
  train::ModelDimensions dimensions = train::model_dimensions(run.model);
  if (!has_cross_attention(kind)) {
    return train::layer_flops_per_iteration(dimensions, experts, batch);
  }
  dimensions.seq_length = run.model.decoder_seq_length;
  return train::layer_flops_per_iteration(dimensions, experts, batch) +
         train::cross_attention_flops_per_iteration(dimensions, run.model.seq_length, batch);
}

}  // namespace

std::vector<LayerRow> layer_table(const config::RunConfig& run) {
  const auto layout = pipeline::make_stage_layout(run.parallel, run.model.all_layers());
  std::vector<LayerRow> rows;
  for (Index number = 1; number <= run.model.all_layers(); ++number) {
    const config::LayerKind kind = config::layer_kind(run.model, number);
    rows.push_back({.number = number,
                    .kind = kind,
                    .place = layout.owner(number - 1),
                    .parameters = parameters_of(run.model, number),
                    .flops = flops_of(run, kind)});
  }
  return rows;
}

std::string layer_table_text(std::span<const LayerRow> rows) {
  std::string text =
      fmt::format("{:>5}  {:<16}  {:<12}  {:>5}  {:>5}  {:>13}  {:>20}", "layer", "attention",
                  "feed forward", "stage", "chunk", "parameters", "GFLOP per iteration");
  for (const LayerRow& row : rows) {
    text +=
        fmt::format("\n{:>5}  {:<16}  {:<12}  {:>5}  {:>5}  {:>13}  {:>20.3f}", row.number,
                    config::to_string(row.kind.attention), config::to_string(row.kind.feed_forward),
                    row.place.stage, row.place.chunk, row.parameters, row.flops * 1e-9);
  }
  return text;
}

}  // namespace mpitron::cli
