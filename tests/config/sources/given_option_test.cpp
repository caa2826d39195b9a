#include "config/sources/given_option.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace given_option_test {

struct Accepted {
  OptionValues values;
  Reading report;
};

Accepted accept(const std::string& name, std::vector<std::string> words) {
  Accepted out;
  accept_option(
      {option_index().slot_of_name(name), std::move(words), {Origin::Source::command_line, {}}},
      out.values, out.report);
  return out;
}

std::string only_id(const Accepted& accepted) {
  return accepted.report.findings.size() == 1 ? accepted.report.findings[0].id : "";
}

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

TEST(AcceptOption, ChecksTheNumberOfWords) {
  EXPECT_EQ(only_id(accept("num-layers", {})), "E003");
  EXPECT_EQ(only_id(accept("num-layers", {"1", "2"})), "E003");
  EXPECT_EQ(only_id(accept("swiglu", {"true"})), "E003");
  EXPECT_EQ(only_id(accept("iterations-to-skip", {})), "E003");
  EXPECT_EQ(only_id(accept("data-path", {})), "");
}

TEST(AcceptOption, ChecksTypesAndChoicesAndProposesTheNearest) {
  const Accepted million = accept("train-iters", {"1e6"});
  ASSERT_EQ(only_id(million), "E002");
  EXPECT_EQ(million.report.findings[0].nearest, "--train-iters 1000000");
  EXPECT_FALSE(million.values.has("train_iters"));
  for (const char* word : {"1000000000001", "-1000000000001", "9223372036854775808", "1e13"}) {
    const Accepted large = accept("train-iters", {word});
    ASSERT_EQ(only_id(large), "E002") << word;
    EXPECT_NE(large.report.findings[0].message.find("at most 1000000000000"), std::string::npos);
  }
  EXPECT_EQ(only_id(accept("train-iters", {"1000000000000"})), "");
  const Accepted norm = accept("normalization", {"RMSnorm"});
  ASSERT_EQ(only_id(norm), "E002");
  EXPECT_EQ(norm.report.findings[0].nearest, "--normalization RMSNorm");
  EXPECT_EQ(only_id(accept("lr", {"fast"})), "E002");
  EXPECT_EQ(only_id(accept("timing-log-level", {"3"})), "E002");
  EXPECT_EQ(only_id(accept("no-rope-freq", {"[1]*"})), "E002");
  EXPECT_EQ(only_id(accept("onnx-safe", {"yes"})), "E002");
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
  EXPECT_EQ(only_id(accept("position-embedding-type", {"mrope"})), "E005");
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
