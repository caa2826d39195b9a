// Attention, causal, within windows or of all pairs, forward and backward, against the GEMM ceiling
// of the same run: the linear products of a GPT-2 124M step of 1024 tokens by oneDNN, timed between
// the attention rounds.
//   attention_bench [--summary FILE] [rounds]
// Needed products only: 2 forward, 5 backward, each of 2 d FLOP a head and visible pair.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "benchmarks/ceiling.h"
#include "benchmarks/summary.h"
#include "device/device.h"
#include "kernels/attention/attention.h"

namespace mpitron::benchmarks {
namespace {

using device::TensorView;

struct Size {
  Index s, n, g, d;
  double dropout;
  double goal;        // share of the ceiling; NaN: none
  Index window = -1;  // keys before a query that it sees; -1: all
  bool causal = true;

  /// Of queries and keys that see each other.
  double pairs() const {
    const auto length = static_cast<double>(s), seen = static_cast<double>(window + 1);
    if (!causal) {
      return length * length;
    }
    return window < 0 ? length * (length + 1) / 2 : seen * length - seen * (seen - 1) / 2;
  }
};

std::string name_of(const Size& size, DType dtype) {
  return fmt::format("attention_{}_s{}_d{}_{}_heads{}{}{}{}", mpitron::name_of(dtype), size.s,
                     size.d, size.n, size.g < size.n ? fmt::format("_on_{}", size.g) : "",
                     size.dropout > 0 ? "_dropout" : "",
                     size.window >= 0 ? fmt::format("_window_{}", size.window) : "",
                     size.causal ? "" : "_all_pairs");
}

/// One attention layer's arguments on a device.
class Layer {
 public:
  Layer(device::Device& device, const Size& size, DType dtype) : device_(device), size_(size) {
    const auto [s, n, g, d, dropout, goal, window, causal] = size;
    const Shape queries{s, 1, n, d}, keys{s, 1, g, d};
    const auto q = filled(queries, dtype), k = filled(keys, dtype), v = filled(keys, dtype);
    const auto o = filled(queries, dtype), d_o = filled(queries, dtype);
    const auto lse = filled({1, n, s}, DType::f32);
    const float scale = 1.f / std::sqrt(static_cast<float>(d));
    forward_ = {q, k, v, {}, o, lse, {}, scale, causal, window, {}};
    backward_ = {q,
                 k,
                 v,
                 {},
                 o,
                 lse,
                 d_o,
                 filled(queries, dtype),
                 filled(keys, dtype),
                 filled(keys, dtype),
                 {},
                 scale,
                 causal,
                 window,
                 {}};
    forward_.dropout.threshold = backward_.dropout.threshold = kernels::dropout_threshold(dropout);
    const Index bytes = std::max(device::workspace_bytes_of(device.stream(), forward_),
                                 device::workspace_bytes_of(device.stream(), backward_));
    forward_.workspace = backward_.workspace = memory({bytes}, DType::u8);
  }
  ~Layer() {
    for (const auto& [data, capacity] : blocks_) {
      device_.allocator().release(data, capacity);
    }
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  void time_once() {
    forward_seconds_ = std::min(
        forward_seconds_, best_seconds(1, [&] { device::launch(device_.stream(), forward_); }));
    backward_seconds_ = std::min(
        backward_seconds_, best_seconds(1, [&] { device::launch(device_.stream(), backward_); }));
  }
  double forward_rate() const { return flops(2) / forward_seconds_; }
  double backward_rate() const { return flops(5) / backward_seconds_; }
  double rate() const { return flops(7) / (forward_seconds_ + backward_seconds_); }
  double forward_seconds() const { return forward_seconds_; }

 private:
  double flops(int products) const {
    return 2 * size_.pairs() * static_cast<double>(products * size_.d * size_.n);
  }
  TensorView memory(const Shape& shape, DType dtype) {
    std::size_t capacity = 0;
    const auto bytes = static_cast<std::size_t>(shape.numel()) * size_of(dtype);
    void* data = device_.allocator().allocate(bytes, capacity);
    blocks_.emplace_back(data, capacity);
    return {data, dtype, shape};
  }
  /// Values between -1 and 1 that do not repeat within a head.
  TensorView filled(const Shape& shape, DType dtype) {
    const TensorView view = memory(shape, dtype);
    visit_dtype(dtype, [&]<class T>() {
      auto state = static_cast<std::uint32_t>(blocks_.size());
      for (Index i = 0; i < view.numel(); ++i) {
        state = state * 1664525u + 1013904223u;
        view.as<T>()[i] = T(static_cast<float>(state >> 8) * 0x1p-23f - 1.f);
      }
    });
    return view;
  }

  device::Device& device_;
  Size size_;
  std::vector<std::pair<void*, std::size_t>> blocks_;
  kernels::AttentionForward forward_;
  kernels::AttentionBackward backward_;
  double forward_seconds_ = 1e30, backward_seconds_ = 1e30;
};

void measure(Summary& summary, device::Device& device, DType dtype, int rounds) {
  const Size sizes[] = {{1024, 12, 12, 64, 0, 0.85},
                        {1024, 8, 8, 128, 0, 0.85},
                        {4096, 4, 4, 64, 0, 0.92},
                        {4096, 4, 4, 128, 0, 0.92},
                        {4096, 8, 2, 128, 0, 0.92},
                        {1024, 12, 12, 64, 0.1, 0.78},
                        {512, 12, 12, 64, 0, 0.78},
                        {128, 12, 12, 64, 0, 0.60},
                        {1024, 12, 12, 80, 0, Figure::kNone},
                        {4096, 4, 4, 64, 0, 0.85, 511},
                        {4096, 4, 4, 128, 0, 0.85, 511},
                        {1024, 12, 12, 64, 0, 0.85, 127},
                        {197, 96, 96, 64, 0, 0.85, -1, false}};
  std::vector<std::unique_ptr<Layer>> layers;
  for (const Size& size : sizes) {
    layers.push_back(std::make_unique<Layer>(device, size, dtype));
  }
  double ceiling = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const auto& layer : layers) {
      layer->time_once();
      layer->time_once();
    }
    ceiling = std::max(ceiling, gemm_step_ceiling(1024, dtype, 1).rate());
  }
  fmt::print("{}: GEMM ceiling {:.1f} GFLOP/s\n", mpitron::name_of(dtype), ceiling * 1e-9);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = *layers[i];
    const std::string name = name_of(sizes[i], dtype);
    fmt::print("  forward {:.1f}, backward {:.1f} GFLOP/s: {:.0f} and {:.0f} %\n",
               layer.forward_rate() * 1e-9, layer.backward_rate() * 1e-9,
               100 * layer.forward_rate() / ceiling, 100 * layer.backward_rate() / ceiling);
    summary.add({name + "_share_of_gemm", layer.rate() / ceiling, "ratio", sizes[i].goal, true, 1});
  }
}

/// The tiny models of the tests: s 32, batch and heads 8, d 16.
void measure_tiny(Summary& summary, device::Device& device) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Layer layer(device, {32, 8, 8, 16, 0, Figure::kNone}, dtype);
    for (int i = 0; i < 200; ++i) {
      layer.time_once();
    }
    summary.add({fmt::format("attention_{}_tiny_forward", mpitron::name_of(dtype)),
                 layer.forward_seconds() * 1e6, "us", 30, false});
  }
}

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 4;
  const device::HostRuntime runtime;
  const auto device = device::make_device("host");
  measure_tiny(summary, *device);
  measure(summary, *device, DType::f32, rounds);
  measure(summary, *device, DType::bf16, rounds);
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::run(argc, argv);
}
