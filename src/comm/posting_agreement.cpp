#include "comm/posting_agreement.h"

#include <algorithm>

namespace mpitron::comm {
namespace {

bool agree(const Posting& a, const Posting& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.peer == b.peer && a.reduction == b.reduction &&
         (a.kind == CollectiveKind::all_to_all || a.numel == b.numel);
}

}  // namespace

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
