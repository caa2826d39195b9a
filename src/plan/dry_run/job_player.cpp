#include "plan/dry_run/job_player.h"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "plan/dry_run/matching.h"
#include "utils/text/hash.h"

// Plays the records of all ranks against each other, as a discrete simulation: each rank goes on
// until it waits for an operation that has not ended. Ranks that cannot be told apart are played as
// one, which makes the time depend on the kinds of ranks and not on their number.

namespace mpitron::plan {
namespace {

using comm::CollectiveKind;
using comm::GroupEvent;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return hash64({reinterpret_cast<const char*>(&b), sizeof b}, a);
}

/// Sorts ranks into kinds: one of each stands for all. Kinds begin as the classes of the job and
/// are refined until the groups of all ranks of a kind have members of the same kinds (as colours
/// of a graph are refined).
class Kinds {
 public:
  explicit Kinds(const JobRecord& job) : kind_of(job.class_of), job_(job) {
    for (const RankReplay& one : job.classes) {
      std::vector<bool>& has = has_messages_.emplace_back(one.record.groups.size(), false);
      for (const GroupEvent& event : one.record.events) {
        has[event.group] = has[event.group] || event.is_message();
      }
    }
    std::size_t before = 0, now = job.classes.size();
    while (now != before) {
      before = now;
      now = refine();
    }
    first_rank.assign(now, -1);
    for (Index rank = job.ranks(); rank-- > 0;) {
      first_rank[kind_of[static_cast<std::size_t>(rank)]] = rank;
    }
  }

  std::vector<std::size_t> kind_of;  // of each rank
  std::vector<Index> first_rank;     // of each kind

 private:
  /// Tells ranks apart whose groups have members of other kinds, or, where messages travel, in
  /// another order as seen from them. Returns the number of kinds.
  std::size_t refine() {
    std::vector<std::uint64_t> of_group(job_.groups.size(), 0);
    for (std::size_t group = 0; group < of_group.size(); ++group) {
      for (const Index rank : job_.groups[group].ranks) {
        of_group[group] += mix(1, kind_of[static_cast<std::size_t>(rank)]);
      }
    }
    std::map<std::uint64_t, std::size_t> known;
    std::vector<std::size_t> refined(kind_of.size());
    for (std::size_t rank = 0; rank < kind_of.size(); ++rank) {
      std::uint64_t signature = mix(2, kind_of[rank]);
      const auto& own = job_.groups_of[rank];
      for (std::size_t i = 0; i < own.size(); ++i) {
        const bool ordered = has_messages_[job_.class_of[rank]][i];
        signature =
            mix(signature, ordered ? ring(own[i], static_cast<Index>(rank)) : of_group[own[i]]);
      }
      refined[rank] = known.try_emplace(signature, known.size()).first->second;
    }
    kind_of = std::move(refined);
    return known.size();
  }

  /// Returns a hash of the kinds of a group's members, from this one on.
  std::uint64_t ring(std::size_t group, Index rank) const {
    const std::vector<Index>& ranks = job_.groups[group].ranks;
    const auto place = static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
    std::uint64_t signature = 3;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const Index member = ranks[(place + i) % ranks.size()];
      signature = mix(signature, kind_of[static_cast<std::size_t>(member)]);
    }
    return signature;
  }

  const JobRecord& job_;
  std::vector<std::vector<bool>> has_messages_;  // of each class' own groups
};

/// A group as a kind of rank sees it.
struct Side {
  std::size_t kind;
  std::uint32_t own;  // number of the group in that kind's record
  auto operator<=>(const Side&) const = default;
};

/// The state of a kind: how far its record has been played, what is open, and its clock.
struct Progress {
  std::size_t next = 0;                             // event
  std::vector<std::vector<std::uint32_t>> started;  // collectives by own group: their calls
  std::vector<std::uint32_t> number;                // of a collective in its group, by call
  std::vector<double> begun;                        // by call: when this rank started it
  std::vector<double> ended;                        // by call; below 0: not yet
  double clock = 0;
  double worked = 0;                     // of the record's own seconds
  double last_end = 0;                   // of the collectives so far
  std::vector<const GroupEvent*> queue;  // collectives, in the order of their starts
  std::size_t head = 0;
  // messages by own group and other end: calls
  std::map<std::pair<std::uint32_t, std::int32_t>, std::vector<std::uint32_t>> sent, received;
  const GroupEvent* waits_for = nullptr;
};

class Player {
 public:
  Player(const JobRecord& job, const PlayOptions& options)
      : job_(job),
        options_(options),
        kinds_(job),
        progress_(kinds_.first_rank.size()),
        views_(progress_.size()) {
    for (std::size_t kind = 0; kind < progress_.size(); ++kind) {
      const comm::RankRecord& record = record_of(kind);
      progress_[kind].started.resize(record.groups.size());
      progress_[kind].begun.assign(record.events.size(), 0);
      progress_[kind].ended.assign(record.events.size(), -1);
      progress_[kind].number.assign(record.events.size(), 0);
      for (std::uint32_t own = 0; own < record.groups.size(); ++own) {
        note_members(kind, own);
      }
    }
  }

