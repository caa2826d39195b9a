#include "autograd/segmented_tape.h"

#include <gtest/gtest.h>

#include "autograd/context.h"

namespace mpitron::autograd {
namespace segmented_tape_test {

class SegmentedTapeTest : public ::testing::Test {
 protected:
  /// A node that writes its name down.
  void record(const std::string& name) {
    tape_.current().record_always([this, name](Context&) { played_ += name; });
  }
  void play_last() { tape_.play_last(context_); }

  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  Context context_{.device = *device_};
  SegmentedTape tape_;
  std::string played_;
};

TEST_F(SegmentedTapeTest, PartsArePlayedOneByOneTheLastFirst) {
  record("a"), record("b");
  tape_.cut();
  record("c"), record("d");
  play_last();
  EXPECT_EQ(played_, "dc");
  EXPECT_FALSE(tape_.played());
  play_last();
  EXPECT_EQ(played_, "dcba");
  EXPECT_TRUE(tape_.played());
  EXPECT_THROW(play_last(), InternalError);
}

TEST_F(SegmentedTapeTest, BeginsAnewWithTheSameParts) {
  Tape* const first = &tape_.current();
  tape_.cut();
  Tape* const second = &tape_.current();
  EXPECT_THROW(tape_.restart(), InternalError);  // not yet played
  play_last();
  EXPECT_EQ(context_.recorder.tape, second);
  play_last();
  EXPECT_EQ(context_.recorder.tape, first);
  tape_.restart();
  EXPECT_EQ(&tape_.current(), first);
  tape_.cut();
  EXPECT_EQ(&tape_.current(), second);
}

/// A parameter that both parts use is released when the first one has been played.
TEST_F(SegmentedTapeTest, AParameterLivesUntilItsFirstPartIsPlayed) {
  Parameter shared{.name = "shared"}, late{.name = "late"};
  record("a");
  tape_.current().use(shared);
  tape_.cut();
  record("b");
  tape_.current().use(shared);
  tape_.current().use(late);
  play_last();
  EXPECT_EQ(shared.sink.live_tapes, 1);
  EXPECT_EQ(late.sink.live_tapes, 0);
  play_last();
  EXPECT_EQ(shared.sink.live_tapes, 0);
}

/// What lies between the parts may hold gradients for the earlier one.
TEST_F(SegmentedTapeTest, GradientsWaitInTheirSlots) {
  const Slot output = Slot::make();
  double seen = 0;
  tape_.current().record(output,
                         [&seen](Context&, const Tensor& g) { seen = g.data<double>()[0]; });
  tape_.cut();
  tape_.current().record_always([output](Context& context) {
    output.gradient() = context.empty({1}, DType::f64);
    output.gradient().data<double>()[0] = 3;
  });
  play_last();
  EXPECT_EQ(seen, 0);
  play_last();
  EXPECT_EQ(seen, 3);
}

}  // namespace segmented_tape_test
}  // namespace mpitron::autograd
