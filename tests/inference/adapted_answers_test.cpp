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
      {"--swiglu", "--num-experts", "4", "--moe-router-topk", "2", "--disable-bias-linear",
       "--moe-shared-expert-intermediate-size", "16"},
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

/// The rows of weights that modules of PEFT's names are, by the ends of both names.
struct MergedPart {
  const char* module;
  const char* weight;
  Index first_row = 0;
};

/// Adds s B A to the weights themselves, as `mpitron convert --merge-adapter` does.
void merge(test::UpdatedModel& updated, const std::vector<MergedPart>& parts) {
  autograd::ParameterList& parameters = *updated.parameters;
  for (autograd::Parameter& a : parameters) {
    const auto part = std::ranges::find_if(parts, [&](const MergedPart& each) {
      return a.name.ends_with(std::string(each.module) + ".lora_A.weight");
    });
    if (part == parts.end()) {
      continue;
    }
    const std::string prefix = a.name.substr(0, a.name.rfind(part->module));
    autograd::Parameter& b = *parameters.find(prefix + part->module + ".lora_B.weight");
    autograd::Parameter& weight = *parameters.find(prefix + part->weight + ".weight");
    const double scale =
        updated.model.config().lora->update_of(config::module_name(prefix + part->module))->scale;
    const Index rank = a.value.shape()[0], in = a.value.shape()[1];
    for (Index i = 0; i < b.value.shape()[0] * in; ++i) {
      float* const to = weight.value.data<float>() + part->first_row * in + i;
      double sum = *to;
      for (Index r = 0; r < rank; ++r) {
        sum += scale * static_cast<double>(b.value.data<float>()[i / in * rank + r]) *
               static_cast<double>(a.value.data<float>()[r * in + i % in]);
      }
      *to = static_cast<float>(sum);
    }
    std::fill_n(b.value.data<float>(), b.value.numel(), 0.0F);
  }
}

/// The second factors of all other parts become zero.
void keep_only(test::UpdatedModel& updated, const std::vector<MergedPart>& parts) {
  for (autograd::Parameter& parameter : *updated.parameters) {
    const bool kept = std::ranges::any_of(parts, [&](const MergedPart& part) {
      return parameter.name.ends_with(std::string(part.module) + ".lora_B.weight");
    });
    if (parameter.name.ends_with("lora_B.weight") && !kept) {
      std::fill_n(parameter.value.data<float>(), parameter.value.numel(), 0.0F);
    }
  }
}

/// Updates of what generation never multiplies as it is: the absorbed projection, and experts.
TEST(AdaptedAnswers, AreThoseOfTheMergedModel) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<MergedPart>>> kinds = {
      {{"--multi-latent-attention", "--kv-lora-rank", "24", "--qk-head-dim", "8",
        "--qk-pos-emb-head-dim", "4", "--v-head-dim", "12", "--position-embedding-type", "rope"},
       {{"kv_b_proj", "linear_kv_up_proj"}}},
      {{"--swiglu", "--num-experts", "4", "--moe-router-topk", "2", "--disable-bias-linear",
        "--ffn-hidden-size", "48"},
       {{"gate_proj", "linear_fc1"}, {"up_proj", "linear_fc1", 48}, {"down_proj", "linear_fc2"}}}};
  for (const auto& [flags, parts] : kinds) {
    SCOPED_TRACE(flags[0]);
    std::vector<std::string> small = flags;
    small.insert(small.end(), {"--init-method-std", "0.1"});
    const config::ModelConfig config = test::tiny_decoder(small);
    const auto device = device::make_device("host");
    models::GptModel base(config, *device);
    base.initialize();
    test::UpdatedModel updated(config, *device, 1), merged(config, *device, 1);
    keep_only(updated, parts);
    keep_only(merged, parts);
    merge(merged, parts);
    const EngineShape shape{.block_size = 8, .blocks = 40, .slots = 4, .vocabulary = kVocabulary};
    const auto answer = [&](const models::Model& model, AdapterHandle adapter) {
      CachedEngine engine(*device, model, shape, kVocabulary);
      return Generator(engine, kTokenizer, {}).run({request_of(7, std::move(adapter))})[0];
    };
    const Answer got = answer(base, updated.adapter(*device));
    expect_same(got, answer(merged.model, nullptr), 2e-6F);
    EXPECT_GT(
        std::abs(got.log_probs[0].token.value - answer(base, nullptr).log_probs[0].token.value),
        1e-4F);
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
