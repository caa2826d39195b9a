#include "checkpoint/parallel_read.h"

#include <algorithm>
#include <atomic>

#include "checkpoint/convert_elements.h"
#include "checkpoint/on_all_cores.h"
#include "checkpoint/posix_file.h"

namespace mpitron::checkpoint {
namespace {

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

/// The disk begins with all of it; several threads' reads would look random to it.
void request_ahead(const PosixFile& file, const Task& task) {
  const ReadRequest& request = *task.request;
  if (request.map.rows == 1) {
    const auto element = static_cast<Index>(size_of(request.data_set.dtype));
    request.map.for_each_run(task.begin, task.end, [&](Index global, Index, Index count) {
      file.begin_read(request.data_set.offset + global * element, count * element);
    });
  }
}

/// Returns the bytes read.
Index read_task(const PosixFile& file, const Task& task) {
  const ReadRequest& request = *task.request;
  request_ahead(file, task);
  const auto element = static_cast<Index>(size_of(request.data_set.dtype));
  std::vector<std::byte> scratch;
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
      file.read(offset, to, count * element);
      return;
    }
    scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(count * element)));
    file.read(offset, scratch.data(), count * element);
    convert_elements(scratch.data(), request.data_set.dtype, to, request.dtype, count);
  });
  return total;
}

}  // namespace

Index parallel_read(const std::filesystem::path& path, const std::vector<ReadRequest>& requests,
                    const ReadOrder& order) {
  const PosixFile file(path, PosixFile::Mode::read);
  const std::vector<Task> tasks = cut_into_tasks(requests, order.read_bytes);
  std::atomic<Index> total = 0;
  on_all_cores(static_cast<Index>(tasks.size()),
               [&](Index i) { total += read_task(file, tasks[static_cast<std::size_t>(i)]); });
  return total;
}

}  // namespace mpitron::checkpoint
