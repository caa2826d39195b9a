#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "emulator/device/emulated_stream.h"

namespace mpitron::emulator {
namespace cuda_streams_test {

/// A stream that nobody else uses. It ends with what it holds: what that writes to outlives it.
class Stream {
 public:
  Stream() { cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking); }
  ~Stream() { cudaStreamDestroy(handle_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

class Event {
 public:
  Event() { cudaEventCreate(&handle_); }
  ~Event() { cudaEventDestroy(handle_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

void append(cudaStream_t stream, std::vector<int>& list, int number) {
  enqueue(stream, "append", [&list, number] {
    list.push_back(number);
    return true;
  });
}

TEST(CudaStreams, NothingRunsBeforeSomebodyWaits) {
  std::vector<int> list;
  Stream stream;
  Event event;
  append(stream, list, 1);
  cudaEventRecord(event, stream);
  append(stream, list, 2);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(list, std::vector<int>());
  cudaEventSynchronize(event);
  EXPECT_EQ(list, std::vector<int>({1}));
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  cudaStreamSynchronize(stream);
  EXPECT_EQ(list, std::vector<int>({1, 2}));
}

TEST(CudaStreams, EventsOrderStreams) {
  std::vector<int> list;
  Stream first, second;
  Event event;
  append(first, list, 1);
  cudaEventRecord(event, first);
  append(first, list, 9);
  cudaStreamWaitEvent(second, event, 0);
  append(second, list, 2);
  cudaStreamSynchronize(second);
  EXPECT_EQ(list, std::vector<int>({1, 2}));
}

TEST(CudaStreams, WhatCannotRunYetLetsOthersGoOn) {
  std::vector<int> list;
  Stream first, second;
  enqueue(first, "waits for another", [&list] { return !list.empty(); });
  append(second, list, 1);
  cudaStreamSynchronize(first);
  EXPECT_EQ(list, std::vector<int>({1}));
}

TEST(CudaStreams, WhatNeedsAnotherThreadWaitsForIt) {
  std::atomic<bool> there{false};
  Stream first;
  enqueue(first, "waits for a thread", [&there] { return there.load(); });
  std::thread other([&there] { there = true; });
  cudaStreamSynchronize(first);
  EXPECT_TRUE(there);
  other.join();
}

TEST(CudaStreams, AGraphRunsAsOftenAsItIsLaunched) {
  std::vector<int> list;
  Stream stream, side;
  Event fork, join;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  append(stream, list, 1);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  append(side, list, 2);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(stream, join, 0);
  append(stream, list, 3);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(list, std::vector<int>());
  cudaGraphLaunch(executable, stream);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  EXPECT_EQ(list, std::vector<int>({1, 2, 3, 1, 2, 3}));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST(CudaStreams, WhatARecordingDoesNotAllow) {
  std::vector<int> list;
  Stream stream, side;
  Event fork, before;
  cudaGraph_t graph = nullptr;
  cudaEventRecord(before, side);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 8), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);

  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  append(side, list, 1);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);

  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(cudaStreamWaitEvent(stream, before, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  cudaStreamSynchronize(side);
  EXPECT_EQ(list, std::vector<int>());
}

TEST(CudaStreams, TimeBetweenEventsIsKnownWhenBothHaveRun) {
  Stream stream;
  Event begin, end;
  float milliseconds = -1;
  cudaEventRecord(begin, stream);
  cudaEventRecord(end, stream);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorNotReady);
  cudaStreamSynchronize(stream);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
}

}  // namespace cuda_streams_test
}  // namespace mpitron::emulator
