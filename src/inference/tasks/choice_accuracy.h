#pragma once
#include <string>
#include <vector>

#include "inference/tasks/task_questions.h"
#include "inference/tasks/window_scorer.h"

namespace mpitron::inference {

/// Returns the share of right answers; `standard_error` that of the mean, from the sample's
/// variance.
double share(const std::vector<bool>& correct);
double standard_error(const std::vector<bool>& correct);

/// How often a model finds the right choice the likeliest: by the sum of its tokens' log-
/// probabilities, and by that sum over the number of the choice's characters (lm-evaluation-
/// harness's acc and acc_norm); the first one among equals.
struct ChoiceResult {
  std::vector<bool> correct, correct_by_length;  // of each question
  Index cut = 0;                                 // texts that were longer than the window
};

/// The tokens of a text behind its context. The tokens of both together are cut where those of the
/// context alone end; blanks at the end of the context belong to the text. A context without tokens
/// is the token that begins texts. Error(data) for a text without tokens of its own.
TextWindow continuation_window(const tokenizers::Tokenizer& tokenizer, std::string context,
                               const std::string& text);

/// `length`: predictions of a window; of longer texts the end is kept.
ChoiceResult choice_accuracy(const WindowScorer& scorer, const tokenizers::Tokenizer& tokenizer,
                             const std::vector<TaskQuestion>& questions, Index length);

}  // namespace mpitron::inference
