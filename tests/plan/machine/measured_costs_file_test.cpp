#include <gtest/gtest.h>

#include "plan/machine/exit_codes.h"
#include "plan/machine/measured_costs.h"
#include "plan/machine/parameter_file.h"
#include "plan/machine/sample_costs.h"
#include "utils/error.h"

namespace mpitron::plan {
namespace measured_costs_file_test {

TEST(MeasuredCostsFile, AFileHoldsThem) {
  const std::string head = "name: here\n";
  const ParameterFile file = parse_parameter_file(head + sample().to_yaml(), "here.yaml");
  ASSERT_NE(file.measured, nullptr);
  EXPECT_EQ(file.measured->to_yaml(), sample().to_yaml());
  MeasuredCosts costs;
  try {
    costs.read_line("operations", "all_shout 2 3 4", "here.yaml");
    FAIL() << "an unknown operation was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kBadParameterFile);
    EXPECT_NE(std::string(error.what()).find("here.yaml"), std::string::npos);
  }
}

}  // namespace measured_costs_file_test

}  // namespace mpitron::plan
