#include <gtest/gtest.h>

#include "convert/experts_in_stacks.h"
#include "convert/formats/stacked_experts.h"
#include "utils/error.h"

namespace mpitron::convert {
namespace unstacked_experts_test {

using test::experts_in_stacks;
using test::kAt;

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

TEST(UnstackedExperts, EachExpertHasItsColumnsAsRows) {
  const auto apart = unstack_experts(experts_in_stacks());
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

/// One expert, f = 1, h = 32: a row of gates, whose numbers are all sixteen in turn, twice, and a
/// row of the other half, which is -6 throughout.
TEST(UnstackedExperts, FourBitsAreReadWithTheirScales) {
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

TEST(UnstackedExperts, OtherShapesAreTold) {
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

}  // namespace unstacked_experts_test
}  // namespace mpitron::convert
