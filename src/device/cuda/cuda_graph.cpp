// Records launches into CUDA graphs. The memory that is allocated while recording is kept for the
// graph, whose launches use the same addresses again.
#include "device/cuda/cuda_allocator.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/cuda_handles.h"
#include "device/device.h"

namespace mpitron::device {
namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const noexcept { cudaGraphDestroy(graph); }
};
struct DestroyExecutable {
  void operator()(cudaGraphExec_t graph) const noexcept { cudaGraphExecDestroy(graph); }
};

class CudaGraph final : public Graph {
 public:
  CudaGraph(cudaGraph_t graph, cudaStream_t stream) : stream_(stream) {
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "making a graph of what was recorded");
    executable_.reset(executable);
  }
  void launch() override {
    check(cudaGraphLaunch(executable_.get(), stream_), "launching a graph");
  }

 private:
  cudaStream_t stream_;
  std::unique_ptr<CUgraphExec_st, DestroyExecutable> executable_;
};

/// Allocations are for graphs while it lives.
class RecordingScope {
 public:
  explicit RecordingScope(CudaAllocator& allocator) : allocator_(allocator) {
    allocator_.set_recording(true);
  }
  ~RecordingScope() { allocator_.set_recording(false); }
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  CudaAllocator& allocator_;
};

}  // namespace

std::unique_ptr<Graph> record(Device& device, const std::function<void()>& work) {
  const CudaStream& stream = std::get<CudaStream>(device.stream());
  const RecordingScope scope(static_cast<CudaAllocator&>(device.allocator()));
  // Relaxed: memory may be taken from the driver meanwhile.
  check(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeRelaxed),
        "beginning to record a graph");
  cudaGraph_t captured = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(stream.handle, &captured);
    cudaGraphDestroy(captured);
    throw;
  }
  check(cudaStreamEndCapture(stream.handle, &captured), "recording a graph");
  const std::unique_ptr<CUgraph_st, DestroyGraph> graph(captured);
  return std::make_unique<CudaGraph>(graph.get(), stream.handle);
}

}  // namespace mpitron::device
