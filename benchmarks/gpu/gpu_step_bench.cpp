// Whole training steps in bf16 on one GPU: tokens/s, TFLOP/s by the count of Megatron's log, and
// its share of the peak of the chip (MFU) and of the rate of one large product measured here.
//   gpu_step_bench [--summary FILE] [--profile] [CASE ...] [-- FLAG ...]
// Cases: see kCases. The flags are those of pretrain-gpt, e.g. --tuning-file FILE.
// Skips itself with a message where there is no GPU.
#include <algorithm>

#include <fmt/format.h>

#include "benchmarks/machine_rates.h"
#include "benchmarks/summary.h"
#include "benchmarks/timed_training.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/launch_profile.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "tensor/tensor.h"
#include "train/model/flops.h"

namespace mpitron::benchmarks {
namespace {

using config::ModelKind;

/// Dense bf16 peak of the H100 and H200 (SXM), as published figures of others are divided by it.
constexpr double kPeak = 989e12;

struct Case {
  const char* name;
  Model model;
  Index micro_batch;
  Flags more;
  double tokens_goal, mfu_goal;
  const char* peer;
};

const std::vector<Case>& cases() {
  // 7B takes 18 bytes a parameter (121 GB) and 18 GB of activations: what one H200 has.
  static const Flags kSelective = {"--recompute-activations"};
  static const Flags kEightBits = {"--recompute-activations", "--fp8-format", "hybrid",
                                   "--fp8-recipe", "tensorwise"};
  constexpr Model kLlama7b = {.kind = ModelKind::gpt,
                              .layers = 32,
                              .hidden = 4096,
                              .heads = 32,
                              .sequence = 4096,
                              .vocabulary = 32000,
                              .gated_width = 11008};
  static const std::vector<Case> kCases = {
      {"gpt2-124m",
       {ModelKind::gpt, 12, 768, 12, 1024, 50304},
       32,
       {},
       218e3,
       Figure::kNone,
       "llm.c on an A100: 218 k tokens/s"},
      {"llama-1.3b",
       {.kind = ModelKind::gpt,
        .layers = 24,
        .hidden = 2048,
        .heads = 16,
        .sequence = 4096,
        .vocabulary = 32000,
        .gated_width = 5504},
       4,
       kSelective,
       Figure::kNone,
       0.5,
       ""},
      {"llama-7b", kLlama7b, 1, kSelective, Figure::kNone, 0.55,
       "Megatron 0.41-0.48, torchtitan 0.33-0.42 (H100)"},
      {"llama-7b-fp8", kLlama7b, 1, kEightBits, Figure::kNone, Figure::kNone,
       "1.25 times the tokens of bf16"}};
  return kCases;
}

/// FLOP/s of one product of 8192 x 8192 x 8192 in bf16, of normal numbers: a chip that is short of
/// power is faster on zeros.
double product_rate(device::Device& gpu) {
  constexpr Index kSize = 8192;
  const auto square = [&] { return tensor::Tensor::empty(gpu, {kSize, kSize}, DType::bf16); };
  const tensor::Tensor a = square(), b = square(), c = square();
  for (const tensor::Tensor& factor : {a, b}) {
    device::launch(gpu.stream(), kernels::NormalInit{factor.view(), {1, 2}});
  }
  kernels::Matmul product{.a = a.view(), .b = b.view(), .c = c.view(), .transpose_b = true};
  const Index bytes = device::workspace_bytes_of(gpu.stream(), product);
  const tensor::Tensor workspace =
      tensor::Tensor::empty(gpu, {std::max<Index>(bytes, 1)}, DType::u8);
  product.workspace = workspace.view();
  constexpr int kCalls = 20;
  const double seconds = best_seconds(3, [&] {
    for (int i = 0; i < kCalls; ++i) {
      device::launch(gpu.stream(), product);
    }
    device::synchronize(gpu.stream());
  });
  return kCalls * 2.0 * kSize * kSize * kSize / seconds;
}

/// Bytes read and written per second by a copy within the GPU's memory.
double gpu_copy_bandwidth(device::Device& gpu) {
  constexpr Index kBytes = Index{2} << 30;
  const tensor::Tensor from = tensor::Tensor::empty(gpu, {kBytes}, DType::u8);
  const tensor::Tensor to = tensor::Tensor::empty(gpu, {kBytes}, DType::u8);
  const double seconds = best_seconds(5, [&] {
    device::copy_bytes(gpu.stream(), to.view().data, from.view().data, kBytes);
    device::synchronize(gpu.stream());
  });
  return 2.0 * static_cast<double>(kBytes) / seconds;
}

double megatron_flops(const Case& which) {
  const config::RunConfig config =
      timed_configuration(which.model, which.micro_batch, DType::bf16, which.more);
  return train::flops_per_iteration(config.model, which.micro_batch);
}

void measure(Summary& summary, const Case& which, int gpu_index, bool with_profile) {
  const auto gpu = device::make_cuda_device(gpu_index);
  const double product = product_rate(*gpu);
  TimedTraining training(*gpu, which.model, which.micro_batch, DType::bf16, which.more);
  double best = 1e30;
  for (int i = 0; i < 10; ++i) {
    const double seconds = training.step();
    best = i > 1 ? std::min(best, seconds) : best;  // the first ones plan products
  }
  device::LaunchProfile profile(*gpu);
  const double profiled = best_seconds(1, [&] {
    training.step();
    device::synchronize(gpu->stream());  // the optimizer, which the host does not wait for
  });
  if (with_profile) {
    fmt::print("{}\n{}", profile.table(profiled, false), profile.table(profiled, true));
  }
  const double tokens = static_cast<double>(which.micro_batch * which.model.sequence);
  const double flops = megatron_flops(which) / best;
  const std::string head = fmt::format("gpu_{}_", which.name);
  summary.add({head + "tokens_per_second", tokens / best, "tokens/s", which.tokens_goal, true,
               Figure::kNone, which.peer});
  summary.add({head + "tflops", flops * 1e-12, "TFLOP/s", Figure::kNone, true, product * 1e-12});
  summary.add({head + "mfu", flops / kPeak, "ratio", which.mfu_goal, true, 1.0, which.peer});
  summary.add({head + "share_of_product_rate", flops / product, "ratio", Figure::kNone, true, 1.0});
  summary.add({head + "step_over_kernels", best / profile.seconds(), "ratio", 1.03, false});
}

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto bar = std::ranges::find(arguments, "--");
  const Flags flags(bar == arguments.end() ? bar : bar + 1, arguments.end());
  arguments.erase(bar, arguments.end());
  const bool with_profile = std::ranges::count(arguments, "--profile") > 0;
  const bool all = static_cast<int>(arguments.size()) == (with_profile ? 1 : 0);
  const device::VisibleGpus found = device::visible_gpus();
  if (found.gpus.empty()) {
    fmt::print("gpu_step_bench: skipped: {}\n", found.why_none);
    return summary.write() ? 0 : 1;
  }
  fmt::print("{} with {:.0f} GiB\n", found.gpus.front().name,
             static_cast<double>(found.gpus.front().bytes) / (1 << 30));
  const device::HostRuntime runtime;
  summary.add(
      {"gpu_copy_bandwidth", gpu_copy_bandwidth(*device::make_cuda_device(0)) * 1e-9, "GB/s"});
  for (Case which : cases()) {
    if (all || std::ranges::count(arguments, which.name) > 0) {
      which.more.insert(which.more.end(), flags.begin(), flags.end());
      measure(summary, which, 0, with_profile);
    }
  }
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::run(argc, argv);
}
