#include "convert/formats/stacked_experts.h"

#include <gtest/gtest.h>

#include "convert/experts_in_stacks.h"
#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::convert {
namespace stacked_experts_test {

using test::counted;
using test::experts_in_stacks;
using test::kAt;

TEST(StackedExperts, ComeTogetherAsTheyWere) {
  const auto before = experts_in_stacks();
  const auto apart = unstack_experts(experts_in_stacks());
  const auto again = stack_experts(*apart);
  ASSERT_EQ(again->tensors(), before->tensors());
  for (const TensorInfo& info : before->tensors()) {
    EXPECT_EQ(test::floats_of(again->read(info.name)), test::floats_of(before->read(info.name)))
        << info.name;
  }
}

/// Llama 4: all columns of the gate, then all of the other half; no biases.
TEST(StackedExperts, TheGateMayComeFirst) {
  auto files = std::make_unique<test::MemorySource>();
  const std::string name = std::string(kAt) + "gate_up_proj";
  files->add(name, {2, 3, 4}, counted(24));
  const auto apart = unstack_experts(std::move(files), GateColumns::halves);
  const auto expert = [&](const char* part) {
    return test::floats_of(apart->read(kAt + std::string(part)));
  };
  EXPECT_EQ(expert("0.gate_proj.weight"), (std::vector<float>{0, 4, 8, 1, 5, 9}));
  EXPECT_EQ(expert("1.up_proj.weight"), (std::vector<float>{14, 18, 22, 15, 19, 23}));
  EXPECT_EQ(test::floats_of(stack_experts(*apart, GateColumns::halves)->read(name)), counted(24));
}

TEST(StackedExperts, LargeOnesComeTogetherAsTheyWere) {
  const std::string name = std::string(kAt) + "gate_up_proj";
  auto files = std::make_unique<test::MemorySource>();
  files->add(name, {2, 45, 2 * 67}, counted(2 * 45 * 2 * 67));
  const auto apart = unstack_experts(std::move(files));
  const std::vector<float> up = test::floats_of(apart->read(std::string(kAt) + "1.up_proj.weight"));
  for (std::size_t row = 0; row < 67; ++row) {
    for (std::size_t column = 0; column < 45; ++column) {
      ASSERT_EQ(up[row * 45 + column], static_cast<float>((45 + column) * 2 * 67 + 2 * row + 1));
    }
  }
  EXPECT_EQ(test::floats_of(stack_experts(*apart)->read(name)), counted(2 * 45 * 2 * 67));
}

TEST(StackedExperts, DifferentOnesAreRefused) {
  const auto apart = unstack_experts(experts_in_stacks());
  test::MemorySource other;
  for (const TensorInfo& info : apart->tensors()) {
    const bool longer = info.name.ends_with("1.down_proj.bias");
    other.add(info.name, longer ? Shape{4} : info.shape);
  }
  const std::string text = test::message_of([&] { stack_experts(other); });
  EXPECT_NE(text.find("0.down_proj.bias and model.layers.0.mlp.experts.1.down_proj.bias differ"),
            std::string::npos)
      << text;
}

}  // namespace stacked_experts_test
}  // namespace mpitron::convert
