#include "inference/protocol/served_beams.h"

#include "inference/scheduling/beam_requests.h"

// Beam search as a client of the service: after each step the open continuations are asked for as
// answers of one token, and the prefix cache makes that cost one token each.

namespace mpitron::inference {
namespace {

/// A search under way, which lives as long as a group of the service refers to it.
class ServedBeams : public std::enable_shared_from_this<ServedBeams> {
 public:
  ServedBeams(GenerationService& service, GenerationRequest request, const BeamRule& rule,
              BeamCalls calls)
      : service_(service),
        request_(std::move(request)),
        search_(request_.prompt, rule),
        calls_(std::move(calls)) {}

  /// Asks for the tokens behind all open continuations, unless nobody waits any more.
  void step() {
    AnswerGroup group{
        .requests = beam_requests(search_, request_), .answered = {}, .failed = calls_.failed};
    answers_.assign(group.requests.size(), {});
    unfinished_ = answers_.size();
    group.answered = [self = shared_from_this()](std::size_t i, const Answer& answer) {
      self->take(i, answer);
    };
    const std::lock_guard lock(mutex_);
    if (!left_) {
      group_ = service_.submit(std::move(group));
    }
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    service_.cancel(group_);
  }

 private:
  void take(std::size_t i, const Answer& answer) {
    answers_[i] = answer;
    if (answer.finish == FinishReason::none || --unfinished_ > 0) {
      return;
    }
    take_answers(search_, answers_);
    if (search_.open().empty()) {
      calls_.found(search_.best());
    } else {
      step();
    }
  }

  GenerationService& service_;
  GenerationRequest request_;
  BeamSearch search_;
  BeamCalls calls_;
  std::vector<Answer> answers_;
  std::size_t unfinished_ = 0;
  std::mutex mutex_;
  std::uint64_t group_ = 0;  // of the step under way
  bool left_ = false;
};

}  // namespace

std::function<void()> search_beams(GenerationService& service, GenerationRequest request,
                                   const BeamRule& rule, BeamCalls calls) {
  const auto beams =
      std::make_shared<ServedBeams>(service, std::move(request), rule, std::move(calls));
  beams->step();
  return [beams] { beams->leave(); };
}

}  // namespace mpitron::inference
