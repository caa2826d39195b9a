#include "inference/protocol/generation_service.h"

// One thread owns engine and generator; clients' threads leave commands in a queue. So nothing of
// the computation is locked, and every listener is called on that one thread.

namespace mpitron::inference {

struct GenerationService::Group {
  AnswerGroup calls;
  std::vector<std::uint64_t> ids;
  std::size_t unfinished = 0;
  Clock::time_point submitted;
  std::vector<Clock::time_point> told = {};  // when an answer's last news came
};

GenerationService::GenerationService(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                     SchedulerSettings settings, StepsOn thread)
    : engine_(engine),
      generator_(engine, tokenizer, settings),
      blocks_(engine.shape().blocks * engine.replicas()) {
  publish();
  if (thread == StepsOn::own_thread) {
    thread_ = std::thread([this] { run_steps(); });
  }
}

GenerationService::~GenerationService() {
  stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void GenerationService::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

std::uint64_t GenerationService::submit(AnswerGroup group) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = next_group_++;
  ++open_;
  auto shared = std::make_shared<AnswerGroup>(std::move(group));
  commands_.push_back(
      [this, id, shared, submitted = Clock::now()] { start(id, std::move(*shared), submitted); });
  wake_.notify_all();
  return id;
}

void GenerationService::run(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  ++open_;  // the server does not end before
  commands_.push_back([this, work = std::move(work)] {
    work();
    --open_;
  });
  wake_.notify_all();
}

void GenerationService::cancel(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  commands_.push_back([this, id] {
    const auto found = groups_.find(id);
    if (found == groups_.end()) {
      return;
    }
    for (const std::uint64_t each : found->second->ids) {
      generator_.cancel(each);
    }
    forget(id);
    ++own_.cancelled_groups;
  });
  wake_.notify_all();
}

ServiceStats GenerationService::stats() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

void GenerationService::start(std::uint64_t id, AnswerGroup calls, Clock::time_point submitted) {
  auto group = std::make_shared<Group>();
  group->calls = std::move(calls);
  group->unfinished = group->calls.requests.size();
  group->submitted = submitted;
  group->told.resize(group->unfinished, submitted);
  try {
    for (std::size_t i = 0; i < group->calls.requests.size(); ++i) {
      GenerationRequest request = group->calls.requests[i];
      // A leader is named by its place in the group, and becomes the number that the generator gave
      // it.
      request.leader = request.leader > 0 ? group->ids.at(request.leader - 1) : 0;
      group->ids.push_back(
          generator_.submit(std::move(request), [this, id, i, group](const Answer& answer) {
            answered(*group, i, answer);
            if (group->unfinished == 0) {
              forget(id);
              ++own_.finished_groups;
            }
          }));
    }
    const std::lock_guard lock(groups_mutex_);
    groups_.emplace(id, group);
  } catch (const std::exception& error) {
    // A group is answered whole or not at all: what was submitted before the failure is taken back.
    for (const std::uint64_t each : group->ids) {
      generator_.cancel(each);
    }
    --open_;
    group->calls.failed(500, error.what());
  }
}

/// Counts the news of an answer and passes them on.
void GenerationService::answered(Group& group, std::size_t number, const Answer& answer) {
  const Clock::time_point now = Clock::now();
  Clock::time_point& last = group.told[number];
  Latencies& took = own_.latencies;
  // An answer's first news ends its wait in the queue and the time to its first token.
  if (last == group.submitted) {
    took.queue.add(answer.begun - group.submitted);
    took.first_token.add(now - group.submitted);
  } else {
    took.between_tokens.add(now - last);
  }
  last = now;
  if (answer.finish != FinishReason::none) {
    --group.unfinished;
    took.whole.add(now - group.submitted);
  }
  if (!given_up_) {
    group.calls.answered(number, answer);
  }
}

/// Tells every open group that the engine failed, and frees what they held. The engine itself stays
/// usable for the groups that come next.
void GenerationService::fail_all(const std::string& message) {
  while (!groups_.empty()) {
    const auto [id, group] = *groups_.begin();
    for (const std::uint64_t each : group->ids) {
      generator_.cancel(each);
    }
    forget(id);
    group->calls.failed(500, message);
  }
}

void GenerationService::forget(std::uint64_t id) {
  const std::lock_guard lock(groups_mutex_);
  groups_.erase(id);
  --open_;
}

void GenerationService::give_up(const std::string& message) {
  given_up_ = true;
  const std::lock_guard lock(groups_mutex_);
  for (const auto& [id, group] : groups_) {
    group->calls.failed(503, message);
  }
}

void GenerationService::take_commands(bool wait) {
  std::vector<std::function<void()>> commands;
  {
    // While nothing is to be done, the engine is told once a second, so that its other ranks do not
    // time out.
    std::unique_lock lock(mutex_);
    while (wait && !wake_.wait_for(lock, std::chrono::seconds(1),
                                   [this] { return stopping_ || !commands_.empty(); })) {
      engine_.idle();
    }
    commands.swap(commands_);
  }
  for (const auto& command : commands) {
    command();
  }
}

/// Copies the counters for those who ask on other threads.
void GenerationService::publish() {
  own_.running = generator_.sum(&Scheduler::running);
  own_.waiting = generator_.sum(&Scheduler::waiting);
  own_.preemptions = generator_.sum(&Scheduler::preemptions);
  own_.cached_tokens = generator_.sum(&Scheduler::cached_tokens);
  own_.prompt_tokens = generator_.prompt_tokens();
  own_.generated_tokens = generator_.generated_tokens();
  own_.blocks = blocks_;
  own_.blocks_free = generator_.sum(&Scheduler::blocks_free);
  own_.kept_states = generator_.sum(&Scheduler::kept_states);
  own_.kept_state_bytes = own_.kept_states * engine_.state_bytes();
  own_.kept_state_uses = generator_.sum(&Scheduler::kept_state_uses);
  const std::lock_guard lock(mutex_);
  published_ = own_;
}

/// Takes commands and runs steps by turns; sleeps where there is nothing to do.
void GenerationService::run_steps() {
  bool worked = false;
  for (;;) {
    take_commands(!worked);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) {
        return;
      }
    }
    try {
      worked = generator_.step();
    } catch (const std::exception& error) {
      fail_all(error.what());
      worked = false;
    }
    publish();
  }
}

}  // namespace mpitron::inference
