#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::corpus {

/// Sizes of n-grams and of cuts; the defaults are GPT-3's and Megatron's.
struct NgramOptions {
  Index words = 13;              // of an n-gram
  Index least_words = 8;         // a task's text of at least so many words is an n-gram as a whole
  Index margin = 200;            // characters cut on both sides, and on to the end of a sentence
  Index least_characters = 200;  // shorter pieces are dropped
  Index most_splits = 10;        // a document that is hit more often is dropped
  Index most_documents = 10;     // n-grams that occur in more documents are idioms, not leaks
};

/// Takes texts of evaluation tasks out of a corpus (the decontamination of GPT-3 and of Megatron's
/// OpenWebText tools): where a document has n words in a row in common with a task, these and their
/// surroundings are cut out. Words are runs of letters, digits and underscores, without regard to
/// case. Memory: 16 bytes and a hash table's share for each n-gram of the tasks.
class NgramFilter {
 public:
  explicit NgramFilter(const NgramOptions& options);

  /// Adds the n-grams of a task's text; texts of too few words are left out.
  void add_task(std::string_view text);
  bool empty() const { return counts_.empty(); }

  /// Returns the n-grams of the tasks that occur in a document, each once (for `count`).
  std::vector<std::uint64_t> find(std::string_view text) const;
  void count(const std::vector<std::uint64_t>& found);
  /// Forgets those that are too common; to be called after the last `count`.
  void drop_idioms();

  /// Returns what is left of a document, in pieces: one that is the whole text where nothing is
  /// hit; no value where it is hit too often.
  std::optional<std::vector<std::string_view>> split(std::string_view text) const;

 private:
  struct Word {
    std::size_t begin, end;
    std::uint64_t hash;
  };
  struct Hit {
    std::size_t begin, end;  // bytes
  };

  static std::vector<Word> words_of(std::string_view text);
  template <class Visit>
  void for_each_known(const std::vector<Word>& words, const Visit& visit) const;
  std::optional<Hit> first_hit(std::string_view text) const;

  NgramOptions options_;
  std::vector<Index> lengths_;  // of the n-grams that exist, longest first
  std::unordered_map<std::uint64_t, Index> counts_;
};

}  // namespace mpitron::corpus
