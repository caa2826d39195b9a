// Measures perplexity and the prediction of last words as Megatron's tasks/zeroshot_gpt does, with
// its overlapping windows and its counts of words.
#include "inference/tasks/zero_shot.h"

#include <algorithm>
#include <cmath>

#include "data/preprocess/document_reader.h"
#include "data/preprocess/json_text.h"
#include "inference/tasks/detokenizer.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/blanks.h"

namespace mpitron::inference {
namespace {

constexpr double kLargestExponent = 20;

}  // namespace

/// Cuts a text into windows, each of which scores only the tokens that no window before it has.
OverlappingWindows overlapping_windows(const tokenizers::TokenIds& tokens, Index length,
                                       Index stride) {
  const auto targets = static_cast<Index>(tokens.size()) - 1;
  OverlappingWindows result;
  result.count =
      std::max<Index>((std::max<Index>(targets - stride, 0) + stride - 1) / stride + 1, 1);
  for (Index i = 0; i < result.count; ++i) {
    const Index first = i * stride, last = std::min(targets, first + length);
    const Index skipped = i > 0 && stride != length ? length - stride : 0;
    if (first + skipped < last) {
      result.windows.push_back({.tokens = {tokens.begin() + first, tokens.begin() + last + 1},
                                .first_scored = static_cast<std::size_t>(skipped) + 1});
    }
  }
  return result;
}

double PerplexityResult::token_ratio() const {
  return static_cast<double>(tokens - 1) / static_cast<double>(words - 1);
}

double PerplexityResult::perplexity() const {
  return std::exp(std::min(kLargestExponent, average()));
}

double PerplexityResult::adjusted_perplexity() const {
  return std::exp(std::min(kLargestExponent, average() * token_ratio()));
}

std::string PerplexityResult::line(const std::string& task) const {
  return fmt::format(
      " validation results on {} | avg loss: {:.4E} | ppl: {:.4E} | adjusted ppl: {:.4E} | token "
      "ratio: {} |",
      task, average(), perplexity(), adjusted_perplexity(), token_ratio());
}

/// Measures perplexity of a file, per token and per word of the original text, whose number
/// tokenisation does not change.
PerplexityResult perplexity(const WindowScorer& scorer, const tokenizers::Tokenizer& tokenizer,
                            const std::string& path, Index length, Index stride) {
  const std::string text(MappedFile(path).text());
  const tokenizers::TokenIds tokens = tokenizer.encode(detokenize_corpus(path, text));
  PerplexityResult result{.targets = static_cast<Index>(tokens.size()) - 1,
                          .tokens = static_cast<Index>(tokens.size()),
                          .words = std::ranges::count(stripped(text, kTextBlanks), ' ') + 1};
  if (result.tokens < 2 || result.words < 2) {
    throw_data("{}: {} tokens, {} words; perplexity needs two of each", path, result.tokens,
               result.words);
  }
  const OverlappingWindows cut = overlapping_windows(tokens, length, stride);
  result.windows = cut.count;
  for (const WindowScore& score : scorer.score(cut.windows)) {
    result.loss += score.loss;
  }
  return result;
}

Index CompletionResult::number_correct() const {
  return std::ranges::count(correct, true);
}

std::string CompletionResult::line(const std::string& task) const {
  const auto right = static_cast<double>(number_correct());
  const auto all = static_cast<double>(correct.size());
  return fmt::format(
      " validation results on {} | number correct: {:.4E} | total examples: {:.4E} | avg accuracy: "
      "{:.4E}",
      task, right, all, right / all);
}

/// Makes the window of a text whose last word is to be predicted; `strict` takes the word itself,
/// else the last token.
TextWindow completion_window(const tokenizers::Tokenizer& tokenizer, const std::string& text,
                             bool strict) {
  TextWindow window;
  if (strict) {
    const std::string_view words = stripped(text, kTextBlanks);
    const std::string_view last = words.substr(words.find_last_of(kTextBlanks) + 1);
    const std::string_view context =
        stripped(words.substr(0, words.size() - last.size()), kTextBlanks);
    window.tokens = tokenizer.encode(context);
    window.first_scored = window.tokens.size();
    const tokenizers::TokenIds target = tokenizer.encode(fmt::format(" {}", last));
    window.tokens.insert(window.tokens.end(), target.begin(), target.end());
  } else {
    window.tokens = tokenizer.encode(text);
    window.first_scored = std::max<std::size_t>(window.tokens.size(), 1) - 1;
  }
  if (window.first_scored == 0) {
    throw_data("a text of one {} has nothing before what is to be predicted",
               strict ? "word" : "token");
  }
  return window;
}

/// Counts texts whose wanted tokens are all the likeliest.
CompletionResult completion_accuracy(const WindowScorer& scorer,
                                     const tokenizers::Tokenizer& tokenizer,
                                     const std::string& path, Index length, bool strict) {
  data::DocumentReader reader({path}, data::TextDocuments::lines);
  data::JsonTextParser parser;
  data::DocumentBatch batch;
  const std::string key = "text";
  CompletionResult result;
  std::vector<TextWindow> windows;
  while (reader.next(batch)) {
    for (const data::RawDocument& document : batch.documents) {
      try {
        std::string text;
        for (const std::string_view part : parser.parse(document.text, {&key, 1})[0]) {
          text += part;
        }
        windows.push_back(completion_window(tokenizer, text, strict));
        result.cut += cut_front(windows.back(), static_cast<std::size_t>(length)) ? 1 : 0;
      } catch (const Error& error) {
        throw_data("{}", batch.complaint(document, error.what()));
      }
    }
  }
  if (windows.empty()) {
    throw_data("{}: no examples", path);
  }
  for (const WindowScore& score : scorer.score(windows)) {
    result.correct.push_back(score.greedy);
  }
  return result;
}

}  // namespace mpitron::inference
