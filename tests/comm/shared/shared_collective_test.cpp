#include "comm/shared/shared_collective.h"

#include <gtest/gtest.h>

namespace mpitron::comm {
namespace shared_collective_test {

Posting calls(CollectiveKind kind, Index numel) {
  return {.kind = kind,
          .dtype = DType::f32,
          .reduction = Reduction::sum,
          .peer = 0,
          .numel = numel,
          .data = 0};
}

/// A group that only has names.
class NamedGroup final : public Group {
 public:
  using Group::Group;

 private:
  Work start(const Request&) override { return {}; }
};

TEST(PostingAgreement, WhoAgreesWithTheFewestIsOdd) {
  std::vector<Posting> postings(4, calls(CollectiveKind::all_reduce, 8));
  EXPECT_FALSE(find_disagreement(postings));
  postings[1].numel = 9;
  const std::optional<Disagreement> found = find_disagreement(postings);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->odd, 1);
  EXPECT_EQ(found->other, 0);
  EXPECT_EQ(describe(*found, postings, NamedGroup("replicas", {3, 5, 7, 9}, 0)),
            "in group replicas rank 5 calls all_reduce of 9 fp32 elements where rank 3 calls "
            "all_reduce of 8 fp32 elements");
}

TEST(PostingAgreement, OfTwoTheLastIsOdd) {
  const std::vector<Posting> postings = {calls(CollectiveKind::barrier, 0),
                                         calls(CollectiveKind::all_gather, 4)};
  const std::optional<Disagreement> found = find_disagreement(postings);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->odd, 1);
  EXPECT_EQ(found->other, 0);
}

TEST(PostingAgreement, MembersOfAnAllToAllMaySendDifferentAmounts) {
  const std::vector<Posting> postings = {calls(CollectiveKind::all_to_all, 3),
                                         calls(CollectiveKind::all_to_all, 4)};
  EXPECT_FALSE(find_disagreement(postings));
}

}  // namespace shared_collective_test
}  // namespace mpitron::comm
