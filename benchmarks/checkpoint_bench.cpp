// Saving and loading GPT-2 124M with its optimizer (1.49 GB) by one rank and by two, against plain
// writes and reads of the same bytes in the same run.
//   checkpoint_bench [--summary FILE] [--folder DIR] [--rounds N] [--only save|async|load]
// It starts itself under mpirun.
// Each save alternates with its peers; figures are medians, as disks are noisy.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "benchmarks/summary.h"
#include "checkpoint/read/checkpoint_reader.h"
#include "checkpoint/write/checkpoint_writer.h"
#include "comm/worlds/mpi_world.h"
#include "utils/timer.h"

namespace mpitron::checkpoint {
namespace {

constexpr Index kPlainWrite = Index{8} << 20;

/// Parameters, which both ranks hold, and the optimizer's halves of each.
class State {
 public:
  State(comm::World& world, Index rank, Index ranks) : memory_(world.make_allocator()) {
    constexpr Index h = 768;
    add("embedding.word_embeddings.weight", {50304, h}, rank, ranks);
    add("embedding.position_embeddings.weight", {1024, h}, rank, ranks);
    for (int layer = 0; layer < 12; ++layer) {
      const std::string name = "decoder.layers." + std::to_string(layer) + ".";
      add(name + "qkv.weight", {3 * h, h}, rank, ranks);
      add(name + "qkv.bias", {3 * h}, rank, ranks);
      add(name + "proj.weight", {h, h}, rank, ranks);
      add(name + "proj.bias", {h}, rank, ranks);
      add(name + "fc1.weight", {4 * h, h}, rank, ranks);
      add(name + "fc1.bias", {4 * h}, rank, ranks);
      add(name + "fc2.weight", {h, 4 * h}, rank, ranks);
      add(name + "fc2.bias", {h}, rank, ranks);
      add(name + "norm.weight", {2, h}, rank, ranks);
    }
  }

  const std::vector<tensor::ShardedTensor>& tensors() const { return tensors_; }
  std::vector<LoadTarget> targets() const {
    std::vector<LoadTarget> targets;
    for (const tensor::ShardedTensor& tensor : tensors_) {
      targets.push_back({.tensor = tensor});
    }
    return targets;
  }
  Index bytes() const {
    Index sum = 0;
    for (const tensor::ShardedTensor& tensor : tensors_) {
      sum += tensor.value.bytes();
    }
    return sum;
  }

 private:
  void add(const std::string& name, const Shape& shape, Index rank, Index ranks) {
    const Index numel = shape.numel(), part = numel / ranks;
    hold("model/" + name, shape, 0, numel);
    for (const char* kind : {"exp_avg/", "exp_avg_sq/"}) {
      hold(kind + name, shape, rank * part, rank + 1 == ranks ? numel : (rank + 1) * part);
    }
  }
  void hold(const std::string& name, const Shape& shape, Index begin, Index end) {
    std::size_t capacity = 0;
    const auto bytes = static_cast<std::size_t>(4 * (end - begin));
    auto* const data = static_cast<std::uint32_t*>(memory_->allocate(bytes, capacity));
    for (std::size_t i = 0; i < bytes / 4; ++i) {
      data[i] = static_cast<std::uint32_t>(i) * 2654435761u;
    }
    tensors_.push_back(
        {.name = name, .shape = shape, .begin = begin, .value = {data, DType::f32, {end - begin}}});
  }

  std::unique_ptr<device::Allocator> memory_;
  std::vector<tensor::ShardedTensor> tensors_;
};

struct Options {
  std::filesystem::path folder = "checkpoint_bench.tmp";
  int rounds = 5;
  std::string only;  // of the first word of the measurements; empty: all
};

class CheckpointBench {
 public:
  CheckpointBench(comm::World& world, benchmarks::Summary& summary, const Options& options)
      : world_(world),
        group_(world.all()),
        summary_(summary),
        options_(options),
        folder_(options.folder),
        alone_(comm::make_single_world()),
        whole_(*alone_, 0, 1),
        part_(world, world.rank(), world.size()),
        writer_(world),
        lone_writer_(*alone_) {}

  void run() {
    std::filesystem::create_directories(folder_);
    for (int round = 0; round <= options_.rounds; ++round) {
      counts_ = round > 0;  // the first touches memory
      if (wanted("save")) {
        measure_saves();
      }
      if (wanted("async")) {
        ++iteration_;
        measure("async 1",
                [&] { return by_rank_0([&] { return save(lone_writer_, whole_, true); }); });
        ++iteration_;
        measure("async 2", [&] { return save(writer_, part_, true); });
        ++iteration_;
        training_ = 500'000;
        measure("async beside 2", [&] { return save(writer_, part_, true); });
        training_ = 0;
      }
      if (wanted("load")) {
        measure("plain read", [&] { return plain_read(false); });
        measure("load", [&] { return load(false); });
        measure("plain read cold", [&] { return plain_read(true); });
        measure("load cold", [&] { return load(true); });
      }
    }
    if (world_.rank() == 0) {
      std::filesystem::remove_all(folder_);
    }
    report();
  }

