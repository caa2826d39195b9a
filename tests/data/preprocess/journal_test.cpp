#include "data/preprocess/journal.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::data {
namespace journal_test {

using Entry = std::vector<Index>;

class JournalTest : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "j";
};

TEST_F(JournalTest, TheLastEntryIsFoundAgain) {
  {
    Journal journal(path_, "me");
    EXPECT_TRUE(journal.last().empty());
    EXPECT_FALSE(std::filesystem::exists(path_));
    journal.add(Entry{1, 2});
    journal.add(Entry{3, -4, Index{1} << 60});
  }
  Journal again(path_, "me");
  EXPECT_EQ(again.last(), (Entry{3, -4, Index{1} << 60}));
  again.add(Entry{5});
  EXPECT_EQ(Journal(path_, "me").last(), Entry{5});
  EXPECT_TRUE(Journal(path_, "you").foreign());
  EXPECT_TRUE(Journal(path_, "you").last().empty());
  again.remove();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// A crash may cut the last entry, or leave anything in its place.
TEST_F(JournalTest, AnEntryThatIsNotWholeDoesNotCount) {
  {
    Journal journal(path_, "me");
    for (Index i = 10; i < 20; ++i) {
      journal.add(Entry{i, i * i});
    }
  }
  const std::string whole = read_file(path_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    test::write_bytes(path_, whole.substr(0, size));
    const Entry last = Journal(path_, "me").last();
    const auto lines = std::count(whole.begin(), whole.begin() + std::ptrdiff_t(size), '\n');
    EXPECT_EQ(last, lines < 2 ? Entry{} : (Entry{8 + lines, (8 + lines) * (8 + lines)})) << size;
  }
  test::for_each_mutation(whole, 2000, [&](const std::string& bytes) {
    test::write_bytes(path_, bytes);
    const Entry last = Journal(path_, "me").last();
    EXPECT_TRUE(last.empty() || (last.size() == 2 && last[1] == last[0] * last[0]));
  });
  test::write_bytes(path_, whole.substr(0, whole.size() - 3));
  Journal(path_, "me").add(Entry{7});
  EXPECT_EQ(Journal(path_, "me").last(), Entry{7});
}

}  // namespace journal_test
}  // namespace mpitron::data
