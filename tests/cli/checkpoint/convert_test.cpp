#include <gtest/gtest.h>

#include "convert/tiny_models.h"
#include "support/program.h"

namespace mpitron::cli {
namespace convert_test {

using namespace mpitron::test;
using mpitron::test::convert_data;

std::string megatron(const char* name) {
  return convert_data("megatron") / name;
}

TEST(Convert, GoesThereAndBackByCommands) {
  const TemporaryFolder folder;
  mpitron::test::write_hugging_face_folder(folder / "in", "mistral");
  const Finished there =
      run_program(folder.path(), {"convert", "--from", "in", "--to", "ours", "--verify-logits"});
  EXPECT_EQ(there.code, 0) << there.err;
  EXPECT_TRUE(contains(there.out, "21 of 21 tensors are the same")) << there.out;
  EXPECT_TRUE(contains(there.out, "logits differ by 0")) << there.out;
  const Finished back = run_program(
      folder.path(), {"convert", "--from", "ours", "--to", "out", "--verify", "--json"});
  EXPECT_EQ(back.code, 0) << back.err;
  const auto json = nlohmann::json::parse(back.out);
  EXPECT_EQ(json["verified"]["equal"], true);
  EXPECT_EQ(json["model_type"], "mistral");
  EXPECT_EQ(json, nlohmann::json::parse(read_file(folder / "out/conversion_record.json")));
}

TEST(Convert, TakesTheFormOfMegatronsTool) {
  const TemporaryFolder folder;
  const Finished good =
      run_program(folder.path(),
                  {"convert", "--model-type", "GPT", "--loader", "core", "--saver", "core",
                   "--load-dir", megatron("dist"), "--save-dir", "out",
                   "--target-tensor-parallel-size", "2", "--target-pipeline-parallel-size", "4"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_TRUE(contains(good.out, "has no layout")) << good.out;
  EXPECT_EQ(read_file(folder / "out/latest_checkpointed_iteration.txt"), "7");
  EXPECT_FALSE(std::filesystem::exists(folder / "EXECUTED"));
  const Finished bad =
      run_program(folder.path(), {"convert", "--load-dir", megatron("dist"), "--save-dir", "other",
                                  "--target-pipeline-parallel-size", "3"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, "num_layers is 4")) << bad.err;
}

TEST(Convert, TellsMistakesInOneSentence) {
  const TemporaryFolder folder;
  const std::pair<std::vector<std::string>, const char*> mistakes[] = {
      {{}, "--from and --to are needed"},
      {{"--from", "absent", "--to", "x"}, "absent"},
      {{"--from", megatron("torch"), "--to", "x", "--dtype", "fp64"}, "fp64"},
      {{"--from", megatron("torch"), "--to", "x", "--to-format", "megatron-torch"},
       "only mpitron and huggingface"},
      {{"--from", megatron("torch"), "--to", "x", "--to-format", "huggingface", "--model-type",
        "gpt2"},
       "--position-embedding-type learned_absolute"},
      {{"--from", megatron("torch"), "--to", "/proc/none"}, "/proc/none"},
  };
  for (const auto& [words, expected] : mistakes) {
    std::vector<std::string> arguments{"convert"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Finished finished = run_program(folder.path(), arguments);
    EXPECT_GT(finished.code, 1) << expected;
    EXPECT_LT(finished.code, 10) << expected;
    EXPECT_TRUE(contains(finished.err, expected)) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "x/latest_checkpointed_iteration.txt"));
  }
}

TEST(Convert, LeavesNoHalfCheckpointOnAFullDisk) {
  const TemporaryFolder folder;
  const Finished finished =
      run_program(folder.path(), {"convert", "--from", megatron("torch"), "--to", "x"},
                  {.largest_file = 12'000});
  EXPECT_EQ(finished.code, 4) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "x/iter_0000005"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x/latest_checkpointed_iteration.txt"));
}

}  // namespace convert_test
}  // namespace mpitron::cli
