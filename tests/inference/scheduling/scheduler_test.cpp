#include "inference/scheduling/scheduler.h"

#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "support/golden_json.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace scheduler_test {

Sequence sequence_of(Index prompt, Index answer, TokenId first = 1) {
  Sequence sequence{.prompt_size = prompt, .longest = prompt + answer};
  for (Index i = 0; i < prompt; ++i) {
    sequence.tokens.push_back(first + static_cast<TokenId>(i));
  }
  return sequence;
}

EngineShape shape_of(Index blocks, Index slots, Index step_tokens) {
  return {.block_size = 4,
          .blocks = blocks,
          .slots = slots,
          .max_step_tokens = step_tokens,
          .max_positions = 64};
}

/// Runs a step as a model would: who is up to date gets one token more, who is done leaves.
bool run_step(Scheduler& scheduler) {
  if (scheduler.plan().empty()) {
    return false;
  }
  scheduler.finish_step();
  for (Sequence* sequence : std::vector(scheduler.planned())) {
    if (sequence->computed == sequence->size()) {
      sequence->tokens.push_back(sequence->tokens.back() + 1);
      if (sequence->size() >= sequence->longest) {
        scheduler.remove(*sequence);
      }
    }
  }
  return true;
}

TEST(Scheduler, NeedsNoMoreStepsThanTheReference) {
  if (!std::filesystem::exists(test::golden_folder() + "/generation/batching_traces.json")) {
    GTEST_SKIP() << "generation/batching_traces.json is absent";
  }
  const auto file = test::golden_json("generation/batching_traces.json");
  for (const auto& [name, trace] : file.items()) {
    if (name == "reference") {
      continue;
    }
    const auto& first = trace.at("steps").at(0);
    Index blocks = first.at("blocks_free").get<Index>();
    for (const auto& [id, used] : first.at("blocks").items()) {
      blocks += static_cast<Index>(used.size());
    }
    const auto& context = trace.at("context");
    EngineShape shape = shape_of(blocks, context.at("max_requests_override").get<Index>(),
                                 context.at("max_tokens_override").get<Index>());
    Scheduler scheduler(shape, {});
    std::deque<Sequence> sequences;
    for (const auto& request : trace.at("requests")) {
      const auto prompt = request.at("prompt").get<Index>();
      sequences.push_back(sequence_of(prompt, request.at("generate").get<Index>(),
                                      static_cast<TokenId>(1000 * sequences.size())));
      scheduler.add(sequences.back());
    }
    std::size_t steps = 0;
    while (run_step(scheduler)) {
      ASSERT_LT(++steps, 100u);
    }
    EXPECT_LE(steps, trace.at("steps").size()) << name;
    for (const Sequence& sequence : sequences) {
      EXPECT_EQ(sequence.size(), sequence.longest) << name;
    }
    EXPECT_EQ(scheduler.pool().available(), blocks);
  }
}

TEST(Scheduler, CutsPromptsWhereTheStepIsFull) {
  Scheduler scheduler(shape_of(16, 4, 10), {});
  Sequence a = sequence_of(7, 3), b = sequence_of(8, 3, 100);
  scheduler.add(a);
  scheduler.add(b);
  const auto& step = scheduler.plan();
  ASSERT_EQ(step.size(), 2u);
  EXPECT_EQ(step[0].tokens.size(), 7u);
  EXPECT_EQ(step[0].rows(), 1);
  EXPECT_EQ(step[1].tokens.size(), 3u);
  EXPECT_EQ(step[1].rows(), 0);
  scheduler.finish_step();
  a.tokens.push_back(9);
  const auto& next = scheduler.plan();
  EXPECT_EQ(next[0].tokens.size(), 1u);  // a draws first
  EXPECT_EQ(next[1].first_position, 3);
  EXPECT_EQ(next[1].rows(), 1);
}

TEST(Scheduler, PreemptsTheYoungestAndEndsTheOldest) {
  Scheduler scheduler(shape_of(4, 4, 64), {.prefix_cache = false});
  Sequence old = sequence_of(4, 12), young = sequence_of(4, 12, 100);
  scheduler.add(old);
  scheduler.add(young);
  while (run_step(scheduler) && old.size() < old.longest) {
    EXPECT_EQ(old.preemptions, 0);
  }
  EXPECT_GE(young.preemptions, 1);
  while (run_step(scheduler)) {
  }
  EXPECT_EQ(young.size(), 16);
  EXPECT_EQ(scheduler.pool().available(), 4);
}

