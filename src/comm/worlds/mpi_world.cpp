#include "comm/worlds/mpi_world.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>

#include <unistd.h>

#include "comm/messages/message_group.h"
#include "comm/messages/mpi_adapter.h"
#include "comm/shared/shared_group.h"
#include "comm/watch/hung_launcher.h"
#include "comm/watch/start_watch.h"
#include "comm/watch/watchdog.h"
#include "comm/worlds/node.h"
#include "launch/launcher.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/text/hash.h"

// The world of a job that MPI has started. Ranks introduce themselves once (node, process, host,
// service of the watchdog); groups within a node use shared memory, all others messages. MPI
// carries messages only, so operations of a group need no communicator.

namespace mpitron::comm {
namespace {

/// Starts MPI, and refuses ranks that do not know of each other, with the launcher's remedy.
std::shared_ptr<MpiAdapter> start_mpi() {
  auto mpi = std::make_shared<MpiAdapter>();
  launch::check_ranks(launch::read_launch(launch::process_environment()), mpi->rank(), mpi->size(),
                      MpiAdapter::library());
  return mpi;
}

/// Facts that each rank tells all others once.
struct Introduction {
  NodeMember member;
  Index node;  // a number that its node's ranks have in common
  std::array<char, 64> host;
  FlightService::Address service;
};

/// Every rank's node, process and address, gathered once at the start.
std::vector<Introduction> introduce(const MpiAdapter& mpi, Introduction mine,
                                    const std::string& host) {
  host.copy(mine.host.data(), mine.host.size() - 1);
  std::vector<Introduction> all;
  for (const std::string& bytes :
       mpi.gather({reinterpret_cast<const char*>(&mine), sizeof(mine)})) {
    std::memcpy(static_cast<void*>(&all.emplace_back()), bytes.data(), sizeof(Introduction));
  }
  return all;
}

/// Asks the machine of `rank` what it knows of it. Its neighbours are asked first: its own thread
/// may be stopped with it.
std::string ask_neighbours(const std::vector<Introduction>& all, Index rank) {
  const Introduction& itself = all[static_cast<std::size_t>(rank)];
  std::vector<const Introduction*> asked;
  constexpr std::size_t kNeighbours = 3;  // each may cost a second
  for (const Introduction& other : all) {
    if (other.node == itself.node && other.member.rank != rank && asked.size() < kNeighbours) {
      asked.push_back(&other);
    }
  }
  asked.push_back(&itself);
  for (const Introduction* const one : asked) {
    if (std::string known = ask_flight_service(one->host.data(), one->service, rank);
        !known.empty()) {
      return known;
    }
  }
  return "";
}

class MpiWorld final : public World {
 public:
  /// MPI connects the ranks; within a node memory is shared from here on.
  explicit MpiWorld(const MpiOptions& options)
      : mpi_(start_mpi()), node_(std::make_shared<Node>(mpi_->rank())) {
    const Index own =
        options.node_of ? options.node_of(rank()) : mpi_->ranks_of_this_node().front();
    const std::vector<Introduction> all = introduce(
        *mpi_, {.member = node_->self(), .node = own, .host = {}, .service = service_->address()},
        World::host(mpi_->rank()));
    std::vector<NodeMember> members;
    for (const Introduction& other : all) {
      hosts_.emplace_back(other.host.data());
      if (other.node == own) {
        local_rank_ += other.member.rank < rank() ? 1 : 0;
        members.push_back(other.member);
      }
    }
    // All or none: a group's members must agree on how they talk.
    shares_memory_ = mpi_->minimum(node_->connect(members) ? 1 : 0) == 1;
    if (!shares_memory_ && rank() == 0) {
      log::warning(
          "ranks of one machine cannot open each other's memory (/proc/PID/fd): they send messages "
          "instead, which is slower");
    }
    watch(members, all, options);
  }

  Index rank() const override { return mpi_->rank(); }
  Index size() const override { return mpi_->size(); }
  Index local_rank() const override { return local_rank_; }
  std::string host(Index rank) const override { return hosts_[static_cast<std::size_t>(rank)]; }
  void progress() override { engine_->progress(); }
  std::shared_ptr<ProgressEngine> engine() override { return engine_; }
  void set_phase(std::string_view phase) override { watchdog_->set_phase(phase); }
  std::unique_ptr<device::Allocator> make_allocator() override {
    return shares_memory_ ? node_->make_allocator() : World::make_allocator();
  }

