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

/// Ends the oldest step as a model would: who is up to date gets one token more, who is done
/// leaves. Of each draft `drawn` tokens are drawn.
void end_step(Scheduler& scheduler, Index drawn = 0) {
  for (const Scheduler::Part part : scheduler.oldest()) {
    if (part.sequence == nullptr) {
      continue;
    }
    Sequence& sequence = *part.sequence;
    const bool whole = part.first_position + part.tokens - part.drafts == sequence.size();
    scheduler.computed(part, std::min(drawn, part.drafts));
    if (whole) {
      sequence.tokens.push_back(sequence.tokens.back() + 1);
      if (sequence.size() >= sequence.longest) {
        scheduler.remove(sequence);
      }
    }
  }
  scheduler.end_oldest();
}

bool run_step(Scheduler& scheduler, Index drawn = 0) {
  const bool any = !scheduler.plan().empty();
  if (scheduler.under_way() == 0) {
    return false;
  }
  end_step(scheduler, drawn);
  return any;
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
    EXPECT_EQ(scheduler.blocks_free(), blocks);
  }
}

TEST(Scheduler, CutsPromptsWhereTheStepIsFull) {
  Scheduler scheduler(shape_of(16, 4, 10), {});
  Sequence a = sequence_of(7, 3), b = sequence_of(8, 3, 100);
  scheduler.add(a);
  scheduler.add(b);
  const auto& step = scheduler.plan().sequences;
  ASSERT_EQ(step.size(), 2u);
  EXPECT_EQ(step[0].tokens.size(), 7u);
  EXPECT_EQ(step[0].rows(), 1);
  EXPECT_EQ(step[1].tokens.size(), 3u);
  EXPECT_EQ(step[1].rows(), 0);
  end_step(scheduler);
  const auto& next = scheduler.plan().sequences;
  EXPECT_EQ(next[0].tokens.size(), 1u);  // a draws first
  EXPECT_EQ(next[1].first_position, 3);
  EXPECT_EQ(next[1].rows(), 1);
}

TEST(Scheduler, BoundsWhatPromptsAddToAStepWithAnswers) {
  Scheduler scheduler(shape_of(32, 4, 24), {.prompt_tokens_beside_answers = 2});
  Sequence first = sequence_of(3, 20), second = sequence_of(12, 4, 100),
           third = sequence_of(9, 4, 200);
  const auto tokens_of_step = [&] {
    std::vector<std::size_t> tokens;
    for (const SequenceStep& each : scheduler.plan().sequences) {
      tokens.push_back(each.tokens.size());
    }
    end_step(scheduler);
    return tokens;
  };
  scheduler.add(first);
  EXPECT_EQ(tokens_of_step(), std::vector<std::size_t>({3}));  // alone it has the whole step
  scheduler.add(second);
  scheduler.add(third);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(tokens_of_step(), std::vector<std::size_t>({1, 2})) << i;
  }
  EXPECT_EQ(tokens_of_step(), std::vector<std::size_t>({1, 1, 2}));
}

TEST(Scheduler, ManyPromptsGetMoreOfAStep) {
  Scheduler scheduler(shape_of(64, 8, 24), {.prompt_tokens_beside_answers = 4});
  Sequence first = sequence_of(3, 20);
  scheduler.add(first);
  run_step(scheduler);
  std::deque<Sequence> others;
  for (TokenId i = 1; i <= 6; ++i) {
    scheduler.add(others.emplace_back(sequence_of(8, 4, 100 * i)));
  }
  EXPECT_EQ(scheduler.plan().sequences.back().tokens.size(), 6u);  // a quarter of 4 for each
  end_step(scheduler);
  const auto& step = scheduler.plan().sequences;
  ASSERT_EQ(step.size(), 3u);
  EXPECT_EQ(step[1].tokens.size(), 2u);
  EXPECT_EQ(step[2].tokens.size(), 4u);
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
  EXPECT_EQ(scheduler.blocks_free(), 4);
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
  const auto& step = scheduler.plan().sequences;
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
  EXPECT_EQ(scheduler.followers(first), std::vector{&second});
  EXPECT_EQ(scheduler.plan().sequences.size(), 1u);
  end_step(scheduler);
  EXPECT_EQ(scheduler.plan().sequences.size(), 2u);
  EXPECT_EQ(second.cached, 8);
}

