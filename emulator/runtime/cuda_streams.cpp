// Emulates streams, events and graphs of the CUDA runtime. Nothing runs when it is queued; whoever
// waits for a stream, an event or the device runs what lies before it (queue.h).
#include <atomic>
#include <chrono>
#include <cstring>

#include <cuda_runtime_api.h>

#include "emulator/device/devices.h"
#include "emulator/device/emulated_stream.h"
#include "emulator/device/queue.h"

using mpitron::emulator::noted;
using mpitron::emulator::RecordedTask;
using mpitron::emulator::Recording;
using mpitron::emulator::Seen;
using mpitron::emulator::stream_or_default;
using mpitron::emulator::Task;

namespace mpitron::emulator {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Queues a task, or records it where the stream captures a graph.
cudaError_t push(cudaStream_t stream, Task task) {
  if (stream->recording != nullptr) {
    Recording& recording = *stream->recording;
    Seen& seen = recording.seen[stream];
    recording.tasks.push_back({std::move(task), stream, seen});
    ++seen[stream];
  } else {
    stream->queue->push(std::move(task));
  }
  return cudaSuccess;
}

/// Breaks the recording of a stream that is asked for something a recording stream must not be
/// asked for; true where it did.
bool refused_while_recording(cudaStream_t stream) {
  if (stream->recording != nullptr) {
    stream->recording->broken = true;
  }
  return stream->recording != nullptr;
}

}  // namespace

cudaError_t push_task(cudaStream_t stream, Task task) {
  return push(stream_or_default(stream), std::move(task));
}

namespace {

/// Queues of one launch of a graph, one for each stream that recorded it: branches that nothing
/// orders run in any order, as on a GPU.
class LaunchedGraph {
 public:
  /// Begins the graph behind the tasks that `stream` holds.
  explicit LaunchedGraph(cudaStream_t stream) : begin_(stream->queue) {}

  void push(const RecordedTask& recorded) {
    Branch& branch = this->branch(recorded.stream);
    for (const auto& [other, tasks] : recorded.after) {
      std::size_t& waited = branch.waited[other];
      if (other != recorded.stream && tasks > waited) {
        const Branch& before = branches_.at(other);
        branch.queue->push(waiting_for(before.queue, before.positions[tasks - 1]));
        waited = tasks;
      }
    }
    branch.positions.push_back(branch.queue->push(recorded.task));
  }
  /// Has the stream go on when all branches have ended.
  void join(cudaStream_t stream) const {
    for (const auto& [recorder, branch] : branches_) {
      stream->queue->push(waiting_for(branch.queue, branch.queue->end()));
    }
  }

 private:
  struct Branch {
    std::shared_ptr<Queue> queue = make_queue();
    std::vector<std::uint64_t> positions;  // of its tasks
    Seen waited;                           // of others' tasks
  };
  Branch& branch(cudaStream_t recorder) {
    const auto [at, first] = branches_.try_emplace(recorder);
    if (first) {
      at->second.queue->push(waiting_for(begin_, begin_->end()));
    }
    return at->second;
  }

  const std::shared_ptr<Queue> begin_;
  std::map<cudaStream_t, Branch> branches_;
};

}  // namespace

cudaError_t enqueue(cudaStream_t stream, const char* what, std::function<bool()> attempt) {
  return push_task(stream, {what, std::move(attempt)});
}

}  // namespace mpitron::emulator

