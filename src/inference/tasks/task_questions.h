#pragma once
#include <string>
#include <vector>

#include "inference/tasks/task_file.h"

namespace mpitron::inference {

/// A document as its task asks for it, examples in front.
struct TaskQuestion {
  /// Texts before each choice: the same before all, or what the choices fill in.
  std::vector<std::string> contexts;
  std::vector<std::string> continuations;  // behind these; of a generated answer none
  std::vector<std::string> choices;        // whose lengths acc_norm counts
  std::size_t answer = 0;                  // the right choice
  std::string target;                      // the right answer that is to be generated
  std::vector<std::string> references;     // all right ones, `target` where no others are named
  std::vector<std::string> images;         // files that the question is about
};

/// Documents of a JSONL file, with file and line for messages.
struct TaskDocuments {
  std::vector<TaskDocument> documents;
  std::vector<std::string> places;

  /// Error(data) names file and line.
  explicit TaskDocuments(const std::string& path);
};

/// Source of examples: with an empty `path` the questions' own file, without the question itself.
struct TaskExamples {
  std::size_t count = 0;
  std::string path;
};

/// The questions of a file, in order. Error(data) with file and line for a field that is missing,
/// fewer than two choices, a choice that is empty or stands twice, an answer that is none of them.
std::vector<TaskQuestion> make_questions(const EvaluationTask& task, const std::string& path,
                                         const TaskExamples& examples);

}  // namespace mpitron::inference
