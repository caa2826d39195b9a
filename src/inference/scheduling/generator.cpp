#include "inference/scheduling/generator.h"

#include <algorithm>

#include "utils/error.h"

namespace mpitron::inference {

struct Generator::Entry {
  std::uint64_t id;
  GenerationRequest request;
  AnswerListener listener;
  Sequence sequence;
  TextStream text;
  Answer answer;
  std::unique_ptr<TokenConstraint> constraint;

  std::span<const TokenId> prompt() const { return request.prompt; }
};

Generator::Generator(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                     SchedulerSettings settings)
    : engine_(engine),
      tokenizer_(tokenizer),
      scheduler_(engine.shape(), settings),
      sampler_(engine.shape().vocabulary) {}

Generator::~Generator() = default;

std::uint64_t Generator::submit(GenerationRequest request, AnswerListener listener) {
  for (const TokenId id : request.prompt) {
    if (id < 0 || id >= engine_.shape().vocabulary) {
      throw_usage("the prompt has the id {}; ids are 0 to {}", id, engine_.shape().vocabulary - 1);
    }
  }
  request.sampling.stop_ids = request.stop_ids;
  const std::uint64_t id = next_id_++;
  const auto leader = entries_.find(request.leader);
  Sequence sequence{
      .tokens = request.prompt,
      .prompt_size = static_cast<Index>(request.prompt.size()),
      .longest = static_cast<Index>(request.prompt.size()) + std::max<Index>(request.max_tokens, 0),
      .salt = request.salt,
      .scores_prompt = request.prompt_log_probs,
      .leader = leader != entries_.end() ? &leader->second->sequence : nullptr};
  TextStream text(tokenizer_, request.prompt, request.stop_texts);
  auto entry = std::make_unique<Entry>(Entry{
      id, std::move(request), std::move(listener), std::move(sequence), std::move(text), {}, {}});
  if (entry->request.constraint) {
    entry->constraint = entry->request.constraint();
  }
  scheduler_.add(entry->sequence);
  prompts_ += entry->sequence.prompt_size;
  entries_.emplace(id, std::move(entry));
  return id;
}

bool Generator::cancel(std::uint64_t id) {
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) {
    return false;
  }
  scheduler_.remove(entry->second->sequence);
  entries_.erase(entry);
  return true;
}

void Generator::finish(Entry& entry, FinishReason reason) {
  entry.text.finish();
  entry.answer.text = entry.text.text();
  entry.answer.settled = entry.text.settled();
  entry.answer.stop_text = entry.text.stopped_by();
  entry.answer.offsets = entry.text.offsets();
  entry.answer.finish = reason;
  scheduler_.remove(entry.sequence);
}

void Generator::score(Entry& entry, Index position, std::span<const float> row) {
  const auto next = static_cast<std::size_t>(position) + 1;
  if (next < entry.request.prompt.size()) {
    entry.answer.prompt_log_probs.push_back(log_probs(row, entry.request.prompt[next],
                                                      engine_.shape().vocabulary,
                                                      std::max<Index>(entry.request.log_probs, 0)));
  }
  entry.sequence.scored = position + 1;
}

void Generator::take_token(Entry& entry, std::span<const float> row) {
  const GenerationRequest& request = entry.request;
  Answer& answer = entry.answer;
  if (request.max_tokens <= 0) {
    finish(entry, FinishReason::length);
    return;
  }
  TokenConstraint* constraint = entry.constraint.get();
  const auto sampled = sampler_.sample(row, request.sampling, entry.prompt(), answer.tokens,
                                       constraint != nullptr ? constraint->allowed() : TokenMask());
  if (!sampled) {
    finish(entry, FinishReason::stop);
    return;
  }
  const TokenId id = *sampled;
  if (request.log_probs >= 0) {
    answer.log_probs.push_back(log_probs(row, id, engine_.shape().vocabulary, request.log_probs));
  }
  answer.tokens.push_back(id);
  entry.sequence.tokens.push_back(id);
  ++generated_;
  const bool stops = std::ranges::find(request.stop_ids, id) != request.stop_ids.end();
  const bool stopped = entry.text.push(id, !stops || request.show_stop_id);
  if (constraint != nullptr && !stops) {
    constraint->take(id);
  }
  if (stops || stopped || (constraint != nullptr && constraint->complete())) {
    answer.stop_id = stops ? id : -1;
    finish(entry, FinishReason::stop);
  } else if (static_cast<Index>(answer.tokens.size()) >= request.max_tokens) {
    finish(entry, FinishReason::length);
  } else {
    answer.text = entry.text.text();
    answer.settled = entry.text.settled();
    answer.offsets = entry.text.offsets();
  }
}

/// `rows` begin with the logits of the sequence's token `first_row`.
void Generator::take_rows(Entry& entry, std::span<const float> rows, Index first_row) {
  const auto columns = static_cast<std::size_t>(engine_.shape().padded_vocabulary);
  Sequence& sequence = entry.sequence;
  entry.answer.cached_tokens = sequence.cached;
  const bool scores = sequence.scores_prompt && sequence.scored < sequence.prompt_size;
  for (Index position = first_row; !rows.empty(); ++position, rows = rows.subspan(columns)) {
    const std::span<const float> row = rows.first(columns);
    if (scores) {
      score(entry, position, row);
    }
    if (position + 1 == sequence.size()) {
      take_token(entry, row);
      if (entry.listener) {
        entry.listener(entry.answer);
      }
      return;  // the answer has grown
    }
  }
}

bool Generator::step() {
  const std::vector<SequenceStep>& plan = scheduler_.plan();
  for (const Index slot : scheduler_.released_slots()) {
    engine_.release_slot(slot);
  }
  if (plan.empty()) {
    return false;
  }
  std::span<const float> logits = engine_.step(plan);
  struct Part {
    Sequence* sequence;
    std::span<const float> rows;
    Index first_row;
  };
  std::vector<Part> parts;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto values =
        static_cast<std::size_t>(plan[i].rows() * engine_.shape().padded_vocabulary);
    parts.push_back({scheduler_.planned()[i], logits.first(values),
                     plan[i].first_position + plan[i].logits_from});
    logits = logits.subspan(values);
  }
  scheduler_.finish_step();
  std::map<Sequence*, Entry*> owners;
  for (const auto& [id, entry] : entries_) {
    owners.emplace(&entry->sequence, entry.get());
  }
  for (const Part& part : parts) {
    take_rows(*owners.at(part.sequence), part.rows, part.first_row);
  }
  std::erase_if(entries_, [](const auto& entry) {
    return entry.second->answer.finish != FinishReason::none;
  });
  return true;
}

std::vector<Answer> Generator::run(std::vector<GenerationRequest> requests) {
  std::vector<Answer> answers(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    submit(std::move(requests[i]), [&answers, i](const Answer& answer) {
      if (answer.finish != FinishReason::none) {
        answers[i] = answer;
      }
    });
  }
  while (step()) {
  }
  return answers;
}

}  // namespace mpitron::inference
