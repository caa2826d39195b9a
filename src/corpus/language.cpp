#include "corpus/language.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

#include "corpus/language_words.h"
#include "utils/text/utf8.h"

// Guesses languages by two rules: scripts that belong to one language tell it, and among Latin ones
// the language whose most common words are most frequent wins, where the share is large enough.

namespace mpitron::corpus {
namespace {

constexpr int kMostWords = 4000;
constexpr double kLeastShare = 0.08;  // of common words; lists and program texts have fewer

/// Scripts that tell the language; Han with kana is Japanese.
enum Script {
  latin,
  cyrillic,
  greek,
  arabic,
  hebrew,
  devanagari,
  thai,
  hangul,
  kana,
  han,
  scripts
};
constexpr std::array<std::string_view, scripts> kCodeOfScript = {"",   "ru", "el", "ar", "he",
                                                                 "hi", "th", "ko", "ja", "zh"};

struct Range {
  std::uint32_t first, last;
  Script script;
};
constexpr std::array<Range, 15> kRanges{{{'A', 'Z', latin},
                                         {'a', 'z', latin},
                                         {0xC0, 0x24F, latin},
                                         {0x370, 0x3FF, greek},
                                         {0x400, 0x52F, cyrillic},
                                         {0x590, 0x5FF, hebrew},
                                         {0x600, 0x6FF, arabic},
                                         {0x750, 0x77F, arabic},
                                         {0x900, 0x97F, devanagari},
                                         {0xE00, 0xE7F, thai},
                                         {0x1100, 0x11FF, hangul},
                                         {0x1E00, 0x1EFF, latin},
                                         {0x3040, 0x30FF, kana},
                                         {0x3400, 0x9FFF, han},
                                         {0xAC00, 0xD7A3, hangul}}};

/// Returns the script of a character; digits and signs have none.
Script script_of(std::uint32_t c) {
  for (const Range& range : kRanges) {
    if (c >= range.first && c <= range.last && c != 0xD7 && c != 0xF7) {
      return range.script;
    }
  }
  return scripts;
}

/// Lowers ASCII and Latin-1; other Latin capitals stay, and words with them are not found.
std::uint32_t lower(std::uint32_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE) ? c + 0x20 : c;
}

/// Returns each common word with the languages that have it, one bit each.
const std::unordered_map<std::string_view, std::uint32_t>& common_words() {
  static const auto kTable = [] {
    std::unordered_map<std::string_view, std::uint32_t> table;
    for (std::size_t i = 0; i < kWords.size(); ++i) {
      for (std::string_view rest = kWords[i].words; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        table[rest.substr(0, end)] |= std::uint32_t{1} << i;
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    return table;
  }();
  return kTable;
}

struct Counts {
  std::array<int, scripts> letters{};
  std::array<int, kWords.size()> hits{};
  int words = 0;

  /// Counts a word for each language that has it among its frequent ones.
  void add_word(const std::string& word) {
    ++words;
    const auto found = common_words().find(word);
    for (std::size_t i = 0; found != common_words().end() && i < hits.size(); ++i) {
      hits[i] += static_cast<int>(found->second >> i & 1);
    }
  }
};

/// Counts letters and words. Stops after enough words: more do not change the guess.
Counts count(std::string_view text) {
  Counts counts;
  std::string word;
  for (std::size_t at = 0; at < text.size() && counts.words < kMostWords;) {
    const Utf8Char next = decode_utf8(text.substr(at));
    at += static_cast<std::size_t>(std::max(next.bytes, 1));
    const Script script = next.bytes > 0 ? script_of(next.code_point) : scripts;
    if (script != scripts) {
      ++counts.letters[script];
    }
    if (script == latin) {
      append_utf8(lower(next.code_point), word);
    } else if (!word.empty()) {
      counts.add_word(word);
      word.clear();
    }
  }
  if (!word.empty()) {
    counts.add_word(word);
  }
  return counts;
}

}  // namespace

/// Decides by script first, then by frequent words; unsure where too few are known.
LanguageGuess guess_language(std::string_view text) {
  const Counts counts = count(text);
  const auto& letters = counts.letters;
  int all = 0;
  for (const int n : letters) {
    all += n;
  }
  const auto script = static_cast<std::size_t>(std::ranges::max_element(letters) - letters.begin());
  if (all == 0) {
    return {};
  }
  if (script != latin) {
    const bool japanese = script == han && letters[kana] * 10 > letters[han];
    const int speaking = letters[script] + (japanese ? letters[kana] : 0);
    return {kCodeOfScript[japanese ? static_cast<std::size_t>(kana) : script],
            static_cast<double>(speaking) / all};
  }
  const auto best = std::ranges::max_element(counts.hits);
  const double share = static_cast<double>(*best) / std::max(counts.words, 1);
  if (share < kLeastShare) {
    return {"", share};
  }
  return {kWords[static_cast<std::size_t>(best - counts.hits.begin())].code, share};
}

std::vector<std::string> known_languages() {
  std::vector<std::string> codes;
  for (const Words& words : kWords) {
    codes.emplace_back(words.code);
  }
  for (const std::string_view code : kCodeOfScript) {
    if (!code.empty()) {
      codes.emplace_back(code);
    }
  }
  return codes;
}

}  // namespace mpitron::corpus
