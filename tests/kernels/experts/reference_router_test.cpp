#include "kernels/experts/router.h"
#include "tests/kernels/golden_tables.h"
#include "tests/kernels/gradient_check.h"

namespace mpitron::kernels {
namespace reference_router_test {

device::ReferenceStream stream;

/// Probabilities by expert: 0 where it is not chosen.
std::vector<double> dense(TestTensor& experts, TestTensor& probabilities, Index t, Index n) {
  std::vector<double> result(static_cast<std::size_t>(t * n));
  const std::vector<double> chosen = experts.values(), values = probabilities.values();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto row = static_cast<Index>(i) / static_cast<Index>(chosen.size() / t);
    result[static_cast<std::size_t>(row * n + static_cast<Index>(chosen[i]))] = values[i];
  }
  return result;
}

RoutingRule rule_of(const nlohmann::json& options) {
  return {.score = options.value("score_function", "softmax") == "sigmoid" ? RouterScore::sigmoid
                                                                           : RouterScore::softmax,
          .pre_softmax = options.value("use_pre_softmax", false),
          .groups = options.value("num_groups", 1),
          .group_topk = options.value("group_topk", 1),
          .scaling = options.value("scaling_factor", 1.0)};
}

TEST(ReferenceRouter, ChoosesAsTheReferenceDid) {
  for (const auto& recorded : golden_table("router").at("topk")) {
    SCOPED_TRACE(recorded.at("options").dump());
    const Index t = recorded.at("logits").size(), n = recorded.at("logits")[0].size();
    const Index k = recorded.at("options").at("topk");
    TestTensor logits(DType::f32, {t, n}, flatten(recorded.at("logits")));
    TestTensor experts(DType::i64, {t, k}), probabilities(DType::f32, {t, k});
    TestTensor bias(DType::f32, {n});
    TopKRouting kernel{.logits = logits.view(),
                       .experts = experts.view(),
                       .probabilities = probabilities.view(),
                       .rule = rule_of(recorded.at("options"))};
    if (!recorded.at("expert_bias").is_null()) {
      bias = TestTensor(DType::f32, {n}, flatten(recorded.at("expert_bias")));
      kernel.expert_bias = bias.view();
    }
    run(stream, kernel);
    expect_close(dense(experts, probabilities, t, n), flatten(recorded.at("probs")), 1e-6);
  }
}

TEST(ReferenceRouter, EqualLogitsAreChosenByIndex) {
  TestTensor logits(DType::f32, {2, 4}, {1, 2, 2, 2, 0, 0, 0, 0});
  TestTensor experts(DType::i64, {2, 3}), probabilities(DType::f32, {2, 3});
  run(stream, TopKRouting{.logits = logits.view(),
                          .experts = experts.view(),
                          .probabilities = probabilities.view()});
  EXPECT_EQ(experts.values(), (std::vector<double>{1, 2, 3, 0, 1, 2}));
}

TEST(ReferenceRouter, AnOverflowStillReachesTheEnd) {
  TestTensor logits(DType::f32, {1, 4}, {NAN, 1, INFINITY, NAN});
  TestTensor experts(DType::i64, {1, 4}), probabilities(DType::f32, {1, 4});
  run(stream, TopKRouting{.logits = logits.view(),
                          .experts = experts.view(),
                          .probabilities = probabilities.view()});
  EXPECT_EQ(experts.values(), (std::vector<double>{2, 1, 0, 3}));
}

TEST(ReferenceRouter, GivenScoresChooseAndLogitsWeigh) {
  TestTensor logits(DType::f32, {1, 3}, {0, 0, 5}), scores(DType::f32, {1, 3}, {3, 9, 1});
  TestTensor experts(DType::i64, {1, 1}), probabilities(DType::f32, {1, 1});
  run(stream, TopKRouting{.logits = logits.view(),
                          .chosen_by = scores.view(),
                          .experts = experts.view(),
                          .probabilities = probabilities.view(),
                          .rule = {.score = RouterScore::sigmoid}});
  EXPECT_EQ(experts.values(), std::vector<double>{1});
  EXPECT_EQ(probabilities.values(), std::vector<double>{0.5});
}

TEST(ReferenceRouter, BackwardIsTheGradient) {
  const RoutingRule rules[] = {
      {}, {.pre_softmax = true, .scaling = 2.5}, {.score = RouterScore::sigmoid, .scaling = 0.5}};
  for (const RoutingRule& rule : rules) {
    for (const Index k : {1, 3}) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(rule.score) << " " << k);
      TestTensor logits(DType::f64, {4, 6}, test_values(24, 3)), dlogits(DType::f64, {4, 6});
      TestTensor experts(DType::i64, {4, k}), probabilities(DType::f64, {4, k});
      const std::vector<double> weights = test_values(4 * k, 5);
      TestTensor gradient(DType::f64, {4, k}, weights);
      const auto loss = [&] {
        run(stream, TopKRouting{.logits = logits.view(),
                                .experts = experts.view(),
                                .probabilities = probabilities.view(),
                                .rule = rule});
        return weighted_sum(probabilities, weights);
      };
      loss();
      run(stream, TopKRoutingBackward{logits.view(), experts.view(), gradient.view(),
                                      dlogits.view(), rule});
      expect_gradient(logits, dlogits.values(), loss);
    }
  }
}

TEST(ReferenceRouter, SinkhornScoresAreTheReferences) {
  for (const auto& recorded : golden_table("router").at("sinkhorn")) {
    const Index t = recorded.at("logits").size(), n = recorded.at("logits")[0].size();
    TestTensor logits(DType::f32, {t, n}, flatten(recorded.at("logits")));
    TestTensor scores(DType::f32, {t, n});
    run(stream, Sinkhorn{.logits = logits.view(), .scores = scores.view(), .workspace = {}});
    expect_close(scores.values(), flatten(recorded.at("result")), 2e-5);
  }
}

}  // namespace reference_router_test
}  // namespace mpitron::kernels