 private:
  static constexpr double kNone = benchmarks::Figure::kNone;

  /// The first round does everything: the others read what it saved.
  bool wanted(const std::string& kind) const {
    return !counts_ || options_.only.empty() || options_.only == kind;
  }
  void measure_saves() {
    measure("plain write 1", [&] { return by_rank_0([&] { return plain_write(1); }); });
    ++iteration_;
    measure("save 1", [&] { return by_rank_0([&] { return save(lone_writer_, whole_, false); }); });
    measure("plain write 2", [&] { return plain_write(world_.size()); });
    ++iteration_;
    measure("save 2", [&] { return save(writer_, part_, false); });
  }

  void measure(const std::string& name, const std::function<double()>& work) {
    if (world_.rank() == 0) {  // nobody pays for what others left
      for (const Index iteration : Folder(folder_).iterations()) {
        if (iteration != iteration_) {
          std::filesystem::remove_all(Folder(folder_).file(iteration).parent_path());
        }
      }
      ::sync();
    }
    group_->barrier();
    const double seconds = group_->reduce(work(), comm::Reduction::maximum);
    if (counts_) {
      seconds_[name].push_back(seconds);
    }
  }
  double by_rank_0(const std::function<double()>& work) { return world_.rank() == 0 ? work() : 0; }
  double median(const std::string& name) const {
    std::vector<double> all = seconds_.at(name);
    std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
    return all[all.size() / 2];
  }
  /// Of the ratios within the rounds.
  double ratio(const std::string& peer, const std::string& name) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < seconds_.at(name).size(); ++i) {
      all.push_back(seconds_.at(peer)[i] / seconds_.at(name)[i]);
    }
    std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
    return all[all.size() / 2];
  }

  /// `writers` files of equal parts of the same memory.
  double plain_write(Index writers) {
    const std::filesystem::path path = folder_ / ("plain" + std::to_string(world_.rank()));
    const Index share = whole_.bytes() / writers;
    const Timer timer;
    const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    Index at = 0;
    for (const tensor::ShardedTensor& tensor : whole_.tensors()) {
      const auto* const data = static_cast<const char*>(tensor.value.data);
      for (Index done = 0; done < tensor.value.bytes() && at < share;) {
        const Index bytes = std::min({kPlainWrite, tensor.value.bytes() - done, share - at});
        if (::pwrite(file, data + done, static_cast<std::size_t>(bytes), at) != bytes) {
          std::perror("checkpoint_bench");
          std::abort();
        }
        done += bytes;
        at += bytes;
      }
    }
    ::fsync(file);
    ::close(file);
    const double seconds = timer.seconds();
    std::filesystem::remove(path);
    return seconds;
  }

