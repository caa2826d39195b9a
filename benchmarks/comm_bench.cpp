// Collectives of two ranks of one machine, against MPI's in the same run and against copying.
//   comm_bench [--summary FILE] [--ranks N]     starts itself under mpirun
// Each size alternates with its peer; both give their best of several rounds, as the machine may be
// shared, and a round takes as long as its slowest rank.

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>
#include <unistd.h>

#include "comm/worlds/mpi_world.h"
#include "summary.h"
#include "utils/error.h"
#include "utils/timer.h"

namespace mpitron::comm {
namespace {

constexpr int kRounds = 7;
constexpr Index kKiB = 1024;
constexpr Index kMiB = 1024 * kKiB;

std::string size_name(Index bytes) {
  return bytes >= kMiB ? std::to_string(bytes / kMiB) + "MiB"
                       : std::to_string(bytes / kKiB) + "KiB";
}

class CommBench {
 public:
  CommBench(World& world, benchmarks::Summary& summary)
      : world_(world), group_(world.all()), summary_(summary), memory_(world.make_allocator()) {}

  void all_reduce(Index bytes) {
    const TensorView x = tensor(bytes);
    const auto ours = [&] { group_->all_reduce(x).wait(); };
    const auto theirs = [&] {
      MPI_Allreduce(MPI_IN_PLACE, x.data, static_cast<int>(x.numel()), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    };
    const auto [own, mpi] = best_seconds(bytes, ours, theirs);
    const double wanted = bytes >= 32 * kMiB ? 2.5 : bytes <= 4 * kMiB ? 1 : kNoGoal;
    report("all_reduce " + size_name(bytes) + " time", own * 1e6, "us", kNoGoal, "", false);
    report("all_reduce " + size_name(bytes) + " speed against MPI_Allreduce", mpi / own, "x",
           wanted, "MPI_Allreduce");
  }

  /// Each rank receives `bytes` in all; the peer copies as much within each rank at the same time.
  void moves(Index bytes) {
    const Index ranks = world_.size();
    const TensorView whole = tensor(bytes);
    const TensorView other = tensor(bytes);
    const Index piece = whole.numel() / ranks;
    const TensorView part = device::slice(other, 0, 0, piece);
    const Index neighbour = world_.rank() ^ 1;
    const auto copy = [&] { std::memcpy(other.data, whole.data, static_cast<std::size_t>(bytes)); };
    const auto against_copy = [&](const std::string& name, const std::function<void()>& work) {
      const auto [own, copied] = best_seconds(bytes, work, copy);
      report(name + " " + size_name(bytes), static_cast<double>(bytes) / own * 1e-9, "GB/s",
             kNoGoal, "", true, static_cast<double>(bytes) / copied * 1e-9);
    };
    against_copy("all_gather", [&] { group_->all_gather(part, whole).wait(); });
    against_copy("reduce_scatter", [&] { group_->reduce_scatter(whole, part).wait(); });
    against_copy("all_to_all", [&] { group_->all_to_all(whole, other).wait(); });
    if (ranks == 2) {
      against_copy("exchange by send and receive", [&] {
        Work sent = group_->send(whole, neighbour);
        group_->receive(other, neighbour).wait();
        sent.wait();
      });
    }
  }

 private:
  static constexpr double kNoGoal = benchmarks::Figure::kNone;

  TensorView tensor(Index bytes) {
    std::size_t capacity = 0;
    void* const data = memory_->allocate(static_cast<std::size_t>(bytes), capacity);
    std::memset(data, 0, static_cast<std::size_t>(bytes));
    return {data, DType::f32, {bytes / 4}};
  }

  double seconds(int repetitions, const std::function<void()>& work) {
    group_->barrier();
    const Timer timer;
    for (int i = 0; i < repetitions; ++i) {
      work();
    }
    return group_->reduce(timer.seconds() / repetitions, Reduction::maximum);
  }

  std::pair<double, double> best_seconds(Index bytes, const std::function<void()>& ours,
                                         const std::function<void()>& theirs) {
    const int repetitions = static_cast<int>(std::clamp<Index>(64 * kMiB / bytes / 4, 1, 2000));
    double own = 1e9;
    double other = 1e9;
    for (int round = 0; round <= kRounds; ++round) {
      const double a = seconds(repetitions, ours);
      const double b = seconds(repetitions, theirs);
      if (round > 0) {  // the first touches memory
        own = std::min(own, a);
        other = std::min(other, b);
      }
    }
    return {own, other};
  }

  void report(const std::string& name, double value, const std::string& unit, double goal,
              const std::string& peer, bool higher_is_better = true, double limit = kNoGoal) {
    if (world_.rank() == 0) {
      summary_.add({.name = name + " (" + std::to_string(world_.size()) + " ranks)",
                    .value = value,
                    .unit = unit,
                    .goal = goal,
                    .higher_is_better = higher_is_better,
                    .limit = limit,
                    .peer = peer});
    }
  }

  World& world_;
  std::shared_ptr<Group> group_;
  benchmarks::Summary& summary_;
  std::unique_ptr<device::Allocator> memory_;
};

[[noreturn]] void start_under_mpirun(const std::string& ranks, char** argv) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe"}) {
    ::setenv(name, "1", 1);
  }
  std::vector<char*> words = {const_cast<char*>("mpirun"), const_cast<char*>("-n"),
                              const_cast<char*>(ranks.c_str())};
  for (char** word = argv; *word != nullptr; ++word) {
    words.push_back(*word);
  }
  words.push_back(nullptr);
  ::execvp("mpirun", words.data());
  std::fprintf(stderr, "comm_bench: no mpirun in PATH\n");
  std::exit(1);
}

int run(int argc, char** argv) {
  benchmarks::Summary summary(argc, argv);
  const auto world = make_mpi_world();
  CommBench bench(*world, summary);
  for (Index bytes = kKiB; bytes <= 256 * kMiB; bytes *= bytes == 16 * kMiB ? 2 : 4) {
    bench.all_reduce(bytes);
  }
  bench.all_reduce(256 * kMiB);
  for (const Index bytes : {kMiB, 16 * kMiB, 64 * kMiB}) {
    bench.moves(bytes);
  }
  return world->rank() != 0 || summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::comm

int main(int argc, char** argv) {
  if (!mpitron::comm::launched_by_mpi()) {
    std::string ranks = "2";
    for (int i = 1; i + 1 < argc; ++i) {
      if (std::strcmp(argv[i], "--ranks") == 0) {
        ranks = argv[i + 1];
      }
    }
    mpitron::comm::start_under_mpirun(ranks, argv);
  }
  return mpitron::comm::run(argc, argv);
}
