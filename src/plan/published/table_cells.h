#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "utils/numbers/shape.h"

namespace mpitron::plan {

/// A column by its name; files may lack those that are not needed, and have others beside them.
struct TableColumn {
  std::string_view name;
  bool needed = false;
};

template <class T>
struct TableWord {
  const char* text;
  T value;
};

/// One row of tab-separated values behind a header. Columns are found by name, in any order.
/// Mistakes are Error(kBadTable) with file, line and column.
class TableCells {
 public:
  /// Refuses a header without a needed column, and one with a name that is nearly a known one.
  TableCells(std::string path, const std::string& header, std::span<const TableColumn> known);

  /// Goes to a row. What an editor has cut off at its end is blank.
  void read(const std::string& text, Index line);

  /// Returns the cell without blanks around it; empty where the column is missing.
  std::string text(const char* column) const;
  /// Returns whether the source says it: neither blank nor `?`, `-`, `n/a`.
  bool says(const char* column) const;
  /// Returns a number from `least` to `most`; a percent sign behind it is allowed. Error(kBadTable)
  /// for others.
  double number(const char* column, double least, double most) const;
  Index whole(const char* column, Index least, Index most) const;
  /// Returns `otherwise` where the source does not say it.
  Index whole(const char* column, Index least, Index most, Index otherwise) const {
    return says(column) ? whole(column, least, most) : otherwise;
  }

  template <class T, std::size_t n>
  T word(const char* column, const TableWord<T> (&words)[n]) const {
    std::string known;
    for (const TableWord<T>& one : words) {
      if (text(column) == one.text) {
        return one.value;
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", one.text);
    }
    fail(column, fmt::format("one of {} is expected", known));
  }

  /// Throws Error(kBadTable) with place and text of the cell.
  [[noreturn]] void fail(const char* column, const std::string& expected) const;

 private:
  std::string path_;
  std::map<std::string, std::size_t> columns_;
  std::vector<std::string> cells_;
  Index line_ = 0;
};

/// Returns the parts of a text between separators, without carriage returns.
std::vector<std::string> split_text(const std::string& text, char separator);

}  // namespace mpitron::plan
