// What a mixture of experts costs beside a dense layer: its grouped product against one product of
// as many rows, moving tokens to experts and back against copying them.
//   moe_bench [--summary FILE] [repetitions]
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

#include "benchmarks/ceiling.h"
#include "benchmarks/summary.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/experts/permute.h"
#include "kernels/linear/grouped_matmul.h"
#include "tensor/tensor.h"

namespace mpitron::benchmarks {
namespace {

using tensor::Tensor;

constexpr Index kExperts = 8, kTokens = 4096, kTopk = 2, kHidden = 768, kInner = 3072;

/// Half of the visits go to two of the experts, and one has a few.
std::vector<Index> skewed_counts() {
  const Index visits = kTokens * kTopk;
  std::vector<Index> counts = {visits * 5 / 16, visits * 3 / 16, visits / 8,  visits / 8,
                               visits / 8,      visits / 16,     visits / 32, 0};
  counts.back() = visits - std::accumulate(counts.begin(), counts.end(), Index{0});
  return counts;
}

Tensor filled(device::Device& device, const Shape& shape, DType dtype) {
  Tensor x = Tensor::empty(device, shape, dtype);
  device::launch(device.stream(), kernels::NormalInit{.x = x.view(), .key = {1, 2}, .std = 0.1F});
  return x;
}

/// The three products of all experts' linear_fc1, as the ops launch them.
class ExpertProducts {
 public:
  ExpertProducts(device::Device& device, DType dtype)
      : device_(device),
        counts_(skewed_counts()),
        x_(filled(device, {kTokens * kTopk, kHidden}, dtype)),
        y_(filled(device, {kTokens * kTopk, kInner}, dtype)) {
    for (Index expert = 0; expert < kExperts; ++expert) {
      weights_.push_back(filled(device, {kInner, kHidden}, dtype));
      gradients_.push_back(filled(device, {kInner, kHidden}, DType::f32));
      matrices_.push_back(weights_.back().view());
      sinks_.push_back({gradients_.back().view(), true});
    }
  }

  void run(Pass pass) {
    if (pass == Pass::weight_gradient) {
      launch(kernels::GroupedWeightGradient{
          .a = y_.view(), .b = x_.view(), .c = sinks_, .counts = counts_, .workspace = {}});
      return;
    }
    const bool forward = pass == Pass::forward;
    launch(kernels::GroupedMatmul{.a = forward ? x_.view() : y_.view(),
                                  .b = matrices_,
                                  .c = forward ? y_.view() : x_.view(),
                                  .counts = counts_,
                                  .workspace = {},
                                  .transpose_b = forward});
  }

 private:
  template <class Kernel>
  void launch(Kernel kernel) {
    const Index bytes = device::workspace_bytes_of(device_.stream(), kernel);
    Tensor workspace;
    if (bytes > 0) {
      workspace = Tensor::empty(device_, {bytes}, DType::u8);
      kernel.workspace = workspace.view();
    }
    device::launch(device_.stream(), kernel);
  }

  device::Device& device_;
  std::vector<Index> counts_;
  Tensor x_, y_;
  std::vector<Tensor> weights_, gradients_;
  std::vector<kernels::In> matrices_;
  std::vector<kernels::GroupGradient> sinks_;
};

void grouped_products(Summary& summary, device::Device& device, DType dtype, int repetitions) {
  const LinearSize dense{"fc1", kHidden, kInner, 1};
  ExpertProducts experts(device, dtype);
  double ours_total = 0, dense_total = 0;
  for (const Pass pass : kPasses) {
    LinearProduct plain(dense, pass, kTokens * kTopk, dtype);
    double ours = 1e30, alone = 1e30;
    for (int i = 0; i <= repetitions; ++i) {  // the first pair warms up
      alone = std::min(alone, best_seconds(1, [&] { plain.run(); }));
      ours = std::min(ours, best_seconds(1, [&] { experts.run(pass); }));
    }
    fmt::print("  {} {:<5} dense {:6.1f}  8 skewed experts {:6.1f} GFLOP/s\n", name_of(dtype),
               name_of(pass), plain.flops() / alone * 1e-9, plain.flops() / ours * 1e-9);
    ours_total += ours;
    dense_total += alone;
  }
  summary.add({fmt::format("grouped_product_8_skewed_experts_{}_share_of_dense", name_of(dtype)),
               dense_total / ours_total, "ratio", 0.85, true, Figure::kNone,
               "one oneDNN product of as many rows"});
}

/// Bytes of the rows that are read and written.
void moved_tokens(Summary& summary, device::Device& device, DType dtype, int repetitions) {
  const Index t = 4 * kTokens, n = t * kTopk;
  const Tensor x = filled(device, {t, kHidden}, dtype), y = filled(device, {n, kHidden}, dtype);
  const Tensor rows = Tensor::empty(device, {n}, DType::i64);
  for (Index i = 0; i < n; ++i) {  // two experts of each token, each expert's tokens ascending
    const Index each = n / kExperts, visit = i % each * kExperts + i / each;
    rows.data<std::int64_t>()[i] = visit / kTopk;
  }
  kernels::Unpermute back{y.view(), rows.view(), x.view(), {}};
  const Tensor workspace =
      Tensor::empty(device, {device::workspace_bytes_of(device.stream(), back)}, DType::u8);
  back.workspace = workspace.view();
  const kernels::Permute there{x.view(), rows.view(), y.view()};
  const double copy = copy_bandwidth(repetitions);
  const auto share = [&](double bytes, const auto& kernel) {
    const double seconds =
        best_seconds(repetitions + 1, [&] { device::launch(device.stream(), kernel); });
    return bytes / seconds / copy;
  };
  const auto x_bytes = static_cast<double>(x.view().bytes()),
             y_bytes = static_cast<double>(y.view().bytes());
  const std::string tail = fmt::format("_{}_share_of_copy", name_of(dtype));
  summary.add({"permute" + tail, share(2 * y_bytes, there), "ratio", 0.8});
  summary.add({"unpermute" + tail, share(x_bytes + y_bytes, back), "ratio", 0.8});
}

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 5;
  const device::HostRuntime runtime;
  const auto device = device::make_device("host");
  for (const DType dtype : {DType::f32, DType::bf16}) {
    moved_tokens(summary, *device, dtype, repetitions);
    grouped_products(summary, *device, dtype, repetitions);
  }
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::run(argc, argv);
}
