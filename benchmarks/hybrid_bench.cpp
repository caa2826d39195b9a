// Kernels of layers with a state, at the sizes of Mamba-2 130M and of a delta net of its width, and
// Muon's iteration, each against what its needed work takes at least: its bytes at the rate of a
// copy, or its arithmetic at the rates of the same run, whichever is longer. Arithmetic is
//   products at the GEMM ceiling of the type; but where one factor is fp32 in a bf16 run (decays,
//     states and their gradients, by the numerical contract), matrix units multiply two parts of
//     it: half that ceiling, or that of fp32 where it is higher;
//   SiLU of each element, which takes longer than copying its bytes: the rate of numbers of the
//     type that lie in the first cache.
//   hybrid_bench [--summary FILE] [repetitions]
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "benchmarks/ceiling.h"
#include "benchmarks/summary.h"
#include "benchmarks/timed_training.h"
#include "device/device.h"
#include "kernels/state_space/causal_conv.h"
#include "kernels/state_space/delta_rule.h"
#include "kernels/state_space/gated_norm.h"
#include "kernels/state_space/selective_scan.h"
#include "optim/matrices/muon.h"

namespace mpitron::benchmarks {
namespace {

using tensor::Tensor;

constexpr Index kLength = 2048;
constexpr Index kHeads = 24, kHeadDim = 64, kChannels = kHeads * kHeadDim, kState = 128;
constexpr Index kConvolved = kChannels + 2 * kState, kTaps = 4;
constexpr Index kKeyHeads = 4, kValueHeads = 8, kKey = 128, kValue = 128;

/// What a kernel needs at least; FLOPs of products whose factors have the run's type, and of those
/// with a factor in fp32.
struct Needs {
  double bytes = 0, flops = 0, wide_flops = 0, silus = 0;
};

/// A host with the rates that figures of one type are held against; `fp32_ceiling` is the GEMM
/// ceiling of fp32.
class Bench {
 public:
  Bench(Summary& summary, device::Device& device, DType dtype, double fp32_ceiling, int repetitions)
      : summary_(summary),
        device_(device),
        dtype_(dtype),
        repetitions_(repetitions),
        copy_(copy_bandwidth(3)),
        ceiling_(dtype == DType::f32 ? fp32_ceiling : gemm_step_ceiling(1024, dtype, 1).rate()),
        wide_ceiling_(std::max(fp32_ceiling, ceiling_ / 2)),
        silus_(dtype == DType::f32 ? silu_rate<float>(3) : silu_rate<BFloat16>(3)) {
    fmt::print("{}: copy {:.1f} GB/s, products {:.1f}, with fp32 {:.1f} GFLOP/s, SiLU {:.2f} G/s\n",
               name_of(dtype), copy_ * 1e-9, ceiling_ * 1e-9, wide_ceiling_ * 1e-9, silus_ * 1e-9);
  }

  DType dtype() const { return dtype_; }
  device::Device& device() { return device_; }
  /// Values between -0.5 and 0.5.
  Tensor filled(const Shape& shape, DType dtype) {
    const Tensor x = Tensor::empty(device_, shape, dtype);
    visit_dtype(dtype, [&]<class T>() {
      std::uint32_t state = 7;
      for (Index i = 0; i < x.numel(); ++i) {
        state = state * 1664525u + 1013904223u;
        x.data<T>()[i] = T(static_cast<float>(state >> 8) * 0x1p-24f - 0.5f);
      }
    });
    return x;
  }
  Tensor rows(Index width) { return filled({kLength, 1, width}, dtype_); }
  Tensor numbers(Index count) { return filled({count}, DType::f32); }
  double bytes_of(Index width) const {
    return static_cast<double>(kLength * width) * static_cast<double>(size_of(dtype_));
  }
  template <class Kernel>
  double seconds(Kernel kernel) {
    const Tensor workspace = Tensor::empty(
        device_, {device::workspace_bytes_of(device_.stream(), kernel) + 1}, DType::u8);
    if constexpr (requires { kernel.workspace; }) {
      kernel.workspace = workspace.view();
    }
    return best_seconds(repetitions_ + 1, [&] { device::launch(device_.stream(), kernel); });
  }
  /// The figure of work that took `seconds`.
  void add(const std::string& name, double seconds, const Needs& needs, double goal) {
    const double bytes = needs.bytes / copy_;
    const double arithmetic =
        needs.flops / ceiling_ + needs.wide_flops / wide_ceiling_ + needs.silus / silus_;
    const double needed = std::max(bytes, arithmetic);
    fmt::print(
        "  {} {}: {:.2f} ms, needed {:.2f} ms for bytes, {:.2f} ms for arithmetic: {:.0f} %\n",
        name, name_of(dtype_), seconds * 1e3, bytes * 1e3, arithmetic * 1e3,
        100 * needed / seconds);
    summary_.add({fmt::format("{}_{}_of_needed", name, name_of(dtype_)), needed / seconds, "ratio",
                  goal, true, 1.0});
  }
  double best_of(const std::function<void()>& work) { return best_seconds(repetitions_, work); }

