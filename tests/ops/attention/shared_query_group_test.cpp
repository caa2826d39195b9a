#include "ops/attention/shared_query_group.h"

#include "ops/gradient_ranks.h"

namespace mpitron::ops {
namespace shared_query_group_test {

using Ranges = std::vector<tensor::Shard::Range>;

TEST(SharedQueryGroup, WholeGroupsOrPiecesOfKeyAndValue) {
  on_ranks(4, [](TestRank& rank) {
    const TensorParallel shared{&rank.group, false};
    const QkvShare groups = qkv_share({8, 4, 2}, shared);  // a group of 2 heads, key, value each
    EXPECT_EQ(groups.sharers, 1);
    EXPECT_EQ(groups.local.heads, 2);
    EXPECT_EQ(groups.local.query_groups, 1);
    EXPECT_EQ(groups.rows.ranges, (Ranges{{8 * rank.rank(), 8 * rank.rank() + 8}}));

    const QkvShare pieces = qkv_share({8, 2, 2}, shared);  // 4 heads, key, value: 12 rows
    EXPECT_EQ(pieces.sharers, 2);
    EXPECT_EQ(pieces.local.heads, 2);
    const Index group = rank.rank() / 2 * 12, place = rank.rank() % 2;
    EXPECT_EQ(pieces.rows.ranges, (Ranges{{group + 4 * place, group + 4 * place + 4},
                                          {group + 8 + place, group + 9 + place},
                                          {group + 10 + place, group + 11 + place}}));
    EXPECT_THROW(qkv_share({12, 3, 2}, shared), InternalError);
  });
}

/// Two ranks, one head each, d = 2: x = [query, query, key piece, value piece].
TEST(SharedQueryGroup, SharersExchangeKeysAndValues) {
  on_ranks(2, [](TestRank& rank) {
    const TensorParallel shared{&rank.group, false};
    const QkvShare share = qkv_share({2, 1, 2}, shared);
    const double r = 10.0 * static_cast<double>(rank.rank());
    const Var x = autograd::variable(
        rank.tensor({2, 1, 4}, {r + 1, r + 2, r + 3, r + 4, r + 5, r + 6, r + 7, r + 8}));
    const Var y = join_keys_values(rank.context, x, share, shared);
    EXPECT_EQ(y.shape(), (Shape{2, 1, 6}));
    EXPECT_EQ(test::values_of(y.value),
              (std::vector<double>{r + 1, r + 2, 3, 13, 4, 14, r + 5, r + 6, 7, 17, 8, 18}));
    // Gradients of key and value are summed over the sharers.
    rank.backward(y, rank.tensor({2, 1, 6}, {r, r + 1, r + 2, r + 3, r + 4, r + 5,  //
                                             r, r + 1, r + 2, r + 3, r + 4, r + 5}));
    const double key = rank.rank() == 0 ? 14 : 16, value = key + 4;
    EXPECT_EQ(test::values_of(x.slot.gradient()),
              (std::vector<double>{r, r + 1, key, value, r, r + 1, key, value}));
  });
}

TEST(SharedQueryGroup, WithoutSharersNothingIsCopied) {
  on_ranks(2, [](TestRank& rank) {
    const TensorParallel shared{&rank.group, false};
    const Var x = autograd::variable(rank.tensor({1, 1, 6}, {1, 2, 3, 4, 5, 6}));
    const Var y = join_keys_values(rank.context, x, qkv_share({2, 2, 2}, shared), shared);
    EXPECT_EQ(y.value.view().data, x.value.view().data);
  });
}

}  // namespace shared_query_group_test
}  // namespace mpitron::ops
