// What generation takes beside reading its weights, keys and values once a step, or beside the
// products of its rows, whichever is more: the whole engine, with scheduling, sampling and text.
//   generation_bench [--summary FILE] [gpt2|llama|mamba|all] [repetitions] [fp32|bf16|int8|q4]
//                    [positions]
// With a number of positions only batches are measured whose prompts have no more of them together.
#include <cstdlib>

#include <fmt/format.h>

#include "benchmarks/ceiling.h"
#include "benchmarks/summary.h"
#include "config/parse/parse.h"
#include "inference/cached_engine.h"
#include "inference/engine_choice.h"
#include "inference/scheduling/generator.h"
#include "models/gpt/gpt_model.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::benchmarks {
namespace {

using inference::CachedEngine;
using inference::Generator;
using inference::SchedulerSettings;
using kernels::WeightFormat;

constexpr Index kBlockSize = 16, kPositions = 2304, kMostRequests = 32;

struct Shape {
  std::string name;
  std::vector<std::string> flags;
  Index vocabulary;
  std::vector<LinearSize> linears;  // without the head
  LinearSize head;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"gpt2_124m",
       {"--num-layers", "12", "--hidden-size", "768", "--num-attention-heads", "12"},
       50257,
       {{"qkv", 768, 2304, 12},
        {"proj", 768, 768, 12},
        {"fc1", 768, 3072, 12},
        {"fc2", 3072, 768, 12}},
       {"head", 768, 50272, 1}},
      {"llama_1b",
       {"--num-layers", "22", "--hidden-size", "2048", "--num-attention-heads", "32",
        "--group-query-attention", "--num-query-groups", "4", "--ffn-hidden-size", "5632",
        "--swiglu", "--normalization", "RMSNorm", "--position-embedding-type", "rope",
        "--disable-bias-linear", "--untie-embeddings-and-output-weights"},
       32000,
       {{"qkv", 2048, 2560, 22},
        {"proj", 2048, 2048, 22},
        {"fc1", 2048, 11264, 22},
        {"fc2", 5632, 2048, 22}},
       {"head", 2048, 32000, 1}},
      {"mamba2_130m",
       {"--model", "mamba", "--num-layers", "24", "--hybrid-override-pattern", std::string(24, 'M'),
        "--hidden-size", "768", "--num-attention-heads", "24", "--mamba-num-groups", "1",
        "--normalization", "RMSNorm", "--disable-bias-linear", "--position-embedding-type", "none"},
       50257,
       {{"in", 768, 3352, 24}, {"out", 1536, 768, 24}},
       {"head", 768, 50272, 1}}};
  return all;
}

config::ModelConfig config_of(const Shape& shape, WeightFormat format) {
  std::vector<std::string> flags = shape.flags;
  const std::string length = std::to_string(kPositions);
  for (const std::string& more :
       {std::string("--seq-length"), length, std::string("--max-position-embeddings"), length,
        std::string("--micro-batch-size"), std::string("1"), std::string("--train-iters"),
        std::string("1"), std::string("--lr"), std::string("1e-3"), std::string("--mock-data"),
        std::string("--attention-dropout"), std::string("0"), std::string("--hidden-dropout"),
        std::string("0")}) {
    flags.push_back(more);
  }
  if (format != WeightFormat::fp32) {
    flags.emplace_back("--bf16");
  }
  config::ModelConfig config = config::parse_run_config(flags).model;
  config.padded_vocab_size = (shape.vocabulary + 15) / 16 * 16;
  return config;
}

/// A prompt of which no two tokens in a row stand elsewhere in it, another one for each number.
inference::TokenIds prompt_of(Index length, Index number) {
  inference::TokenIds ids;
  for (Index i = 0; i < length; ++i) {
    ids.push_back(static_cast<inference::TokenId>((7919 * number + i * (i + 3) * 131) % 30000));
  }
  return ids;
}

/// An engine under measurement.
struct Subject {
  const Shape& shape;
  WeightFormat format;
  CachedEngine& engine;
  Summary& summary;
  int repetitions;
  tokenizers::NullTokenizer tokenizer{shape.vocabulary - 1};

