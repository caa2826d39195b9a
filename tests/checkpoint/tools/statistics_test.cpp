#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "checkpoint/format/posix_file.h"
#include "checkpoint/tools/inspection.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"

namespace mpitron::checkpoint {
namespace statistics_test {

TEST(Statistics, KnownAnswers) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  test::write_sample(path);
  const File file(path);
  const auto all = statistics(file);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const DataSet& data_set = file.data_sets()[i];
    const auto n = static_cast<double>(data_set.shape.numel());
    EXPECT_EQ(all[i].elements, data_set.shape.numel());
    if (n == 0) {
      EXPECT_EQ(all[i].maximum, 0);
      continue;
    }
    // Elements are a + b i: the moments of an arithmetic sequence.
    const double a = is_floating(data_set.dtype) ? -0.5 : 0;
    const double b = is_floating(data_set.dtype) ? 0.25 : 1;
    EXPECT_EQ(all[i].minimum, a) << data_set.name;
    EXPECT_EQ(all[i].maximum, a + b * (n - 1)) << data_set.name;
    EXPECT_NEAR(all[i].mean, a + b * (n - 1) / 2, 1e-12) << data_set.name;
    EXPECT_NEAR(all[i].deviation, b * std::sqrt((n * n - 1) / 12), 1e-12) << data_set.name;
    EXPECT_EQ(all[i].zeros, is_floating(data_set.dtype) && n < 3 ? 0 : 1) << data_set.name;
    EXPECT_EQ(all[i].nans + all[i].infinities, 0);
  }
}

TEST(Statistics, ManyBlocksJoin) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  const Index n = (Index{2} << 20) + 5;
  test::write_checkpoint(path, {}, {{.name = "a", .shape = {n}, .dtype = DType::i32}});
  const auto all = statistics(File(path));
  const auto count = static_cast<double>(n);
  EXPECT_EQ(all[0].maximum, count - 1);
  EXPECT_NEAR(all[0].mean, (count - 1) / 2, 1e-6);
  EXPECT_NEAR(all[0].deviation, std::sqrt((count * count - 1) / 12), 1e-6);
}

TEST(Statistics, NumbersThatAreNoneAreCountedApart) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  const auto data_sets = create_file(path, {}, {{.name = "a", .shape = {4}}});
  const float values[] = {std::nanf(""), -std::numeric_limits<float>::infinity(), 3, -1};
  const Extent extent{.offset = data_sets[0].offset,
                      .bytes = 16,
                      .hash = hash128({reinterpret_cast<const char*>(values), 16})};
  PosixFile(path, PosixFile::Mode::modify).write(extent.offset, values, 16);
  seal_file(path, {extent});
  const Statistics s = statistics(File(path))[0];
  EXPECT_EQ(s.nans, 1);
  EXPECT_EQ(s.infinities, 1);
  EXPECT_EQ(s.minimum, -1);
  EXPECT_EQ(s.maximum, 3);
  EXPECT_EQ(s.mean, 1);
  EXPECT_EQ(s.deviation, 2);
}

}  // namespace statistics_test
}  // namespace mpitron::checkpoint
