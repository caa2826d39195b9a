#pragma once
#include <optional>
#include <span>
#include <string>

#include "comm/group.h"
#include "comm/shared_table.h"

namespace mpitron::comm {

/// Members that call different things where all should call the same.
struct Disagreement {
  Index odd = 0;  // who agrees with the fewest; of several the last, as people compare with rank 0
  Index other = 0;  // the first that it does not agree with
};

/// `postings`: what each member calls; none if all call the same.
std::optional<Disagreement> find_disagreement(std::span<const Posting> postings);

/// The disagreement as one sentence, with world ranks.
std::string describe(const Disagreement& disagreement, std::span<const Posting> postings,
                     const Group& group);

}  // namespace mpitron::comm