TEST(Scheduler, SharesPrefixesButNotSaltsOrScoredPrompts) {
  Scheduler scheduler(shape_of(32, 8, 64), {});
  Sequence first = sequence_of(9, 1);
  scheduler.add(first);
  while (run_step(scheduler)) {
  }
  Sequence same = sequence_of(9, 1), salted = sequence_of(9, 1), scored = sequence_of(9, 1);
  Sequence whole = sequence_of(8, 1);
  salted.salt = "other";
  scored.scores_prompt = true;
  for (Sequence* each : {&same, &salted, &scored, &whole}) {
    scheduler.add(*each);
  }
  const auto& step = scheduler.plan();
  EXPECT_EQ(same.cached, 8);
  EXPECT_EQ(salted.cached, 0);
  EXPECT_EQ(scored.cached, 0);
  EXPECT_EQ(whole.cached, 4);  // the last token is always computed
  EXPECT_EQ(step[2].rows(), 9);
  EXPECT_EQ(scheduler.cached_tokens(), 12);
}

TEST(Scheduler, AnswersToOnePromptWaitForTheFirst) {
  Scheduler scheduler(shape_of(32, 8, 64), {});
  Sequence first = sequence_of(9, 4), second = sequence_of(9, 4);
  second.leader = &first;
  scheduler.add(first);
  scheduler.add(second);
  EXPECT_EQ(scheduler.plan().size(), 1u);
  scheduler.finish_step();
  first.tokens.push_back(1);
  EXPECT_EQ(scheduler.plan().size(), 2u);
  EXPECT_EQ(second.cached, 8);
}

TEST(Scheduler, RefusesWhatNeverFits) {
  Scheduler scheduler(shape_of(4, 8, 64), {});
  Sequence too_long = sequence_of(60, 5), too_large = sequence_of(10, 8), empty;
  EXPECT_THROW(scheduler.add(too_long), Error);
  EXPECT_THROW(scheduler.add(too_large), Error);
  EXPECT_THROW(scheduler.add(empty), Error);
}

TEST(Scheduler, IsOvertakenOnlySoOften) {
  Scheduler scheduler(shape_of(4, 8, 64), {.prefix_cache = false, .max_skips = 2});
  Sequence running = sequence_of(8, 8), large = sequence_of(12, 1, 100);
  std::deque<Sequence> small;
  scheduler.add(running);
  run_step(scheduler);
  scheduler.add(large);
  for (int i = 0; i < 5; ++i) {
    scheduler.add(small.emplace_back(sequence_of(1, 1, 200)));
    run_step(scheduler);
  }
  EXPECT_EQ(large.skipped, 2);
  while (run_step(scheduler)) {
  }
  EXPECT_EQ(large.size(), 13);
}

TEST(Scheduler, LeaksNoBlockOverRandomLists) {
  std::mt19937 random(1);
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<Index>(least, most)(random);
  };
  for (int list = 0; list < 2000; ++list) {
    const Index blocks = draw(8, 20);
    Scheduler scheduler(shape_of(blocks, draw(1, 5), draw(5, 40)), {.prefix_cache = list % 2 == 0});
    std::deque<Sequence> sequences;
    for (Index i = draw(1, 12); i > 0; --i) {
      sequences.push_back(sequence_of(draw(1, 20), draw(1, 12), static_cast<TokenId>(draw(0, 2))));
      sequences.back().scores_prompt = draw(0, 3) == 0;
      scheduler.add(sequences.back());
    }
    int steps = 0;
    while (run_step(scheduler)) {
      ASSERT_LT(++steps, 2000) << list;
      if (draw(0, 30) == 0 && sequences.back().size() < sequences.back().longest) {
        scheduler.remove(sequences.back());  // a client left
        sequences.back().longest = sequences.back().size();
      }
    }
    for (const Sequence& sequence : sequences) {
      ASSERT_EQ(sequence.size(), sequence.longest) << list;
    }
    ASSERT_EQ(scheduler.pool().available(), blocks) << list;
  }
}

}  // namespace scheduler_test
}  // namespace mpitron::inference
