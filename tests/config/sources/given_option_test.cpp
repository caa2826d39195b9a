#include "config/sources/given_option.h"

#include <gtest/gtest.h>

#include "config/sources/accepted_option.h"

namespace mpitron::config {
namespace given_option_test {

TEST(AcceptOption, StoresValuesOfEveryKind) {
  EXPECT_EQ(accept("num-layers", {"12"}).values.integer("num_layers"), 12);
  EXPECT_TRUE(accept("swiglu", {}).values.flag("swiglu"));
  EXPECT_FALSE(accept("disable-bias-linear", {}).values.flag("add_bias_linear"));
  EXPECT_EQ(accept("data-path", {"0.3", "a", "0.7", "b"}).values.words("data_path").size(), 4U);
  EXPECT_EQ(accept("iterations-to-skip", {"3", "5"}).values.integers("iterations_to_skip"),
            (std::vector<Index>{3, 5}));
  EXPECT_EQ(accept("attention-backend", {"AttnBackend.flash"}).values.text("attention_backend"),
            "flash");
}

TEST(AcceptOption, RefusesWhatDoesNotWorkYetButNotItsDefault) {
  const Accepted two = accept("moe-deepep-num-sms", {"2"});
  ASSERT_EQ(only_id(two), "E005");
  EXPECT_NE(two.report.findings[0].message.find("--moe-deepep-num-sms 2"), std::string::npos);
  EXPECT_EQ(two.values.integer("moe_deepep_num_sms"), 2);
  EXPECT_EQ(only_id(accept("moe-deepep-num-sms", {"20"})), "");
  EXPECT_EQ(only_id(accept("moe-aux-loss-coeff", {"0"})), "");
  EXPECT_EQ(only_id(accept("moe-token-dispatcher-type", {"flex"})), "E005");
  EXPECT_EQ(only_id(accept("calc-ft-timeouts", {})), "E005");
  EXPECT_EQ(only_id(accept("position-embedding-type", {"rope"})), "");
  EXPECT_EQ(only_id(accept("spec", {"local"})), "");
  EXPECT_EQ(only_id(accept("recompute-modules", {"core_attn", "attention"})), "E005");
}

TEST(AcceptOption, RemovedRefusedAndDeprecatedNamesSayWhatToUse) {
  const Accepted removed = accept("batch-size", {"4"});
  ASSERT_EQ(only_id(removed), "E004");
  EXPECT_EQ(removed.report.findings[0].nearest, "--micro-batch-size");
  EXPECT_EQ(only_id(accept("checkpoint-activations", {})), "E004");
  EXPECT_EQ(only_id(accept("use-torch-fsdp2", {})), "E006");
  EXPECT_EQ(only_id(accept("DDP-impl", {"torch"})), "");
  EXPECT_EQ(only_id(accept("DDP-impl", {"local"})), "");
  const Accepted flash = accept("use-flash-attn", {});
  EXPECT_TRUE(flash.report.findings.empty());
  ASSERT_EQ(flash.report.notices.size(), 1U);
  EXPECT_NE(flash.report.notices[0].find("--attention-backend flash"), std::string::npos);
  EXPECT_EQ(accept("wandb-project", {"x"}).report.notices.size(), 1U);
  EXPECT_TRUE(accept("no-masked-softmax-fusion", {}).report.notices.empty());
}

TEST(UnknownOption, ProposesNames) {
  const Finding finding = unknown_option("num-layer", {});
  EXPECT_EQ(finding.id, "E001");
  EXPECT_EQ(finding.nearest.substr(0, 12), "--num-layers");
}

}  // namespace given_option_test

}  // namespace mpitron::config
