#pragma once
#include <cstdint>
#include <vector>

#include "checkpoint/format/file.h"
#include "checkpoint/plan/shard_map.h"
#include "device/tensor_view.h"
#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

namespace mpitron::checkpoint {

/// A rank's part of a data set: elements [begin, end) of a shard.
struct ReadRequest {
  DataSet data_set;
  ShardMap map;
  Index begin = 0, end = 0;
  /// Elements of the global tensor from here on are not in the file; they are left as they are.
  Index limit = 0;
  void* to = nullptr;  // element `begin`
  DType dtype = DType::f32;
};

/// Order and sizes of reads.
struct ReadOrder {
  /// The place in its stretch at which each core begins, 0 to 1: ranks that read the same begin at
  /// different places, so that each part comes from the disk once.
  double begin = 0;
  Index read_bytes = Index{8} << 20;  // the largest single read outside of whole extents
};

/// State of one of the file's extents after reading; the larger of two ranks' is what both know.
enum class ExtentUse : std::uint8_t { unused, used, verified };

struct ReadOutcome {
  Index bytes = 0;                 // read
  std::vector<ExtentUse> extents;  // in the file's order
  std::vector<Index> damaged;      // extents whose bytes are not those of their hash
};

/// Does all requests on all cores with plain reads of no byte that is not needed. What one request
/// needs the whole of an extent of is checked against its hash on the way. Error(data) names the
/// file.
ReadOutcome parallel_read(const File& file, const std::vector<ReadRequest>& requests,
                          const ReadOrder& order = {});

/// Returns whether a load turns one type into the other: equal types, and fp32, bf16 and fp16 into
/// each other.
bool convertible(DType from, DType to);

/// Converts elements of one type to another; to half types rounded to nearest, ties to even. `from`
/// may have any alignment.
void convert_elements(const void* from, DType from_type, void* to, DType to_type, Index count);

}  // namespace mpitron::checkpoint
