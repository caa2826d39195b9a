#include "comm/groups/work.h"

#include <chrono>

#include <sched.h>

// How operations move on without a thread of their own: whoever waits for one, or tests it, steps
// all that are under way on this rank. A wait polls first, then yields its core, and tells the
// watchdog of itself so that a hang is explained.

namespace mpitron::comm {
namespace {

thread_local double waited = 0;  // a rank may be a thread

}  // namespace

/// The witness hears of it before it can end, so that its records are whole.
Work ProgressEngine::start(std::shared_ptr<Operation> operation, const Group& group,
                           const Request& request) {
  if (witness_ != nullptr) {
    witness_->started(*operation, group, request);
  }
  under_way_.push_back(operation);
  Work work(std::move(operation), shared_from_this());
  work.test();
  return work;
}

/// Steps all operations that are under way: one waits for another only through their members.
void ProgressEngine::progress() {
  std::erase_if(under_way_, [this](const std::shared_ptr<Operation>& operation) {
    operation->ended_ = operation->step();
    if (operation->ended_ && witness_ != nullptr) {
      witness_->ended(*operation);
    }
    return operation->ended_;
  });
}

bool Work::test() {
  if (operation_ != nullptr && !operation_->ended()) {
    engine_->progress();
  }
  return operation_ == nullptr || operation_->ended();
}

/// Keeps all others moving while it waits, since a partner may be waiting for one of them.
void Work::wait() {
  if (operation_ != nullptr && !operation_->ended() && operation_->wait_on_device()) {
    return;
  }
  // Members may share a core (more ranks than cores): whoever waits long gives it away.
  constexpr int kPolls = 64;
  constexpr int kPollsBetweenReports = 1024;
  using Clock = std::chrono::steady_clock;
  Clock::time_point start;
  const auto waited = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  int polls = 0;
  for (; !test(); ++polls) {
    if (polls == 0 && engine_->witness() != nullptr) {
      engine_->witness()->waiting(*operation_, 0);
    }
    if (polls == kPolls) {
      start = Clock::now();
    }
    if (polls > kPolls) {
      ::sched_yield();
    }
    if (polls > kPolls && polls % kPollsBetweenReports == 0 && engine_->witness() != nullptr) {
      engine_->witness()->waiting(*operation_, waited());
    }
  }
  if (polls > kPolls) {
    add_waited_seconds(waited());
  }
}

double waited_seconds() {
  return waited;
}

void add_waited_seconds(double seconds) {
  waited += seconds;
}

}  // namespace mpitron::comm
