#include "nn/attention/indexer.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "nn/attention/multi_latent_attention.h"
#include "nn/attention/rotary_embedding.h"
#include "nn/layer_fixture.h"
#include "ops/attention/attention.h"

namespace mpitron::nn {
namespace indexer_test {

class IndexerTest : public LayerTest {
 protected:
  IndexerTest() {
    config_.multi_latent_attention = true;
    config_.add_bias_linear = false;
    config_.normalization = config::Normalization::rms_norm;
    config_.rope_type = config::RopeType::rope;
    config_.qk_pos_emb_head_dim = 4;
  }
  /// Recorded numbers have six digits.
  void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                   const std::string& what) {
    ASSERT_EQ(got.size(), want.size()) << what;
    double largest = 0;
    for (const double value : want) {
      largest = std::max(largest, std::abs(value));
    }
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], 3e-6 * largest) << what << ", element " << i;
    }
  }
};

/// What DSAttention of the reference makes of the same inputs (tests/golden/sparse_attention.json).
class RecordedIndexerTest : public IndexerTest {
 protected:
  RecordedIndexerTest() {
    std::ifstream(MPITRON_SOURCE_DIR "/tests/golden/sparse_attention.json") >> recorded_;
    config_.hidden_size = size("h");
    config_.q_lora_rank = size("rq");
    config::IndexerConfig& indexer = config_.indexer.emplace();
    indexer.heads = size("indexer_heads");
    indexer.head_dim = size("indexer_head_dim");
    indexer.topk = size("topk");
    indexer.loss_coefficient = recorded_["sizes"]["loss_coeff"];
  }
  Index size(const char* name) const { return recorded_["sizes"][name]; }
  Tensor given(const Shape& shape, unsigned seed) {
    return test::random_tensor(*device_, shape, DType::f32, seed);
  }

  /// A layer's attention and the backward pass from recorded gradients of its output; leaves the
  /// gradients of the parameters in them.
  struct Outcome {
    std::vector<double> output, dqkv, sums;
  };
  Outcome run() {
    const Index s = size("s"), b = size("b");
    parameters_ = {};
    const Indexer indexer(builder_, 1);
    initialize();
    unsigned seed = 5;
    for (autograd::Parameter& parameter : parameters_) {
      EXPECT_EQ(parameter.name, recorded_["order"][seed - 5]);
      test::set_values(parameter.value, test::test_values(parameter.value.numel(), seed++));
    }
    autograd::LayerSums sums;
    Tape tape;
    Context cx = context(&tape);
    cx.recorder.auxiliary = {.microbatch_seed = 1, .sums = &sums};
    const ops::QkvLayout layout{size("n"), size("n"), size("d"), size("dv")};
    const Var x = autograd::variable(given({s, b, size("h")}, 1));
    const Var queries = autograd::variable(given({s, b, size("rq")}, 2));
    const Var qkv = autograd::variable(given({s, b, layout.width()}, 3));
    const double scale = 1 / std::sqrt(static_cast<double>(layout.head_dim));
    const Indexer::Choice choice =
        indexer.choose(cx, {x, queries}, make_rotary_tables(*device_, config_, s, DType::f32), {});
    const Var attended = ops::attention(cx, qkv,
                                        {.layout = layout,
                                         .scale = static_cast<float>(scale),
                                         .mask = choice.hidden,
                                         .dropout = {}});
    const Var output = indexer.with_loss(
        cx, attended, choice, {.qkv = qkv.value, .layout = layout, .scale = scale, .mask = {}});
    tape.backward(cx, output.slot, given(output.shape(), 4));
    EXPECT_FALSE(x.slot.gradient() || queries.slot.gradient());
    return {test::values_of(output.value), test::values_of(qkv.slot.gradient()),
            sums.of("indexer loss", 1)};
  }

  nlohmann::json recorded_;
};

