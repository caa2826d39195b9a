#include "cli/show/memory_limit.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::cli {
namespace memory_limit_test {

TEST(MemoryLimit, TenTimesWhatIsThereIsNoMistypedSize) {
  EXPECT_EQ(test::message_of([] { refuse_absurd_memory(10e9, 1'000'000'000); }), "");
}

TEST(MemoryLimit, MoreIsRefusedWithBothFigures) {
  const std::string message =
      test::message_of([] { refuse_absurd_memory(134e15, 24'000'000'000); });
  EXPECT_NE(message.find("about 134000000 GB"), std::string::npos) << message;
  EXPECT_NE(message.find("the 24 GB"), std::string::npos) << message;
  EXPECT_NE(message.find("--num-layers"), std::string::npos) << message;
}

}  // namespace memory_limit_test
}  // namespace mpitron::cli
