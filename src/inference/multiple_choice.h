#pragma once
#include <string>
#include <vector>

#include "inference/choice_task.h"
#include "inference/window_scorer.h"

namespace mpitron::inference {

/// How often a model finds the right choice the likeliest: by the sum of its tokens' log-
/// probabilities, and by that sum over the number of the choice's characters (lm-evaluation-
/// harness's acc and acc_norm); the first one among equals.
struct ChoiceResult {
  std::vector<bool> correct, correct_by_length;  // of each question
  Index cut = 0;                                 // choices that were longer than the window

  static double accuracy(const std::vector<bool>& correct);
  /// Of the mean, from the sample's variance.
  static double standard_error(const std::vector<bool>& correct);
  std::string line(const std::string& task) const;
};

/// The tokens of a choice behind its text. The tokens of both together are cut where those of the
/// text alone end; blanks at the end of the text belong to the choice.
TextWindow choice_window(const tokenizers::Tokenizer& tokenizer, std::string text,
                         const std::string& choice);

/// Of a JSONL file of documents. `length`: predictions of a window; of longer texts the end is
/// kept. Error(data) names file and line.
ChoiceResult choice_accuracy(const WindowScorer& scorer, const tokenizers::Tokenizer& tokenizer,
                             const ChoiceTask& task, const std::string& path, Index length);

}  // namespace mpitron::inference
