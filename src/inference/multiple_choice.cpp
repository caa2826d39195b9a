#include "inference/multiple_choice.h"

#include <algorithm>
#include <cmath>

#include "data/preprocess/document_reader.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace {

/// Code points of UTF-8.
double characters(const std::string& text) {
  return static_cast<double>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::vector<ChoiceQuestion> read_questions(const ChoiceTask& task, const std::string& path) {
  data::DocumentReader reader({path}, data::TextDocuments::lines);
  data::DocumentBatch batch;
  std::vector<ChoiceQuestion> questions;
  while (reader.next(batch)) {
    for (const data::RawDocument& document : batch.documents) {
      try {
        questions.push_back(make_question(task, document.text));
      } catch (const Error& error) {
        throw_data("{}", batch.complaint(document, error.what()));
      }
    }
  }
  if (questions.empty()) {
    throw_data("{}: no questions", path);
  }
  return questions;
}

/// Likelihoods of the choices of one question, in order.
void judge(const ChoiceQuestion& question, const WindowScore* scores, ChoiceResult& result) {
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

double ChoiceResult::accuracy(const std::vector<bool>& correct) {
  return static_cast<double>(std::ranges::count(correct, true)) /
         static_cast<double>(correct.size());
}

double ChoiceResult::standard_error(const std::vector<bool>& correct) {
  const double mean = accuracy(correct);
  const auto others = static_cast<double>(correct.size()) - 1;
  return others > 0 ? std::sqrt(mean * (1 - mean) / others) : 0;
}

std::string ChoiceResult::line(const std::string& task) const {
  return fmt::format(
      " validation results on {} | accuracy: {:.4f} +- {:.4f} | by length: {:.4f} +- {:.4f} | "
      "total examples: {} |",
      task, accuracy(correct), standard_error(correct), accuracy(correct_by_length),
      standard_error(correct_by_length), correct.size());
}

TextWindow choice_window(const tokenizers::Tokenizer& tokenizer, std::string text,
                         const std::string& choice) {
  const std::size_t blanks = text.find_last_not_of(" \n\t") + 1;
  const std::string continuation = text.substr(blanks) + choice;
  text.resize(blanks);
  TextWindow window{.tokens = tokenizer.encode(text + continuation)};
  window.first_scored = std::min(tokenizer.encode(text).size(), window.tokens.size());
  if (window.first_scored == 0 || window.first_scored == window.tokens.size()) {
    throw_data("the text before a choice, or the choice, has no token");
  }
  return window;
}

ChoiceResult choice_accuracy(const WindowScorer& scorer, const tokenizers::Tokenizer& tokenizer,
                             const ChoiceTask& task, const std::string& path, Index length) {
  const std::vector<ChoiceQuestion> questions = read_questions(task, path);
  ChoiceResult result;
  std::vector<TextWindow> windows;
  for (const ChoiceQuestion& question : questions) {
    for (const std::string& choice : question.choices) {
      windows.push_back(choice_window(tokenizer, question.text, task.delimiter + choice));
      result.cut += cut_front(windows.back(), static_cast<std::size_t>(length)) ? 1 : 0;
    }
  }
  const std::vector<WindowScore> scores = scorer.score(windows);
  const WindowScore* next = scores.data();
  for (const ChoiceQuestion& question : questions) {
    judge(question, next, result);
    next += question.choices.size();
  }
  return result;
}

}  // namespace mpitron::inference
