#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::corpus {

/// A language, and how much speaks for it.
struct LanguageGuess {
  std::string_view code;  // ISO 639-1; empty: none is likely
  double share = 0;       // of the words (Latin script) or letters (others) that speak for it
};

/// Guesses the language of a text by its script, and where that is Latin by the share of its most
/// common words. Needs some dozen words to be sure; looks at the first 4000.
LanguageGuess guess_language(std::string_view text);

/// Returns the codes that `guess_language` can give.
std::vector<std::string> known_languages();

}  // namespace mpitron::corpus
