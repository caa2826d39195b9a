#include "train/unigram.h"

#include <cmath>

namespace mpitron::train {

void UnigramLoss::add(const HostMicrobatch& microbatch) {
  for (std::size_t i = 0; i < microbatch.labels.size(); ++i) {
    const auto weight = static_cast<double>(microbatch.loss_mask[i]);
    counts_[microbatch.labels[i]] += weight;
    total_ += weight;
  }
}

double UnigramLoss::loss() const {
  double sum = 0;
  for (const auto& [token, count] : counts_) {
    if (count > 0) {
      sum -= count * std::log(count / total_);
    }
  }
  return total_ > 0 ? sum / total_ : 0;
}

}  // namespace mpitron::train
