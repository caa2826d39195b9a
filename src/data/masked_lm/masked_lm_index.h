#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "data/index/description.h"
#include "data/index/index_array.h"
#include "io/tokens/token_file.h"

namespace mpitron::data {

/// Options that the data sets of BERT and T5 share: a corpus of sentences, and which runs of them
/// become samples.
struct MaskedLmIndexOptions {
  /// Seed, lengths, sample count, split and masking. The number of samples must be given.
  GptDescription description;
  Index begin = 0;  // documents [begin, end) of the corpus
  Index end = 0;
  Index special_tokens = 0;  // of the sequence length, that are not text
  Index min_sentences = 1;
  std::filesystem::path cache_folder;  // empty: the index stays in memory
};

/// One sample before masking.
struct SentenceRun {
  Index begin = 0;  // sentences [begin, end)
  Index end = 0;
  Index target = 0;  // tokens wanted
};

/// The sample index of build_sentence_index, cached under the reference's names.
class MaskedLmIndex {
 public:
  MaskedLmIndex(const io::TokenFile& corpus, const MaskedLmIndexOptions& options);

  Index size() const { return rows_.size() / 3; }
  /// Returns the run of a sample. Error(data) for a damaged index.
  SentenceRun operator[](Index sample) const;
  const IndexArray& rows() const { return rows_; }
  const std::string& description() const { return description_; }

 private:
  std::string description_;
  std::string corpus_;
  Index sentences_;
  Index longest_;
  IndexArray rows_;
};

}  // namespace mpitron::data
