#pragma once
#include <optional>
#include <span>
#include <string>

#include "comm/groups/group.h"
#include "comm/shared/shared_memory.h"
#include "comm/shared/shared_share.h"
#include "comm/shared/shared_table.h"

namespace mpitron::comm {

/// A collective of a rank of a shared group: postings of the same sequence number belong together.
class SharedCollective final : public Operation {
 public:
  SharedCollective(const SharedMembers& members, Request request, std::uint64_t sequence)
      : members_(members), request_(std::move(request)), sequence_(sequence) {}

  bool step() override;
  std::vector<Index> absent() const override;

 private:
  using Counter = std::atomic<std::uint64_t>& (SharedTable::*)(Index) const;

  Index rank() const { return members_.group.rank(); }
  bool all_reached(Counter counter, std::uint64_t back = 0) const;
  ConstTensorView read_by_others() const;
  void post();
  void check_agreement() const;
  void do_share();

  const SharedMembers members_;
  const Request request_;
  const std::uint64_t sequence_;
  SharedExposure exposure_;
  SharedShare share_;
  bool posted_ = false;
  bool planned_ = false;
  bool done_here_ = false;
};

/// Members that call different things where all should call the same.
struct Disagreement {
  Index odd = 0;  // who agrees with the fewest; of several the last, as people compare with rank 0
  Index other = 0;  // the first that it does not agree with
};

/// Finds a disagreement in `postings`, what each member calls; none if all call the same.
std::optional<Disagreement> find_disagreement(std::span<const Posting> postings);

/// Describes the disagreement as one sentence, with world ranks.
std::string describe(const Disagreement& disagreement, std::span<const Posting> postings,
                     const Group& group);

}  // namespace mpitron::comm
