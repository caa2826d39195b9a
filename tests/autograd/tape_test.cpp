#include "autograd/tape.h"

#include <algorithm>
#include <deque>

#include <gtest/gtest.h>

#include "autograd/toy_model.h"

namespace mpitron::autograd {
namespace tape_test {

class TapeTest : public ::testing::Test {
 protected:
  Context context(Tape* tape) {
    return {.device = *device_, .seed = 5, .recorder = {.tape = tape, .usage = tape}};
  }
  Index in_use() const { return device_->allocator().statistics().bytes_in_use; }
  /// What one tensor costs the allocator.
  Index footprint(const Shape& shape) {
    const Index before = in_use();
    const Tensor x = Tensor::empty(*device_, shape, DType::f32);
    return in_use() - before;
  }
  Tensor ones(const Shape& shape) {
    return test::make_tensor(*device_, shape, DType::f32,
                             std::vector<double>(static_cast<std::size_t>(shape.numel()), 1));
  }

  std::unique_ptr<device::Device> device_ = device::make_device("reference");
};

TEST_F(TapeTest, PlaysNodesInReverseAcrossArenaChunks) {
  constexpr int kNodes = 5000;  // more than a chunk of the arena holds
  Tape tape;
  Context cx = context(&tape);
  std::vector<int> order;
  const Slot first = Slot::make();
  Slot previous = first;
  for (int i = 0; i < kNodes; ++i) {
    const Slot output = Slot::make();
    tape.record(output, [i, &order, previous](Context& inner, Tensor gradient) {
      order.push_back(i);
      accumulate(inner, previous, std::move(gradient));
    });
    previous = output;
  }
  EXPECT_EQ(tape.size(), std::size_t{kNodes});
  tape.backward(cx, previous, ones({1}));
  ASSERT_EQ(order.size(), std::size_t{kNodes});
  EXPECT_TRUE(std::ranges::is_sorted(order, std::greater<>()));
  EXPECT_EQ(tape.size(), 0u);
  EXPECT_TRUE(first.gradient());
}

/// An expert without tokens, an image tower on a text batch.
TEST_F(TapeTest, ANodeWithoutGradientIsDroppedUnrunAndItsParameterStaysInUse) {
  ParameterList parameters;
  Parameter& used = toy::make_weight(*device_, parameters, 8, 8);
  Parameter& idle = toy::make_weight(*device_, parameters, 8, 8);
  Tape tape;
  Context cx = context(&tape);
  const Index before = in_use();
  {
    const Var x = variable(test::random_tensor(*device_, {6, 8}, DType::f32, 1));
    const Var y = toy::linear(cx, x, used);
    toy::linear(cx, x, idle);
    tape.backward(cx, y.slot, ones({6, 8}));
  }
  EXPECT_TRUE(used.sink.written);
  EXPECT_FALSE(idle.sink.written);
  EXPECT_EQ(tape.uses(), (ParameterUses{&used, &idle}));
  EXPECT_EQ(in_use(), before);
}

TEST_F(TapeTest, NotesAParameterOnceHoweverOftenItIsUsed) {
  ParameterList parameters;
  Parameter& tied = toy::make_weight(*device_, parameters, 8, 8);
  Tape tape;
  Context cx = context(&tape);
  Var x = variable(test::random_tensor(*device_, {6, 8}, DType::f32, 1));
  for (int use = 0; use < 3; ++use) {
    x = toy::linear(cx, x, tied);
  }
  EXPECT_EQ(tape.uses(), ParameterUses{&tied});
  tape.clear();
  EXPECT_TRUE(tape.uses().empty());
}

TEST_F(TapeTest, HoldsWhatItsOpsSavedAndNothingElse) {
  toy::Model model(*device_);
  const Index narrow = footprint({toy::kRows, toy::kHidden});
  const Index wide = footprint({toy::kRows, 4 * toy::kHidden});
  const auto held = [&](bool recomputed) {
    const Index before = in_use();
    Tape tape;
    Context cx = context(&tape);
    model.forward(cx, variable(model.input(0)), recomputed);
    return in_use() - before;
  };
  // Each block saves its input, the input and the output of its activation.
  EXPECT_EQ(held(false), toy::kLayers * (narrow + 2 * wide));
  EXPECT_EQ(held(true), toy::kLayers * narrow);
}

TEST_F(TapeTest, FreesSavedTensorsAsItPlays) {
  toy::Model model(*device_);
  Tape tape;
  Context cx = context(&tape);
  const Index before = in_use();
  const Slot output = model.forward(cx, variable(model.input(0))).slot;
  tape.backward(cx, output, ones({toy::kRows, toy::kHidden}));
  EXPECT_EQ(in_use(), before);
}

TEST_F(TapeTest, ClearDropsWhatWasNotPlayed) {
  toy::Model model(*device_);
  Tape tape;
  Context cx = context(&tape);
  const Index before = in_use();
  model.forward(cx, variable(model.input(0)));
  EXPECT_GT(in_use(), before);
  tape.clear();
  EXPECT_EQ(tape.size(), 0u);
  EXPECT_EQ(in_use(), before);
}

/// Trains `microbatches` with `window` forward passes ahead of their backward passes.
std::vector<std::byte> gradients(device::Device& device, int microbatches, std::size_t window) {
  struct InFlight {
    std::unique_ptr<Tape> tape;
    Slot output;
    int microbatch;
  };
  toy::Model model(device);
  std::deque<InFlight> in_flight;
  const auto context = [&](Tape* tape, int microbatch) {
    return Context{.device = device,
                   .seed = 5,
                   .position = {.first_sample = microbatch},
                   .recorder = {.tape = tape, .usage = tape}};
  };
  const auto backward = [&] {
    const InFlight oldest = std::move(in_flight.front());
    in_flight.pop_front();
    Context cx = context(oldest.tape.get(), oldest.microbatch);
    oldest.tape->backward(cx, oldest.output, model.input(50));
  };
  for (int i = 0; i < microbatches; ++i) {
    if (in_flight.size() == window) {
      backward();
    }
    auto tape = std::make_unique<Tape>();
    Context cx = context(tape.get(), i);
    const Slot output = model.forward(cx, variable(model.input(static_cast<unsigned>(i)))).slot;
    in_flight.push_back({std::move(tape), output, i});
  }
  while (!in_flight.empty()) {
    backward();
  }
  for (const Parameter& parameter : model.parameters()) {
    for (const double value : test::values_of(parameter.sink.main_grad)) {
      EXPECT_TRUE(std::isfinite(value)) << "main_grad was read before its first write";
    }
  }
  return model.gradient_bits();
}

TEST_F(TapeTest, SeveralMicrobatchesInFlightGiveTheBitsOfOne) {
  const std::vector<std::byte> one = gradients(*device_, 8, 1);
  EXPECT_EQ(gradients(*device_, 8, 4), one);
  EXPECT_EQ(gradients(*device_, 8, 8), one);
  EXPECT_NE(gradients(*device_, 7, 1), one);
}

}  // namespace tape_test
}  // namespace mpitron::autograd
