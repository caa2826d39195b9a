#include "kernels/experts/permute.h"
#include "tests/kernels/golden_tables.h"
#include "tests/kernels/gradient_check.h"

namespace mpitron::kernels {
namespace reference_permute_test {

device::ReferenceStream stream;

TEST(ReferencePermute, ThereAndBackAsTheReference) {
  for (const auto& recorded : golden_table("router").at("permute")) {
    const std::vector<double> rows = flatten(recorded.at("sorted_indices"));
    const Index t = recorded.at("tokens").size(), h = recorded.at("tokens")[0].size();
    const auto n = static_cast<Index>(rows.size());
    TestTensor x(DType::f32, {t, h}, flatten(recorded.at("tokens"))), places(DType::i64, {n}, rows);
    TestTensor y(DType::f32, {n, h}), back(DType::f32, {t, h});
    run(stream, Permute{x.view(), places.view(), y.view()});
    EXPECT_EQ(y.values(), flatten(recorded.at("permuted")));
    run(stream, Unpermute{y.view(), places.view(), back.view(), {}});
    expect_close(back.values(), flatten(recorded.at("unpermuted_without_probs")), 1e-6);
  }
}

TEST(ReferencePermute, NegativeRowsAreNobodys) {
  TestTensor x(DType::f32, {2, 2}, {1, 2, 3, 4}), rows(DType::i64, {3}, {1, -1, 1});
  TestTensor y(DType::f32, {3, 2}), back(DType::f32, {2, 2});
  run(stream, Permute{x.view(), rows.view(), y.view()});
  EXPECT_EQ(y.values(), (std::vector<double>{3, 4, 0, 0, 3, 4}));
  run(stream, Unpermute{y.view(), rows.view(), back.view(), {}});
  EXPECT_EQ(back.values(), (std::vector<double>{0, 0, 6, 8}));
}

TEST(ReferencePermute, ScaledRowsBackwardIsTheGradient) {
  TestTensor x(DType::f64, {3, 4}, test_values(12, 1)), factors(DType::f64, {3}, {2, -1, 0.5});
  TestTensor y(DType::f64, {3, 4}), dx(DType::f64, {3, 4}), dfactors(DType::f64, {3});
  const std::vector<double> weights = test_values(12, 2);
  TestTensor dy(DType::f64, {3, 4}, weights);
  const auto loss = [&] {
    run(stream, ScaleRows{x.view(), factors.view(), y.view()});
    return weighted_sum(y, weights);
  };
  run(stream, ScaleRowsBackward{dy.view(), x.view(), factors.view(), dx.view(), dfactors.view()});
  expect_gradient(x, dx.values(), loss);
  expect_gradient(factors, dfactors.values(), loss);
}

}  // namespace reference_permute_test
}  // namespace mpitron::kernels
