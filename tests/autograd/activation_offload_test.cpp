#include "autograd/activation_offload.h"

#include <cstring>

#include <gtest/gtest.h>

#include "autograd/toy_model.h"
#include "support/far_device.h"

namespace mpitron::autograd {
namespace activation_offload_test {

using test::bits_of;

/// Copies when it is waited for; a wait for what is not under way fails.
class LazyLane final : public device::CopyLane {
 public:
  void follow_stream() override {}
  void copy(void* to, const void* from, Index bytes) override {
    copies_.push_back({to, from, bytes});
    bytes_ += bytes;
  }
  Index mark() override { return ++marks_; }
  void let_stream_wait(Index mark) override {
    ASSERT_EQ(mark, ++waited_);
    for (const Copy& copy : copies_) {
      std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.bytes));
    }
    copies_.clear();
  }
  Index bytes() const { return bytes_; }

 private:
  struct Copy {
    void* to;
    const void* from;
    Index bytes;
  };
  std::vector<Copy> copies_;
  Index bytes_ = 0, marks_ = 0, waited_ = 0;
};

struct Outcome {
  std::vector<std::byte> bits;  // of the input's gradient and of all weights' ones
  Index high_water = 0, bytes_sent = 0;
};

/// Two microbatches one behind the other, the first `layers` layers of each offloaded.
Outcome train(Index layers) {
  const auto gpu = test::make_far_device();
  toy::Model model(*gpu);
  auto down = std::make_unique<LazyLane>(), up = std::make_unique<LazyLane>();
  const LazyLane& sent = *down;
  OffloadLanes lanes{std::move(down), std::move(up)};
  Outcome outcome;
  for (unsigned microbatch = 0; microbatch < 2; ++microbatch) {
    ActivationOffload offload(*gpu, lanes, {.layers = layers, .min_bytes = 0});
    Tape tape;
    Context context{.device = *gpu, .recorder = {.tape = &tape, .usage = &tape}};
    context.recorder.offload = layers > 0 ? &offload : nullptr;
    const Var x = variable(model.input(microbatch));
    const Slot output = model.forward(context, x).slot;
    offload.end_forward();
    tape.backward(context, output,
                  test::random_tensor(*gpu, {toy::kRows, toy::kHidden}, DType::f32, 7));
    const std::vector<std::byte> bits = bits_of(take_gradient(x.slot));
    outcome.bits.insert(outcome.bits.end(), bits.begin(), bits.end());
  }
  const std::vector<std::byte> weights = model.gradient_bits();
  outcome.bits.insert(outcome.bits.end(), weights.begin(), weights.end());
  outcome.high_water = gpu->allocator().statistics().high_water;
  outcome.bytes_sent = sent.bytes();
  return outcome;
}

TEST(ActivationOffload, ComputesTheSameBitsInLessMemory) {
  const Outcome plain = train(0);
  EXPECT_EQ(plain.bytes_sent, 0);
  Index sent = 0;
  for (const Index layers : {1, 3, 4}) {
    const Outcome offloaded = train(layers);
    EXPECT_EQ(offloaded.bits, plain.bits) << layers;
    EXPECT_GT(offloaded.bytes_sent, sent) << layers;
    sent = offloaded.bytes_sent;
  }
  EXPECT_LT(train(4).high_water, plain.high_water);
}

}  // namespace activation_offload_test
}  // namespace mpitron::autograd
