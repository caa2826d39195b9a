// Causal attention in bf16 on a GPU, forward and backward, by every kernel that can run it, in
// TFLOP/s: by the GPU's own clock, over launches in a row. Needed products only: 2 forward, 5
// backward, s (s + 1) d FLOP each and head.
//   gpu_attention_bench [--summary FILE]
// Skips itself with a message where there is no GPU.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/summary.h"
#include "device/device.h"
#include "device/launch.h"
#include "device/stream_clock.h"
#include "kernels/attention/attention_choice.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/tensor.h"

namespace mpitron::benchmarks {
namespace {

using kernels::AttentionKernel;
using tensor::Tensor;

/// Dense bf16 peak of the H100 and H200 (SXM).
constexpr double kPeak = 989e12;

struct Size {
  Index s, b, n, g, d, dv;
  double dropout = 0;
};

std::string name_of(const Size& size) {
  return fmt::format("gpu_attention_s{}_d{}{}_heads{}{}{}", size.s, size.d,
                     size.dv != size.d ? fmt::format("_{}", size.dv) : "", size.b * size.n,
                     size.g < size.n ? fmt::format("_on_{}", size.b * size.g) : "",
                     size.dropout > 0 ? "_dropout" : "");
}

/// One attention layer's arguments in the GPU's memory.
class Layer {
 public:
  Layer(device::Device& gpu, const Size& size)
      : gpu_(gpu),
        size_(size),
        q_(random({size.s, size.b, size.n, size.d})),
        k_(random({size.s, size.b, size.g, size.d})),
        v_(random({size.s, size.b, size.g, size.dv})),
        o_(random({size.s, size.b, size.n, size.dv})),
        d_o_(random(o_.shape())),
        dq_(random(q_.shape())),
        dk_(random(k_.shape())),
        dv_(random(v_.shape())),
        lse_(Tensor::empty(gpu, {size.b, size.n, size.s}, DType::f32)) {
    forward_.q = backward_.q = q_.view();
    forward_.k = backward_.k = k_.view();
    forward_.v = backward_.v = v_.view();
    forward_.o = o_.view();
    backward_.o = o_.view();
    forward_.lse = lse_.view();
    backward_.lse = lse_.view();
    backward_.d_o = d_o_.view();
    backward_.dq = dq_.view();
    backward_.dk = dk_.view();
    backward_.dv = dv_.view();
    forward_.scale = backward_.scale = 1.f / std::sqrt(static_cast<float>(size.d));
    forward_.dropout.threshold = backward_.dropout.threshold =
        kernels::dropout_threshold(size.dropout);
  }

  /// FLOP/s of each kernel; products of q, k (d wide) and of v (dv wide).
  using Rates = std::vector<std::pair<AttentionKernel, double>>;
  Rates forward_rates() { return rates(forward_, flops(1, 1)); }
  Rates backward_rates() { return rates(backward_, flops(3, 2)); }

 private:
  template <class Kernel>
  Rates rates(Kernel& kernel, double flops) {
    Rates found;
    const auto& stream = std::get<device::CudaStream>(gpu_.stream());
    for (const AttentionKernel name : kernels::candidates(stream, kernel)) {
      kernels::attention_choices().order = {name};
      const Index bytes = device::workspace_bytes_of(gpu_.stream(), kernel);
      const Tensor workspace = Tensor::empty(gpu_, {std::max<Index>(bytes, 1)}, DType::u8);
      kernel.workspace = workspace.view();
      found.emplace_back(name, flops / seconds(kernel));
    }
    return found;
  }
  Tensor random(const Shape& shape) {
    const Tensor x = Tensor::empty(gpu_, shape, DType::bf16);
    device::launch(gpu_.stream(), kernels::NormalInit{.x = x.view(), .std = 1.f});
    return x;
  }
  double flops(int products_d, int products_dv) const {
    return static_cast<double>((products_d * size_.d + products_dv * size_.dv) * size_.s *
                               (size_.s + 1) * size_.b * size_.n);
  }
  template <class Kernel>
  double seconds(const Kernel& kernel) {
    const auto clock = device::make_stream_clock(gpu_.stream());
    return device::shortest_seconds(*clock, {.rounds = 5, .calls = 10},
                                    [&] { device::launch(gpu_.stream(), kernel); });
  }

  device::Device& gpu_;
  Size size_;
  Tensor q_, k_, v_, o_, d_o_, dq_, dk_, dv_, lse_;
  kernels::AttentionForward forward_;
  kernels::AttentionBackward backward_;
};

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const device::VisibleGpus found = device::visible_gpus();
  if (found.gpus.empty()) {
    fmt::print("gpu_attention_bench: skipped: {}\n", found.why_none);
    return summary.write() ? 0 : 1;
  }
  const auto gpu = device::make_cuda_device(0);
  for (const Size& size : {Size{1024, 32, 12, 12, 64, 64}, Size{4096, 4, 16, 16, 128, 128},
                           Size{8192, 1, 32, 8, 128, 128}, Size{32768, 1, 32, 8, 128, 128},
                           Size{4096, 1, 64, 64, 192, 128}, Size{4096, 2, 16, 16, 256, 256},
                           Size{1024, 32, 12, 12, 64, 64, 0.1}}) {
    Layer layer(*gpu, size);
    const auto add = [&](const char* pass, const Layer::Rates& rates) {
      for (const auto& [kernel, rate] : rates) {
        const std::string suffix =
            kernel == AttentionKernel::mma ? "" : fmt::format("_{}", kernels::name_of(kernel));
        summary.add({fmt::format("{}_{}{}", name_of(size), pass, suffix), rate * 1e-12, "TFLOP/s",
                     Figure::kNone, true, kPeak * 1e-12});
      }
    };
    add("forward", layer.forward_rates());
    add("backward", layer.backward_rates());
  }
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::run(argc, argv);
}