using mpitron::emulator::refused_while_recording;

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const int device = mpitron::emulator::current_device();
  if (device < 0) {
    return noted(cudaErrorNoDevice);
  }
  *stream = new CUstream_st{device, flags, priority};
  return noted(cudaSuccess);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  wait_for(stream->queue, stream->queue->end());
  delete stream;
  return noted(cudaSuccess);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = stream->priority;
  return noted(cudaSuccess);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return noted(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream = stream_or_default(stream);
  if (refused_while_recording(stream)) {
    return noted(cudaErrorStreamCaptureUnsupported);
  }
  wait_for(stream->queue, stream->queue->end());
  return noted(cudaSuccess);
}
/// Answers without running anything: whoever asks without waiting gets the same answer again, so a
/// loop that only polls never ends.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  stream = stream_or_default(stream);
  if (refused_while_recording(stream)) {
    return noted(cudaErrorStreamCaptureUnsupported);
  }
  return stream->queue->done(stream->queue->end()) ? noted(cudaSuccess) : cudaErrorNotReady;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return noted(mpitron::emulator::enqueue(stream, "host function", [function, data] {
    function(data);
    return true;
  }));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st{flags};
  return noted(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return noted(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  stream = stream_or_default(stream);
  auto seconds = std::make_shared<std::atomic<double>>(0);
  event->seconds = seconds;
  const Task reached{"event", [seconds] {
                       *seconds = mpitron::emulator::seconds_now();
                       return true;
                     }};
  event->recording = stream->recording;
  if (stream->recording != nullptr) {
    event->seen = stream->recording->seen[stream];
    return noted(cudaSuccess);
  }
  event->queue = stream->queue;
  event->position = stream->queue->push(reached);
  return noted(cudaSuccess);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
/// Orders a stream behind an event. While the event's stream records, the waiting stream joins the
/// recording, which is how a graph gets branches.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  stream = stream_or_default(stream);
  if (event->recording != nullptr) {
    if (stream->recording != nullptr && stream->recording != event->recording) {
      return noted(cudaErrorStreamCaptureMerge);
    }
    stream->recording = event->recording;
    Seen& seen = stream->recording->seen[stream];
    for (const auto& [other, tasks] : event->seen) {
      seen[other] = std::max(seen[other], tasks);
    }
    return noted(cudaSuccess);
  }
  if (stream->recording != nullptr) {
    stream->recording->broken = true;
    return noted(cudaErrorStreamCaptureIsolation);
  }
  if (event->queue == nullptr || event->queue == stream->queue) {
    return noted(cudaSuccess);
  }
  return noted(mpitron::emulator::push(
      stream, mpitron::emulator::waiting_for(event->queue, event->position)));
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event->recording != nullptr) {
    return noted(cudaErrorCapturedEvent);
  }
  if (event->queue != nullptr) {
    wait_for(event->queue, event->position);
  }
  return noted(cudaSuccess);
}
/// Answers without running anything; see cudaStreamQuery.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event->recording != nullptr) {
    return noted(cudaErrorCapturedEvent);
  }
  const bool done = event->queue == nullptr || event->queue->done(event->position);
  return done ? noted(cudaSuccess) : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (((begin->flags | end->flags) & cudaEventDisableTiming) != 0 || begin->queue == nullptr ||
      end->queue == nullptr) {
    return noted(cudaErrorInvalidResourceHandle);
  }
  if (!begin->queue->done(begin->position) || !end->queue->done(end->position)) {
    return cudaErrorNotReady;
  }
  *milliseconds = static_cast<float>((*end->seconds - *begin->seconds) * 1e3);
  return noted(cudaSuccess);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (stream == nullptr) {
    return noted(cudaErrorStreamCaptureUnsupported);
  }
  if (stream->recording != nullptr) {
    return noted(cudaErrorIllegalState);
  }
  stream->recording = std::make_shared<Recording>();
  stream->recording->origin = stream;
  stream->recording->relaxed = mode == cudaStreamCaptureModeRelaxed;
  mpitron::emulator::recording_begins(stream->recording->relaxed);
  return noted(cudaSuccess);
}
/// Ends a recording; branches that have not come back to the origin are an error, as in CUDA.
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (stream->recording == nullptr) {
    return noted(cudaErrorIllegalState);
  }
  const std::shared_ptr<Recording> recording = stream->recording;
  if (recording->origin != stream) {
    return noted(cudaErrorStreamCaptureUnmatched);
  }
  mpitron::emulator::recording_ends(recording->relaxed);
  Seen& joined = recording->seen[stream];
  bool unjoined = false;
  for (auto& [other, seen] : recording->seen) {
    unjoined |= joined[other] < seen[other];
    other->recording = nullptr;
  }
  stream->recording = nullptr;
  if (recording->broken || unjoined) {
    return noted(recording->broken ? cudaErrorStreamCaptureInvalidated
                                   : cudaErrorStreamCaptureUnjoined);
  }
  *graph = new CUgraph_st{recording->tasks};
  return noted(cudaSuccess);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Recording* recording = stream == nullptr ? nullptr : stream->recording.get();
  *status = recording == nullptr ? cudaStreamCaptureStatusNone
            : recording->broken  ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
  return noted(cudaSuccess);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = new CUgraphExec_st{graph->tasks};
  return noted(cudaSuccess);
}
/// Updates a graph where the new one has the same tasks in the same order; else the caller must
/// instantiate it again.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  const auto same = [](const RecordedTask& a, const RecordedTask& b) {
    return a.task.kernel == b.task.kernel && std::strcmp(a.task.what, b.task.what) == 0;
  };
  if (!std::equal(executable->tasks.begin(), executable->tasks.end(), graph->tasks.begin(),
                  graph->tasks.end(), same)) {
    result->result = cudaGraphExecUpdateErrorTopologyChanged;
    return noted(cudaErrorGraphExecUpdateFailure);
  }
  result->result = cudaGraphExecUpdateSuccess;
  executable->tasks = graph->tasks;
  return noted(cudaSuccess);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  stream = stream_or_default(stream);
  if (refused_while_recording(stream)) {
    return noted(cudaErrorStreamCaptureUnsupported);
  }
  mpitron::emulator::LaunchedGraph launched(stream);
  for (const RecordedTask& task : executable->tasks) {
    launched.push(task);
  }
  launched.join(stream);
  return noted(cudaSuccess);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  *count = graph->tasks.size();
  return noted(cudaSuccess);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return noted(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return noted(cudaSuccess);
}
