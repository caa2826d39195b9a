// Scores choices by the log-probabilities of their continuations. A context and its continuation
// are tokenised together and split where the context ends, since tokenizers join words across that
// place.
#include "inference/tasks/choice_accuracy.h"

#include <algorithm>
#include <cmath>

#include "utils/error.h"

namespace mpitron::inference {
namespace {

/// Code points of UTF-8.
double characters(const std::string& text) {
  return static_cast<double>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Likelihoods of the choices of one question, in order.
void judge(const TaskQuestion& question, const WindowScore* scores, ChoiceResult& result) {
  std::size_t best = 0, best_by_length = 0;
  const auto by_length = [&](std::size_t i) {
    return scores[i].loss / characters(question.choices[i]);
  };
  for (std::size_t i = 1; i < question.choices.size(); ++i) {
    best = scores[i].loss < scores[best].loss ? i : best;
    best_by_length = by_length(i) < by_length(best_by_length) ? i : best_by_length;
  }
  result.correct.push_back(best == question.answer);
  result.correct_by_length.push_back(best_by_length == question.answer);
}

}  // namespace

double share(const std::vector<bool>& correct) {
  return static_cast<double>(std::ranges::count(correct, true)) /
         static_cast<double>(correct.size());
}

double standard_error(const std::vector<bool>& correct) {
  const double mean = share(correct);
  const auto others = static_cast<double>(correct.size()) - 1;
  return others > 0 ? std::sqrt(mean * (1 - mean) / others) : 0;
}

/// Makes the window of a choice: blanks at the context's end go to the continuation, as
/// lm-evaluation-harness does, because tokenizers join them with the word behind.
TextWindow continuation_window(const tokenizers::Tokenizer& tokenizer, std::string context,
                               const std::string& text) {
  const std::size_t blanks = context.find_last_not_of(" \t\n\v\f\r") + 1;
  const std::string continuation = context.substr(blanks) + text;
  context.resize(blanks);
  TextWindow window{.tokens = tokenizer.encode(context + continuation)};
  window.first_scored = std::min(tokenizer.encode(context).size(), window.tokens.size());
  if (window.first_scored == window.tokens.size()) {
    throw_data("the text \"{}\" has no token behind its context", text);
  }
  if (window.first_scored == 0) {
    const auto start = tokenizer.special_ids().bos.value_or(tokenizer.eod());
    window.tokens.insert(window.tokens.begin(), start);
    window.first_scored = 1;
  }
  return window;
}

/// Scores all choices of all questions in one list of windows, then judges each question by the
/// sums of its own.
ChoiceResult choice_accuracy(const WindowScorer& scorer, const tokenizers::Tokenizer& tokenizer,
                             const std::vector<TaskQuestion>& questions, Index length) {
  ChoiceResult result;
  std::vector<TextWindow> windows;
  for (const TaskQuestion& question : questions) {
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
      const std::size_t own = question.contexts.size() > 1 ? i : 0;
      windows.push_back(
          continuation_window(tokenizer, question.contexts[own], question.continuations[i]));
      result.cut += cut_front(windows.back(), static_cast<std::size_t>(length)) ? 1 : 0;
    }
  }
  const std::vector<WindowScore> scores = scorer.score(windows);
  const WindowScore* next = scores.data();
  for (const TaskQuestion& question : questions) {
    judge(question, next, result);
    next += question.choices.size();
  }
  return result;
}

}  // namespace mpitron::inference
