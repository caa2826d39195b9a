#pragma once
#include <optional>

#include "pipeline/stage_layout.h"

namespace mpitron::pipeline {

/// The ring of virtual stages: the data visits all stages with chunk 0, then all with chunk 1, ...
struct VirtualStages {
  Index stages;
  Index chunks;

  Index count() const { return stages * chunks; }
  Index number(Index stage, Index chunk) const { return chunk * stages + stage; }
  /// Returns where the data comes from; none at the first virtual stage.
  std::optional<ChunkPosition> before(Index stage, Index chunk) const {
    return at(number(stage, chunk) - 1);
  }
  /// Returns where the data goes; none at the last virtual stage.
  std::optional<ChunkPosition> after(Index stage, Index chunk) const {
    return at(number(stage, chunk) + 1);
  }

 private:
  std::optional<ChunkPosition> at(Index number) const {
    if (number < 0 || number >= count()) {
      return {};
    }
    return ChunkPosition{.stage = number % stages, .chunk = number / stages};
  }
};

}  // namespace mpitron::pipeline
