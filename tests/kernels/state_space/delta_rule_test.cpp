#include "kernels/state_space/delta_rule.h"

#include "tests/kernels/state_space/documents.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace delta_rule_test {

struct Case {
  Index length, key_heads, served, key_dim, value_dim, chunk;
  double a_log = 0, alpha = 0;
  Index document = 0;  // its length, where sequences have several
};
constexpr Case kCases[] = {{1, 1, 1, 2, 1, 4},
                           {9, 2, 2, 3, 5, 4},
                           {33, 1, 3, 16, 17, 8},
                           {20, 2, 1, 8, 4, 64},
                           {40, 1, 1, 32, 32, 32},         // whole vectors and tiles
                           {20, 1, 2, 4, 6, 8, 2.77, 38},  // keeps e^-600
                           {20, 1, 2, 4, 6, 8, 0, -16},    // keeps 1 - 1e-7
                           {29, 1, 2, 4, 6, 8, 0, 0, 5},   // documents that end within chunks
                           {29, 2, 1, 4, 6, 8, 0, 0, 13}};

struct Inputs {
  Inputs(Workbench& bench, DType type, const Case& c)
      : c_(c),
        q(bench.input(type, {c.length, 2, c.key_heads * c.key_dim})),
        k(bench.input(type, {c.length, 2, c.key_heads * c.key_dim})),
        v(bench.input(type, {c.length, 2, c.key_heads * c.served * c.value_dim})),
        beta(bench.input(type, {c.length, 2, c.key_heads * c.served}, 2)),
        alpha(bench.input(type, {c.length, 2, c.key_heads * c.served})),
        a_log(bench.input(type, {c.key_heads * c.served}, 0.1)),
        dt_bias(bench.input(type, {c.key_heads * c.served})),
        starts(document_starts(c.length, c.document)) {
    const auto shift = [](Twin& twin, double by) {
      std::vector<double> values = twin.sides[0].values();
      for (double& value : values) {
        value += by;
      }
      twin.fill(values);
    };
    shift(alpha, c.alpha), shift(a_log, c.a_log);
  }
  DeltaRuleInputs operator()(Side side) {
    return {q(side),     k(side),     v(side),       beta(side),
            alpha(side), a_log(side), dt_bias(side), starts_view(starts, c_.document),
            c_.key_heads};
  }
  Shape states() const {
    return {(c_.length + c_.chunk - 1) / c_.chunk * 2, c_.key_heads * c_.served, c_.key_dim,
            c_.value_dim};
  }
  const Case& c_;
  Twin &q, &k, &v, &beta, &alpha, &a_log, &dt_bias;
  TestTensor starts;
};

template <class F>
void for_cases(F&& f) {
  for (const DType type : {DType::f64, DType::f32, DType::bf16}) {
    if (type == DType::f64 && !kRecursInFp64) {
      continue;
    }
    for (const Case& c : kCases) {
      SCOPED_TRACE(::testing::Message()
                   << name_of(type) << " length " << c.length << " alpha " << c.alpha);
      f(type, c, type == DType::f64 ? 1e-11 : 1e-5);
    }
  }
}

TEST(DeltaRule, ForwardAsTheReference) {
  for_cases([](DType type, const Case& c, double tolerance) {
    Workbench bench;
    Inputs in(bench, type, c);
    Twin& o = bench.output(type, in.v.sides[0].shape());
    Twin& states = bench.output(type == DType::f64 ? type : DType::f32, in.states());
    bench.check(
        [&](Side side) {
          return DeltaRuleForward{in(side), o(side), states(side), c.chunk};
        },
        tolerance);
  });
}

TEST(DeltaRule, BackwardAsTheReference) {
  for_cases([](DType type, const Case& c, double tolerance) {
    Workbench bench;
    Inputs in(bench, type, c);
    TestTensor states(type == DType::f64 ? type : DType::f32, in.states());
    TestTensor o(type, in.v.sides[0].shape());
    device::ReferenceStream reference;
    run(reference, DeltaRuleForward{in(reference_side), o.view(), states.view(), c.chunk});
    const auto like = [&](Twin& twin) -> Twin& {
      return bench.output(type, twin.sides[0].shape());
    };
    Twin &d_o = bench.input(type, in.v.sides[0].shape()), &dq = like(in.q), &dk = like(in.k);
    Twin &dv = like(in.v), &dbeta = like(in.beta), &dalpha = like(in.alpha);
    const DType sum = type == DType::bf16 ? DType::f32 : type;
    Twin& da = bench.inout(sum, in.a_log.sides[0].shape());
    Twin& dbias = bench.inout(sum, in.a_log.sides[0].shape());
    bench.check(
        [&](Side side) {
          return DeltaRuleBackward{in(side), d_o(side),   states.view(), dq(side),
                                   dk(side), dv(side),    dbeta(side),   dalpha(side),
                                   da(side), dbias(side), c.chunk,       true};
        },
        10 * tolerance);
  });
}

/// With nothing forgotten and beta near 1, what was said of a key is said again.
TEST(DeltaRule, RemembersWhatItWasTold) {
  const DType type = kRecursInFp64 ? DType::f64 : DType::f32;
  TestTensor keys(type, {3, 1, 2}, {1, 0, 0, 1, 1, 0}), v(type, {3, 1, 1}, {5, 7, 5});
  TestTensor beta(type, {3, 1, 1}, {40, 40, 40}), alpha(type, {3, 1, 1}, {-60, -60, -60});
  TestTensor zero(type, {1}, {0}), o(type, {3, 1, 1}), states(type, {2, 1, 2, 1});
  run_on_device(DeltaRuleForward{
      {keys.view(), keys.view(), v.view(), beta.view(), alpha.view(), zero.view(), zero.view(), {}},
      o.view(),
      states.view(),
      2});
  EXPECT_NEAR(o.values()[1] * std::sqrt(2), 7, 1e-4);
  EXPECT_NEAR(o.values()[2] * std::sqrt(2), 5, 1e-4);
}

}  // namespace delta_rule_test
}  // namespace mpitron::kernels
