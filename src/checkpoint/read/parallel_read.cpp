#include "checkpoint/read/parallel_read.h"

#include <algorithm>
#include <mutex>
#include <span>

#include "checkpoint/format/on_all_cores.h"
#include "checkpoint/format/stored_bytes.h"
#include "checkpoint/read/read_tasks.h"

// Reads a rank's parts of a file on all cores, as fast as the disk gives them, and checks what it
// reads whole against its hashes.

namespace mpitron::checkpoint {
namespace {

/// Returns the first extent that ends behind this byte of the file.
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
      : file_(file), order_(order) {
    outcome_.extents.resize(file.extents().size(), ExtentUse::unused);
    for (const ReadRequest& request : requests) {
      cut(request);
    }
    std::ranges::stable_sort(tasks_, {}, &ReadTask::offset);
  }

  /// Reads everything. Each core reads one stretch of the file from front to back with a descriptor
  /// of its own: that is what the system reads ahead of. Reads that hop, or share a descriptor, it
  /// takes for random.
  ReadOutcome run() {
    const std::vector<std::span<ReadTask>> stretches =
        make_stretches(tasks_, usable_cores(), order_.begin);
    on_all_cores(static_cast<Index>(stretches.size()), [&](Index i) {
      const StoredBytes stored(file_.storage());
      for (const ReadTask& task : stretches[static_cast<std::size_t>(i)]) {
        read(task, stored);
      }
    });
    return std::move(outcome_);
  }

 private:
  /// Cuts a request into tasks: a contiguous one at the bounds of extents, so that whole ones can
  /// be checked; others into pieces of equal size.
  void cut(const ReadRequest& request) {
    const Index size = element_bytes(request), base = request.data_set.offset;
    const Index step = std::max<Index>(1, order_.read_bytes / size);
    const bool contiguous = request.map.rows == 1 && request.map.columns.size() == 1;
    Index offset = 0;  // in the file, of element 0 of a contiguous shard
    Index last = request.end;
    request.map.for_each_run(request.begin, request.end, [&](Index global, Index local, Index n) {
      offset = base + (global - local) * size;
      last = contiguous ? local + std::clamp<Index>(request.limit - global, 0, n) : last;
      mark(base + global * size, base + std::min(global + n, request.limit) * size);
    });
    for (Index begin = request.begin; begin < last;) {
      ReadTask task{&request, begin, std::min(last, begin + step)};
      request.map.for_each_run(begin, begin + 1, [&](Index global, Index, Index) {
        task.offset = base + global * size;
      });
      const std::size_t i =
          contiguous ? extent_at(file_.extents(), task.offset) : file_.extents().size();
      if (i < file_.extents().size()) {
        const Extent& extent = file_.extents()[i];
        const Index end = (extent.offset + extent.bytes - offset) / size;
        const bool whole = extent.offset == task.offset && end <= last &&
                           end * size + offset == extent.offset + extent.bytes;
        task.end = whole ? end : std::min(task.end, std::max(end, begin + 1));
        task.extent = whole ? static_cast<Index>(i) : kNoExtent;
      }
      begin = task.end;
      tasks_.push_back(task);
    }
  }

  /// Notes the extents that these bytes have a part of.
  void mark(Index begin, Index end) {
    for (std::size_t i = extent_at(file_.extents(), begin);
         i < file_.extents().size() && file_.extents()[i].offset < end; ++i) {
      outcome_.extents[i] = std::max(outcome_.extents[i], ExtentUse::used);
    }
  }

  /// Reads a task to its place, by way of scratch memory where the type changes. Elements behind
  /// the request's limit are left out.
  void read(const ReadTask& task, const StoredBytes& stored) {
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
      stored.read(request.data_set.offset + global * size, raw, bytes);
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
  const ReadOrder order_;
  std::vector<ReadTask> tasks_;
  std::mutex mutex_;
  ReadOutcome outcome_;
};

}  // namespace

ReadOutcome parallel_read(const File& file, const std::vector<ReadRequest>& requests,
                          const ReadOrder& order) {
  return Reading(file, requests, order).run();
}

}  // namespace mpitron::checkpoint
