// Makes and runs low-rank updates beside a linear layer, one for each part that the layer's output
// fuses. Where the layer cuts its rows, B is cut and A lies on every rank; where it cuts its
// columns, the reverse.
#include "nn/base/low_rank_updates.h"

#include "ops/elementwise/bias_dropout_add.h"
#include "ops/elementwise/scaled.h"
#include "ops/linear/parallel_linear.h"
#include "ops/parallel/tensor_parallel_regions.h"

namespace mpitron::nn {

using autograd::Adapter;
using autograd::Context;
using autograd::Recomputable;
using autograd::Var;
using tensor::Tensor;

LowRankUpdates::LowRankUpdates(const Builder& builder, DropoutSite site, Cut cut)
    : shared_(builder.tensor_parallel()),
      cut_(cut),
      dropout_(builder.config().lora ? builder.config().lora->dropout : 0),
      site_(site),
      layer_(builder.layer_number()) {}

LowRankUpdates LowRankUpdates::of_columns(const Builder& builder, const Layer& layer,
                                          const std::vector<Part>& parts) {
  LowRankUpdates updates(builder, layer.site, Cut::columns);
  for (const Part& part : parts) {
    updates.make(builder, part, layer.in);
  }
  return updates;
}

LowRankUpdates LowRankUpdates::of_rows(const Builder& builder, const Layer& layer, const char* name,
                                       Index out) {
  LowRankUpdates updates(builder, layer.site, Cut::rows);
  updates.make(builder, {name, out, {.width = out}}, layer.in);
  return updates;
}

LowRankUpdates LowRankUpdates::of_whole(const Builder& builder, const Layer& layer,
                                        const char* name, Index out) {
  LowRankUpdates updates(builder, layer.site, Cut::nothing);
  updates.make(builder, {name, out, {.width = out}}, layer.in);
  return updates;
}

void LowRankUpdates::make(const Builder& builder, const Part& part, Index in) {
  const Builder child = builder.child(part.name);
  places_.push_back({child.module_name(), part.blocks});
  const auto& lora = builder.config().lora;
  const auto update = lora ? lora->update_of(child.module_name()) : std::nullopt;
  if (!update) {
    return;
  }
  const tensor::Shard columns = cut_ == Cut::rows ? builder.piece(1, in) : tensor::Shard{};
  tensor::Shard rows;
  if (cut_ == Cut::columns) {
    rows = part.rows.whole() ? builder.piece(0, part.out) : part.rows;
  }
  const auto [a, b] = child.low_rank_factors({part.out, in}, update->rank, rows, columns);
  // Between A and B each rank has its piece of a cut sequence.
  a.placement.sum_over_tensor = shared_.cuts_sequence() && cut_ != Cut::rows;
  b.placement.sum_over_tensor = shared_.cuts_sequence() && cut_ != Cut::columns;
  updates_.push_back({&a, &b, update->scale, part.blocks});
}

/// One mask for all parts: they read the same x.
Recomputable LowRankUpdates::dropped(Context& context, const Recomputable& x) const {
  kernels::DropoutMask mask =
      ops::dropout_mask(context, dropout_, layer_, static_cast<std::uint32_t>(site_));
  if (!mask.active()) {
    return x;
  }
  const Shape& shape = x.var.shape();
  if (cut_ == Cut::rows) {
    mask.index.column_offset = shared_.rank() * shape[-1];
  } else {
    mask = ops::local_mask(mask, shared_, shape[0]);
  }
  return ops::bias_dropout_add(context, x.var, nullptr, {}, mask);
}

/// A x, [.., r]: with a row parallel layer a sum over ranks, else the same on all of them.
Var LowRankUpdates::compressed(Context& context, const Recomputable& x, Parameter& a) const {
  if (cut_ == Cut::rows) {
    return ops::row_parallel_linear(context, x.var, a, shared_);
  }
  Var u = ops::linear(context, x, a, nullptr);
  if (!shared_.shared() || cut_ == Cut::nothing) {
    return u;
  }
  return shared_.cuts_sequence() ? ops::gather_from_sp(context, std::move(u), *shared_.group)
                                 : ops::copy_to_tp(context, std::move(u), *shared_.group);
}

std::vector<autograd::AdaptedLayer> LowRankUpdates::adapted(Context& context, Index out,
                                                            DType type) const {
  std::vector<autograd::AdaptedLayer> layers;
  for (const autograd::AdaptedRows& rows : context.cached->adapted) {
    const Adapter& adapter = *rows.adapter;
    Adapter::Joined* const factors = rows.adapter->of_layer(places_[0].module, [&] {
      return joined_factors(context.device, adapter, places_, out, type);
    });
    if (factors != nullptr) {
      layers.push_back({rows, factors});
    }
  }
  return layers;
}

/// Rows of one adapter are multiplied together, by weights that are packed in the model's type.
void LowRankUpdates::add_adapters(Context& context, const Var& x, const Var& y) const {
  for (const auto& [rows, factors] : adapted(context, y.shape()[-1], y.value.dtype())) {
    ops::AdaptedContext own(context, *rows.adapter);
    const auto rows_of = [&rows](const Var& all) {
      return all.value.slice(0, rows.first, rows.end);
    };
    const Var u = compressed(own.context(), autograd::constant(rows_of(x)), factors->a);
    ops::add_product(own.context(), u.value, factors->b, rows_of(y));
  }
}

/// y + scale B A dropout(x), part by part of a fused layer.
Var LowRankUpdates::add(Context& context, const Recomputable& x, Var y) const {
  if (context.cached != nullptr) {
    add_adapters(context, x.var, y);
  }
  if (updates_.empty()) {
    return y;
  }
  const Recomputable input = dropped(context, x);
  for (const Update& update : updates_) {
    const Var u = ops::scaled(context, compressed(context, input, *update.a), update.scale);
    const Index rows = u.value.numel() / u.shape()[-1];
    y = ops::add_low_rank(context, std::move(y), u, {{update.b}, {rows}}, update.blocks);
  }
  return y;
}

}  // namespace mpitron::nn
