// Runs queued work for whoever waits. A thread runs the queue that it waits for as far as it goes,
// then others' (a rank's collective needs all ranks' streams), and ends the process when for long
// nothing has run in it.
#include "emulator/device/queue.h"

#include <chrono>
#include <sstream>
#include <thread>

#include "emulator/device/device_memory.h"
#include "emulator/device/failure.h"

namespace mpitron::emulator {
namespace {

/// Queues of the process, for whoever waits for something that others must do first.
struct Queues {
  std::mutex mutex;
  std::vector<std::weak_ptr<Queue>> all;
  std::atomic<std::uint64_t> tasks_run{0};

  std::vector<std::shared_ptr<Queue>> alive() {
    const std::lock_guard lock(mutex);
    std::erase_if(all, [](const auto& queue) { return queue.expired(); });
    std::vector<std::shared_ptr<Queue>> result;
    for (const auto& queue : all) {
      if (auto living = queue.lock()) {
        result.push_back(std::move(living));
      }
    }
    return result;
  }
};
Queues& queues() {
  static Queues& only = *new Queues;
  return only;
}

/// Ends the process with the next task of each stream: a cycle of events, or a collective that some
/// rank never calls.
[[noreturn]] void fail_stuck() {
  std::ostringstream text;
  text << "nothing that was queued can run any more. Next in each stream:";
  for (const auto& queue : queues().alive()) {
    if (*queue->next() != '\0') {
      text << "\n  " << queue->next();
    }
  }
  fail(text.str());
}

}  // namespace

std::uint64_t Queue::push(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  return ++pushed_;
}

const char* Queue::next() const {
  const std::lock_guard lock(mutex_);
  return tasks_.empty() ? "" : tasks_.front().what;
}

bool Queue::run_one() {
  Task* task = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) {
      return false;
    }
    task = &tasks_.front();
  }
  if (!task->attempt()) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  tasks_.pop_front();
  ++done_;
  ++queues().tasks_run;
  return true;
}

bool Queue::advance(std::uint64_t position) {
  if (done(position) || busy_.exchange(true)) {
    return false;
  }
  const OpenDeviceMemory open;
  bool ran = false;
  while (!done(position) && run_one()) {
    ran = true;
  }
  busy_ = false;
  return ran;
}

void wait_for(const std::shared_ptr<Queue>& queue, std::uint64_t position) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPatience = std::chrono::seconds(60);
  std::uint64_t seen = queues().tasks_run;
  auto since = Clock::now();
  while (!queue->done(position)) {
    bool ran = queue->advance(position);
    if (!ran && !queue->done(position)) {
      for (const auto& other : queues().alive()) {
        ran = other->advance(other->end()) || ran;
      }
    }
    if (ran || seen != queues().tasks_run) {
      seen = queues().tasks_run;
      since = Clock::now();
    } else if (Clock::now() - since > kPatience) {
      fail_stuck();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

void wait_for_everything() {
  for (const auto& queue : queues().alive()) {
    wait_for(queue, queue->end());
  }
}

Task waiting_for(std::shared_ptr<Queue> queue, std::uint64_t position) {
  return {"wait for an event", [queue = std::move(queue), position] {
            queue->advance(position);
            return queue->done(position);
          }};
}

std::shared_ptr<Queue> make_queue() {
  auto queue = std::make_shared<Queue>();
  const std::lock_guard lock(queues().mutex);
  queues().all.push_back(queue);
  return queue;
}

}  // namespace mpitron::emulator
