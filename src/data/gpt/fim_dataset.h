#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "config/data_config.h"
#include "data/gpt/dataset.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::data {

class RandomState;

/// Rates by which parts of samples are cut in three, with the ids of the tokens that mark the
/// pieces.
struct FimOptions {
  config::FimConfig config;
  tokenizers::TokenId prefix = 0, middle = 0, suffix = 0, pad = 0, eod = 0;
  std::optional<tokenizers::TokenId> split;  // between fragments of a part
  Index seed = 0;
  const tokenizers::Tokenizer* tokenizer = nullptr;  // outlives the data sets
};

/// Returns the options with the ids of their tokens. Error(usage) names a token that the tokenizer
/// does not have.
FimOptions make_fim_options(const config::FimConfig& config, Index seed,
                            const tokenizers::Tokenizer& tokenizer);

/// Returns `tokens` with its parts between ends of documents cut at two characters and put together
/// again as prefix, suffix, middle (Bavarian et al. 2022); longer or shorter than before. Parts
/// without tokens are left out, but for the last one. The draws are numpy's, in the reference's
/// order.
std::vector<std::int64_t> fill_in_the_middle(std::span<const std::int64_t> tokens,
                                             const FimOptions& options, RandomState& random);

/// Samples of another data set for filling in the middle, cut or padded to the same length. Unlike
/// the reference's, whose draws go on from sample to sample as they are read, those of a sample
/// depend on the seed and its number alone.
class FimDataset final : public Dataset {
 public:
  FimDataset(std::shared_ptr<const Dataset> base, FimOptions options);

  Index size() const override { return base_->size(); }
  void read(Index sample, std::span<std::int64_t> tokens) const override;
  const std::string& description() const override { return base_->description(); }
  void trace(Index sample, std::vector<SamplePiece>& pieces) const override {
    base_->trace(sample, pieces);
  }
  void find(const std::string& name, Index begin, Index end,
            std::vector<Index>& samples) const override {
    base_->find(name, begin, end, samples);
  }
  void add_shares(Index samples, std::vector<SourceShare>& shares) const override {
    base_->add_shares(samples, shares);
  }

 private:
  std::shared_ptr<const Dataset> base_;
  FimOptions options_;
};

}  // namespace mpitron::data
