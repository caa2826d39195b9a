#include "kernels/experts/router_loss.h"
#include "tests/kernels/golden_tables.h"
#include "tests/kernels/gradient_check.h"

namespace mpitron::kernels {

namespace reference_router_loss_test {

device::ReferenceStream stream;

double balance_loss(TestTensor& logits, TestTensor& counts, const BalanceRule& rule,
                    double factor) {
  TestTensor loss(DType::f64, {1});
  run(stream, BalanceLoss{logits.view(), counts.view(), loss.view(), {}, rule, factor});
  return loss.values()[0];
}

/// The reference's loss over `sets` sets: the mean of their losses.
double reference_loss(const nlohmann::json& recorded, Index sets) {
  const Index t = recorded.at("logits").size(), n = recorded.at("logits")[0].size();
  const BalanceRule rule{
      recorded.at("score_function") == "sigmoid" ? RouterScore::sigmoid : RouterScore::softmax,
      recorded.at("topk").get<Index>()};
  TestTensor logits(DType::f32, {t, n}, flatten(recorded.at("logits")));
  TestTensor counts(DType::f64, {sets, n});
  run(stream, BalanceCounts{logits.view(), counts.view(), {}, rule});
  if (sets == 1) {
    EXPECT_EQ(counts.values(), flatten(recorded.at("tokens_per_expert")));
  }
  const double tokens = static_cast<double>(t) / static_cast<double>(sets);
  const double factor = static_cast<double>(n) * recorded.at("coeff").get<double>() /
                        (static_cast<double>(rule.topk * sets) * tokens * tokens);
  return balance_loss(logits, counts, rule, factor);
}

TEST(ReferenceRouterLoss, BalancingLossesAreTheReferences) {
  for (const auto& recorded : golden_table("router").at("aux")) {
    const double all = recorded.at("aux_loss"), samples = recorded.at("seq_aux_loss");
    EXPECT_NEAR(reference_loss(recorded, 1), all, 1e-6 * all);
    EXPECT_NEAR(reference_loss(recorded, recorded.at("batch")), samples, 1e-6 * samples);
  }
}

TEST(ReferenceRouterLoss, BalancingBackwardIsTheGradient) {
  for (const RouterScore score : {RouterScore::softmax, RouterScore::sigmoid}) {
    for (const Index topk : {1, 2}) {
      const BalanceRule rule{score, topk};
      TestTensor logits(DType::f64, {6, 4}, test_values(24, 2)), dlogits(DType::f64, {6, 4});
      TestTensor counts(DType::f64, {2, 4}, {1, 2, 0, 3, 2, 2, 1, 1});
      TestTensor dloss(DType::f64, {1}, {3});
      run(stream, BalanceLossBackward{logits.view(), counts.view(), dloss.view(), dlogits.view(),
                                      rule, 0.5});
      expect_gradient(logits, dlogits.values(),
                      [&] { return 3 * balance_loss(logits, counts, rule, 0.5); });
    }
  }
}

TEST(ReferenceRouterLoss, TheZLossIsTheReferences) {
  for (const auto& recorded : golden_table("router").at("z")) {
    const Index t = recorded.at("logits").size(), n = recorded.at("logits")[0].size();
    const double factor = recorded.at("coeff").get<double>() / static_cast<double>(t);
    TestTensor logits(DType::f32, {t, n}, flatten(recorded.at("logits")));
    TestTensor loss(DType::f64, {1}), dloss(DType::f64, {1}, {1}), dlogits(DType::f32, {t, n});
    run(stream, RouterZLoss{logits.view(), loss.view(), {}, factor});
    EXPECT_NEAR(loss.values()[0], recorded.at("loss"), 1e-6 * loss.values()[0]);
    run(stream, RouterZLossBackward{logits.view(), dloss.view(), dlogits.view(), factor});
    expect_close(dlogits.values(), flatten(recorded.at("gradient")), 1e-5, 1e-4);
  }
}

TEST(ReferenceExpertBias, ToTheLastBitAsTheReference) {
  device::ReferenceStream stream;
  for (const auto& recorded : golden_table("router").at("bias_update")) {
    for (std::size_t layer = 0; layer < recorded.at("tokens").size(); ++layer) {
      const std::vector<double> tokens = flatten(recorded.at("tokens")[layer]);
      const auto n = static_cast<Index>(tokens.size());
      TestTensor counts(DType::f64, {n}, tokens),
          bias(DType::f32, {n}, flatten(recorded.at("bias")[layer]));
      run(stream, ExpertBiasUpdate{counts.view(), bias.view(), recorded.at("rate").get<float>()});
      EXPECT_EQ(bias.values(), flatten(recorded.at("updated")[layer]));
    }
  }
}

}  // namespace reference_router_loss_test

}  // namespace mpitron::kernels
