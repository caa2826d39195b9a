// The products of a GPT-2 124M step through our Matmul kernel against oneDNN alone with plain
// layouts, interleaved; the machine's limits; the cost of tiny products and of the bias gradient.
//   gemm_bench [--summary FILE] [tokens [repetitions]]
#include <cstdlib>

#include <fmt/format.h>

#include "benchmarks/ceiling.h"
#include "benchmarks/summary.h"
#include "device/device.h"
#include "kernels/linear/matmul.h"

namespace mpitron::benchmarks {
namespace {

using device::TensorView;

class Buffer {
 public:
  explicit Buffer(device::Device& device, const Shape& shape, DType dtype) : device_(device) {
    const auto bytes = static_cast<std::size_t>(shape.numel()) * size_of(dtype);
    view_ = {device.allocator().allocate(bytes, capacity_), dtype, shape};
    for (Index i = 0; i < shape.numel() && is_floating(dtype); ++i) {
      visit_dtype(dtype, [&]<class T>() {
        view_.as<T>()[i] = T(0.01f * static_cast<float>(i * 40503 >> 4 & 127) - 0.64f);
      });
    }
  }
  ~Buffer() { device_.allocator().release(view_.data, capacity_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  const TensorView& view() const { return view_; }

 private:
  device::Device& device_;
  std::size_t capacity_ = 0;
  TensorView view_;
};

/// A linear layer's product as the ops launch it.
class OurProduct {
 public:
  OurProduct(device::Device& device, const LinearSize& size, Pass pass, Index tokens, DType dtype)
      : device_(device),
        x_(device, {tokens, size.in}, dtype),
        w_(device, {size.out, size.in}, pass == Pass::weight_gradient ? DType::f32 : dtype),
        y_(device, {tokens, size.out}, dtype) {
    kernel_.a = pass == Pass::forward ? x_.view() : y_.view();
    kernel_.b = pass == Pass::weight_gradient ? x_.view() : w_.view();
    kernel_.c = pass == Pass::forward         ? y_.view()
                : pass == Pass::data_gradient ? x_.view()
                                              : w_.view();
    kernel_.transpose_b = pass == Pass::forward;
    kernel_.transpose_a = kernel_.accumulate = pass == Pass::weight_gradient;
    const Index bytes = device::workspace_bytes_of(device.stream(), kernel_);
    if (bytes > 0) {
      workspace_ = std::make_unique<Buffer>(device, Shape{bytes}, DType::u8);
      kernel_.workspace = workspace_->view();
    }
  }
  void run() { device::launch(device_.stream(), kernel_); }

 private:
  device::Device& device_;
  Buffer x_, w_, y_;
  std::unique_ptr<Buffer> workspace_;
  kernels::Matmul kernel_;
};

void compare_step(Summary& summary, device::Device& device, Index tokens, DType dtype,
                  int repetitions) {
  double ours_total = 0;
  StepCeiling ceiling;
  for (const LinearSize& size : gpt2_linears()) {
    for (const Pass pass : kPasses) {
      LinearProduct plain(size, pass, tokens, dtype);
      OurProduct ours(device, size, pass, tokens, dtype);
      double plain_best = 1e30;
      double ours_best = 1e30;
      for (int i = 0; i <= repetitions; ++i) {  // the first pair warms up
        plain_best = std::min(plain_best, best_seconds(1, [&] { plain.run(); }));
        ours_best = std::min(ours_best, best_seconds(1, [&] { ours.run(); }));
      }
      fmt::print("  {} {:<4} {:<5} oneDNN plain {:6.1f}  ours {:6.1f} GFLOP/s\n", name_of(dtype),
                 size.name, name_of(pass), plain.flops() / plain_best * 1e-9,
                 plain.flops() / ours_best * 1e-9);
      ceiling.seconds += size.times * plain_best;
      ceiling.flops += size.times * plain.flops();
      ours_total += size.times * ours_best;
    }
  }
  const std::string tail = fmt::format("{}_{}_tokens", name_of(dtype), tokens);
  summary.add({"gemm_step_ceiling_" + tail, ceiling.rate() * 1e-9, "GFLOP/s"});
  summary.add({"gemm_step_share_of_ceiling_" + tail, ceiling.seconds / ours_total, "ratio", 1.0,
               true, Figure::kNone, "oneDNN plain layouts"});
}

void tiny_products(Summary& summary, device::Device& device) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const LinearSize size{"qkv", 64, 192, 1};
    OurProduct ours(device, size, Pass::forward, 64, dtype);
    LinearProduct plain(size, Pass::forward, 64, dtype);
    const auto microseconds = [](auto& product) {
      return best_seconds(20,
                          [&] {
                            for (int i = 0; i < 200; ++i) {
                              product.run();
                            }
                          }) /
             200 * 1e6;
    };
    const double alone = microseconds(plain);
    summary.add({fmt::format("matmul_64x192x64_{}", name_of(dtype)), microseconds(ours), "us",
                 Figure::kNone, false, alone, "oneDNN alone"});
  }
}

void bias_gradient(Summary& summary, device::Device& device, double bandwidth, double reading) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Buffer dy(device, {16384, 3072}, dtype), db(device, {3072}, DType::f32);
    kernels::BiasGradient kernel{dy.view(), db.view(), {}};
    Buffer workspace(device, {device::workspace_bytes_of(device.stream(), kernel)}, DType::u8);
    kernel.workspace = workspace.view();
    const double seconds = best_seconds(6, [&] { device::launch(device.stream(), kernel); });
    const double rate = static_cast<double>(dy.view().bytes()) / seconds;
    const std::string head = fmt::format("bias_gradient_{}_share_of_", name_of(dtype));
    summary.add({head + "copy", rate / bandwidth, "ratio"});
    summary.add({head + "reading", rate / reading, "ratio", 0.9});
  }
}

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const Index tokens = argc > 1 ? std::atol(argv[1]) : 0;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  const device::HostRuntime runtime;
  const auto device = device::make_device("host");
  const double bandwidth = copy_bandwidth(repetitions);
  summary.add({"copy_bandwidth", bandwidth * 1e-9, "GB/s"});
  const double reading = read_bandwidth(repetitions);
  summary.add({"read_bandwidth", reading * 1e-9, "GB/s"});
  summary.add({"fma_peak_fp32", fma_peak(repetitions) * 1e-9, "GFLOP/s"});
  bias_gradient(summary, *device, bandwidth, reading);
  tiny_products(summary, *device);
  for (const Index count : {Index{1024}, Index{4096}}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      if (tokens == 0 || tokens == count) {
        compare_step(summary, *device, count, dtype, repetitions);
      }
    }
  }
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::run(argc, argv);
}
