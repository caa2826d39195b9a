#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "data/preprocess/sentence_words.h"

namespace mpitron::data {

/// White space between two sentences: it belongs to neither, or to the first (Megatron's
/// --keep-newlines).
enum class BetweenSentences { dropped, kept };

/// Cuts text into sentences by the rules of nltk's Punkt (Kiss & Strunk, 2006): where a sentence
/// may end, which closing quotes and brackets belong to it, and when a period behind an
/// abbreviation, an initial, a number or an ellipsis ends one. Punkt's trained tables of
/// abbreviations and of words seen in lower case are lists of our own, so that some sentences
/// behind abbreviations differ from nltk's.
class SentenceSplitter {
 public:
  /// Error(usage) for a language without lists.
  SentenceSplitter(const std::string& language, BetweenSentences between);

  /// Appends the sentences; the views point into `text`.
  void split(std::string_view text, std::vector<std::string_view>& sentences) const;
  /// Splits pieces of `characters` each (Megatron hands over a million at a time).
  void split_long(std::string_view text, std::size_t characters,
                  std::vector<std::string_view>& sentences) const;

 private:
  struct Slice {
    std::size_t begin, end;
  };

  bool ends_sentence(std::string_view word, std::string_view next) const;
  bool is_abbreviation(const std::string& type) const;
  bool is_starter(std::string_view next) const;
  std::vector<Slice> cut(std::string_view text) const;

  const SentenceWords& words_;
  BetweenSentences between_;
};

}  // namespace mpitron::data
