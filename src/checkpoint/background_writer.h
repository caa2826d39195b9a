#pragma once
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "checkpoint/copy_queue.h"
#include "checkpoint/file.h"
#include "checkpoint/posix_file.h"
#include "checkpoint/staging_ring.h"
#include "utils/trace.h"

namespace mpitron::checkpoint {

/// A thread that copies what it is given, hashes bytes, writes them to their place in one file, and
/// at last brings them to the disk. Writing waits for `start`: until then the file need not exist.
/// After a failure it only empties the queue.
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
  explicit BackgroundWriter(std::filesystem::path path, Trace* trace = nullptr);
  /// Waits for the thread; what was not started is not written.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// What the thread copies before it does anything else; others may help, or wait.
  void copy(std::shared_ptr<CopyQueue> copies);
  void push(const std::vector<Job>& jobs);
  /// The file is there, and its data sets begin at these bytes.
  void start(std::vector<Index> data_set_offsets);
  /// Nothing is to be written, now or later.
  void cancel();
  /// No more jobs will come.
  void close();

  /// Every job is done and on the disk, or something failed; the rest may be read then.
  bool done() const { return done_.load(std::memory_order_acquire); }
  const std::string& error() const { return error_; }
  const std::vector<Extent>& extents() const { return extents_; }
  double seconds() const { return seconds_; }  // of work, since the first job

 private:
  void run();
  void do_copies();
  bool next(Job& job);
  void write(PosixFile& file, const Job& job);
  static void release(const Job& job);

  std::filesystem::path path_;
  Trace* trace_;
  std::string error_;
  std::vector<Extent> extents_;
  double seconds_ = 0;
  Index unsynced_ = 0;  // bytes since the disk was last told to begin

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> jobs_;
  std::shared_ptr<CopyQueue> copies_;
  std::vector<Index> data_set_offsets_;
  std::size_t taken_ = 0;
  bool started_ = false, closed_ = false, cancelled_ = false;
  std::atomic<bool> done_ = false;
  std::thread thread_;  // last: it uses all others
};

}  // namespace mpitron::checkpoint
