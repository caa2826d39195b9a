#include "config/sources/yaml_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace yaml_file_test {

class YamlFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  Reading read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_yaml_file(path_);
  }
  ParsedRun run(const std::string& text, const std::string& flags) {
    std::ofstream(path_) << text;
    return test::parse_text("--yaml-cfg " + path_ + " " + flags);
  }

  std::string path_ = ::testing::TempDir() + "mpitron_yaml_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml";
};

TEST_F(YamlFile, FlatNestedListsAndStoredNames) {
  const ParsedRun parsed =
      run("network size:\n  num-layers: 4\n  hidden_size: 64\nlanguage_model:\n  "
          "num-attention-heads: 4\n"
          "seq-length: 32\nmax-position-embeddings: 32\nmicro-batch-size: 2\ntrain-samples: "
          "160\nlr: 2.0e-3\n"
          "rampup-batch-size: [2, 2, 24]\nglobal-batch-size: 8\nadd_bias_linear: false\nswiglu: "
          "true\nbf16: false\nsave: null\n",
          "");
  ASSERT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  EXPECT_EQ(parsed.run.model.num_layers, 4);
  EXPECT_FALSE(parsed.run.model.add_bias_linear);
  EXPECT_EQ(parsed.run.training.rampup_batch_size->samples, 24);
  EXPECT_DOUBLE_EQ(parsed.run.optimizer.lr, 2e-3);
}

TEST_F(YamlFile, BooleansAreSpelledAsYamlDoes) {
  for (const char* word : {"true", "True", "TRUE", "yes", "Yes", "on"}) {
    EXPECT_EQ(read(std::string("swiglu: ") + word + "\n").given.size(), 1U) << word;
  }
  for (const char* word : {"false", "False", "no", "off", "null"}) {
    const Reading out = read(std::string("swiglu: ") + word + "\n");
    EXPECT_TRUE(out.given.empty() && out.findings.empty()) << word;
  }
  const ParsedRun parsed = run("onnx_safe: True\n", test::kBase);
  EXPECT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
}

TEST_F(YamlFile, FieldsOfTheReferencesConfigurationsAreOptions) {
  const ParsedRun parsed = run(
      "language_model:\n  layernorm_epsilon: 1.e-6\n  layernorm_zero_centered_gamma: True\n"
      "  activation_func: swiglu\n  gated_linear_unit: False\n  num_moe_experts: null\n"
      "  init_method: xavier_uniform\n  add_bias_linear: False\n"
      "model_parallel:\n  params_dtype: null\n  grad_sync_func: null\n  cpu_offloading: False\n",
      test::kBase);
  ASSERT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  EXPECT_TRUE(parsed.notices.empty());
  EXPECT_DOUBLE_EQ(parsed.run.model.norm_epsilon, 1e-6);
  EXPECT_TRUE(parsed.values.flag("apply_layernorm_1p"));
  EXPECT_TRUE(parsed.values.flag("swiglu"));
  EXPECT_TRUE(parsed.values.flag("init_method_xavier_uniform"));
}

TEST_F(YamlFile, FieldsThatSwitchOnWhatIsNotHereAreRefused) {
  for (const char* line : {"cpu_offloading: True", "activation_func: tanh", "init_method: normal",
                           "moe_token_dropping: yes", "variable_seq_lengths: 1"}) {
    EXPECT_EQ(read(std::string(line) + "\n").findings.size(), 1U) << line;
  }
  EXPECT_EQ(read("activation_func: gelu\nswiglu: True\n").findings.size(), 1U);
  EXPECT_EQ(read("activation_func: swiglu\nswiglu: True\n").findings.size(), 0U);
}

TEST_F(YamlFile, FlagsOfTheCommandLineWinAndLinesAreRemembered) {
  const ParsedRun parsed =
      run("# a comment\nseed: 7\nlr: 1.0e-3\n", std::string(test::kBase) + " --lr 5e-4");
  ASSERT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  EXPECT_DOUBLE_EQ(parsed.run.optimizer.lr, 5e-4);
  EXPECT_EQ(parsed.run.training.seed, 7);
  EXPECT_EQ(to_text(parsed.values.origin_at(option_index().slot_of_dest("seed"))), path_ + ":2");
  EXPECT_EQ(to_text(parsed.values.origin_at(option_index().slot_of_dest("lr"))), "command line");
}

TEST_F(YamlFile, MistakesNameTheirLine) {
  const Reading out =
      read("seed: 1\nnum-layer: 2\nseed: 3\nswiglu: maybe\ndisable-bias-linear: {a: 1}\n");
  ASSERT_EQ(out.findings.size(), 4U);
  EXPECT_EQ(out.findings[0].id, "E001");
  EXPECT_NE(out.findings[0].message.find(":2: there is no option --num-layer"), std::string::npos);
  EXPECT_NE(out.findings[1].message.find(":3: --seed was set in line 1"), std::string::npos);
  EXPECT_NE(out.findings[2].message.find(":4: a flag is true or false, not 'maybe'"),
            std::string::npos);
  EXPECT_NE(out.findings[3].message.find(":5:"), std::string::npos);
}

TEST_F(YamlFile, TheSameOptionByTwoNamesIsARepetition) {
  EXPECT_EQ(read("add_bias_linear: false\ndisable-bias-linear: true\n").findings.size(), 1U);
}

TEST_F(YamlFile, FlagsByNameAndByStoredName) {
  EXPECT_EQ(read("disable-bias-linear: true\n").given.size(), 1U);
  EXPECT_EQ(read("disable-bias-linear: false\n").given.size(), 0U);
  EXPECT_EQ(read("add_bias_linear: false\n").given.size(), 1U);
  EXPECT_EQ(read("add_bias_linear: true\n").given.size(), 0U);
}

TEST_F(YamlFile, InsertsEnvironmentVariables) {
  ::setenv("MPITRON_TEST_FOLDER", "/data/x", 1);
  ::unsetenv("MPITRON_TEST_UNSET");
  const Reading out = read(
      "tensorboard-dir: ${MPITRON_TEST_FOLDER}/tb\ndata-path: "
      "[\"${MPITRON_TEST_UNSET:-fallback}\"]\n");
  ASSERT_EQ(out.given.size(), 2U);
  EXPECT_EQ(out.given[0].words[0], "/data/x/tb");
  EXPECT_EQ(out.given[1].words[0], "fallback");
  const Reading bad = read("save: ${MPITRON_TEST_UNSET}\n");
  ASSERT_EQ(bad.findings.size(), 1U);
  EXPECT_NE(bad.findings[0].message.find("MPITRON_TEST_UNSET is not set"), std::string::npos);
  EXPECT_EQ(read("save: ${OPEN\n").findings.size(), 1U);
}

TEST_F(YamlFile, UnreadableAndBrokenFilesAreFindings) {
  EXPECT_EQ(read_yaml_file("/no/such/file.yaml").findings.size(), 1U);
  const Reading broken = read("seed: [1, 2\n");
  ASSERT_EQ(broken.findings.size(), 1U);
  EXPECT_EQ(broken.findings[0].id, "E007");
  EXPECT_EQ(read("- a\n- b\n").findings.size(), 1U);
  EXPECT_TRUE(read("").findings.empty());
  EXPECT_TRUE(test::has_finding(test::parse_base("--yaml-cfg /no/such/file.yaml"), "E007"));
}

}  // namespace yaml_file_test

}  // namespace mpitron::config
