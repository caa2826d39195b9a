#include <gtest/gtest.h>

#include "checkpoint/format/writer_files.h"
#include "checkpoint/format/written_files.h"
#include "support/contains.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::checkpoint {
namespace writer_file_view_test {

using test::contains;

// Each byte of each file counts, and the file is named. The seal, all data and a part of the rest:
// everything else is under the same hash.
TEST_F(WriterFilesTest, FlippedBytesAreFoundInTheFileThatHasThem) {
  write_small();
  for (const std::filesystem::path& path : {path_, first_, second_}) {
    const std::string bytes = read_file(path);
    PosixFile file(path, PosixFile::Mode::modify);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i + 64 < bytes.size() && i % 4096 >= 16 && i % (bytes[i] == 0 ? 211 : 11) != 0) {
        continue;
      }
      const char flipped = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
      file.write(static_cast<Index>(i), &flipped, 1);
      ASSERT_PRED2(contains, finding(), path.filename().string()) << i;
      file.write(static_cast<Index>(i), &bytes[i], 1);
    }
  }
  EXPECT_EQ(finding(), "");
}

TEST_F(WriterFilesTest, AViewMustShowAllOfEachDataSet) {
  const std::vector<DataSet> data_sets = {{.name = "a", .shape = {4}}};
  for (const std::vector<PlacedRange>& ranges :
       {std::vector<PlacedRange>{},
        {{.begin = 0, .end = 12}},
        {{.begin = 4, .end = 16}},
        {{.begin = 0, .end = 16}, {.begin = 8, .end = 16}}}) {
    const std::vector<WriterPart> parts = {{.ranges = ranges}};
    EXPECT_THROW(write_view(path_, {}, data_sets, parts), InternalError);
  }
}

}  // namespace writer_file_view_test

}  // namespace mpitron::checkpoint
