#include "emulator/cudnn/operation_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "emulator/device/device_memory.h"
#include "emulator/device/failure.h"
#include "utils/numbers/float16.h"

namespace mpitron::emulator {
namespace {

using Sizes = std::array<std::int64_t, 4>;
using Kind = GraphOperation::Kind;

std::size_t bytes_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_BOOLEAN                               ? 1
         : type == CUDNN_DATA_BFLOAT16 || type == CUDNN_DATA_HALF ? 2
                                                                  : 4;
}

bool is_half(cudnnDataType_t type) {
  return type == CUDNN_DATA_BFLOAT16 || type == CUDNN_DATA_HALF;
}
bool is_real(cudnnDataType_t type) {
  return is_half(type) || type == CUDNN_DATA_FLOAT;
}

float rounded(float value, cudnnDataType_t type) {
  return type == CUDNN_DATA_BFLOAT16 ? static_cast<float>(BFloat16(value))
         : type == CUDNN_DATA_HALF   ? static_cast<float>(Float16(value))
                                     : value;
}

// --- what the library refuses -------------------------------------------------------------------

/// Tells whether every size of `from` is that of `to` or 1.
bool repeats_into(const Sizes& from, const Sizes& to) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (from[i] != to[i] && from[i] != 1) {
      return false;
    }
  }
  return true;
}

bool is_comparison(cudnnPointwiseMode_t mode) {
  return mode == CUDNN_POINTWISE_CMP_GT || mode == CUDNN_POINTWISE_CMP_GE;
}

std::size_t inputs_of(cudnnPointwiseMode_t mode) {
  switch (mode) {
    case CUDNN_POINTWISE_EXP:
    case CUDNN_POINTWISE_LOG:
    case CUDNN_POINTWISE_GEN_INDEX:
      return 1;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return 3;
    default:
      return 2;
  }
}

