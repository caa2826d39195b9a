#include "inference/rank_adapters.h"

#include <gtest/gtest.h>

#include "autograd/cached_pass.h"
#include "comm/groups/world.h"
#include "device/device.h"
#include "support/corpus.h"
#include "support/host_runtime.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace rank_adapters_test {

AdapterHandle adapter_of(Index number) {
  static const auto device = device::make_device("host");
  return std::make_shared<autograd::Adapter>(*device, DType::f32, number,
                                             std::make_shared<autograd::ParameterList>(),
                                             std::map<std::string, autograd::Adapter::Factors>{});
}

/// Those of the start stay, others go when their last holder is the list.
TEST(RankAdapters, TellWhomNobodyHolds) {
  RankAdapters adapters({adapter_of(1)});
  EXPECT_TRUE(adapters.unused().empty());
  AdapterHandle held = adapter_of(4);  // numbers between went to folders that were refused
  adapters.add(held);
  adapters.add(adapter_of(2));
  EXPECT_EQ(adapters.by_number().size(), 4u);
  EXPECT_EQ(adapters.by_number()[2], nullptr);
  EXPECT_EQ(adapters.unused(), std::vector<Index>{2});
  held.reset();
  EXPECT_EQ(adapters.unused(), (std::vector<Index>{2, 4}));
  adapters.drop(2);
  EXPECT_EQ(adapters.unused(), std::vector<Index>{4});
}

/// The message of the rank that cannot read, on all of them.
TEST(RankAdapters, AreReadByAllRanksOrByNone) {
  comm::run_thread_world(3, [](comm::World& world) {
    const auto refusal = [&](const std::string& folder) {
      const auto read = [&](const std::string& path) -> AdapterHandle {
        if (path == "absent" || (path == "elsewhere" && world.rank() == 2)) {
          throw_data("{}/adapter_config.json: cannot be read", path);
        }
        return adapter_of(1);
      };
      return test::message_of([&] { read_together(*world.all(), read, folder); });
    };
    EXPECT_EQ(refusal("here"), "");
    EXPECT_EQ(refusal("absent"), "absent/adapter_config.json: cannot be read");
    EXPECT_EQ(refusal("elsewhere"),
              "rank 2 cannot read it: elsewhere/adapter_config.json: cannot be read");
  });
}

}  // namespace rank_adapters_test
}  // namespace mpitron::inference
