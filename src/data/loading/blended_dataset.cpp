#include "data/loading/blended_dataset.h"

#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include "data/index/blend.h"
#include "data/index/description.h"
#include "data/index/index_cache.h"
#include "utils/check.h"
#include "utils/error.h"

// Samples of several data sets in one order. The member that each sample comes from is decided once
// (blend_picker.h) and cached like an index.

namespace mpitron::data {
namespace {

/// A member without samples cannot have its share.
void check_members(const std::vector<std::shared_ptr<const Dataset>>& members, Split split) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] == nullptr || members[i]->size() == 0) {
      throw_usage(
          "--data-path: member {} of the blend has no {} sample (weight 0, or too small); "
          "remove it or give it a larger weight or split",
          i + 1, to_string(split));
    }
  }
}

}  // namespace

BlendedDataset::BlendedDataset(std::vector<std::shared_ptr<const Dataset>> members,
                               BlendedDatasetOptions options)
    : members_(std::move(members)) {
  check_members(members_, options.split);
  std::vector<std::string> descriptions;
  std::vector<double> lengths;
  for (const auto& member : members_) {
    descriptions.push_back(member->description());
    lengths.push_back(static_cast<double>(member->size()));
  }
  const Index total = static_cast<Index>(std::accumulate(lengths.begin(), lengths.end(), 0.0));
  std::vector<double> weights = options.weights;
  if (weights.empty()) {
    weights = options.size ? normalized(lengths) : lengths;
    options.size = options.size ? std::optional(std::min(*options.size, total)) : std::nullopt;
  }
  size_ = options.size.value_or(total);
  description_ = describe(BlendDescription{descriptions, options.split, weights, options.size});
  const IndexCache cache(options.cache_folder,
                         std::string("BlendedDataset-") + to_string(options.split), description_,
                         {.sequences = fmt::format("{}", fmt::join(lengths, " "))});
  const std::vector<std::string> names{"dataset_index", "dataset_sample_index"};
  const std::vector<std::vector<Index>> shapes{{size_}, {size_}};
  const std::vector<IndexArray> arrays = cache.get(names, shapes, [&] {
    build(options, weights);
    return std::vector{member_, sample_};
  });
  member_ = arrays[0];
  sample_ = arrays[1];
}

void BlendedDataset::build(const BlendedDatasetOptions& options,
                           const std::vector<double>& weights) {
  std::vector<Index> sizes;
  for (const auto& member : members_) {
    sizes.push_back(member->size());
  }
  BlendIndex index = options.size ? build_blend(weights, size_) : build_exhaustive_blend(sizes);
  for (std::size_t i = 0; i < index.member.size(); ++i) {
    const auto member = static_cast<std::size_t>(index.member[i]);
    if (index.sample[i] >= sizes[member]) {
      throw_usage(
          "--data-path: sample {} of the blend needs sample {} of member {}, which has {}; "
          "raise --mid-level-dataset-surplus",
          i, index.sample[i], member + 1, sizes[member]);
    }
  }
  member_ = IndexArray(std::move(index.member));
  sample_ = IndexArray(std::move(index.sample));
}

/// Checks both numbers: the cache may be damaged.
std::pair<Index, Index> BlendedDataset::locate(Index sample) const {
  MPITRON_CHECK(sample >= 0 && sample < size_, sample, size_);
  const Index member = member_[sample], inner = sample_[sample];
  if (member < 0 || member >= static_cast<Index>(members_.size()) || inner < 0 ||
      inner >= members_[static_cast<std::size_t>(member)]->size()) {
    throw_data(
        "the cached index of the blend points to sample {} of member {}, which does not "
        "exist; delete the files of the index cache (--data-cache-path)",
        inner, member + 1);
  }
  return {member, inner};
}

std::pair<const Dataset&, Index> BlendedDataset::member_of(Index sample) const {
  const auto [member, inner] = locate(sample);
  return {*members_[static_cast<std::size_t>(member)], inner};
}

void BlendedDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  const auto [member, inner] = member_of(sample);
  member.read(inner, tokens);
}

void BlendedDataset::read_row(Index sample, const GptSampleOptions& options,
                              std::span<std::int64_t> text, const GptSample& row) const {
  const auto [member, inner] = member_of(sample);
  member.read_row(inner, options, text, row);
}

void BlendedDataset::trace(Index sample, std::vector<SamplePiece>& pieces) const {
  const auto [member, inner] = member_of(sample);
  member.trace(inner, pieces);
}

/// Finds the samples within the members first, and then the places of the blend that take them.
void BlendedDataset::find(const std::string& name, Index begin, Index end,
                          std::vector<Index>& samples) const {
  std::vector<std::vector<bool>> wanted(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    std::vector<Index> found;
    members_[i]->find(name, begin, end, found);
    wanted[i].resize(found.empty() ? 0 : static_cast<std::size_t>(members_[i]->size()));
    for (const Index sample : found) {
      wanted[i][static_cast<std::size_t>(sample)] = true;
    }
  }
  for (Index sample = 0; sample < size_; ++sample) {
    const auto [member, inner] = locate(sample);
    const std::vector<bool>& own = wanted[static_cast<std::size_t>(member)];
    if (!own.empty() && own[static_cast<std::size_t>(inner)]) {
      samples.push_back(sample);
    }
  }
}

void BlendedDataset::add_shares(Index samples, std::vector<SourceShare>& shares) const {
  std::vector<Index> taken(members_.size());
  for (Index sample = 0; sample < std::min(samples, size_); ++sample) {
    ++taken[static_cast<std::size_t>(locate(sample).first)];
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i]->add_shares(taken[i], shares);
  }
}

}  // namespace mpitron::data
