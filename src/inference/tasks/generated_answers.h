#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "inference/scheduling/generator.h"
#include "inference/tasks/task_questions.h"

namespace mpitron::inference {

/// What a model says to the questions of a task.
struct GeneratedAnswers {
  std::vector<std::string> answers;  // of each question
  Index cut = 0;                     // contexts that left no room for an answer
};

/// Counts of right answers, by each filter of the task.
struct GenerationResult : GeneratedAnswers {
  std::vector<std::vector<bool>> correct;               // [filters][questions]
  std::optional<double> f1, bleu, vqa, relaxed, cider;  // where the task measures them
};

/// Makes the prompt of a question about images. Error(data) where one cannot be read.
using ShowImages = std::function<void(const TaskQuestion&, GenerationRequest&)>;

/// Generates the likeliest answers, up to a text of `until`. Of long contexts the end is kept that
/// leaves room for the answer. `show`: absent where the model sees no images; Error(usage) where
/// the task has some.
GeneratedAnswers generate_answers(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                  const EvaluationTask& task,
                                  const std::vector<TaskQuestion>& questions,
                                  const ShowImages& show = {});

/// Compares answers with the targets.
GenerationResult compare_answers(const EvaluationTask& task,
                                 const std::vector<TaskQuestion>& questions,
                                 GeneratedAnswers generated);

}  // namespace mpitron::inference
