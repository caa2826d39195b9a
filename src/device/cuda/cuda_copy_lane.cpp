// Copies between page-locked memory and a GPU on a stream of their own, while kernels run.
#include <map>
#include <vector>

#include "device/copy.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/cuda_handles.h"

namespace mpitron::device {
namespace {

class CudaCopyLane final : public CopyLane {
 public:
  explicit CudaCopyLane(cudaStream_t stream) : stream_(stream) {}
  ~CudaCopyLane() override { cudaStreamSynchronize(copies_.get()); }
  CudaCopyLane(const CudaCopyLane&) = delete;
  CudaCopyLane& operator=(const CudaCopyLane&) = delete;

  void follow_stream() override {
    check(cudaEventRecord(stream_is_here_.get(), stream_), "marking the beginning of a copy");
    check(cudaStreamWaitEvent(copies_.get(), stream_is_here_.get(), 0), "waiting to copy");
  }

  void copy(void* to, const void* from, Index bytes) override {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault,
                          copies_.get()),
          "copying beside the kernels");
  }

  Index mark() override {
    if (spare_.empty()) {
      spare_.push_back(make_event());
    }
    check(cudaEventRecord(spare_.back().get(), copies_.get()), "marking the end of a copy");
    marks_.emplace(++last_mark_, std::move(spare_.back()));
    spare_.pop_back();
    return last_mark_;
  }

  void let_stream_wait(Index mark) override {
    auto node = marks_.extract(mark);
    MPITRON_CHECK(!node.empty(), mark);
    check(cudaStreamWaitEvent(stream_, node.mapped().get(), 0), "waiting for a copy");
    spare_.push_back(std::move(node.mapped()));
  }

 private:
  cudaStream_t stream_;
  StreamHandle copies_ = make_stream();
  EventHandle stream_is_here_ = make_event();
  std::map<Index, EventHandle> marks_;  // not yet waited for
  std::vector<EventHandle> spare_;
  Index last_mark_ = 0;
};

}  // namespace

std::unique_ptr<CopyLane> make_copy_lane(CudaStream& stream) {
  return std::make_unique<CudaCopyLane>(stream.handle);
}

}  // namespace mpitron::device
