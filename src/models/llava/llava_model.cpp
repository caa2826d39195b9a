#include "models/llava/llava_model.h"

#include <algorithm>

#include "models/llava/llava_batch.h"
#include "ops/elementwise/reshape.h"
#include "ops/parallel/select_rows.h"
#include "ops/parallel/sequence_rows.h"
#include "ops/parallel/tensor_parallel_regions.h"
#include "tensor/host_copy.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

namespace {

config::ModelConfig tower_of(config::ModelConfig config) {
  config.position_embedding_type = config::PositionEmbedding::none;
  config.num_layers = config.vlm->tower_layers;
  config.attention_sink = config::AttentionSink::none;
  config.window_size.reset();
  return config;
}

comm::ParallelGroups whole_sequences(comm::ParallelGroups groups) {
  groups.sequence_parallel = false;
  return groups;
}

/// Where position (i, j), block k of the shuffled [g/2 g/2, T, 4 h] comes from in [g g, T, h]: rows
/// of (position, tile), four neighbours of which are one row of the result.
std::vector<std::int64_t> shuffled_rows(Index grid, Index tiles) {
  std::vector<std::int64_t> rows;
  for (Index i = 0; i < grid / 2; ++i) {
    for (Index j = 0; j < grid / 2; ++j) {
      for (Index tile = 0; tile < tiles; ++tile) {
        for (Index k = 0; k < 4; ++k) {
          rows.push_back(((2 * i + k / 2) * grid + 2 * j + k % 2) * tiles + tile);
        }
      }
    }
  }
  return rows;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& rows) {
  std::vector<std::int64_t> result(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result[static_cast<std::size_t>(rows[i])] = static_cast<std::int64_t>(i);
  }
  return result;
}

tensor::Tensor on_device(Context& context, const std::vector<std::int64_t>& values) {
  const tensor::Tensor numbers =
      tensor::empty_on_host(context.device, {static_cast<Index>(values.size())}, DType::i64);
  std::copy(values.begin(), values.end(), numbers.data<std::int64_t>());
  return tensor::to_device(context.device, numbers);
}

Var as_rows(Context& context, const Var& x) {
  const Index h = x.shape()[-1];
  return ops::reshape(context, x, {x.value.numel() / h, h});
}

}  // namespace

LlavaModel::LlavaModel(const config::ModelConfig& config, device::Device& device, Share share)
    : GptModel(config, device, std::move(share)),
      tower_config_(tower_of(config)),
      tower_groups_(whole_sequences(groups())) {
  const config::VlmConfig& vlm = *config.vlm;
  if (part().has_embedding) {
    const nn::Builder builder({tower_config_, tower_groups_, parameters()});
    const Index inputs = config.hidden_size * (vlm.pixel_shuffle ? 4 : 1);
    tower_.emplace(builder.child("vision_model"), vlm, config.num_layers);
    projector_.emplace(builder.child("vision_projection").child("encoder"), vlm.projector, inputs);
  }
  freeze();
}

void LlavaModel::freeze() {
  const config::VlmConfig& vlm = *config().vlm;
  for (autograd::Parameter& parameter : parameters()) {
    const bool language = parameter.name.starts_with("language_model.");
    const bool tower = parameter.name.starts_with("vision_model.");
    parameter.role.frozen = (vlm.freeze_language_model && language) || (vlm.freeze_tower && tower);
  }
}

Batch LlavaModel::batch(const HostMicrobatch& microbatch, const SequenceSlice& /*slice*/) const {
  return llava_batch(device(), microbatch, *config().vlm);
}

std::span<const std::string_view> LlavaModel::batch_fields() const {
  return llava_fields();
}

Var LlavaModel::tower_output(Context& context, const Batch& batch) const {
  return tower_->forward(context, batch[kTiles]);
}

Var LlavaModel::seen(Context& context, const Var& tower) const {
  const config::VlmConfig& vlm = *config().vlm;
  Var x = tower;
  if (vlm.tower_tokens() > 0 && !(vlm.class_token && !vlm.pixel_shuffle)) {
    x = ops::take_rows(context, x, vlm.tower_tokens(), x.shape()[0]);
  }
  if (!vlm.pixel_shuffle) {
    return x;
  }
  const Index tiles = x.shape()[1], h = x.shape()[2];
  const std::vector<std::int64_t> rows = shuffled_rows(vlm.grid(), tiles);
  const Var moved = ops::select_rows(context, as_rows(context, x),
                                     {on_device(context, rows), on_device(context, inverse(rows))});
  return ops::reshape(context, moved, {vlm.positions(), tiles, 4 * h});
}

Var LlavaModel::embed(Context& context, const Batch& batch) const {
  Var words = GptModel::embed(context, batch);
  const ops::TensorParallel shared = tensor_parallel();
  if (shared.cuts_sequence()) {
    words = ops::replicate_from_sp(context, words, *shared.group);
  }
  const Index b = words.shape()[1], h = words.shape()[2];
  Var rows = as_rows(context, words);
  if (batch[kTiles].numel() > 0) {
    const Var images = projector_->forward(context, seen(context, tower_output(context, batch)));
    rows = ops::join_rows(context, rows, as_rows(context, images));
  }
  Var merged = ops::select_rows(context, rows, {batch[kMergedRows], batch[kMergedFrom]});
  merged = ops::reshape(context, merged, {merged.shape()[0] / b, b, h});
  return shared.cuts_sequence() ? ops::scatter_to_sp(context, merged, *shared.group) : merged;
}

}  // namespace mpitron::models
