// Host kernels that move or transform memory, against the copy bandwidth of the same run.
//   memory_kernels_bench [--summary FILE] [--only TEXT]
// Each kernel alternates with the copy; both give their best of several repetitions, and a pair in
// which another program took a processor is measured again. Bytes count every element read and
// every element written once. What only reads is held against the copy as well, although reading
// alone is slower here: its `limit` is what the row "reading alone" reached of the copy.

#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "benchmarks/peaks.h"
#include "device/device.h"
#include "kernels/activation.h"
#include "kernels/cross_entropy.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/host/parallel.h"
#include "kernels/matmul.h"
#include "kernels/norm.h"
#include "kernels/optimizer.h"
#include "kernels/rotary.h"
#include "utils/exact_sum.h"
#include "utils/files.h"
#include "utils/timer.h"

namespace mpitron::kernels {
namespace {

constexpr int kRepetitions = 12;
/// Disturbed pairs do not count, but end a measurement too.
constexpr int kMostDisturbed = 30;

class MemoryBench {
 public:
  MemoryBench(std::string only) : only_(std::move(only)) {}

  Out tensor(DType dtype, const Shape& shape) {
    std::size_t capacity = 0;
    const auto bytes = static_cast<std::size_t>(shape.numel()) * size_of(dtype);
    const Out view = device::TensorView(allocator_.allocate(bytes, capacity), dtype, shape);
    if (size_of(dtype) <= 4) {
      run(stream_, NormalInit{flat_head(view), {1, 2}, 0, 0, 1});
      repeat_head(view);
    } else {
      std::memset(view.data, 0, bytes);
    }
    return view;
  }
  template <class Kernel>
  Kernel with_workspace(Kernel kernel) {
    const Index words = workspace_bytes(stream_, kernel) / 8 + 1;
    kernel.workspace = tensor(DType::f64, {words});
    return kernel;
  }

  /// A kernel bound by memory: GB/s and the ratio to copy.
  template <class... Kernels>
  void bandwidth(const std::string& name, double bytes, const Kernels&... kernels) {
    rate(name, bytes, 0.9, [&] { (run(stream_, kernels), ...); });
  }
  /// What a sum over a large buffer reads: the limit of kernels that write nothing.
  void reading() {
    const auto* from = copy_from_.as<float>();
    constexpr Index kPiece = 4096;
    std::vector<float> sums(static_cast<std::size_t>(device::HostRuntime::threads()) * 16);
    reading_share_ = rate("reading alone", static_cast<double>(copy_from_.bytes()), nullptr, [&] {
      host::for_ranges(copy_from_.numel() / kPiece, copy_from_.numel(),
                       [&](Index begin, Index end, Index worker) {
                         sums[static_cast<std::size_t>(worker) * 16] =
                             benchmarks::sum_of(from + begin * kPiece, (end - begin) * kPiece);
                       });
    });
  }
  /// A kernel that only reads: as `bandwidth`, with its share of what reading alone reached.
  template <class Kernel>
  void read_bandwidth(const std::string& name, double bytes, const Kernel& kernel) {
    const double share = rate(name, bytes, 0.9, [&] { run(stream_, kernel); });
    if (share > 0 && reading_share_ > 0) {
      std::printf("%-44s %6.0f %% of reading alone\n", "", 100 * share / reading_share_);
      summary_.back()["limit"] = reading_share_;
    }
  }
  /// A kernel bound by arithmetic: elements a second.
  template <class... Kernels>
  void elements(const std::string& name, double count, double goal, const Kernels&... kernels) {
    element_rate(name, count, goal, [&] { (run(stream_, kernels), ...); });
  }
  /// The same for a kernel that overwrites what it reads: `restore` fills it anew before each run,
  /// outside the time.
  template <class Kernel>
  void elements_in_place(const std::string& name, double count, double goal, const Cast& restore,
                         const Kernel& kernel) {
    element_rate(
        name, count, goal, [&] { run(stream_, kernel); }, [&] { run(stream_, restore); });
  }
  /// The cost of a kernel on a few elements.
  template <class Kernel>
  void latency(const std::string& name, const Kernel& kernel) {
    if (name.find(only_) == std::string::npos) {
      return;
    }
    constexpr int kCalls = 1000;
    const double ns = 1e9 / kCalls * seconds([&] {
                        for (int i = 0; i < kCalls; ++i) {
                          run(stream_, kernel);
                        }
                      });
    std::printf("%-44s %7.0f ns\n", name.c_str(), ns);
    summary_.push_back({{"name", name},
                        {"value", ns},
                        {"unit", "ns"},
                        {"goal", 1000},
                        {"higher_is_better", false},
                        {"limit", nullptr},
                        {"peer", nullptr}});
  }
  const nlohmann::json& summary() const { return summary_; }