  /// All of it, or how long the caller was kept.
  double save(CheckpointWriter& writer, const State& state, bool asynchronous) {
    const Header header;
    const CheckpointWriter::Request request{.tensors = state.tensors(),
                                            .header = &header,
                                            .root = folder_,
                                            .iteration = iteration_,
                                            .asynchronous = asynchronous};
    writer.prepare(request);
    writer.save(request);
    if (asynchronous) {
      ::usleep(training_);
      writer.wait_for_copies();  // before the update
      while (!poll(writer)) {
      }
    } else {
      last_ = *writer.finish(true);
    }
    if (!last_.error.empty()) {
      std::fprintf(stderr, "checkpoint_bench: %s\n", last_.error.c_str());
      std::abort();
    }
    if (asynchronous && &writer == &writer_) {
      background_ = last_.background_seconds;
    }
    return asynchronous ? last_.blocked_seconds : last_.total_seconds;
  }
  /// Polls as training does between two iterations.
  bool poll(CheckpointWriter& writer) {
    ::usleep(50'000);
    const std::optional<SaveReport> report = writer.finish(false);
    last_ = report.value_or(SaveReport());
    return report.has_value();
  }

  std::filesystem::path file() const { return Folder(folder_).file(iteration_); }
  void forget() const {
    group_->barrier();
    const int file_number = ::open(file().c_str(), O_RDONLY);
    ::posix_fadvise(file_number, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file_number);
    group_->barrier();
  }
  double plain_read(bool cold) {
    if (cold) {
      forget();
    }
    const Index share = static_cast<Index>(std::filesystem::file_size(file())) / world_.size();
    const Timer timer;
    const int descriptor = ::open(file().c_str(), O_RDONLY);
    Index at = 0;
    for (const tensor::ShardedTensor& tensor : whole_.tensors()) {
      for (Index done = 0; done < tensor.value.bytes() && at < share;) {
        const ssize_t got = ::pread(descriptor, static_cast<char*>(tensor.value.data) + done,
                                    static_cast<std::size_t>(std::min(
                                        {kPlainWrite, tensor.value.bytes() - done, share - at})),
                                    world_.rank() * share + at);
        done += got;
        at += got;
      }
    }
    ::close(descriptor);
    return timer.seconds();
  }
  /// What both ranks read, in seconds per the plain read's bytes: they have all parameters.
  double load(bool cold) {
    if (cold) {
      forget();
    }
    const Timer timer;
    CheckpointReader reader(world_, file());
    const std::vector<LoadTarget> targets = part_.targets();
    reader.compare(targets);
    const LoadStatistics statistics = reader.read(targets);
    loaded_ = group_->reduce(static_cast<double>(statistics.bytes));
    return timer.seconds();
  }

  void report() {
    if (world_.rank() != 0) {
      return;
    }
    const auto gigabytes = static_cast<double>(whole_.bytes()) * 1e-9;
    if (wanted("save")) {
      for (const char* name : {"plain write 1", "save 1", "plain write 2", "save 2"}) {
        add(std::string("checkpoint ") + name, gigabytes / median(name), "GB/s", kNone, "");
      }
      add("checkpoint save 1 against 1 plain writer", ratio("plain write 1", "save 1"), "x", 0.85,
          "pwrite + fsync");
      add("checkpoint save 2 against 1 plain writer", ratio("plain write 1", "save 2"), "x", 0.85,
          "pwrite + fsync");
      add("checkpoint save 2 against 2 plain writers", ratio("plain write 2", "save 2"), "x", 0.7,
          "pwrite + fsync");
    }
    if (wanted("async")) {
      add("checkpoint async save blocks 2 ranks", median("async beside 2"), "s", 0.15, "");
      add("checkpoint async save blocks with nothing beside it", median("async 2"), "s", kNone, "");
      add("checkpoint async save blocks 1 rank likewise", median("async 1"), "s", kNone, "");
      add("checkpoint async save in the background", background_, "s", kNone, "");
    }
    if (wanted("load")) {
      add("checkpoint load warm", loaded_ * 1e-9 / median("load"), "GB/s", 9, "",
          gigabytes / median("plain read"));
      add("checkpoint load cold against plain cold read", ratio("plain read cold", "load cold"),
          "x", 0.8, "pread");
    }
  }
  void add(const std::string& name, double value, const std::string& unit, double goal,
           const std::string& peer, double limit = kNone) {
    summary_.add({name, value, unit, goal, unit != "s", limit, peer});
  }

  comm::World& world_;
  std::shared_ptr<comm::Group> group_;
  benchmarks::Summary& summary_;
  const Options options_;
  const std::filesystem::path folder_;
  std::unique_ptr<comm::World> alone_;
  State whole_, part_;
  CheckpointWriter writer_, lone_writer_;
  SaveReport last_;
  double background_ = 0, loaded_ = 0;
  Index iteration_ = 0;
  useconds_t training_ = 0;  // a forward and backward pass that the copies have to themselves
  bool counts_ = false;
  std::map<std::string, std::vector<double>> seconds_;
};

[[noreturn]] void start_under_mpirun(char** argv) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe"}) {
    ::setenv(name, "1", 1);
  }
  ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  std::vector<char*> words = {const_cast<char*>("mpirun"), const_cast<char*>("-n"),
                              const_cast<char*>("2")};
  for (char** word = argv; *word != nullptr; ++word) {
    words.push_back(*word);
  }
  words.push_back(nullptr);
  ::execvp("mpirun", words.data());
  std::fprintf(stderr, "checkpoint_bench: no mpirun in PATH\n");
  std::exit(1);
}

int run(int argc, char** argv) {
  benchmarks::Summary summary(argc, argv);
  Options options;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--folder") == 0) {
      options.folder = argv[i + 1];
    } else if (std::strcmp(argv[i], "--rounds") == 0) {
      options.rounds = std::max(1, std::atoi(argv[i + 1]));
    } else if (std::strcmp(argv[i], "--only") == 0) {
      options.only = argv[i + 1];
    }
  }
  const auto world = comm::make_mpi_world();
  CheckpointBench(*world, summary, options).run();
  return world->rank() != 0 || summary.write() ? 0 : 1;
}

}  // namespace
}  // namespace mpitron::checkpoint

int main(int argc, char** argv) {
  if (!mpitron::comm::launched_by_mpi()) {
    mpitron::checkpoint::start_under_mpirun(argv);
  }
  return mpitron::checkpoint::run(argc, argv);
}
