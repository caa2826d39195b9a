// Turns requests into answers: submits their sequences to the scheduler, draws a token from each
// row of logits, and tells listeners. Drafts are checked by drawing as if there had been none, so
// that they change speed and never a text.
#include "inference/scheduling/generator.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "autograd/cached_pass.h"
#include "utils/error.h"

namespace mpitron::inference {

namespace {

/// Removes the positions of images, which have no text.
TokenIds words_of(TokenIds prompt) {
  std::erase_if(prompt, [](TokenId id) { return id < 0; });
  return prompt;
}

}  // namespace

struct Generator::Entry : Sequence {
  std::uint64_t id = 0;
  Scheduler* scheduler = nullptr;
  GenerationRequest request;
  AnswerListener listener;
  TextStream text;
  Answer answer = {};
  std::unique_ptr<TokenConstraint> constraint = {};
  std::vector<SeenImageHandle> images = {};  // held while the prompt may be computed again

  /// `start`: the token before the answer where an encoder reads the prompt.
  Entry(std::uint64_t number, GenerationRequest asked, AnswerListener hears,
        const tokenizers::Tokenizer& tokenizer, std::optional<TokenId> start)
      : id(number),
        request(std::move(asked)),
        listener(std::move(hears)),
        text(tokenizer, words_of(request.prompt), request.stop_texts) {
    tokens = request.prompt;
    adapter = request.adapter.get();
    salt = fmt::format("{}:{}", adapter != nullptr ? adapter->number() : 0, request.salt);
    if (start) {
      encoder.tokens = std::exchange(tokens, {*start});
      request.prompt_log_probs = false;
      salt.append(reinterpret_cast<const char*>(encoder.tokens.data()),
                  encoder.tokens.size() * sizeof(TokenId));
    }
    prompt_size = static_cast<Index>(tokens.size());
    longest = prompt_size + std::max<Index>(request.max_tokens, 0);
    scores_prompt = request.prompt_log_probs;
    request.sampling.stop_ids = request.stop_ids;
    answer.tokens.reserve(static_cast<std::size_t>(longest - prompt_size));
    if (request.constraint) {
      constraint = request.constraint();
    }
  }

  /// Whether what `other` has computed and scored of its prompt is all that this one needs.
  bool same_prompt(const Entry& other) const {
    const bool has_scores =
        !scores_prompt || (other.scores_prompt && other.request.log_probs == request.log_probs);
    return has_scores && request.max_tokens > 0 && request.prompt == other.request.prompt &&
           salt == other.salt;
  }
  /// Returns the tokens from which the answer goes on.
  std::span<const TokenId> beginning() const {
    return std::span(tokens).first(static_cast<std::size_t>(prompt_size));
  }
  void finish(FinishReason reason) { answer.finish = reason; }
  bool finished() const { return answer.finish != FinishReason::none; }
};

Generator::Generator(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                     SchedulerSettings settings)
    : engine_(engine),
      tokenizer_(tokenizer),
      sampler_(engine.shape().vocabulary),
      log_probs_(engine.shape().vocabulary),
      plans_(at(engine.replicas())) {
  for (Index r = 0; r < engine.replicas(); ++r) {
    schedulers_.push_back(std::make_unique<Scheduler>(engine.shape(), settings, engine.depth()));
  }
}

Generator::~Generator() = default;

/// Chooses the replica where the least is to be done before the sequence's first token: tokens of
/// its own that no cache has, and half of what others still need.
Index Generator::choose_replica(const Sequence& sequence) {
  Index best = 0, least = std::numeric_limits<Index>::max();
  for (Index r = 0; replicas() > 1 && r < replicas(); ++r) {
    Scheduler& scheduler = *schedulers_[at(r)];
    const Index ahead =
        2 * (sequence.size() - scheduler.cached_beginning(sequence.tokens, sequence.salt)) +
        scheduler.tokens_ahead();
    if (ahead < least) {
      least = ahead;
      best = r;
    }
  }
  return best;
}

void Generator::check_prompt(const GenerationRequest& request) const {
  for (const TokenId id : request.prompt) {
    const bool of_image = id == config::kImageToken && !request.images.empty();
    if ((id < 0 && !of_image) || id >= engine_.shape().vocabulary) {
      throw_usage("the prompt has the id {}; ids are 0 to {}", id, engine_.shape().vocabulary - 1);
    }
  }
  if (request.prompt_log_probs && !request.images.empty()) {
    throw_usage("a prompt with images has no log-probabilities");
  }
}

/// The positions of each image get ids that stand for its rows.
std::vector<SeenImageHandle> Generator::place_images(GenerationRequest& request) {
  std::vector<SeenImageHandle> images;
  auto place = request.prompt.begin();
  for (const PromptImage& tiles : request.images) {
    images.push_back(engine_.see(*tiles));
    for (Index i = 0; i < images.back()->positions; ++i) {
      place = std::find(place, request.prompt.end(), config::kImageToken);
      if (place == request.prompt.end()) {
        throw_usage("the prompt has fewer positions than its {} images", request.images.size());
      }
      *place++ = images.back()->first - static_cast<TokenId>(i);
    }
  }
  if (std::find(place, request.prompt.end(), config::kImageToken) != request.prompt.end()) {
    throw_usage("the prompt has more positions than its {} images", request.images.size());
  }
  request.images.clear();
  return images;
}

std::uint64_t Generator::submit(GenerationRequest request, AnswerListener listener) {
  check_prompt(request);
  std::vector<SeenImageHandle> images = place_images(request);
  const std::uint64_t id = next_id_++;
  const auto leader = entries_.find(request.leader);
  std::optional<TokenId> start;
  if (engine_.shape().max_encoded > 0) {
    start = tokenizer_.special_ids().bos.value_or(tokenizer_.eod());
  }
  auto entry =
      std::make_unique<Entry>(id, std::move(request), std::move(listener), tokenizer_, start);
  entry->images = std::move(images);
  if (leader != entries_.end()) {
    entry->leader = leader->second.get();
    entry->scheduler = leader->second->scheduler;
  } else {
    entry->scheduler = schedulers_[at(choose_replica(*entry))].get();
  }
  entry->scheduler->add(*entry);
  prompts_ += entry->prompt_size;
  entries_.emplace(id, std::move(entry));
  return id;
}

bool Generator::cancel(std::uint64_t id) {
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) {
    return false;
  }
  entry->second->scheduler->remove(*entry->second);
  entries_.erase(entry);
  return true;
}

