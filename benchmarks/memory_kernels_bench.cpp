// Kernels that move or transform memory, against the copy bandwidth of the same run: those of the
// host, or in a build with CUDA those of the first GPU, where it skips itself if there is none.
//   memory_kernels_bench [--summary FILE] [--only TEXT] [--device host|cuda]
// Each kernel alternates with the copy; both give their best of several repetitions. On the host a
// pair in which another program took a processor is measured again; a GPU is timed by events in its
// queue. Bytes count every element read and every element written once. What only reads is held
// against the copy as well, although on the host reading alone is slower: its `limit` is what the
// row "reading alone" reached of the copy.

#include <cstdio>
#include <cstring>

#include "benchmarks/kernel_meter.h"
#include "device/device.h"
#include "kernels/attention/latent_qkv.h"
#include "kernels/attention/rotary.h"
#include "kernels/elementwise/activation.h"
#include "kernels/elementwise/cross_entropy.h"
#include "kernels/elementwise/dropout.h"
#include "kernels/elementwise/embedding.h"
#include "kernels/elementwise/norm.h"
#include "kernels/elementwise/optimizer.h"
#include "kernels/linear/matmul.h"
#include "kernels/state_space/causal_conv.h"
#include "kernels/state_space/delta_rule.h"
#include "kernels/state_space/gated_norm.h"
#include "kernels/state_space/selective_scan.h"
#include "utils/numbers/exact_sum.h"
#include "utils/system/files.h"

