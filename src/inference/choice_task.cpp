#include "inference/choice_task.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "utils/error.h"

namespace mpitron::inference {
namespace {

using Json = nlohmann::json;

constexpr const char* kKeys[] = {"task",   "text",      "choices", "answer",
                                 "labels", "delimiter", "clean"};

std::vector<std::string> texts(const YAML::Node& node) {
  return node.IsSequence() ? node.as<std::vector<std::string>>()
                           : std::vector<std::string>{node.as<std::string>()};
}

void check_keys(const YAML::Node& root) {
  for (const auto& entry : root) {
    const auto key = entry.first.as<std::string>();
    if (std::ranges::find(kKeys, key) == std::end(kKeys)) {
      throw_data("unknown key {}; known are task, text, choices, answer, labels, delimiter, clean",
                 key);
    }
  }
  for (const char* key : {"task", "text", "choices", "answer"}) {
    if (!root[key]) {
      throw_data("the key {} is missing", key);
    }
  }
}

ChoiceTask task_of(const YAML::Node& root) {
  check_keys(root);
  ChoiceTask task{.name = root["task"].as<std::string>(),
                  .text = root["text"].as<std::string>(),
                  .choices = texts(root["choices"]),
                  .labels = root["labels"] ? texts(root["labels"]) : std::vector<std::string>(),
                  .answer = root["answer"].as<std::string>()};
  task.delimiter = root["delimiter"] ? root["delimiter"].as<std::string>() : " ";
  if (root["clean"] && root["clean"].as<std::string>() != "wikihow") {
    throw_data("clean: {}; known is wikihow", root["clean"].as<std::string>());
  }
  task.clean = static_cast<bool>(root["clean"]);
  return task;
}

/// By name, or by place in a list; null where there is none.
const Json* part_of(const Json& value, const std::string& key) {
  if (value.is_object() && value.contains(key)) {
    return &value[key];
  }
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), place);
  const bool number = error == std::errc() && end == key.data() + key.size();
  return value.is_array() && number && place < value.size() ? &value[place] : nullptr;
}

/// A field, or a part of it; Error(data) where there is none.
const Json& field(const Json& document, std::string_view path) {
  const Json* value = &document;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = std::min(rest.find('.'), rest.size());
    const std::string key(rest.substr(0, end));
    value = part_of(*value, key);
    if (value == nullptr) {
      throw_data("no field {}", path);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return *value;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The name in a template that is one field and nothing else.
std::optional<std::string> only_field(const std::string& text) {
  const bool whole = text.starts_with("{{") && text.find("}}") == text.size() - 2;
  return whole && text.size() > 4 ? std::optional(text.substr(2, text.size() - 4)) : std::nullopt;
}

std::string filled(const std::string& text, const Json& document) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = text.find("{{"); open != text.npos; open = text.find("{{", at)) {
    const std::size_t close = text.find("}}", open);
    if (close == text.npos) {
      throw_data("{{{{ without }}}} in \"{}\"", text);
    }
    result += text.substr(at, open - at);
    result += text_of(field(document, text.substr(open + 2, close - open - 2)));
    at = close + 2;
  }
  return result + text.substr(at);
}

/// A template that is one list stands for its elements.
std::vector<std::string> filled_list(const std::vector<std::string>& templates,
                                     const Json& document) {
  std::vector<std::string> result;
  for (const std::string& text : templates) {
    const auto name = only_field(text);
    const Json* const value = name ? &field(document, *name) : nullptr;
    if (value != nullptr && value->is_array()) {
      std::ranges::transform(*value, std::back_inserter(result), text_of);
    } else {
      result.push_back(filled(text, document));
    }
  }
  return result;
}

/// HellaSwag's texts of WikiHow, as its authors' evaluation prepares them.
std::string without_marks(std::string text) {
  static const std::regex kTitle(R"( \[title\])"), kBrackets(R"(\[.*?\])"), kBlanks("  ");
  text = std::regex_replace(text, kTitle, ". ");
  text = std::regex_replace(text, kBrackets, "");
  text = std::regex_replace(text, kBlanks, " ");
  const std::size_t begin = text.find_first_not_of(" \n\t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \n\t") + 1 - begin);
}

std::size_t place_of(const std::string& answer, const std::vector<std::string>& labels,
                     std::size_t choices) {
  const auto label = std::ranges::find(labels, answer);
  if (label != labels.end()) {
    return static_cast<std::size_t>(label - labels.begin());
  }
  std::size_t place = choices;
  const auto [end, error] = std::from_chars(answer.data(), answer.data() + answer.size(), place);
  const bool number = error == std::errc() && end == answer.data() + answer.size();
  if (!labels.empty() || !number || place >= choices) {
    throw_data("the answer \"{}\" is none of the {} choices", answer, choices);
  }
  return place;
}

void check_choices(const std::vector<std::string>& choices) {
  if (choices.size() < 2) {
    throw_data("{} choices; two are needed", choices.size());
  }
  if (std::ranges::find(choices, "") != choices.end()) {
    throw_data("a choice is empty");
  }
  if (std::set<std::string>(choices.begin(), choices.end()).size() < choices.size()) {
    throw_data("a choice stands twice");
  }
}

}  // namespace

ChoiceTask ChoiceTask::read(const std::filesystem::path& file) {
  try {
    return task_of(YAML::LoadFile(file));
  } catch (const YAML::Exception& error) {
    throw_data("{}: {}", file.string(), error.what());
  } catch (const Error& error) {
    throw_data("{}: {}", file.string(), error.what());
  }
}

ChoiceQuestion make_question(const ChoiceTask& task, std::string_view text) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object()) {
    throw_data("no JSON object");
  }
  ChoiceQuestion question{.text = filled(task.text, document),
                          .choices = filled_list(task.choices, document)};
  if (task.clean) {
    question.text = without_marks(question.text);
    std::ranges::transform(question.choices, question.choices.begin(), without_marks);
  }
  check_choices(question.choices);
  question.answer = place_of(filled(task.answer, document), filled_list(task.labels, document),
                             question.choices.size());
  return question;
}

}  // namespace mpitron::inference