void Generator::score(Entry& entry, Index position, std::span<const float> row) {
  const auto next = static_cast<std::size_t>(position) + 1;
  if (next < entry.request.prompt.size()) {
    entry.answer.prompt_log_probs.push_back(log_probs_.of(
        row, entry.request.prompt[next], std::max<Index>(entry.request.log_probs, 0)));
  }
  entry.scored = position + 1;
}

/// The token behind prompt and answer, which it may end; -1 where none may follow.
TokenId Generator::take_token(Entry& entry, std::span<const float> row) {
  const GenerationRequest& request = entry.request;
  Answer& answer = entry.answer;
  TokenConstraint* const constraint = entry.constraint.get();
  const std::optional<TokenId> drawn =
      sampler_.sample(row, request.sampling, entry.beginning(), answer.tokens,
                      constraint != nullptr ? constraint->allowed() : TokenMask());
  if (!drawn) {
    entry.finish(FinishReason::no_token);
    return -1;
  }
  const TokenId id = *drawn;
  if (request.log_probs >= 0) {
    answer.log_probs.push_back(log_probs_.of(row, id, request.log_probs));
  }
  answer.tokens.push_back(id);
  ++generated_;
  const bool stops = std::ranges::find(request.stop_ids, id) != request.stop_ids.end();
  const bool stopped = entry.text.push(id, !stops || request.show_stop_id);
  if (constraint != nullptr && !stops) {
    constraint->take(id);
  }
  if (stops || stopped || (constraint != nullptr && constraint->complete())) {
    answer.stop_id = stops ? id : -1;
    entry.finish(FinishReason::stop);
  } else if (static_cast<Index>(answer.tokens.size()) >= request.max_tokens) {
    entry.finish(FinishReason::length);
  }
  return id;
}

/// Brings the answer's text up to date, of which only the end has changed, and calls the listener.
void Generator::tell(Entry& entry) {
  if (entry.finished()) {
    entry.text.finish();
    entry.scheduler->remove(entry);
  }
  Answer& answer = entry.answer;
  const std::string& text = entry.text.text();
  answer.text.resize(std::min(answer.text.size(), text.size()));
  answer.text.append(text, answer.text.size());
  const std::vector<std::size_t>& offsets = entry.text.offsets();
  answer.offsets.insert(answer.offsets.end(),
                        offsets.begin() + static_cast<std::ptrdiff_t>(answer.offsets.size()),
                        offsets.end());
  answer.settled = entry.text.settled();
  answer.stop_text = entry.text.stopped_by();
  if (entry.listener) {
    entry.listener(answer);
  }
  if (entry.finished()) {
    entries_.erase(entry.id);
  }
}

