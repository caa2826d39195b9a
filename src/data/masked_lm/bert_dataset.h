#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "data/masked_lm/masked_lm.h"
#include "data/masked_lm/masked_lm_index.h"

namespace mpitron::data {

/// One sample of BERT, padded; s: the sequence length.
struct BertSample {
  std::vector<std::int64_t> text;          // [s] CLS A SEP B SEP, some tokens masked or replaced
  std::vector<std::int64_t> types;         // [s] 0: CLS A SEP, 1: B SEP
  std::vector<std::int64_t> labels;        // [s] the tokens to predict, -1 elsewhere
  std::vector<std::int64_t> padding_mask;  // [s] 1: text
  std::vector<std::int64_t> loss_mask;     // [s] 1: predicted
  bool is_random = false;                  // B stands before A
  bool truncated = false;
};

struct BertDatasetOptions {
  MaskedLmIndexOptions index;  // the special tokens and sentences that BERT needs are set here
  MaskedLmVocabulary vocabulary;
};

/// Megatron's BERT data set: runs of sentences, cut into two parts in order or swapped (with the
/// binary head: description.masked_lm.classification_head), with whole words masked. A sample is a
/// function of seed and number. Reading from several threads is safe.
class BertDataset {
 public:
  BertDataset(std::shared_ptr<const io::TokenFile> corpus, BertDatasetOptions options);

  Index size() const { return index_.size(); }
  const MaskedLmIndex& index() const { return index_; }
  /// Fills `out`, whose memory is kept from call to call.
  void read(Index sample, BertSample& out) const;

 private:
  bool has_binary_head() const;

  std::shared_ptr<const io::TokenFile> corpus_;
  BertDatasetOptions options_;
  MaskedLmIndex index_;
};

}  // namespace mpitron::data
