#include "ops/elementwise/shift_sequence.h"

#include <gtest/gtest.h>

#include "comm/groups/world.h"
#include "support/tensors.h"
#include "utils/numbers/sequence_map.h"

namespace mpitron::ops {
namespace shift_sequence_test {

/// Every member gets what stands one further in the whole sequence, as often as it shifts.
TEST(ShiftSequence, CrossesTheSlicesOfTheMembers) {
  for (const Index ranks : {1, 2, 3, 4}) {
    const Index length = 4 * ranks;
    comm::run_thread_world(ranks, [&](comm::World& world) {
      const auto device = device::make_device("reference");
      autograd::Context context{.device = *device};
      const SequenceSlice slice = zigzag_slice(length, ranks, world.rank());
      std::vector<std::int64_t> own;
      for (Index i = 0; i < slice.length; ++i) {
        own.insert(own.end(), {slice.map(i) + 1, 100 * (slice.map(i) + 1)});
      }
      tensor::Tensor x = test::make_ids(*device, {slice.length, 2}, own);
      for (Index step = 1; step <= 3; ++step) {
        x = shift_sequence(context, x, *world.all());
        for (Index i = 0; i < slice.length; ++i) {
          const Index from = slice.map(i) + step, expected = from < length ? from + 1 : 0;
          EXPECT_EQ(x.data<std::int64_t>()[2 * i], expected) << ranks << " ranks, step " << step;
          EXPECT_EQ(x.data<std::int64_t>()[2 * i + 1], 100 * expected);
        }
      }
    });
  }
}

}  // namespace shift_sequence_test
}  // namespace mpitron::ops
