#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <gtest/gtest.h>

#include "io/arrays/safetensors.h"
#include "ops/elementwise/scaled.h"
#include "ops/linear/linear.h"
#include "ops/linear/low_rank.h"
#include "support/golden_folder.h"
#include "support/tensors.h"

namespace mpitron::ops {
namespace low_rank_linear_test {

using autograd::Tape;
using tensor::Tensor;

/// One linear layer of Hugging Face's PEFT.
class RecordedLowRank : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(path())) {
      GTEST_SKIP() << path() << ": not in this set of reference data";
    }
    file_.emplace(path());
  }
  static std::string path() {
    return test::golden_folder() + "/generation/lora/linear.safetensors";
  }

  std::vector<double> values(const std::string& name) const {
    const auto stored = file_->at(name).as<float>();
    std::vector<double> result;
    for (Index i = 0; i < stored.size(); ++i) {
      result.push_back(stored[i]);
    }
    return result;
  }
  Tensor tensor(const std::string& name) const {
    const auto& shape = file_->at(name).shape;
    const Shape own = shape.size() == 1 ? Shape{shape[0]} : Shape{shape[0], shape[1]};
    return test::make_tensor(*device_, own, DType::f32, values(name));
  }
  Parameter parameter(const std::string& name) const {
    Parameter result{.name = name, .value = tensor(name)};
    result.sink.main_grad = Tensor::empty(*device_, result.value.shape(), DType::f32);
    return result;
  }
  void expect_near(const Tensor& x, const std::string& name) const {
    const std::vector<double> got = test::values_of(x), expected = values(name);
    ASSERT_EQ(got.size(), expected.size());
    double largest = 0;
    for (const double value : expected) {
      largest = std::max(largest, std::abs(value));
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], expected[i], 1e-5 * largest) << name << ' ' << i;
    }
  }
  void expect_case(const std::string& name, double scale) const {
    SCOPED_TRACE(name);
    Parameter weight = parameter(name + "/weight"), bias = parameter(name + "/bias");
    Parameter a = parameter(name + "/lora_A"), b = parameter(name + "/lora_B");
    weight.role.frozen = bias.role.frozen = true;
    Tape tape;
    Context cx{.device = *device_, .recorder = {.tape = &tape, .usage = &tape}};
    const Var x = autograd::variable(tensor(name + "/x"));
    const Var u = scaled(cx, linear(cx, x, a, nullptr), scale);
    const Index out = b.value.shape()[0];
    const Var y =
        add_low_rank(cx, linear(cx, x, weight, &bias), u, {{&b}, {x.shape()[0]}}, {.width = out});
    expect_near(y.value, name + "/y");
    tape.backward(cx, y.slot, tensor(name + "/dy"));
    expect_near(x.slot.gradient(), name + "/dx");
    expect_near(a.sink.main_grad, name + "/dA");
    expect_near(b.sink.main_grad, name + "/dB");
    EXPECT_FALSE(weight.sink.written || bias.sink.written);
    EXPECT_EQ(tape.uses().size(), 2U);
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
  std::optional<io::SafetensorsFile> file_;
};

TEST_F(RecordedLowRank, IsThatOfPeft) {
  expect_case("plain", 2);
  expect_case("rslora", 4);
  expect_case("rank_one", 1);
}

}  // namespace low_rank_linear_test
}  // namespace mpitron::ops