cudnnStatus_t status_of_pointwise(const GraphOperation& o) {
  const cudnnDataType_t to = o.output.type;
  if (o.inputs.size() != inputs_of(o.mode)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  for (const GraphTensor& input : o.inputs) {
    if (!repeats_into(input.sizes, o.output.sizes)) {
      return CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH;
    }
  }
  if (o.mode == CUDNN_POINTWISE_GEN_INDEX) {
    return o.axis < 0 || o.axis > 3 ? CUDNN_STATUS_BAD_PARAM
           : to == CUDNN_DATA_INT32 ? CUDNN_STATUS_SUCCESS
                                    : CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
  }
  if (is_comparison(o.mode)) {
    return to == CUDNN_DATA_BOOLEAN && o.precision == CUDNN_DATA_BOOLEAN
               ? CUDNN_STATUS_SUCCESS
               : CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
  }
  const bool selects = o.mode == CUDNN_POINTWISE_BINARY_SELECT;
  if (selects && o.inputs[2].type != CUDNN_DATA_BOOLEAN) {
    return CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
  }
  const bool integers = o.precision == CUDNN_DATA_INT32;
  return integers ? (to == CUDNN_DATA_INT32 ? CUDNN_STATUS_SUCCESS
                                            : CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE)
         : is_real(to) && o.precision == CUDNN_DATA_FLOAT ? CUDNN_STATUS_SUCCESS
                                                          : CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
}

cudnnStatus_t status_of_reduction(const GraphOperation& o) {
  const Sizes &from = o.inputs[0].sizes, &to = o.output.sizes;
  for (std::size_t i = 0; i < 4; ++i) {
    if (from[i] != to[i] && to[i] != 1 && !(i == 1 && from[i] % to[i] == 0)) {
      return CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH;
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Checks a product [b, h, m, k] x [b, h', k, n]; h' may divide h, which is how grouped queries
/// share keys.
cudnnStatus_t status_of_product(const GraphOperation& o) {
  const Sizes &a = o.inputs[0].sizes, &b = o.inputs[1].sizes, &c = o.output.sizes;
  const bool fits = a[0] == c[0] && b[0] == c[0] && a[1] == c[1] && a[1] % b[1] == 0 &&
                    a[2] == c[2] && a[3] == b[2] && b[3] == c[3];
  const bool has_type = is_real(o.inputs[0].type) && is_half(o.inputs[1].type) &&
                        is_real(o.output.type) && o.precision == CUDNN_DATA_FLOAT;
  return !fits      ? CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH
         : has_type ? CUDNN_STATUS_SUCCESS
                    : CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
}

/// Checks a reshape; only the last two dimensions may change places.
cudnnStatus_t status_of_reshape(const GraphOperation& o) {
  GraphTensor swapped = o.inputs[0];
  std::swap(swapped.sizes[2], swapped.sizes[3]);
  std::swap(swapped.strides[2], swapped.strides[3]);
  return swapped.sizes == o.output.sizes && swapped.strides == o.output.strides
             ? CUDNN_STATUS_SUCCESS
             : CUDNN_STATUS_NOT_SUPPORTED_LAYOUT;
}

// --- evaluation ---------------------------------------------------------------------------------

/// Elements of a tensor in fp32, the last dimension fastest.
struct Values {
  Sizes sizes;
  cudnnDataType_t type;
  std::vector<float> values;

  Values(const Sizes& sizes_, cudnnDataType_t type_)
      : sizes(sizes_),
        type(type_),
        values(static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3])) {}
  /// Returns the place of an element; sizes of 1 are repeated.
  std::size_t at(const Sizes& i) const {
    std::int64_t place = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      place = place * sizes[k] + (sizes[k] == 1 ? 0 : i[k]);
    }
    return static_cast<std::size_t>(place);
  }
};

template <class F>
void for_each(const Sizes& sizes, F&& f) {
  Sizes i{};
  for (i[0] = 0; i[0] < sizes[0]; ++i[0]) {
    for (i[1] = 0; i[1] < sizes[1]; ++i[1]) {
      for (i[2] = 0; i[2] < sizes[2]; ++i[2]) {
        for (i[3] = 0; i[3] < sizes[3]; ++i[3]) {
          f(i);
        }
      }
    }
  }
}

std::int64_t offset(const GraphTensor& tensor, const Sizes& i) {
  return i[0] * tensor.strides[0] + i[1] * tensor.strides[1] + i[2] * tensor.strides[2] +
         i[3] * tensor.strides[3];
}

/// Ends the program unless a tensor's first and last elements lie in one block of the GPU.
void require_memory(const GraphTensor& tensor, const void* data) {
  const Sizes& n = tensor.sizes;
  const auto elements =
      static_cast<std::size_t>(offset(tensor, {n[0] - 1, n[1] - 1, n[2] - 1, n[3] - 1}) + 1);
  if (!inside_one_block(data, elements * bytes_of(tensor.type))) {
    fail("cuDNN: tensor " + std::to_string(tensor.id) + " is not memory of a GPU that is in use");
  }
}

Values load(const GraphTensor& tensor, const void* data) {
  require_memory(tensor, data);
  Values result(tensor.sizes, tensor.type);
  float* to = result.values.data();
  for_each(tensor.sizes, [&](const Sizes& i) {
    const std::int64_t from = offset(tensor, i);
    *to++ = tensor.type == CUDNN_DATA_FLOAT ? static_cast<const float*>(data)[from]
            : tensor.type == CUDNN_DATA_HALF
                ? static_cast<float>(static_cast<const Float16*>(data)[from])
                : static_cast<float>(static_cast<const BFloat16*>(data)[from]);
  });
  return result;
}

void store(const GraphTensor& tensor, const Values& values, void* data) {
  require_memory(tensor, data);
  const float* from = values.values.data();
  for_each(tensor.sizes, [&](const Sizes& i) {
    const std::int64_t to = offset(tensor, i);
    if (tensor.type == CUDNN_DATA_FLOAT) {
      static_cast<float*>(data)[to] = *from++;
    } else if (tensor.type == CUDNN_DATA_HALF) {
      static_cast<Float16*>(data)[to] = Float16(*from++);
    } else {
      static_cast<BFloat16*>(data)[to] = BFloat16(*from++);
    }
  });
}

float mapped(cudnnPointwiseMode_t mode, const float* x) {
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
      return x[0] + x[1];
    case CUDNN_POINTWISE_SUB:
      return x[0] - x[1];
    case CUDNN_POINTWISE_MUL:
      return x[0] * x[1];
    case CUDNN_POINTWISE_DIV:
      return x[0] / x[1];
    case CUDNN_POINTWISE_EXP:
      return std::exp(x[0]);
    case CUDNN_POINTWISE_LOG:
      return std::log(x[0]);
    case CUDNN_POINTWISE_CMP_GT:
      return x[0] > x[1] ? 1.f : 0.f;
    case CUDNN_POINTWISE_CMP_GE:
      return x[0] >= x[1] ? 1.f : 0.f;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return x[2] != 0 ? x[0] : x[1];
    default:
      fail("cuDNN: pointwise mode " + std::to_string(mode) + " is not emulated");
  }
}

Values pointwise(const GraphOperation& o, const std::vector<const Values*>& inputs) {
  Values result(o.output.sizes, o.output.type);
  float* to = result.values.data();
  for_each(o.output.sizes, [&](const Sizes& i) {
    if (o.mode == CUDNN_POINTWISE_GEN_INDEX) {
      *to++ = static_cast<float>(i[static_cast<std::size_t>(o.axis)]);
      return;
    }
    float x[3];
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      x[k] = inputs[k]->values[inputs[k]->at(i)];
    }
    *to++ = rounded(mapped(o.mode, x), o.output.type);
  });
  return result;
}

