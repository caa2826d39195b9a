#include "config/sources/command_line.h"

#include <fmt/format.h>

// The command line cut into options and words, by the rules of Python's argparse as the reference
// configures it, but for abbreviations, which are refused.

namespace mpitron::config {
namespace {

bool is_name(const std::string& word) {
  return word.size() > 2 && word.starts_with("--");
}

/// Takes -1 and -1e-5 as values; words such as -x are a mistyped name.
bool is_value(const std::string& word) {
  return !word.starts_with('-') || word == "-" || read_real(word).has_value();
}

/// Returns whether the word is one of the option's own spellings and not one with `_` for `-`.
bool has_spelling(const Option& option, std::string_view name) {
  return option.name == name ||
         (" " + std::string(option.alias) + " ").find(fmt::format(" {} ", name)) !=
             std::string::npos;
}

/// Walks over the words once and collects options and mistakes.
class Cutter {
 public:
  explicit Cutter(const std::vector<std::string>& words) : words_(words) {}

  /// Reads all words in one pass; a name is known before its words are counted.
  Reading cut() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (is_name(word)) {
        name(word.substr(2));
      } else {
        stray(word);
      }
    }
    return std::move(out_);
  }

 private:
  void name(std::string text) {
    const std::size_t equals = text.find('=');
    std::vector<std::string> words;
    const bool attached = equals != std::string::npos;
    if (attached) {
      words.push_back(text.substr(equals + 1));
      text.erase(equals);
    }
    const std::size_t slot = option_index().slot_of_name(text);
    if (slot == OptionIndex::kNotFound) {
      out_.findings.push_back(unknown_option(text, {}));
      take_words(Kind::any_words, words);
      return;
    }
    const Option& option = option_index().option(slot);
    note_underscores(option, text);
    if (!attached) {
      take_words(option.kind, words);
    }
    out_.given.push_back({slot, std::move(words), {Origin::Source::command_line, {}}});
  }

  /// Takes as many words as the option's kind allows. Negative numbers count as values, as argparse
  /// does where no option looks like a number.
  void take_words(Kind kind, std::vector<std::string>& words) {
    const bool many = kind == Kind::words || kind == Kind::any_words;
    const std::size_t limit = many ? words_.size() : kind == Kind::value ? 1 : 0;
    while (words.size() < limit && at_ < words_.size() && is_value(words_[at_])) {
      words.push_back(words_[at_++]);
    }
  }

  /// Tells `_` for `-` once a command line: old scripts have it everywhere.
  void note_underscores(const Option& option, const std::string& text) {
    if (!noted_ && !has_spelling(option, text)) {
      out_.notices.push_back(fmt::format("--{} is read as --{}", text, option.name));
      noted_ = true;
    }
  }

  /// Names the option before it, which is usually the one with a word too many.
  void stray(const std::string& word) {
    const std::string& before = at_ > 1 ? words_[at_ - 2] : word;
    out_.findings.push_back(
        {ids::kWordCount,
         "stray_word",
         fmt::format("'{}'{} belongs to no option.", word,
                     at_ > 1 ? fmt::format(" behind '{}'", before) : std::string()),
         word.starts_with('-') && word.size() > 2 ? meant(before, word) : "",
         {word}});
  }

  /// A word with a dash is a value of the option before it, where that lacks one (--window-size
  /// -1,0), or else a name with a dash too few.
  static std::string meant(const std::string& before, const std::string& word) {
    const std::size_t slot =
        is_name(before) ? option_index().slot_of_name(before.substr(2)) : OptionIndex::kNotFound;
    return slot != OptionIndex::kNotFound && option_index().option(slot).kind == Kind::value
               ? before + "=" + word
               : "-" + word;
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  bool noted_ = false;
  Reading out_;
};

}  // namespace

Reading read_command_line(const std::vector<std::string>& arguments) {
  return Cutter(arguments).cut();
}

}  // namespace mpitron::config
