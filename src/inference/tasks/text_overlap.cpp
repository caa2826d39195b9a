// Measures overlap of words and n-grams: F1 as Megatron's dialogue tasks have it, and corpus BLEU.
#include "inference/tasks/text_overlap.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <sstream>

namespace mpitron::inference {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string text, bool with_articles) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return std::ispunct(c) != 0 ? ' ' : static_cast<char>(std::tolower(c));
  });
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) {
    if (with_articles || (word != "a" && word != "an" && word != "the")) {
      words.push_back(word);
    }
  }
  return words;
}

/// Runs of `n` words and how often each comes.
std::map<Words, long> runs_of(const Words& words, std::size_t n) {
  std::map<Words, long> counts;
  for (std::size_t i = 0; i + n <= words.size(); ++i) {
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i);
    ++counts[Words(first, first + static_cast<std::ptrdiff_t>(n))];
  }
  return counts;
}

long common(const std::map<Words, long>& a, const std::map<Words, long>& b) {
  long count = 0;
  for (const auto& [words, times] : a) {
    const auto found = b.find(words);
    count += found == b.end() ? 0 : std::min(times, found->second);
  }
  return count;
}

}  // namespace

std::optional<double> word_f1(const std::string& guess, const std::string& answer) {
  const Words guessed = words_of(guess, false), right = words_of(answer, false);
  if (right.empty()) {
    return std::nullopt;
  }
  const auto both = static_cast<double>(common(runs_of(guessed, 1), runs_of(right, 1)));
  return both == 0
             ? 0
             : 2 * both / (static_cast<double>(guessed.size()) + static_cast<double>(right.size()));
}

/// Measures BLEU over the whole corpus (Papineni et al. 2002): n-grams up to four, one penalty for
/// short answers.
double corpus_bleu(const std::vector<std::pair<std::string, std::string>>& texts) {
  constexpr std::size_t kLongest = 4;
  std::array<long, kLongest> matches{}, all{};
  double guessed = 0, right = 0;
  for (const auto& [guess, answer] : texts) {
    const Words own = words_of(guess, true), other = words_of(answer, true);
    guessed += static_cast<double>(own.size());
    right += static_cast<double>(other.size());
    for (std::size_t n = 1; n <= kLongest; ++n) {
      matches[n - 1] += common(runs_of(own, n), runs_of(other, n));
      all[n - 1] += std::max<long>(static_cast<long>(own.size()) - static_cast<long>(n) + 1, 0);
    }
  }
  double logs = 0;
  for (std::size_t n = 0; n < kLongest; ++n) {
    if (matches[n] == 0) {
      return 0;
    }
    logs += std::log(static_cast<double>(matches[n]) / static_cast<double>(all[n]));
  }
  return std::exp(logs / kLongest) * std::min(1.0, std::exp(1 - right / guessed));
}

}  // namespace mpitron::inference
