#include "inference/cached_engine.h"

#include <gtest/gtest.h>

#include "inference/uncached_engine.h"
#include "support/host_runtime.h"
#include "tests/inference/random_decoder.h"
#include "tests/inference/recorded_answers.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace cached_engine_test {

constexpr double kTolerance = 1e-5;

using test::Cut;

std::vector<Answer> answers_of(Engine& engine, const test::GoldenModel& golden, bool prefix_cache) {
  const std::string text = "the old sailor sees the old sailor and the old sailor sees";
  std::vector<GenerationRequest> requests;
  for (const std::size_t length : {58, 30, 4, 58, 41, 17}) {
    const std::string prompt = text.substr(0, length);
    const auto number = static_cast<std::uint32_t>(requests.size());
    requests.push_back({.prompt = golden.tokenizer->encode(prompt),
                        .max_tokens = 24,
                        .sampling = {.temperature = number % 2 == 0 ? 0. : 1., .choice = number},
                        .log_probs = 3,
                        .prompt_log_probs = number % 3 == 0});
  }
  Generator generator(engine, *golden.tokenizer, {.prefix_cache = prefix_cache});
  return generator.run(requests);
}

TEST(CachedEngine, AnswersAsTheReference) {
  if (!test::has_generation_models()) {
    GTEST_SKIP() << "no recorded models";
  }
  for (const std::string& name : test::generation_models()) {
    for (const Index tokens : {5, 16, 512}) {
      SCOPED_TRACE(::testing::Message() << name << ", steps of " << tokens);
      const test::GoldenModel golden(name, test::recorded_length(name));
      CachedEngine engine(*golden.device, golden.model,
                          {.block_size = 8, .blocks = 40, .slots = 4, .max_step_tokens = tokens},
                          golden.tokenizer->vocab_size());
      test::expect_greedy(engine, *golden.tokenizer, name);
    }
  }
}

/// Any cut of the prompts, any batch, blocks that run out, cached prefixes: the same text and
/// values as of the engine that computes everything anew.
TEST(CachedEngine, AnswersAsTheUncachedEngine) {
  for (const std::string& name : test::generation_models()) {
    const test::GoldenModel golden(name, test::recorded_length(name));
    const Index vocabulary = golden.tokenizer->vocab_size();
    UncachedEngine uncached(*golden.device, golden.model,
                            {.block_size = 8, .blocks = 100, .slots = 8, .max_step_tokens = 512},
                            vocabulary);
    const std::vector<Answer> want = answers_of(uncached, golden, false);
    for (const Cut& cut :
         {Cut{8, 100, 8, 512}, Cut{16, 50, 1, 7}, Cut{8, 14, 6, 9}, Cut{32, 100, 3, 64, false}}) {
      SCOPED_TRACE(::testing::Message()
                   << name << ", blocks of " << cut.block_size << ", steps of " << cut.step_tokens);
      CachedEngine engine(*golden.device, golden.model, cut.shape(golden.model.config()),
                          vocabulary);
      test::expect_same(answers_of(engine, golden, cut.prefix_cache), want, kTolerance);
    }
  }
}

