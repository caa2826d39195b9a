#include "inference/grammar/byte_network.h"

#include <gtest/gtest.h>

#include "inference/grammar/refused_grammar.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace byte_network_test {

TEST(ByteNetwork, RefusesWhatIsTooLarge) {
  Pattern pattern = Pattern::text("abcdefghij");
  for (int i = 0; i < 3; ++i) {
    pattern = Pattern::repeat(pattern, 0, 1000);
  }
  EXPECT_NE(refusal({{pattern}}).find("too large"), std::string::npos);
}

}  // namespace byte_network_test

}  // namespace mpitron::inference