namespace mpitron::kernels {
namespace {

std::string named(const char* name, DType dtype) {
  return std::string(name) + " " + name_of(dtype);
}

/// All after large copies, so that they come from memory. Then, at [t, h] = [4096, 768], what a
/// step of GPT-2 124M has, each right after itself: the last-level cache holds a part of it.
void bench_norms(KernelMeter& meter, DType dtype, Index host_rows, Index h) {
  const Index t = meter.rows(host_rows);
  const std::string shape =
      " " + std::string(name_of(dtype)) + " [" + std::to_string(t) + ", " + std::to_string(h) + "]";
  const Out x = meter.tensor(dtype, {t, h}), y = meter.tensor(dtype, {t, h});
  const Out dx = meter.tensor(dtype, {t, h});
  const Out gamma = meter.tensor(dtype, {h}), beta = meter.tensor(dtype, {h});
  const Out mean = meter.tensor(DType::f32, {t}), rstd = meter.tensor(DType::f32, {t});
  const InOut dgamma{meter.tensor(DType::f32, {h})}, dbeta{meter.tensor(DType::f32, {h})};
  const auto bytes = static_cast<double>(x.bytes());
  const auto measure = [&](const std::string& name, int tensors, const auto& kernel,
                           bool repeated) {
    if (repeated) {
      meter.repeated_bandwidth(name + ", repeated" + shape, tensors * bytes, kernel);
    } else {
      meter.bandwidth(name + shape, tensors * bytes, kernel);
    }
  };
  const auto rms_backward =
      meter.with_workspace(RmsNormBackward{x, y, gamma, rstd, {}, dx, dgamma, {}});
  const auto rms_backward_added =
      meter.with_workspace(RmsNormBackward{x, y, gamma, rstd, dx, dx, dgamma, {}});
  const auto layer_backward =
      meter.with_workspace(LayerNormBackward{x, y, gamma, mean, rstd, {}, dx, dgamma, dbeta, {}});
  for (const bool repeated : {false, true}) {
    if (repeated && !(meter.on_host() && t == 4096)) {
      continue;
    }
    measure("rms_norm forward", 2, RmsNormForward{x, gamma, y, rstd}, repeated);
    measure("layer_norm forward", 2, LayerNormForward{x, gamma, beta, y, mean, rstd}, repeated);
    measure("rms_norm backward", 3, rms_backward, repeated);
    measure("rms_norm backward, added", 4, rms_backward_added, repeated);
    measure("layer_norm backward", 3, layer_backward, repeated);
  }
}

void bench_elementwise(KernelMeter& meter, DType dtype) {
  const Index t = meter.rows(16384), h = 2048;
  const Out x = meter.tensor(dtype, {t, h}), y = meter.tensor(dtype, {t, h});
  const Out r = meter.tensor(dtype, {t, h}), bias = meter.tensor(dtype, {h});
  const auto bytes = static_cast<double>(x.bytes());
  meter.bandwidth(named("scale in place", dtype), 2 * bytes, Scale{x, x, 1.0001f});
  meter.bandwidth(named("add in place", dtype), 3 * bytes, Add{x, y, y});
  meter.bandwidth(named("residual add", dtype), 3 * bytes,
                  BiasDropoutAddForward{x, {}, r, y, 1, {}});
  meter.bandwidth(named("bias + residual add", dtype), 3 * bytes,
                  BiasDropoutAddForward{x, bias, r, y, 1, {}});
  meter.bandwidth(named("bias", dtype), 2 * bytes,
                  BiasActivationForward{x, bias, y, Activation::none});
  const InOut db{meter.tensor(DType::f32, {h})};
  meter.read_bandwidth(named("bias gradient (read only)", dtype), bytes,
                       meter.with_workspace(BiasGradient{x, db, {}}));
  DropoutMask mask;
  mask.threshold = dropout_threshold(0.1);
  meter.elements(named("dropout + residual add", dtype), {static_cast<double>(x.numel()), 4},
                 3 * bytes, BiasDropoutAddForward{x, bias, r, y, 1, mask});
  meter.elements(named("dropout backward", dtype), {static_cast<double>(x.numel()), 4}, 2 * bytes,
                 DropoutBackward{x, y, 1, mask});
  const Out table = meter.tensor(dtype, {1024, 64});
  const Out heads = device::TensorView(x.data, dtype, {1024, t / 1024, 16, 128});
  meter.bandwidth(named("rotary", dtype), 2 * bytes, RotaryEmbedding{heads, table, table});
}

void bench_activations(KernelMeter& meter, DType dtype) {
  const Index t = meter.rows(4096), f = 3072;
  const Out x = meter.tensor(dtype, {t, f}), y = meter.tensor(dtype, {t, f});
  const Out dy = meter.tensor(dtype, {t, f});
  const Out wide = meter.tensor(dtype, {t, 2 * f}), dwide = meter.tensor(dtype, {t, 2 * f});
  const Out bias = meter.tensor(dtype, {f});
  const auto count = static_cast<double>(x.numel()), bytes = static_cast<double>(x.bytes());
  for (const Activation a : {Activation::gelu_tanh, Activation::gelu_erf, Activation::silu}) {
    const char* name = a == Activation::gelu_tanh  ? "gelu_tanh"
                       : a == Activation::gelu_erf ? "gelu_erf"
                                                   : "silu";
    meter.elements(named(name, dtype) + " forward", {count, 5}, 2 * bytes,
                   BiasActivationForward{x, bias, y, a});
    meter.elements_in_place(named(name, dtype) + " backward", {count, 3.5}, 3 * bytes, Cast{dy, y},
                            BiasActivationBackward{x, y, bias, y, a});
  }
  meter.elements(named("swiglu", dtype) + " forward", {count, 4}, 3 * bytes,
                 GatedActivationForward{wide, {}, y, Activation::silu});
  meter.elements(named("swiglu", dtype) + " backward", {count, 2}, 5 * bytes,
                 GatedActivationBackward{wide, y, {}, dwide, Activation::silu});
}

void bench_loss(KernelMeter& meter, DType dtype) {
  const Index t = meter.rows(4096), v = 50304;
  const Out logits = meter.tensor(dtype, {t, v}), labels = meter.tensor(DType::i64, {t});
  const Out loss = meter.tensor(DType::f32, {t}), lse = meter.tensor(DType::f32, {t});
  const CrossEntropyForward forward{logits, labels, loss, lse};
  const CrossEntropyBackward backward{logits, labels, lse, loss, logits};
  const auto count = static_cast<double>(logits.numel());
  const auto bytes = static_cast<double>(logits.bytes());
  meter.elements(named("cross_entropy", dtype) + " forward", {count, 8}, bytes, forward);
  meter.elements(named("cross_entropy", dtype) + " forward + backward", {count, 4}, 3 * bytes,
                 forward, backward);
}

/// Of a vocabulary of GPT-2: forward reads a row and writes it, backward reads every gradient and
/// writes the table once.
void bench_embedding(KernelMeter& meter, DType dtype) {
  const Index t = meter.rows(4096), v = 50304, h = 768;
  const Out ids = meter.indices(t, v), y = meter.tensor(dtype, {t, h});
  const Out table = meter.tensor(dtype, {v, h});
  const InOut dtable{meter.tensor(DType::f32, {v, h})};
  meter.bandwidth(named("embedding forward", dtype), 2. * static_cast<double>(y.bytes()),
                  EmbeddingForward{ids, table, {}, {}, y});
  meter.bandwidth(named("embedding backward", dtype),
                  static_cast<double>(y.bytes() + dtable.bytes()),
                  meter.with_workspace(EmbeddingBackward{ids, y, dtable, {}}));
}

/// The heads of DeepSeek-V2: 128 components without positions, 64 rotary ones, 128 of the value.
void bench_latent_qkv(KernelMeter& meter, DType dtype) {
  const Index s = meter.rows(512), b = 1, n = 16, plain = 128, rotary = 64;
  const Out q = meter.tensor(dtype, {s, b, n, plain + rotary});
  const Out kv = meter.tensor(dtype, {s, b, n, 2 * plain});
  const Out shared = meter.tensor(dtype, {s, b, rotary}),
            table = meter.tensor(dtype, {s, rotary / 2});
  const Out qkv = meter.tensor(dtype, {s, b, n, 3 * plain + 2 * rotary});
  const auto bytes = static_cast<double>(q.bytes() + kv.bytes() + shared.bytes() + qkv.bytes());
  meter.bandwidth(named("latent qkv forward", dtype), bytes,
                  LatentQkvForward{q, kv, shared, table, table, qkv});
  meter.bandwidth(named("latent qkv backward", dtype), bytes,
                  LatentQkvBackward{qkv, table, table, q, kv, shared});
}

void bench_optimizer(KernelMeter& meter) {
  const Index n = meter.rows(Index{16} << 20);
  const InOut p{meter.tensor(DType::f32, {n})}, m{meter.tensor(DType::f32, {n})};
  const InOut v{meter.tensor(DType::f32, {n})};
  meter.launch(Fill{v, 1});
  const Out g = meter.tensor(DType::f32, {n}), g16 = meter.tensor(DType::bf16, {n});
  const Out copy = meter.tensor(DType::bf16, {n}),
            bins = meter.tensor(DType::i64, {exact_sum::kBins});
  AdamStep adam{p, m, v, g, {}};
  adam.lr = 1e-6f;
  meter.bandwidth("adam fp32", 28. * static_cast<double>(n), adam);
  AdamStep mixed{p, m, v, g16, copy};
  mixed.lr = 1e-6f;
  meter.bandwidth("adam bf16 gradients and parameters", 28. * static_cast<double>(n), mixed);
  if (meter.on_host()) {
    meter.reading();
  }
  meter.read_bandwidth("sum of squares fp32 (read only)", 4. * static_cast<double>(n),
                       SumOfSquares{g, bins});
  meter.read_bandwidth("sum of squares bf16 (read only)", 2. * static_cast<double>(n),
                       SumOfSquares{g16, bins});
  meter.bandwidth("fill (write only)", 4. * static_cast<double>(n), Fill{g, 0});
  meter.bandwidth("cast fp32 to bf16", 6. * static_cast<double>(n), Cast{p, copy});
}

/// The convolution and the gate of Mamba-2 130M.
void bench_convolution(KernelMeter& meter, DType dtype) {
  constexpr Index kLength = 2048, kChannels = 1536, kConvolved = kChannels + 256;
  const Index samples = meter.rows(kLength) / kLength;
  const auto rows = [&](Index width) { return meter.tensor(dtype, {kLength, samples, width}); };
  const Out x = rows(kConvolved), y = rows(kConvolved), dx = rows(kConvolved);
  const Out weight = meter.tensor(dtype, {kConvolved, 1, 4}),
            bias = meter.tensor(dtype, {kConvolved});
  const InOut dweight{meter.tensor(DType::f32, {kConvolved, 1, 4})};
  const InOut dbias{meter.tensor(DType::f32, {kConvolved})};
  const auto bytes = static_cast<double>(x.bytes());
  meter.bandwidth(named("causal conv forward", dtype), 2 * bytes,
                  CausalConvForward{x, weight, bias, {}, y});
  CausalConvBackward backward{x, y, weight, bias, {}, dx, dweight, dbias};
  meter.bandwidth(named("causal conv backward", dtype), 3 * bytes, meter.with_workspace(backward));
  const Out u = rows(kChannels), z = rows(kChannels), v = rows(kChannels);
  const Out du = rows(kChannels), dz = rows(kChannels), gamma = meter.tensor(dtype, {kChannels});
  const Out rstd = meter.tensor(DType::f32, {kLength * samples, 1});
  const InOut dgamma{meter.tensor(DType::f32, {kChannels})};
  const auto of_gate = static_cast<double>(u.bytes());
  meter.bandwidth(named("gated norm forward", dtype), 3 * of_gate,
                  GatedNormForward{u, z, gamma, v, rstd});
  meter.bandwidth(
      named("gated norm backward", dtype), 5 * of_gate,
      meter.with_workspace(GatedNormBackward{u, z, v, gamma, rstd, du, dz, dgamma, {}}));
}

/// The scan of Mamba-2 130M; bytes are those of inputs and results, not of states.
void bench_scan(KernelMeter& meter, DType dtype) {
  constexpr Index kLength = 2048, kHeads = 24, kHeadDim = 64, kState = 128, kChunk = 128;
  const Index samples = meter.rows(kLength) / kLength;
  const auto rows = [&](Index width) { return meter.tensor(dtype, {kLength, samples, width}); };
  const auto heads = [&] { return meter.tensor(DType::f32, {kHeads}); };
  const Out x = rows(kHeads * kHeadDim), y = rows(kHeads * kHeadDim), dx = rows(kHeads * kHeadDim);
  const Out b = rows(kState), c = rows(kState), db = rows(kState), dc = rows(kState);
  const Out dt = rows(kHeads), ddt = rows(kHeads);
  const Out states =
      meter.tensor(DType::f32, {kLength / kChunk * samples, kHeads, kState, kHeadDim});
  const ScanInputs in{x, b, c, dt, heads(), heads(), heads(), {}};
  const auto bytes = static_cast<double>(x.bytes() + b.bytes());
  SelectiveScanForward forward{in, y, states};
  meter.bandwidth(named("selective scan forward", dtype), 2 * bytes, meter.with_workspace(forward));
  SelectiveScanBackward backward{
      in, y, states, dx, db, dc, ddt, InOut{heads()}, InOut{heads()}, InOut{heads()}};
  meter.bandwidth(named("selective scan backward", dtype), 4 * bytes,
                  meter.with_workspace(backward));
}

/// The rule of a delta net of its width, likewise.
void bench_delta_rule(KernelMeter& meter, DType dtype) {
  constexpr Index kLength = 2048, kKeys = 4 * 128, kHeads = 8, kValues = kHeads * 128, kChunk = 64;
  const Index samples = meter.rows(kLength) / kLength;
  const auto rows = [&](Index width) { return meter.tensor(dtype, {kLength, samples, width}); };
  const auto heads = [&] { return meter.tensor(DType::f32, {kHeads}); };
  const Out q = rows(kKeys), k = rows(kKeys), v = rows(kValues), o = rows(kValues);
  const Out dq = rows(kKeys), dk = rows(kKeys), dv = rows(kValues);
  const Out dbeta = rows(kHeads), dalpha = rows(kHeads);
  const Out states = meter.tensor(DType::f32, {kLength / kChunk * samples, kHeads, 128, 128});
  const DeltaRuleInputs in{q, k, v, rows(kHeads), rows(kHeads), heads(), heads(), {}, 4};
  const auto bytes = static_cast<double>(q.bytes() + k.bytes() + v.bytes() + o.bytes());
  DeltaRuleForward forward{in, o, states};
  meter.bandwidth(named("delta rule forward", dtype), bytes, meter.with_workspace(forward));
  DeltaRuleBackward backward{
      in, o, states, dq, dk, dv, dbeta, dalpha, InOut{heads()}, InOut{heads()}};
  meter.bandwidth(named("delta rule backward", dtype), 2 * bytes, meter.with_workspace(backward));
}

void bench_latency(KernelMeter& meter) {
  const Out x = meter.tensor(DType::f32, {32, 64}), y = meter.tensor(DType::f32, {32, 64});
  const Out gamma = meter.tensor(DType::f32, {64}), rstd = meter.tensor(DType::f32, {32});
  meter.latency("tiny add", Add{x, y, y});
  meter.latency("tiny rms_norm", RmsNormForward{x, gamma, y, rstd});
  meter.latency("tiny gelu", BiasActivationForward{x, gamma, y, Activation::gelu_tanh});
}

void bench_all(KernelMeter& meter) {
  bench_latency(meter);
  bench_optimizer(meter);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    bench_norms(meter, dtype, 4096, 768);
    bench_norms(meter, dtype, 16384, 1024);
    bench_elementwise(meter, dtype);
    bench_activations(meter, dtype);
    bench_embedding(meter, dtype);
    bench_latent_qkv(meter, dtype);
    bench_loss(meter, dtype);
    if (!meter.on_host()) {  // hybrid_bench has the host's
      bench_convolution(meter, dtype);
      bench_scan(meter, dtype);
      bench_delta_rule(meter, dtype);
    }
  }
}

/// The figures of a device; none where a GPU is wanted and not there.
nlohmann::json figures(std::string name, const std::string& only) {
  const std::optional<device::VisibleGpus> gpus = device::find_gpus();
  if (name.empty()) {
    name = gpus ? "cuda" : "host";
  }
  if (name == "cuda" && gpus && gpus->gpus.empty()) {
    std::printf("memory_kernels_bench: skipped: %s\n", gpus->why_none.c_str());
    return nlohmann::json::array();
  }
  const device::HostRuntime runtime;
  std::printf("%s, threads %d\n", name.c_str(), device::HostRuntime::threads());
  const std::unique_ptr<device::Device> device = device::make_device(name);
  KernelMeter meter(*device, only);
  bench_all(meter);
  return meter.figures();
}

}  // namespace
}  // namespace mpitron::kernels

int main(int argc, char** argv) {
  using namespace mpitron;
  std::string summary, only, device;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string& value = std::strcmp(argv[i], "--summary") == 0  ? summary
                         : std::strcmp(argv[i], "--device") == 0 ? device
                                                                 : only;
    value = argv[i + 1];
  }
  const nlohmann::json figures = kernels::figures(device, only);
  if (!summary.empty()) {
    AtomicFile file(summary);
    file.write(figures.dump(2) + "\n");
    file.commit();
  }
}
