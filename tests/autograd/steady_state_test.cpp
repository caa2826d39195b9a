#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "autograd/gradient.h"
#include "kernels/elementwise.h"
#include "support/tensors.h"

// The tape's promise that a steady step allocates nothing. Every `new` of this program is counted.

namespace {
std::size_t allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace mpitron::autograd {
namespace {

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
  Context context{.device = *device, .tape = &tape, .usage = &tape};
  const Tensor input = testing::random_tensor(*device, {4}, DType::f32, 1);
  step(context, tape, parameter, input);
  const Index from_system = device->allocator().statistics().system_allocations;
  const std::size_t before = allocations;
  EXPECT_GT(before, 0u);
  step(context, tape, parameter, input);
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(device->allocator().statistics().system_allocations, from_system);
}

}  // namespace
}  // namespace mpitron::autograd
