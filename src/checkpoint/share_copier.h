#pragma once
#include <span>
#include <vector>

#include "checkpoint/background_writer.h"
#include "checkpoint/rank_share.h"
#include "checkpoint/staging_ring.h"
#include "comm/world.h"
#include "tensor/state.h"

namespace mpitron::checkpoint {

/// Brings a rank's share to its background writer: what is contiguous from the tensors or copies of
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
  /// `data_sets` have their offsets in the file.
  ShareCopier(const Environment& environment, std::span<const tensor::ShardedTensor> tensors,
              std::span<const DataSet> data_sets)
      : environment_(environment), tensors_(tensors), data_sets_(data_sets) {}

  /// Collective. With `staged`, the tensors may change afterwards; without, only what is gathered
  /// has been copied, and the tensors stay until the writer is done.
  void run(const RankShare& share, bool staged);

 private:
  struct Copy {
    std::byte* to;
    const std::byte* from;
    Index bytes;
  };

  const std::byte* memory(const RankShare::Part& part) const;
  Index element(Index data_set) const;
  void write(const RankShare::Write& write, bool staged);
  void gather(const RankShare::Gather& gather);
  void scatter(const RankShare::Gather& gather, const RankShare::Columns& columns,
               const std::byte* from, std::byte* to) const;
  StagingRing::Block allocate(Index bytes);
  void flush();

  const Environment environment_;
  const std::span<const tensor::ShardedTensor> tensors_;
  const std::span<const DataSet> data_sets_;
  std::vector<Copy> copies_;                 // not done yet
  std::vector<BackgroundWriter::Job> jobs_;  // that wait for them
  std::vector<std::byte> received_;
};

}  // namespace mpitron::checkpoint
