// Files of every schema version load for ever: tests/checkpoint/golden is never written again.
#include <gtest/gtest.h>

#include "checkpoint/verify.h"
#include "support/sample_checkpoint.h"
#include "utils/files.h"

namespace mpitron::checkpoint {
namespace {

const std::filesystem::path kGolden = MPITRON_SOURCE_DIR "/tests/checkpoint/golden";

Header header_1() {
  return {.schema_version = 1,
          .iteration = 1234567,
          .consumed_train_samples = 34567890123,
          .configuration = R"({"hidden-size": 4, "Straße": "ü"})",
          .layout = R"({"tensor-model-parallel-size": 2})",
          .build = "mpitron 0.1.0",
          .integers = {{"optimizer/updates", -3}},
          .reals = {{"loss_scaler/scale", 0.1}},
          .texts = {{"tokenizer/type", "GPT2BPETokenizer"}},
          .files = {{"merges.txt", "a b\n"}}};
}

std::vector<DataSet> data_sets_1() {
  return {{.name = "model/decoder.layers.0.mlp.linear_fc1.weight",
           .shape = {3, 5},
           .dtype = DType::bf16},
          {.name = "model/embedding.word_embeddings.weight", .shape = {3}, .dtype = DType::f16},
          {.name = "optimizer/exp_avg/embedding.word_embeddings.weight", .shape = {2, 3}},
          {.name = "data/position", .shape = {2}, .dtype = DType::i64}};
}

TEST(Golden, Schema1) {
  const std::filesystem::path path = kGolden / "schema-1.h5";
  const File file(path);
  EXPECT_TRUE(verify(file).damaged.empty());
  EXPECT_EQ(file.header(), header_1());
  const std::string bytes = read_file(path);
  ASSERT_EQ(file.data_sets().size(), data_sets_1().size());
  for (const DataSet& expected : data_sets_1()) {
    const DataSet* found = file.find(expected.name);
    ASSERT_NE(found, nullptr) << expected.name;
    EXPECT_EQ(found->shape, expected.shape);
    EXPECT_EQ(found->dtype, expected.dtype);
    EXPECT_EQ(bytes.substr(static_cast<std::size_t>(found->offset),
                           static_cast<std::size_t>(found->bytes())),
              testing::sample_bytes(expected));
  }
}

// How it was made: run with --gtest_also_run_disabled_tests where the file is not there yet.
TEST(Golden, DISABLED_WriteSchema1) {
  const std::filesystem::path path = kGolden / "schema-1.h5";
  ASSERT_FALSE(std::filesystem::exists(path));
  ASSERT_EQ(kSchemaVersion, 1);
  testing::write_checkpoint(path, header_1(), data_sets_1());
}

}  // namespace
}  // namespace mpitron::checkpoint
