#include "plan/machine/parameter_table.h"

#include <set>

#include <gtest/gtest.h>

#include "plan/machine/library.h"

namespace mpitron::plan {
namespace parameter_table_test {

template <class T>
void expect_plausible(std::span<const ParameterKey<T>> keys) {
  std::set<std::string> seen;
  for (const ParameterKey<T>& key : keys) {
    EXPECT_TRUE(seen.insert(key.key).second) << key.key;
    EXPECT_LT(key.least, key.most) << key.key;
  }
}

TEST(ParameterTable, EveryKeyStandsOnceWithARange) {
  expect_plausible(machine_keys());
  expect_plausible(stack_keys());
}

TEST(ParameterTable, ShippedMachinesLieInTheRanges) {
  const Library library;
  for (const std::string& name : library.machines.names()) {
    const Machine machine = *library.machine(name);
    for (const ParameterKey<Machine>& key : machine_keys()) {
      const double value = machine.*key.field;
      if (key.required) {
        EXPECT_GE(value, key.least) << name << " " << key.key;
        EXPECT_LE(value, key.most) << name << " " << key.key;
      }
    }
  }
}

TEST(ParameterTable, APrecisionThatAGpuLacksHasNoRate) {
  const Machine machine = *Library().machine("a100-dgx");
  EXPECT_GT(machine.product_rate(Precision::bf16), 1e14);
  for (const Precision lacking : {Precision::fp8, Precision::mxfp8, Precision::nvfp4}) {
    EXPECT_THROW(machine.product_rate(lacking), Error) << to_string(lacking);
  }
  EXPECT_THROW(Library().machine("h100-dgx")->product_rate(Precision::mxfp8), Error);
  EXPECT_GT(Library().machine("b300-dgx")->product_rate(Precision::mxfp8), 1e15);
}

TEST(ParameterTable, UnknownKeysAreToldWithTheNearest) {
  WrittenValues values = Library().machines.values(*Library().machines.find("a100-dgx"));
  values["gpu.memry"] = {"1e9", "x.yaml"};
  try {
    make_machine("x", values);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "x.yaml: no key gpu.memry is known; did you mean gpu.memory?");
  }
}

}  // namespace parameter_table_test
}  // namespace mpitron::plan
