#pragma once
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::corpus {

/// Groups of documents that are duplicates of each other (union-find with path halving). The first
/// document of a group stands for it.
class DuplicateGroups {
 public:
  explicit DuplicateGroups(Index documents);

  void join(Index a, Index b);
  /// The first document of the group that `document` is in.
  Index first(Index document);
  /// Groups of two and more, each in order, by their first documents.
  std::vector<std::vector<Index>> groups();

 private:
  std::vector<Index> parent_;
};

}  // namespace mpitron::corpus
