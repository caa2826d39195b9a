#pragma once

// cuDNN itself, without a GPU: the functions of the library that the program calls, told that they
// are on a GPU of which only a description is there. The library checks descriptors and graphs, and
// proposes engines as on that GPU; plans are not built, because only a GPU can load them.
namespace mpitron::cudnn {

enum class DescribedGpu { h200, a100 };
/// What is planned from now on is for this GPU.
void describe_gpu(DescribedGpu gpu);

}  // namespace mpitron::cudnn
