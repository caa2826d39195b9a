#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/clean.h"
#include "corpus/record.h"
#include "corpus/url_filter.h"
#include "data/preprocess/document_reader.h"

namespace mpitron::corpus {

/// Documents, and what a cleaner made of them.
struct CleanBatch {
  data::DocumentBatch raw;
  std::string out;                // what is written: JSON objects without the brace
  std::vector<std::size_t> ends;  // of each in `out`
  std::array<Index, kFates> fates{};
  Index fixed = 0;
  Index split = 0;
  std::vector<std::string> complaints;
  std::vector<std::vector<std::uint64_t>> ngrams;  // of each document (find_ngrams)

  /// Forgets all but the documents.
  void clear();
};

/// Cleans batches, one cleaner per thread. Error(data) with file, line and byte for a document that
/// cannot be read, unless the options leave such ones out.
class Cleaner {
 public:
  /// All three outlive it.
  Cleaner(const CleanOptions& options, const UrlFilter& urls, const NgramFilter& ngrams);

  void clean(CleanBatch& batch);
  /// Finds the n-grams of tasks in each document that reaches decontamination.
  void find_ngrams(CleanBatch& batch);

 private:
  template <class Work>
  void guard(CleanBatch& batch, const data::RawDocument& document, const Work& work);
  Fate clean(CleanBatch& batch, const data::RawDocument& document);
  std::string_view text_of(const CleanBatch& batch, const data::RawDocument& document);
  /// Leaves the text to write in fixed_.
  Fate judge(std::string_view text);
  bool long_enough();

  const CleanOptions& options_;
  const UrlFilter& urls_;
  const NgramFilter& ngrams_;
  std::unique_ptr<tokenizers::Tokenizer::Cache> cache_;
  Record record_;
  bool json_ = true;
  bool changed_ = false;
  std::string plain_;
  std::string fixed_;
  tokenizers::TokenIds ids_;
};

/// Repairs what web texts suffer most (a part of what the program ftfy does): UTF-8 that was read
/// as Windows-1252 ("cafÃ©", also several times over), HTML entities in a text without tags,
/// terminal escapes, control characters, all kinds of line ends, curly quotes, ligatures and
/// full-width Latin. `text` must be UTF-8. A fixed text is fixed: fixing it again changes nothing.
std::string fix_text(std::string_view text);

}  // namespace mpitron::corpus
