#include "plan/published/table_cells.h"

#include <gtest/gtest.h>

#include "plan/machine/exit_codes.h"

namespace mpitron::plan {
namespace table_cells_test {

constexpr TableColumn kColumns[] = {{"gpus", true}, {"recompute"}, {"share"}};

std::string mistake(const std::string& header, const std::string& row, const char* column) {
  try {
    TableCells cells("t.tsv", header, kColumns);
    cells.read(row, 2);
    cells.number(column, 0, 100);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kBadTable);
    return error.what();
  }
  return "none";
}

TEST(TableCells, HeadersAreHeldAgainstWhatIsKnown) {
  EXPECT_EQ(mistake("recompute", "", "share"), "t.tsv:1: column gpus is missing");
  EXPECT_EQ(mistake("gpus\tgpus", "", "share"), "t.tsv:1: column 'gpus' is there twice");
  EXPECT_EQ(mistake("gpus\trecomptue", "", "share"),
            "t.tsv:1: no column recomptue is known; did you mean recompute?");
  EXPECT_EQ(mistake("gpus\tcolour\tshare", "8\tred\t1", "share"), "none");
}

TEST(TableCells, CellsMayBeCutOffBlankOrPercent) {
  TableCells cells("t.tsv", "\xEF\xBB\xBFgpus\tshare\trecompute\r", kColumns);
  cells.read(" 8 \t47 %", 2);
  EXPECT_EQ(cells.whole("gpus", 1, 10), 8);
  EXPECT_EQ(cells.number("share", 0, 100), 47);
  EXPECT_FALSE(cells.says("recompute"));
  EXPECT_EQ(cells.whole("recompute", 0, 9, 7), 7);
  cells.read("?\tn/a\t-", 3);
  EXPECT_FALSE(cells.says("gpus") || cells.says("share") || cells.says("recompute"));
}

TEST(TableCells, ValuesThatCannotBeAreNamed) {
  EXPECT_EQ(mistake("gpus\tshare", "8\t470", "share"),
            "t.tsv:2: share '470': a number from 0 to 100 is expected");
  EXPECT_EQ(mistake("gpus\tshare", "8\tnan", "share"),
            "t.tsv:2: share 'nan': a number from 0 to 100 is expected");
  EXPECT_EQ(mistake("gpus", "8\t9", "gpus"), "t.tsv:2: 1 columns are expected, not 2");
}

}  // namespace table_cells_test
}  // namespace mpitron::plan
