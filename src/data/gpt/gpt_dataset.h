#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "data/gpt/dataset.h"
#include "data/gpt/gpt_index.h"
#include "data/gpt/sequence_source.h"
#include "data/index/description.h"
#include "data/index/index_array.h"

namespace mpitron::data {

/// A split of a corpus, and how samples are made of it.
struct GptDatasetOptions {
  GptDescription description;  // seed, sequence length, split and sample count are taken from here
  Index begin = 0;             // sequences [begin, end) of the source
  Index end = 0;
  bool add_extra_token = true;
  bool drop_last_partial = true;
  std::int64_t pad = -1;
  Index vocab_size = 0;  // > 0: a token outside is an Error(data) that names the corpus
  std::filesystem::path cache_folder;  // empty: indices stay in memory
};

/// Megatron's GPTDataset: sequences in shuffled order, cut into samples of equal length, in
/// shuffled order. Same seed, same samples, bit for bit.
class GptDataset final : public Dataset {
 public:
  /// Loads or builds the indices. Error(usage) for a split with too few tokens for a sample,
  /// Error(data) for a damaged corpus.
  GptDataset(std::shared_ptr<const SequenceSource> source, GptDatasetOptions options);

  Index size() const override { return plan_.samples; }
  void read(Index sample, std::span<std::int64_t> tokens) const override;
  /// Reads a row as Dataset says. With `inter_document_masking` a document is what the index takes
  /// from one sequence; padding belongs to the last one.
  void read_row(Index sample, const GptSampleOptions& options, std::span<std::int64_t> text,
                const GptSample& row) const override;
  const std::string& description() const override { return description_; }
  void trace(Index sample, std::vector<SamplePiece>& pieces) const override;
  void find(const std::string& name, Index begin, Index end,
            std::vector<Index>& samples) const override;
  void add_shares(Index samples, std::vector<SourceShare>& shares) const override;

  const GptIndexPlan& plan() const { return plan_; }
  const IndexArray& document_index() const { return documents_; }
  const IndexArray& sample_index() const { return samples_; }
  const IndexArray& shuffle_index() const { return shuffle_; }

 private:
  void build(const GptIndexRequest& request);
  template <class Document>
  void build_samples(const GptIndexRequest& request, std::vector<Document> documents);
  template <class Body>
  void for_each_piece(Index sample, Index tokens, Body&& body) const;
  Index row_holding(Index position) const;
  void check_vocabulary(Index sequence, std::span<const std::int64_t> tokens) const;
  Index row_of(Index sample) const;
  [[noreturn]] void fail_index(Index sample) const;

  std::shared_ptr<const SequenceSource> source_;
  std::string description_;
  std::int64_t pad_;
  Index vocab_size_;
  Index sequences_;
  Index seq_length_;
  Index extra_token_;
  GptIndexPlan plan_;
  IndexArray documents_;
  IndexArray samples_;
  IndexArray shuffle_;
};

}  // namespace mpitron::data
