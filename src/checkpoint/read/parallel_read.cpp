#include "checkpoint/read/parallel_read.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>

#include "checkpoint/format/on_all_cores.h"
#include "checkpoint/format/stored_bytes.h"

// Reads a rank's parts of a file on all cores, as fast as the disk gives them, and checks what it
// reads whole against its hashes.

namespace mpitron::checkpoint {
namespace {

constexpr Index kNoExtent = -1;

/// A read: elements [begin, end) of the shard of a request.
struct Task {
  const ReadRequest* request;
  Index begin, end;
  Index offset = 0;          // of the first, in the file
  Index extent = kNoExtent;  // these are all of its bytes
};

Index element_bytes(const ReadRequest& request) {
  return static_cast<Index>(size_of(request.data_set.dtype));
}

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
    std::ranges::stable_sort(tasks_, {}, &Task::offset);
  }

  /// Reads everything. Each core reads one stretch of the file from front to back with a descriptor
  /// of its own: that is what the system reads ahead of. Reads that hop, or share a descriptor, it
  /// takes for random.
  ReadOutcome run() {
    const std::vector<std::span<Task>> stretches = make_stretches(usable_cores());
    on_all_cores(static_cast<Index>(stretches.size()), [&](Index i) {
      const StoredBytes stored(file_.storage());
      for (const Task& task : stretches[static_cast<std::size_t>(i)]) {
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
      Task task{&request, begin, std::min(last, begin + step)};
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

  /// Returns the tasks cut into at most `count` runs of about as many bytes each, of which each
  /// begins at the order's place.
  std::vector<std::span<Task>> make_stretches(Index count) {
    const auto bytes_of = [](const Task& task) {
      return (task.end - task.begin) * element_bytes(*task.request);
    };
    Index total = 0;
    for (const Task& task : tasks_) {
      total += bytes_of(task);
    }
    std::vector<std::span<Task>> stretches;
    Index before = 0;
    for (std::size_t first = 0; first < tasks_.size();) {
      const Index limit = (static_cast<Index>(stretches.size()) + 1) * total / count;
      std::size_t last = first;
      do {
        before += bytes_of(tasks_[last++]);
      } while (last < tasks_.size() && before < limit);
      const std::span<Task> stretch(tasks_.data() + first, last - first);
      const double start = order_.begin * static_cast<double>(stretch.size());
      std::ranges::rotate(stretch, stretch.begin() + static_cast<std::ptrdiff_t>(start));
      stretches.push_back(stretch);
      first = last;
    }
    return stretches;
  }

  /// Reads a task to its place, by way of scratch memory where the type changes. Elements behind
  /// the request's limit are left out.
  void read(const Task& task, const StoredBytes& stored) {
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
  std::vector<Task> tasks_;
  std::mutex mutex_;
  ReadOutcome outcome_;
};

bool trains(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16;
}

template <class From, class To>
void convert(const std::byte* from, To* to, Index count) {
  for (Index i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * static_cast<Index>(sizeof value), sizeof value);
    to[i] = static_cast<To>(static_cast<float>(value));
  }
}

}  // namespace

ReadOutcome parallel_read(const File& file, const std::vector<ReadRequest>& requests,
                          const ReadOrder& order) {
  return Reading(file, requests, order).run();
}

bool convertible(DType from, DType to) {
  return from == to || (trains(from) && trains(to));
}

void convert_elements(const void* from, DType from_type, void* to, DType to_type, Index count) {
  if (from_type == to_type) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * size_of(to_type));
    return;
  }
  visit_dtype(from_type, [&]<class From>() {
    visit_dtype(to_type, [&]<class To>() {
      convert<From>(static_cast<const std::byte*>(from), static_cast<To*>(to), count);
    });
  });
}

}  // namespace mpitron::checkpoint