 private:
  static constexpr Index kHead = 1 << 16;

  static Out flat_head(const Out& view) {
    return device::TensorView(view.data, view.dtype, {std::min(kHead, view.numel())});
  }
  static void repeat_head(const Out& view) {
    const Index head = flat_head(view).bytes();
    auto* bytes = static_cast<char*>(view.data);
    for (Index at = head; at < view.bytes(); at += head) {
      std::memcpy(bytes + at, bytes, static_cast<std::size_t>(std::min(head, view.bytes() - at)));
    }
  }
  /// By the clock; with one thread by processor time, which other programs do not stretch.
  static double timed(const std::function<void()>& f) {
    const Timer timer;
    const std::clock_t start = std::clock();
    f();
    return device::HostRuntime::threads() > 1
               ? timer.seconds()
               : static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }
  /// How often another program took a processor from this one.
  static long interruptions() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
  }
  /// The best time of f, each time after `prepare`; measures copy_rate_ beside it.
  double seconds(
      const std::function<void()>& f, const std::function<void()>& prepare = [] {}) {
    double best = std::numeric_limits<double>::max(), copy = best;
    f();
    int undisturbed = 0;
    for (int i = 0; undisturbed < kRepetitions && i < kRepetitions + kMostDisturbed; ++i) {
      const long before = interruptions();
      copy = std::min(copy, timed([&] { run(stream_, Cast{copy_from_, copy_to_}); }));
      prepare();
      best = std::min(best, timed(f));
      undisturbed += interruptions() == before ? 1 : 0;
    }
    copy_rate_ = static_cast<double>(2 * copy_from_.bytes()) / copy * 1e-9;
    return best;
  }
  void element_rate(
      const std::string& name, double count, double goal, const std::function<void()>& f,
      const std::function<void()>& prepare = [] {}) {
    if (name.find(only_) == std::string::npos) {
      return;
    }
    const double rate = count / seconds(f, prepare) * 1e-9;
    std::printf("%-44s %7.2f G/s    copy %6.1f   goal %.1f\n", name.c_str(), rate, copy_rate_,
                goal);
    add(name, rate, "G elements/s", goal);
  }
  /// The ratio to copy; 0 for what --only leaves out.
  double rate(const std::string& name, double bytes, const nlohmann::json& goal,
              const std::function<void()>& f) {
    if (name.find(only_) == std::string::npos) {
      return 0;
    }
    const double rate = bytes / seconds(f) * 1e-9;
    std::printf("%-44s %7.1f GB/s   copy %6.1f   %4.0f %%\n", name.c_str(), rate, copy_rate_,
                100 * rate / copy_rate_);
    add(name + " / copy", rate / copy_rate_, "ratio", goal);
    return rate / copy_rate_;
  }
  /// The limit is copy bandwidth in GB/s, measured beside the figure.
  void add(const std::string& name, double value, const char* unit, const nlohmann::json& goal) {
    summary_.push_back({{"name", name},
                        {"value", value},
                        {"unit", unit},
                        {"goal", goal},
                        {"higher_is_better", true},
                        {"limit", copy_rate_},
                        {"peer", nullptr}});
  }

