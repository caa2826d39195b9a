#include "plan/model/flops_formula.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::plan {
namespace flops_formula_test {

TEST(FlopsFormula, AreNamed) {
  for (const char* name : {"megatron", "full", "hardware", "6N"}) {
    EXPECT_STREQ(to_string(flops_formula(name)), name);
  }
  EXPECT_THROW(flops_formula("7N"), Error);
}

}  // namespace flops_formula_test
}  // namespace mpitron::plan
