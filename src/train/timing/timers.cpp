// Times parts of a step as the reference's timers do, with its names and lines. Ranks gather every
// timer's time, those that did not run it as 0, so that all take part in one collective.
#include "train/timing/timers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "comm/groups/work.h"

namespace mpitron::train {
namespace {

std::string dotted(const std::string& name) {
  return fmt::format("{:.<48}", name + ' ');
}

}  // namespace

void NamedTimer::start() {
  MPITRON_CHECK(!running_, "the timer is running already");
  if (settle_) {
    settle_();
  }
  started_ = Clock::now();
  running_ = true;
}

void NamedTimer::stop() {
  MPITRON_CHECK(running_, "the timer was not started");
  if (settle_) {
    settle_();
  }
  total_ += Clock::now() - started_;
  running_ = false;
}

double NamedTimer::elapsed(bool reset) {
  const Clock::time_point now = Clock::now();
  if (running_) {
    total_ += now - started_;
    started_ = now;
  }
  const double seconds = std::chrono::duration<double>(total_).count();
  if (reset) {
    total_ = {};
  }
  return seconds;
}

Timers::Timers(Index log_level, config::TimingLogOption option, TimerGroup group)
    : log_level_(log_level), option_(option), group_(std::move(group)) {}

NamedTimer* Timers::make(std::string_view name, Index level) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) {
    MPITRON_CHECK(found->second->level == level, name, level, found->second->level);
    return &found->second->timer;
  }
  auto entry = std::make_unique<Entry>(group_.settle);
  entry->level = level;
  names_.emplace_back(name);
  return &entries_.emplace(std::string(name), std::move(entry)).first->second->timer;
}

std::vector<float> Timers::gather(std::span<const std::string> names, double normalizer,
                                  bool reset) {
  std::vector<float> own;
  for (const std::string& name : names) {
    const auto found = entries_.find(name);
    const double seconds = found == entries_.end() ? 0.0 : found->second->timer.elapsed(reset);
    own.push_back(static_cast<float>(seconds * 1000.0 / normalizer));
  }
  std::vector<float> all = group_.gather(own);
  MPITRON_CHECK(all.size() == names.size() * static_cast<std::size_t>(group_.world_size),
                all.size(), names.size(), group_.world_size);
  return all;
}

std::string Timers::ranges(std::span<const std::string> names, std::span<const float> times) const {
  std::string lines;
  for (std::size_t i = 0; i < names.size(); ++i) {
    float least = 0;
    float most = 0;
    for (std::size_t at = i; at < times.size(); at += names.size()) {
      // A rank that never ran this timer says 0 and does not count.
      least = least == 0 || (times[at] > 0 && times[at] < least) ? times[at] : least;
      most = std::max(most, times[at]);
    }
    if (most == 0) {
      continue;
    }
    lines += option_ == config::TimingLogOption::max
                 ? fmt::format("\n    {}: {:.2f}", dotted(names[i]), most)
                 : fmt::format("\n    {}: ({:.2f}, {:.2f})", dotted(names[i]), least, most);
  }
  return lines;
}

std::string Timers::table(std::span<const std::string> names, std::span<const float> times) const {
  std::string lines;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string ranks;
    for (std::size_t at = i; at < times.size(); at += names.size()) {
      if (times[at] > 0) {
        ranks += fmt::format("\n     rank {:2d}: {:.2f}", at / names.size(), times[at]);
      }
    }
    if (!ranks.empty()) {
      lines += "\n  " + names[i] + ':' + ranks;
    }
  }
  return lines;
}

std::vector<std::pair<std::string, double>> Timers::longest(std::span<const std::string> names,
                                                            double normalizer) {
  const std::vector<float> times = gather(names, normalizer, false);
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    float most = 0;
    for (std::size_t at = i; at < times.size(); at += names.size()) {
      most = std::max(most, times[at]);
    }
    if (most > 0) {
      result.emplace_back(names[i], most / 1000.0);
    }
  }
  return result;
}

std::optional<std::string> Timers::report(std::span<const std::string> names, double normalizer) {
  const std::vector<float> times = gather(names, normalizer, true);
  const bool all = option_ == config::TimingLogOption::all;
  const std::string lines = all ? table(names, times) : ranges(names, times);
  if (lines.empty()) {
    return std::nullopt;
  }
  if (all) {
    return "times across ranks (ms):" + lines;
  }
  return (option_ == config::TimingLogOption::max ? "max time across ranks (ms):"
                                                  : "(min, max) time across ranks (ms):") +
         lines;
}

void StepClock::start() {
  timer_.start();
  mark_ = comm::waited_seconds();
}

void StepClock::stop() {
  timer_.stop();
  waited_ += comm::waited_seconds() - mark_;
}

StepTime StepClock::elapsed() {
  const double seconds = timer_.elapsed();
  if (timer_.running()) {
    const double now = comm::waited_seconds();
    waited_ += now - std::exchange(mark_, now);
  }
  return {.seconds = seconds, .waited = std::exchange(waited_, 0.0)};
}

}  // namespace mpitron::train
