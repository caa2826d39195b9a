#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "checkpoint/format/posix_file.h"
#include "checkpoint/write/file_scheme.h"
#include "checkpoint/write/staging_ring.h"
#include "utils/numbers/shape.h"
#include "utils/trace.h"

namespace mpitron::checkpoint {

/// A queue of copies past the caches that several threads share out among themselves: one begins
/// beside training, and whoever needs them done helps.
class CopyQueue {
 public:
  struct Copy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    Index bytes = 0;
  };

  explicit CopyQueue(std::vector<Copy> copies) : copies_(std::move(copies)) {}

  /// Copies until none is left to begin.
  void work();
  /// Helps, and returns when all are done, whoever does them.
  void finish();

 private:
  const std::vector<Copy> copies_;
  std::atomic<std::size_t> next_ = 0, done_ = 0;
};

/// A thread that copies what it is given, hashes bytes, writes them to their place in the file that
/// the scheme gives it, and at last brings them to the disk. Writing waits for `start`. After a
/// failure it only empties the queue.
class BackgroundWriter {
 public:
  struct Job {
    const std::byte* data = nullptr;  // stays until the job is done
    Index bytes = 0;
    Index data_set = 0;
    Index offset = 0;             // in the data set
    StagingRing* ring = nullptr;  // gets the block back, if not null
    StagingRing::Block block = {};
  };

  /// `trace`: gets the time from the first job to the end, if not null.
  explicit BackgroundWriter(FileScheme& scheme, Trace* trace = nullptr);
  /// Waits for the thread; what was not started is not written.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// Gives the copies that the thread makes before it does anything else; others may help, or wait.
  void copy(std::shared_ptr<CopyQueue> copies);
  /// Appends jobs; their data stay where they are until they are done.
  void push(const std::vector<Job>& jobs);
  /// Lets writing begin: the folder is there; `created` is what the scheme said of it.
  void start(std::string created);
  /// Tells that nothing is to be written, now or later.
  void cancel();
  /// Tells that no more jobs will come.
  void close();

  /// Returns whether every job is done and on the disk, or something failed; the rest may be read
  /// then.
  bool done() const { return done_.load(std::memory_order_acquire); }
  const std::string& error() const { return error_; }
  /// Returns what the scheme says of what was written; an empty text where nothing was.
  const std::string& closed_text() const { return closed_text_; }
  double seconds() const { return seconds_; }  // of work, since the first job

 private:
  void run();
  void do_copies();
  bool next(Job& job);
  void write_all(Job& job, bool& more);
  void write(PosixFile& file, const WriterTarget& target, const Job& job);
  static void release(const Job& job);

  FileScheme& scheme_;
  Trace* trace_;
  std::string error_;
  std::string closed_text_;
  std::vector<Extent> extents_;
  double seconds_ = 0;
  Index unsynced_ = 0;  // bytes since the disk was last told to begin

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> jobs_;
  std::shared_ptr<CopyQueue> copies_;
  std::string created_;
  std::size_t taken_ = 0;
  bool started_ = false, closed_ = false, cancelled_ = false;
  std::atomic<bool> done_ = false;
  std::thread thread_;  // last: it uses all others
};

}  // namespace mpitron::checkpoint
