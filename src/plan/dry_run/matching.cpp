#include "plan/dry_run/matching.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

// Proves that the ranks of a job agree on every operation, or finds the first that differ: what
// would hang or corrupt data on a machine is told here as a sentence.

namespace mpitron::plan {
namespace {

using comm::CollectiveKind;
using comm::GroupEvent;

/// Operations that one class starts in one of its groups.
struct Sequence {
  std::vector<GroupEvent> collectives;
  std::map<std::int32_t, std::vector<GroupEvent>> sent, received;  // by how far the other end is
};

/// Returns whether members may start these together: their kind and what they move, not when. Sizes
/// of an all-to-all differ by member; check_exchanges adds them up.
bool fit(const GroupEvent& a, const GroupEvent& b) {
  const bool sizes =
      a.kind == CollectiveKind::all_to_all || (a.sent == b.sent && a.received == b.received);
  return a.kind == b.kind && a.dtype == b.dtype && a.reduction == b.reduction && a.peer == b.peer &&
         sizes;
}

class Matcher {
 public:
  explicit Matcher(const JobRecord& job) : job_(job) {
    for (const RankReplay& one : job.classes) {
      sequences_.push_back(sequences_of(one.record));
    }
  }

  std::optional<Mismatch> run() {
    for (std::size_t group = 0; group < job_.groups.size(); ++group) {
      if (auto found = check_members(group)) {
        return found;
      }
      if (auto found = check_group(group)) {
        return found;
      }
    }
    return std::nullopt;
  }

 private:
  static std::vector<Sequence> sequences_of(const comm::RankRecord& record) {
    std::vector<Sequence> result(record.groups.size());
    for (const GroupEvent& event : record.events) {
      Sequence& sequence = result[event.group];
      if (event.waits) {
        continue;
      }
      if (event.kind == CollectiveKind::send) {
        sequence.sent[event.peer].push_back(event);
      } else if (event.kind == CollectiveKind::receive) {
        sequence.received[event.peer].push_back(event);
      } else {
        sequence.collectives.push_back(event);
      }
    }
    return result;
  }

  const std::string& name(std::size_t group) const { return job_.groups[group].name; }
  const std::vector<Index>& ranks(std::size_t group) const { return job_.groups[group].ranks; }

  /// Returns the number of a group among a rank's own; none where the rank is not in it.
  std::optional<std::uint32_t> own_number(Index rank, std::size_t group) const {
    const auto& own = job_.groups_of[static_cast<std::size_t>(rank)];
    const auto at = std::ranges::find(own, group);
    return at == own.end() ? std::nullopt
                           : std::optional(static_cast<std::uint32_t>(at - own.begin()));
  }

  const Sequence& sequence(Index rank, std::size_t group) const {
    return sequences_[job_.class_of[static_cast<std::size_t>(rank)]][*own_number(rank, group)];
  }

  /// Checks that every member has made the group with the same ranks.
  std::optional<Mismatch> check_members(std::size_t group) const {
    for (const Index rank : ranks(group)) {
      if (!own_number(rank, group)) {
        return Mismatch{fmt::format("rank {} is in no group {} of ranks {}, which rank {} has",
                                    rank, name(group), list(ranks(group)), ranks(group).front()),
                        rank, ranks(group).front()};
      }
    }
    return std::nullopt;
  }

  /// Compares all members with the first, and each message's two ends.
  std::optional<Mismatch> check_group(std::size_t group) {
    const std::vector<Index>& members = ranks(group);
    const Sequence& first = sequence(members[0], group);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Sequence& own = sequence(members[i], group);
      if (&own != &first && is_new(first, own)) {
        if (auto found = compare(group, members[0], members[i], first, own)) {
          return found;
        }
      }
      for (const auto& [peer, sent] : own.sent) {
        if (auto found = check_channel(group, i, (i + to_size(peer)) % members.size(), sent)) {
          return found;
        }
      }
      for (const auto& [peer, received] : own.received) {
        if (auto found = check_heard(group, i, (i + to_size(peer)) % members.size(), received)) {
          return found;
        }
      }
    }
    return check_exchanges(group);
  }

  /// Whether what two ranks do, `apart` places from each other, has not been compared in a group
  /// before: it is the same in all groups of their classes.
  bool is_new(const Sequence& one, const Sequence& other, std::int32_t apart = 0) {
    return compared_.insert({&one, &other, apart}).second;
  }

  /// Compares the collectives of two members.
  std::optional<Mismatch> compare(std::size_t group, Index one, Index other, const Sequence& a,
                                  const Sequence& b) const {
    const auto& x = a.collectives;
    const auto& y = b.collectives;
    const auto [at, there] = std::ranges::mismatch(x, y, fit);
    if (at == x.end() && there == y.end()) {
      return std::nullopt;
    }
    return Mismatch{
        fmt::format("operation {} of group {} (ranks {}): {}, {}", at - x.begin() + 1, name(group),
                    list(ranks(group)), told(one, at == x.end() ? nullptr : &*at),
                    told(other, there == y.end() ? nullptr : &*there)),
        one, other};
  }

