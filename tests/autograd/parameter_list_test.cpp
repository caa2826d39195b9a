#include "autograd/parameter_list.h"

#include <gtest/gtest.h>

namespace mpitron::autograd {
namespace parameter_list_test {

TEST(ParameterList, KeepsOrderAndAddresses) {
  ParameterList parameters;
  const Parameter* first = &parameters.add({.name = "p0", .shape = {2, 3}});
  for (int i = 1; i < 1000; ++i) {
    parameters.add({.name = "p" + std::to_string(i), .shape = {2}});
  }
  EXPECT_EQ(&*parameters.begin(), first);
  EXPECT_EQ(parameters.size(), 1000u);
  EXPECT_EQ(parameters.numel(), 6 + 999 * 2);
  int i = 0;
  for (const Parameter& parameter : parameters) {
    EXPECT_EQ(parameter.name, "p" + std::to_string(i++));
  }
}

TEST(ParameterList, FindsByTheWholeName) {
  ParameterList parameters;
  parameters.add({.name = "decoder.weight"});
  Parameter& bias = parameters.add({.name = "decoder.bias"});
  EXPECT_EQ(parameters.find("decoder.bias"), &bias);
  EXPECT_EQ(parameters.find("decoder"), nullptr);
  EXPECT_EQ(parameters.find("decoder.bias2"), nullptr);
}

}  // namespace parameter_list_test
}  // namespace mpitron::autograd
