#include "comm/shared/shared_collective.h"

#include <algorithm>

// Collectives among the ranks of one node. Each member posts where its data lies and counts itself
// in; when all have, each does its share of the work by reading and writing the others' memory, and
// counts itself out. Postings that do not fit together name the rank that strays before anything is
// read.

namespace mpitron::comm {
namespace {

/// Tells whether two members call the same operation on as much data; exchanges may differ in their
/// amounts.
bool agree(const Posting& a, const Posting& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.peer == b.peer && a.reduction == b.reduction &&
         (a.kind == CollectiveKind::all_to_all || a.numel == b.numel);
}

}  // namespace

/// Posts, waits for all, does the own share, and waits for all again: nobody leaves while another
/// reads.
bool SharedCollective::step() {
  if (!posted_) {
    post();
  }
  if (posted_ && !done_here_ && all_reached(&SharedTable::posted)) {
    do_share();
  }
  if (!done_here_ || !all_reached(&SharedTable::finished)) {
    return false;
  }
  if (request_.kind == CollectiveKind::all_reduce) {
    exposure_.copy_back(request_.output.data);
  }
  return true;
}

/// Lists those who have not posted, or not finished, whichever phase this rank waits in.
std::vector<Index> SharedCollective::absent() const {
  const Counter counter = done_here_ ? &SharedTable::finished : &SharedTable::posted;
  std::vector<Index> ranks;
  for (Index member = 0; member < members_.group.size(); ++member) {
    if ((members_.table.*counter)(member).load(kAcquire) <= sequence_) {
      ranks.push_back(members_.group.world_rank(member));
    }
  }
  return ranks;
}

/// Tells whether all have come so far; throws where the job is being ended, since counters may then
/// never move.
bool SharedCollective::all_reached(Counter counter, std::uint64_t back) const {
  members_.spaces.check_alive();
  for (Index member = 0; member < members_.group.size(); ++member) {
    if ((members_.table.*counter)(member).load(kAcquire) + back <= sequence_) {
      return false;
    }
  }
  return true;
}

/// Returns what the others read of this rank; nothing of who only receives a broadcast.
ConstTensorView SharedCollective::read_by_others() const {
  switch (request_.kind) {
    case CollectiveKind::all_reduce:
      return request_.output;
    case CollectiveKind::broadcast:
      return request_.peer == rank() ? request_.output : TensorView();
    default:
      return request_.input;
  }
}

/// Posts in order, and only where all have finished with what lay in the place: the ring is as deep
/// as operations may overlap.
void SharedCollective::post() {
  const SharedTable& table = members_.table;
  if (table.posted(rank()).load(kAcquire) != sequence_ ||
      !all_reached(&SharedTable::finished, SharedTable::kDepth)) {
    return;
  }
  const ConstTensorView data = request_.input.data != nullptr ? request_.input : request_.output;
  exposure_ = SharedExposure(members_.spaces, read_by_others());
  table.posting(sequence_, rank()) = {.kind = request_.kind,
                                      .dtype = data.dtype,
                                      .reduction = request_.reduction,
                                      .peer = request_.peer,
                                      .numel = data.data != nullptr ? data.numel() : 0,
                                      .data = exposure_.address()};
  std::copy(request_.input_counts.begin(), request_.input_counts.end(),
            table.counts(sequence_, rank()));
  table.posted(rank()).store(sequence_ + 1, kRelease);
  posted_ = true;
}

/// Throws InternalError, after telling the witness, where the members' postings of this sequence
/// number do not agree.
void SharedCollective::check_agreement() const {
  const Group& group = members_.group;
  std::vector<Posting> postings;
  for (Index member = 0; member < group.size(); ++member) {
    postings.push_back(members_.table.posting(sequence_, member));
  }
  if (const std::optional<Disagreement> found = find_disagreement(postings)) {
    const std::string what = describe(*found, postings, group);
    if (members_.witness != nullptr) {
      members_.witness->disagreement(group.world_rank(found->odd), what);
    }
    throw InternalError(what);
  }
}

/// Does the own share, a step at a time; members take theirs in the order of the postings, which
/// `finished` counts.
void SharedCollective::do_share() {
  auto& finished = members_.table.finished(rank());
  if (finished.load(kAcquire) != sequence_) {
    return;
  }
  if (!planned_) {
    check_agreement();
    share_ = SharedShare(members_, request_, sequence_);
    planned_ = true;
  }
  share_.step();
  if (share_.done()) {
    finished.store(sequence_ + 1, kRelease);
    done_here_ = true;
  }
}

/// Finds the member whose posting differs from most others, and in what.
std::optional<Disagreement> find_disagreement(std::span<const Posting> postings) {
  std::size_t odd = 0;
  auto fewest = std::ssize(postings);
  for (std::size_t member = 0; member < postings.size(); ++member) {
    const auto alike = std::count_if(postings.begin(), postings.end(), [&](const Posting& other) {
      return agree(postings[member], other);
    });
    if (alike <= fewest) {
      fewest = alike;
      odd = member;
    }
  }
  const auto other =
      std::find_if_not(postings.begin(), postings.end(),
                       [&](const Posting& posting) { return agree(posting, postings[odd]); });
  if (other == postings.end()) {
    return {};
  }
  return Disagreement{static_cast<Index>(odd), other - postings.begin()};
}

/// Names both calls as the programmer would: "all_reduce of 4 bf16".
std::string describe(const Disagreement& disagreement, std::span<const Posting> postings,
                     const Group& group) {
  const auto call_of = [&](Index member) {
    const Posting& posting = postings[static_cast<std::size_t>(member)];
    return "rank " + std::to_string(group.world_rank(member)) + " calls " + name_of(posting.kind) +
           " of " + std::to_string(posting.numel) + " " + std::string(name_of(posting.dtype)) +
           " elements";
  };
  return "in group " + group.name() + " " + call_of(disagreement.odd) + " where " +
         call_of(disagreement.other);
}

}  // namespace mpitron::comm
