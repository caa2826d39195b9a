#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "inference/engine_choice.h"
#include "inference/scheduling/generator.h"
#include "inference/uncached_engine.h"
#include "support/host_runtime.h"
#include "tests/inference/tiny_adapter.h"
#include "tests/inference/tiny_decoder.h"
#include "tokenizers/core/null_tokenizer.h"

// Sequences with and without adapters in one batch, on one base.

namespace mpitron::inference {
namespace adapted_answers_test {

constexpr Index kVocabulary = 61;
const tokenizers::NullTokenizer kTokenizer(kVocabulary - 1);

GenerationRequest request_of(Index length, AdapterHandle adapter) {
  GenerationRequest request{.max_tokens = 6, .log_probs = 2, .adapter = std::move(adapter)};
  for (Index i = 0; i < length; ++i) {
    request.prompt.push_back(static_cast<TokenId>((7 * i + length) % 60));
  }
  request.sampling.temperature = static_cast<double>(length % 2);
  request.prompt_log_probs = length == 7;
  return request;
}

/// A base with random weights, its updates as adapters, and models that have them themselves.
class AdaptedModel {
 public:
  explicit AdaptedModel(const std::vector<std::string>& flags)
      : config_(test::tiny_decoder(flags)), base_(config_, *device_) {
    base_.initialize();
    for (const Index number : {1, 2}) {
      updated_.push_back(std::make_unique<test::UpdatedModel>(config_, *device_, number));
      adapters_.push_back(updated_.back()->adapter(*device_));
    }
  }

  EngineShape shape(Index step_tokens) const {
    return {.block_size = 8,
            .blocks = 60,
            .slots = 6,
            .states = states_for(config_, 6),
            .max_step_tokens = step_tokens,
            .vocabulary = kVocabulary};
  }
  /// Requests in turn by nobody's, the first and the second adapter; of one of them alone where it
  /// is chosen.
  std::vector<Answer> mixed(Index step_tokens, std::optional<std::size_t> only = {}) const {
    CachedEngine engine(*device_, base_, shape(step_tokens), kVocabulary);
    return Generator(engine, kTokenizer, {}).run(requests(true, only));
  }
  /// The same by models that have the updates themselves, each text computed anew for every token.
  std::vector<Answer> uncached(std::size_t who) const {
    const models::Model& model = who == 0 ? base_ : updated_[who - 1]->model;
    UncachedEngine engine(*device_, model, shape(512), kVocabulary);
    return Generator(engine, kTokenizer, {}).run(requests(false, who));
  }

  device::Device& device() const { return *device_; }
  const models::Model& base() const { return base_; }
  std::vector<AdapterHandle>& adapters() { return adapters_; }

 private:
  std::vector<GenerationRequest> requests(bool adapted, std::optional<std::size_t> only) const {
    std::vector<GenerationRequest> requests;
    std::size_t i = 0;
    for (const Index length : {19, 7, 11, 3, 30}) {
      const std::size_t who = i++ % 3;
      if (!only || *only == who) {
        requests.push_back(
            request_of(length, adapted && who > 0 ? adapters_[who - 1] : AdapterHandle()));
      }
    }
    return requests;
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
  config::ModelConfig config_;
  models::GptModel base_;
  std::vector<std::unique_ptr<test::UpdatedModel>> updated_;
  std::vector<AdapterHandle> adapters_;
};

void expect_same(const std::vector<TokenLogProbs>& got, const std::vector<TokenLogProbs>& want,
                 float tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i].token.value, want[i].token.value, tolerance) << i;
  }
}
void expect_same(const Answer& got, const Answer& want, float tolerance) {
  EXPECT_EQ(got.tokens, want.tokens);
  expect_same(got.log_probs, want.log_probs, tolerance);
  expect_same(got.prompt_log_probs, want.prompt_log_probs, tolerance);
}

/// Every kind of layer: as a model that has the updates itself; alone and in the batch the same
/// bits, and the base's are those that it has without adapters.
TEST(AdaptedAnswers, AreThoseOfAModelWithTheUpdates) {
  const std::vector<std::vector<std::string>> kinds = {
      {"--group-query-attention", "--num-query-groups", "2", "--swiglu",
       "--position-embedding-type", "rope", "--attention-output-gate"},
      {"--multi-latent-attention", "--q-lora-rank", "16", "--kv-lora-rank", "24", "--qk-head-dim",
       "8", "--qk-pos-emb-head-dim", "4", "--v-head-dim", "12", "--position-embedding-type",
       "rope"},
      test::letters("MG*-", 4)};
  for (const std::vector<std::string>& kind : kinds) {
    SCOPED_TRACE(kind[1]);
    const AdaptedModel model(kind);
    const std::vector<Answer> all = model.mixed(512), in_pieces = model.mixed(9);
    for (std::size_t who = 0; who < 3; ++who) {
      const std::vector<Answer> want = model.uncached(who), alone = model.mixed(512, who);
      for (std::size_t i = 0; i < want.size(); ++i) {
        SCOPED_TRACE(::testing::Message() << "adapter " << who << ", request " << i);
        expect_same(all[3 * i + who], want[i], 1e-5F);
        expect_same(all[3 * i + who], alone[i], 0);
        expect_same(in_pieces[3 * i + who], want[i], 1e-5F);
      }
    }
    EXPECT_NE(model.uncached(1)[0].log_probs[0].token.value,
              model.uncached(0)[0].log_probs[0].token.value);
  }
}

TEST(AdaptedAnswers, ShareNoPrefixAndOutliveTheirUnloading) {
  AdaptedModel model({"--swiglu"});
  CachedEngine engine(model.device(), model.base(), model.shape(64), kVocabulary);
  Generator generator(engine, kTokenizer, {});
  const auto ask = [&](AdapterHandle adapter) {
    return generator.run({request_of(19, std::move(adapter))})[0];
  };
  const Answer first = ask(model.adapters()[0]);
  EXPECT_EQ(first.cached_tokens, 0);
  EXPECT_EQ(ask(nullptr).cached_tokens, 0);
  EXPECT_EQ(ask(model.adapters()[1]).cached_tokens, 0);
  EXPECT_EQ(ask(nullptr).cached_tokens, 16);
  EXPECT_EQ(ask(model.adapters()[0]).cached_tokens, 16);

  Answer last;
  const std::weak_ptr<autograd::Adapter> kept = model.adapters()[0];
  generator.submit(request_of(19, model.adapters()[0]),
                   [&](const Answer& answer) { last = answer; });
  generator.step();
  model.adapters()[0].reset();
  EXPECT_FALSE(kept.expired());
  while (generator.step()) {
  }
  EXPECT_TRUE(kept.expired());
  EXPECT_EQ(last.tokens, first.tokens);
}

}  // namespace adapted_answers_test
}  // namespace mpitron::inference
