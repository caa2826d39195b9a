#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "checkpoint/format/blocks.h"
#include "checkpoint/format/on_all_cores.h"
#include "checkpoint/tools/inspection.h"

// Compares two checkpoints block by block on all cores: data sets by their bits, headers entry by
// entry.

namespace mpitron::checkpoint {
namespace {

template <class T>
Difference compare(const std::string& a, const std::string& b) {
  Difference difference;
  for (Index i = 0; i < static_cast<Index>(a.size() / sizeof(T)); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * sizeof(T);
    if (std::memcmp(a.data() + at, b.data() + at, sizeof(T)) != 0) {
      ++difference.elements;
      difference.first = difference.first.value_or(i);
      const double distance = std::abs(as_double(element<T>(a, i)) - as_double(element<T>(b, i)));
      difference.largest = std::max(difference.largest, std::isnan(distance) ? 0 : distance);
    }
  }
  return difference;
}

/// Returns why two data sets cannot be compared element by element; an empty text where they can.
std::string mismatch(const DataSet& a, const DataSet& b) {
  if (a.shape != b.shape) {
    return "shape " + to_string(a.shape) + " in A and " + to_string(b.shape) + " in B";
  }
  if (a.dtype != b.dtype) {
    return std::string(name_of(a.dtype)) + " in A and " + name_of(b.dtype) + " in B";
  }
  return "";
}

/// Appends the entries of one map of a header that differ.
template <class Map>
void compare_maps(const std::string& kind, const Map& a, const Map& b,
                  std::vector<std::string>& into) {
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end()) {
      into.push_back(fmt::format("{} {}: only in A", kind, name));
    } else if (value != other->second) {
      into.push_back(fmt::format("{} {}: {} in A and {} in B", kind, name, value, other->second));
    }
  }
  for (const auto& [name, value] : b) {
    if (!a.contains(name)) {
      into.push_back(fmt::format("{} {}: only in B", kind, name));
    }
  }
}

/// Files are told by their hashes: their bytes would fill the screen.
std::map<std::string, std::string> hashes(const std::map<std::string, std::string>& files) {
  std::map<std::string, std::string> result;
  for (const auto& [name, bytes] : files) {
    result[name] = "XXH3 " + hash128_hex(bytes);
  }
  return result;
}

}  // namespace

std::vector<Difference> differences(const File& a, const File& b) {
  std::vector<Difference> result;
  std::vector<DataSet> in_a;
  std::vector<Index> offsets_in_b;
  for (const DataSet& data_set : a.data_sets()) {
    const DataSet* other = b.find(data_set.name);
    const std::string what = other != nullptr ? mismatch(data_set, *other) : "only in A";
    if (!what.empty()) {
      result.push_back({.name = data_set.name, .what = what});
    } else {
      in_a.push_back(data_set);
      offsets_in_b.push_back(other->offset);
    }
  }
  for (const DataSet& data_set : b.data_sets()) {
    if (a.find(data_set.name) == nullptr) {
      result.push_back({.name = data_set.name, .what = "only in B"});
    }
  }
  const StoredBytes stored_a(a.storage()), stored_b(b.storage());
  const std::vector<Block> blocks = blocks_of(in_a);
  std::vector<Difference> parts(blocks.size());
  on_all_cores(static_cast<Index>(blocks.size()), [&](Index i) {
    const Block& block = blocks[static_cast<std::size_t>(i)];
    DataSet data_set = in_a[block.data_set];
    const std::string bytes_a = read_block(stored_a, data_set, block);
    data_set.offset = offsets_in_b[block.data_set];
    const std::string bytes_b = read_block(stored_b, data_set, block);
    if (bytes_a != bytes_b) {
      visit_storage(data_set.dtype, [&]<class T>() {
        parts[static_cast<std::size_t>(i)] = compare<T>(bytes_a, bytes_b);
      });
    }
  });
  std::vector<Difference> whole(in_a.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Difference& into = whole[blocks[i].data_set];
    if (parts[i].elements > 0 && !into.first) {
      into.first = *parts[i].first + blocks[i].begin;
    }
    into.elements += parts[i].elements;
    into.largest = std::max(into.largest, parts[i].largest);
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].elements > 0) {
      whole[i].name = in_a[i].name;
      result.push_back(whole[i]);
    }
  }
  std::sort(result.begin(), result.end(),
            [](const Difference& x, const Difference& y) { return x.name < y.name; });
  return result;
}

std::vector<std::string> differences(const Header& a, const Header& b) {
  std::vector<std::string> result;
  const std::map<std::string, Index> root_a = {
      {"iteration", a.iteration}, {"consumed_train_samples", a.consumed_train_samples}};
  const std::map<std::string, Index> root_b = {
      {"iteration", b.iteration}, {"consumed_train_samples", b.consumed_train_samples}};
  compare_maps("attribute", root_a, root_b, result);
  compare_maps("state", a.integers, b.integers, result);
  compare_maps("state", a.reals, b.reals, result);
  compare_maps("state", a.texts, b.texts, result);
  compare_maps("file", hashes(a.files), hashes(b.files), result);
  return result;
}

}  // namespace mpitron::checkpoint
