#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/machine/exit_codes.h"
#include "plan/machine/measured_costs.h"

// Measured costs as lines of a file.

namespace mpitron::plan {
namespace {

using comm::CollectiveKind;
/// All operations, for their names to be found.
constexpr std::array<CollectiveKind, 8> kKinds = {
    CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
    CollectiveKind::all_to_all, CollectiveKind::broadcast,      CollectiveKind::barrier,
    CollectiveKind::send,       CollectiveKind::receive};

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

std::string MeasuredCosts::to_yaml() const {
  std::string text = "measured:\n  launch:\n";
  for (const auto& [ranks, seconds] : launch_) {
    text += fmt::format("    - {} {:.4g}\n", ranks, seconds);
  }
  if (!together_.empty()) {
    text += "  together:  # tensor ranks, factor of their kernels' times\n";
  }
  for (const auto& [ranks, factor] : together_) {
    text += fmt::format("    - {} {:.4g}\n", ranks, factor);
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
  } else if (key == "together") {
    Index ranks = 0;
    double factor = 0;
    read = (words >> ranks >> factor) && factor > 0;
    together_[ranks] = factor;
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
