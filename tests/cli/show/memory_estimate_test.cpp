#include "cli/show/memory_estimate.h"

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "support/corpus.h"
#include "support/tiny_flags.h"

namespace mpitron::cli {

namespace memory_estimate_test {

constexpr double kGigabyte = 1 << 30;

MemoryEstimate estimate(const std::vector<std::string>& more) {
  return estimate_memory(config::parse_valid_run(test::tiny_flags(more)).run);
}

TEST(MemoryEstimate, GrowsWithTheSequence) {
  const MemoryEstimate one = estimate({});
  EXPECT_GT(one.state, 0);
  EXPECT_GT(one.activations, 0);
  EXPECT_EQ(one.total(), one.state + one.activations);
  EXPECT_GT(estimate({"--micro-batch-size", "4"}).activations, 3 * one.activations);
}

TEST(MemoryEstimate, IsTold) {
  const std::string text = to_text({.state = 2 << 20, .activations = 1 << 20});
  EXPECT_EQ(text,
            "memory of the fullest rank: 2.0 MB weights, gradients and optimizer state, 1.0 MB "
            "activations, by the reference's formula (sequence parallel, selective recompute)");
  EXPECT_EQ(to_text({.state = 1 << 20, .activations = 2 << 20, .replayed = true}),
            "memory of the fullest rank: 1.0 MB weights, gradients and optimizer state, 2.0 MB "
            "activations and scratch memory");
  EXPECT_EQ(to_text({.host_state = 1 << 20, .fp8_weights = 1 << 20, .has_vocabulary = false}),
            "memory of the fullest rank: 0.0 MB weights, gradients and optimizer state, 0.0 MB "
            "activations, by the reference's formula (sequence parallel, selective recompute), 1.0 "
            "MB optimizer state in the host's memory, 1.0 MB weights in 8 bits; without the rows "
            "of the vocabulary");
}

TEST(MemoryEstimate, OfTheProgramItselfKnowsPrecisionRecomputeAndLayout) {
  const auto replayed = [](const std::vector<std::string>& more) {
    const MemoryEstimate memory =
        replay_memory(config::parse_valid_run(test::tiny_flags(more)).run);
    EXPECT_EQ(memory.replayed, memory.has_vocabulary);
    return memory;
  };
  const std::vector<std::string> vocabulary = {"--vocab-size", "99"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), vocabulary.begin(), vocabulary.end());
    return replayed(more);
  };
  EXPECT_FALSE(replayed({}).replayed);
  const MemoryEstimate plain = with({});
  EXPECT_LT(with({"--bf16"}).activations, plain.activations);
  EXPECT_LT(with({"--recompute-granularity", "full", "--recompute-method", "uniform",
                  "--recompute-num-layers", "1"})
                .activations,
            plain.activations);
  EXPECT_LT(with({"--tensor-model-parallel-size", "2", "--world-size", "2"}).state, plain.state);
  // More microbatches than are in flight take no more.
  EXPECT_EQ(with({"--global-batch-size", "64"}).total(),
            with({"--global-batch-size", "2"}).total());
}

TEST(MemoryEstimate, IsHeldAgainstTheMachine) {
  const MemoryEstimate memory{.state = 2 * kGigabyte, .activations = 6 * kGigabyte};
  EXPECT_EQ(memory_shortage(memory, 2, Index{16} << 30), "");
  EXPECT_NE(memory_shortage(memory, 1, Index{4} << 30)
                .find("this machine has 4.0 GB of memory, this run needs about 8.0 GB (a rank 2.0 "
                      "for weights and optimizer, 6.0 for activations)"),
            std::string::npos);
  EXPECT_NE(memory_shortage(memory, 3, Index{16} << 30).find("the 3 ranks on it need about 24.0"),
            std::string::npos);
}

TEST(MemoryLimit, TenTimesWhatIsThereIsNoMistypedSize) {
  EXPECT_EQ(test::message_of([] { refuse_absurd_memory(10e9, 1'000'000'000); }), "");
}

TEST(MemoryLimit, MoreIsRefusedWithBothFigures) {
  const std::string message =
      test::message_of([] { refuse_absurd_memory(134e15, 24'000'000'000); });
  EXPECT_NE(message.find("about 134000000 GB"), std::string::npos) << message;
  EXPECT_NE(message.find("the 24 GB"), std::string::npos) << message;
  EXPECT_NE(message.find("--num-layers"), std::string::npos) << message;
}

}  // namespace memory_estimate_test

}  // namespace mpitron::cli
