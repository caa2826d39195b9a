#pragma once
#include <span>
#include <vector>

#include "checkpoint/plan/rank_share.h"
#include "checkpoint/write/background_writer.h"
#include "checkpoint/write/staging_ring.h"
#include "comm/groups/world.h"
#include "tensor/state.h"

namespace mpitron::checkpoint {

/// Moments from which the tensors of a save may change again.
enum class Snapshot {
  none,   // when everything is written
  now,    // when the copier returns
  later,  // when the writer's copies are done; all of the share has room in the ring
};

/// Brings a rank's share to its background writer: contiguous ranges from the tensors or copies of
/// them, and whole rows gathered from those that have their columns.
class ShareCopier {
 public:
  struct Environment {
    comm::World& world;
    comm::Group& group;  // all ranks
    StagingRing& ring;
    BackgroundWriter& writer;
    Index write_bytes = 0;
  };
  ShareCopier(const Environment& environment, std::span<const tensor::ShardedTensor> tensors,
              std::span<const DataSet> data_sets)
      : environment_(environment), tensors_(tensors), data_sets_(data_sets) {}

  /// Collective. What is gathered has been copied on return in any case. Returns what is still to
  /// be copied, by the writer or whoever helps it; null where there is nothing.
  std::shared_ptr<CopyQueue> run(const RankShare& share, Snapshot snapshot);

 private:
  const std::byte* memory(const RankShare::Part& part) const;
  Index element(Index data_set) const;
  void write(const RankShare::Write& write);
  void gather(const RankShare::Gather& gather);
  void scatter(const RankShare::Gather& gather, const RankShare::Columns& columns,
               const std::byte* from, std::byte* to) const;
  StagingRing::Block allocate(Index bytes);
  void flush();

  const Environment environment_;
  const std::span<const tensor::ShardedTensor> tensors_;
  const std::span<const DataSet> data_sets_;
  Snapshot snapshot_ = Snapshot::none;
  std::vector<CopyQueue::Copy> copies_;      // not done yet
  std::vector<BackgroundWriter::Job> jobs_;  // that wait for them
  std::vector<std::byte> received_;
};

}  // namespace mpitron::checkpoint