TEST(Scheduler, ForkedSequencesShareBlocksUntilTheyWrite) {
  EngineShape shape = shape_of(6, 4, 64);
  shape.states = 8;
  Scheduler scheduler(shape, {});
  Sequence first = sequence_of(6, 6), second = sequence_of(6, 2);
  second.leader = &first;
  scheduler.add(first);
  scheduler.add(second);
  scheduler.plan();
  scheduler.computed(scheduler.oldest()[0], 0);
  ASSERT_TRUE(scheduler.fork(first, second));
  scheduler.end_oldest();
  first.tokens.push_back(50);
  second.tokens.push_back(60);
  EXPECT_EQ(first.blocks, second.blocks);
  EXPECT_EQ(scheduler.blocks_free(), 4);
  const StepPlan plan = scheduler.plan();
  ASSERT_EQ(plan.sequences.size(), 2u);
  ASSERT_EQ(plan.block_copies.size(), 1u);  // the last user of a block needs none
  EXPECT_EQ(plan.block_copies[0].from, second.blocks[1]);
  EXPECT_EQ(plan.block_copies[0].to, first.blocks[1]);
  ASSERT_EQ(plan.state_copies.size(), 1u);
  EXPECT_EQ(plan.state_copies[0].from, plan.sequences[0].state_from);
  EXPECT_EQ(plan.state_copies[0].to, plan.sequences[1].state_from);
  EXPECT_EQ(first.blocks[0], second.blocks[0]);
  end_step(scheduler);
  while (run_step(scheduler)) {
  }
  EXPECT_EQ(scheduler.blocks_free(), 6);
}

TEST(Scheduler, TakesBackDraftsThatWereNotDrawn) {
  for (const Index states : {0, 4}) {
    EngineShape shape = shape_of(16, 2, 64);
    shape.states = states;
    Scheduler scheduler(shape, {.draft_tokens = 4});
    Sequence sequence{.tokens = {1, 2, 3, 4, 1, 2}, .prompt_size = 6, .longest = 20};
    scheduler.add(sequence);
    run_step(scheduler);  // the token behind the prompt is 3
    const SequenceStep drafted = scheduler.plan().sequences.at(0);
    EXPECT_EQ(TokenIds(drafted.tokens.begin(), drafted.tokens.end()), (TokenIds{3, 4, 1}));
    EXPECT_EQ(drafted.rows(), 3);
    end_step(scheduler, 1);
    EXPECT_EQ(sequence.tokens, (TokenIds{1, 2, 3, 4, 1, 2, 3, 4, 5}));
    EXPECT_EQ(sequence.computed, states == 0 ? 8 : 6);
    const SequenceStep next = scheduler.plan().sequences.at(0);
    EXPECT_EQ(next.first_position, sequence.computed);
    EXPECT_EQ(next.rows(), 1);
    EXPECT_EQ(next.state_from, states == 0 ? -1 : drafted.state_from);
    EXPECT_EQ(scheduler.drafted_tokens(), 2);
    EXPECT_EQ(scheduler.drawn_drafts(), 1);
  }
}

/// A prompt is cut where its states are kept; the copy comes with the next step, whoever has it.
TEST(Scheduler, KeepsStatesWherePromptsEnd) {
  EngineShape shape = shape_of(32, 2, 64);
  shape.states = 4;
  shape.snapshots = 2;
  Scheduler scheduler(shape, {.state_least = 4});
  Sequence first = sequence_of(10, 1), same = sequence_of(10, 1);
  scheduler.add(first);
  EXPECT_EQ(scheduler.plan().sequences.at(0).tokens.size(), 8u);
  end_step(scheduler);
  const StepPlan second = scheduler.plan();
  EXPECT_EQ(second.sequences.at(0).first_position, 8);
  ASSERT_EQ(second.state_copies.size(), 1u);
  EXPECT_EQ(second.state_copies[0].from, second.sequences[0].state_from);
  EXPECT_EQ(second.state_copies[0].to, 4);  // the first place behind those of slots
  end_step(scheduler);
  scheduler.add(same);
  const SequenceStep step = scheduler.plan().sequences.at(0);
  EXPECT_EQ(step.first_position, 8);
  EXPECT_EQ(step.state_from, 4);
  EXPECT_EQ(same.cached, 8);
  scheduler.abandon();
  scheduler.remove(same);
  EXPECT_EQ(scheduler.kept_states(), 0);  // who knows what was copied
}

