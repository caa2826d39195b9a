#include <gtest/gtest.h>

#include "ops/parallel/sequence_exchange.h"
#include "support/tensors.h"

namespace mpitron::ops {
namespace sequence_pieces_test {

TEST(SequencePieces, ComeInOrderAndGoBack) {
  const auto device = device::make_device("reference");
  autograd::Context context{.device = *device};
  for (const Index ranks : {1, 2, 3}) {
    const Index length = ranks * 4;
    std::vector<double> held, whole;
    for (Index rank = 0; rank < ranks; ++rank) {
      const SequenceSlice slice = zigzag_slice(length, ranks, rank);
      for (Index i = 0; i < slice.length; ++i) {
        const auto row = static_cast<double>(slice.map(i));
        held.insert(held.end(), {row, row + 0.5});
      }
    }
    for (Index row = 0; row < length; ++row) {
      whole.insert(whole.end(), {static_cast<double>(row), static_cast<double>(row) + 0.5});
    }
    const auto x = test::make_tensor(*device, {length, 1, 2}, DType::f32, held);
    const auto y = in_sequence_order(context, x, ranks);
    EXPECT_EQ(test::values_of(y), whole) << ranks << " ranks";
    EXPECT_EQ(test::values_of(by_member(context, y, ranks)), held);
  }
}

}  // namespace sequence_pieces_test
}  // namespace mpitron::ops
