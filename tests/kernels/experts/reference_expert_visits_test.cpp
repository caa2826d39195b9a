#include "kernels/experts/expert_visits.h"
#include "kernels/experts/router.h"
#include "tests/kernels/golden_tables.h"

namespace mpitron::kernels {
namespace reference_expert_visits_test {

device::ReferenceStream stream;

struct Visits {
  std::vector<double> counts, rows, slots;
};

Visits visits_of(TestTensor& experts, TestTensor& probabilities, Index num_experts,
                 const ExpertCapacity& capacity) {
  TestTensor counts(DType::i64, {num_experts});
  run(stream, CountVisits{experts.view(), counts.view()});
  Visits visits;
  Index n = 0;
  for (const double count : counts.values()) {
    visits.counts.push_back(static_cast<double>(capacity.of(static_cast<Index>(count))));
    n += capacity.of(static_cast<Index>(count));
  }
  TestTensor rows(DType::i64, {n}), slots(DType::i64, {n});
  run(stream, OrderVisits{experts.view(),
                          probabilities.view(),
                          counts.view(),
                          rows.view(),
                          slots.view(),
                          {},
                          capacity});
  visits.rows = rows.values();
  visits.slots = slots.values();
  return visits;
}

TEST(ReferenceExpertVisits, CapacityIsTheReferences) {
  for (const auto& recorded : golden_table("router").at("capacity")) {
    EXPECT_EQ(expert_capacity(recorded.at("num_tokens_times_topk"), recorded.at("experts"),
                              recorded.at("factor")),
              recorded.at("capacity").get<Index>())
        << recorded.dump();
  }
}

/// The reference's dense maps of tokens that are dropped by probability.
TEST(ReferenceExpertVisits, DropsAsTheReferenceDid) {
  for (const auto& recorded : golden_table("router").at("drop")) {
    if (recorded.contains("error") || recorded.at("policy") == "position") {
      continue;  // it breaks ties of positions at random
    }
    SCOPED_TRACE(recorded.at("capacity").dump() + recorded.at("pad").dump());
    const Index t = recorded.at("logits").size(), n = recorded.at("logits")[0].size();
    const Index k = recorded.at("topk");
    TestTensor logits(DType::f32, {t, n}, flatten(recorded.at("logits")));
    TestTensor experts(DType::i64, {t, k}), probabilities(DType::f32, {t, k});
    run(stream, TopKRouting{.logits = logits.view(),
                            .experts = experts.view(),
                            .probabilities = probabilities.view(),
                            .rule = {.pre_softmax = k == 1}});
    const ExpertCapacity capacity{.tokens = std::min(recorded.at("capacity").get<Index>(), t),
                                  .pad = recorded.at("pad")};
    const Visits visits = visits_of(experts, probabilities, n, capacity);
    std::vector<double> kept(static_cast<std::size_t>(t * n));
    std::size_t i = 0;
    for (Index expert = 0; expert < n; ++expert) {
      for (double left = visits.counts[static_cast<std::size_t>(expert)]; left > 0; --left, ++i) {
        const auto slot = static_cast<Index>(visits.slots[i]);
        if (slot >= 0) {
          EXPECT_EQ(static_cast<double>(slot / k), visits.rows[i]);
          kept[static_cast<std::size_t>(slot / k * n + expert)] =
              probabilities.values()[static_cast<std::size_t>(slot)];
        }
      }
    }
    expect_close(kept, flatten(recorded.at("probs")), 1e-6);
  }
}

TEST(ReferenceExpertVisits, OrderedByExpertThenToken) {
  TestTensor experts(DType::i64, {3, 2}, {2, 0, 0, 2, 2, 1}), p(DType::f32, {3, 2});
  const Visits visits = visits_of(experts, p, 4, {});
  EXPECT_EQ(visits.counts, (std::vector<double>{2, 1, 3, 0}));
  EXPECT_EQ(visits.rows, (std::vector<double>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(visits.slots, (std::vector<double>{1, 2, 5, 0, 3, 4}));
}

TEST(ReferenceExpertVisits, DropsLaterTokensByPositionAndAmongEqualOnes) {
  TestTensor experts(DType::i64, {4, 1}, {0, 0, 0, 0}), p(DType::f32, {4, 1}, {1, 3, 1, 3});
  EXPECT_EQ(visits_of(experts, p, 1, {.tokens = 3, .drop = DropPolicy::last_position}).rows,
            (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(visits_of(experts, p, 1, {.tokens = 3}).rows, (std::vector<double>{0, 1, 3}));
}

TEST(ReferenceExpertVisits, PadsWithTheFirstTokensThatStayAway) {
  TestTensor experts(DType::i64, {4, 1}, {1, 0, 1, 1}), p(DType::f32, {4, 1}, {1, 1, 1, 2});
  const Visits visits = visits_of(experts, p, 3, {.tokens = 2, .pad = true});
  EXPECT_EQ(visits.counts, (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(visits.rows, (std::vector<double>{0, 1, 0, 3, 0, 1}));
  EXPECT_EQ(visits.slots, (std::vector<double>{-1, 1, 0, 3, -1, -1}));
}

}  // namespace reference_expert_visits_test
}  // namespace mpitron::kernels
