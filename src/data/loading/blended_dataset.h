#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/gpt/dataset.h"
#include "data/index/index_array.h"
#include "data/index/split.h"

namespace mpitron::data {

/// Weights and length of a blend.
struct BlendedDatasetOptions {
  Split split = Split::train;
  /// Weights, normalised; empty: by the lengths of the members.
  std::vector<double> weights;
  /// Length; nothing: every sample of every member once (only without weights).
  std::optional<Index> size;
  std::filesystem::path cache_folder;  // empty: indices stay in memory
};

/// Samples of several data sets, interleaved in proportion to weights (Megatron's BlendedDataset).
class BlendedDataset final : public Dataset {
 public:
  BlendedDataset(std::vector<std::shared_ptr<const Dataset>> members,
                 BlendedDatasetOptions options);

  Index size() const override { return size_; }
  void read(Index sample, std::span<std::int64_t> tokens) const override;
  void read_row(Index sample, const GptSampleOptions& options, std::span<std::int64_t> text,
                const GptSample& row) const override;
  const std::string& description() const override { return description_; }
  void trace(Index sample, std::vector<SamplePiece>& pieces) const override;
  void find(const std::string& name, Index begin, Index end,
            std::vector<Index>& samples) const override;
  void add_shares(Index samples, std::vector<SourceShare>& shares) const override;

  /// Returns (member, its sample) of a sample of the blend. Error(data) for a damaged index.
  std::pair<Index, Index> locate(Index sample) const;

 private:
  std::pair<const Dataset&, Index> member_of(Index sample) const;
  void build(const BlendedDatasetOptions& options, const std::vector<double>& weights);

  std::vector<std::shared_ptr<const Dataset>> members_;
  std::string description_;
  Index size_ = 0;
  IndexArray member_;
  IndexArray sample_;
};

}  // namespace mpitron::data
