#include "convert/formats/stacked_experts.h"

#include <gtest/gtest.h>

#include "convert/tiny_models.h"
#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::convert {
namespace stacked_experts_test {

constexpr const char* kAt = "model.layers.0.mlp.experts.";

/// Numbers from 0 on, in the shape.
std::vector<float> counted(Index count) {
  std::vector<float> values;
  for (Index i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i));
  }
  return values;
}

/// Two experts with h = 3 and f = 2.
std::unique_ptr<test::MemorySource> stacks() {
  auto files = std::make_unique<test::MemorySource>();
  files->add("lm_head.weight", {1, 2}, counted(2));
  files->add(std::string(kAt) + "gate_up_proj", {2, 3, 4}, counted(24));
  files->add(std::string(kAt) + "gate_up_proj_bias", {2, 4}, counted(8));
  files->add(std::string(kAt) + "down_proj", {2, 2, 3}, counted(12));
  files->add(std::string(kAt) + "down_proj_bias", {2, 3}, counted(6));
  return files;
}

TEST(StackedExperts, EachExpertHasItsColumnsAsRows) {
  const auto apart = unstack_experts(stacks());
  const std::pair<const char*, std::vector<float>> expected[] = {
      {"0.gate_proj.weight", {0, 4, 8, 2, 6, 10}},      {"0.up_proj.weight", {1, 5, 9, 3, 7, 11}},
      {"1.gate_proj.weight", {12, 16, 20, 14, 18, 22}}, {"1.up_proj.bias", {5, 7}},
      {"1.down_proj.weight", {6, 9, 7, 10, 8, 11}},     {"1.down_proj.bias", {3, 4, 5}}};
  for (const auto& [name, values] : expected) {
    EXPECT_EQ(test::floats_of(apart->read(kAt + std::string(name))), values) << name;
  }
  EXPECT_EQ(apart->find(std::string(kAt) + "0.gate_proj.weight")->shape, (Shape{2, 3}));
  EXPECT_EQ(apart->find(std::string(kAt) + "0.down_proj.weight")->shape, (Shape{3, 2}));
  EXPECT_EQ(apart->tensors().size(), 13u);
}

TEST(StackedExperts, ComeTogetherAsTheyWere) {
  const auto before = stacks();
  const auto apart = unstack_experts(stacks());
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
  const auto apart = unstack_experts(stacks());
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

/// Bytes under names, as files have MXFP4.
class PackedSource : public TensorSource {
 public:
  void add(const std::string& name, const Shape& shape, std::vector<std::uint8_t> bytes) {
    infos_.push_back({kAt + name, shape, DType::u8});
    bytes_[kAt + name] = std::move(bytes);
  }
  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  HostTensor read(const std::string& name) override {
    return {*find(name), std::as_bytes(std::span(bytes_.at(name)))};
  }

 private:
  std::vector<TensorInfo> infos_;
  std::map<std::string, std::vector<std::uint8_t>> bytes_;
};

/// One expert, f = 1, h = 32: a row of gates, whose numbers are all sixteen in turn, twice, and a
/// row of the other half, which is -6 throughout.
TEST(StackedExperts, FourBitsAreReadWithTheirScales) {
  auto files = std::make_unique<PackedSource>();
  std::vector<std::uint8_t> blocks;
  for (int twice = 0; twice < 2; ++twice) {
    for (int i = 0; i < 16; i += 2) {
      blocks.push_back(static_cast<std::uint8_t>(i | (i + 1) << 4));
    }
  }
  blocks.resize(32, 0xff);
  files->add("gate_up_proj_blocks", {1, 2, 1, 16}, blocks);
  files->add("gate_up_proj_scales", {1, 2, 1}, {128, 124});
  const auto apart = unstack_experts(std::move(files));
  ASSERT_EQ(apart->tensors().size(), 2u);
  const HostTensor gates = apart->read(std::string(kAt) + "0.gate_proj.weight");
  EXPECT_EQ(gates.dtype(), DType::bf16);
  EXPECT_EQ(gates.shape(), (Shape{1, 32}));
  std::vector<float> expected{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  expected.insert(expected.end(), expected.begin(), expected.end());
  EXPECT_EQ(test::floats_of(cast(gates, DType::f32)), expected);
  EXPECT_EQ(test::floats_of(cast(apart->read(std::string(kAt) + "0.up_proj.weight"), DType::f32)),
            std::vector<float>(32, -0.75f));
}

TEST(StackedExperts, OtherShapesAreTold) {
  const std::pair<const char*, Shape> wrong[] = {
      {"gate_up_proj", {2, 3, 5}}, {"gate_up_proj", {3, 4}}, {"down_proj_bias", {2, 3, 1}}};
  for (const auto& [name, shape] : wrong) {
    auto files = std::make_unique<test::MemorySource>();
    files->add(kAt + std::string(name), shape);
    EXPECT_THROW(unstack_experts(std::move(files)), Error) << name << to_string(shape);
  }
  auto scales = std::make_unique<PackedSource>();
  scales->add("down_proj_blocks", {1, 2, 1, 16}, std::vector<std::uint8_t>(32));
  scales->add("down_proj_scales", {1, 3, 1}, std::vector<std::uint8_t>(3));
  EXPECT_THROW(unstack_experts(std::move(scales)), Error);
}

}  // namespace stacked_experts_test
}  // namespace mpitron::convert
