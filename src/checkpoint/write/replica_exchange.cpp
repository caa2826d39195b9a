#include <algorithm>

#include "checkpoint/format/posix_file.h"
#include "checkpoint/plan/agreement.h"
#include "checkpoint/write/local_checkpoints.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Copies of local checkpoints: how ranks give each other theirs, and fetch those they have lost.

namespace mpitron::checkpoint {
namespace {

constexpr Index kMessageBytes = Index{16} << 20;

/// Returns the members of a group besides this one.
std::vector<Index> others_of(const comm::Group& group) {
  std::vector<Index> others;
  for (Index member = 0; member < group.size(); ++member) {
    if (member != group.rank()) {
      others.push_back(member);
    }
  }
  return others;
}

}  // namespace

/// Sends everybody's file to the others of the group, one after another. A rank that cannot write
/// goes on receiving, so that nobody waits for it, and says at the end what was wrong.
void LocalCheckpoints::exchange_replicas(Index iteration) {
  std::string error;
  for (Index member = 0; member < replicas_->size(); ++member) {
    if (member == replicas_->rank()) {
      send_file(*replicas_, others_of(*replicas_),
                folder_of(all_->rank(), all_->rank()).file(iteration));
    } else {
      const Folder to = folder_of(all_->rank(), replicas_->world_rank(member));
      const std::string failure =
          error_of([&] { receive_file(*replicas_, member, to, iteration); });
      error = error.empty() ? failure : error;
    }
  }
  if (!error.empty()) {
    throw_data("{}", error);
  }
}

/// Sends the size, then pieces of kMessageBytes, so that memory does not grow with the file.
void LocalCheckpoints::send_file(comm::Group& group, const std::vector<Index>& to,
                                 const std::filesystem::path& file) {
  if (to.empty()) {
    return;
  }
  const PosixFile plain(file, PosixFile::Mode::read);
  Index size = plain.size();
  std::vector<std::byte> piece;
  for (const Index member : to) {
    group.send({&size, DType::i64, {1}}, member).wait();
  }
  for (Index at = 0; at < size; at += kMessageBytes) {
    const Index bytes = std::min(kMessageBytes, size - at);
    piece.resize(static_cast<std::size_t>(bytes));
    plain.read(at, piece.data(), bytes);
    for (const Index member : to) {
      group.send({piece.data(), DType::u8, {bytes}}, member).wait();
    }
  }
}

/// Receives what send_file sends. After a failed write the rest is still received.
void LocalCheckpoints::receive_file(comm::Group& group, Index from, const Folder& to,
                                    Index iteration) {
  Index size = 0;
  group.receive({&size, DType::i64, {1}}, from).wait();
  std::optional<AtomicFile> file;
  std::string error = error_of([&] {
    to.begin(iteration);
    file.emplace(to.unfinished_file(iteration));
  });
  std::vector<std::byte> piece;
  for (Index at = 0; at < size; at += kMessageBytes) {
    const Index bytes = std::min(kMessageBytes, size - at);
    piece.resize(static_cast<std::size_t>(bytes));
    group.receive({piece.data(), DType::u8, {bytes}}, from).wait();
    if (error.empty()) {
      error = error_of([&] { file->write(piece.data(), piece.size()); });
    }
  }
  if (!error.empty()) {
    throw_data("{}", error);
  }
  file->commit();
  to.commit(iteration);
}

/// All ranks walk over all owners in one order, so that every send has its receive.
std::filesystem::path LocalCheckpoints::fetch(Index iteration) {
  std::string error;
  for (const auto& [owner, holders] : holders_) {
    if (holders.contains(owner)) {
      continue;
    }
    const Index holder = *holders.begin();
    if (all_->rank() == holder) {
      send_file(*all_, {owner}, folder_of(holder, owner).file(iteration));
    } else if (all_->rank() == owner) {
      error = error_of([&] { receive_file(*all_, holder, folder_of(owner, owner), iteration); });
    }
  }
  throw_first_error(*all_, error);
  return folder_of(all_->rank(), all_->rank()).file(iteration);
}

}  // namespace mpitron::checkpoint
