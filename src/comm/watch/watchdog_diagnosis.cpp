#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "comm/watch/watchdog.h"
#include "utils/error.h"

// What the watchdog says of a hang: who is silent, who waits for whom, and who calls something
// else.

namespace mpitron::comm {
namespace {

/// Tells state T in /proc: stopped by a signal or a debugger.
bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto at = text.rfind(") ");
  return at != std::string::npos && text.size() > at + 2 && text[at + 2] == 'T';
}

}  // namespace

/// Adds two spans: from call to end, and what the rank waited in between.
void Watchdog::add_to_trace(const Kept& kept) const {
  if (setting_.trace == nullptr || !setting_.trace->recording()) {
    return;
  }
  const FlightRecord& record = *kept.record;
  TraceSpan span{.kind = TraceKind::operation,
                 .name = trace_name(name_of(record.kind)),
                 .begin = record.started,
                 .end = record.finished.load(std::memory_order_relaxed),
                 .bytes = record.bytes,
                 .number = static_cast<std::int64_t>(record.number),
                 .ranks = record.group_size,
                 .group = trace_name(record.group)};
  setting_.trace->add(span);
  if (kept.waited_since != 0) {
    span.kind = TraceKind::wait;
    span.begin = kept.waited_since;
    setting_.trace->add(span);
  }
}

/// Ends the job where a member calls another operation than its group.
void Watchdog::disagreement(Index rank, const std::string& what) {
  end_job(fmt::format("{} does something else than its group: {}; {}", name_of_rank(rank), what,
                      known_of(rank)));
}

/// Ends the job for what NCCL's watch has found; the sentence names the rank of this node whose
/// last operation lies farthest back.
void Watchdog::stuck(const std::string& what, double seconds, const std::string& error) {
  const std::string own = name_of_rank(setting_.rank);
  if (!error.empty()) {
    end_job(fmt::format("{}: {} has failed: {}; {}", own, what, error, known_of(setting_.rank)));
  }
  if (seconds >= setting_.timeout_seconds) {
    // A device does not know whom it waits for: most likely for who has been quiet the longest.
    const Neighbour* const neighbour = longest_silent();
    const std::string suspect = neighbour == nullptr ? ""
                                                     : fmt::format("; quiet the longest is {}, {}",
                                                                   name_of_rank(neighbour->rank),
                                                                   known_of(neighbour->rank));
    end_job(fmt::format(
        "{} has not ended on {} within --distributed-timeout-minutes {:.4g}, in "
        "phase '{}'{}",
        what, own, setting_.timeout_seconds / 60, recorder_.ring().phase.get(), suspect));
  }
}

/// Finds the one whose last call lies farthest back: most likely the others wait for it.
const Neighbour* Watchdog::longest_silent() const {
  const Neighbour* longest_silent = nullptr;
  for (const Neighbour& other : setting_.neighbours) {
    const FlightRecord* const last = other.ring->last();
    if (last != nullptr &&
        (longest_silent == nullptr || last->started < longest_silent->ring->last()->started)) {
      longest_silent = &other;
    }
  }
  return longest_silent;
}

/// Finds the rank where it is one of this node; null for those of others.
const Neighbour* Watchdog::find(Index rank) const {
  const auto& all = setting_.neighbours;
  const auto at = std::find_if(all.begin(), all.end(),
                               [rank](const Neighbour& other) { return other.rank == rank; });
  return at == all.end() ? nullptr : &*at;
}

/// Formats number, host and, on this node, process of a rank.
std::string Watchdog::name_of_rank(Index rank) const {
  const Neighbour* const neighbour = find(rank);
  const std::string process =
      neighbour == nullptr ? "" : fmt::format(", process {}", neighbour->process);
  return fmt::format("rank {} (host {}{})", rank, setting_.host(rank), process);
}

/// Reads shared memory, for ranks of this node.
std::string Watchdog::known_here(Index rank) const {
  if (rank == setting_.rank) {
    return describe(recorder_.ring());
  }
  const Neighbour* const neighbour = find(rank);
  if (neighbour == nullptr) {
    return "";
  }
  return describe(*neighbour->ring) +
         (is_stopped(neighbour->process) ? "; its process is stopped (SIGSTOP)" : "");
}

/// Asks the rank's own node where it lies elsewhere.
std::string Watchdog::known_of(Index rank) const {
  std::string known = known_here(rank);
  if (known.empty() && setting_.ask) {
    known = setting_.ask(rank);
  }
  return known.empty() ? "it runs on another machine, which does not answer" : known;
}

}  // namespace mpitron::comm
