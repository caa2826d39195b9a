#include "checkpoint/parallel_read.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "checkpoint/convert_elements.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace {

class Input {
 public:
  explicit Input(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) {
      throw_data("checkpoint {} cannot be opened: {}", path_.string(), std::strerror(errno));
    }
  }
  ~Input() { ::close(descriptor_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  void read(void* to, Index bytes, Index offset) const {
    for (Index done = 0; done < bytes;) {
      const ssize_t got = ::pread(descriptor_, static_cast<std::byte*>(to) + done,
                                  static_cast<std::size_t>(bytes - done), offset + done);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        throw_data("checkpoint {} cannot be read at byte {}: {}", path_.string(), offset + done,
                   got < 0 ? std::strerror(errno) : "the file ends there (it was cut off)");
      }
      done += got;
    }
  }

 private:
  const std::filesystem::path& path_;
  int descriptor_;
};

/// Elements [begin, end) of the shard of a request.
struct Task {
  const ReadRequest* request;
  Index begin, end;
};

std::vector<Task> cut_into_tasks(const std::vector<ReadRequest>& requests, Index read_bytes) {
  std::vector<Task> tasks;
  for (const ReadRequest& request : requests) {
    const Index step =
        std::max<Index>(1, read_bytes / static_cast<Index>(size_of(request.data_set.dtype)));
    for (Index begin = request.begin; begin < request.end; begin += step) {
      tasks.push_back({&request, begin, std::min(request.end, begin + step)});
    }
  }
  return tasks;
}

/// What one thread does; returns the bytes read.
class TaskReader {
 public:
  explicit TaskReader(const Input& input) : input_(input) {}

  Index operator()(const Task& task) {
    const ReadRequest& request = *task.request;
    const auto element = static_cast<Index>(size_of(request.data_set.dtype));
    Index total = 0;
    request.map.for_each_run(task.begin, task.end, [&](Index global, Index local, Index count) {
      count = std::min(count, request.limit - global);
      if (count <= 0) {
        return;
      }
      const Index offset = request.data_set.offset + global * element;
      std::byte* const to = static_cast<std::byte*>(request.to) +
                            (local - request.begin) * static_cast<Index>(size_of(request.dtype));
      total += count * element;
      if (request.dtype == request.data_set.dtype) {
        input_.read(to, count * element, offset);
        return;
      }
      scratch_.resize(std::max(scratch_.size(), static_cast<std::size_t>(count * element)));
      input_.read(scratch_.data(), count * element, offset);
      convert_elements(scratch_.data(), request.data_set.dtype, to, request.dtype, count);
    });
    return total;
  }

 private:
  const Input& input_;
  std::vector<std::byte> scratch_;
};

}  // namespace

Index parallel_read(const std::filesystem::path& path, const std::vector<ReadRequest>& requests,
                    const ReadOptions& options) {
  const Input input(path);
  const std::vector<Task> tasks = cut_into_tasks(requests, options.read_bytes);
  std::atomic<std::size_t> next = 0;
  std::atomic<Index> total = 0;
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&] {
    try {
      TaskReader read(input);
      for (std::size_t i = next++; i < tasks.size(); i = next++) {
        total += read(tasks[i]);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
      next = tasks.size();
    }
  };
  std::vector<std::thread> helpers;
  const auto threads = std::min<Index>(options.threads, static_cast<Index>(tasks.size()));
  for (Index i = 1; i < threads; ++i) {
    helpers.emplace_back(work);
  }
  work();
  for (std::thread& helper : helpers) {
    helper.join();
  }
  if (error != nullptr) {
    std::rethrow_exception(error);
  }
  return total;
}

}  // namespace mpitron::checkpoint
