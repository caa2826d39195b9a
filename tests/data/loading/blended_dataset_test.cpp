#include "data/loading/blended_dataset.h"

#include <set>

#include <gtest/gtest.h>

#include "io/arrays/npy.h"
#include "support/corpus.h"

namespace mpitron::data {
namespace blended_dataset_test {

/// Sample i holds the one token 100 * number + i.
class Numbered : public Dataset {
 public:
  Numbered(Index number, Index size)
      : number_(number),
        size_(size),
        description_("{\"number\": " + std::to_string(number) + "}") {}
  Index size() const override { return size_; }
  void read(Index sample, std::span<std::int64_t> tokens) const override {
    tokens[0] = 100 * number_ + sample;
  }
  const std::string& description() const override { return description_; }

 private:
  Index number_, size_;
  std::string description_;
};

using Members = std::vector<std::shared_ptr<const Dataset>>;

Members members(const std::vector<Index>& sizes) {
  Members result;
  for (const Index size : sizes) {
    result.push_back(std::make_shared<Numbered>(static_cast<Index>(result.size()), size));
  }
  return result;
}

std::vector<std::int64_t> all_tokens(const Dataset& dataset) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(dataset.size()));
  for (Index i = 0; i < dataset.size(); ++i) {
    dataset.read(i, {&tokens[static_cast<std::size_t>(i)], 1});
  }
  return tokens;
}

TEST(BlendedDataset, FollowsTheWeightsAndKeepsEachMembersOrder) {
  const BlendedDataset blend(members({50, 50}), {.weights = {0.75, 0.25}, .size = 40});
  ASSERT_EQ(blend.size(), 40);
  std::array<Index, 2> taken{};
  for (Index i = 0; i < blend.size(); ++i) {
    const auto [member, sample] = blend.locate(i);
    EXPECT_EQ(sample, taken[static_cast<std::size_t>(member)]++);
    std::int64_t token = -1;
    blend.read(i, {&token, 1});
    EXPECT_EQ(token, 100 * member + sample);
  }
  EXPECT_EQ(taken, (std::array<Index, 2>{30, 10}));
}

TEST(BlendedDataset, WithoutWeightsAndSizeItIsEverySampleOnce) {
  const BlendedDataset blend(members({3, 7, 5}), {});
  const auto tokens = all_tokens(blend);
  EXPECT_EQ(tokens.size(), 15U);
  EXPECT_EQ(std::set<std::int64_t>(tokens.begin(), tokens.end()).size(), 15U);
}

TEST(BlendedDataset, TheCacheGivesTheSameSamples) {
  const test::TemporaryFolder folder;
  const BlendedDatasetOptions options{
      .weights = {0.5, 0.5}, .size = 20, .cache_folder = folder.path()};
  const auto fresh = all_tokens(BlendedDataset(members({20, 20}), options));
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(all_tokens(BlendedDataset(members({20, 20}), options)), fresh);
}

TEST(BlendedDataset, ADamagedCacheIsNamedByEveryReader) {
  const test::TemporaryFolder folder;
  const BlendedDatasetOptions options{
      .weights = {0.5, 0.5}, .size = 20, .cache_folder = folder.path()};
  BlendedDataset(members({20, 20}), options);
  const std::vector<std::int64_t> beyond(20, 20);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().string().ends_with("dataset_sample_index.npy")) {
      io::write_npy(entry.path(), std::span(beyond), {20});
    }
  }
  const BlendedDataset blend(members({20, 20}), options);
  std::vector<SourceShare> shares;
  std::vector<Index> samples;
  for (const std::string& message : {test::message_of([&] { all_tokens(blend); }),
                                     test::message_of([&] { blend.add_shares(20, shares); }),
                                     test::message_of([&] { blend.find("x", 0, 1, samples); })}) {
    EXPECT_NE(message.find("points to sample 20 of member"), std::string::npos) << message;
  }
}

TEST(BlendedDataset, RefusesMembersThatAreEmptyOrTooSmall) {
  const auto message = [](const Members& own, const BlendedDatasetOptions& options) {
    return test::message_of([&] { BlendedDataset(own, options); });
  };
  EXPECT_NE(message(members({5, 0}), {}).find("member 2 of the blend has no train sample"),
            std::string::npos);
  Members missing = members({5});
  missing.push_back(nullptr);
  EXPECT_NE(message(missing, {}).find("member 2"), std::string::npos);
  const std::string small = message(members({5, 50}), {.weights = {0.5, 0.5}, .size = 20});
  EXPECT_NE(small.find("member 1, which has 5"), std::string::npos) << small;
}

TEST(BlendedDataset, ASampleBeyondTheEndIsABrokenInvariant) {
  const BlendedDataset blend(members({3}), {});
  EXPECT_THROW(blend.locate(3), InternalError);
  EXPECT_THROW(blend.locate(-1), InternalError);
}

}  // namespace blended_dataset_test
}  // namespace mpitron::data
