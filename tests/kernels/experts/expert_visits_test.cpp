#include "kernels/experts/expert_visits.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace expert_visits_test {

constexpr Index kTokens = 60, kTopk = 3, kExperts = 8;

/// Different experts for each token; some experts are popular, the last one gets none.
std::vector<double> some_experts(Index tokens = kTokens) {
  std::vector<double> experts;
  for (Index token = 0; token < tokens; ++token) {
    const Index first = token % 5 == 0 ? token / 5 % 4 : 1;
    for (Index j = 0; j < kTopk; ++j) {
      experts.push_back(static_cast<double>((first + j * 2) % (kExperts - 1)));
    }
  }
  return experts;
}

TEST(ExpertVisits, Counts) {
  Workbench bench;
  Twin &experts = bench.integers(some_experts(), {kTokens, kTopk}),
       &counts = bench.output(DType::i64, {kExperts});
  bench.check([&](Side side) { return CountVisits{experts(side), counts(side)}; }, 0);
}

void check_order(const ExpertCapacity& capacity, DType probability_type, Index t = kTokens) {
  SCOPED_TRACE(::testing::Message() << capacity.tokens << capacity.pad << " of " << t);
  std::vector<double> count(kExperts);
  for (const double expert : some_experts(t)) {
    ++count[static_cast<std::size_t>(expert)];
  }
  Index n = 0;
  for (const double c : count) {
    n += capacity.of(static_cast<Index>(c));
  }
  Workbench bench;
  Twin &experts = bench.integers(some_experts(t), {t, kTopk}),
       &p = bench.input(probability_type, {t, kTopk}), &counts = bench.integers(count);
  std::vector<double> quarters = test_values(t * kTopk, 7);  // many are equal
  for (double& value : quarters) {
    value = std::floor(4 * value) / 4;
  }
  p.fill(quarters);
  Twin &rows = bench.output(DType::i64, {n}), &slots = bench.output(DType::i64, {n});
  bench.check(
      [&](Side side) {
        return OrderVisits{experts(side), p(side), counts(side), rows(side),
                           slots(side),   {},      capacity};
      },
      0);
}

TEST(ExpertVisits, Order) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    check_order({}, dtype);
    for (const Index tokens : {1, 7, 30, 60}) {
      for (const bool pad : {false, true}) {
        for (const DropPolicy drop : {DropPolicy::lowest_probability, DropPolicy::last_position}) {
          check_order({tokens, pad, drop}, dtype);
        }
      }
    }
  }
}

/// More tokens than a block of a GPU takes at once.
TEST(ExpertVisits, OrderOfManyTokens) {
  constexpr Index kMany = 2300;
  check_order({}, DType::f32, kMany);
  check_order({.tokens = kMany, .pad = true}, DType::f32, kMany);
  check_order({.tokens = 1500, .drop = DropPolicy::last_position}, DType::f32, kMany);
  check_order({.tokens = 1500}, DType::f32, kMany);
}

}  // namespace expert_visits_test
}  // namespace mpitron::kernels