/// Answers to the same prompt go on from here: their first tokens come from the same row.
void Generator::fork_followers(Entry& leader, std::span<const float> row) {
  for (Sequence* each : leader.scheduler->followers(leader)) {
    auto& follower = static_cast<Entry&>(*each);
    if (!follower.same_prompt(leader) || !leader.scheduler->fork(leader, follower)) {
      follower.leader = nullptr;
      continue;
    }
    note_begin(follower, leader.answer.begun);
    if (follower.scores_prompt) {
      follower.answer.prompt_log_probs = leader.answer.prompt_log_probs;
      follower.scored = leader.scored;
    }
    if (const TokenId id = take_token(follower, row); id >= 0) {
      follower.tokens.push_back(id);
    }
    tell(follower);
  }
}

/// `rows` are the logits of the part's wanted tokens. Each token drawn that is the draft behind it
/// makes the next row one to draw from.
void Generator::take_part(const Scheduler::Part& part, std::span<const float> rows) {
  auto& entry = static_cast<Entry&>(*part.sequence);
  const auto columns = static_cast<std::size_t>(engine_.shape().padded_vocabulary);
  const bool scores = entry.scores_prompt && entry.scored < entry.prompt_size;
  const Index size = entry.size();
  entry.answer.cached_tokens = entry.cached;
  TokenId last = -1;
  Index drawn = 0;
  std::span<const float> first_row;
  for (Index position = part.first_position + part.logits_from; !rows.empty();
       ++position, rows = rows.subspan(columns)) {
    const std::span<const float> row = rows.first(columns);
    if (scores && position < entry.prompt_size) {
      score(entry, position, row);
    }
    if (position + 1 < size) {
      continue;
    }
    if (entry.request.max_tokens <= 0) {
      entry.finish(FinishReason::length);
      break;
    }
    first_row = first_row.empty() ? row : first_row;
    last = take_token(entry, row);
    if (entry.finished() || drawn == part.drafts ||
        entry.tokens[static_cast<std::size_t>(position) + 1] != last) {
      break;
    }
    ++drawn;
    last = -1;
  }
  entry.scheduler->computed(part, drawn);
  if (size == entry.prompt_size && !first_row.empty()) {
    fork_followers(entry, first_row);
  }
  if (last >= 0) {
    entry.tokens.push_back(last);
  }
  if (!first_row.empty() || entry.finished()) {
    tell(entry);
  }
}

/// Notes when an answer's first step was planned.
void Generator::note_begin(Entry& entry, std::chrono::steady_clock::time_point step) {
  if (entry.answer.begun == std::chrono::steady_clock::time_point()) {
    entry.answer.begun = step;
  }
}

/// Begins a step where somebody has work for it.
bool Generator::start_engine() {
  bool any = false;
  for (std::size_t r = 0; r < schedulers_.size(); ++r) {
    plans_[r] = &schedulers_[r]->plan();
    any = any || !plans_[r]->empty();
  }
  for (std::size_t r = 0; any && r < schedulers_.size(); ++r) {
    if (plans_[r]->empty()) {
      schedulers_[r]->sit_out();
    }
  }
  if (any) {
    engine_.start(plans_);
  }
  return any;
}

/// Whether a step has ended: as many are under way as the engine wants, or nobody has work for
/// another one.
bool Generator::run_engine() {
  try {
    const Scheduler& any = *schedulers_[0];
    if (any.under_way() < engine_.depth() && start_engine() && any.under_way() < engine_.depth()) {
      return false;
    }
    if (any.under_way() > 0) {
      engine_.finish();
    }
    return any.under_way() > 0;
  } catch (...) {
    for (const auto& scheduler : schedulers_) {
      scheduler->abandon();
    }
    throw;
  }
}

bool Generator::step() {
  const auto begun = std::chrono::steady_clock::now();
  if (!run_engine()) {
    return schedulers_[0]->under_way() > 0;
  }
  for (Index r = 0; r < replicas(); ++r) {
    std::span<const float> logits = engine_.logits(r);
    std::span<const TokenId> drafts = engine_.drafted(r);
    for (const Scheduler::Part& part : schedulers_[at(r)]->oldest()) {
      const auto values = static_cast<std::size_t>(part.rows() * engine_.shape().padded_vocabulary);
      const auto own_drafts = static_cast<std::size_t>(part.own_drafts);
      if (part.sequence != nullptr) {
        if (own_drafts > 0) {
          Scheduler::add_own_drafts(part, drafts.first(own_drafts));
        }
        note_begin(static_cast<Entry&>(*part.sequence), begun);
        take_part(part, logits.first(values));
      }
      logits = logits.subspan(values);
      drafts = drafts.subspan(own_drafts);
    }
    schedulers_[at(r)]->end_oldest();
  }
  return true;
}

Index Generator::sum(Index (Scheduler::*count)() const) const {
  Index sum = 0;
  for (const auto& scheduler : schedulers_) {
    sum += ((*scheduler).*count)();
  }
  return sum;
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
