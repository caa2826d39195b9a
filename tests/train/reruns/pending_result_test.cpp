#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "train/reruns/rerun_engine.h"

namespace mpitron::train {
namespace pending_result_test {

TEST(PendingResult, KeepsEveryBit) {
  for (const double value : {0.1, -1e-300, std::numeric_limits<double>::quiet_NaN()}) {
    const PendingResult written{.iteration = 7,
                                .name = "loss",
                                .value = value,
                                .complaint = "the \"loss\" is far too large",
                                .fatal = true,
                                .machines = "node[1-4]",
                                .injected = config::InjectedError::persistent_error};
    const PendingResult read = pending_result(to_json(written), "file");
    EXPECT_EQ(read.iteration, 7);
    EXPECT_EQ(read.name, "loss");
    EXPECT_TRUE(read.value == value || (std::isnan(read.value) && std::isnan(value)));
    EXPECT_EQ(read.complaint, written.complaint);
    EXPECT_TRUE(read.fatal);
    EXPECT_EQ(read.machines, "node[1-4]");
    EXPECT_EQ(read.injected, config::InjectedError::persistent_error);
  }
  EXPECT_EQ(pending_result(to_json({}), "file").injected, std::nullopt);
}

TEST(PendingResult, OtherTextIsRefusedByTheFilesName) {
  for (const char* text : {"", "{", "[]", "{\"iteration\": \"7\"}"}) {
    const std::string message = test::message_of([&] { pending_result(text, "run/x.json"); });
    EXPECT_NE(message.find("run/x.json"), std::string::npos) << text << message;
  }
}

}  // namespace pending_result_test
}  // namespace mpitron::train
