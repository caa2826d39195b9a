#pragma once
#include <functional>

#include <gtest/gtest.h>

#include "autograd/gradient.h"
#include "comm/groups/world.h"
#include "support/tensors.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Tape;
using autograd::Var;
using tensor::Tensor;

/// What one rank sees in a test of differentiable communication: a thread with a reference device.
struct TestRank {
  device::Device& device;
  comm::Group& group;
  Context& context;  // records
  comm::World& world;

  Index rank() const { return group.rank(); }
  Index size() const { return group.size(); }
  Tensor tensor(const Shape& shape, const std::vector<double>& values) const {
    return test::make_tensor(device, shape, DType::f64, values);
  }
  /// Plays the tape of the context back from `output`.
  void backward(const Var& output, const Tensor& gradient) const {
    context.recorder.tape->backward(context, output.slot, gradient);
  }
};

inline void on_ranks(Index size, const std::function<void(TestRank&)>& body) {
  comm::run_thread_world(size, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    Tape tape;
    Context context{
        .device = *device, .seed = 11, .iteration = 2, .recorder = {.tape = &tape, .usage = &tape}};
    const auto group = world.all();
    TestRank rank{*device, *group, context, world};
    body(rank);
  });
}

/// rows [begin, end) x columns [first, last) of a matrix of `columns` columns.
struct Block {
  Index begin, end, first, last;
};
inline std::vector<double> block_of(const std::vector<double>& matrix, Index columns,
                                    const Block& block) {
  std::vector<double> values;
  for (Index row = block.begin; row < block.end; ++row) {
    for (Index column = block.first; column < block.last; ++column) {
      values.push_back(matrix[static_cast<std::size_t>(row * columns + column)]);
    }
  }
  return values;
}

inline void expect_near(const std::vector<double>& x, const std::vector<double>& y,
                        double tolerance = 1e-12) {
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(x[i], y[i], tolerance) << i;
  }
}

}  // namespace mpitron::ops
