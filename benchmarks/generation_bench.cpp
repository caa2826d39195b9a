// What a step of generation takes beside reading its weights, keys and values once.
//   generation_bench [--summary FILE] [gpt2|llama|all] [repetitions]
#include <cstdlib>

#include <fmt/format.h>

#include "benchmarks/ceiling.h"
#include "benchmarks/summary.h"
#include "config/parse/parse.h"
#include "inference/cached_engine.h"
#include "models/gpt/gpt_model.h"

namespace mpitron::benchmarks {
namespace {

using inference::CachedEngine;
using inference::SequenceStep;
using inference::TokenIds;

constexpr Index kBlockSize = 16, kContext = 1100, kMostRequests = 32;

struct Shape {
  std::string name;
  std::vector<std::string> flags;
  Index vocabulary;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"gpt2_124m",
       {"--num-layers", "12", "--hidden-size", "768", "--num-attention-heads", "12"},
       50257},
      {"llama_1b",
       {"--num-layers", "22", "--hidden-size", "2048", "--num-attention-heads", "32",
        "--group-query-attention", "--num-query-groups", "4", "--ffn-hidden-size", "5632",
        "--swiglu", "--normalization", "RMSNorm", "--position-embedding-type", "rope",
        "--disable-bias-linear", "--untie-embeddings-and-output-weights"},
       32000}};
  return all;
}

config::ModelConfig config_of(const Shape& shape) {
  std::vector<std::string> flags = shape.flags;
  const std::string length = std::to_string(kContext);
  for (const std::string& more :
       {std::string("--seq-length"), length, std::string("--max-position-embeddings"), length,
        std::string("--micro-batch-size"), std::string("1"), std::string("--train-iters"),
        std::string("1"), std::string("--lr"), std::string("1e-3"), std::string("--mock-data"),
        std::string("--attention-dropout"), std::string("0"), std::string("--hidden-dropout"),
        std::string("0")}) {
    flags.push_back(more);
  }
  config::ModelConfig config = config::parse_run_config(flags).model;
  config.padded_vocab_size = (shape.vocabulary + 15) / 16 * 16;
  return config;
}

/// Some sequences of equal length in an engine.
class Batch {
 public:
  Batch(CachedEngine& engine, Index requests, Index context)
      : engine_(engine), context_(context), blocks_(static_cast<std::size_t>(requests)) {
    const Index of_one = (context + kBlockSize) / kBlockSize + 1;
    Index next = 0;
    for (std::vector<Index>& blocks : blocks_) {
      for (Index i = 0; i < of_one; ++i) {
        blocks.push_back(next++);
      }
      prefill(blocks);
    }
    for (const std::vector<Index>& blocks : blocks_) {
      decodes_.push_back({.first_position = context, .tokens = last_, .blocks = blocks});
    }
  }
  /// One token of every sequence; the same place each time.
  void decode() { engine_.step(decodes_); }

 private:
  void prefill(const std::vector<Index>& blocks) {
    const TokenIds ids(static_cast<std::size_t>(context_), 7);
    const SequenceStep step{.tokens = ids, .blocks = blocks, .logits_from = context_};
    engine_.step(std::span(&step, 1));
  }

  CachedEngine& engine_;
  Index context_;
  TokenIds last_ = {11};
  std::vector<std::vector<Index>> blocks_;
  std::vector<SequenceStep> decodes_;
};

struct Measured {
  Summary& summary;
  std::string name;
  int repetitions;
};

void decode_rates(const Measured& run, CachedEngine& engine, Index requests, Index context) {
  Batch batch(engine, requests, context);
  const double before = read_bandwidth(run.repetitions);
  const double seconds = best_seconds(run.repetitions * 3, [&] { batch.decode(); });
  const double read = std::max(before, read_bandwidth(run.repetitions));
  const double cached = static_cast<double>(engine.cache_bytes()) /
                        static_cast<double>(engine.shape().blocks * kBlockSize);
  const double bytes =
      static_cast<double>(engine.weight_bytes()) + static_cast<double>(requests * context) * cached;
  fmt::print(
      "  {} requests {:2} context {:4}: {:7.2f} ms a step, {:7.1f} tokens/s, read {:.1f} GB/s\n",
      run.name, requests, context, seconds * 1e3, static_cast<double>(requests) / seconds,
      read * 1e-9);
  run.summary.add(
      {fmt::format("generate_{}_requests_{}_context_{}_share_of_read", run.name, requests, context),
       bytes / seconds / read, "ratio", requests == 1 ? 0.85 : 0.78});
}

void prefill_rate(const Measured& run, CachedEngine& engine) {
  constexpr Index kPrompt = 512;
  const TokenIds ids(kPrompt, 7);
  std::vector<Index> blocks;
  for (Index i = 0; i < kPrompt / kBlockSize; ++i) {
    blocks.push_back(i);
  }
  const SequenceStep step{.tokens = ids, .blocks = blocks, .logits_from = kPrompt - 1};
  const double seconds = best_seconds(run.repetitions, [&] { engine.step(std::span(&step, 1)); });
  run.summary.add(
      {fmt::format("generate_{}_prefill_512", run.name), kPrompt / seconds, "tokens/s"});
}

void measure(Summary& summary, const Shape& shape, int repetitions) {
  const auto device = device::make_device("host");
  models::GptModel model(config_of(shape), *device);
  model.initialize();
  for (const DType type : {DType::f32, DType::bf16}) {
    const Index blocks = (kContext / kBlockSize + 2) * kMostRequests;
    CachedEngine engine(
        *device, model,
        {.block_size = kBlockSize, .blocks = blocks, .slots = kMostRequests, .weights = type},
        shape.vocabulary);
    const Measured run{summary, fmt::format("{}_{}", shape.name, name_of(type)), repetitions};
    for (const Index requests : {1, 8, 32}) {
      decode_rates(run, engine, requests, 128);
    }
    decode_rates(run, engine, 1, 1024);
    prefill_rate(run, engine);
  }
}

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const std::string which = argc > 1 ? argv[1] : "gpt2";
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  const device::HostRuntime runtime;
  for (const Shape& shape : shapes()) {
    if (which == "all" || shape.name.starts_with(which)) {
      measure(summary, shape, repetitions);
    }
  }
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::run(argc, argv);
}
