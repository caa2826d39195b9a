#include "doctor/speed_probe.h"

#include <algorithm>
#include <limits>

#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "tensor/tensor.h"
#include "utils/timer.h"

namespace mpitron::doctor {
namespace {

using tensor::Tensor;

template <class Work>
double fastest(const SpeedProbe& probe, Work&& work) {
  double best = std::numeric_limits<double>::max();
  for (Index i = 0; i < probe.repetitions; ++i) {
    probe.barrier();
    const Timer timer;
    work();
    best = std::min(best, timer.seconds());
  }
  return best;
}

Tensor filled(device::Device& host, const Shape& shape) {
  const Tensor made = Tensor::empty(host, shape, DType::f32);
  device::launch(host.stream(), kernels::Fill{.x = made.view(), .value = 0.5f});
  return made;
}

}  // namespace

Speed measure_speed(device::Device& host, const SpeedProbe& probe) {
  const Shape square = {probe.side, probe.side};
  const Tensor a = filled(host, square), b = filled(host, square), c = filled(host, square);
  kernels::Matmul product{.a = a.view(), .b = b.view(), .bias = {}, .c = c.view()};
  const Tensor workspace = Tensor::empty(
      host, {std::max<Index>(1, device::workspace_bytes_of(host.stream(), product))}, DType::u8);
  product.workspace = workspace.view();
  const double seconds = fastest(probe, [&] { device::launch(host.stream(), product); });

  const Index elements = probe.bytes / static_cast<Index>(sizeof(float));
  const Tensor x = filled(host, {elements}), y = filled(host, {elements});
  const kernels::Scale scale{.x = x.view(), .y = y.view(), .factor = 2};
  const double memory_seconds = fastest(probe, [&] { device::launch(host.stream(), scale); });

  const auto side = static_cast<double>(probe.side);
  return {.flops = 2 * side * side * side / seconds,
          .bytes_per_s = 2 * static_cast<double>(probe.bytes) / memory_seconds};
}

}  // namespace mpitron::doctor