 private:
  Summary& summary_;
  device::Device& device_;
  DType dtype_;
  int repetitions_;
  double copy_, ceiling_, wide_ceiling_, silus_;
};

/// Forward, and backward with twice its products, which also has to make them again.
void scan(Bench& bench) {
  const Tensor x = bench.rows(kChannels), b = bench.rows(kState), c = bench.rows(kState);
  const Tensor dt = bench.rows(kHeads), y = bench.rows(kChannels);
  const Tensor a_log = bench.numbers(kHeads), d = bench.numbers(kHeads);
  const Tensor bias = bench.numbers(kHeads);
  const kernels::ScanInputs in{x.view(),     b.view(), c.view(),    dt.view(),
                               a_log.view(), d.view(), bias.view(), {}};
  const kernels::SelectiveScanForward shape{in, y.view(), {}};
  const Tensor states =
      bench.filled({kLength / shape.chunk * kHeads, kState, kHeadDim}, DType::f32);
  const double forward = bench.seconds(kernels::SelectiveScanForward{in, y.view(), states.view()});
  const Tensor dx = bench.rows(kChannels), db = bench.rows(kState), dc = bench.rows(kState);
  const Tensor ddt = bench.rows(kHeads), da_log = bench.numbers(kHeads);
  const Tensor dd = bench.numbers(kHeads), dbias = bench.numbers(kHeads);
  const double backward = bench.seconds(kernels::SelectiveScanBackward{in,
                                                                       y.view(),
                                                                       states.view(),
                                                                       dx.view(),
                                                                       db.view(),
                                                                       dc.view(),
                                                                       ddt.view(),
                                                                       {da_log.view()},
                                                                       {dd.view()},
                                                                       {dbias.view()}});
  // Scores are products of b and c, their gradients of x and dy; all else has decays or states.
  const double flops = 2 * scan_multiply_adds(kChannels, kState) * kLength;
  const double pairs = static_cast<double>(shape.chunk * kLength);
  const double scores = pairs * kState, their_gradients = pairs * kChannels;
  const double inputs = bench.bytes_of(kChannels + 2 * kState + kHeads);
  const auto kept = static_cast<double>(states.view().bytes());
  bench.add("scan_forward", forward,
            {.bytes = inputs + bench.bytes_of(kChannels) + kept,
             .flops = scores,
             .wide_flops = flops - scores},
            0.8);
  bench.add("scan_backward", backward,
            {.bytes = 2 * inputs + bench.bytes_of(kChannels) + kept,
             .flops = their_gradients,
             .wide_flops = 2 * flops - their_gradients},
            0.8);
}

/// The convolution with SiLU, then the gate with its norm.
void convolution_and_gate(Bench& bench) {
  const Tensor x = bench.rows(kConvolved), y = bench.rows(kConvolved), dx = bench.rows(kConvolved);
  const Tensor weight = bench.filled({kConvolved, 1, kTaps}, DType::f32);
  const Tensor bias = bench.numbers(kConvolved), dbias = bench.numbers(kConvolved);
  const Tensor dweight = bench.filled({kConvolved, 1, kTaps}, DType::f32);
  const auto elements = static_cast<double>(kLength * kConvolved);
  const double taps = elements * kTaps;
  const double forward =
      bench.seconds(kernels::CausalConvForward{x.view(), weight.view(), bias.view(), {}, y.view()});
  bench.add("conv_forward", forward,
            {.bytes = 2 * bench.bytes_of(kConvolved), .wide_flops = 2 * taps, .silus = elements},
            0.8);
  const double backward = bench.seconds(kernels::CausalConvBackward{x.view(),
                                                                    y.view(),
                                                                    weight.view(),
                                                                    bias.view(),
                                                                    {},
                                                                    dx.view(),
                                                                    {dweight.view()},
                                                                    {dbias.view()}});
  bench.add("conv_backward", backward,
            {.bytes = 3 * bench.bytes_of(kConvolved), .wide_flops = 4 * taps, .silus = elements},
            0.8);

  const auto flat = [&] { return bench.filled({kLength, kChannels}, bench.dtype()); };
  const Tensor u = flat(), z = flat(), out = flat(), du = flat(), dz = flat();
  const Tensor gamma = bench.numbers(kChannels), dgamma = bench.numbers(kChannels);
  const Tensor rstd = bench.filled({kLength, 1}, DType::f32);
  const double gate = bench.seconds(
      kernels::GatedNormForward{u.view(), z.view(), gamma.view(), out.view(), rstd.view()});
  const auto gates = static_cast<double>(kLength * kChannels);
  bench.add("gate_forward", gate, {.bytes = 3 * bench.bytes_of(kChannels), .silus = gates}, 0.8);
  const double gate_backward = bench.seconds(kernels::GatedNormBackward{u.view(),
                                                                        z.view(),
                                                                        out.view(),
                                                                        gamma.view(),
                                                                        rstd.view(),
                                                                        du.view(),
                                                                        dz.view(),
                                                                        {dgamma.view()},
                                                                        {}});
  bench.add("gate_backward", gate_backward,
            {.bytes = 5 * bench.bytes_of(kChannels), .silus = gates}, 0.8);
}

/// Of a state: its decay, what it says of a key, its correction and what it says of a query.
void delta_rule(Bench& bench) {
  const Tensor q = bench.rows(kKeyHeads * kKey), k = bench.rows(kKeyHeads * kKey);
  const Tensor v = bench.rows(kValueHeads * kValue), o = bench.rows(kValueHeads * kValue);
  const Tensor beta = bench.rows(kValueHeads), alpha = bench.rows(kValueHeads);
  const Tensor a_log = bench.numbers(kValueHeads), bias = bench.numbers(kValueHeads);
  const kernels::DeltaRuleInputs in{q.view(),     k.view(),    v.view(), beta.view(), alpha.view(),
                                    a_log.view(), bias.view(), {},       kKeyHeads};
  const kernels::DeltaRuleForward shape{in, o.view(), {}};
  const Tensor states =
      bench.filled({kLength / shape.chunk, kValueHeads, kKey, kValue}, DType::f32);
  const double forward = bench.seconds(kernels::DeltaRuleForward{in, o.view(), states.view()});
  const Tensor dq = bench.rows(kKeyHeads * kKey), dk = bench.rows(kKeyHeads * kKey);
  const Tensor dv = bench.rows(kValueHeads * kValue), dbeta = bench.rows(kValueHeads);
  const Tensor dalpha = bench.rows(kValueHeads), da_log = bench.numbers(kValueHeads);
  const Tensor dbias = bench.numbers(kValueHeads);
  const double backward = bench.seconds(kernels::DeltaRuleBackward{in,
                                                                   o.view(),
                                                                   states.view(),
                                                                   dq.view(),
                                                                   dk.view(),
                                                                   dv.view(),
                                                                   dbeta.view(),
                                                                   dalpha.view(),
                                                                   {da_log.view()},
                                                                   {dbias.view()}});
  const double flops = 7.0 * kLength * kValueHeads * kKey * kValue;
  const double inputs = bench.bytes_of(2 * kKeyHeads * kKey + kValueHeads * (kValue + 2));
  const double result = bench.bytes_of(kValueHeads * kValue);
  const auto kept = static_cast<double>(states.view().bytes());
  bench.add("delta_rule_forward", forward, {.bytes = inputs + result + kept, .wide_flops = flops},
            0.6);
  bench.add("delta_rule_backward", backward,
            {.bytes = 2 * inputs + result + kept, .wide_flops = 2 * flops}, 0.6);
}

/// Five steps of Newton and Schulz for a layer's matrices.
void newton_schulz(Bench& bench) {
  config::MuonConfig config;
  config.fp32_products = bench.dtype() == DType::f32;
  double flops = 0, seconds = 0;
  for (const Index wide : {Index{2304}, Index{768}, Index{3072}}) {
    constexpr double kRows = 768;
    const Tensor x = bench.filled({768, wide}, DType::f32);
    flops += static_cast<double>(config.steps) * kRows * kRows *
             (4 * static_cast<double>(wide) + 2 * kRows);
    seconds += bench.best_of([&] { optim::orthogonalised(bench.device(), config, x); });
  }
  bench.add("newton_schulz", seconds, {.flops = flops}, 0.85);
}

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 7;
  const device::HostRuntime runtime;
  const auto device = device::make_device("host");
  const double fp32_ceiling = gemm_step_ceiling(1024, DType::f32, 1).rate();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Bench bench(summary, *device, dtype, fp32_ceiling, repetitions);
    scan(bench);
    convolution_and_gate(bench);
    delta_rule(bench);
    newton_schulz(bench);
  }
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::run(argc, argv);
}