/// Every kind of layer, with and without drafts: the text of the engine that computes everything
/// anew, and its values.
TEST(CachedEngine, EveryKindOfLayerAnswersAsTheUncachedEngine) {
  const std::vector<std::string> rope = {"--position-embedding-type", "rope"};
  const std::vector<std::vector<std::string>> kinds = {
      {},
      {"--group-query-attention", "--num-query-groups", "2", "--swiglu", "--normalization",
       "RMSNorm", "--qk-layernorm", "--untie-embeddings-and-output-weights"},
      {"--window-size", "5,0", "--softmax-type", "learnable"},
      {"--attention-output-gate", "--softmax-type", "off-by-one"},
      {"--geglu", "--post-self-attn-layernorm", "--post-mlp-layernorm", "--scale-embeddings",
       "--window-size", "5,0", "--window-attn-skip-freq", "2", "--rotary-base-local", "100",
       "--query-pre-attn-scalar", "5", "--attn-logit-softcapping", "0.5",
       "--final-logit-softcapping", "2"},
      {"--attention-chunk-size", "16", "--no-rope-freq", "2", "--query-scale-floor", "4",
       "--query-scale-growth", "0.5", "--qk-l2-norm", "--qk-l2-norm-with-rope-only"},
      {"--multi-latent-attention", "--q-lora-rank", "16", "--kv-lora-rank", "24", "--qk-head-dim",
       "8", "--qk-pos-emb-head-dim", "4", "--v-head-dim", "12", "--qk-layernorm"},
      {"--multi-latent-attention", "--kv-lora-rank", "16", "--qk-head-dim", "8",
       "--qk-pos-emb-head-dim", "8", "--v-head-dim", "8"},
      {"--num-experts", "4", "--moe-router-topk", "2", "--moe-token-dispatcher-type", "alltoall",
       "--disable-bias-linear"},
      {"--mtp-num-layers", "2"},
      test::letters("M*-M", 4),
      test::letters("G*G-", 4),
      test::letters("MG/M*", 2)};
  for (std::vector<std::string> kind : kinds) {
    SCOPED_TRACE(kind.empty() ? "plain" : kind[0] + " " + std::to_string(kind.size()));
    kind.insert(kind.end(), rope.begin(), rope.end());
    const test::RandomDecoder random(kind);
    UncachedEngine uncached(*random.device, random.model,
                            {.block_size = 8, .blocks = 40, .slots = 4, .max_step_tokens = 64},
                            test::kDecoderVocabulary);
    const std::vector<Answer> want = random.answers(uncached, {.prefix_cache = false});
    for (const Cut& cut : {Cut{8, 40, 4, 64}, Cut{16, 30, 2, 5}, Cut{8, 7, 4, 9}}) {
      for (const Index drafts : {0, 4}) {
        CachedEngine engine(*random.device, random.model, cut.shape(random.config, drafts),
                            test::kDecoderVocabulary);
        test::expect_same(random.answers(engine, {.draft_tokens = drafts}), want, kTolerance);
      }
    }
  }
}

const std::vector<std::vector<std::string>>& attending_kinds() {
  static const std::vector<std::vector<std::string>> kinds = {
      {},
      {"--group-query-attention", "--num-query-groups", "2", "--swiglu", "--bf16"},
      {"--window-size", "5,0", "--softmax-type", "learnable"},
      {"--multi-latent-attention", "--kv-lora-rank", "16", "--qk-head-dim", "8",
       "--qk-pos-emb-head-dim", "8", "--v-head-dim", "8"},
      test::letters("M*-M", 4),
      {"--mtp-num-layers", "2"}};
  return kinds;
}

/// Log-probabilities of a text's tokens, as far as the engine reads them through its cache.
std::vector<TokenLogProbs> scores_of(Engine& engine) {
  const tokenizers::NullTokenizer tokenizer(test::kDecoderVocabulary - 1);
  GenerationRequest request{.max_tokens = 1, .log_probs = 1, .prompt_log_probs = true};
  for (Index i = 0; i < 40; ++i) {
    request.prompt.push_back(static_cast<TokenId>(i * i * i % 59));
  }
  return Generator(engine, tokenizer, {}).run({request})[0].prompt_log_probs;
}

/// The largest and the mean distance of scores.
std::pair<double, double> distances(const std::vector<TokenLogProbs>& got,
                                    const std::vector<TokenLogProbs>& want) {
  EXPECT_EQ(got.size(), 39U);
  EXPECT_EQ(got.size(), want.size());
  double largest = 0, sum = 0;
  for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    const auto distance = static_cast<double>(std::abs(got[i].token.value - want[i].token.value));
    largest = std::max(largest, distance);
    sum += distance;
  }
  return {largest, sum / 39};
}

