#pragma once
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "utils/text/blanks.h"

namespace mpitron::data {

/// Columns of a file of tab-separated values, by what they hold; -1: nowhere.
struct GlueForm {
  int columns = 0;         // 0: any number from the last one used on
  const char* first = "";  // the header's first word; empty: any
  bool header = true;
  int id = 0, a = 1, b = -1, label = -1;  // kLastColumn: the last one
};
inline constexpr int kLastColumn = 1000;

/// A task: the forms of its files without labels and with them, and its classes by their numbers.
struct GlueFormat {
  std::string_view task;
  std::array<GlueForm, 2> forms;  // the first that fits the first line counts
  std::array<const char*, 3> classes = {"0", "1", nullptr};
  bool skips_bad_rows = false;
};

inline constexpr std::array<const char*, 3> kEntailmentClasses = {"entailment", "not_entailment",
                                                                  nullptr};
inline constexpr std::array kGlueFormats = {
    GlueFormat{"MNLI",
               {{{.columns = 10, .a = 8, .b = 9}, {.a = 8, .b = 9, .label = kLastColumn}}},
               {"contradiction", "entailment", "neutral"}},
    GlueFormat{.task = "QQP",
               .forms = {{{.columns = 3, .b = 2}, {.columns = 6, .a = 3, .b = 4, .label = 5}}},
               .skips_bad_rows = true},
    GlueFormat{"CoLA",
               {{{.columns = 2, .first = "index"},
                 {.columns = 4, .header = false, .id = -1, .a = 3, .label = 1}}}},
    GlueFormat{"SST-2",
               {{{.columns = 2, .first = "index"}, {.columns = 2, .id = -1, .a = 0, .label = 1}}}},
    GlueFormat{"MRPC",
               {{{.columns = 5, .first = "index", .a = 3, .b = 4},
                 {.columns = 5, .id = -1, .a = 3, .b = 4, .label = 0}}}},
    GlueFormat{"STS-B",
               {{{.columns = 9, .a = 7, .b = 8}, {.columns = 10, .a = 7, .b = 8, .label = 9}}},
               {nullptr}},
    GlueFormat{
        "QNLI", {{{.columns = 3, .b = 2}, {.columns = 4, .b = 2, .label = 3}}}, kEntailmentClasses},
    GlueFormat{
        "RTE", {{{.columns = 3, .b = 2}, {.columns = 4, .b = 2, .label = 3}}}, kEntailmentClasses},
    GlueFormat{"WNLI", {{{.columns = 3, .b = 2}, {.columns = 4, .b = 2, .label = 3}}}},
};

using TextRow = std::vector<std::string_view>;

/// Cuts a line into columns as the reference does: white space at both ends of the line and of each
/// column does not count.
inline TextRow columns_of(std::string_view line) {
  TextRow row;
  for (line = stripped(line);;) {
    const std::size_t tab = line.find('\t');
    row.push_back(stripped(line.substr(0, tab)));
    if (tab == line.npos) {
      return row;
    }
    line.remove_prefix(tab + 1);
  }
}

inline bool fits_form(const GlueForm& form, const TextRow& first_line) {
  const auto count = static_cast<int>(first_line.size());
  const int least = std::max(form.a, form.b) + 2;
  return (form.columns == 0 ? count >= least : count == form.columns) &&
         (*form.first == '\0' || first_line.front() == form.first);
}
}  // namespace mpitron::data
