#pragma once
#include <chrono>
#include <functional>
#include <map>

#include "config/vision_config.h"
#include "inference/sampling/log_probs.h"
#include "inference/sampling/token_sampler.h"
#include "inference/scheduling/scheduler.h"
#include "inference/text/text_stream.h"

namespace mpitron::inference {

/// Tiles of an image, [T, 3, edge, edge], as the model's encoder wants them.
using PromptImage = std::shared_ptr<const std::vector<float>>;

/// One answer that is asked for.
struct GenerationRequest {
  TokenIds prompt;                       // for every position of an image kImageToken
  std::vector<PromptImage> images = {};  // in the order of the prompt
  Index max_tokens = 16;                 // 0: the prompt is scored only
  SamplingRule sampling;
  StopTexts stop_texts;
  TokenIds stop_ids;          // end the answer; their text is not part of it
  bool show_stop_id = false;  // it is after all
  Index log_probs = -1;       // likeliest tokens listed beside each; -1: no values at all
  bool prompt_log_probs = false;
  MakeConstraint constraint = {};  // what the answer must be like
  std::string salt = {};           // shares cached prefixes with equal salts only
  AdapterHandle adapter = {};      // absent: the model alone
  std::uint64_t leader = 0;        // id of an answer to the same prompt, which computes it first
};

/// no_token: no token of the vocabulary may follow, and the answer may not end either.
enum class FinishReason { none, stop, length, no_token };

/// An answer, finished or on its way.
struct Answer {
  TokenIds tokens;  // a stop id included
  std::vector<TokenLogProbs> log_probs;
  std::vector<TokenLogProbs> prompt_log_probs;  // of tokens 1 .. n-1
  std::string text;
  std::size_t settled = 0;           // bytes of the text that a stream may send
  std::vector<std::size_t> offsets;  // bytes of the text before each token
  FinishReason finish = FinishReason::none;
  std::string stop_text;                        // the text that ended it
  TokenId stop_id = -1;                         // the id that ended it
  Index cached_tokens = 0;                      // of the prompt, found in the cache
  std::chrono::steady_clock::time_point begun;  // when its first step was planned
};

/// Called on the thread of step() after each step that brought tokens of an answer, and when it is
/// finished. A step may bring several tokens (drafts that were right).
using AnswerListener = std::function<void(const Answer&)>;

/// Continuous batching: requests come and go between steps, each answer is what it would be alone.
/// One thread calls all of it.
class Generator {
 public:
  Generator(Engine& engine, const tokenizers::Tokenizer& tokenizer, SchedulerSettings settings);
  ~Generator();

  /// The request's id. Error(usage) where it can never fit, its prompt is empty or has places for
  /// other images.
  std::uint64_t submit(GenerationRequest request, AnswerListener listener);
  /// Ends an answer as it is; the listener is not called again. False where it has ended already.
  bool cancel(std::uint64_t id);
  /// One step of the engine; false where nothing was left to do.
  bool step();
  /// All answers to some requests, in their order.
  std::vector<Answer> run(std::vector<GenerationRequest> requests);

  /// Returns the scheduler of a replica of the engine.
  const Scheduler& scheduler(Index replica = 0) const { return *schedulers_[at(replica)]; }
  Index replicas() const { return static_cast<Index>(schedulers_.size()); }
  /// The sum over all replicas of what a scheduler counts.
  Index sum(Index (Scheduler::*count)() const) const;
  Index generated_tokens() const { return generated_; }
  Index prompt_tokens() const { return prompts_; }

 private:
  struct Entry;
  void check_prompt(const GenerationRequest& request) const;
  std::vector<SeenImageHandle> place_images(GenerationRequest& request);
  static std::size_t at(Index replica) { return static_cast<std::size_t>(replica); }
  Index choose_replica(const Sequence& sequence);
  bool start_engine();
  bool run_engine();
  void take_part(const Scheduler::Part& part, std::span<const float> rows);
  void fork_followers(Entry& leader, std::span<const float> row);
  void score(Entry& entry, Index position, std::span<const float> row);
  TokenId take_token(Entry& entry, std::span<const float> row);
  void tell(Entry& entry);
  static void note_begin(Entry& entry, std::chrono::steady_clock::time_point step);

  Engine& engine_;
  const tokenizers::Tokenizer& tokenizer_;
  TokenSampler sampler_;
  LogProbs log_probs_;
  std::vector<std::unique_ptr<Scheduler>> schedulers_;  // by replica
  std::vector<const StepPlan*> plans_;
  std::uint64_t next_id_ = 1;
  Index generated_ = 0;
  Index prompts_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Entry>> entries_;
};

}  // namespace mpitron::inference
