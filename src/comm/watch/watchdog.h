#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include <sys/types.h>

#include "comm/watch/flight_recorder.h"
#include "comm/watch/flight_service.h"
#include "utils/trace.h"

namespace mpitron::comm {

/// Facts that a rank can see of another one of its node.
struct Neighbour {
  Index rank;
  pid_t process;
  const FlightRing* ring;
};

/// Work that a program still does when the watchdog ends it: a server tells those who wait for
/// answers.
class FailureHandler {
 public:
  /// `handle` gets the sentence, on any thread; it has to return soon. Empty: nothing is done.
  void set(std::function<void(const std::string&)> handle) {
    const std::lock_guard lock(mutex_);
    handle_ = std::move(handle);
  }
  /// Calls what was set, once.
  void call(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    if (handle_) {
      std::exchange(handle_, {})(sentence);
    }
  }

 private:
  std::mutex mutex_;
  std::function<void(const std::string&)> handle_;
};

/// Ends the job with one sentence (on stderr, once a node, exit code 3) that names the rank, its
/// machine, its last operation and phase, where a rank
/// - of this node dies: noticed by a thread within milliseconds,
/// - does not arrive within the timeout, or has ended already: noticed by who waits for it,
/// - calls another operation than the rest of the group.
/// Nothing is unwound: other threads or other ranks could hang for ever. The launcher then ends the
/// ranks of all nodes, stopped ones too.
class Watchdog final : public Witness {
 public:
  struct Setting {
    Index rank = 0;
    std::vector<Neighbour> neighbours;                       // without this rank
    std::function<std::string(Index)> host;                  // of a rank
    std::shared_ptr<const FlightService> service = nullptr;  // where other machines ask
    /// What another machine's service says of a rank of its; empty: it does not answer.
    std::function<std::string(Index)> ask = {};
    std::atomic<int>* failure_reporter = nullptr;  // of the node: who changes it may speak
    double timeout_seconds = 600;
    std::shared_ptr<FailureHandler> on_failure = nullptr;
    std::shared_ptr<Trace> trace = nullptr;  // gets every operation and every wait for one
  };
  Watchdog(FlightRing& own, Setting setting);
  /// Tells the neighbours that this rank ends on purpose, or fails and says itself why.
  ~Watchdog() override;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void set_phase(std::string_view phase) { recorder_.set_phase(phase); }

  void started(const Operation& operation, const Group& group, const Request& request) override;
  void ended(const Operation& operation) override;
  void waiting(const Operation& operation, double seconds) override;
  void disagreement(Index rank, const std::string& what) override;
  void stuck(const std::string& what, double seconds, const std::string& error) override;

 private:
  struct Kept {
    FlightRecord* record;
    std::uint64_t number;
    std::int64_t waited_since = 0;  // 0: nobody has waited for it
  };

  void add_to_trace(const Kept& kept) const;
  void watch();
  void report_exit_of(const Neighbour& neighbour);
  const Neighbour* find(Index rank) const;
  /// Returns who of this node has not started an operation for the longest; null where nobody has.
  const Neighbour* longest_silent() const;
  /// Formats "rank 3 (host, process 123)" and what is known of it.
  std::string name_of_rank(Index rank) const;
  std::string known_of(Index rank) const;
  /// Returns what this machine knows; empty for ranks of others.
  std::string known_here(Index rank) const;
  [[noreturn]] void end_job(const std::string& sentence) const;

  FlightRecorder recorder_;
  const Setting setting_;
  std::unordered_map<const Operation*, Kept> under_way_;
  int stop_ = -1;  // an eventfd
  std::thread thread_;
};

}  // namespace mpitron::comm
