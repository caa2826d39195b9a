#pragma once
#include <cstdint>
#include <vector>

#include "inference/engine_interface.h"

namespace mpitron::inference {

/// The plans of a step, one for each replica, as words to be sent.
void append_plans(std::span<const StepPlan* const> plans, std::vector<std::int64_t>& words);

/// Plans that were received, with all that they refer to but the adapters.
class ReceivedPlans {
 public:
  ReceivedPlans() = default;
  /// Of `append_plans`; `adapters`: this rank's, by their numbers from 1.
  explicit ReceivedPlans(std::span<const std::int64_t> words,
                         std::span<const AdapterHandle> adapters = {});
  ReceivedPlans(const ReceivedPlans&) = delete;  // plans refer to its memory
  ReceivedPlans& operator=(const ReceivedPlans&) = delete;

  /// Of a replica.
  const StepPlan& operator[](Index replica) const {
    return plans_[static_cast<std::size_t>(replica)];
  }
  /// Whether any replica has rows.
  bool has_rows() const;

 private:
  std::vector<StepPlan> plans_;
  std::vector<std::int64_t> words_;  // blocks lie here
  TokenIds tokens_;
};

}  // namespace mpitron::inference
