#pragma once
#include <memory>
#include <string>
#include <variant>

#include "data/gpt/dataset.h"
#include "data/masked_lm/bert_dataset.h"
#include "data/masked_lm/t5_dataset.h"

namespace mpitron::data {

/// Columns of a padded sample.
enum class MaskedLmColumn {
  tokens,                // [s]
  padding_mask,          // [s] 1: a token
  labels,                // [s], of T5 [d]; -1: none
  loss_mask,             // as labels, 1: a label
  token_types,           // BERT: [s]
  sentence_order,        // BERT: [1], 1: the second part stands first
  decoder_tokens,        // T5: [d]
  decoder_padding_mask,  // T5: [d]
};

/// Places of the columns of a sample in one row of numbers.
struct MaskedLmLayout {
  Index length = 0;          // s
  Index decoder_length = 0;  // d; 0: BERT

  /// Returns how many numbers a column has; 0 where there is none.
  Index width(MaskedLmColumn column) const;
  Index offset(MaskedLmColumn column) const;
  /// Returns how many numbers a sample has.
  Index width() const;
};

/// Samples of BERT or T5 as rows of numbers, so that they blend as all data sets do.
class MaskedLmDataset final : public Dataset {
 public:
  MaskedLmDataset(BertDataset dataset, const MaskedLmLayout& layout)
      : dataset_(std::move(dataset)), layout_(layout) {}
  MaskedLmDataset(T5Dataset dataset, const MaskedLmLayout& layout)
      : dataset_(std::move(dataset)), layout_(layout) {}

  Index size() const override;
  /// Writes a sample; `row`: layout.width() numbers.
  void read(Index sample, std::span<std::int64_t> row) const override;
  const std::string& description() const override;

 private:
  void read_parts(const BertDataset& dataset, Index sample, std::span<std::int64_t> row) const;
  void read_parts(const T5Dataset& dataset, Index sample, std::span<std::int64_t> row) const;

  std::variant<BertDataset, T5Dataset> dataset_;
  MaskedLmLayout layout_;
};

/// The way in which the samples of a run are made.
struct MaskedLmRequest {
  MaskedLmDescription description;  // with a decoder's length: T5
  MaskedLmVocabulary vocabulary;

  bool is_t5() const { return description.decoder_seq_length.has_value(); }
  /// Returns the reference's name of the class, which names its caches.
  const char* class_name() const {
    return is_t5() ? "T5MaskedWordPieceDataset" : "BERTMaskedWordPieceDataset";
  }
};

/// A corpus of sentences, by its documents.
struct MaskedLmCorpus {
  GptDescription description;  // but for what concerns one split and the masking
  std::filesystem::path cache_folder;
  io::BinAccess access = io::BinAccess::mapped;
};

/// Returns a data set for each split that has a share and wants samples. Error(usage) where the
/// number of samples is open (--full-validation), or where the documents give none.
PerSplit<std::shared_ptr<const Dataset>> make_masked_lm_splits(
    const MaskedLmRequest& request, const MaskedLmCorpus& corpus, const SplitMatrix& matrix,
    const PerSplit<std::optional<Index>>& num_samples);

}  // namespace mpitron::data
