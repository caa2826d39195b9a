#include "autograd/deferred_gradients.h"

#include <gtest/gtest.h>

#include "autograd/toy_model.h"

namespace mpitron::autograd {
namespace deferred_gradients_test {

/// Writes down what a keeper hears.
class Listener final : public ParameterKeeper {
 public:
  void before_use(Parameter&) override {}
  void gradient_released(Parameter& parameter, bool last_microbatch) override {
    heard.push_back(parameter.name + (last_microbatch ? " last" : ""));
    if (parameter.sink.live_tapes > 0) {
      heard.back() += " in use";
    }
  }
  void enter(Index, Pass) override {}
  void leave(Index, Pass) override {}

  std::vector<std::string> heard;
};

class DeferredGradientsTest : public ::testing::Test {
 protected:
  Context context(Tape* tape = nullptr) {
    return {.device = *device_, .recorder = {.tape = tape, .usage = tape, .keeper = &listener_}};
  }
  /// A tape of two weights, whose nodes write down what they do.
  void record(Tape& tape) {
    for (Parameter* weight : {&first_, &second_}) {
      tape.use(*weight);
      tape.record_always([this, weight](Context& inner) {
        if (defers(inner, *weight)) {
          inner.recorder.deferred->add(*weight, [this, weight](Context& later) {
            EXPECT_FALSE(defers(later, *weight));
            added_.push_back(weight->name);
          });
        } else {
          added_.push_back(weight->name + " at once");
        }
      });
    }
  }
  void play(Tape& tape, DeferredGradients* deferred, bool last_microbatch = false) {
    Context cx = context(&tape);
    cx.recorder.deferred = deferred;
    cx.recorder.last_microbatch = last_microbatch;
    tape.backward(cx, Slot::make(), {});
  }

  using Names = std::vector<std::string>;
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  Parameter first_{.name = "first"}, second_{.name = "second"};
  Listener listener_;
  Names added_;
};

TEST_F(DeferredGradientsTest, AddsLaterInTheOrderOfThePassAndReleasesThen) {
  Tape tape;
  record(tape);
  DeferredGradients deferred;
  play(tape, &deferred, true);
  EXPECT_EQ(added_, Names{});
  EXPECT_EQ(listener_.heard, Names{});
  EXPECT_EQ(first_.sink.live_tapes, 1);
  deferred.play(context());
  EXPECT_EQ(added_, (Names{"second", "first"}));
  EXPECT_EQ(listener_.heard, (Names{"second last", "first last"}));
  EXPECT_EQ(first_.sink.live_tapes, 0);
}

TEST_F(DeferredGradientsTest, WhoAsksForOneParameterGetsNoOther) {
  Tape tape;
  record(tape);
  DeferredGradients deferred(&first_);
  play(tape, &deferred);
  EXPECT_EQ(added_, Names{"second at once"});
  EXPECT_EQ(listener_.heard, Names{"second"});
  deferred.play(context());
  EXPECT_EQ(added_.back(), "first");
  EXPECT_EQ(listener_.heard.back(), "first");
}

/// A gradient is complete when the additions of all tapes are made, and no earlier.
TEST_F(DeferredGradientsTest, AQueueOfSeveralMicrobatchesReleasesEachAsItsOwn) {
  DeferredGradients deferred(&first_);
  Tape one, two, three;
  for (Tape* tape : {&one, &two, &three}) {
    record(*tape);
  }
  play(one, &deferred);
  play(two, &deferred);
  deferred.play(context(), 1);
  EXPECT_EQ(deferred.size(), 1u);
  play(three, &deferred, true);
  deferred.play(context());
  EXPECT_EQ(deferred.size(), 0u);
  EXPECT_EQ(std::count(added_.begin(), added_.end(), "first"), 3);
  const Names heard{"second in use", "second in use", "first in use",
                    "second last",   "first in use",  "first last"};
  EXPECT_EQ(listener_.heard, heard);
}

TEST_F(DeferredGradientsTest, AParameterWithSeveralAdditionsIsReleasedBehindTheLast) {
  Tape tape;
  tape.use(first_);
  for (int use = 0; use < 2; ++use) {
    tape.record_always([this](Context& inner) {
      inner.recorder.deferred->add(first_, [this](Context&) {
        EXPECT_TRUE(listener_.heard.empty());
        added_.push_back("first");
      });
    });
  }
  DeferredGradients deferred;
  play(tape, &deferred);
  deferred.play(context());
  EXPECT_EQ(added_.size(), 2u);
  EXPECT_EQ(listener_.heard, Names{"first"});
}

/// Nothing of it waits: an expert without tokens, a weight that is not a linear layer's.
TEST_F(DeferredGradientsTest, WhatHasNoAdditionsIsReleasedAtOnce) {
  Tape tape;
  tape.use(first_);
  tape.record_always([](Context&) {});
  DeferredGradients deferred;
  play(tape, &deferred, true);
  EXPECT_EQ(listener_.heard, Names{"first last"});
}

}  // namespace deferred_gradients_test
}  // namespace mpitron::autograd
