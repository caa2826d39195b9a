#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::inference {

/// A multiple-choice task as data, read from a YAML file:
///   task: arc_easy
///   text: "Question: {{question}}\nAnswer:"       what stands before a choice
///   choices: "{{choices.text}}"                   a list, or several texts: ["{{sol1}}", ...]
///   answer: "{{answerKey}}"                       a number from 0 on, or one of the labels
///   labels: "{{choices.label}}"                   optional; a list or several texts
///   delimiter: " "                                between text and choice
///   clean: wikihow                                HellaSwag's: brackets and titles taken out
/// {{field}} stands for a field of the document, {{field.part}} for a part of it.
struct ChoiceTask {
  std::string name;
  std::string text;
  std::vector<std::string> choices, labels;
  std::string answer;
  std::string delimiter = " ";
  bool clean = false;

  /// Error(data) names the file and the key that is missing, unknown or of another kind.
  static ChoiceTask read(const std::filesystem::path& file);
};

/// A document as that task asks for it.
struct ChoiceQuestion {
  std::string text;
  std::vector<std::string> choices;
  std::size_t answer = 0;
};

/// Of a document, a JSON object. Error(data) for a field that is missing, fewer than two choices, a
/// choice that is empty or stands twice, an answer that is none of them.
ChoiceQuestion make_question(const ChoiceTask& task, std::string_view document);

}  // namespace mpitron::inference
