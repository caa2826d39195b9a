#include "ops/attention/context_attention.h"

#include "ops/context_case.h"
#include "utils/error.h"

namespace mpitron::ops {
namespace context_attention_test {

constexpr auto kRing = ContextExchange::ring, kGather = ContextExchange::all_gather,
               kHeads = ContextExchange::heads, kMixed = ContextExchange::heads_in_ring;

/// Every kind on 2 and 4 ranks, two for heads_in_ring: 4 = 2 x 2.
std::vector<ContextCase> every_kind() {
  std::vector<ContextCase> cases;
  for (const ContextExchange exchange : {kRing, kGather, kHeads}) {
    for (const Index ranks : {2, 4}) {
      cases.push_back({.exchange = exchange, .ranks = ranks, .heads = 8, .groups = 4});
    }
  }
  cases.push_back({.exchange = kMixed, .ranks = 4, .inner = 2, .heads = 4, .groups = 2});
  return cases;
}

TEST(ContextAttention, IsThatOfOneRank) {
  for (ContextCase c : every_kind()) {
    for (const DType dtype : {DType::f64, DType::f32}) {
      c.dtype = dtype;
      check_context(c);
    }
  }
}

TEST(ContextAttention, DropoutMasksBelongToGlobalPositionsAndHeads) {
  for (ContextCase c : every_kind()) {
    for (const double dropout : {0.1, 0.6}) {
      c.dropout = dropout;
      check_context(c);
    }
  }
}

TEST(ContextAttention, HalfTypesAreRoundedOnce) {
  for (ContextCase c : every_kind()) {
    for (const DType dtype : {DType::bf16, DType::f16}) {
      c.dtype = dtype;
      c.dropout = 0.1;
      check_context(c);
    }
  }
}

TEST(ContextAttention, ValuesMayBeNarrowerThanKeys) {
  for (ContextCase c : every_kind()) {
    c.groups = c.heads;
    c.value_dim = 4;
    c.dropout = 0.1;
    check_context(c);
  }
}

TEST(ContextAttention, OddSizes) {
  for (const ContextExchange exchange : {kRing, kGather}) {
    for (const Index heads : {1, 3}) {
      check_context({.exchange = exchange,
                     .ranks = 2,
                     .s = 4 * 7,
                     .b = 3,
                     .heads = heads,
                     .groups = 1,
                     .head_dim = 5,
                     .dropout = 0.1});
    }
  }
  check_context({.exchange = kRing, .ranks = 3, .s = 6, .b = 1, .heads = 2, .groups = 2});
  check_context({.exchange = kHeads, .ranks = 3, .s = 6 * 3, .heads = 9, .groups = 3});
}

TEST(ContextAttention, RingOfEight) {
  check_context({.exchange = kRing, .ranks = 8, .s = 48, .b = 1, .dropout = 0.1});
}

TEST(ContextAttention, TwoLevelsOfEight) {
  for (const Index inner : {2, 4}) {
    check_context({.exchange = kMixed,
                   .ranks = 8,
                   .inner = inner,
                   .s = 32,
                   .b = 1,
                   .heads = 8,
                   .groups = 4,
                   .dropout = 0.1});
  }
}

TEST(ContextAttention, LevelsOfOneAreTheOtherKind) {
  for (const Index inner : {1, 4}) {
    check_context({.exchange = kMixed, .ranks = 4, .inner = inner, .heads = 4, .groups = 4});
  }
}

TEST(ContextAttention, NotCausal) {
  for (ContextCase c : every_kind()) {
    c.causal = false;
    check_context(c);
  }
}

TEST(ContextAttention, WindowsEndInOtherRanksChunks) {
  for (ContextCase c : every_kind()) {
    for (const Index window : {0, 4, 11}) {
      c.window = window;
      check_context(c);
    }
  }
}

/// Of some chunks a rank has queries and another one the keys.
TEST(ContextAttention, ChunksEndInOtherRanksPieces) {
  for (ContextCase c : every_kind()) {
    c.dropout = 0.1;
    for (const Index chunk : {1, 5, 8, 11, 23}) {
      c.chunk = chunk;
      check_context(c);
    }
  }
  check_context({.exchange = kRing, .ranks = 4, .causal = false, .masked = true, .chunk = 5});
}

TEST(ContextAttention, MasksHideWhereKeysTravel) {
  for (const ContextExchange exchange : {kRing, kGather}) {
    for (const bool causal : {false, true}) {
      check_context({.exchange = exchange, .ranks = 4, .causal = causal, .masked = true});
    }
  }
}

TEST(ContextAttention, SameBitsTwice) {
  for (ContextCase c : every_kind()) {
    c.dropout = 0.1;
    const ContextRun run(c);
    EXPECT_EQ(run.on_ranks(), run.on_ranks()) << c;
  }
}

/// One kernel sees all keys: the output is not even rounded elsewhere.
TEST(ContextAttention, GatheredAndExchangedOutputsHaveTheBitsOfOneRank) {
  for (const ContextExchange exchange : {kGather, kHeads}) {
    const ContextRun run({.exchange = exchange, .ranks = 2, .dropout = 0.1});
    EXPECT_EQ(run.on_ranks().o, run.one_rank().o);
  }
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ContextAttention, RefusesHeadsThatCannotBeSharedOut) {
  comm::run_thread_world(4, [](comm::World& world) {
    const ContextGroups groups{.all = world.all()};
    const std::string refused = message_of([&] {
      check_context_exchange(kHeads, groups, {8, 2, 4});
    });
    EXPECT_NE(refused.find("--cp-comm-type a2a: 8 heads and 2 query groups"), std::string::npos)
        << refused;
    EXPECT_NE(message_of([&] {
                check_context_exchange(kMixed, groups, {8, 4, 4});
              }).find("--hierarchical-context-parallel-sizes"),
              std::string::npos);
    check_context_exchange(kHeads, groups, {8, 4, 4});
    check_context_exchange(kRing, groups, {3, 1, 4});
  });
}

TEST(ContextAttention, RefusesMasksWhereHeadsAreExchanged) {
  const ContextRun run({.exchange = kHeads, .masked = true});
  EXPECT_NE(message_of([&] { run.on_ranks(); }).find("use p2p or all_gather"), std::string::npos);
}

}  // namespace context_attention_test
}  // namespace mpitron::ops
