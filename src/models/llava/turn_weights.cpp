#include <cmath>

#include "models/llava/source_rows.h"
#include "utils/error.h"

// Weights of turns, so that each counts alike however long it is.

namespace mpitron::models {

void weigh_turns(std::vector<float>& loss_mask, Index samples) {
  struct Turn {
    std::vector<std::size_t> places;
  };
  std::vector<Turn> turns;
  double tokens = 0, roots = 0;
  for (Index row = 0; row < samples; ++row) {
    bool inside = false;
    for (std::size_t at = static_cast<std::size_t>(row); at < loss_mask.size();
         at += static_cast<std::size_t>(samples)) {
      const bool learned = loss_mask[at] > 0;
      if (learned && !inside) {
        turns.emplace_back();
      }
      if (learned) {
        turns.back().places.push_back(at);
        ++tokens;
      }
      inside = learned;
    }
  }
  for (const Turn& turn : turns) {
    roots += std::sqrt(static_cast<double>(turn.places.size()));
  }
  for (const Turn& turn : turns) {
    const double length = static_cast<double>(turn.places.size());
    for (const std::size_t at : turn.places) {
      loss_mask[at] = static_cast<float>(tokens / (roots * std::sqrt(length)));
    }
  }
}

}  // namespace mpitron::models
