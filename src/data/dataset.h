#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "utils/shape.h"

namespace mpitron::data {

/// Samples of tokens in the order training consumes them. Reading from several threads is safe.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual Index size() const = 0;
  /// Fills `tokens` (sequence length, one more with the extra token); what the corpus lacks is
  /// padded.
  virtual void read(Index sample, std::span<std::int64_t> tokens) const = 0;
  /// The JSON text that identifies the data set (Megatron's unique description).
  virtual const std::string& description() const = 0;
};

}  // namespace mpitron::data
