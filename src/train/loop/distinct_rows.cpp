#include "train/loop/distinct_rows.h"

#include <unordered_set>

namespace mpitron::train {

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
  std::vector<std::shared_ptr<const data::Dataset>> sets = data.sets.valid;
  sets.insert(sets.begin(), data.sets.train);
  sets.push_back(data.sets.test);
  for (const auto& set : sets) {
    for (Index sample = 0; set && sample < set->size(); ++sample) {
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
