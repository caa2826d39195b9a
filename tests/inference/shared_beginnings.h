#pragma once
#include "tests/inference/random_decoder.h"

namespace mpitron::test {

/// Answers to prompts that begin alike, and how many of their tokens were found in the cache.
struct SharedAnswers {
  std::vector<inference::Answer> answers;
  Index cached = 0;
  Index preemptions = 0;
};

/// Rounds of requests to one generator, greedy ones and drawn ones: two questions behind a common
/// beginning, two others that find where those parted, and the next turn of a conversation beside
/// several answers to a prompt that was there before. `count` repeats each round's questions.
inline SharedAnswers answers_of_beginnings(inference::Engine& engine,
                                           inference::SchedulerSettings settings, Index count = 1) {
  using inference::TokenId;
  settings.state_interval = 8;
  settings.state_least = 4;
  const tokenizers::NullTokenizer tokenizer(kDecoderVocabulary - 1);
  inference::Generator generator(engine, tokenizer, settings);
  const inference::TokenIds system = {7,  14, 21, 28, 35, 42, 49, 56, 2,  9,
                                      16, 23, 30, 37, 44, 51, 58, 4,  11, 18};
  const auto with_question = [&](TokenId question, double temperature) {
    inference::GenerationRequest request{.prompt = system, .max_tokens = 8, .log_probs = 1};
    request.prompt.insert(request.prompt.end(), 5, question);
    request.sampling = {.temperature = temperature, .seed = 11};
    return request;
  };
  SharedAnswers all;
  const auto run = [&](std::vector<inference::GenerationRequest> requests) {
    for (inference::Answer& answer : generator.run(std::move(requests))) {
      all.cached += answer.cached_tokens;
      all.answers.push_back(std::move(answer));
    }
  };
  for (Index i = 0; i < count; ++i) {
    const auto more = static_cast<TokenId>(10 * i);
    run({with_question(1 + more, 0), with_question(2 + more, 1)});
    run({with_question(3 + more, 1), with_question(4 + more, 0)});
    inference::GenerationRequest turn = with_question(4 + more, 0), sample = with_question(2, 1);
    const inference::TokenIds& answer = all.answers.back().tokens;
    turn.prompt.insert(turn.prompt.end(), answer.begin(), answer.end());
    turn.prompt.insert(turn.prompt.end(), 4, 5);
    std::vector<inference::GenerationRequest> last = {turn};
    for (std::uint32_t choice = 0; choice < 3; ++choice) {
      sample.sampling.choice = choice;
      last.push_back(sample);
    }
    run(std::move(last));
  }
  all.preemptions = generator.sum(&inference::Scheduler::preemptions);
  return all;
}

}  // namespace mpitron::test
