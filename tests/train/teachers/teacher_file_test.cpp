#include "train/teachers/teacher_file.h"

#include <gtest/gtest.h>

#include "io/hdf5/hdf5_file.h"
#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::train {
namespace teacher_file_test {

constexpr std::uint64_t kKeys[] = {7, ~0ULL};

void write(const std::filesystem::path& path, const Shape& ids, const Shape& log_probs,
           DType type) {
  io::Hdf5File file(path, io::Hdf5File::Mode::create);
  file.write_table("rows", {"key"}, kKeys);
  file.create_data_set({.name = "ids", .shape = ids, .dtype = type});
  file.create_data_set({.name = "log_probs", .shape = log_probs});
  file.close();
}

/// What is said of a file whose arrays have these shapes and this type of ids, and two keys.
std::string refusal(const Shape& ids, const Shape& log_probs, DType type = DType::i32) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "teacher.h5";
  write(path, ids, log_probs, type);
  return test::message_of([&] { TeacherFile(path, 4); });
}

TEST(TeacherFile, IsFoundByKeys) {
  const test::TemporaryFolder folder;
  TeacherFile::create(folder / "teacher.h5", kKeys, 4, 3);
  const TeacherFile file(folder / "teacher.h5", 4);
  EXPECT_EQ(file.words(), 3);
  EXPECT_EQ(file.find(~0ULL), 1);
  EXPECT_EQ(file.find(8), std::nullopt);
  EXPECT_EQ(file.ids(1).size(), 12U);
}

TEST(TeacherFile, DamagedOnesAreRefused) {
  EXPECT_EQ(refusal({2, 4, 3}, {2, 4, 3}), "");
  EXPECT_NE(refusal({2, 4, 3}, {2, 4, 2}).find("do not fit together"), std::string::npos);
  EXPECT_NE(refusal({2, 4, 3}, {2, 4, 3}, DType::f32).find("do not fit"), std::string::npos);
  EXPECT_NE(refusal({2, 4}, {2, 4}).find("no array \"ids\""), std::string::npos);
  EXPECT_NE(refusal({2, 8, 3}, {2, 8, 3}).find("--seq-length is 4"), std::string::npos);
  EXPECT_NE(refusal({3, 4, 3}, {3, 4, 3}).find("2 keys for 3 samples"), std::string::npos);
}

}  // namespace teacher_file_test
}  // namespace mpitron::train
