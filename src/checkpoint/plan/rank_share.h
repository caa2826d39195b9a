#pragma once
#include <span>
#include <vector>

#include "checkpoint/format/placed_range.h"
#include "checkpoint/plan/save_plan.h"

namespace mpitron::checkpoint {

/// What one rank does in a save.
struct RankShare {
  /// Contiguous elements of one of the rank's own tensors.
  struct Part {
    Index item = 0;
    Index begin = 0, end = 0;  // in the tensor's value
  };
  struct Send {
    Part part;
    Index to = 0;
  };
  struct Write {
    Index data_set = 0;
    Index begin = 0;  // in the data set
    Part part;
  };
  struct Columns {
    Index rank = 0;  // who has them
    Part part;       // if it is this rank
    ShardMap map;
  };
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

/// What a rank writes of each data set, by data set and begin; touching ranges are one.
std::vector<PlacedRange> ranges_of(const RankShare& share, std::span<const DataSet> data_sets);

RankShare share_of(const SavePlan& plan, const Holdings& holdings, Index rank);

}  // namespace mpitron::checkpoint
