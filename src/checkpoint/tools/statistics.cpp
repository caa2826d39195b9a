#include <algorithm>
#include <cmath>
#include <limits>

#include "checkpoint/format/blocks.h"
#include "checkpoint/format/on_all_cores.h"
#include "checkpoint/tools/inspection.h"

// Figures of all elements of a checkpoint, block by block on all cores; blocks are joined in the
// order of the file, so that the figures do not depend on the number of cores.

namespace mpitron::checkpoint {
namespace {

/// Statistics before the last division: blocks are joined by Chan's formula, which cancels nothing.
struct Moments {
  Index count = 0, nans = 0, infinities = 0, zeros = 0;
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  double mean = 0, squares = 0;  // of deviations from the mean

  void join(const Moments& other) {
    nans += other.nans;
    infinities += other.infinities;
    zeros += other.zeros;
    if (other.count == 0) {
      return;
    }
    const double delta = other.mean - mean;
    const auto all = static_cast<double>(count + other.count);
    const double share = static_cast<double>(other.count) / all;
    squares += other.squares + delta * delta * static_cast<double>(count) * share;
    mean += delta * share;
    count += other.count;
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
};

/// Passes twice over a block: deviations from the mean lose less than sums of squares.
template <class T>
Moments moments_of(const std::string& bytes) {
  Moments m;
  const auto n = static_cast<Index>(bytes.size() / sizeof(T));
  double sum = 0;
  for (Index i = 0; i < n; ++i) {
    const double x = as_double(element<T>(bytes, i));
    m.nans += std::isnan(x);
    m.infinities += std::isinf(x);
    m.zeros += x == 0;
    if (std::isfinite(x)) {
      ++m.count;
      sum += x;
      m.minimum = std::min(m.minimum, x);
      m.maximum = std::max(m.maximum, x);
    }
  }
  m.mean = m.count > 0 ? sum / static_cast<double>(m.count) : 0;
  for (Index i = 0; i < n; ++i) {
    const double x = as_double(element<T>(bytes, i));
    m.squares += std::isfinite(x) ? (x - m.mean) * (x - m.mean) : 0;
  }
  return m;
}

Statistics finished(const DataSet& data_set, const Moments& m) {
  Statistics s{.elements = data_set.shape.numel(),
               .nans = m.nans,
               .infinities = m.infinities,
               .zeros = m.zeros};
  if (m.count > 0) {
    s.minimum = m.minimum;
    s.maximum = m.maximum;
    s.mean = m.mean;
    s.deviation = std::sqrt(m.squares / static_cast<double>(m.count));
  }
  return s;
}

}  // namespace

std::vector<Statistics> statistics(const File& file) {
  const StoredBytes stored(file.storage());
  const std::vector<DataSet>& data_sets = file.data_sets();
  const std::vector<Block> blocks = blocks_of(data_sets);
  std::vector<Moments> parts(blocks.size());
  on_all_cores(static_cast<Index>(blocks.size()), [&](Index i) {
    const Block& block = blocks[static_cast<std::size_t>(i)];
    const DataSet& data_set = data_sets[block.data_set];
    const std::string bytes = read_block(stored, data_set, block);
    visit_storage(data_set.dtype,
                  [&]<class T>() { parts[static_cast<std::size_t>(i)] = moments_of<T>(bytes); });
  });
  std::vector<Moments> whole(data_sets.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    whole[blocks[i].data_set].join(parts[i]);
  }
  std::vector<Statistics> result;
  for (std::size_t i = 0; i < data_sets.size(); ++i) {
    result.push_back(finished(data_sets[i], whole[i]));
  }
  return result;
}

}  // namespace mpitron::checkpoint
