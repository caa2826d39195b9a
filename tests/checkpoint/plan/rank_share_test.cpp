#include "checkpoint/plan/rank_share.h"

#include <gtest/gtest.h>

namespace mpitron::checkpoint {
namespace rank_share_test {

TEST(RankShare, TouchingWritesAreOneRange) {
  const std::vector<DataSet> data_sets = {{.name = "a", .shape = {100}},
                                          {.name = "b", .shape = {10, 4}, .dtype = DType::bf16}};
  RankShare share;
  share.writes = {{.data_set = 0, .begin = 20, .part = {.begin = 0, .end = 10}},
                  {.data_set = 0, .begin = 0, .part = {.begin = 0, .end = 5}},
                  {.data_set = 0, .begin = 30, .part = {.begin = 10, .end = 10}},
                  {.data_set = 1, .begin = 0, .part = {.begin = 3, .end = 7}}};
  share.gathers = {{.data_set = 1, .begin = 8, .end = 12, .rows = 1, .sources = {}},
                   {.data_set = 1, .begin = 4, .end = 8, .rows = 1, .sources = {}}};
  const std::vector<PlacedRange> expected = {{.data_set = 0, .begin = 0, .end = 20},
                                             {.data_set = 0, .begin = 80, .end = 120},
                                             {.data_set = 1, .begin = 0, .end = 24}};
  EXPECT_EQ(ranges_of(share, data_sets), expected);
  EXPECT_TRUE(ranges_of({}, data_sets).empty());
}

}  // namespace rank_share_test
}  // namespace mpitron::checkpoint
