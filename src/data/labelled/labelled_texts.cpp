#include "data/labelled/labelled_texts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/text/blanks.h"

// The files of GLUE and RACE as they are distributed: a row for each task says which columns hold
// texts, labels and numbers, and what labels are called.

namespace mpitron::data {
namespace {

/// Columns of a file of tab-separated values, by what they hold; -1: nowhere.
struct Form {
  int columns = 0;         // 0: any number from the last one used on
  const char* first = "";  // the header's first word; empty: any
  bool header = true;
  int id = 0, a = 1, b = -1, label = -1;  // kLast: the last one
};
constexpr int kLast = 1000;

/// A task: the forms of its files without labels and with them, and its classes by their numbers.
struct Format {
  std::string_view task;
  std::array<Form, 2> forms;  // the first that fits the first line counts
  std::array<const char*, 3> classes = {"0", "1", nullptr};
  bool skips_bad_rows = false;
};

constexpr std::array<const char*, 3> kEntailment = {"entailment", "not_entailment", nullptr};
constexpr std::array kFormats = {
    Format{"MNLI",
           {{{.columns = 10, .a = 8, .b = 9}, {.a = 8, .b = 9, .label = kLast}}},
           {"contradiction", "entailment", "neutral"}},
    Format{.task = "QQP",
           .forms = {{{.columns = 3, .b = 2}, {.columns = 6, .a = 3, .b = 4, .label = 5}}},
           .skips_bad_rows = true},
    Format{"CoLA",
           {{{.columns = 2, .first = "index"},
             {.columns = 4, .header = false, .id = -1, .a = 3, .label = 1}}}},
    Format{"SST-2",
           {{{.columns = 2, .first = "index"}, {.columns = 2, .id = -1, .a = 0, .label = 1}}}},
    Format{"MRPC",
           {{{.columns = 5, .first = "index", .a = 3, .b = 4},
             {.columns = 5, .id = -1, .a = 3, .b = 4, .label = 0}}}},
    Format{"STS-B",
           {{{.columns = 9, .a = 7, .b = 8}, {.columns = 10, .a = 7, .b = 8, .label = 9}}},
           {nullptr}},
    Format{"QNLI", {{{.columns = 3, .b = 2}, {.columns = 4, .b = 2, .label = 3}}}, kEntailment},
    Format{"RTE", {{{.columns = 3, .b = 2}, {.columns = 4, .b = 2, .label = 3}}}, kEntailment},
    Format{"WNLI", {{{.columns = 3, .b = 2}, {.columns = 4, .b = 2, .label = 3}}}},
};

using TextRow = std::vector<std::string_view>;

/// Cuts a line into columns as the reference does: white space at both ends of the line and of each
/// column does not count.
TextRow columns_of(std::string_view line) {
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

bool fits(const Form& form, const TextRow& first_line) {
  const auto count = static_cast<int>(first_line.size());
  const int least = std::max(form.a, form.b) + 2;
  return (form.columns == 0 ? count >= least : count == form.columns) &&
         (*form.first == '\0' || first_line.front() == form.first);
}

/// Reads the lines of one file, as a form has them.
class Table {
 public:
  Table(const Format& format, const std::string& path) : format_(format), path_(path) {}

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
    for (const Form& form : format_.forms) {
      if (fits(form, row)) {
        form_ = &form;
        return;
      }
    }
    const auto wanted = [](const Form& form) {
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
          form_->label == kLast ? columns_ - 1 : static_cast<std::size_t>(form_->label);
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

  const Format& format_;
  const std::string& path_;
  const Form* form_ = nullptr;
  std::size_t columns_ = 0;
};

using Json = nlohmann::json;

/// Returns the text that an option makes of a question: in its blanks, or behind it.
std::string answered(std::string question, const std::string& option) {
  if (question.find('_') == question.npos) {
    return question + ' ' + option;
  }
  for (std::size_t at = question.find('_'); at != question.npos;
       at = question.find('_', at + option.size())) {
    question.replace(at, 1, option);
  }
  return question;
}

/// Appends the questions of an article of RACE, in order.
void add_article(const Json& document, std::vector<LabelledText>& result) {
  const std::string article = clean_text(document.at("article").get<std::string>());
  const Json& questions = document.at("questions");
  const Json &options = document.at("options"), &answers = document.at("answers");
  if (questions.size() != options.size() || questions.size() != answers.size()) {
    throw_data("{} questions, {} lists of options, {} answers", questions.size(), options.size(),
               answers.size());
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto answer = answers[i].get<std::string>();
    if (options[i].size() != 4 || answer.size() != 1 || answer[0] < 'A' || answer[0] > 'D') {
      throw_data(
          "question {} has {} options and answer \"{}\"; four, and one of A to D, are needed",
          i + 1, options[i].size(), answer);
    }
    LabelledText sample{.label = static_cast<double>(answer[0] - 'A'),
                        .id = static_cast<Index>(result.size())};
    for (const Json& option : options[i]) {
      const std::string text = answered(questions[i], option);
      sample.pairs.push_back({.first = clean_text(text), .second = article});
    }
    result.push_back(std::move(sample));
  }
}

/// Sorted, so that samples have their numbers on every file system.
std::vector<std::filesystem::path> text_files(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".txt") {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw_data("{}: no folder with .txt files, as RACE has them", folder);
  }
  std::ranges::sort(files);
  return files;
}

/// Reads every article of a folder: a JSON object a line. Errors name the file and the line.
std::vector<LabelledText> read_race(const std::string& folder) {
  std::vector<LabelledText> result;
  for (const std::filesystem::path& file : text_files(folder)) {
    const MappedFile mapped(file);
    std::string_view text = mapped.text();
    for (Index line = 1; !text.empty(); ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view own = stripped(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (own.empty()) {
        continue;
      }
      try {
        add_article(Json::parse(own), result);
      } catch (const std::exception& error) {
        throw_data("{}:{}: {}", file.string(), line, error.what());
      }
    }
  }
  return result;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string clean_text(std::string_view text) {
  constexpr int kRounds = 3;  // of the reference
  std::string result;
  for (const char c : text) {
    const bool blank = kBlanks.find(c) != kBlanks.npos;
    if (!blank) {
      result += c;
    } else if (result.empty() || result.back() != ' ') {
      result += ' ';
    }
  }
  for (int i = 0; i < kRounds; ++i) {
    replace_all(result, " . ", ". ");
  }
  return result;
}

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
  const auto* const format = std::ranges::find(kFormats, task, &Format::task);
  MPITRON_CHECK(format != kFormats.end(), std::string(task));
  const MappedFile file(path);
  return Table(*format, path).read(file.text());
}

}  // namespace mpitron::data
