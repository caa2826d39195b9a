// Runs Mamba's selective scan of a layer, for whole sequences or for the pieces of a pass in
// generation with their states.
#include "ops/state_space/selective_scan.h"

#include <algorithm>

#include "autograd/cached_pass.h"
#include "kernels/state_space/cached_recurrence.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

/// Columns of x, B and C.
struct ScanParts {
  Tensor x, b, c;

  ScanParts(const Tensor& channels, Index both) {
    const Index end = channels.shape()[2];
    x = channels.slice(2, 0, end - 2 * both);
    b = channels.slice(2, end - 2 * both, end - both);
    c = channels.slice(2, end - both, end);
  }
};

/// Groups of this rank: where there are fewer than context ranks, one that others have as well.
Index own_groups(const ScanSettings& settings, const HeadShare& share) {
  return std::max<Index>(1, settings.groups / share.size);
}

ScanParts parts_of(const Tensor& channels, const ScanSettings& settings, const HeadShare& share) {
  return {channels, own_groups(settings, share) * settings.state_dim};
}

kernels::ScanInputs scan_inputs(const ScanSettings& settings, const RecurrenceInputs& inputs) {
  const ScanParts parts = parts_of(inputs.channels, settings, inputs.share);
  return {.x = parts.x.view(),
          .b = parts.b.view(),
          .c = parts.c.view(),
          .dt = inputs.steps.view(),
          .a_log = own_part(*settings.a_log, inputs.share),
          .d = own_part(*settings.d, inputs.share),
          .dt_bias = own_part(*settings.dt_bias, inputs.share),
          .starts = inputs.starts ? inputs.starts.view() : device::ConstTensorView(),
          .groups = own_groups(settings, inputs.share)};
}

}  // namespace

Recurred recur(Context& context, const ScanSettings& settings, const RecurrenceInputs& inputs) {
  const kernels::ScanInputs in = scan_inputs(settings, inputs);
  const Index chunks = (in.x.size(0) + settings.chunk - 1) / settings.chunk;
  const DType kept = in.x.dtype == DType::f64 ? DType::f64 : DType::f32;
  const Recurred result{
      .y = context.empty(in.x.shape, in.x.dtype),
      .states =
          context.empty({chunks * in.x.size(1), in.heads(), in.state_dim(), in.head_dim()}, kept)};
  context.launch_with_workspace(kernels::SelectiveScanForward{.in = in,
                                                              .y = result.y.view(),
                                                              .states = result.states.view(),
                                                              .chunk = settings.chunk,
                                                              .workspace = {}});
  return result;
}

void recur_cached(Context& context, const ScanSettings& settings, const RecurrenceInputs& inputs,
                  Index number, const Tensor& y) {
  const auto in = scan_inputs(settings, inputs);
  const autograd::CachedPass& pass = *context.cached;
  const Tensor& states = pass.states.of(number, 1, {in.heads(), in.state_dim(), in.head_dim()},
                                        pass.states.types().of_recurrence());
  context.launch(
      kernels::CachedScan{.in = in, .states = states.view(), .y = y.view(), .pieces = pass.pieces});
}

void recur_backward(Context& context, const ScanSettings& settings, const RecurrenceInputs& inputs,
                    const RecurrenceGradients& gradients) {
  const ScanParts to = parts_of(gradients.channels, settings, inputs.share);
  const std::array parameters = settings.parameters();
  std::array<autograd::GradientWrite, 3> sinks;
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    sinks[i] = open_own_part(context, *parameters[i], inputs.share);
  }
  context.launch_with_workspace(kernels::SelectiveScanBackward{.in = scan_inputs(settings, inputs),
                                                               .dy = gradients.dy.view(),
                                                               .states = gradients.states.view(),
                                                               .dx = to.x.view(),
                                                               .db = to.b.view(),
                                                               .dc = to.c.view(),
                                                               .ddt = gradients.steps.view(),
                                                               .da_log = sinks[0].destination,
                                                               .dd = sinks[1].destination,
                                                               .ddt_bias = sinks[2].destination,
                                                               .chunk = settings.chunk,
                                                               .accumulate = sinks[0].accumulate,
                                                               .workspace = {}});
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    MPITRON_CHECK(sinks[i].accumulate == sinks[0].accumulate, parameters[i]->name);
    autograd::close_sink(context, *parameters[i], sinks[i]);
  }
}

}  // namespace mpitron::ops
