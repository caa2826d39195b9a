#include <gtest/gtest.h>

#include "inference/grammar/byte_network.h"
#include "inference/grammar/grammar_walk.h"
#include "inference/grammar/refused_grammar.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace byte_network_checks_test {

TEST(ByteNetworkChecks, RefusesWhatNothingFits) {
  EXPECT_NE(refusal({{Pattern::choice({})}}).find("no text fits"), std::string::npos);
  EXPECT_NE(refusal({{Pattern::sequence({kA, Pattern::rule(0)})}}).find("no text fits"),
            std::string::npos);
  EXPECT_EQ(refusal({{Pattern::sequence({kA, Pattern::optional(Pattern::rule(0))})}}), "");
}

TEST(ByteNetworkChecks, RefusesWhatItWouldEnterForEver) {
  const auto left = [](const Pattern& first) {
    return Pattern::choice({Pattern::sequence({first, Pattern::rule(0), kA}), kA});
  };
  EXPECT_NE(refusal({{left(Pattern())}}).find("refers to itself"), std::string::npos);
  EXPECT_NE(refusal({{left(Pattern::optional(kA))}}).find("refers to itself"), std::string::npos);
  EXPECT_NE(refusal({{left(Pattern::rule(1)), Pattern::optional(kA)}}).find("refers to itself"),
            std::string::npos);
  EXPECT_EQ(refusal({{left(kA)}}), "");
}

TEST(ByteNetworkChecks, LeavesDeadEndsOut) {
  const Pattern dead = Pattern::sequence({kA, Pattern::choice({})});
  test::Language language({{Pattern::choice({Pattern::text("b"), dead, Pattern::rule(1)}),
                            Pattern::sequence({kA, Pattern::rule(1)})}});
  std::mt19937_64 random(1);
  EXPECT_EQ(language.draw(random, 5, 9), "b");
}

}  // namespace byte_network_checks_test

}  // namespace mpitron::inference
