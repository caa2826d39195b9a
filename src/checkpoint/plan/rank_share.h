#pragma once
#include <span>
#include <vector>

#include "checkpoint/format/placed_range.h"
#include "checkpoint/plan/save_plan.h"

namespace mpitron::checkpoint {

/// The part of one rank in a save.
struct RankShare {
  /// Contiguous elements of one of the rank's own tensors.
  struct Part {
    Index item = 0;
    Index begin = 0, end = 0;  // in the tensor's value
  };
  /// Columns of rows that another rank gathers and writes.
  struct Send {
    Part part;
    Index to = 0;
  };
  /// Elements that lie together in this rank's memory and in the data set.
  struct Write {
    Index data_set = 0;
    Index begin = 0;  // in the data set
    Part part;
  };
  /// One rank's columns of gathered rows.
  struct Columns {
    Index rank = 0;  // who has them
    Part part;       // if it is this rank
    ShardMap map;
  };
  /// Whole rows that this rank puts together from several ranks' columns, and writes.
  struct Gather {
    Index data_set = 0;
    Index begin = 0, end = 0;  // in the data set
    Index rows = 0;
    std::vector<Columns> sources;
  };

  std::vector<Write> writes;
  std::vector<Gather> gathers;
  std::vector<Send> sends;  // to each rank in the order in which it gathers
};

/// Returns what a rank writes of each data set, by data set and begin; touching ranges are one.
std::vector<PlacedRange> ranges_of(const RankShare& share, std::span<const DataSet> data_sets);

/// Returns a rank's part of the plan; every rank's sends and gathers are in the plan's order, so
/// that messages meet.
RankShare share_of(const SavePlan& plan, const Holdings& holdings, Index rank);

}  // namespace mpitron::checkpoint
