#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "inference/protocol/metrics.h"
#include "inference/scheduling/generator.h"

namespace mpitron::inference {

/// A client's request and who hears of its answers. Calls come on the service's thread, but for the
/// one that give_up() makes.
struct AnswerGroup {
  std::vector<GenerationRequest> requests;  // `leader`: 0 or the number of a request before, from 1
  std::function<void(std::size_t, const Answer&)> answered;  // after each token
  /// With a status of HTTP: the engine or the request failed (500), or the server ends (503). The
  /// last call.
  std::function<void(int, const std::string&)> failed;
};

/// Counters for /metrics. Counts run from the start of the service, in tokens, groups (requests) or
/// cache blocks; `running`, `waiting`, `blocks_free` and kept states, in the memory of the first
/// rank, are of this moment.
struct ServiceStats {
  Index running = 0, waiting = 0, preemptions = 0;
  Index prompt_tokens = 0, generated_tokens = 0, cached_tokens = 0;
  Index finished_groups = 0, cancelled_groups = 0;
  Index blocks = 0, blocks_free = 0;
  Index kept_states = 0, kept_state_bytes = 0, kept_state_uses = 0;
  Latencies latencies;
};

/// Whose thread runs the steps of a service. Kernels of the host use all processors on the thread
/// that started device::HostRuntime alone, and one on any other.
enum class StepsOn { own_thread, caller };

/// Runs a generator on one thread, for any number of clients' threads.
class GenerationService {
 public:
  GenerationService(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                    SchedulerSettings settings, StepsOn thread = StepsOn::own_thread);
  /// Stops at once; open groups hear nothing more. A caller's run_steps() must have returned.
  ~GenerationService();

  /// Answers on the calling thread until stop(), for StepsOn::caller.
  void run_steps();
  /// Ends the steps behind the one that runs; any thread may call.
  void stop();

  /// Queues a group and returns its number (from 1), by which it can be cancelled. A request that
  /// the engine refuses is told by `failed`.
  std::uint64_t submit(AnswerGroup group);
  /// Calls `work` between two steps on the thread of the engine, where weights may be changed;
  /// `work` throws nothing.
  void run(std::function<void()> work);
  /// Gives a group's blocks back; it hears nothing more, but for a call that is under way.
  void cancel(std::uint64_t group);

  /// Tells all open groups that the server ends; from any thread, also while the own one is stuck
  /// in a step. Nobody hears anything more.
  void give_up(const std::string& message);

  Index open_groups() const { return open_.load(); }
  ServiceStats stats() const;

 private:
  struct Group;
  using Clock = std::chrono::steady_clock;
  void take_commands(bool wait);
  void start(std::uint64_t id, AnswerGroup group, Clock::time_point submitted);
  void answered(Group& group, std::size_t number, const Answer& answer);
  void fail_all(const std::string& message);
  void forget(std::uint64_t id);
  void publish();

  Engine& engine_;
  Generator generator_;
  Index blocks_;
  std::map<std::uint64_t, std::shared_ptr<Group>> groups_;  // changed by the thread alone
  std::mutex groups_mutex_;                                 // held for that, and by who gives up
  std::atomic<bool> given_up_ = false;
  ServiceStats own_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::function<void()>> commands_;
  ServiceStats published_;
  std::uint64_t next_group_ = 1;
  bool stopping_ = false;
  std::atomic<Index> open_ = 0;
  std::thread thread_;
};

}  // namespace mpitron::inference
