#include "checkpoint/tools/io_bench.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "checkpoint/format/posix_file.h"
#include "utils/timer.h"

// Measures how fast a folder takes checkpoints, with the writes of a real save: pieces of one size
// from every writer, and a sync at the end.

namespace mpitron::checkpoint {
namespace {

constexpr Index kWrittenPiece = Index{4} << 20;  // as savers write

void make_file(const std::filesystem::path& path, Index bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    throw_system_error(path, "create", errno);
  }
  ::close(descriptor);
  PosixFile(path, PosixFile::Mode::modify).reserve(bytes);
}

void write_region(const std::filesystem::path& path, Index begin, Index bytes) {
  // Not zeros, which some file systems leave out.
  std::string piece(static_cast<std::size_t>(kWrittenPiece), '\0');
  for (std::size_t i = 0; i < piece.size(); ++i) {
    piece[i] = static_cast<char>((i * 2654435761U) >> 13);
  }
  PosixFile file(path, PosixFile::Mode::modify);
  for (Index at = 0; at < bytes; at += kWrittenPiece) {
    file.write(begin + at, piece.data(), std::min(kWrittenPiece, bytes - at));
  }
  file.sync();
}

/// Measures one way of writing: who makes which files, and where each writer writes.
class Round {
 public:
  Round(const IoBench& bench, bool shared) : bench_(bench), shared_(shared) {}

  double run() const {
    const Index first = bench_.rank * bench_.threads;
    if (shared_ && bench_.rank == 0) {
      make_file(file_of(0), bench_.bytes_per_writer * bench_.ranks * bench_.threads);
    }
    for (Index i = 0; !shared_ && i < bench_.threads; ++i) {
      make_file(file_of(first + i), bench_.bytes_per_writer);
    }
    bench_.barrier();
    const Timer timer;
    write_all(first);
    bench_.barrier();
    const double seconds = timer.seconds();
    for (Index i = 0; i < bench_.threads; ++i) {
      std::error_code ignored;
      std::filesystem::remove(file_of(first + i), ignored);
    }
    bench_.barrier();
    return seconds;
  }

 private:
  std::filesystem::path file_of(Index writer) const {
    return bench_.folder / ("io-bench." + (shared_ ? "shared" : std::to_string(writer)));
  }

  void write_all(Index first) const {
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(bench_.threads));
    {
      std::vector<std::jthread> writers;
      for (Index i = 0; i < bench_.threads; ++i) {
        writers.emplace_back([&, i] {
          try {
            const Index begin = shared_ ? (first + i) * bench_.bytes_per_writer : 0;
            write_region(file_of(first + i), begin, bench_.bytes_per_writer);
          } catch (...) {
            failures[static_cast<std::size_t>(i)] = std::current_exception();
          }
        });
      }
    }
    for (const std::exception_ptr& failure : failures) {
      if (failure) {
        std::rethrow_exception(failure);
      }
    }
  }

  const IoBench& bench_;
  bool shared_;
};

}  // namespace

IoTimes run_io_bench(const IoBench& bench) {
  const Round shared(bench, true), separate(bench, false);
  IoTimes times;
  for (Index i = 0; i <= bench.repetitions; ++i) {
    const double seconds_shared = shared.run();
    const double seconds_separate = separate.run();
    if (i > 0) {
      times.shared.push_back(seconds_shared);
      times.separate.push_back(seconds_separate);
    }
  }
  return times;
}

}  // namespace mpitron::checkpoint
