#include <algorithm>
#include <array>
#include <deque>

#include "pipeline/ideal_times.h"
#include "pipeline/schedule.h"

// Adds messages to the computations of a schedule. Receives are posted in the order in which their
// data is made, by times without messages (ideal_times.h): both ends of a channel must agree on the
// order. They are waited for at once, or with overlapped communication just before their data is
// used; few sends of a kind are open at a time.

namespace mpitron::pipeline {
namespace {

/// A message that the stage posts before computation number `gap` (which begins a unit).
struct Post {
  Index gap;
  Index time;  // when the data comes
  Action action;
};

/// A message of what `compute` makes or needs.
Action message(ActionKind kind, const Action& compute, ChunkPosition peer) {
  return {.kind = kind,
          .payload = compute.kind == ActionKind::forward ? Payload::activation : Payload::gradient,
          .chunk = compute.chunk,
          .microbatch = compute.microbatch,
          .peer_stage = peer.stage,
          .peer_chunk = peer.chunk};
}

/// The wait that belongs to a message.
Action wait_for(const Action& posted) {
  Action wait = posted;
  wait.kind = posted.kind == ActionKind::send ? ActionKind::wait_send : ActionKind::wait_receive;
  return wait;
}

/// Writes the list of one stage.
class StageWriter {
 public:
  StageWriter(Index stage, const ActionList& order, const IdealTimes& times,
              const ScheduleOptions& options)
      : stage_(stage),
        order_(order),
        spans_(times.spans(stage)),
        ring_{options.stages, options.chunks},
        overlapped_(options.overlap_p2p_comm) {
    for (Index i = 0; i < count(); i += compute(i).joined ? 2 : 1) {
      units_.push_back(i);
    }
    units_.push_back(count());
    place_receives(times);
  }

  ActionList write() {
    list_.reserve(order_.size() * 5);
    for (std::size_t unit = 0; unit + 1 < units_.size(); ++unit) {
      const Index first = units_[unit], end = units_[unit + 1];
      write_receives(first, end);
      for (Index i = first; i < end; ++i) {
        list_.push_back(compute(i));
      }
      write_sends(first, end);
    }
    for (std::deque<Action>& sends : in_flight_) {
      finish_sends(sends, 0);
    }
    return std::move(list_);
  }

 private:
  const Action& compute(Index i) const { return order_[static_cast<std::size_t>(i)]; }
  Index count() const { return static_cast<Index>(order_.size()); }

  /// Receives of one gap in the order in which their data come, which is the order of the sends.
  void place_receives(const IdealTimes& times) {
    for (Index i = 0; i < count(); ++i) {
      if (const auto source = data_source(ring_, stage_, compute(i))) {
        const Index time = *times.arrival(stage_, compute(i));
        receives_.push_back({.gap = gap_of(i, time),
                             .time = time,
                             .action = message(ActionKind::receive, compute(i), *source)});
      }
    }
    std::stable_sort(receives_.begin(), receives_.end(), [](const Post& a, const Post& b) {
      return a.gap != b.gap ? a.gap < b.gap : a.time < b.time;
    });
  }

  /// The first computation of those that run together with `i`.
  Index unit_of(Index i) const { return *(std::ranges::upper_bound(units_, i) - 1); }

  /// Returns the place at which to post the receive of data that comes at `time` and is used by
  /// computation `use`.
  Index gap_of(Index use, Index time) const {
    if (overlapped_) {
      const auto running = std::partition_point(
          spans_.begin(), spans_.end(), [time](const IdealSpan& span) { return span.end <= time; });
      const Index first = unit_of(use);
      return std::min<Index>(running - spans_.begin(), first > 0 ? unit_of(first - 1) : 0);
    }
    return std::partition_point(spans_.begin(), spans_.end(),
                                [time](const IdealSpan& span) { return span.start < time; }) -
           spans_.begin();
  }

  /// Writes the sends of what computations [first, end) made.
  void write_sends(Index first, Index end) {
    for (Index i = first; i < end; ++i) {
      if (const auto target = data_target(ring_, stage_, compute(i))) {
        const Action send = message(ActionKind::send, compute(i), *target);
        std::deque<Action>& sends = in_flight_[send.payload == Payload::gradient];
        finish_sends(sends, kSendsInFlight - 1);
        list_.push_back(send);
        sends.push_back(send);
      }
    }
  }

  /// Writes the receives that are posted before computations [first, end), and the waits for what
  /// these need.
  void write_receives(Index first, Index end) {
    const std::size_t posted = next_;
    for (; next_ < receives_.size() && receives_[next_].gap == first; ++next_) {
      list_.push_back(receives_[next_].action);
    }
    for (std::size_t i = posted; !overlapped_ && i < next_; ++i) {
      list_.push_back(wait_for(receives_[i].action));
    }
    for (Index i = first; overlapped_ && i < end; ++i) {
      if (const auto source = data_source(ring_, stage_, compute(i))) {
        list_.push_back(message(ActionKind::wait_receive, compute(i), *source));
      }
    }
  }

  void finish_sends(std::deque<Action>& sends, Index keep) {
    while (static_cast<Index>(sends.size()) > keep) {
      list_.push_back(wait_for(sends.front()));
      sends.pop_front();
    }
  }

  Index stage_;
  const ActionList& order_;
  const std::vector<IdealSpan>& spans_;
  VirtualStages ring_;
  bool overlapped_;
  std::vector<Index> units_;  // the first of each set of computations that run together; count()
  std::vector<Post> receives_;
  std::size_t next_ = 0;
  std::array<std::deque<Action>, 2> in_flight_;  // activations, gradients
  ActionList list_;
};

}  // namespace

std::vector<ActionList> add_communication(const std::vector<ActionList>& orders,
                                          const ScheduleOptions& options) {
  const IdealTimes times(orders, options);
  std::vector<ActionList> lists;
  for (Index stage = 0; stage < options.stages; ++stage) {
    const ActionList& order = orders[static_cast<std::size_t>(stage)];
    lists.push_back(StageWriter(stage, order, times, options).write());
  }
  return lists;
}

}  // namespace mpitron::pipeline
