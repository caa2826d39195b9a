#include <algorithm>

#include "models/llava/llava_batch.h"
#include "models/llava/llava_model.h"
#include "ops/elementwise/mean_rows.h"
#include "ops/elementwise/reshape.h"
#include "ops/parallel/select_rows.h"
#include "ops/parallel/sequence_rows.h"
#include "ops/parallel/tensor_parallel_regions.h"
#include "tensor/host_copy.h"

// What a LLaVA model sees: the tower's output, projected to the language model's width.

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

namespace {

/// Lists the rows in [g g, T, h] from which position (i, j), block k of the shuffled [g/2 g/2, T, 4
/// h] comes: rows of (position, tile), four neighbours of which are one row of the result.
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

/// Lists the rows of [g g, T, h] whose mean is row (position, tile) of [m, T, h]: squares of `edge`
/// patches, the first patch of each, then the second ones.
std::vector<std::int64_t> pooled_rows(Index grid, Index edge, Index tiles) {
  std::vector<std::int64_t> rows;
  for (Index k = 0; k < edge * edge; ++k) {
    for (Index i = 0; i < grid; i += edge) {
      for (Index j = 0; j < grid; j += edge) {
        for (Index tile = 0; tile < tiles; ++tile) {
          rows.push_back(((i + k / edge) * grid + j + k % edge) * tiles + tile);
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

/// Returns [m, T, h], the means of squares of patches, of patches [g g, T, h].
Var pooled(Context& context, const Var& patches, const config::VlmConfig& vlm) {
  const Index tiles = patches.shape()[1], edge = vlm.pooled_edge(), count = vlm.positions() * tiles;
  const std::vector<std::int64_t> rows = pooled_rows(vlm.grid(), edge, tiles);
  std::vector<std::int64_t> groups = inverse(rows);
  std::ranges::for_each(groups, [&](std::int64_t& place) { place %= count; });
  const tensor::Tensor of_groups = on_device(context, rows).reshape({edge * edge, count});
  const Var means =
      ops::mean_rows(context, as_rows(context, patches), {of_groups, on_device(context, groups)});
  return ops::reshape(context, means, {vlm.positions(), tiles, patches.shape()[2]});
}

}  // namespace

Var LlavaModel::tower_output(Context& context, const Batch& batch) const {
  if (!config().vlm->freeze_tower) {
    return tower_->forward(context, batch[kTiles]);
  }
  Context quiet = context;  // nothing is kept of what is not trained
  quiet.recorder.tape = quiet.recorder.usage = nullptr;
  return autograd::constant(tower_->forward(quiet, batch[kTiles]).value);
}

Var LlavaModel::seen(Context& context, const Var& tower) const {
  const config::VlmConfig& vlm = *config().vlm;
  Var x = tower;
  const bool pools = vlm.projector == config::ProjectorKind::pooled;
  const bool only_patches = !vlm.class_token || vlm.pixel_shuffle || pools;
  if (vlm.tower_tokens() > 0 && only_patches) {
    const bool in_front = vlm.parts().class_token == config::ClassToken::in_front;
    const Index first = in_front ? vlm.tower_tokens() : 0;
    x = ops::take_rows(context, x, first, first + vlm.patches());
  }
  if (pools) {
    return pooled(context, x, vlm);
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

Var LlavaModel::projected(Context& context, const Batch& batch) const {
  return projector_->forward(context, seen(context, tower_output(context, batch)));
}

Var LlavaModel::images(Context& context, const Batch& batch) const {
  const Var rows = as_rows(context, projected(context, batch));
  return ops::gather_from_sp(context, rows, *groups().context);
}

tensor::Tensor LlavaModel::see(Context& context, std::span<const float> tiles) const {
  const config::VlmConfig& vlm = *config().vlm;
  const Index count = static_cast<Index>(tiles.size()) / vlm.pixels();
  const Var found = projected(context, {{kTiles, tile_patches(device(), tiles, vlm, {0, count})}});
  const Index positions = found.shape()[0];
  std::vector<std::int64_t> by_tile;
  for (Index i = 0; i < positions * count; ++i) {
    by_tile.push_back(i % positions * count + i / positions);
  }
  return ops::select_rows(context, as_rows(context, found), {on_device(context, by_tile), {}})
      .value;
}

}  // namespace mpitron::models
