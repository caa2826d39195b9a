#include "comm/watch/watchdog.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/error.h"

// Why a job hangs, told by one sentence that names the rank that is the cause. A thread watches the
// processes of this node and sees a death at once; a rank that waits longer than the limit looks at
// who has not arrived. Ranks that wait for somebody who waits himself hold back for two seconds a
// step, so that the one nearest to the cause speaks first.

namespace mpitron::comm {
namespace {

/// Seconds by which the limit grows for each rank that may stand between the one that is missing
/// and the cause (Operation::distance), so that who is nearer to the cause speaks first; shorter
/// waits are not looked at.
constexpr double kGraceSeconds = 2;
/// Seconds given to a neighbour that speaks, or to the launcher, before this process ends by
/// itself.
constexpr unsigned kQuietSeconds = 10;
constexpr int kPidfdOpen = 434;  // SYS_pidfd_open, of all architectures

}  // namespace

Watchdog::Watchdog(FlightRing& own, Setting setting)
    : recorder_(own), setting_(std::move(setting)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] { watch(); });
}

/// Says how this rank ends before its neighbours see its process disappear.
Watchdog::~Watchdog() {
  const bool fails = std::uncaught_exceptions() > 0;
  recorder_.set_state(fails ? FlightRing::State::failed : FlightRing::State::ended);
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_, &one, sizeof(one)));
  thread_.join();
  ::close(stop_);
}

/// Notes the operation in the ring, before any other rank can see its effects.
void Watchdog::started(const Operation& operation, const Group& group, const Request& request) {
  FlightRecord& record = recorder_.start(group, request);
  under_way_[&operation] = {&record, record.number};
}

/// Adds the wait to its record, and the operation to the trace where one is kept.
void Watchdog::ended(const Operation& operation) {
  const auto at = under_way_.find(&operation);
  if (at != under_way_.end()) {
    const Kept& kept = at->second;
    if (kept.record->number == kept.number) {  // else a later operation has taken its place
      FlightRecorder::finish(*kept.record);
      add_to_trace(kept);
    }
    under_way_.erase(at);
  }
}

/// Called while a rank waits; where that lasts beyond the limit it looks for who is missing.
void Watchdog::waiting(const Operation& operation, double seconds) {
  if (seconds == 0) {  // a wait begins; it ends with the operation
    if (setting_.trace != nullptr && setting_.trace->recording()) {
      under_way_.at(&operation).waited_since = Trace::now();
    }
    return;
  }
  if (seconds < std::min(kGraceSeconds, setting_.timeout_seconds)) {
    return;
  }
  const auto at = under_way_.find(&operation);
  const std::string waits =
      fmt::format("rank {} waits for it in {} in phase '{}'", setting_.rank,
                  at == under_way_.end() ? "an operation" : describe(*at->second.record),
                  recorder_.ring().phase.get());
  // Whom this rank waits for may wait itself: then who is nearer to the cause speaks first.
  std::vector<Index> absent = operation.absent();
  const auto waits_itself = [this](Index rank) {
    const Neighbour* const neighbour = find(rank);
    return neighbour != nullptr && neighbour->ring->last() != nullptr &&
           neighbour->ring->last()->finished.load() == 0;
  };
  std::stable_partition(absent.begin(), absent.end(),
                        [&](Index rank) { return !waits_itself(rank); });
  const double limit = setting_.timeout_seconds +
                       kGraceSeconds * (operation.distance() +
                                        (!absent.empty() && waits_itself(absent.front()) ? 1 : 0));
  for (const Index rank : absent) {
    const Neighbour* const neighbour = find(rank);
    if (neighbour != nullptr && neighbour->ring->state.load() == FlightRing::State::ended) {
      end_job(fmt::format("{} has ended; {}; {}", name_of_rank(rank), waits, known_of(rank)));
    }
  }
  if (seconds >= limit && !absent.empty()) {
    const std::string others =
        absent.size() > 1 ? fmt::format(" (and {} more)", absent.size() - 1) : "";
    end_job(fmt::format("{}{} has not arrived within --distributed-timeout-minutes {:.4g}; {}; {}",
                        name_of_rank(absent.front()), others, setting_.timeout_seconds / 60, waits,
                        known_of(absent.front())));
  }
}

/// Polls the neighbours' processes, so that a death is known at once and not after the limit.
void Watchdog::watch() {
  std::vector<pollfd> watched = {{.fd = stop_, .events = POLLIN, .revents = 0}};
  for (const Neighbour& neighbour : setting_.neighbours) {
    // -1 (an old kernel, a forbidden call) is never ready: then the timeout has to do.
    watched.push_back({.fd = static_cast<int>(::syscall(kPidfdOpen, neighbour.process, 0)),
                       .events = POLLIN,
                       .revents = 0});
  }
  const std::size_t asked = watched.size();  // by other machines
  const auto& service = setting_.service;
  watched.push_back(
      {.fd = service != nullptr ? service->descriptor() : -1, .events = POLLIN, .revents = 0});
  while ((watched[0].revents & POLLIN) == 0) {
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      continue;
    }
    if (watched[asked].revents != 0) {
      service->answer([this](Index rank) { return known_here(rank); });
    }
    for (std::size_t i = 1; i < asked; ++i) {
      if (watched[i].revents != 0) {
        report_exit_of(setting_.neighbours[i - 1]);
        ::close(watched[i].fd);
        watched[i] = {.fd = -1, .events = 0, .revents = 0};
      }
    }
  }
  for (std::size_t i = 1; i < asked; ++i) {
    if (watched[i].fd >= 0) {
      ::close(watched[i].fd);
    }
  }
}

/// Reports a neighbour's end; a rank that ended in order or told its own failure needs no sentence
/// from here.
void Watchdog::report_exit_of(const Neighbour& neighbour) {
  switch (neighbour.ring->state.load()) {
    case FlightRing::State::ended:
      return;
    case FlightRing::State::failed:  // it has said why
      setting_.failure_reporter->store(1);
      break;
    case FlightRing::State::running:
      break;
  }
  end_job(fmt::format("{} has died (killed, or out of memory?); {}", name_of_rank(neighbour.rank),
                      known_of(neighbour.rank)));
}

/// Ends the job: the first of a node's ranks that gets here speaks, the others end without a word.
void Watchdog::end_job(const std::string& sentence) const {
  const bool reports = setting_.failure_reporter->exchange(1) == 0;
  if (reports) {
    const std::string line = fmt::format("mpitron: error: {}\n", sentence);
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  }
  if (setting_.on_failure != nullptr) {
    setting_.on_failure->call(sentence);
  }
  if (!reports) {
    ::sleep(kQuietSeconds);
  }
  ::_exit(static_cast<int>(ExitCode::environment));
}

}  // namespace mpitron::comm
