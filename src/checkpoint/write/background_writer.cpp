#include "checkpoint/write/background_writer.h"

#include "checkpoint/plan/agreement.h"
#include "comm/groups/stream_copy.h"
#include "utils/timer.h"

// The thread of a save: copies, hashes, writes and syncs, while training goes on.

namespace mpitron::checkpoint {
namespace {

/// Bytes after which the disk is told to begin: it writes while the next bytes are hashed, instead
/// of at the end.
constexpr Index kBeginWriting = Index{32} << 20;

}  // namespace

BackgroundWriter::BackgroundWriter(FileScheme& scheme, Trace* trace)
    : scheme_(scheme), trace_(trace), thread_([this] { run(); }) {}

BackgroundWriter::~BackgroundWriter() {
  cancel();
  close();
  thread_.join();
}

void BackgroundWriter::copy(std::shared_ptr<CopyQueue> copies) {
  const std::lock_guard lock(mutex_);
  copies_ = std::move(copies);
  changed_.notify_one();
}

void BackgroundWriter::push(const std::vector<Job>& jobs) {
  const std::lock_guard lock(mutex_);
  jobs_.insert(jobs_.end(), jobs.begin(), jobs.end());
  changed_.notify_one();
}

void BackgroundWriter::start(std::string created) {
  const std::lock_guard lock(mutex_);
  created_ = std::move(created);
  started_ = true;
  changed_.notify_one();
}

void BackgroundWriter::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = !started_;
  changed_.notify_one();
}

void BackgroundWriter::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

void BackgroundWriter::do_copies() {
  std::shared_ptr<CopyQueue> copies;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return copies_ != nullptr || started_ || cancelled_; });
    copies = copies_;
  }
  if (copies != nullptr) {
    copies->finish();
  }
}

bool BackgroundWriter::next(Job& job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [this] { return (started_ || cancelled_) && (taken_ < jobs_.size() || closed_); });
  if (taken_ == jobs_.size()) {
    return false;
  }
  job = jobs_[taken_++];
  return true;
}

void BackgroundWriter::run() {
  do_copies();
  Job job;
  bool more = next(job);
  const Timer timer;
  const TraceScope scope(more ? trace_ : nullptr, TraceKind::background, "write checkpoint");
  error_ = error_of([&] {
    if (more && started_) {
      write_all(job, more);
      closed_text_ = scheme_.close(std::move(extents_));
    }
  });
  for (; more; more = next(job)) {  // whoever fills the ring waits for room
    release(job);
  }
  seconds_ = timer.seconds();
  done_.store(true, std::memory_order_release);
}

void BackgroundWriter::write_all(Job& job, bool& more) {
  const WriterTarget target = scheme_.open(created_);
  PosixFile file(target.path, PosixFile::Mode::modify);
  for (; more; more = next(job)) {
    write(file, target, job);
    release(job);
  }
  file.sync();
}

void BackgroundWriter::write(PosixFile& file, const WriterTarget& target, const Job& job) {
  const Index offset = place_of(target.ranges, job.data_set, job.offset);
  extents_.push_back(
      {offset, job.bytes,
       hash128({reinterpret_cast<const char*>(job.data), static_cast<std::size_t>(job.bytes)})});
  file.write(offset, job.data, job.bytes);
  unsynced_ += job.bytes;
  if (unsynced_ >= kBeginWriting) {
    file.begin_sync();
    unsynced_ = 0;
  }
}

void BackgroundWriter::release(const Job& job) {
  if (job.ring != nullptr) {
    job.ring->release(job.block);
  }
}

void CopyQueue::work() {
  for (std::size_t i = next_++; i < copies_.size(); i = next_++) {
    const Copy& copy = copies_[i];
    comm::stream_copy(copy.to, copy.from, copy.bytes);
    if (done_.fetch_add(1, std::memory_order_release) + 1 == copies_.size()) {
      done_.notify_all();
    }
  }
}

/// Others may still be at copies that they have begun: their number tells.
void CopyQueue::finish() {
  work();
  for (std::size_t done = done_.load(std::memory_order_acquire); done < copies_.size();
       done = done_.load(std::memory_order_acquire)) {
    done_.wait(done, std::memory_order_acquire);
  }
}

}  // namespace mpitron::checkpoint