TEST_F(RecordedIndexerTest, ChoosesAndLearnsAsTheReference) {
  for (const auto& want : recorded_["cases"]) {
    for (const bool hadamard : {true, false}) {
      SCOPED_TRACE(hadamard);
      config_.indexer->sparse_loss = want["sparse_loss"];
      config_.indexer->rotary_interleaved = want["rope_interleaved"];
      config_.indexer->hadamard = hadamard;
      const Outcome got = run();
      EXPECT_NEAR(got.sums[0] * config_.indexer->loss_coefficient, want["logged_loss"], 1e-6);
      if (want.contains("output")) {
        expect_near(got.output, want["output"], "output");
      }
      if (want.contains("dqkv")) {
        expect_near(got.dqkv, want["dqkv"], "dqkv");
      }
      for (const auto& [name, gradient] : want["gradients"].items()) {
        expect_near(test::values_of(parameters_.find(name)->sink.main_grad), gradient, name);
      }
    }
  }
}

/// Whole layers of latent attention, with and without an indexer.
class SparseAttentionTest : public IndexerTest {
 protected:
  SparseAttentionTest() {
    config_.q_lora_rank = 6;
    config_.kv_lora_rank = 5;
    config_.qk_head_dim = 3;
    config_.v_head_dim = 7;
    config_.attention_dropout = 0.5;
  }
  void index(Index topk, double loss_coefficient) {
    config::IndexerConfig& indexer = config_.indexer.emplace();
    indexer.heads = 2;
    indexer.head_dim = 8;
    indexer.topk = topk;
    indexer.loss_coefficient = loss_coefficient;
  }
  Step attention_step() {
    parameters_ = {};
    const MultiLatentAttention attention(builder_, 1);
    return step([&](Context& context, const Var& x) {
      context.recorder.auxiliary.microbatch_seed = 1;
      const LayerInputs inputs{.rotary = make_rotary_tables(*device_, config_, 5, DType::f32),
                               .attention_mask = {}};
      return attention.forward(context, x, inputs).output;
    });
  }
  std::map<std::string, std::vector<double>> gradients() {
    std::map<std::string, std::vector<double>> result;
    for (const autograd::Parameter& parameter : parameters_) {
      if (parameter.sink.written) {
        result[parameter.name] = test::values_of(parameter.sink.main_grad);
      }
    }
    return result;
  }
};

TEST_F(SparseAttentionTest, HasTheReferencesParametersInItsOrder) {
  index(2, 1);
  const MultiLatentAttention attention(builder_, 1);
  const std::string place = "core_attention.indexer.";
  EXPECT_EQ(names(),
            (std::vector<std::string>{place + "linear_wq_b.weight", place + "linear_wk.weight",
                                      place + "k_norm.weight", place + "k_norm.bias",
                                      place + "linear_weights_proj.weight", "linear_proj.weight",
                                      "linear_q_down_proj.weight", "linear_q_up_proj.weight",
                                      "linear_kv_down_proj.weight", "linear_kv_up_proj.weight"}));
}

/// An indexer that chooses all keys changes nothing, and its loss reaches its own parameters alone.
TEST_F(SparseAttentionTest, WithAllKeysItIsLatentAttention) {
  config_.attention_dropout = 0;
  Step latent = attention_step();
  const auto of_latent = gradients();
  for (const double coefficient : {0.0, 1.0}) {
    index(5, coefficient);
    const Step sparse = attention_step();
    EXPECT_EQ(sparse.output, latent.output);
    auto of_sparse = gradients();
    EXPECT_EQ(
        std::erase_if(of_sparse, [](const auto& entry) { return entry.first.starts_with("core"); }),
        coefficient > 0 ? 5U : 0U);
    EXPECT_EQ(of_sparse, of_latent);
  }
}

/// Fewer keys than there are; probabilities are not dropped, as in the reference.
TEST_F(SparseAttentionTest, FewKeysAreAnotherAttentionWithoutDropout) {
  index(2, 1);
  const Step dropping = attention_step();
  config_.attention_dropout = 0;
  EXPECT_EQ(attention_step(), dropping);
  index(5, 1);
  EXPECT_NE(attention_step().output, dropping.output);
}

TEST_F(SparseAttentionTest, RecomputedUpProjectionsChangeNoBit) {
  index(2, 1);
  const Step kept = attention_step();
  config_.recompute_granularity = config::RecomputeGranularity::selective;
  config_.recompute_modules = {config::RecomputeModule::mla_up_proj};
  EXPECT_EQ(attention_step(), kept);
}

}  // namespace indexer_test
}  // namespace mpitron::nn