TEST(Scheduler, StepsUnderWayShareTheAnswers) {
  Scheduler scheduler(shape_of(32, 8, 64), {}, 2);
  std::deque<Sequence> sequences;
  for (int i = 0; i < 4; ++i) {
    scheduler.add(sequences.emplace_back(sequence_of(4, 5, static_cast<TokenId>(100 * i))));
  }
  EXPECT_EQ(scheduler.plan().sequences.size(), 4u);
  EXPECT_TRUE(scheduler.plan().empty());
  end_step(scheduler);
  EXPECT_EQ(scheduler.plan().sequences.size(), 2u);
  EXPECT_EQ(scheduler.plan().sequences.size(), 2u);
  scheduler.remove(sequences[0]);
  EXPECT_EQ(scheduler.oldest()[0].sequence, nullptr);
  end_step(scheduler);
  EXPECT_EQ(scheduler.plan().sequences.size(), 1u);
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
  for (int list = 0; list < 10000; ++list) {
    const Index blocks = draw(8, 20), depth = draw(1, 3);
    EngineShape shape = shape_of(blocks, draw(1, 5), draw(5, 40));
    shape.states = draw(0, 2) * shape.slots;
    shape.snapshots = shape.states > 0 ? draw(0, 6) : 0;
    shape.block_owners = draw(1, 2);
    Scheduler scheduler(shape,
                        {.prefix_cache = list % 2 == 0,
                         .draft_tokens = draw(0, 5),
                         .state_interval = 8,
                         .state_least = 4},
                        depth);
    std::deque<Sequence> sequences;
    for (Index i = draw(1, 12); i > 0; --i) {
      sequences.push_back(sequence_of(draw(1, 20), draw(1, 12), static_cast<TokenId>(draw(0, 2))));
      sequences.back().scores_prompt = draw(0, 3) == 0;
      if (sequences.size() > 1 && draw(0, 3) == 0) {
        sequences.back().leader = &sequences[sequences.size() - 2];
      }
      scheduler.add(sequences.back());
    }
    int steps = 0;
    while (!scheduler.plan().empty() || scheduler.under_way() > 0) {
      if (scheduler.under_way() < depth && draw(0, 1) == 0) {
        continue;
      }
      end_step(scheduler, draw(0, 2));
      ASSERT_LT(++steps, 2000) << list;
      if (draw(0, 30) == 0 && sequences.back().size() < sequences.back().longest) {
        scheduler.remove(sequences.back());  // a client left
        sequences.back().longest = sequences.back().size();
      }
    }
    for (const Sequence& sequence : sequences) {
      ASSERT_EQ(sequence.size(), sequence.longest) << list;
    }
    ASSERT_EQ(scheduler.blocks_free(), blocks) << list;
    ASSERT_LE(scheduler.kept_states(), shape.snapshots) << list;
  }
}

/// Three words, an image of six positions, two words, an image of two.
Sequence sequence_with_images() {
  Sequence sequence = sequence_of(13, 2);
  std::fill_n(sequence.tokens.begin() + 3, 6, -1);
  std::fill_n(sequence.tokens.begin() + 11, 2, -7);
  return sequence;
}

std::vector<Index> steps_of(Scheduler& scheduler) {
  std::vector<Index> rows;
  while (!scheduler.plan().empty()) {
    Index sum = 0;
    for (const Scheduler::Part& part : scheduler.oldest()) {
      sum += part.tokens;
    }
    rows.push_back(sum);
    end_step(scheduler);
  }
  return rows;
}

TEST(Scheduler, ImagesThatSeeThemselvesComeInOneStep) {
  for (const bool whole : {false, true}) {
    EngineShape shape = shape_of(16, 1, 7);
    shape.whole_images = whole;
    Scheduler scheduler(shape, {});
    Sequence sequence = sequence_with_images();
    scheduler.add(sequence);
    EXPECT_EQ(steps_of(scheduler),
              whole ? std::vector<Index>({3, 7, 3, 1}) : std::vector<Index>({7, 6, 1}));
  }
}

/// Beside answers a step has room for two tokens of prompts, and makes an exception for an image.
TEST(Scheduler, ImagesPassTheLimitOfPromptsBesideAnswers) {
  EngineShape shape = shape_of(32, 2, 8);
  shape.whole_images = true;
  Scheduler scheduler(shape, {.prompt_tokens_beside_answers = 2});
  Sequence answers = sequence_of(1, 12), reads = sequence_with_images();
  scheduler.add(answers);
  EXPECT_TRUE(run_step(scheduler));
  scheduler.add(reads);
  std::vector<Index> ends;
  while (reads.computed < reads.prompt_size && run_step(scheduler)) {
    ends.push_back(reads.computed);
  }
  EXPECT_EQ(ends, std::vector<Index>({2, 3, 9, 11, 13}));
}

TEST(Scheduler, ImagesThatNoStepHasRoomForAreRefused) {
  EngineShape shape = shape_of(16, 2, 7);
  shape.whole_images = true;
  Scheduler scheduler(shape, {});
  Sequence sequence = sequence_with_images();
  EXPECT_THROW(scheduler.add(sequence), Error);
}

}  // namespace scheduler_test
}  // namespace mpitron::inference
