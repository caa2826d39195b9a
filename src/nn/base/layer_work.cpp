// Adds up the work of a layer's parts: operations, bytes moved, launches. Plans multiply it by
// measured rates.
#include "nn/base/layer_work.h"

namespace mpitron::nn {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

LayerWork& LayerWork::operator+=(const LayerWork& other) {
  append(products, other.products);
  append(moved, other.moved);
  append(kept, other.kept);
  scores = other.scores ? other.scores : scores;
  passed += other.passed;
  regions += other.regions;
  visits = visits || other.visits;
  launches += other.launches;
  return *this;
}

LayerWork residual_work(const config::ModelConfig& model) {
  const auto h = static_cast<double>(model.hidden_size);
  return {
      .moved = {{2 * h, Share::along, config::RecomputeModule::layernorm}, {3 * h, Share::along}},
      .kept = {{h, Share::along}, {h, Share::along, config::RecomputeModule::layernorm}},
      .regions = 1,
      .launches = 2};
}

LayerWork norm_work(const config::ModelConfig& model) {
  const auto h = static_cast<double>(model.hidden_size);
  return {.moved = {{2 * h, Share::along}}, .kept = {{h, Share::along}}, .launches = 1};
}

}  // namespace mpitron::nn
