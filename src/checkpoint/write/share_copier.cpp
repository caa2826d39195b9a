#include "checkpoint/write/share_copier.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "checkpoint/format/on_all_cores.h"
#include "comm/groups/stream_copy.h"
#include "utils/check.h"

// Takes a rank's share out of tensors that training will change. Contiguous ranges are copied into
// a ring of fixed size as the writer empties it; rows of which several ranks hold columns are
// gathered by messages first.

namespace mpitron::checkpoint {

const std::byte* ShareCopier::memory(const RankShare::Part& part) const {
  const device::TensorView& value = tensors_[static_cast<std::size_t>(part.item)].value;
  return static_cast<const std::byte*>(value.data) +
         part.begin * static_cast<Index>(size_of(value.dtype));
}

Index ShareCopier::element(Index data_set) const {
  return static_cast<Index>(size_of(data_sets_[static_cast<std::size_t>(data_set)].dtype));
}

std::shared_ptr<CopyQueue> ShareCopier::run(const RankShare& share, Snapshot snapshot) {
  snapshot_ = snapshot;
  std::vector<comm::Work> sent;
  for (const RankShare::Send& send : share.sends) {
    const auto& value = tensors_[static_cast<std::size_t>(send.part.item)].value;
    const Index count = send.part.end - send.part.begin;
    sent.push_back(environment_.group.send({memory(send.part), value.dtype, {count}}, send.to));
  }
  // The disk has something to do as early as possible; but while copies are made for a save in the
  // background, it would only take the memory's bandwidth.
  for (const RankShare::Write& part : share.writes) {
    write(part);
  }
  for (const RankShare::Gather& rows : share.gathers) {
    if (snapshot_ == Snapshot::none) {
      flush();
    }
    gather(rows);
  }
  std::shared_ptr<CopyQueue> open;
  if (snapshot_ == Snapshot::later) {
    open = std::make_shared<CopyQueue>(std::exchange(copies_, {}));
    environment_.writer.copy(open);
  }
  flush();
  for (comm::Work& work : sent) {
    work.wait();
  }
  return open;
}

void ShareCopier::write(const RankShare::Write& write) {
  const Index size = element(write.data_set);
  const Index total = (write.part.end - write.part.begin) * size;
  const std::byte* const from = memory(write.part);
  for (Index done = 0; done < total;) {
    const Index bytes = std::min(total - done, environment_.write_bytes);
    BackgroundWriter::Job job{.data = from + done,
                              .bytes = bytes,
                              .data_set = write.data_set,
                              .offset = write.begin * size + done};
    if (snapshot_ != Snapshot::none) {
      job.ring = &environment_.ring;
      job.block = allocate(bytes);
      job.data = job.block.data;
      copies_.push_back({job.block.data, from + done, bytes});
    }
    jobs_.push_back(job);
    done += bytes;
  }
}

/// Receives the other ranks' columns of some rows into scratch memory, and puts all columns into
/// their places in a block of the ring.
void ShareCopier::gather(const RankShare::Gather& gather) {
  const DataSet& data_set = data_sets_[static_cast<std::size_t>(gather.data_set)];
  const Index size = element(gather.data_set);
  const Index total = (gather.end - gather.begin) * size;
  const StagingRing::Block block = allocate(total);
  received_.resize(std::max(received_.size(), static_cast<std::size_t>(total)));
  std::vector<comm::Work> works;
  Index at = 0;
  for (const RankShare::Columns& columns : gather.sources) {
    if (columns.rank != environment_.group.rank()) {
      const Index count = gather.rows * columns.map.width();
      works.push_back(environment_.group.receive({received_.data() + at, data_set.dtype, {count}},
                                                 columns.rank));
      at += count * size;
    }
  }
  for (comm::Work& work : works) {
    work.wait();
  }
  at = 0;
  for (const RankShare::Columns& columns : gather.sources) {
    const bool own = columns.rank == environment_.group.rank();
    scatter(gather, columns, own ? memory(columns.part) : received_.data() + at, block.data);
    at += own ? 0 : gather.rows * columns.map.width() * size;
  }
  // One block may take several writes: the last of them gives it back.
  for (Index done = 0; done < total;) {
    const Index bytes = std::min(total - done, environment_.write_bytes);
    BackgroundWriter::Job job{.data = block.data + done,
                              .bytes = bytes,
                              .data_set = gather.data_set,
                              .offset = gather.begin * size + done};
    done += bytes;
    if (done == total) {
      job.ring = &environment_.ring;
      job.block = block;
    }
    jobs_.push_back(job);
  }
}

void ShareCopier::scatter(const RankShare::Gather& gather, const RankShare::Columns& columns,
                          const std::byte* from, std::byte* to) const {
  const Index size = element(gather.data_set);
  for (Index row = 0; row < gather.rows; ++row) {
    for (const ShardMap::Column& column : columns.map.columns) {
      const Index bytes = column.size() * size;
      std::memcpy(to + (row * columns.map.row_width + column.begin) * size, from,
                  static_cast<std::size_t>(bytes));
      from += bytes;
    }
  }
}

/// Takes a block of the ring; where it is full, hands over what is copied and waits for the writer.
StagingRing::Block ShareCopier::allocate(Index bytes) {
  StagingRing::Block block = environment_.ring.allocate(bytes);
  if (block.data == nullptr) {
    MPITRON_CHECK(snapshot_ != Snapshot::later, bytes, environment_.ring.capacity());
    flush();  // what the writer has to empty
  }
  while (block.data == nullptr) {
    environment_.world.progress();  // others may wait for what this rank sends
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    block = environment_.ring.allocate(bytes);
  }
  return block;
}

void ShareCopier::flush() {
  on_all_cores(static_cast<Index>(copies_.size()), [this](Index i) {
    const CopyQueue::Copy& copy = copies_[static_cast<std::size_t>(i)];
    comm::stream_copy(copy.to, copy.from, copy.bytes);
  });
  environment_.writer.push(jobs_);
  copies_.clear();
  jobs_.clear();
}

}  // namespace mpitron::checkpoint
