#include <gtest/gtest.h>

#include "config/sources/yaml_file.h"

namespace mpitron::config {
namespace yaml_names_test {

TEST(YamlNames, TheReferencesFieldsMeanOptions) {
  const auto epsilon = yaml_name("layernorm_epsilon");
  ASSERT_TRUE(epsilon);
  EXPECT_EQ(epsilon->meaning, YamlName::Meaning::other_name);
  EXPECT_EQ(epsilon->dest, "norm_epsilon");
  EXPECT_EQ(yaml_name("num_moe_experts")->dest, "num_experts");
  EXPECT_EQ(yaml_name("timers")->meaning, YamlName::Meaning::without_use);
  EXPECT_FALSE(yaml_name("no_such_name"));
}

TEST(YamlNames, ActivationsAreFlags) {
  EXPECT_EQ(flag_of_activation("swiglu"), "swiglu");
  EXPECT_EQ(flag_of_activation("gelu"), "");
  EXPECT_FALSE(flag_of_activation("tanh"));
}

TEST(YamlNames, BooleansAreThoseOfYaml) {
  for (const char* word : {"True", "true", "yes", "on"}) {
    EXPECT_EQ(yaml_boolean(word), true) << word;
  }
  for (const char* word : {"False", "false", "no", "off"}) {
    EXPECT_EQ(yaml_boolean(word), false) << word;
  }
  EXPECT_FALSE(yaml_boolean("1"));
}

}  // namespace yaml_names_test

}  // namespace mpitron::config
