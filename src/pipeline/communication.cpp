#include "pipeline/communication.h"

#include <algorithm>
#include <array>
#include <deque>

#include "pipeline/ideal_times.h"

namespace mpitron::pipeline {
namespace {

/// A message that the stage posts before computation number `gap`.
struct Post {
  Index gap;
  Index time;  // when the data comes
  Action action;
};

Action message(ActionKind kind, const Action& compute, ChunkPosition peer) {
  return {.kind = kind,
          .payload = compute.kind == ActionKind::forward ? Payload::activation : Payload::gradient,
          .chunk = compute.chunk,
          .microbatch = compute.microbatch,
          .peer_stage = peer.stage,
          .peer_chunk = peer.chunk};
}

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
    place_receives(times);
  }

  ActionList write() {
    const auto count = static_cast<Index>(order_.size());
    list_.reserve(order_.size() * 5);
    for (Index gap = 0; gap <= count; ++gap) {
      write_messages(gap);
      if (gap < count) {
        list_.push_back(compute(gap));
      }
    }
    for (std::deque<Action>& sends : in_flight_) {
      finish_sends(sends, 0);
    }
    return std::move(list_);
  }

 private:
  const Action& compute(Index i) const { return order_[static_cast<std::size_t>(i)]; }

  void place_receives(const IdealTimes& times) {
    for (Index i = 0; i < static_cast<Index>(order_.size()); ++i) {
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

  /// Where to post the receive of data that comes at `time` and is used by computation `use`.
  Index gap_of(Index use, Index time) const {
    if (overlapped_) {
      const auto running = std::partition_point(
          spans_.begin(), spans_.end(), [time](const IdealSpan& span) { return span.end <= time; });
      return std::max<Index>(0, std::min<Index>(running - spans_.begin(), use - 1));
    }
    return std::partition_point(spans_.begin(), spans_.end(),
                                [time](const IdealSpan& span) { return span.start < time; }) -
           spans_.begin();
  }

  /// The send of what the computation before the gap made.
  std::optional<Action> send_in(Index gap) const {
    if (gap == 0) {
      return {};
    }
    const auto target = data_target(ring_, stage_, compute(gap - 1));
    return target ? std::optional(message(ActionKind::send, compute(gap - 1), *target))
                  : std::nullopt;
  }

  void write_messages(Index gap) {
    if (const auto send = send_in(gap)) {
      std::deque<Action>& sends = in_flight_[send->payload == Payload::gradient];
      finish_sends(sends, kSendsInFlight - 1);
      list_.push_back(*send);
      sends.push_back(*send);
    }
    const std::size_t first = next_;
    for (; next_ < receives_.size() && receives_[next_].gap == gap; ++next_) {
      list_.push_back(receives_[next_].action);
    }
    if (!overlapped_) {
      for (std::size_t i = first; i < next_; ++i) {
        list_.push_back(wait_for(receives_[i].action));
      }
    } else if (gap < static_cast<Index>(order_.size())) {
      if (const auto source = data_source(ring_, stage_, compute(gap))) {
        list_.push_back(message(ActionKind::wait_receive, compute(gap), *source));
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
