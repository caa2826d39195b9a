#include "ops/parallel/keep_piece.h"

#include "ops/gradient_ranks.h"

namespace mpitron::ops {
namespace keep_piece_test {

TEST(KeepPiece, EveryRankKeepsItsPart) {
  on_ranks(2, [](TestRank& rank) {
    const Tensor input = rank.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
    const KeepPiece::Kept kept = KeepPiece{{&rank.group, false}}(rank.context, input);
    EXPECT_EQ(kept.piece.numel(), 3);
    EXPECT_NE(kept.piece.view().data, input.view().data);
    const Tensor joined = kept(rank.context);
    EXPECT_EQ(joined.shape(), (Shape{3, 2}));
    EXPECT_EQ(test::values_of(joined), test::values_of(input));
  });
}

/// The ranks that join pieces are those that have the same input: the tensor parallel group, not
/// all ranks (recorded as an error of the reference's combination).
TEST(KeepPiece, OtherGroupsOfTheWorldHaveOtherInputs) {
  comm::run_thread_world(4, [](comm::World& world) {
    const auto device = device::make_device("reference");
    Context context{.device = *device};
    const Index first = world.rank() / 2 * 2;
    const auto group = world.make_group("tensor", {first, first + 1});
    const auto x = static_cast<double>(first);
    const Tensor input = test::make_tensor(*device, {2}, DType::f64, {x, x + 1});
    const KeepPiece::Kept kept = KeepPiece{{group.get(), false}}(context, input);
    EXPECT_EQ(test::values_of(kept(context)), (std::vector<double>{x, x + 1}));
  });
}

TEST(KeepPiece, AloneIsTheInputItself) {
  on_ranks(1, [](TestRank& rank) {
    const Tensor input = rank.tensor({2}, {1, 2});
    const KeepPiece::Kept kept = KeepPiece{{&rank.group, false}}(rank.context, input);
    EXPECT_EQ(kept(rank.context).view().data, input.view().data);
  });
}

}  // namespace keep_piece_test
}  // namespace mpitron::ops