/// Log-probabilities move by what rounding keys and values does, which random weights magnify: 3
/// bits of fraction move them about 16 times as far as the 7 of bf16.
TEST(CachedEngine, CachesOfOtherTypesScoreNearTheUncachedEngine) {
  using kernels::CacheType;
  for (std::vector<std::string> kind : attending_kinds()) {
    SCOPED_TRACE(kind.empty() ? "plain" : kind[0]);
    std::erase(kind, "--bf16");
    kind.insert(kind.end(), {"--position-embedding-type", "rope", "--init-method-std", "0.15"});
    const test::RandomDecoder random(kind);
    UncachedEngine uncached(*random.device, random.model,
                            {.block_size = 8, .blocks = 40, .slots = 4, .max_step_tokens = 64},
                            test::kDecoderVocabulary);
    const std::vector<TokenLogProbs> want = scores_of(uncached);
    for (const auto& [cache, most, mean] :
         {std::tuple{CacheType::bf16, 1e-2, 2e-3}, {CacheType::e4m3, 0.16, 0.035}}) {
      EngineShape shape = Cut{8, 40, 4, 9}.shape(random.config);
      shape.cache = cache;
      CachedEngine engine(*random.device, random.model, shape, test::kDecoderVocabulary);
      const auto [largest, average] = distances(scores_of(engine), want);
      EXPECT_LT(largest, most);
      EXPECT_LT(average, mean);
    }
  }
}

/// Any cut of the prompts, any batch, blocks that run out, drafts, cached prefixes: the same bits,
/// since a row is rounded by itself.
TEST(CachedEngine, ACacheOf8BitsAnswersAlikeInAnyCut) {
  for (std::vector<std::string> kind : attending_kinds()) {
    SCOPED_TRACE(kind.empty() ? "plain" : kind[0]);
    kind.insert(kind.end(), {"--position-embedding-type", "rope"});
    const test::RandomDecoder random(kind);
    const auto answers = [&](const Cut& cut, Index drafts) {
      EngineShape shape = cut.shape(random.config, drafts);
      shape.cache = kernels::CacheType::e4m3;
      CachedEngine engine(*random.device, random.model, shape, test::kDecoderVocabulary);
      return random.answers(engine, {.prefix_cache = cut.prefix_cache, .draft_tokens = drafts});
    };
    const std::vector<Answer> want = answers({8, 40, 4, 64, false}, 0);
    for (const Cut& cut : {Cut{8, 40, 1, 5}, Cut{8, 7, 4, 9}}) {
      for (const Index drafts : {0, 4}) {
        test::expect_same(answers(cut, drafts), want, 0);
      }
    }
  }
}

void expect_copies_read_alike(const test::GoldenModel& golden, kernels::CacheType cache) {
  CachedEngine engine(*golden.device, golden.model, {.block_size = 8, .blocks = 4, .cache = cache},
                      golden.tokenizer->vocab_size());
  const TokenIds prompt = {3, 4, 5}, last = {6};
  const std::vector<Index> block = {1}, copy = {3};
  StepPlan first;
  first.sequences = {{.tokens = prompt, .blocks = block, .logits_from = 3}};
  EXPECT_TRUE(engine.step(first).empty());
  StepPlan copy_of_one;
  copy_of_one.block_copies = {{1, 3}};
  engine.step(copy_of_one);
  const auto logits = [&](std::span<const Index> blocks) {
    StepPlan step;
    step.sequences = {{.first_position = 3, .tokens = last, .blocks = blocks}};
    const auto row = engine.step(step);
    return std::vector<float>(row.begin(), row.end());
  };
  EXPECT_EQ(logits(block), logits(copy));
  EXPECT_GT(engine.runner().cache_bytes(), 0);
}

TEST(CachedEngine, ACopiedBlockReadsAsItsOriginal) {
  for (const std::string& name : test::generation_models()) {
    SCOPED_TRACE(name);
    const test::GoldenModel golden(name, test::recorded_length(name));
    expect_copies_read_alike(golden, kernels::CacheType::model);
    expect_copies_read_alike(golden, kernels::CacheType::e4m3);
  }
}

}  // namespace cached_engine_test
}  // namespace mpitron::inference