/// Reduces in the order of x's elements. Where the result has fewer heads, those that share one are
/// reduced together.
Values reduction(const GraphOperation& o, const Values& x) {
  const bool sum = o.reduction == CUDNN_REDUCE_TENSOR_ADD;
  Values result(o.output.sizes, o.output.type);
  std::ranges::fill(result.values, sum ? 0.f : -std::numeric_limits<float>::infinity());
  const std::int64_t heads = x.sizes[1] / o.output.sizes[1];
  const float* from = x.values.data();
  for_each(x.sizes, [&](const Sizes& i) {
    float& to = result.values[result.at({i[0], i[1] / heads, i[2], i[3]})];
    to = sum ? to + *from : std::max(to, *from);
    ++from;
  });
  for (float& value : result.values) {
    value = rounded(value, o.output.type);
  }
  return result;
}

/// Multiplies with fp32 sums in the order of k; the left factor is rounded to the right one's type
/// first.
Values product(const GraphOperation& o, const Values& a, const Values& b) {
  Values result(o.output.sizes, o.output.type);
  const Sizes& c = o.output.sizes;
  const std::int64_t depth = a.sizes[3], repeated = c[1] / b.sizes[1];
  std::vector<float> row(static_cast<std::size_t>(c[3]));
  for_each({c[0], c[1], c[2], 1}, [&](const Sizes& i) {
    std::ranges::fill(row, 0.f);
    const float* left =
        &a.values[static_cast<std::size_t>(((i[0] * c[1] + i[1]) * c[2] + i[2]) * depth)];
    const float* right =
        &b.values[static_cast<std::size_t>((i[0] * b.sizes[1] + i[1] / repeated) * depth * c[3])];
    for (std::int64_t k = 0; k < depth; ++k, right += c[3]) {
      const float factor = rounded(left[k], b.type);
      for (std::size_t n = 0; n < row.size(); ++n) {
        row[n] += factor * right[n];
      }
    }
    float* to =
        &result.values[static_cast<std::size_t>(((i[0] * c[1] + i[1]) * c[2] + i[2]) * c[3])];
    std::ranges::transform(row, to, [&](float sum) { return rounded(sum, o.output.type); });
  });
  return result;
}

Values reshape(const GraphOperation& o, const Values& x) {
  Values result(o.output.sizes, o.output.type);
  float* to = result.values.data();
  for_each(o.output.sizes, [&](const Sizes& i) {
    *to++ = rounded(x.values[x.at({i[0], i[1], i[3], i[2]})], o.output.type);
  });
  return result;
}

Values result_of(const GraphOperation& o, const std::vector<const Values*>& inputs) {
  switch (o.kind) {
    case Kind::pointwise:
      return pointwise(o, inputs);
    case Kind::reduction:
      return reduction(o, *inputs[0]);
    case Kind::product:
      return product(o, *inputs[0], *inputs[1]);
    case Kind::reshape:
      break;
  }
  return reshape(o, *inputs[0]);
}

}  // namespace

cudnnStatus_t status_of(const GraphOperation& operation) {
  switch (operation.kind) {
    case Kind::pointwise:
      return status_of_pointwise(operation);
    case Kind::reduction:
      return status_of_reduction(operation);
    case Kind::product:
      return status_of_product(operation);
    case Kind::reshape:
      break;
  }
  return status_of_reshape(operation);
}

cudnnStatus_t status_of(const std::vector<GraphOperation>& operations) {
  std::map<std::int64_t, GraphTensor> tensors;
  std::set<std::int64_t> written;
  const auto is_known = [&](const GraphTensor& tensor) {
    return tensors.emplace(tensor.id, tensor).first->second == tensor;
  };
  for (const GraphOperation& operation : operations) {
    for (const GraphTensor& input : operation.inputs) {
      if (!is_known(input) || (input.is_virtual && !written.contains(input.id))) {
        return CUDNN_STATUS_BAD_PARAM;
      }
    }
    const GraphTensor& output = operation.output;
    if (!is_known(output) || output.is_number || !written.insert(output.id).second) {
      return CUDNN_STATUS_BAD_PARAM;
    }
  }
  const bool leaves =
      std::ranges::any_of(operations, [](const GraphOperation& o) { return !o.output.is_virtual; });
  return leaves ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
}

void evaluate(const std::vector<GraphOperation>& operations,
              const std::map<std::int64_t, void*>& data,
              const std::map<std::int64_t, float>& numbers) {
  std::map<std::int64_t, Values> known;
  const auto value_of = [&](const GraphTensor& tensor) -> const Values* {
    auto at = known.find(tensor.id);
    if (at == known.end() && tensor.is_number) {
      at = known.emplace(tensor.id, Values(tensor.sizes, tensor.type)).first;
      at->second.values[0] = numbers.at(tensor.id);
    } else if (at == known.end()) {
      at = known.emplace(tensor.id, load(tensor, data.at(tensor.id))).first;
    }
    return &at->second;
  };
  for (const GraphOperation& operation : operations) {
    std::vector<const Values*> inputs;
    for (const GraphTensor& input : operation.inputs) {
      inputs.push_back(value_of(input));
    }
    const auto at = known.insert_or_assign(operation.output.id, result_of(operation, inputs)).first;
    if (!operation.output.is_virtual) {
      store(operation.output, at->second, data.at(operation.output.id));
    }
  }
}

}  // namespace mpitron::emulator
