#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include <cudnn_graph.h>

// Describes graphs of operations as cuDNN's backend API does, and evaluates them in fp32, one
// operation after the other. Each result is rounded to its tensor's type, virtual or not.
namespace mpitron::emulator {

struct GraphTensor {
  std::int64_t id = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::array<std::int64_t, 4> sizes{}, strides{};  // in elements
  std::int64_t alignment = 0;
  bool is_virtual = false, is_number = false;

  std::int64_t elements() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  bool operator==(const GraphTensor&) const = default;
};

struct GraphOperation {
  enum class Kind { pointwise, reduction, product, reshape };
  Kind kind;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  std::int64_t axis = -1;  // of CUDNN_POINTWISE_GEN_INDEX
  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;
  cudnnDataType_t precision = CUDNN_DATA_FLOAT;
  std::vector<GraphTensor> inputs;
  GraphTensor output;
};

/// Returns the library's answer to an operation: sizes that do not fit, types that it has no
/// operation for.
cudnnStatus_t status_of(const GraphOperation& operation);
/// Returns the library's answer to a graph. Refused are tensors that share an id but differ, a
/// tensor that is written twice, a virtual one that is read before it is written, a number that is
/// written, and a graph all of whose results are virtual.
cudnnStatus_t status_of(const std::vector<GraphOperation>& operations);

/// Evaluates a graph. `data` has every tensor that is neither virtual nor a number. Products round
/// the left factor to the right one's type, which is bf16 or fp16.
void evaluate(const std::vector<GraphOperation>& operations,
              const std::map<std::int64_t, void*>& data,
              const std::map<std::int64_t, float>& numbers);

}  // namespace mpitron::emulator