  std::string name() const {
    return fmt::format("generate_{}_{}", shape.name, kernels::facts(format).name);
  }
  DType product_type() const {
    return format == WeightFormat::fp32   ? DType::f32
           : format == WeightFormat::bf16 ? DType::bf16
                                          : DType::i8;
  }
  double cached_bytes_per_position() const {
    const inference::StepRunner& runner = engine.runner();
    return static_cast<double>(runner.cache_bytes() - runner.state_bytes()) /
           static_cast<double>(engine.shape().blocks * kBlockSize);
  }
  /// What a step reads and writes of a request's states.
  double moved_state_bytes() const {
    const Index places = engine.shape().states + engine.shape().snapshots;
    return 2 * static_cast<double>(engine.runner().state_bytes()) /
           static_cast<double>(std::max<Index>(places, 1));
  }
};

/// Answers whose prompts are all in the cache: a step brings one token of each.
class Answers {
 public:
  Answers(Subject& subject, Index requests, Index context, const SchedulerSettings& settings)
      : generator_(subject.engine, subject.tokenizer, settings) {
    for (Index i = 0; i < requests; ++i) {
      generator_.submit(
          {.prompt = prompt_of(context, i), .max_tokens = 200, .sampling = {.temperature = 0}},
          [this](const inference::Answer& answer) { begun_ += answer.tokens.size() == 1 ? 1 : 0; });
    }
    while (begun_ < requests) {
      generator_.step();
    }
  }
  /// Seconds a token takes of all answers together.
  double seconds_of_a_step(int steps) {
    const Index before = generator_.generated_tokens();
    const double seconds = best_seconds(1, [&] {
      for (int i = 0; i < steps; ++i) {
        generator_.step();
      }
    });
    return seconds / static_cast<double>(generator_.generated_tokens() - before);
  }

 private:
  Index begun_ = 0;  // answers that have their first token
  Generator generator_;
};

struct Goal {
  Index requests, context;
  double of_numbers, of_int8, of_q4;  // accepted shares
};

constexpr Goal kGoals[] = {{1, 128, 0.85, 0.85, 0.8},
                           {1, 1024, 0.8, 0.8, 0.8},
                           {8, 128, 0.78, 0.75, 0.75},
                           {32, 128, 0.8, 0.75, 0.75},
                           {32, 1024, 0.75, 0.75, 0.75}};

/// Answers the most requests that are measured: the system clears memory of the cache when it is
/// first written, once in a server's life, and steps that are measured are later ones.
void use_cache(Subject& subject, Index most_positions) {
  const Goal* most = nullptr;
  for (const Goal& goal : kGoals) {
    most = goal.requests * goal.context <= most_positions ? &goal : most;
  }
  if (most != nullptr) {
    Answers(subject, most->requests, most->context, {}).seconds_of_a_step(8 * subject.repetitions);
  }
}

void decode_rate(Subject& subject, const Goal& goal) {
  Answers answers(subject, goal.requests, goal.context, {});
  const double before = read_bandwidth(subject.repetitions);
  double seconds = 1e30;
  for (int i = 0; i < subject.repetitions; ++i) {
    seconds = std::min(seconds, answers.seconds_of_a_step(8) * static_cast<double>(goal.requests));
  }
  const double read = std::max(before, read_bandwidth(subject.repetitions));
  std::vector<LinearSize> sizes = subject.shape.linears;
  sizes.push_back(subject.shape.head);
  const double products =
      goal.requests > 1 ? packed_products_seconds(sizes, goal.requests, subject.product_type(), 3)
                        : 0;
  const double bytes = static_cast<double>(subject.engine.runner().weight_bytes()) +
                       static_cast<double>(goal.requests * (goal.context + 8)) *
                           subject.cached_bytes_per_position() +
                       static_cast<double>(goal.requests) * subject.moved_state_bytes();
  const double needed = std::max(bytes / read, products);
  fmt::print(
      "  {} requests {:2} context {:4}: {:7.2f} ms a step, {:7.1f} tokens/s; reading {:.2f} "
      "ms at {:.1f} GB/s, products {:.2f} ms\n",
      subject.name(), goal.requests, goal.context, seconds * 1e3,
      static_cast<double>(goal.requests) / seconds, bytes / read * 1e3, read * 1e-9,
      products * 1e3);
  const double share = subject.format == WeightFormat::q4     ? goal.of_q4
                       : subject.format == WeightFormat::int8 ? goal.of_int8
                                                              : goal.of_numbers;
  subject.summary.add({fmt::format("{}_requests_{}_context_{}_of_needed", subject.name(),
                                   goal.requests, goal.context),
                       needed / seconds, "ratio", share});
}

