#include "train/batches/extra_columns.h"

#include <gtest/gtest.h>

#include "models/gpt/gpt_batch.h"
#include "support/temporary_folder.h"
#include "train/teachers/teacher_file.h"
#include "utils/error.h"

namespace mpitron::train {
namespace extra_columns_test {

/// A file of a teacher that has seen one row of three tokens, and said two words of each.
class TeacherColumns : public ::testing::Test {
 protected:
  TeacherColumns() {
    const std::vector<std::uint64_t> keys = {RowValues::key_of(seen_.tokens, seen_.loss_mask)};
    TeacherFile::create(path_, keys, 3, 2);
    data_.teacher = std::make_shared<const TeacherFile>(path_, 3);
  }
  static data::Batch batch(std::vector<std::int64_t> tokens, std::vector<float> mask) {
    data::Batch result{.rows = 1, .seq_length = 3};
    result.tokens = std::move(tokens);
    result.loss_mask = std::move(mask);
    return result;
  }

  const data::Batch seen_ = batch({5, 6, 7}, {1, 1, 0});
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "teacher.h5";
  TrainingData data_;
};

TEST_F(TeacherColumns, AreThoseOfTheRow) {
  models::Columns columns{};
  ExtraColumns extra(data_);
  // What fills an evaluation up counts nowhere, and nobody has seen it.
  for (const data::Batch& taken : {seen_, batch({1, 2, 3}, {0, 0, 0})}) {
    extra.add(taken, columns);
    EXPECT_EQ(columns[models::kTeacherIds].size(), 6U);
    EXPECT_EQ(columns[models::kTeacherLogProbs].size(), 6U);
  }
}

TEST_F(TeacherColumns, OfOtherDataAreRefused) {
  models::Columns columns{};
  for (const data::Batch& other : {batch({5, 6, 8}, {1, 1, 0}), batch({5, 6, 7}, {0, 1, 0})}) {
    try {
      ExtraColumns(data_).add(other, columns);
      ADD_FAILURE() << "took the words about another sample";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_EQ(std::string(error.what()),
                "--teacher-file " + path_ +
                    ": lacks a sample of the data; it was written for other data, another "
                    "tokenizer or other options of samples");
    }
  }
}

}  // namespace extra_columns_test
}  // namespace mpitron::train
