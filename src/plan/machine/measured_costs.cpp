#include "plan/machine/measured_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/machine/exit_codes.h"

// Times measured on a host, and how times in between are told: kernels by the mean of their nearest
// neighbours, operations by interpolation over bytes.

namespace mpitron::plan {
namespace {

using comm::CollectiveKind;

/// Few, for far ones to have no say; more than one, for noise of a measurement to even out.
constexpr std::size_t kNeighbours = 3;
/// All operations, for their names to be found.
constexpr std::array<CollectiveKind, 8> kKinds = {
    CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
    CollectiveKind::all_to_all, CollectiveKind::broadcast,      CollectiveKind::barrier,
    CollectiveKind::send,       CollectiveKind::receive};

/// Returns how far apart two launches of a kernel are: the squared distance of the logarithms of
/// their extents.
double distance(const std::vector<Index>& a, const std::vector<Index>& b) {
  double sum = 0;
  const std::size_t n = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < n; ++i) {
    const double x = i < a.size() ? std::log1p(static_cast<double>(a[i])) : 0;
    const double y = i < b.size() ? std::log1p(static_cast<double>(b[i])) : 0;
    sum += (x - y) * (x - y);
  }
  return sum;
}

struct Near {
  double away;
  const TimedKernel* kernel;
};

/// Returns seconds for a unit of work: the geometric mean of what was measured nearest, weighted by
/// closeness; 0 where nothing was measured with so many ranks.
double rate_near(const std::vector<TimedKernel>& known, const std::vector<Index>& extents,
                 double work, Index ranks) {
  std::vector<Near> near;
  for (const TimedKernel& one : known) {
    if (one.ranks == ranks && one.work > 0) {
      const double by_work = std::log(work / one.work);
      near.push_back({distance(one.extents, extents) + 0.1 * by_work * by_work, &one});
    }
  }
  if (near.empty()) {
    return 0;
  }
  const std::size_t used = std::min(kNeighbours, near.size());
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(used), {},
                            &Near::away);
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < used; ++i) {
    const double weight = 1 / (1e-6 + near[i].away);
    sum += weight * std::log(near[i].kernel->seconds / near[i].kernel->work);
    weights += weight;
  }
  return std::exp(sum / weights);
}

constexpr std::array<DType, 10> kTypes = {DType::f32, DType::bf16, DType::f16, DType::f64,
                                          DType::u8,  DType::i8,   DType::u16, DType::i16,
                                          DType::i32, DType::i64};

/// Finds the value of that name; false where there is none, and `found` stays.
template <class T, std::size_t n, class NameOf>
bool find_named(const std::array<T, n>& values, const std::string& name, NameOf name_of, T& found) {
  const auto at = std::ranges::find_if(values, [&](T value) { return name == name_of(value); });
  found = at == values.end() ? found : *at;
  return at != values.end();
}

std::vector<Index> numbers(const std::string& text) {
  std::vector<Index> result;
  std::istringstream stream(text);
  for (std::string one; std::getline(stream, one, ',');) {
    result.push_back(std::strtoll(one.c_str(), nullptr, 10));
  }
  return result;
}

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
}

std::vector<TimedKernel> MeasuredCosts::kernels() const {
  std::vector<TimedKernel> all;
  for (const auto& [key, known] : kernels_) {
    all.insert(all.end(), known.begin(), known.end());
  }
  return all;
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

std::string MeasuredCosts::to_yaml() const {
  std::string text = "measured:\n  launch:\n";
  for (const auto& [ranks, seconds] : launch_) {
    text += fmt::format("    - {} {:.4g}\n", ranks, seconds);
  }
  text += "  operations:\n";
  for (const TimedOperation& one : operations_) {
    text += fmt::format("    - {} {} {} {:.4g}\n", comm::name_of(one.kind), one.ranks, one.bytes,
                        one.seconds);
  }
  text +=
      "  kernels:  # name, type, ranks at work, extents of the first two arguments, work, "
      "seconds\n";
  for (const auto& [key, known] : kernels_) {
    for (const TimedKernel& one : known) {
      text += fmt::format("    - {} {} {} {} {:.6g} {:.4g}\n", one.kernel, name_of(one.dtype),
                          one.ranks, fmt::join(one.extents, ","), one.work, one.seconds);
    }
  }
  return text;
}

void MeasuredCosts::read_line(const std::string& key, const std::string& line,
                              const std::string& path) {
  std::istringstream words(line);
  bool read = false;
  if (key == "launch") {
    Index ranks = 0;
    double seconds = 0;
    read = static_cast<bool>(words >> ranks >> seconds);
    launch_[ranks] = seconds;
  } else if (key == "operations") {
    TimedOperation one;
    std::string name;
    read = (words >> name >> one.ranks >> one.bytes >> one.seconds) &&
           find_named(kKinds, name, comm::name_of, one.kind);
    add(one);
  } else if (key == "kernels") {
    TimedKernel one;
    std::string type, extents;
    read = (words >> one.kernel >> type >> one.ranks >> extents >> one.work >> one.seconds) &&
           find_named(kTypes, type, name_of, one.dtype);
    one.extents = numbers(extents);
    add(std::move(one));
  }
  if (!read) {
    throw Error(kBadParameterFile,
                fmt::format("{}: measured {}: '{}' cannot be read", path, key, line));
  }
}

}  // namespace mpitron::plan
