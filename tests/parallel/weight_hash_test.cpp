#include "parallel/weight_hash.h"

#include <gtest/gtest.h>

#include "autograd/parameter_list.h"
#include "comm/groups/world.h"
#include "support/tensors.h"
#include "utils/error.h"

namespace mpitron::parallel {
namespace weight_hash_test {

/// Checks two parameters on four ranks, of which `drifted` holds one bit more in the second.
void check(Index drifted) {
  comm::run_thread_world(4, [drifted](comm::World& world) {
    const auto device = device::make_device("reference");
    autograd::ParameterList parameters;
    for (const char* name : {"first", "second"}) {
      autograd::Parameter& parameter = parameters.add({.name = name, .shape = {3}});
      parameter.value = test::make_tensor(*device, {3}, DType::bf16, {1, 2, 3});
    }
    if (world.rank() == drifted) {
      test::set_values(parameters.find("second")->value, {1, 2, 3.015625});
    }
    check_weight_hashes(*device, parameters.all(), *world.all());
  });
}

TEST(WeightHash, EqualReplicasPass) {
  EXPECT_NO_THROW(check(-1));
}

TEST(WeightHash, NamesTheFirstParameterAndTheRank) {
  for (const Index rank : {1, 3}) {
    try {
      check(rank);
      FAIL();
    } catch (const Error& error) {
      const std::string expected =
          "second has other values on rank " + std::to_string(rank) + " than on rank 0";
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
}

}  // namespace weight_hash_test
}  // namespace mpitron::parallel
