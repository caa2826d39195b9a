#include "ops/parallel/sequence_exchange.h"

#include <gtest/gtest.h>

#include "comm/groups/world.h"
#include "support/tensors.h"
#include "utils/numbers/sequence_map.h"

namespace mpitron::ops {
namespace sequence_exchange_test {

using autograd::Context;
using autograd::Tape;
using autograd::Var;
using tensor::Tensor;

constexpr Index kLength = 12, kBatch = 2, kColumns = 6;

double element(Index position, Index sample, Index column) {
  return static_cast<double>(position * 100 + sample * 10 + column);
}

/// Columns [first, last) of a slice of the sequence.
Tensor part_of(device::Device& device, const SequenceSlice& slice, Index first, Index last) {
  std::vector<double> values;
  for (Index i = 0; i < slice.length; ++i) {
    for (Index sample = 0; sample < kBatch; ++sample) {
      for (Index column = first; column < last; ++column) {
        values.push_back(element(slice.map(i), sample, column));
      }
    }
  }
  return test::make_tensor(device, {slice.length, kBatch, last - first}, DType::f32, values);
}

void expect_equal(const Tensor& got, const Tensor& expected) {
  EXPECT_EQ(got.shape(), expected.shape());
  EXPECT_EQ(test::values_of(got), test::values_of(expected));
}

/// Each op's output, and as its gradient the other one's.
TEST(SequenceExchange, TradesTheSequenceForHeadsAndBack) {
  for (const Index ranks : {1, 2, 3}) {
    comm::run_thread_world(ranks, [ranks](comm::World& world) {
      const auto device = device::make_device("reference");
      const Index columns = kColumns / ranks, rank = world.rank();
      const Tensor slice = part_of(*device, zigzag_slice(kLength, ranks, rank), 0, kColumns);
      const Tensor heads =
          part_of(*device, {.map = {}, .length = kLength}, rank * columns, (rank + 1) * columns);
      Tape tape;
      Context context{.device = *device, .recorder = {.tape = &tape, .usage = &tape}};
      const Var x = autograd::variable(slice);
      const Var y = sequence_to_heads(context, x, world.all());
      expect_equal(y.value, heads);
      const Var z = heads_to_sequence(context, y, world.all());
      expect_equal(z.value, slice);
      if (ranks > 1) {
        tape.backward(context, z.slot, slice);
        expect_equal(x.slot.gradient(), slice);
      }
    });
  }
}

}  // namespace sequence_exchange_test
}  // namespace mpitron::ops
