#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "inference/scheduling/generator.h"
#include "inference/tasks/task_questions.h"

namespace mpitron::inference {

/// Counts of right answers, by each filter of the task.
struct GenerationResult {
  std::vector<std::string> answers;                     // of each question, as generated
  std::vector<std::vector<bool>> correct;               // [filters][questions]
  std::optional<double> f1, bleu, vqa, relaxed, cider;  // where the task measures them
  Index cut = 0;                                        // contexts that left no room for an answer
};

/// Makes the prompt of a question about images. Error(data) where one cannot be read.
using ShowImages = std::function<void(const TaskQuestion&, GenerationRequest&)>;

/// Generates the likeliest answers, up to a text of `until`, and compares them with the targets. Of
/// long contexts the end is kept that leaves room for the answer. All ranks that share the engine
/// call it alike. `show`: absent where the model sees no images; Error(usage) where the task has
/// some.
GenerationResult generated_accuracy(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                    const EvaluationTask& task,
                                    const std::vector<TaskQuestion>& questions,
                                    const ShowImages& show = {});

}  // namespace mpitron::inference
