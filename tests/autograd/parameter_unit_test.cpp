#include "autograd/parameter_unit.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "autograd/toy_model.h"

// What the passes tell a keeper of parameters, and when.

namespace mpitron::autograd {
namespace parameter_unit_test {

/// Writes down what it is told.
class Diary final : public ParameterKeeper {
 public:
  void before_use(Parameter& parameter) override { note("use " + parameter.name); }
  void gradient_released(Parameter& parameter, bool last) override {
    note((last ? "last " : "release ") + parameter.name);
    live.push_back(parameter.sink.live_tapes);
  }
  void enter(Index unit, Pass pass) override { note(name(pass) + std::to_string(unit)); }
  void leave(Index unit, Pass pass) override { note("/" + name(pass) + std::to_string(unit)); }

  std::vector<std::string> take() { return std::exchange(lines_, {}); }
  std::vector<Index> live;

 private:
  static std::string name(Pass pass) { return pass == Pass::forward ? "f" : "b"; }
  void note(std::string line) { lines_.push_back(std::move(line)); }
  std::vector<std::string> lines_;
};

using Lines = std::vector<std::string>;

class ParameterUnitTest : public ::testing::Test {
 protected:
  Context context(Tape& tape) {
    return {.device = *device_, .recorder = {.tape = &tape, .usage = &tape, .keeper = &diary_}};
  }
  /// linear(linear(x, first), second), each in its unit.
  Var two_units(Context& cx, const Var& input, bool recomputed) {
    Var x = input;
    for (const Index unit : {1, 2}) {
      Parameter& weight = unit == 1 ? first_ : second_;
      const auto layer = [&weight](Context& inner, const Var& in) {
        return toy::linear(inner, in, weight);
      };
      const auto block = [layer, unit](Context& inner, const Var& in) {
        return in_unit(inner, unit, layer, in);
      };
      x = recomputed ? recompute(cx, block, x) : block(cx, x);
    }
    return x;
  }
  Tensor random(unsigned seed) { return test::random_tensor(*device_, {6, 8}, DType::f32, seed); }

  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  ParameterList parameters_;
  Parameter& first_ = toy::make_weight(*device_, parameters_, 8, 8);   // w0
  Parameter& second_ = toy::make_weight(*device_, parameters_, 8, 8);  // w1
  Diary diary_;
};

TEST_F(ParameterUnitTest, PassesLieBetweenEnterAndLeave) {
  Tape tape;
  Context cx = context(tape);
  const Var y = two_units(cx, variable(random(1)), false);
  EXPECT_EQ(diary_.take(), (Lines{"f1", "use w0", "/f1", "f2", "use w1", "/f2"}));
  cx.recorder.last_microbatch = true;
  tape.backward(cx, y.slot, random(2));
  EXPECT_EQ(diary_.take(), (Lines{"b2", "last w1", "/b2", "b1", "last w0", "/b1"}));
}

TEST_F(ParameterUnitTest, ARecomputedUnitIsEnteredAgain) {
  Tape tape;
  Context cx = context(tape);
  const Var y = two_units(cx, variable(random(1)), true);
  diary_.take();
  tape.backward(cx, y.slot, random(2));
  EXPECT_EQ(diary_.take(), (Lines{"f2", "use w1", "/f2", "b2", "/b2", "release w1",  //
                                  "f1", "use w0", "/f1", "b1", "/b1", "release w0"}));
}

/// A unit whose branch gets no gradient still tells of its end.
TEST_F(ParameterUnitTest, AnIdleUnitIsStillLeft) {
  Tape tape;
  Context cx = context(tape);
  const Var x = variable(random(1));
  const Var y = toy::linear(cx, x, first_);
  two_units(cx, x, false);
  diary_.take();
  tape.backward(cx, y.slot, random(2));
  EXPECT_EQ(diary_.take(), (Lines{"b2", "release w1", "/b2", "b1", "/b1", "release w0"}));
}

/// The trap: a tied weight in two recomputed blocks is finished with the earlier block, not with as
/// many nodes as uses.
TEST_F(ParameterUnitTest, ATiedWeightIsReleasedByItsFirstUse) {
  Tape tape;
  Context cx = context(tape);
  const auto tied = [this](Context& inner, const Var& in) {
    return toy::linear(inner, toy::linear(inner, in, first_), first_);
  };
  Var x = recompute(cx, tied, variable(random(1)));
  x = toy::linear(cx, x, second_);
  x = recompute(cx, tied, x);
  diary_.take();
  diary_.live.clear();
  EXPECT_EQ(first_.sink.live_tapes, 1);
  tape.backward(cx, x.slot, random(2));
  const Lines lines = diary_.take();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "release w0"), 1);
  EXPECT_EQ(lines.back(), "release w0");
  EXPECT_EQ(diary_.live, (std::vector<Index>{0, 0}));
}

/// Several microbatches under way: the weight is complete when no living tape used it.
TEST_F(ParameterUnitTest, LivingTapesAreCounted) {
  Tape tapes[2];
  Context cx[2] = {context(tapes[0]), context(tapes[1])};
  const Var y[2] = {toy::linear(cx[0], variable(random(1)), first_),
                    toy::linear(cx[1], variable(random(2)), first_)};
  EXPECT_EQ(first_.sink.live_tapes, 2);
  tapes[1].backward(cx[1], y[1].slot, random(3));
  tapes[0].backward(cx[0], y[0].slot, random(3));
  EXPECT_EQ(diary_.live, (std::vector<Index>{1, 0}));
  Tape dropped;
  Context third = context(dropped);
  toy::linear(third, variable(random(1)), first_);
  EXPECT_EQ(first_.sink.live_tapes, 1);
  dropped.clear();
  EXPECT_EQ(first_.sink.live_tapes, 0);
}

TEST_F(ParameterUnitTest, NothingIsAddedToAGradientThatWasSent) {
  Tape tape;
  Context cx = context(tape);
  const Var y = toy::linear(cx, variable(random(1)), first_);
  first_.sink.sent = true;
  EXPECT_ANY_THROW(tape.backward(cx, y.slot, random(2)));
  first_.sink.sent = false;
}

}  // namespace parameter_unit_test
}  // namespace mpitron::autograd