  std::string only_;
  device::HostStream stream_;
  device::CachingHostAllocator allocator_;
  nlohmann::json summary_ = nlohmann::json::array();
  double copy_rate_ = 0, reading_share_ = 0;
  Out copy_from_ = tensor(DType::f32, {Index{32} << 20});
  Out copy_to_ = tensor(DType::f32, {Index{32} << 20});
};

std::string named(const char* name, DType dtype) {
  return std::string(name) + " " + name_of(dtype);
}

/// [t, h] = [4096, 768] is what a step of GPT-2 124M has: its rows come partly from the caches, as
/// there. At [16384, 1024] all comes from memory.
void bench_norms(MemoryBench& bench, DType dtype, Index t, Index h) {
  const std::string shape =
      " " + std::string(name_of(dtype)) + " [" + std::to_string(t) + ", " + std::to_string(h) + "]";
  const Out x = bench.tensor(dtype, {t, h}), y = bench.tensor(dtype, {t, h});
  const Out dx = bench.tensor(dtype, {t, h});
  const Out gamma = bench.tensor(dtype, {h}), beta = bench.tensor(dtype, {h});
  const Out mean = bench.tensor(DType::f32, {t}), rstd = bench.tensor(DType::f32, {t});
  const InOut dgamma{bench.tensor(DType::f32, {h})}, dbeta{bench.tensor(DType::f32, {h})};
  const auto bytes = static_cast<double>(x.bytes());
  bench.bandwidth("rms_norm forward" + shape, 2 * bytes, RmsNormForward{x, gamma, y, rstd});
  bench.bandwidth("layer_norm forward" + shape, 2 * bytes,
                  LayerNormForward{x, gamma, beta, y, mean, rstd});
  bench.bandwidth("rms_norm backward" + shape, 3 * bytes,
                  bench.with_workspace(RmsNormBackward{x, y, gamma, rstd, {}, dx, dgamma, {}}));
  bench.bandwidth("rms_norm backward, added" + shape, 4 * bytes,
                  bench.with_workspace(RmsNormBackward{x, y, gamma, rstd, dx, dx, dgamma, {}}));
  bench.bandwidth(
      "layer_norm backward" + shape, 3 * bytes,
      bench.with_workspace(LayerNormBackward{x, y, gamma, mean, rstd, {}, dx, dgamma, dbeta, {}}));
}

void bench_elementwise(MemoryBench& bench, DType dtype) {
  const Index t = 16384, h = 2048;
  const Out x = bench.tensor(dtype, {t, h}), y = bench.tensor(dtype, {t, h});
  const Out r = bench.tensor(dtype, {t, h}), bias = bench.tensor(dtype, {h});
  const auto bytes = static_cast<double>(x.bytes());
  bench.bandwidth(named("scale in place", dtype), 2 * bytes, Scale{x, x, 1.0001f});
  bench.bandwidth(named("add in place", dtype), 3 * bytes, Add{x, y, y});
  bench.bandwidth(named("residual add", dtype), 3 * bytes,
                  BiasDropoutAddForward{x, {}, r, y, 1, {}});
  bench.bandwidth(named("bias + residual add", dtype), 3 * bytes,
                  BiasDropoutAddForward{x, bias, r, y, 1, {}});
  bench.bandwidth(named("bias", dtype), 2 * bytes,
                  BiasActivationForward{x, bias, y, Activation::none});
  const InOut db{bench.tensor(DType::f32, {h})};
  bench.read_bandwidth(named("bias gradient (read only)", dtype), bytes,
                       bench.with_workspace(BiasGradient{x, db, {}}));
  DropoutMask mask;
  mask.threshold = dropout_threshold(0.1);
  bench.elements(named("dropout + residual add", dtype), static_cast<double>(x.numel()), 4,
                 BiasDropoutAddForward{x, bias, r, y, 1, mask});
  const Out table = bench.tensor(dtype, {1024, 64});
  const Out heads = device::TensorView(x.data, dtype, {1024, 16, 16, 128});
  bench.bandwidth(named("rotary", dtype), 2 * bytes, RotaryEmbedding{heads, table, table});
}

void bench_activations(MemoryBench& bench, DType dtype) {
  const Index t = 4096, f = 3072;
  const Out x = bench.tensor(dtype, {t, f}), y = bench.tensor(dtype, {t, f});
  const Out dy = bench.tensor(dtype, {t, f});
  const Out wide = bench.tensor(dtype, {t, 2 * f}), dwide = bench.tensor(dtype, {t, 2 * f});
  const Out bias = bench.tensor(dtype, {f});
  const auto count = static_cast<double>(x.numel());
  for (const Activation a : {Activation::gelu_tanh, Activation::gelu_erf, Activation::silu}) {
    const char* name = a == Activation::gelu_tanh  ? "gelu_tanh"
                       : a == Activation::gelu_erf ? "gelu_erf"
                                                   : "silu";
    bench.elements(named(name, dtype) + " forward", count, 5, BiasActivationForward{x, bias, y, a});
    bench.elements_in_place(named(name, dtype) + " backward", count, 3.5, Cast{dy, y},
                            BiasActivationBackward{x, y, bias, y, a});
  }
  bench.elements(named("swiglu", dtype) + " forward", count, 4,
                 GatedActivationForward{wide, {}, y, Activation::silu});
  bench.elements(named("swiglu", dtype) + " backward", count, 2,
                 GatedActivationBackward{wide, y, {}, dwide, Activation::silu});
}

void bench_loss(MemoryBench& bench, DType dtype) {
  const Index t = 4096, v = 50304;
  const Out logits = bench.tensor(dtype, {t, v}), labels = bench.tensor(DType::i64, {t});
  const Out loss = bench.tensor(DType::f32, {t}), lse = bench.tensor(DType::f32, {t});
  const CrossEntropyForward forward{logits, labels, loss, lse};
  const CrossEntropyBackward backward{logits, labels, lse, loss, logits};
  const auto count = static_cast<double>(logits.numel());
  bench.elements(named("cross_entropy", dtype) + " forward", count, 8, forward);
  bench.elements(named("cross_entropy", dtype) + " forward + backward", count, 4, forward,
                 backward);
}

void bench_optimizer(MemoryBench& bench) {
  const Index n = Index{16} << 20;
  const InOut p{bench.tensor(DType::f32, {n})}, m{bench.tensor(DType::f32, {n})};
  const InOut v{bench.tensor(DType::f32, {n})};
  device::HostStream stream;
  run(stream, Fill{v, 1});
  const Out g = bench.tensor(DType::f32, {n}), g16 = bench.tensor(DType::bf16, {n});
  const Out copy = bench.tensor(DType::bf16, {n}),
            bins = bench.tensor(DType::i64, {exact_sum::kBins});
  AdamStep adam{p, m, v, g, {}};
  adam.lr = 1e-6f;
  bench.bandwidth("adam fp32", 28. * static_cast<double>(n), adam);
  AdamStep mixed{p, m, v, g16, copy};
  mixed.lr = 1e-6f;
  bench.bandwidth("adam bf16 gradients and parameters", 28. * static_cast<double>(n), mixed);
  bench.reading();
  bench.read_bandwidth("sum of squares fp32 (read only)", 4. * static_cast<double>(n),
                       SumOfSquares{g, bins});
  bench.read_bandwidth("sum of squares bf16 (read only)", 2. * static_cast<double>(n),
                       SumOfSquares{g16, bins});
  bench.bandwidth("fill (write only)", 4. * static_cast<double>(n), Fill{g, 0});
  bench.bandwidth("cast fp32 to bf16", 6. * static_cast<double>(n), Cast{p, copy});
}

void bench_latency(MemoryBench& bench) {
  const Out x = bench.tensor(DType::f32, {32, 64}), y = bench.tensor(DType::f32, {32, 64});
  const Out gamma = bench.tensor(DType::f32, {64}), rstd = bench.tensor(DType::f32, {32});
  bench.latency("tiny add", Add{x, y, y});
  bench.latency("tiny rms_norm", RmsNormForward{x, gamma, y, rstd});
  bench.latency("tiny gelu", BiasActivationForward{x, gamma, y, Activation::gelu_tanh});
}

}  // namespace
}  // namespace mpitron::kernels

int main(int argc, char** argv) {
  using namespace mpitron;
  std::string summary, only;
  for (int i = 1; i + 1 < argc; i += 2) {
    (std::strcmp(argv[i], "--summary") == 0 ? summary : only) = argv[i + 1];
  }
  const device::HostRuntime runtime;
  std::printf("threads %d\n", device::HostRuntime::threads());
  kernels::MemoryBench bench(only);
  kernels::bench_latency(bench);
  kernels::bench_optimizer(bench);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    kernels::bench_norms(bench, dtype, 4096, 768);
    kernels::bench_norms(bench, dtype, 16384, 1024);
    kernels::bench_elementwise(bench, dtype);
    kernels::bench_activations(bench, dtype);
    kernels::bench_loss(bench, dtype);
  }
  if (!summary.empty()) {
    AtomicFile file(summary);
    file.write(bench.summary().dump(2) + "\n");
    file.commit();
  }
}
