// Finds the rows that a teacher or a reference model has to be asked for. Rows are told apart by a
// hash of their tokens and loss weights, so a text that blends and epochs repeat is asked for once.
#include "train/loop/distinct_rows.h"

#include <algorithm>
#include <unordered_set>

#include "data/index/split.h"

namespace mpitron::train {
namespace {

/// A set's samples that a run takes: the first ones, as many as it asked for.
struct TakenSamples {
  std::shared_ptr<const data::Dataset> set;
  Index count = 0;
};

std::vector<TakenSamples> taken_samples(const TrainingData& data, const config::RunConfig& config) {
  const auto requested = requested_samples(config.training);
  const bool in_order = config.data.dataloader_type == config::DataloaderType::single;
  std::vector<TakenSamples> taken;
  const auto add = [&](const std::shared_ptr<const data::Dataset>& set, data::Split split) {
    if (set) {
      const Index all = set->size();
      taken.push_back({set, in_order ? std::min(all, requested[split].value_or(all)) : all});
    }
  };
  add(data.sets.train, data::Split::train);
  for (const auto& set : data.sets.valid) {
    add(set, data::Split::valid);
  }
  add(data.sets.test, data::Split::test);
  return taken;
}

}  // namespace

std::shared_ptr<const DistinctRows> distinct_rows(
    const TrainingData& data, const config::RunConfig& config,
    const std::function<bool(std::uint64_t key)>& known) {
  data::GptSampleOptions options = sample_options(config, *data.tokenizer);
  options.create_attention_mask = false;
  const auto s = static_cast<std::size_t>(options.seq_length);
  std::vector<std::int64_t> text(s + 1), tokens(s), labels(s), positions(s);
  std::vector<float> weights(s);
  std::vector<DistinctRows::Row> rows;
  std::unordered_set<std::uint64_t> seen;
  for (const auto& [set, count] : taken_samples(data, config)) {
    for (Index sample = 0; sample < count; ++sample) {
      set->read_row(sample, options, text, {tokens, labels, weights, positions, {}});
      const std::uint64_t key = RowValues::key_of(tokens, weights);
      if (!known(key) && seen.insert(key).second) {
        rows.push_back({set.get(), sample, key});
      }
    }
  }
  return std::make_shared<const DistinctRows>(std::move(rows));
}

}  // namespace mpitron::train
