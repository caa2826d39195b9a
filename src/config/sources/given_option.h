#pragma once
#include <string>
#include <vector>

#include "config/values/finding.h"
#include "config/values/option_values.h"

namespace mpitron::config {

/// An option as a user wrote it, on the command line or in a file.
struct GivenOption {
  std::size_t slot = 0;
  std::vector<std::string> words;  // none for a flag
  Origin origin;
};

/// The result of reading options: everything that was understood, and everything that was not.
struct Reading {
  std::vector<GivenOption> given;
  std::vector<Finding> findings;
  std::vector<std::string> notices;
};

/// Returns whether these words are the value that the option has without being given.
bool is_default(const Option& option, const std::vector<std::string>& words);

/// A finding for a name that no option has, with the names it could have been.
Finding unknown_option(std::string_view name, const Origin& origin);

/// Checks number, type and choices of the words and whether the option can be used today. Stores
/// the value, or adds findings; notices tell of deprecated names and of options without effect.
void accept_option(const GivenOption& given, OptionValues& values, Reading& report);

/// Returns whether an option takes no value.
bool is_flag(const Option& option);

/// Returns what is wrong with the number of words; an empty text where it is right.
std::string count_mistake(const Option& option, std::size_t words);

/// The result of a check: what was expected, and a word that would be accepted.
struct WordCheck {
  std::string expected;  // empty: the word is fine
  std::string nearest;
};

/// Checks type and choices of one word.
WordCheck check_word(const Option& option, const std::string& word);

}  // namespace mpitron::config
