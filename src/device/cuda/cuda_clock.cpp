// Takes times of a GPU's stream by events, and brings them to the host's clock.
#include <cmath>

#include "device/cuda/cuda_device.h"
#include "device/cuda/cuda_handles.h"
#include "device/stream_clock.h"
#include "utils/trace.h"

namespace mpitron::device {
namespace {

/// Events on the stream. Their distances from a first one, whose end the host has waited for, are
/// known to half a microsecond.
class CudaClock final : public StreamClock {
 public:
  explicit CudaClock(cudaStream_t stream) : stream_(stream) { start(); }

  void mark() override {
    if (spare_.empty()) {
      spare_.push_back(make_event(true));
    }
    check(cudaEventRecord(spare_.back().get(), stream_), "marking a moment");
    marks_.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }

  std::vector<std::int64_t> take() override {
    check(cudaStreamSynchronize(stream_), "running the queued kernels");
    std::vector<std::int64_t> times;
    for (EventHandle& mark : marks_) {
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, first_.get(), mark.get()), "reading a moment");
      times.push_back(start_ + std::llround(static_cast<double>(milliseconds) * 1e6));
      spare_.push_back(std::move(mark));
    }
    marks_.clear();
    start();
    return times;
  }

 private:
  void start() {
    check(cudaEventRecord(first_.get(), stream_), "marking a moment");
    check(cudaEventSynchronize(first_.get()), "waiting for a moment");
    start_ = Trace::now();
  }

  cudaStream_t stream_;
  EventHandle first_ = make_event(true);
  std::int64_t start_ = 0;
  std::vector<EventHandle> marks_, spare_;
};

}  // namespace

std::unique_ptr<StreamClock> make_stream_clock(CudaStream& stream) {
  return std::make_unique<CudaClock>(stream.handle);
}

}  // namespace mpitron::device
