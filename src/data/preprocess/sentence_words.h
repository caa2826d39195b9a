#pragma once
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mpitron::data {

/// Words of a language that a sentence splitter knows.
struct SentenceWords {
  std::unordered_set<std::string_view> abbreviations;  // lower case, without the last period
  std::unordered_set<std::string_view> starters;  // common words, upper case only at a beginning
};

/// Returns the words of a language. Error(usage) for one without words; names those that have.
const SentenceWords& sentence_words(const std::string& language);

/// Returns all languages, by the names that nltk gives them.
std::vector<std::string> sentence_languages();

}  // namespace mpitron::data
