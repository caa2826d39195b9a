#include "inference/grammar/byte_automaton.h"

#include <gtest/gtest.h>

#include "inference/grammar/grammar_walk.h"

namespace mpitron::inference {
namespace byte_automaton_test {

/// a^n b^n: more than a finite automaton could count.
const Grammar kBalanced{{Pattern::choice(
    {Pattern(), Pattern::sequence({Pattern::text("a"), Pattern::rule(0), Pattern::text("b")})})}};

TEST(ByteAutomaton, CountsWithItsStack) {
  test::Language language(kBalanced);
  for (const std::size_t n : {0, 1, 2, 50, 3000}) {
    const std::string as(n, 'a'), bs(n, 'b');
    EXPECT_TRUE(language.has(as + bs)) << n;
    EXPECT_FALSE(language.has(as + bs + "b")) << n;
    EXPECT_FALSE(n > 0 && language.has(as)) << n;
  }
}

TEST(ByteAutomaton, KnowsWhereATextMayAndMustEnd) {
  ByteAutomaton automaton(test::network_of(
      {{Pattern::choice({Pattern::text("a"), Pattern::text("abc"), Pattern::text("abd")})}}));
  const auto a = automaton.next(automaton.start(), 'a');
  EXPECT_TRUE(automaton.may_end(a));
  EXPECT_FALSE(automaton.must_end(a));
  const auto ab = automaton.next(a, 'b');
  EXPECT_FALSE(automaton.may_end(ab));
  EXPECT_TRUE(automaton.must_end(automaton.next(ab, 'c')));
  EXPECT_EQ(automaton.next(ab, 'c'), automaton.next(ab, 'd'));  // nothing tells them apart
  EXPECT_EQ(automaton.next(a, 'x'), ByteAutomaton::kDead);
}

TEST(ByteAutomaton, IsFullAfterManyStates) {
  ByteAutomaton automaton(test::network_of(kBalanced));
  auto state = automaton.start();
  for (int i = 0; i < 30'000 && !automaton.full(); ++i) {
    state = automaton.next(state, 'a');
  }
  EXPECT_TRUE(automaton.full());
}

/// Counts of counts may be at very many places behind each byte: a state keeps 2,000 of them, which
/// accept less and take a bounded time.
TEST(ByteAutomaton, HasNoMoreThanManyPlaces) {
  const auto counted = [](Pattern part) { return Pattern::repeat(std::move(part), 0, 300); };
  ByteAutomaton automaton(test::network_of({{counted(counted(Pattern::text("a")))}}));
  auto state = automaton.start();
  for (int i = 0; i < 200; ++i) {
    state = automaton.next(state, 'a');
    ASSERT_NE(state, ByteAutomaton::kDead) << i;
    EXPECT_LE(automaton.places(state), 2000U);
  }
}

}  // namespace byte_automaton_test
}  // namespace mpitron::inference
