#include "data/preprocess/sentence_words.h"

#include <array>

#include <fmt/ranges.h>

#include "data/preprocess/sentence_word_lists.h"
#include "utils/error.h"

// Words of languages for the sentence splitter, of our own choice: abbreviations of dictionaries
// and common words, for the languages of nltk that use the Latin script and a period.

namespace mpitron::data {
namespace {

/// Splits at spaces; views point into the lists, which live as long as the program.
std::unordered_set<std::string_view> words_of(std::string_view list) {
  std::unordered_set<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    words.insert(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

}  // namespace

std::vector<std::string> sentence_languages() {
  std::vector<std::string> names;
  for (const SentenceWordLists& lists : kSentenceWordLists) {
    names.emplace_back(lists.language);
  }
  return names;
}

const SentenceWords& sentence_words(const std::string& language) {
  static const auto kWords = [] {
    std::array<SentenceWords, kSentenceWordLists.size()> words;
    for (std::size_t i = 0; i < kSentenceWordLists.size(); ++i) {
      words[i] = {words_of(kSentenceWordLists[i].abbreviations),
                  words_of(kSentenceWordLists[i].starters)};
    }
    return words;
  }();
  for (std::size_t i = 0; i < kSentenceWordLists.size(); ++i) {
    if (kSentenceWordLists[i].language == language) {
      return kWords[i];
    }
  }
  throw_usage(
      "--lang {}: sentences are split in {}; for others split before, and give each text as a list "
      "of strings",
      language, fmt::join(sentence_languages(), ", "));
}

}  // namespace mpitron::data
