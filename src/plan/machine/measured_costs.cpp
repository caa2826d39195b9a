#include "plan/machine/measured_costs.h"

#include <algorithm>
#include <cmath>

#include "plan/machine/nearest_kernels.h"

// Times measured on a host, and how times in between are told: kernels by the mean of their nearest
// neighbours, operations by interpolation over bytes.

namespace mpitron::plan {
namespace {

using comm::CollectiveKind;

}  // namespace

std::vector<Index> extents_of(const device::LaunchRecord& record) {
  std::vector<Index> extents;
  for (const Shape& shape : record.shapes) {
    for (int i = 0; i < shape.rank(); ++i) {
      extents.push_back(shape[i]);
    }
  }
  return extents;
}

double work_of(const device::LaunchRecord& record) {
  return record.multiply_adds > 0 ? record.multiply_adds : static_cast<double>(record.bytes);
}

void MeasuredCosts::add(TimedKernel kernel) {
  kernels_[{kernel.kernel, kernel.dtype}].push_back(std::move(kernel));
}

void MeasuredCosts::add_others(const MeasuredCosts& other, Index ranks) {
  for (const TimedKernel& kernel : other.kernels()) {
    if (kernel.ranks != ranks) {
      add(kernel);
    }
  }
  for (const TimedOperation& operation : other.operations_) {
    if (operation.ranks != ranks) {
      add(operation);
    }
  }
  launch_.insert(other.launch_.begin(), other.launch_.end());
  together_.insert(other.together_.begin(), other.together_.end());
}

std::vector<TimedKernel> MeasuredCosts::kernels() const {
  std::vector<TimedKernel> all;
  for (const auto& [key, known] : kernels_) {
    all.insert(all.end(), known.begin(), known.end());
  }
  return all;
}

double MeasuredCosts::together(Index ranks) const {
  const auto nearest = std::ranges::min_element(
      together_, {}, [&](const auto& known) { return std::abs(known.first - ranks); });
  return nearest == together_.end() ? 1 : nearest->second;
}

/// Ranks on a host share its memory bandwidth: times of as many ranks at work are the ones to take.
Index MeasuredCosts::nearest_ranks(Index ranks) const {
  Index best = 1;
  for (const auto& [known, seconds] : launch_) {
    best = std::abs(known - ranks) < std::abs(best - ranks) ? known : best;
  }
  return best;
}

double MeasuredCosts::seconds(const device::LaunchRecord& record, Index ranks) const {
  const Index at = nearest_ranks(ranks);
  const auto around = launch_.find(at);
  const double launch = around == launch_.end() ? 0 : around->second;
  const double work = work_of(record);
  if (work <= 0) {
    return launch;
  }
  const auto known = kernels_.find({record.kernel, record.dtype});
  if (known != kernels_.end()) {
    return launch + work * rate_near(known->second, extents_of(record), work, at);
  }
  // A kernel that was never met moves bytes as most do.
  const auto copy = kernels_.find({"cast", DType::f32});
  return launch + (copy == kernels_.end()
                       ? 0
                       : work * rate_near(copy->second, extents_of(record), work, at));
}

/// Interpolates between the sizes measured around `bytes`, goes on in proportion above the largest,
/// and scales by the (k - 1) / k of a ring from the measured number of ranks to the asked one.
double MeasuredCosts::seconds(CollectiveKind kind, Index ranks, Index bytes) const {
  const TimedOperation *below = nullptr, *above = nullptr;
  for (const TimedOperation& one : operations_) {
    if (one.kind != kind) {
      continue;
    }
    if (one.bytes <= bytes && (below == nullptr || one.bytes > below->bytes)) {
      below = &one;
    }
    if (one.bytes >= bytes && (above == nullptr || one.bytes < above->bytes)) {
      above = &one;
    }
  }
  if (below == nullptr && above == nullptr) {
    return 0;
  }
  const TimedOperation& low = below == nullptr ? *above : *below;
  const TimedOperation& high = above == nullptr ? *below : *above;
  const auto n = static_cast<double>(bytes);
  double seconds = low.seconds;
  if (high.bytes > low.bytes) {
    const double share =
        (n - static_cast<double>(low.bytes)) / static_cast<double>(high.bytes - low.bytes);
    seconds += share * (high.seconds - low.seconds);
  } else if (bytes > low.bytes && low.bytes > 0) {
    seconds *= n / static_cast<double>(low.bytes);
  }
  const auto steps = [](Index k) { return static_cast<double>(k - 1) / static_cast<double>(k); };
  return seconds * steps(ranks) / steps(low.ranks);
}

}  // namespace mpitron::plan