  /// Goes around the kinds until none can move. Then all are at their ends, or those that wait,
  /// wait for ever.
  PlayedJob run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t kind = 0; kind < progress_.size(); ++kind) {
        moved = advance(kind) || moved;
      }
    }
    PlayedJob played;
    for (std::size_t kind = 0; kind < progress_.size(); ++kind) {
      const Progress& own = progress_[kind];
      if (own.waits_for != nullptr && !played.deadlock) {
        played.deadlock = chain(kind);
      }
      const double all = record_of(kind).seconds;
      played.seconds = std::max(played.seconds, own.clock + all - own.worked);
      played.busy = std::max(played.busy, all);
    }
    return played;
  }

 private:
  const comm::RankRecord& record_of(std::size_t kind) const {
    return job_.record(kinds_.first_rank[kind]);
  }

  std::uint32_t own_number(Index rank, std::size_t group) const {
    const auto& own = job_.groups_of[static_cast<std::size_t>(rank)];
    return static_cast<std::uint32_t>(std::ranges::find(own, group) - own.begin());
  }

  /// The members of a group: each kind once, and all in the order of the group.
  struct Members {
    std::vector<Side> distinct, ring;
  };

  /// Notes the members of one of a kind's groups, and where in it the kind's first rank stands.
  void note_members(std::size_t kind, std::uint32_t own) {
    const Index first = kinds_.first_rank[kind];
    const std::size_t group = job_.group(first, own);
    const std::vector<Index>& ranks = job_.groups[group].ranks;
    auto& known = members_[group];
    if (known == nullptr) {
      known = std::make_unique<Members>();
      for (const Index rank : ranks) {
        known->ring.push_back(
            {kinds_.kind_of[static_cast<std::size_t>(rank)], own_number(rank, group)});
      }
      known->distinct = known->ring;
      std::ranges::sort(known->distinct);
      const auto rest = std::ranges::unique(known->distinct);
      known->distinct.erase(rest.begin(), rest.end());
    }
    views_[kind].push_back({known.get(), std::ranges::find(ranks, first) - ranks.begin()});
  }

  const std::vector<Side>& members_of(std::size_t kind, std::uint32_t own) const {
    return views_[kind][own].members->distinct;
  }

  /// Plays the events of a kind up to the first wait for an operation that has not ended. Returns
  /// whether anything has moved.
  bool advance(std::size_t kind) {
    Progress& own = progress_[kind];
    const std::vector<GroupEvent>& events = record_of(kind).events;
    const std::size_t before = own.next;
    own.waits_for = nullptr;
    bool ended = false;
    while (own.next < events.size()) {
      const GroupEvent& event = events[own.next];
      own.clock += event.at - own.worked;
      own.worked = event.at;
      if (event.waits && own.ended[event.call] < 0) {
        ended = complete(kind) || ended;
        if (own.ended[event.call] < 0) {
          own.waits_for = &event;
          break;
        }
      }
      if (event.waits) {
        own.clock = std::max(own.clock, own.ended[event.call]);
      } else {
        start(own, event, kind);
      }
      ++own.next;
    }
    return own.next != before || complete(kind) || ended;
  }

  /// Notes a started operation at the clock of now; a message whose other end is there ends at
  /// once.
  void start(Progress& own, const GroupEvent& event, std::size_t kind) {
    own.begun[event.call] = own.clock;
    if (event.kind == CollectiveKind::send) {
      own.sent[{event.group, event.peer}].push_back(event.call);
      meet(kind, event);
    } else if (event.kind == CollectiveKind::receive) {
      own.received[{event.group, event.peer}].push_back(event.call);
      meet(kind, event);
    } else {
      own.number[event.call] = static_cast<std::uint32_t>(own.started[event.group].size());
      own.started[event.group].push_back(event.call);
      own.queue.push_back(&event);
    }
  }

  /// Returns the other end of a message: peers count as distances around the group.
  const Side& other_end(std::size_t kind, const GroupEvent& event) const {
    const View& view = views_[kind][event.group];
    const std::vector<Side>& ring = view.members->ring;
    const auto place = static_cast<std::size_t>(view.place + event.peer);
    return ring[place % ring.size()];
  }

  /// Ends a message whose other end is there, too. The n-th send of a channel meets its n-th
  /// receive.
  void meet(std::size_t kind, const GroupEvent& event) {
    const Side& other = other_end(kind, event);
    const auto members = static_cast<std::int32_t>(views_[kind][event.group].members->ring.size());
    const bool sends = event.kind == CollectiveKind::send;
    const auto& mine =
        (sends ? progress_[kind].sent : progress_[kind].received)[{event.group, event.peer}];
    auto& there = sends ? progress_[other.kind].received : progress_[other.kind].sent;
    const auto channel = there.find({other.own, members - event.peer});
    if (channel != there.end() && channel->second.size() >= mine.size()) {
      const std::uint32_t call = channel->second[mine.size() - 1];
      const double begun =
          std::max(progress_[kind].begun[event.call], progress_[other.kind].begun[call]);
      const double end = begun + seconds(event, members);
      progress_[kind].ended[event.call] = progress_[other.kind].ended[call] = end;
    }
  }

  /// Ends collectives of this kind that all members have come to; returns whether there were any.
  bool complete(std::size_t kind) {
    Progress& own = progress_[kind];
    bool any = false;
    for (bool found = true; found;) {
      found = false;
      for (std::size_t i = own.head; i < own.queue.size(); ++i) {
        const GroupEvent& event = *own.queue[i];
        const bool open = own.ended[event.call] < 0;
        if (open && all_are_at(kind, event)) {
          found = any = true;
        } else if (open && options_.sharing == DeviceSharing::collectives) {
          break;
        }
        pass_ended(own);
      }
    }
    return any;
  }

  /// Returns whether every member may run this collective now; then it has ended for all of them.
  /// It begins when the last member has started it and ended the collective before.
  bool all_are_at(std::size_t kind, const GroupEvent& event) {
    const std::size_t number = progress_[kind].number[event.call];
    const std::vector<Side>& sides = members_of(kind, event.group);
    for (const Side& side : sides) {
      const Progress& other = progress_[side.kind];
      const auto& theirs = other.started[side.own];
      if (theirs.size() <= number ||
          (options_.sharing == DeviceSharing::collectives && !is_next(other, theirs[number]))) {
        return false;
      }
    }
    double begun = 0;
    for (const Side& side : sides) {
      const Progress& other = progress_[side.kind];
      begun = std::max({begun, other.begun[other.started[side.own][number]], other.last_end});
    }
    const std::size_t group = job_.group(kinds_.first_rank[kind], event.group);
    const double end = begun + seconds(event, std::ssize(job_.groups[group].ranks));
    for (const Side& side : sides) {
      Progress& other = progress_[side.kind];
      other.ended[other.started[side.own][number]] = other.last_end = end;
      pass_ended(other);
    }
    return true;
  }

  double seconds(const GroupEvent& event, Index members) const {
    return options_.seconds ? options_.seconds(event, members) : 0;
  }

  /// Moves the head over what has ended: with shared devices only the head may run.
  static void pass_ended(Progress& own) {
    while (own.head < own.queue.size() && own.ended[own.queue[own.head]->call] >= 0) {
      ++own.head;
    }
  }

  static bool is_next(const Progress& own, std::uint32_t call) {
    return own.head < own.queue.size() && own.queue[own.head]->call == call;
  }

  /// Tells who waits for whom, until a rank comes again: the cycle of a deadlock as a sentence.
  std::string chain(std::size_t kind) const {
    std::string text;
    std::vector<std::size_t> seen;
    while (std::ranges::find(seen, kind) == seen.end()) {
      seen.push_back(kind);
      const GroupEvent& event = *progress_[kind].waits_for;
      const std::optional<std::size_t> next = absent(kind, event);
      text += fmt::format("{}rank {} waits for {} in group {}", text.empty() ? "" : "; ",
                          kinds_.first_rank[kind], describe(event),
                          record_of(kind).groups[event.group].name);
      if (!next) {
        return text + ", which nobody runs before it";
      }
      text += fmt::format(", to which rank {} does not come", kinds_.first_rank[*next]);
      if (progress_[*next].waits_for == nullptr) {
        return text + " before its end";
      }
      kind = *next;
    }
    return text;
  }

  /// Returns a member that has not started the operation, or may not run it yet.
  std::optional<std::size_t> absent(std::size_t kind, const GroupEvent& event) const {
    if (event.is_message()) {
      return other_end(kind, event).kind;
    }
    const std::size_t number = progress_[kind].number[event.call];
    for (const Side& side : members_of(kind, event.group)) {
      const Progress& other = progress_[side.kind];
      const auto& theirs = other.started[side.own];
      if (theirs.size() <= number ||
          (options_.sharing == DeviceSharing::collectives && !is_next(other, theirs[number]))) {
        return side.kind;
      }
    }
    return std::nullopt;
  }

  const JobRecord& job_;
  const PlayOptions& options_;
  Kinds kinds_;
  std::vector<Progress> progress_;
  /// A group as a kind's first rank sees it.
  struct View {
    const Members* members;
    std::ptrdiff_t place;  // of that rank
  };
  std::map<std::size_t, std::unique_ptr<Members>> members_;  // of each group
  std::vector<std::vector<View>> views_;                     // of each kind's own groups
};

}  // namespace

PlayedJob play(const JobRecord& job, const PlayOptions& options) {
  return Player(job, options).run();
}

Proof prove(const JobRecord& job) {
  if (const auto mismatch = first_mismatch(job)) {
    return {.problem = mismatch->sentence};
  }
  if (!play(job, {.sharing = DeviceSharing::collectives}).deadlock) {
    return {.problem = std::nullopt, .shares_device = true};
  }
  return {.problem = play(job).deadlock};
}

}  // namespace mpitron::plan
