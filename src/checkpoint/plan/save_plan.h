#pragma once
#include <vector>

#include "checkpoint/plan/holdings.h"

namespace mpitron::checkpoint {

/// A stretch of elements of one rank's tensor, contiguous in its memory.
struct Source {
  Index rank = 0;
  Index item = 0;    // which of the rank's tensors
  Index offset = 0;  // of the first element in the tensor's value
  Index map = 0;     // where they belong in a row: index into Holdings::maps
};

/// A stretch [begin, end) of a data set, which one rank writes in one go.
struct Piece {
  Index rank = 0;
  Index data_set = 0;
  Index begin = 0, end = 0;
  /// Whole rows, of which every source has other columns; 0: a contiguous piece of one source.
  Index rows = 0;
  std::vector<Source> sources;  // one where rows is zero

  bool gathered() const { return rows > 0; }
};

/// Pieces with their writers: every byte of every data set is written exactly once and loads are
/// even.
struct SavePlan {
  std::vector<Piece> pieces;      // by data set and begin
  std::vector<Index> rank_bytes;  // written by each rank
  Index total_bytes() const;
  double imbalance() const;  // largest of rank_bytes over their mean
};

/// Sizes below which disks and networks are slow.
struct PlanOptions {
  Index alignment = 4096;               // cuts of contiguous parts, in bytes of the file
  Index least_write = Index{1} << 20;   // parts are not divided into less
  Index largest_rows = Index{8} << 20;  // rows that are gathered before they are written
};

/// Makes the plan; a pure function, the same on every rank. Ranks that hold the same elements are
/// replicas and take a share each. Parts whose pieces in the file would be shorter than
/// `least_write` (row-parallel weights) are gathered: holders of a band of whole rows divide the
/// rows, and each gets the other columns of its rows; only rows in which a rank's tensor begins or
/// ends are written in small pieces. Error(data) names the tensor where something is held by
/// nobody, or shards overlap.
SavePlan plan_save(const Holdings& holdings, const PlanOptions& options = {});

}  // namespace mpitron::checkpoint