/// Seconds until the first token of a prompt.
double first_token(Generator& generator, const inference::TokenIds& prompt) {
  return best_seconds(1, [&] {
    generator.submit({.prompt = prompt, .max_tokens = 1, .sampling = {.temperature = 0}}, {});
    while (generator.step()) {
    }
  });
}

void prefill_rate(Subject& subject) {
  constexpr Index kPrompt = 512;
  Generator generator(subject.engine, subject.tokenizer, {.prefix_cache = false});
  double seconds = 1e30;
  for (int i = 0; i < subject.repetitions; ++i) {
    seconds = std::min(seconds, first_token(generator, prompt_of(kPrompt, i)));
  }
  const double products =
      packed_products_seconds(subject.shape.linears, kPrompt,
                              subject.format == WeightFormat::fp32 ? DType::f32 : DType::bf16, 3);
  fmt::print("  {} prefill {}: {:.1f} ms, {:.0f} tokens/s; products {:.1f} ms\n", subject.name(),
             kPrompt, seconds * 1e3, kPrompt / seconds, products * 1e3);
  const bool numbers = subject.format == WeightFormat::fp32 || subject.format == WeightFormat::bf16;
  subject.summary.add({fmt::format("{}_prefill_512_of_packed_products", subject.name()),
                       products / seconds, "ratio",
                       numbers                                ? 0.88
                       : subject.format == WeightFormat::int8 ? 1.3 * 0.88
                                                              : Figure::kNone});
}

void cached_prefix(Subject& subject) {
  constexpr Index kPrefix = 2000;
  Generator generator(subject.engine, subject.tokenizer, {});
  const double cold = first_token(generator, prompt_of(kPrefix, 77));
  const double warm = first_token(generator, prompt_of(kPrefix, 77));
  subject.summary.add({subject.name() + "_prefix_of_2000_cached", cold / warm, "ratio", 10});
}

/// Tokens a second with drafts over those without, of a text that repeats itself and of one that
/// does not.
void speculation(Subject& subject) {
  for (const double temperature : {0.0, 1.0}) {
    double rates[2] = {0, 0};
    for (int round = 0; round < 2 * subject.repetitions; ++round) {
      Generator generator(subject.engine, subject.tokenizer,
                          {.prefix_cache = false, .draft_tokens = round % 2 == 0 ? 0 : 8});
      inference::TokenIds prompt;
      for (Index i = 0; i < 64; ++i) {
        prompt.push_back(static_cast<inference::TokenId>(i % 8));
      }
      generator.submit({.prompt = prompt,
                        .max_tokens = 128,
                        .sampling = {.temperature = temperature, .seed = 5}},
                       {});
      generator.step();
      const double seconds = best_seconds(1, [&] {
        while (generator.step()) {
        }
      });
      rates[round % 2] = std::max(rates[round % 2], 127 / seconds);
    }
    subject.summary.add({fmt::format("{}_drafts_{}", subject.name(),
                                     temperature == 0 ? "of_repetitions" : "of_nothing"),
                         rates[1] / rates[0], "ratio", temperature == 0 ? 1.8 : 0.97});
  }
}

