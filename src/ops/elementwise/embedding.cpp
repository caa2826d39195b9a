// Looks tokens and positions up. The table's gradient is added in the order of the tokens; with a
// tied output layer it comes behind that layer's addition, whichever of both is deferred.
#include "ops/elementwise/embedding.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/embedding.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

void accumulate_rows(Context& context, Parameter& table, const Tensor& ids, const Tensor& dy) {
  autograd::accumulate_parameter(
      context, table, [&](const device::TensorView& sink, bool accumulate) {
        context.launch_with_workspace(
            kernels::EmbeddingBackward{.ids = ids.view(),
                                       .dy = dy.view(),
                                       .dtable = sink,
                                       .first_row = table.placement.shard.global(0),
                                       .accumulate = accumulate});
      });
}

struct EmbeddingBackward {
  Tensor ids, position_ids;  // [t]
  Parameter* words;
  Parameter* positions;

  void operator()(Context& context, Tensor gradient) const {
    const Tensor dy = fold_rows(gradient);
    if (autograd::defers(context, *words)) {
      // The output layer's addition to a tied table waits already: this one comes behind it.
      context.recorder.deferred->add(*words, [table = words, rows = ids, dy](Context& later) {
        accumulate_rows(later, *table, rows, dy);
      });
    } else {
      accumulate_rows(context, *words, ids, dy);
    }
    if (positions != nullptr) {
      accumulate_rows(context, *positions, position_ids, dy);
    }
  }
};

}  // namespace

Var embedding(Context& context, const EmbeddingInputs& inputs, Parameter& words,
              Parameter* positions) {
  context.use(words);
  const Index s = inputs.ids.shape()[0], b = inputs.ids.shape()[1], h = words.value.shape()[1];
  const Tensor ids = inputs.ids.reshape({s * b});
  const Tensor y = context.empty({s * b, h}, words.value.dtype());
  kernels::EmbeddingForward kernel{.ids = ids.view(),
                                   .table = words.value.view(),
                                   .y = y.view(),
                                   .first_row = words.placement.shard.global(0)};
  Tensor position_ids;
  if (positions != nullptr) {
    context.use(*positions);
    position_ids = inputs.position_ids.reshape({s * b});
    kernel.position_ids = position_ids.view();
    kernel.positions = positions->value.view();
  }
  context.launch(kernel);
  Var result = autograd::variable(y.reshape({s, b, h}));
  if (context.recording()) {
    context.record(result.slot, EmbeddingBackward{ids, position_ids, &words, positions});
  }
  return result;
}

Tensor take_rows(Context& context, const Tensor& table, const Tensor& ids) {
  const Tensor rows = context.empty({ids.shape()[0], table.shape()[1]}, table.dtype());
  context.launch(
      kernels::EmbeddingForward{.ids = ids.view(), .table = table.view(), .y = rows.view()});
  return rows;
}

}  // namespace mpitron::ops
