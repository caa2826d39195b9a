#include "checkpoint/background_writer.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "utils/timer.h"

namespace mpitron::checkpoint {
namespace {

/// The disk begins to write while the next bytes are hashed, instead of at the end.
constexpr Index kBeginWriting = Index{32} << 20;

const char* advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; make room there or choose another --save";
    case EFBIG:
      return "; raise the limit of file sizes (ulimit -f)";
    default:
      return "";
  }
}

}  // namespace

BackgroundWriter::BackgroundWriter(std::filesystem::path path)
    : path_(std::move(path)), thread_([this] { run(); }) {}

BackgroundWriter::~BackgroundWriter() {
  close();
  thread_.join();
}

void BackgroundWriter::push(const std::vector<Job>& jobs) {
  const std::lock_guard lock(mutex_);
  jobs_.insert(jobs_.end(), jobs.begin(), jobs.end());
  changed_.notify_one();
}

void BackgroundWriter::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

bool BackgroundWriter::next(Job& job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return taken_ < jobs_.size() || closed_; });
  if (taken_ == jobs_.size()) {
    return false;
  }
  job = jobs_[taken_++];
  return true;
}

void BackgroundWriter::run() {
  Job job;
  bool more = next(job);
  const Timer timer;
  if (more) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      fail("cannot be opened");
    }
  }
  for (; more; more = next(job)) {
    if (error_.empty()) {
      write(job);
    }
    if (job.ring != nullptr) {
      job.ring->release(job.block);
    }
  }
  if (descriptor_ >= 0) {
    if (error_.empty() && ::fdatasync(descriptor_) != 0) {
      fail("cannot be brought to the disk");
    }
    if (::close(descriptor_) != 0 && error_.empty()) {
      fail("cannot be closed");
    }
  }
  seconds_ = timer.seconds();
  done_.store(true, std::memory_order_release);
}

void BackgroundWriter::write(const Job& job) {
  extents_.push_back(
      {job.offset, job.bytes,
       hash128({reinterpret_cast<const char*>(job.data), static_cast<std::size_t>(job.bytes)})});
  for (Index done = 0; done < job.bytes;) {
    const ssize_t written = ::pwrite(descriptor_, job.data + done,
                                     static_cast<std::size_t>(job.bytes - done), job.offset + done);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return fail(fmt::format("cannot be written at byte {}", job.offset + done));
    }
    done += written;
  }
  unsynced_ += job.bytes;
  if (unsynced_ >= kBeginWriting) {
    ::sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE);
    unsynced_ = 0;
  }
}

void BackgroundWriter::fail(const std::string& what) {
  error_ = fmt::format("checkpoint {} {}: {}{}", path_.string(), what, std::strerror(errno),
                       advice(errno));
}

}  // namespace mpitron::checkpoint
