#pragma once
#include <optional>
#include <vector>

#include "inference/scheduling/generator.h"
#include "inference/tasks/task_questions.h"

namespace mpitron::inference {

/// Which generated answers are the right ones, by each filter of the task.
struct GenerationResult {
  std::vector<std::string> answers;        // of each question, as generated
  std::vector<std::vector<bool>> correct;  // [filters][questions]
  std::optional<double> f1, bleu;          // where the task measures them
  Index cut = 0;                           // contexts that left no room for an answer
};

/// Generates the likeliest answers, up to a text of `until`, and compares them with the targets. Of
/// long contexts the end is kept that leaves room for the answer. All ranks that share the engine
/// call it alike.
GenerationResult generated_accuracy(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                    const EvaluationTask& task,
                                    const std::vector<TaskQuestion>& questions);

}  // namespace mpitron::inference
