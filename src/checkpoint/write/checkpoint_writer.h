#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "checkpoint/folders/folder.h"
#include "checkpoint/plan/holdings.h"
#include "comm/groups/world.h"
#include "tensor/state.h"

namespace mpitron {
class Trace;
}

namespace mpitron::checkpoint {

/// The end of a save; the same on all ranks.
struct SaveReport {
  Index iteration = 0;
  std::string error;  // empty: the checkpoint is complete; otherwise it names rank, host and file
  double blocked_seconds = 0;     // in which training stood still, on the slowest rank
  double background_seconds = 0;  // from the first write to the last sync, on the slowest rank
  double total_seconds = 0;       // from the beginning of the save to the final name
  Index bytes = 0;                // of all ranks
  double gb_per_second() const { return static_cast<double>(bytes) * 1e-9 / total_seconds; }
};

struct WriterOptions {
  /// At most so much memory per rank for copies of what is being written. If a rank's share of an
  /// asynchronous save is larger, `save` returns when the last of it has been copied; otherwise at
  /// once, and the copies are made beside what the caller does next.
  Index staging_bytes = Index{2} << 30;
  Index write_bytes = Index{4} << 20;  // of one write and one hash
  bool file_per_writer = false;        // and one that shows them as one, instead of one shared file
  Trace* trace = nullptr;              // gets the time of each save's thread
};

/// All ranks write one checkpoint. Every function is called by all ranks of the world, in the
/// same order. A failure of one rank is reported to all of them and never waits for anybody.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(comm::World& world, const WriterOptions& options = {});
  /// Waits for this rank's thread; a save that was not finished stays unfinished.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  struct Request {
    std::span<const tensor::ShardedTensor> tensors;
    const Header* header = nullptr;  // rank 0's counts
    std::filesystem::path root;      // of a Folder
    Index iteration = 0;
    bool asynchronous = false;
  };
  /// Decides who writes what, and takes the staging memory; `save` does it where it was not done.
  /// Error(data) where the ranks' tensors do not fit together.
  void prepare(const Request& request);

  /// Begins a save. None may be in flight. The tensors may change after `wait_for_copies` where it
  /// is asynchronous; otherwise not before `finish` has returned a report.
  void save(const Request& request);
  /// Returns when the copies of an asynchronous save are made (beside training, as long as there is
  /// room for all of them). Not collective; nothing where none is in flight.
  void wait_for_copies();
  bool in_flight() const { return save_ != nullptr; }

  /// Ends the save in flight where every rank's thread is done, or waits for that. Nothing where
  /// none is in flight or it goes on. Called between two iterations.
  std::optional<SaveReport> finish(bool wait);

  /// Returns the staging memory of this rank, in bytes; constant from the first save on while the
  /// tensors stay the same.
  Index staging_bytes() const;
  /// Returns the largest share of a rank over the mean.
  double imbalance() const;

 private:
  struct Plan;
  struct Save;

  void begin_file(const Request& request);
  void start_writing();
  bool stage_done();
  void complete();
  SaveReport make_report();

  comm::World& world_;
  std::shared_ptr<comm::Group> group_;
  WriterOptions options_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Save> save_;
};

}  // namespace mpitron::checkpoint
