// Files of every schema version load for ever: tests/checkpoint/golden is never written again.
#include <gtest/gtest.h>

#include "checkpoint/folders/verify.h"
#include "support/sample_checkpoint.h"

namespace mpitron::checkpoint {
namespace golden_test {

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

void expect_golden(const std::filesystem::path& path, const Header& header) {
  const File file(path);
  EXPECT_TRUE(verify(file).damaged.empty());
  EXPECT_EQ(file.header(), header);
  ASSERT_EQ(file.data_sets().size(), data_sets_1().size());
  for (const DataSet& expected : data_sets_1()) {
    const DataSet* found = file.find(expected.name);
    ASSERT_NE(found, nullptr) << expected.name;
    EXPECT_EQ(found->shape, expected.shape);
    EXPECT_EQ(found->dtype, expected.dtype);
    EXPECT_EQ(test::stored_bytes(file, *found), test::sample_bytes(expected));
  }
}

Header header_2() {
  Header header = header_1();
  header.schema_version = 2;
  return header;
}

TEST(Golden, Schema1) {
  expect_golden(kGolden / "schema-1.h5", header_1());
}

TEST(Golden, Schema2) {
  expect_golden(kGolden / "schema-2/checkpoint.h5", header_2());
}

// How they were made: run with --gtest_also_run_disabled_tests where the files are not there yet.
TEST(Golden, DISABLED_WriteSchema1) {
  const std::filesystem::path path = kGolden / "schema-1.h5";
  ASSERT_FALSE(std::filesystem::exists(path));
  test::write_checkpoint(path, header_1(), data_sets_1());
}

TEST(Golden, DISABLED_WriteSchema2) {
  ASSERT_TRUE(std::filesystem::create_directory(kGolden / "schema-2"));
  test::write_checkpoint_per_writer(kGolden / "schema-2/checkpoint.h5", header_1(), data_sets_1());
}

}  // namespace golden_test
}  // namespace mpitron::checkpoint
