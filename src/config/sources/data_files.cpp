#include "config/sources/data_files.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/json_nesting.h"

// Files that hold the words of data options: --data-args-path (text) and --per-split-data-args-path
// (JSON). Words on the command line win over a file's.

namespace mpitron::config {
namespace {

void problem(Reading& report, const char* option, const std::string& path,
             const std::string& what) {
  report.findings.push_back(
      {ids::kFile, "configuration_file", fmt::format("{}: {}.", path, what), "", {option}});
}

/// Returns the contents of a file; a finding and nothing if it cannot be read.
std::optional<std::string> contents(Reading& report, const char* option, const std::string& path) {
  try {
    return read_file(path);
  } catch (const Error& error) {
    report.findings.push_back(
        {ids::kFile, "configuration_file", fmt::format("{}.", error.what()), "", {option}});
    return std::nullopt;
  }
}

/// Splits a file at blanks and line ends, as a command line is.
void expand_words(OptionValues& values, const std::string& path, Reading& report) {
  constexpr const char* kOption = "--data-args-path";
  const std::optional<std::string> text = contents(report, kOption, path);
  if (!text) {
    return;
  }
  const std::vector<std::string> words = split_words(*text);
  if (words.empty()) {
    problem(report, kOption, path, "holds no words");
  } else if (!values.has("data_path")) {
    values.derive("data_path", words, fmt::format("from {}", path));
  }
}

/// Reads lists of train, valid and test; a file that is no object is a finding.
void expand_splits(OptionValues& values, const std::string& path, Reading& report) {
  constexpr const char* kOption = "--per-split-data-args-path";
  const std::optional<std::string> text = contents(report, kOption, path);
  if (!text) {
    return;
  }
  using Json = nlohmann::json;
  const Json json = nests_too_deep(*text) ? Json() : Json::parse(*text, nullptr, false);
  if (!json.is_object()) {
    problem(report, kOption, path, "is no JSON object");
    return;
  }
  for (const char* split : {"train", "valid", "test"}) {
    const auto found = json.find(split);
    if (found == json.end() || found->is_null()) {
      continue;
    }
    std::vector<std::string> words;
    for (const auto& item : *found) {
      words.push_back(item.is_string() ? item.get<std::string>() : item.dump());
    }
    const std::string dest = fmt::format("{}_data_path", split);
    if (!values.has(dest) && !words.empty()) {
      values.derive(dest, words, fmt::format("from {}", path));
    }
  }
}

}  // namespace

/// Makes a missing file a finding like any other, so that all are told at once.
void expand_data_files(OptionValues& values, Reading& report) {
  if (const auto path = values.maybe_text("data_args_path")) {
    expand_words(values, *path, report);
  }
  if (const auto path = values.maybe_text("per_split_data_args_path")) {
    expand_splits(values, *path, report);
  }
}

}  // namespace mpitron::config
