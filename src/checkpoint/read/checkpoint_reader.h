#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/format/file.h"
#include "checkpoint/read/parallel_read.h"
#include "comm/groups/world.h"
#include "tensor/state.h"

namespace mpitron::checkpoint {

/// The differences between the tensors of a checkpoint and those that a run wants.
struct LoadReport {
  enum class Kind { missing, mismatched, unexpected };
  struct Difference {
    Kind kind = Kind::missing;
    std::string name;
    std::string in_file;  // type and shape; empty where it is missing
    std::string wanted;   // empty where it is unexpected
    auto operator<=>(const Difference&) const = default;
  };
  std::vector<Difference> differences;  // by kind and name, each once

  bool empty() const { return differences.empty(); }
  std::vector<std::string> names(Kind kind) const;
  /// Returns one line for each difference; an empty text where there is none.
  std::string text() const;

  /// Pack and join reports, to gather those of several ranks.
  std::string serialize() const;
  void merge(const std::string& serialized);
};

/// A place for a tensor of a checkpoint, in any layout and floating type.
struct LoadTarget {
  tensor::ShardedTensor tensor;
  /// Data sets that it may come from, the first that is there; none: the tensor's name.
  std::vector<std::string> sources = {};
};

struct LoadStatistics {
  Index bytes = 0;  // read by this rank
  double seconds = 0;
  double gb_per_second() const { return static_cast<double>(bytes) * 1e-9 / seconds; }
};

/// One checkpoint file read by all ranks, each of which reads only what it needs. All functions
/// are called by every rank, and throw the same Error(data) on all of them.
class CheckpointReader {
 public:
  /// Rank 0 opens the file and tells the others what is in it.
  CheckpointReader(comm::World& world, const std::filesystem::path& path);

  const File& file() const { return file_; }

  /// Returns what is missing, mismatched or unexpected on any rank; the same on all of them. The
  /// caller decides what it tolerates.
  LoadReport compare(std::span<const LoadTarget> targets);

  /// Fills all targets but those that `compare` found missing or mismatched. Every byte that any
  /// rank reads is checked against its hash: Error(data) names what is damaged, and the targets
  /// hold anything then.
  LoadStatistics read(std::span<const LoadTarget> targets);

 private:
  /// Returns the data set that a target comes from; null where none of the sources is there.
  const DataSet* source_of(const LoadTarget& target) const;
  void check_extents(ReadOutcome& outcome);

  std::shared_ptr<comm::Group> group_;
  File file_;
};

}  // namespace mpitron::checkpoint
