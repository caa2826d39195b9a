#pragma once
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mpitron::data {

/// What a sentence splitter knows of a language.
struct SentenceWords {
  std::unordered_set<std::string_view> abbreviations;  // lower case, without the last period
  std::unordered_set<std::string_view> starters;  // common words, upper case only at a beginning
};

/// Error(usage) for a language without words; names those that have.
const SentenceWords& sentence_words(const std::string& language);

/// All languages, by the names that nltk gives them.
std::vector<std::string> sentence_languages();

}  // namespace mpitron::data