  /// Null where this rank is no member.
  std::shared_ptr<Group> make_group(const std::string& name,
                                    const std::vector<Index>& ranks) override {
    auto& group = groups_[{name, ranks}];
    if (group == nullptr) {
      const auto place = std::find(ranks.begin(), ranks.end(), rank());
      MPITRON_CHECK(place != ranks.end(), name, rank());
      group = make(name, ranks, place - ranks.begin());
    }
    return group;
  }

 private:
  /// Neighbours on the node are watched through their processes, others by messages.
  void watch(const std::vector<NodeMember>& members, const std::vector<Introduction>& all,
             const MpiOptions& options) {
    Watchdog::Setting setting = {
        .rank = rank(),
        .neighbours = {},
        .host = [hosts = hosts_,
                 node = node_](Index rank) { return hosts[static_cast<std::size_t>(rank)]; },
        .service = service_,
        .ask = [all](Index rank) { return ask_neighbours(all, rank); },
        .failure_reporter = &node_->failure_reporter(),
        .timeout_seconds = 60 * options.timeout_minutes,
        .on_failure = options.on_failure,
        .trace = options.trace};
    for (const NodeMember& member : members) {
      if (shares_memory_ && member.rank != rank()) {
        setting.neighbours.push_back({member.rank, member.process, &node_->ring(member.rank)});
      }
    }
    watchdog_ = std::make_shared<Watchdog>(node_->ring(rank()), std::move(setting));
    engine_ = std::make_shared<ProgressEngine>(watchdog_);
  }

  /// Shared memory where all members can reach each other, messages otherwise.
  std::shared_ptr<Group> make(const std::string& name, const std::vector<Index>& ranks,
                              Index place) {
    const bool within_node =
        shares_memory_ && std::all_of(ranks.begin(), ranks.end(),
                                      [this](Index rank) { return node_->contains(rank); });
    if (within_node || ranks.size() == 1) {
      return std::make_shared<SharedGroup>(name, ranks, place, node_->table(name, ranks),
                                           SharedGroup::Fabric{node_, engine_});
    }
    return std::make_shared<MessageGroup>(name, ranks, place, MessageGroup::Fabric{mpi_, engine_},
                                          number_of(name, ranks));
  }

  /// A number that members compute alone, so that making a group needs no communication. Two groups
  /// of the same two ranks with one number would mix their messages: both ranks see that here.
  int number_of(const std::string& name, const std::vector<Index>& ranks) {
    const std::string_view bytes(reinterpret_cast<const char*>(ranks.data()),
                                 ranks.size() * sizeof(Index));
    const int numbers = mpi_->largest_tag() >> MessageGroup::kTagBits;
    const int number = static_cast<int>(hash64(name, hash64(bytes)) %
                                        static_cast<std::uint64_t>(std::max(1, numbers)));
    const auto [at, is_new] = numbers_.emplace(number, name);
    MPITRON_CHECK(is_new, name, at->second, numbers);
    return number;
  }

  std::shared_ptr<MpiAdapter> mpi_;
  std::shared_ptr<Node> node_;
  std::shared_ptr<const FlightService> service_ = std::make_shared<const FlightService>();
  std::shared_ptr<Watchdog> watchdog_;
  std::shared_ptr<ProgressEngine> engine_;
  std::vector<std::string> hosts_;
  Index local_rank_ = 0;
  bool shares_memory_ = false;
  std::map<std::pair<std::string, std::vector<Index>>, std::shared_ptr<Group>> groups_;
  std::map<int, std::string> numbers_;
};

}  // namespace

bool launched_by_mpi() {
  const launch::Launch launch = launch::read_launch(launch::process_environment());
  launch::check_before_mpi(launch, mpi_library());
  return launch.by_mpi();
}

launch::MpiLibrary mpi_library() {
  return MpiAdapter::library();
}

std::unique_ptr<World> make_mpi_world(const MpiOptions& options) {
  const Index rank = launch::read_launch(launch::process_environment()).presumed_rank();
  const LauncherWatch launcher_watch(patience_with_mpirun());
  const StartWatch watch("MPI_Init", rank, 60 * options.timeout_minutes,
                         [rank](const std::string& sentence) { leave_start(rank, sentence); });
  return std::make_unique<MpiWorld>(options);
}

/// Worlds of tests and tools are of one process; only a launcher's variables say otherwise.
std::unique_ptr<World> make_world(const MpiOptions& options) {
  return launched_by_mpi() ? make_mpi_world(options) : make_single_world();
}

}  // namespace mpitron::comm
