#include "convert/names/family_needs.h"

#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace family_needs_test {

std::size_t unmet(const Needs& needs) {
  return static_cast<std::size_t>(
      std::ranges::count(needs, false, &std::pair<bool, std::string>::first));
}

TEST(FamilyNeeds, AddUp) {
  Needs needs = {{true, "a"}};
  append(needs, {{false, "b"}, {true, "c"}});
  ASSERT_EQ(needs.size(), 3U);
  EXPECT_EQ(needs[1].second, "b");
}

TEST(FamilyNeeds, ALlamaMeetsTheOlderOnes) {
  const config::ModelConfig llama = test::model_of(test::with("llama", {}));
  for (const auto& needs : {rotating_layers(llama), norms_in_front(llama), classic_layers(llama),
                            unlimited(llama), modern(llama), whole_heads(llama)}) {
    EXPECT_EQ(unmet(needs), 0U);
  }
  EXPECT_EQ(unmet(experts_everywhere(llama, false)), 1U);  // none at all
}

TEST(FamilyNeeds, PartsOfNewerModelsAreToldOneByOne) {
  const config::ModelConfig gemma = test::model_of(test::with("gemma2", {}));
  EXPECT_EQ(unmet(norms_in_front(gemma)), 6U);
  EXPECT_EQ(unmet(unlimited(gemma)), 1U);  // windows
  const config::ModelConfig llama4 = test::model_of(test::with("llama4_text", {}));
  EXPECT_EQ(unmet(rotating_layers(llama4)), 4U);
  EXPECT_EQ(unmet(plain_routing(*llama4.moe)), 2U);  // sigmoid, weights in front
}

}  // namespace family_needs_test
}  // namespace mpitron::convert
