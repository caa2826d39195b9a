#include "checkpoint/parallel_read.h"

#include <algorithm>
#include <mutex>

#include "checkpoint/convert_elements.h"
#include "checkpoint/on_all_cores.h"
#include "checkpoint/stored_bytes.h"

namespace mpitron::checkpoint {
namespace {

/// How many tasks the disk knows of before their turn.
constexpr Index kTasksAhead = 8;
constexpr Index kNoExtent = -1;

/// Elements [begin, end) of the shard of a request.
struct Task {
  const ReadRequest* request;
  Index begin, end;
  Index extent = kNoExtent;  // these are all of its bytes
};

Index element_bytes(const ReadRequest& request) {
  return static_cast<Index>(size_of(request.data_set.dtype));
}

/// The first extent that ends behind this byte of the file.
std::size_t extent_at(const std::vector<Extent>& extents, Index offset) {
  return static_cast<std::size_t>(std::partition_point(extents.begin(), extents.end(),
                                                       [offset](const Extent& extent) {
                                                         return extent.offset + extent.bytes <=
                                                                offset;
                                                       }) -
                                  extents.begin());
}

class Reading {
 public:
  Reading(const File& file, const std::vector<ReadRequest>& requests, const ReadOrder& order)
      : file_(file), stored_(file.storage()), order_(order) {
    outcome_.extents.resize(file.extents().size(), ExtentUse::unused);
    for (const ReadRequest& request : requests) {
      cut(request);
    }
    std::rotate(tasks_.begin(),
                tasks_.begin() +
                    static_cast<std::ptrdiff_t>(order.begin * static_cast<double>(tasks_.size())),
                tasks_.end());
  }

  ReadOutcome run() {
    const auto count = static_cast<Index>(tasks_.size());
    for (Index i = 0; i < std::min(kTasksAhead, count); ++i) {
      request_ahead(tasks_[static_cast<std::size_t>(i)]);
    }
    on_all_cores(count, [&](Index i) {
      if (i + kTasksAhead < count) {
        request_ahead(tasks_[static_cast<std::size_t>(i + kTasksAhead)]);
      }
      read(tasks_[static_cast<std::size_t>(i)]);
    });
    return std::move(outcome_);
  }

 private:
  /// Contiguous requests at the bounds of extents, so that whole ones can be checked; others into
  /// pieces of equal size.
  void cut(const ReadRequest& request) {
    const Index size = element_bytes(request);
    const Index step = std::max<Index>(1, order_.read_bytes / size);
    const bool contiguous = request.map.rows == 1 && request.map.columns.size() == 1;
    Index offset = 0;  // in the file, of element 0 of a contiguous shard
    Index last = request.end;
    request.map.for_each_run(request.begin, request.end, [&](Index global, Index local, Index n) {
      offset = request.data_set.offset + (global - local) * size;
      last = contiguous ? local + std::clamp<Index>(request.limit - global, 0, n) : last;
      mark(request.data_set.offset + global * size,
           request.data_set.offset + std::min(global + n, request.limit) * size);
    });
    for (Index begin = request.begin; begin < last;) {
      Task task{&request, begin, std::min(last, begin + step)};
      const std::size_t i =
          contiguous ? extent_at(file_.extents(), offset + begin * size) : file_.extents().size();
      if (i < file_.extents().size()) {
        const Extent& extent = file_.extents()[i];
        const Index end = (extent.offset + extent.bytes - offset) / size;
        const bool whole = extent.offset == offset + begin * size && end <= last &&
                           end * size + offset == extent.offset + extent.bytes;
        task.end = whole ? end : std::min(task.end, std::max(end, begin + 1));
        task.extent = whole ? static_cast<Index>(i) : kNoExtent;
      }
      begin = task.end;
      tasks_.push_back(task);
    }
  }

  void mark(Index begin, Index end) {
    for (std::size_t i = extent_at(file_.extents(), begin);
         i < file_.extents().size() && file_.extents()[i].offset < end; ++i) {
      outcome_.extents[i] = std::max(outcome_.extents[i], ExtentUse::used);
    }
  }

  /// The disk begins with all of it; several threads' reads would look random to it.
  void request_ahead(const Task& task) const {
    const ReadRequest& request = *task.request;
    if (request.map.rows == 1) {
      const Index size = element_bytes(request);
      request.map.for_each_run(task.begin, task.end, [&](Index global, Index, Index count) {
        stored_.begin_read(request.data_set.offset + global * size, count * size);
      });
    }
  }

  void read(const Task& task) {
    const ReadRequest& request = *task.request;
    const Index size = element_bytes(request);
    std::vector<std::byte> scratch;
    Index total = 0;
    bool damaged = false;
    request.map.for_each_run(task.begin, task.end, [&](Index global, Index local, Index count) {
      count = std::min(count, request.limit - global);
      if (count <= 0) {
        return;
      }
      const Index bytes = count * size;
      std::byte* const to = static_cast<std::byte*>(request.to) +
                            (local - request.begin) * static_cast<Index>(size_of(request.dtype));
      const bool converts = request.dtype != request.data_set.dtype;
      if (converts) {
        scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(bytes)));
      }
      std::byte* const raw = converts ? scratch.data() : to;
      stored_.read(request.data_set.offset + global * size, raw, bytes);
      damaged = damaged || (task.extent != kNoExtent && !is_intact(task.extent, raw, bytes));
      if (converts) {
        convert_elements(raw, request.data_set.dtype, to, request.dtype, count);
      }
      total += bytes;
    });
    const std::lock_guard lock(mutex_);
    outcome_.bytes += total;
    if (task.extent != kNoExtent) {
      outcome_.extents[static_cast<std::size_t>(task.extent)] = ExtentUse::verified;
    }
    if (damaged) {
      outcome_.damaged.push_back(task.extent);
    }
  }

  bool is_intact(Index extent, const std::byte* data, Index bytes) const {
    return hash128({reinterpret_cast<const char*>(data), static_cast<std::size_t>(bytes)}) ==
           file_.extents()[static_cast<std::size_t>(extent)].hash;
  }

  const File& file_;
  const StoredBytes stored_;
  const ReadOrder order_;
  std::vector<Task> tasks_;
  std::mutex mutex_;
  ReadOutcome outcome_;
};

}  // namespace

ReadOutcome parallel_read(const File& file, const std::vector<ReadRequest>& requests,
                          const ReadOrder& order) {
  return Reading(file, requests, order).run();
}

}  // namespace mpitron::checkpoint
