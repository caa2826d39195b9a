#include "benchmarks/timed_training.h"

#include "benchmarks/machine_rates.h"
#include "config/parse/parse.h"

namespace mpitron::benchmarks {

using enum config::ModelKind;

namespace {

constexpr Index kImage = 224, kPatch = 16, kClasses = 1000;  // ViT-B/16

/// Multiply-adds of a sample's forward pass, without the head.
double mamba_products(const Model& model) {
  const auto h = static_cast<double>(model.hidden), n = static_cast<double>(model.state);
  const double channels = 2 * h, convolved = channels + 2 * n;
  const double linears = h * (channels + convolved + channels / 64) + channels * h;
  constexpr double kTaps = 4;
  const double scan = scan_multiply_adds(2 * model.hidden, model.state);
  return static_cast<double>(model.layers * model.sequence) * (linears + kTaps * convolved + scan);
}

}  // namespace

double scan_multiply_adds(Index channels, Index state) {
  constexpr double kChunk = 128;
  const auto d = static_cast<double>(channels), n = static_cast<double>(state);
  return kChunk * (n + d) / 2 + 2 * n * d;
}

double flops_per_sample(const Model& model) {
  const auto h = static_cast<double>(model.hidden), s = static_cast<double>(model.sequence);
  const auto v = static_cast<double>(model.vocabulary), layers = static_cast<double>(model.layers);
  const double pairs = (model.kind == gpt ? 0.5 : 1) * s * s;
  const auto gated = static_cast<double>(model.gated_width);
  const double mlp = gated > 0 ? 3 * h * gated : 8 * h * h * (model.experts > 0 ? 2 : 1);
  double products = layers * ((4 * h * h + mlp) * s + 2 * h * pairs);
  if (model.kind == t5) {
    const auto d = static_cast<double>(model.decoder_sequence);
    const double weights = (4 + 2 + 8) * h * h * d + 2 * h * h * s;  // keys and values of s tokens
    products += layers * (weights + 2 * h * (0.5 * d * d + d * s)) + h * v * d;
  } else if (model.kind == vit) {
    products +=
        h * static_cast<double>(kPatch * kPatch * 3) * s + h * static_cast<double>(kClasses);
  } else {
    products = model.kind == mamba ? mamba_products(model) : products;
    products += h * v * s + (model.kind == bert ? h * h * s : 0);
  }
  return 6 * products;
}

Flags flags_of(const Model& model, Index micro_batch, DType dtype) {
  const auto text = [](Index value) { return std::to_string(value); };
  Flags flags = {"--num-layers",
                 text(model.layers),
                 "--hidden-size",
                 text(model.hidden),
                 "--num-attention-heads",
                 text(model.heads),
                 "--micro-batch-size",
                 text(micro_batch),
                 "--global-batch-size",
                 text(micro_batch),
                 "--train-iters",
                 "1000000",
                 "--lr",
                 "1e-4",
                 "--attention-dropout",
                 "0",
                 "--hidden-dropout",
                 "0"};
  const auto add = [&flags](const Flags& more) {
    flags.insert(flags.end(), more.begin(), more.end());
  };
  if (dtype == DType::bf16) {
    add({"--bf16"});
  }
  if (model.kind == vit) {
    add({"--model", "vit", "--img-h", text(kImage), "--img-w", text(kImage), "--patch-dim",
         text(kPatch), "--num-classes", text(kClasses), "--class-token-length", "1"});
    return flags;
  }
  add({"--seq-length", text(model.sequence), "--max-position-embeddings", text(model.sequence),
       "--mock-data", "--tokenizer-type", "NullTokenizer", "--vocab-size",
       text(model.vocabulary - 1)});
  if (model.kind == mamba) {
    add({"--model", "mamba", "--hybrid-override-pattern",
         std::string(static_cast<std::size_t>(model.layers), 'M'), "--mamba-num-groups", "1",
         "--mamba-state-dim", text(model.state), "--disable-bias-linear", "--normalization",
         "RMSNorm", "--position-embedding-type", "none"});
  }
  if (model.experts > 0) {
    add({"--disable-bias-linear", "--num-experts", text(model.experts), "--moe-aux-loss-coeff",
         "0.01"});
  }
  if (model.gated_width > 0) {
    add({"--swiglu", "--ffn-hidden-size", text(model.gated_width), "--normalization", "RMSNorm",
         "--position-embedding-type", "rope", "--disable-bias-linear",
         "--untie-embeddings-and-output-weights"});
  }
  if (model.kind == bert) {
    add({"--model", "bert"});
  }
  if (model.kind == t5) {
    add({"--model", "t5", "--decoder-seq-length", text(model.decoder_sequence), "--vocab-extra-ids",
         "100"});
  }
  return flags;
}

config::RunConfig timed_configuration(const Model& model, Index micro_batch, DType dtype,
                                      const Flags& more) {
  Flags flags = flags_of(model, micro_batch, dtype);
  flags.insert(flags.end(), more.begin(), more.end());
  config::RunConfig config = config::parse_run_config(flags);
  config.model.padded_vocab_size = model.vocabulary;
  return config;
}

TimedTraining::TimedTraining(device::Device& device, const Model& size, Index micro_batch,
                             DType dtype, const Flags& more)
    : config_(timed_configuration(size, micro_batch, dtype, more)),
      world_(comm::make_single_world()),
      model_(device, config_, *world_),
      tuning_(device, *world_, config_),
      step_(device, model_, config_, timers_),
      corpus_(config_.model),
      samples_(micro_batch) {}

double TimedTraining::step() {
  return best_seconds(1, [&] {
    ++iteration_;
    step_.run(iteration_, 1, samples_, [&] { return corpus_.rows(0, samples_); });
    if (tuning_.complete()) {
      step_.kernels_changed();
    }
  });
}

}  // namespace mpitron::benchmarks
