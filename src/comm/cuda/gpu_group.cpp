// Sends tensors of a GPU through the host. Which group carries an operation is decided by where its
// memory lies, so that the same call serves tensors, sizes and texts.
#include "comm/cuda/gpu_group.h"

#include "device/copy.h"
#include "device/cuda/cuda_handles.h"

namespace mpitron::comm {

namespace {

bool on_device(const void* memory) {
  cudaPointerAttributes attributes{};
  device::check(cudaPointerGetAttributes(&attributes, memory), "asking where a tensor lies");
  return attributes.type == cudaMemoryTypeDevice;
}

/// Tells whether an operation is the GPU's. All members must find the same, so memory without
/// elements counts too: who has no tokens to send and gets none takes part in the exchange of the
/// others.
bool on_device(const Request& request) {
  const bool input = request.input.numel() > 0 || request.output.data == nullptr;
  const void* const memory =
      input && request.input.data != nullptr ? request.input.data : request.output.data;
  return memory != nullptr && on_device(memory);
}

}  // namespace

Work GpuGroup::start(const Request& request) {
  return on_device(request) ? start_on_device(request) : host_->run(request);
}

/// Alone in a group, an operation is a copy on the tensor's own device, in the order of its stream.
void GpuGroup::run_alone(const Request& request) {
  if (!on_device(request)) {
    Group::run_alone(request);
  } else if (request.input.data != nullptr && request.input.data != request.output.data) {
    device::copy_bytes(device_.stream(), request.output.data, request.input.data,
                       request.output.bytes());
  }
}

namespace {

/// Copy of a tensor on the host; nothing for no tensor.
class StagedMemory {
 public:
  StagedMemory(device::Device& device, Index bytes) : allocator_(device.staging()) {
    if (bytes > 0) {
      data_ = allocator_.allocate(static_cast<std::size_t>(bytes), capacity_);
    }
  }
  ~StagedMemory() {
    if (data_ != nullptr) {
      allocator_.release(data_, capacity_);
    }
  }
  StagedMemory(const StagedMemory&) = delete;
  StagedMemory& operator=(const StagedMemory&) = delete;

  void* data() const { return data_; }

 private:
  device::Allocator& allocator_;
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Runs an operation on the host's copies, and brings back what it wrote.
class StagedOperation final : public Operation {
 public:
  /// Copies the input to pinned memory and waits for it, since the host's group reads it at once.
  StagedOperation(Group& host, device::Device& device, const Request& request)
      : device_(device),
        output_(request.output),
        staged_input_(device, request.input.bytes()),
        staged_output_(device, request.output.bytes()) {
    Request staged = request;
    staged.input.data = staged_input_.data();
    staged.output.data = staged_output_.data();
    device::Stream& stream = device.stream();
    device::copy_bytes(stream, staged_input_.data(), request.input.data, request.input.bytes());
    if (request.input.data == nullptr) {  // then the output is read too
      device::copy_bytes(stream, staged_output_.data(), output_.data, output_.bytes());
    }
    device::synchronize(stream);
    work_ = host.run(staged);
  }

  /// Queues the way back once the host's operation has ended; the stream orders it before its
  /// users.
  bool step() override {
    if (work_.test() && !returned_) {
      device::copy_bytes(device_.stream(), output_.data, staged_output_.data(), output_.bytes());
      returned_ = true;
    }
    return returned_;
  }
  bool wait_on_device() override {
    work_.wait();
    return step();
  }
  std::vector<Index> absent() const override { return {}; }  // the host's operation knows

 private:
  device::Device& device_;
  const TensorView output_;
  StagedMemory staged_input_, staged_output_;
  Work work_;
  bool returned_ = false;
};

}  // namespace

Work StagedGroup::start_on_device(const Request& request) {
  return engine_->start(std::make_shared<StagedOperation>(host(), device(), request), *this,
                        request);
}

}  // namespace mpitron::comm