/// An engine that computes nothing: what is left is scheduling, sampling and text.
class NoEngine : public inference::Engine {
 public:
  explicit NoEngine(const inference::EngineShape& shape) : shape_(shape) {
    logits_.resize(static_cast<std::size_t>(shape.padded_vocabulary * kMostRequests));
    for (std::size_t i = 0; i < logits_.size(); ++i) {
      logits_[i] = static_cast<float>(i * 2654435761U >> 8U & 1023U) * 0.01F;
    }
  }
  const inference::EngineShape& shape() const override { return shape_; }
  void start(std::span<const inference::StepPlan* const> plans) override {
    rows_ = 0;
    for (const inference::SequenceStep& sequence : plans[0]->sequences) {
      rows_ += sequence.rows();
    }
  }
  void finish() override {}
  std::span<const float> logits(Index /*replica*/) const override {
    return std::span(logits_).first(static_cast<std::size_t>(rows_ * shape_.padded_vocabulary));
  }

 private:
  inference::EngineShape shape_;
  std::vector<float> logits_;
  Index rows_ = 0;
};

void overhead(Subject& subject) {
  NoEngine engine(subject.engine.shape());
  for (const auto& [name, sampling] :
       {std::pair<const char*, inference::SamplingRule>{"greedy", {.temperature = 0}},
        {"top_p", {.temperature = 0.8, .top_p = 0.9, .seed = 3}}}) {
    Generator generator(engine, subject.tokenizer, {});
    generator.submit({.prompt = prompt_of(128, 1), .max_tokens = 1000, .sampling = sampling}, {});
    for (int i = 0; i < 20; ++i) {
      generator.step();
    }
    const double seconds = best_seconds(200, [&] { generator.step(); });
    subject.summary.add({fmt::format("generate_{}_overhead_{}", subject.shape.name, name),
                         seconds * 1e6, "us", 100, false});
  }
}

/// What is measured of a shape.
struct Selection {
  int repetitions = 3;
  std::vector<WeightFormat> formats = {WeightFormat::fp32, WeightFormat::bf16, WeightFormat::int8,
                                       WeightFormat::q4};
  Index most_positions = kPositions * kMostRequests;
};

void measure(Summary& summary, const Shape& shape, const Selection& selection) {
  const auto device = device::make_device("host");
  for (const WeightFormat format : selection.formats) {
    models::GptModel model(config_of(shape, format), *device);
    model.initialize();
    constexpr Index kSnapshots = 8;
    constexpr Index kBlocks = (1024 + 256) / kBlockSize * kMostRequests;
    CachedEngine engine(*device, model,
                        {.block_size = kBlockSize,
                         .blocks = kBlocks,
                         .slots = kMostRequests,
                         .states = inference::states_for(model.config(), kMostRequests),
                         .snapshots = kSnapshots,
                         .weights = format},
                        shape.vocabulary);
    Subject subject{shape, format, engine, summary, selection.repetitions};
    use_cache(subject, selection.most_positions);
    for (const Goal& goal : kGoals) {
      if (goal.requests * goal.context <= selection.most_positions) {
        decode_rate(subject, goal);
      }
    }
    prefill_rate(subject);
    if (format == WeightFormat::bf16) {
      cached_prefix(subject);
      speculation(subject);
      overhead(subject);
    }
  }
}

int run(int argc, char** argv) {
  Summary summary(argc, argv);
  const std::string which = argc > 1 ? argv[1] : "gpt2";
  Selection selection;
  if (argc > 2) {
    selection.repetitions = std::atoi(argv[2]);
  }
  if (const auto only = kernels::weight_format(argc > 3 ? argv[3] : "")) {
    selection.formats = {*only};
  }
  if (argc > 4) {
    selection.most_positions = std::atoi(argv[4]);
  }
  const device::HostRuntime runtime;
  for (const Shape& shape : shapes()) {
    if (which == "all" || shape.name.starts_with(which)) {
      measure(summary, shape, selection);
    }
  }
  return summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::benchmarks

int main(int argc, char** argv) {
  return mpitron::benchmarks::run(argc, argv);
}
