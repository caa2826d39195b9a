#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "data/labelled/labelled_texts.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/text/blanks.h"

// Questions of RACE, each with four answers, as it is distributed.

namespace mpitron::data {
namespace {

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

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

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

}  // namespace mpitron::data
