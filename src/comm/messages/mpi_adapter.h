#pragma once
#include <string>
#include <vector>

#include "comm/messages/message_transfers.h"
#include "launch/environment.h"

namespace mpitron::comm {

/// Holds MPI while it lives (where nobody else has initialised it): the only place that knows MPI.
class MpiAdapter final : public Messages {
 public:
  MpiAdapter();
  /// Waits for all ranks and finalises, but not while an exception leaves: the others will not, and
  /// MPI would wait for them.
  ~MpiAdapter() override;
  MpiAdapter(const MpiAdapter&) = delete;
  MpiAdapter& operator=(const MpiAdapter&) = delete;

  /// Returns the library's name and version; needs no MPI that runs.
  static launch::MpiLibrary library();

  Index rank() const { return rank_; }
  Index size() const { return size_; }
  /// Lists world ranks that MPI says can share memory with this one, in order; this one is among
  /// them.
  std::vector<Index> ranks_of_this_node() const;

  /// Gathers every rank's `mine`, which all give in the same size.
  std::vector<std::string> gather(const std::string& mine) const;
  /// Returns the smallest of all ranks' values.
  int minimum(int value) const;
  void barrier() const;

  std::unique_ptr<Transfer> send(Index to, int tag, const void* data, Index bytes) override;
  std::unique_ptr<Transfer> receive(Index from, int tag, void* data, Index bytes) override;
  int largest_tag() const override;

 private:
  bool owns_ = false;
  Index rank_ = 0;
  Index size_ = 1;
};

}  // namespace mpitron::comm
