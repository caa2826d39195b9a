#include "checkpoint/write/local_checkpoints.h"

#include <sstream>

#include <fmt/format.h>

#include "checkpoint/plan/agreement.h"
#include "utils/error.h"
#include "utils/text/hash.h"
#include "utils/timer.h"

// Checkpoints on the disks of the nodes themselves, for restarts within minutes. Ranks of different
// nodes hold copies of each other's files, so that one lost node costs nothing; only the same
// layout can load them.

namespace mpitron::checkpoint {
namespace {

constexpr const char* kRank = "local/rank";

/// Makes the group r, r + jump, ... of this rank: blocks of jump * factor ranks hold `jump` groups
/// each.
std::shared_ptr<comm::Group> replica_group(comm::World& world, Index jump, Index factor) {
  if (factor < 2) {
    return world.make_group("alone", {world.rank()});
  }
  const Index block = jump * factor;
  const Index first = world.rank() / block * block + world.rank() % jump;
  std::vector<Index> ranks;
  for (Index i = 0; i < factor; ++i) {
    ranks.push_back(first + i * jump);
  }
  return world.make_group("local checkpoint replicas", ranks);
}

/// Returns options for one file: that is what travels to the replicas.
WriterOptions of_one_rank(WriterOptions options) {
  options.file_per_writer = false;
  return options;
}

}  // namespace

LocalCheckpoints::LocalCheckpoints(comm::World& world, Options options)
    : alone_(comm::make_single_world()),
      all_(world.all()),
      replicas_(replica_group(world, options.replication_jump, options.replication_factor)),
      options_(std::move(options)),
      writer_(*alone_, of_one_rank(options_.writer)) {}

/// Returns a tensor of which this rank has everything: its own elements in a row, under a name of
/// their own.
tensor::ShardedTensor LocalCheckpoints::own(const tensor::ShardedTensor& tensor) {
  tensor::ShardedTensor own = tensor;
  const Index elements = tensor.value.numel();
  own.name = own_name(tensor.name, tensor);
  own.shape = {elements};
  own.shard = {};
  own.begin = 0;
  own.rows_may_differ = false;
  own.value = {tensor.value.data, tensor.value.dtype, {elements}};
  return own;
}

/// Appends a hash of the place among all elements, so that a rank may save several pieces of one
/// tensor.
std::string LocalCheckpoints::own_name(const std::string& name,
                                       const tensor::ShardedTensor& tensor) {
  std::string place =
      fmt::format("{} {} {}", to_string(tensor.shape), tensor.begin, tensor.shard.dim);
  for (const auto& range : tensor.shard.ranges) {
    place += fmt::format(" {} {}", range.begin, range.end);
  }
  return fmt::format("{}@{:016x}", name, hash64(place));
}

/// Returns FOLDER/rank_<holder>, or inside of it of_rank_<owner> for a copy.
Folder LocalCheckpoints::folder_of(Index holder, Index owner) const {
  const std::filesystem::path root = options_.folder / fmt::format("rank_{:05d}", holder);
  return Folder(holder == owner ? root : root / fmt::format("of_rank_{:05d}", owner));
}

/// Starts to write this rank's file; copies travel in `finish`, once it is complete.
void LocalCheckpoints::save(const CheckpointWriter::Request& request) {
  std::vector<tensor::ShardedTensor> tensors;
  for (const tensor::ShardedTensor& tensor : request.tensors) {
    if (tensor.value.numel() > 0) {
      tensors.push_back(own(tensor));
    }
  }
  Header header = *request.header;
  header.integers[kRank] = all_->rank();
  ended_.reset();
  in_flight_ = true;
  writer_.save({.tensors = tensors,
                .header = &header,
                .root = folder_of(all_->rank(), all_->rank()).root(),
                .iteration = request.iteration,
                .asynchronous = request.asynchronous});
}

/// Asks whether all ranks have written, and only then exchanges copies and removes the checkpoint
/// before. Times of the report are those of the slowest rank.
std::optional<SaveReport> LocalCheckpoints::finish(bool wait) {
  if (!in_flight_) {
    return std::nullopt;
  }
  if (!ended_ && writer_.in_flight()) {
    ended_ = writer_.finish(wait);
  }
  const double ended = all_->reduce(ended_ ? 1 : 0, comm::Reduction::minimum);
  if (ended == 0) {
    return std::nullopt;
  }
  in_flight_ = false;
  const Timer exchange;
  SaveReport report = *std::exchange(ended_, std::nullopt);
  report.error = first_error(*all_, report.error);
  if (report.error.empty()) {
    report.error = first_error(*all_, error_of([&] { exchange_replicas(report.iteration); }));
  }
  if (report.error.empty()) {
    for (const Index owner : replicas_->ranks()) {
      apply_retention(folder_of(all_->rank(), owner), {.keep_last = 1}, report.iteration);
    }
  }
  const auto slowest = [this](double value) {
    return all_->reduce(value, comm::Reduction::maximum);
  };
  report.blocked_seconds = slowest(report.blocked_seconds + exchange.seconds());
  report.background_seconds = slowest(report.background_seconds);
  report.total_seconds = slowest(report.total_seconds + exchange.seconds());
  report.bytes = static_cast<Index>(all_->reduce(static_cast<double>(report.bytes)));
  return report;
}

/// Returns "ITERATION OWNER" lines of what this rank's folders hold, whole and of this layout.
std::string LocalCheckpoints::find(const std::string& layout) const {
  std::string lines;
  for (const Index owner : replicas_->ranks()) {
    const Folder folder = folder_of(all_->rank(), owner);
    for (const Index iteration : folder.iterations()) {
      const std::filesystem::path path = folder.file(iteration);
      if (reason_against(path).empty()) {
        const Header header = File(path).header();
        const auto rank = header.integers.find(kRank);
        if (header.layout == layout && rank != header.integers.end() && rank->second == owner) {
          lines += fmt::format("{} {}\n", iteration, owner);
        }
      }
    }
  }
  return lines;
}

/// Returns the newest iteration of which every rank's file is somewhere, and keeps who holds what
/// for `fetch`.
std::optional<Index> LocalCheckpoints::newest(const std::string& layout) {
  std::string lines;
  throw_first_error(*all_, error_of([&] { lines = find(layout); }));
  std::map<Index, std::map<Index, std::set<Index>>> found;  // iteration, owner, holders
  const std::vector<std::string> all = gather_texts(*all_, lines);
  for (std::size_t holder = 0; holder < all.size(); ++holder) {
    std::istringstream words(all[holder]);
    for (Index iteration = 0, owner = 0; words >> iteration >> owner;) {
      found[iteration][owner].insert(static_cast<Index>(holder));
    }
  }
  holders_.clear();
  for (auto i = found.rbegin(); i != found.rend(); ++i) {
    if (static_cast<Index>(i->second.size()) == all_->size()) {
      holders_ = i->second;
      return i->first;
    }
  }
  return std::nullopt;
}

}  // namespace mpitron::checkpoint
