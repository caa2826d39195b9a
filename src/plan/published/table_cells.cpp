#include "plan/published/table_cells.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "config/values/finding.h"
#include "plan/machine/exit_codes.h"
#include "utils/text/blanks.h"

// Cells of tab-separated tables that people make with spreadsheets: byte-order marks, carriage
// returns, cut-off ends and percent signs are read, misspelt column names are refused.

namespace mpitron::plan {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";  // that some editors begin a file with

std::string trimmed(std::string_view text) {
  return std::string(stripped(text, " "));
}

}  // namespace

std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> cells(1);
  for (const char c : text) {
    if (c == separator) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

TableCells::TableCells(std::string path, const std::string& header,
                       std::span<const TableColumn> known)
    : path_(std::move(path)) {
  const std::size_t begin = header.starts_with(kMark) ? kMark.size() : 0;
  for (const std::string& name : split_text(header.substr(begin), '\t')) {
    const std::size_t place = columns_.size();
    if (!columns_.emplace(trimmed(name), place).second) {
      throw Error(kBadTable, fmt::format("{}:1: column '{}' is there twice", path_, trimmed(name)));
    }
  }
  std::vector<std::string_view> missing;
  for (const TableColumn& column : known) {
    if (!columns_.contains(std::string(column.name))) {
      missing.push_back(column.name);
    }
  }
  for (const auto& [name, place] : columns_) {
    // Unknown columns are allowed; one that is nearly a missing one is taken for a slip, which
    // would otherwise leave all its values out.
    const bool is_known = std::ranges::find(known, name, &TableColumn::name) != known.end();
    const std::string hint = is_known ? "" : config::did_you_mean(name, missing);
    if (!hint.empty()) {
      throw Error(kBadTable, fmt::format("{}:1: no column {} is known{}", path_, name, hint));
    }
  }
  for (const TableColumn& column : known) {
    if (column.needed && !columns_.contains(std::string(column.name))) {
      throw Error(kBadTable, fmt::format("{}:1: column {} is missing", path_, column.name));
    }
  }
}

void TableCells::read(const std::string& text, Index line) {
  line_ = line;
  cells_ = split_text(text, '\t');
  if (cells_.size() > columns_.size()) {
    throw Error(kBadTable, fmt::format("{}:{}: {} columns are expected, not {}", path_, line,
                                       columns_.size(), cells_.size()));
  }
  cells_.resize(columns_.size());
}

std::string TableCells::text(const char* column) const {
  const auto at = columns_.find(column);
  return at == columns_.end() ? "" : trimmed(cells_[at->second]);
}

bool TableCells::says(const char* column) const {
  const std::string cell = text(column);
  return !cell.empty() && cell != "?" && cell != "-" && cell != "n/a";
}

void TableCells::fail(const char* column, const std::string& expected) const {
  throw Error(kBadTable,
              fmt::format("{}:{}: {} '{}': {}", path_, line_, column, text(column), expected));
}

double TableCells::number(const char* column, double least, double most) const {
  std::string cell = text(column);
  if (cell.ends_with('%')) {
    cell = trimmed(cell.substr(0, cell.size() - 1));
  }
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != '\0' || !std::isfinite(value) || value < least || value > most) {
    fail(column, fmt::format("a number from {:g} to {:g} is expected", least, most));
  }
  return value;
}

Index TableCells::whole(const char* column, Index least, Index most) const {
  const std::string cell = text(column);
  char* end = nullptr;
  const Index value = std::strtoll(cell.c_str(), &end, 10);
  if (cell.empty() || *end != '\0' || value < least || value > most) {
    fail(column, fmt::format("a whole number from {} to {} is expected", least, most));
  }
  return value;
}

}  // namespace mpitron::plan
