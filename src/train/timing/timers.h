#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/logging_config.h"
#include "utils/check.h"
#include "utils/numbers/shape.h"
#include "utils/trace.h"

namespace mpitron::train {

/// A named stopwatch that can be started and stopped many times.
class NamedTimer {
 public:
  /// `settle`: called before the time is taken.
  explicit NamedTimer(std::function<void()> settle = nullptr) : settle_(std::move(settle)) {}
  void start();
  void stop();
  bool running() const { return running_; }
  /// Seconds since the last reset; a running timer goes on.
  double elapsed(bool reset = true);

 private:
  using Clock = std::chrono::steady_clock;
  std::function<void()> settle_;
  Clock::time_point started_{};
  Clock::duration total_{};
  bool running_ = false;
};

/// Runs a timer for one scope and records it in a trace; without either it does nothing.
class TimerScope {
 public:
  explicit TimerScope(NamedTimer* timer, Trace* trace = nullptr, const TraceSpan& span = {})
      : timer_(timer), trace_(trace, span) {
    if (timer_ != nullptr) {
      timer_->start();
    }
  }
  ~TimerScope() {
    if (timer_ != nullptr) {
      timer_->stop();
    }
  }
  TimerScope(const TimerScope&) = delete;
  TimerScope& operator=(const TimerScope&) = delete;

 private:
  NamedTimer* timer_;
  TraceScope trace_;
};

/// Collectives that timers need of the other ranks; a group of one needs neither.
struct TimerGroup {
  /// All ranks' values, [rank][name] flattened; every rank passes the same number of values.
  std::function<std::vector<float>(std::span<const float>)> gather =
      [](std::span<const float> own) { return std::vector<float>(own.begin(), own.end()); };
  Index world_size = 1;
  /// Called before a timer of level 1 starts, so that waiting is not counted as work; empty with
  /// --no-barrier-with-level-1-timing.
  std::function<void()> barrier = nullptr;
  /// Waits until the device has done what was queued, where a launch returns before; else empty.
  std::function<void()> settle = nullptr;
};

/// Named timers of levels 0 (whole phases), 1 (parts of a step) and 2 (fine); those above
/// --timing-log-level cost a comparison. Names and lines as in the reference.
class Timers {
 public:
  Timers(Index log_level, config::TimingLogOption option, TimerGroup group = {});

  /// Makes every scope a span as well, from now on, whatever its level.
  void set_trace(Trace* trace) { trace_ = trace; }
  Trace* trace() const { return trace_; }

  /// Times a scope: `const TimerScope scope = timers.scope("optimizer", 1);`. `span`: what the
  /// trace says besides the name.
  TimerScope scope(std::string_view name, Index level, TraceSpan span = {}) {
    NamedTimer* timer = find(name, level);
    if (timer != nullptr && level == 1 && group_.barrier) {
      group_.barrier();
    }
    if (trace_ != nullptr && trace_->recording()) [[unlikely]] {
      span.name = trace_name(name);
    }
    return TimerScope(timer, trace_, span);
  }
  /// Returns the timer, for start and stop far apart; null where its level is off.
  NamedTimer* find(std::string_view name, Index level) {
    return level > log_level_ ? nullptr : make(name, level);
  }
  /// Formats milliseconds of the named timers divided by `normalizer` over all ranks, in lines;
  /// none where nothing was timed. Collective over the group; resets the timers it reports.
  std::optional<std::string> report(std::span<const std::string> names, double normalizer = 1.0);
  /// Returns seconds of the named timers divided by `normalizer`, of the rank that took longest;
  /// those that nobody ran are left out. Collective over the group; resets nothing.
  std::vector<std::pair<std::string, double>> longest(std::span<const std::string> names,
                                                      double normalizer = 1.0);
  /// Gathers values of all ranks, [rank][value]. Collective over the group.
  std::vector<float> of_all_ranks(std::span<const float> own) const { return group_.gather(own); }
  /// Lists all timers made so far, in order of creation.
  const std::vector<std::string>& names() const { return names_; }

 private:
  NamedTimer* make(std::string_view name, Index level);
  /// Gathers milliseconds of all ranks, [rank][name].
  std::vector<float> gather(std::span<const std::string> names, double normalizer, bool reset);
  std::string ranges(std::span<const std::string> names, std::span<const float> times) const;
  std::string table(std::span<const std::string> names, std::span<const float> times) const;

  struct Entry {
    explicit Entry(std::function<void()> settle) : timer(std::move(settle)) {}
    NamedTimer timer;
    Index level = 0;
  };
  Index log_level_;
  config::TimingLogOption option_;
  TimerGroup group_;
  Trace* trace_ = nullptr;
  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;
  std::vector<std::string> names_;
};

/// Time of this rank: all of it, and the part that was spent waiting for other ranks.
struct StepTime {
  double seconds = 0;
  double waited = 0;
  double busy() const { return seconds - waited; }
};

/// A stopwatch of training that tells waiting from work.
class StepClock {
 public:
  void start();
  void stop();
  /// Returns the time since the last call; a running clock goes on.
  StepTime elapsed();

 private:
  NamedTimer timer_;
  double waited_ = 0;  // of finished stretches
  double mark_ = 0;    // comm::waited_seconds() where the running one began
};

}  // namespace mpitron::train