  /// Compares what member `from` sends to member `to` with what that receives from it.
  std::optional<Mismatch> check_channel(std::size_t group, std::size_t from, std::size_t to,
                                        const std::vector<GroupEvent>& sent) {
    const Index sender = ranks(group)[from], receiver = ranks(group)[to];
    const Sequence& other = sequence(receiver, group);
    if (!is_new(sequence(sender, group), other, distance(group, from, to))) {
      return std::nullopt;
    }
    const auto& all = other.received;
    const auto channel = all.find(distance(group, to, from));
    static const std::vector<GroupEvent> kNone;
    const std::vector<GroupEvent>& heard = channel == all.end() ? kNone : channel->second;
    const auto [at, there] =
        std::ranges::mismatch(sent, heard, [](const GroupEvent& s, const GroupEvent& r) {
          return s.sent == r.received && s.dtype == r.dtype && s.label == r.label;
        });
    if (at == sent.end() && there == heard.end()) {
      return std::nullopt;
    }
    return Mismatch{
        fmt::format("message {} from rank {} to rank {} in group {}: {}, {}", at - sent.begin() + 1,
                    sender, receiver, name(group), told(sender, at == sent.end() ? nullptr : &*at),
                    told(receiver, there == heard.end() ? nullptr : &*there)),
        sender, receiver};
  }

  /// Finds receives of what nobody sends at all; others are found from the sender's side.
  std::optional<Mismatch> check_heard(std::size_t group, std::size_t to, std::size_t from,
                                      const std::vector<GroupEvent>& heard) const {
    const auto& sent = sequence(ranks(group)[from], group).sent;
    if (sent.contains(distance(group, from, to))) {
      return std::nullopt;
    }
    const Index sender = ranks(group)[from], receiver = ranks(group)[to];
    return Mismatch{
        fmt::format("message 1 from rank {} to rank {} in group {}: {}, {}", sender, receiver,
                    name(group), told(sender, nullptr), told(receiver, heard.data())),
        sender, receiver};
  }

  static std::size_t to_size(std::int32_t n) { return static_cast<std::size_t>(n); }
  /// Returns the places from one member to another, around the group.
  std::int32_t distance(std::size_t group, std::size_t from, std::size_t to) const {
    const std::size_t n = ranks(group).size();
    return static_cast<std::int32_t>((to + n - from) % n);
  }

  /// Members of a group that do the same.
  struct Equals {
    const Sequence* sequence;
    Index first;  // rank
    Index count;
  };
  std::vector<Equals> equals_in(std::size_t group) const {
    std::vector<Equals> result;
    for (const Index rank : ranks(group)) {
      const Sequence& own = sequence(rank, group);
      const auto known = std::ranges::find(result, &own, &Equals::sequence);
      if (known == result.end()) {
        result.push_back({&own, rank, 1});
      } else {
        ++known->count;
      }
    }
    return result;
  }

  /// What all members of an exchange send is what all receive.
  std::optional<Mismatch> check_exchanges(std::size_t group) const {
    const std::vector<Equals> all = equals_in(group);
    const auto& first = all.front().sequence->collectives;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i].kind != CollectiveKind::all_to_all) {
        continue;
      }
      Index sent = 0, received = 0, most = -1, farthest = all.front().first;
      for (const Equals& some : all) {
        const GroupEvent& event = some.sequence->collectives[i];
        sent += some.count * event.sent;
        received += some.count * event.received;
        const Index apart = std::abs(event.sent - event.received);
        farthest = apart > most ? some.first : farthest;
        most = std::max(most, apart);
      }
      if (sent != received) {
        return Mismatch{
            fmt::format("operation {} of group {} (ranks {}): {} elements are sent and {} received "
                        "(most unequal on rank {}: {})",
                        i + 1, name(group), list(ranks(group)), sent, received, farthest,
                        describe(sequence(farthest, group).collectives[i])),
            farthest, farthest};
      }
    }
    return std::nullopt;
  }

  static std::string told(Index rank, const GroupEvent* event) {
    return event == nullptr ? fmt::format("rank {} has none", rank)
                            : fmt::format("rank {} has {}", rank, describe(*event));
  }

  static std::string list(const std::vector<Index>& ranks) {
    constexpr std::size_t kShown = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(kShown, ranks.size()); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
    }
    return ranks.size() > kShown ? fmt::format("{}, ... {}", text, ranks.back()) : text;
  }

  const JobRecord& job_;
  std::vector<std::vector<Sequence>> sequences_;
  std::set<std::tuple<const Sequence*, const Sequence*, std::int32_t>> compared_;
};

}  // namespace

/// A label holds the chunk in its upper half, and the microbatch from 1 in its lower one; 0: none.
std::string describe(const comm::GroupEvent& event) {
  const std::string what = event.label == 0
                               ? ""
                               : fmt::format(" for chunk {}, microbatch {},", event.label >> 32,
                                             (event.label & 0xffffffff) - 1);
  return fmt::format("{} of {} {}{} its operation {}", comm::name_of(event.kind),
                     std::max(event.sent, event.received), name_of(event.dtype),
                     what.empty() ? "," : what, event.call + 1);
}

std::optional<Mismatch> first_mismatch(const JobRecord& job) {
  return Matcher(job).run();
}

}  // namespace mpitron::plan
