// Regions of tensor parallelism as pairs of exchanges. A table holds each op with its conjugate, so
// the backward pass of one is by construction the forward pass of the other.
#include "ops/parallel/tensor_parallel_regions.h"

#include "autograd/gradient.h"
#include "ops/parallel/collectives.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;

using RegionExchange = Tensor (*)(Context&, Tensor, comm::Group&);

Tensor itself(Context&, Tensor x, comm::Group&) {
  return x;
}

/// The exchanges that only read, as a sum that may write takes them.
template <Tensor (*kExchange)(Context&, const Tensor&, comm::Group&)>
Tensor reading(Context& context, Tensor x, comm::Group& group) {
  return kExchange(context, x, group);
}

struct RegionBackward {
  Slot x_slot;
  comm::Group* group;
  RegionExchange conjugate;

  void operator()(Context& context, Tensor gradient) const {
    autograd::accumulate(context, x_slot, conjugate(context, std::move(gradient), *group));
  }
};

/// y = forward(x), and `conjugate` takes y's gradient back.
Var region(Context& context, Var x, comm::Group& group,
           std::pair<RegionExchange, RegionExchange> pair) {
  if (group.size() == 1) {
    return x;
  }
  const auto [forward, conjugate] = pair;
  Var result = autograd::variable(forward(context, std::move(x.value), group));
  if (context.recording()) {
    context.record(result.slot, RegionBackward{x.slot, &group, conjugate});
  }
  return result;
}

}  // namespace

Var copy_to_tp(Context& context, Var x, comm::Group& group) {
  return region(context, std::move(x), group, {itself, sum_over});
}
Var reduce_from_tp(Context& context, Var x, comm::Group& group) {
  return region(context, std::move(x), group, {sum_over, itself});
}

Var gather_from_tp(Context& context, Var x, comm::Group& group) {
  return region(context, std::move(x), group, {reading<join_last>, reading<piece_of_last>});
}

Var gather_from_sp(Context& context, Var x, comm::Group& group) {
  return region(context, std::move(x), group, {reading<join_first>, reading<sum_piece_of_first>});
}
Var reduce_scatter_to_sp(Context& context, Var x, comm::Group& group) {
  return region(context, std::move(x), group, {reading<sum_piece_of_first>, reading<join_first>});
}

Var replicate_from_sp(Context& context, Var x, comm::Group& group) {
  return region(context, std::move(x), group, {reading<join_first>, reading<piece_of_first>});
}
Var scatter_to_sp(Context& context, Var x, comm::Group& group) {
  return region(context, std::move(x), group, {reading<piece_of_first>, reading<join_first>});
}

}  // namespace mpitron::ops
