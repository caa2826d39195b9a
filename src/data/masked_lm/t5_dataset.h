#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "data/masked_lm/masked_lm.h"
#include "data/masked_lm/masked_lm_index.h"

namespace mpitron::data {

/// One sample of T5, padded; s: the encoder's sequence length, d: the decoder's.
struct T5Sample {
  std::vector<std::int64_t> encoder_text;  // [s] each span replaced by a sentinel
  std::vector<std::int64_t> decoder_text;  // [d] BOS, then each sentinel and its span
  std::vector<std::int64_t> labels;        // [d] the same one token earlier, then EOS; -1 behind
  std::vector<std::int64_t> loss_mask;     // [d] 1: a label
  std::vector<std::int64_t> encoder_mask;  // [s] 1: text
  std::vector<std::int64_t> decoder_mask;  // [d] 1: text
  bool truncated = false;
};

struct T5DatasetOptions {
  MaskedLmIndexOptions index;  // the special tokens that T5 needs are set here
  MaskedLmVocabulary vocabulary;
};

/// Megatron's T5 data set: runs of sentences, with spans of whole words moved to the decoder. A
/// sample is a function of seed and number. Reading from several threads is safe.
class T5Dataset {
 public:
  T5Dataset(std::shared_ptr<const io::TokenFile> corpus, T5DatasetOptions options);

  Index size() const { return index_.size(); }
  const MaskedLmIndex& index() const { return index_; }
  /// Fills `out`, whose memory is kept from call to call. Error(usage) where the decoder's sequence
  /// length or the sentinels do not suffice.
  void read(Index sample, T5Sample& out) const;

 private:
  std::vector<MaskedSpan> mask(Index sample, std::vector<std::int64_t>& text,
                               bool& truncated) const;
  void check_room(Index sample, std::size_t spans, std::size_t decoder_tokens) const;

  std::shared_ptr<const io::TokenFile> corpus_;
  T5DatasetOptions options_;
  MaskedLmIndex index_;
};

}  // namespace mpitron::data
