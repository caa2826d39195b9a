#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/write/checkpoint_writer.h"

namespace mpitron::checkpoint {

/// Checkpoints on the nodes' own disks: a rank's state as one file in a folder of its node, for the
/// same layout only: `FOLDER/rank_00003/iter_0000100/checkpoint.h5`, and
/// `FOLDER/rank_00003/of_rank_00007/...` for what rank 3 holds of rank 7. Only the newest is kept.
/// All ranks call everything; an error of one is an error of all.
class LocalCheckpoints {
 public:
  struct Options {
    std::filesystem::path folder;
    /// Ranks r, r + jump, ... hold each other's files, so many in a group; 1: none does.
    Index replication_jump = 0;
    Index replication_factor = 1;
    WriterOptions writer = {};
  };
  LocalCheckpoints(comm::World& world, Options options);

  /// Saves as CheckpointWriter does, the rank's own tensors; the header's layout is what a later
  /// run must have. The request's root is not looked at.
  void save(const CheckpointWriter::Request& request);
  void wait_for_copies() { writer_.wait_for_copies(); }
  /// Ends a save when all ranks have written: exchanges replicas, deletes older ones.
  std::optional<SaveReport> finish(bool wait);

  /// Returns the newest iteration of which every rank's state is somewhere, whole and of this
  /// layout.
  std::optional<Index> newest(const std::string& layout);
  /// Returns this rank's file of what `newest` found; ranks that have lost theirs get it from a
  /// replica.
  std::filesystem::path fetch(Index iteration);

  /// Returns a world of this rank alone, for readers of `fetch`'s file.
  comm::World& alone() { return *alone_; }
  /// Returns the tensor as it is in a rank's own file: its elements in a row.
  static tensor::ShardedTensor own(const tensor::ShardedTensor& tensor);
  /// Returns what `name` is called there: with a hash of the place in the global tensor, so that no
  /// run takes elements for others.
  static std::string own_name(const std::string& name, const tensor::ShardedTensor& tensor);

 private:
  Folder folder_of(Index holder, Index owner) const;
  std::string find(const std::string& layout) const;
  void exchange_replicas(Index iteration);
  void receive_file(comm::Group& group, Index from, const Folder& to, Index iteration);
  void send_file(comm::Group& group, const std::vector<Index>& to,
                 const std::filesystem::path& file);

  std::unique_ptr<comm::World> alone_;
  std::shared_ptr<comm::Group> all_;
  std::shared_ptr<comm::Group> replicas_;  // this rank alone where there are none
  Options options_;
  CheckpointWriter writer_;  // of this rank's file, on its own
  bool in_flight_ = false;
  std::optional<SaveReport> ended_;  // this rank's part
  /// Holders of what `newest` found: for each rank, who has its file.
  std::map<Index, std::set<Index>> holders_;
};

}  // namespace mpitron::checkpoint
