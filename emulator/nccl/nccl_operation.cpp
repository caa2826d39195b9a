// Moves and adds the data of emulated collectives in rank order, in fp32 for half types, rounded
// once: the bits of the host's transports, so that tests compare both.
#include "emulator/nccl/nccl_operation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emulator/device/failure.h"

namespace mpitron::emulator {
namespace {

/// Reduces all inputs in their order, in `Sum`, rounded once.
template <class T, class Sum>
void reduce_as(const std::vector<const std::byte*>& inputs, std::byte* output, std::size_t n,
               int operation) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto element = [i](const std::byte* data) {
      return static_cast<Sum>(reinterpret_cast<const T*>(data)[i]);
    };
    Sum sum = element(inputs.front());
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      const Sum other = element(inputs[k]);
      sum = operation == ncclMax   ? std::max(sum, other)
            : operation == ncclMin ? std::min(sum, other)
                                   : static_cast<Sum>(sum + other);
    }
    reinterpret_cast<T*>(output)[i] = static_cast<T>(sum);
  }
}

void reduce(const std::vector<const std::byte*>& inputs, std::byte* output, std::size_t n,
            const NcclCall& call) {
  switch (dtype_of(call.type)) {
    case DType::f32:
      return reduce_as<float, float>(inputs, output, n, call.detail);
    case DType::bf16:
      return reduce_as<BFloat16, float>(inputs, output, n, call.detail);
    case DType::f16:
      return reduce_as<Float16, float>(inputs, output, n, call.detail);
    case DType::f64:
      return reduce_as<double, double>(inputs, output, n, call.detail);
    case DType::i32:
      return reduce_as<std::int32_t, std::int32_t>(inputs, output, n, call.detail);
    case DType::i64:
      return reduce_as<std::int64_t, std::int64_t>(inputs, output, n, call.detail);
    default:
      fail("NCCL: no reduction of " + describe(call) + " is emulated");
  }
}

}  // namespace

DType dtype_of(ncclDataType_t type) {
  constexpr std::pair<ncclDataType_t, DType> kTypes[] = {
      {ncclFloat32, DType::f32}, {ncclBfloat16, DType::bf16}, {ncclFloat16, DType::f16},
      {ncclFloat64, DType::f64}, {ncclUint8, DType::u8},      {ncclInt8, DType::i8},
      {ncclInt32, DType::i32},   {ncclInt64, DType::i64}};
  const auto* const at = std::ranges::find(kTypes, type, &std::pair<ncclDataType_t, DType>::first);
  if (at == std::end(kTypes)) {
    fail("NCCL: type " + std::to_string(type) + " is not emulated");
  }
  return at->second;
}

bool is_send(const NcclCall& call) {
  return std::strcmp(call.what, "send") == 0;
}

bool is_message(const NcclCall& call) {
  return is_send(call) || std::strcmp(call.what, "receive") == 0;
}

std::string describe(const NcclCall& call) {
  return std::string(call.what) + "(" + std::to_string(call.count) + " " +
         name_of(dtype_of(call.type)) + ", " + std::to_string(call.detail) + ")";
}

void move_data(const std::vector<OperationHandle>& members) {
  const NcclCall& call = members.front()->call;
  const std::size_t bytes = members.front()->bytes();
  if (std::strcmp(call.what, "broadcast") == 0) {
    const std::byte* const from = members[static_cast<std::size_t>(call.detail)]->from;
    for (const OperationHandle& member : members) {
      std::memmove(member->to, from, bytes);
    }
    return;
  }
  const bool gathers = std::strcmp(call.what, "all_gather") == 0;
  const bool scatters = std::strcmp(call.what, "reduce_scatter") == 0;
  std::vector<std::byte> whole(gathers || scatters ? bytes * members.size() : bytes);
  if (gathers) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::memcpy(whole.data() + i * bytes, members[i]->from, bytes);
    }
  } else {
    std::vector<const std::byte*> inputs;
    for (const OperationHandle& member : members) {
      inputs.push_back(member->from);
    }
    reduce(inputs, whole.data(), whole.size() / size_of(dtype_of(call.type)), call);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::memcpy(members[i]->to, whole.data() + (scatters ? i * bytes : 0),
                scatters ? bytes : whole.size());
  }
}

}  // namespace mpitron::emulator
