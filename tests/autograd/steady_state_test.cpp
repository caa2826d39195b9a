#include <gtest/gtest.h>

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "support/counted_new.h"
#include "support/tensors.h"

// The tape's promise that a steady step allocates nothing.

namespace mpitron::autograd {
namespace steady_state_test {

/// 2000 additions: more nodes than one chunk of the arena holds.
void step(Context& context, Tape& tape, Parameter& parameter, const Tensor& input) {
  Var y = variable(input);
  for (int i = 0; i < 2000; ++i) {
    context.use(parameter);
    const Tensor sum = context.empty(input.shape(), DType::f32);
    context.launch(kernels::Add{.a = y.value.view(), .b = input.view(), .y = sum.view()});
    Var next = variable(sum);
    tape.record(next.slot, [slot = y.slot, saved = y.value](Context& inner, Tensor dy) {
      accumulate(inner, slot, std::move(dy));
    });
    y = std::move(next);
  }
  const Slot output = y.slot;
  tape.backward(context, output, y.value);
  tape.clear();
}

TEST(SteadyState, ASecondStepAllocatesNothing) {
  const auto device = device::make_device("reference");
  Tape tape;
  Parameter parameter;
  Context context{.device = *device, .recorder = {.tape = &tape, .usage = &tape}};
  const Tensor input = test::random_tensor(*device, {4}, DType::f32, 1);
  step(context, tape, parameter, input);
  const Index from_system = device->allocator().statistics().system_allocations;
  const std::int64_t before = test::allocations();
  EXPECT_GT(before, 0);
  step(context, tape, parameter, input);
  EXPECT_EQ(test::allocations(), before);
  EXPECT_EQ(device->allocator().statistics().system_allocations, from_system);
}

}  // namespace steady_state_test
}  // namespace mpitron::autograd
