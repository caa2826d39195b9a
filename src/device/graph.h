#pragma once
#include <functional>
#include <memory>

#include "device/device.h"

namespace mpitron::device {

/// Work that was recorded once and is queued again as a whole.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void launch() = 0;
};

/// Records what `work` queues on a GPU's stream instead of running it. `work` neither waits nor
/// copies to or from the host. Its memory is used by graphs alone; whatever of it the caller still
/// holds afterwards is overwritten by every launch, and has to be held as long as the graph.
/// Numbers in the arguments of kernels stay what they were. Defined only where `kHasCuda`.
std::unique_ptr<Graph> record(Device& device, const std::function<void()>& work);

}  // namespace mpitron::device
