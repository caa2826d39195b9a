#include "config/data_files.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mpitron::config {
namespace {

void problem(Reading& report, const char* option, const std::string& path,
             const std::string& what) {
  report.findings.push_back(
      {ids::kFile, "configuration_file", fmt::format("{}: {}.", path, what), "", {option}});
}

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  return in && (text << in.rdbuf()) ? std::optional(text.str()) : std::nullopt;
}

void expand_words(OptionValues& values, const std::string& path, Reading& report) {
  const std::optional<std::string> text = read_text(path);
  const std::vector<std::string> words = text ? split_words(*text) : std::vector<std::string>{};
  if (words.empty()) {
    problem(report, "--data-args-path", path, text ? "holds no words" : "cannot be read");
  } else if (!values.has("data_path")) {
    values.derive("data_path", words, fmt::format("from {}", path));
  }
}

void expand_splits(OptionValues& values, const std::string& path, Reading& report) {
  constexpr const char* kOption = "--per-split-data-args-path";
  const std::optional<std::string> text = read_text(path);
  const nlohmann::json json = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!json.is_object()) {
    problem(report, kOption, path, text ? "is no JSON object" : "cannot be read");
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

void expand_data_files(OptionValues& values, Reading& report) {
  if (const auto path = values.maybe_text("data_args_path")) {
    expand_words(values, *path, report);
  }
  if (const auto path = values.maybe_text("per_split_data_args_path")) {
    expand_splits(values, *path, report);
  }
}

}  // namespace mpitron::config
