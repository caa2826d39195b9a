#include "train/timing/layer_trace.h"

#include <gtest/gtest.h>

namespace mpitron::train {
namespace layer_trace_test {

using autograd::Pass;

/// Counts the calls that reach it.
struct Counting final : autograd::ParameterKeeper {
  void before_use(autograd::Parameter&) override { ++uses; }
  void gradient_released(autograd::Parameter&, bool last) override { released += last ? 1 : 0; }
  void enter(Index, Pass) override { ++entered; }
  void leave(Index, Pass) override { ++left; }
  int uses = 0, released = 0, entered = 0, left = 0;
};

TEST(LayerTrace, IsOutOfTheWayWhereNothingIsRecorded) {
  Counting keeper;
  Trace trace;
  EXPECT_EQ(&LayerTrace(keeper, &trace).keeper(), &keeper);
  EXPECT_EQ(&LayerTrace(keeper, nullptr).keeper(), &keeper);
}

TEST(LayerTrace, AddsLayersAndPassesEverythingOn) {
  Counting keeper;
  Trace trace;
  LayerTrace layers(keeper, &trace);
  trace.start();
  autograd::ParameterKeeper& given = layers.keeper();
  ASSERT_NE(&given, &keeper);
  autograd::Parameter parameter;
  given.enter(3, Pass::backward);
  given.enter(3, Pass::forward);  // recomputed
  given.before_use(parameter);
  given.leave(3, Pass::forward);
  given.gradient_released(parameter, true);
  given.leave(3, Pass::backward);
  EXPECT_EQ(keeper.uses, 1);
  EXPECT_EQ(keeper.released, 1);
  EXPECT_EQ(keeper.entered, 2);
  EXPECT_EQ(keeper.left, 2);
  const auto spans = trace.stop();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_STREQ(spans[0].name.data(), "layer forward");
  EXPECT_STREQ(spans[1].name.data(), "layer backward");
  EXPECT_EQ(spans[1].number, 3);
  EXPECT_LE(spans[1].begin, spans[0].begin);
  EXPECT_GE(spans[1].end, spans[0].end);
}

TEST(LayerTrace, PassesOfTwoMicrobatchesMayRunByTurns) {
  Counting keeper;
  Trace trace;
  LayerTrace layers(keeper, &trace);
  trace.start();
  layers.enter(1, Pass::forward);
  layers.enter(2, Pass::backward);
  layers.leave(1, Pass::forward);
  layers.leave(2, Pass::backward);
  const auto spans = trace.stop();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_STREQ(spans[0].name.data(), "layer forward");
  EXPECT_EQ(spans[0].number, 1);
  EXPECT_LE(spans[0].begin, spans[1].begin);
  EXPECT_EQ(spans[1].number, 2);
}

}  // namespace layer_trace_test
}  // namespace mpitron::train
