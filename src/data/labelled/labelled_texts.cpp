#include "data/labelled/labelled_texts.h"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "data/labelled/glue_formats.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/text/blanks.h"

// The files of GLUE as they are distributed: a row for each task says which columns hold texts,
// labels and numbers, and what labels are called (glue_formats.h).

namespace mpitron::data {
namespace {

/// Reads the lines of one file, as a form has them.
class Table {
 public:
  Table(const GlueFormat& format, const std::string& path) : format_(format), path_(path) {}

  std::vector<LabelledText> read(std::string_view text) {
    std::vector<LabelledText> result;
    for (Index line = 1; !text.empty(); ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view own = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!stripped(own).empty()) {
        add(columns_of(own), line, result);
      }
    }
    if (result.empty()) {
      throw_data("{}: no samples", path_);
    }
    return result;
  }

 private:
  void add(const TextRow& row, Index line, std::vector<LabelledText>& result) {
    if (columns_ == 0) {
      choose_form(row);
      columns_ = row.size();
      if (form_->header) {
        return;
      }
    }
    try {
      result.push_back(sample(row, static_cast<Index>(result.size())));
    } catch (const Error& error) {
      if (!format_.skips_bad_rows) {
        throw_data("{}:{}: {}", path_, line, error.what());
      }
      log::warning("***WARNING*** {}:{}: {}: left out", path_, line, error.what());
    }
  }

  /// Takes the form by the first line, for the whole file.
  void choose_form(const TextRow& row) {
    for (const GlueForm& form : format_.forms) {
      if (fits_form(form, row)) {
        form_ = &form;
        return;
      }
    }
    const auto wanted = [](const GlueForm& form) {
      return form.columns > 0 ? fmt::format("{}", form.columns)
                              : fmt::format("{} or more", std::max(form.a, form.b) + 2);
    };
    throw_data("{}:1: {} columns; files of {} have {} (with labels) or {} (without), apart by tabs",
               path_, row.size(), format_.task, wanted(format_.forms[1]), wanted(format_.forms[0]));
  }

  std::string text_at(const TextRow& row, int column) const {
    const std::string_view text = row[static_cast<std::size_t>(column)];
    if (text.empty()) {
      throw_data("column {} is empty, where a text must be", column + 1);
    }
    return clean_text(text);
  }

  LabelledText sample(const TextRow& row, Index number) const {
    if (row.size() != columns_) {
      throw_data("{} columns, the first line has {}", row.size(), columns_);
    }
    LabelledText result{.pairs = {{.first = text_at(row, form_->a)}}, .id = number};
    if (form_->b >= 0) {
      result.pairs[0].second = text_at(row, form_->b);
    }
    if (form_->id >= 0) {
      const std::string_view id = row[static_cast<std::size_t>(form_->id)];
      std::from_chars(id.data(), id.data() + id.size(), result.id);
    }
    if (form_->label >= 0) {
      const std::size_t at =
          form_->label == kLastColumn ? columns_ - 1 : static_cast<std::size_t>(form_->label);
      result.label = format_.classes[0] == nullptr ? score(row[at]) : class_of(row[at]);
    }
    return result;
  }

  double class_of(std::string_view label) const {
    std::vector<std::string_view> known;
    for (const char* name : format_.classes) {
      if (name != nullptr && label == name) {
        return static_cast<double>(known.size());
      }
      if (name != nullptr) {
        known.emplace_back(name);
      }
    }
    throw_data("label \"{}\"; labels of {} are {}", label, format_.task, fmt::join(known, ", "));
  }

  double score(std::string_view text) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw_data("score \"{}\": no number", text);
    }
    return value;
  }

  const GlueFormat& format_;
  const std::string& path_;
  const GlueForm* form_ = nullptr;
  std::size_t columns_ = 0;
};

}  // namespace

std::string data_name(std::string_view task, std::string path) {
  if (const std::size_t at = path.rfind(task); at != path.npos) {
    path.erase(0, at + task.size());
  }
  if (path.ends_with(".tsv")) {
    path.resize(path.size() - 4);
  }
  while (!path.empty() && (path.front() == '/' || path.front() == '_')) {
    path.erase(0, 1);
  }
  while (path.ends_with('/')) {
    path.pop_back();
  }
  std::ranges::replace_if(
      path, [](char c) { return c == '_' || c == '/'; }, '-');
  return path;
}

std::vector<LabelledText> read_labelled_texts(std::string_view task, const std::string& path) {
  if (task == "RACE") {
    return read_race(path);
  }
  const auto* const format = std::ranges::find(kGlueFormats, task, &GlueFormat::task);
  MPITRON_CHECK(format != kGlueFormats.end(), std::string(task));
  const MappedFile file(path);
  return Table(*format, path).read(file.text());
}

}  // namespace mpitron::data
