#pragma once
#include <vector>

#include "io/arrays/safetensors.h"
#include "train/batches/microbatch.h"

namespace mpitron::train {

/// The batches of a recorded run, whose file is batches.safetensors.
class RecordedBatches {
 public:
  virtual ~RecordedBatches() = default;
  /// Rows [first, first + count); valid until the next call. Error(data) where fewer were recorded.
  virtual HostMicrobatch rows(Index first, Index count) = 0;
};

/// A column of the file, its elements as T.
template <class Stored, class T>
std::vector<T> recorded_column(const io::SafetensorsFile& file, const char* name) {
  const auto stored = file.at(name).as<Stored>();
  std::vector<T> values;
  for (Index i = 0; i < stored.size(); ++i) {
    values.push_back(static_cast<T>(stored[i]));
  }
  return values;
}

/// Rows [first, first + count) of a column of `rows` rows.
template <class T>
std::span<const T> recorded_rows(const std::vector<T>& column, Index rows, Index first,
                                 Index count) {
  const Index width = static_cast<Index>(column.size()) / rows;
  return std::span(column).subspan(static_cast<std::size_t>(first * width),
                                   static_cast<std::size_t>(count * width));
}

}  // namespace mpitron::train
