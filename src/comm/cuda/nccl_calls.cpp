// Translates requests into NCCL's calls; the only file that knows its types of data and reductions.
#include "comm/cuda/nccl_calls.h"

#include "device/cuda/cuda_handles.h"
#include "utils/check.h"
#include "utils/error.h"

namespace mpitron::comm {

namespace {

ncclDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return ncclFloat32;
    case DType::bf16:
      return ncclBfloat16;
    case DType::f16:
      return ncclFloat16;
    case DType::f64:
      return ncclFloat64;
    case DType::u8:
      return ncclUint8;
    case DType::i8:
      return ncclInt8;
    case DType::i32:
      return ncclInt32;
    case DType::i64:
      return ncclInt64;
    case DType::u16:
    case DType::i16:
      break;
  }
  MPITRON_CHECK(false, "NCCL adds no integers of two bytes");
  return ncclNumTypes;
}

ncclRedOp_t operation_of(Reduction reduction) {
  constexpr ncclRedOp_t kOperations[] = {ncclSum, ncclMax, ncclMin};
  return kOperations[static_cast<int>(reduction)];
}

std::size_t bytes_of(const ConstTensorView& view) {
  return static_cast<std::size_t>(view.bytes());
}

/// Exchanges unequal pieces: a message to and from each other member, all at once in one group
/// call, without which sends would wait for receives that are not yet posted; the own piece is
/// copied.
void exchange(const Group& group, const Request& request, ncclComm_t communicator,
              cudaStream_t stream) {
  const auto* sent = static_cast<const std::byte*>(request.input.data);
  auto* received = static_cast<std::byte*>(request.output.data);
  const std::size_t size = size_of(request.input.dtype);
  check(ncclGroupStart(), "all_to_all");
  for (Index member = 0; member < group.size(); ++member) {
    const auto place = static_cast<std::size_t>(member);
    const std::size_t sends = static_cast<std::size_t>(request.input_counts[place]) * size;
    const std::size_t receives = static_cast<std::size_t>(request.output_counts[place]) * size;
    const int peer = static_cast<int>(member);
    if (member == group.rank()) {
      if (receives > 0) {
        device::check(cudaMemcpyAsync(received, sent, receives, cudaMemcpyDeviceToDevice, stream),
                      "all_to_all");
      }
    } else {
      if (sends > 0) {
        check(ncclSend(sent, sends, ncclUint8, peer, communicator, stream), "all_to_all");
      }
      if (receives > 0) {
        check(ncclRecv(received, receives, ncclUint8, peer, communicator, stream), "all_to_all");
      }
    }
    sent += sends;
    received += receives;
  }
  check(ncclGroupEnd(), "all_to_all");
}

}  // namespace

/// Makes NCCL's call for the request's kind; an exchange of unequal counts is a group of sends and
/// receives.
void call_collective(const Group& group, const Request& request, ncclComm_t communicator,
                     cudaStream_t stream) {
  const ConstTensorView& x = request.input;
  const TensorView& y = request.output;
  switch (request.kind) {
    case CollectiveKind::all_reduce:
      return check(
          ncclAllReduce(y.data, y.data, static_cast<std::size_t>(y.numel()), type_of(y.dtype),
                        operation_of(request.reduction), communicator, stream),
          "all_reduce");
    case CollectiveKind::reduce_scatter:
      return check(ncclReduceScatter(x.data, y.data, static_cast<std::size_t>(y.numel()),
                                     type_of(y.dtype), ncclSum, communicator, stream),
                   "reduce_scatter");
    case CollectiveKind::all_gather:
      return check(ncclAllGather(x.data, y.data, bytes_of(x), ncclUint8, communicator, stream),
                   "all_gather");
    case CollectiveKind::broadcast:
      return check(ncclBroadcast(y.data, y.data, bytes_of(y), ncclUint8,
                                 static_cast<int>(request.peer), communicator, stream),
                   "broadcast");
    case CollectiveKind::all_to_all:
      return exchange(group, request, communicator, stream);
    default:
      MPITRON_CHECK(false, name_of(request.kind));
  }
}

void call_message(const Request& request, int peer, ncclComm_t communicator, cudaStream_t stream) {
  if (request.kind == CollectiveKind::send) {
    check(ncclSend(request.input.data, bytes_of(request.input), ncclUint8, peer, communicator,
                   stream),
          "send");
  } else {
    check(ncclRecv(request.output.data, bytes_of(request.output), ncclUint8, peer, communicator,
                   stream),
          "receive");
  }
}

/// NCCL's last error says more than the code: which call of the system failed, and where.
void check(ncclResult_t status, const char* what) {
  if (status != ncclSuccess) {
    const char* const detail = ncclGetLastError(nullptr);
    throw_environment("NCCL: {}: {} ({}); NCCL_DEBUG=INFO tells more", what,
                      ncclGetErrorString(status), detail == nullptr ? "" : detail);
  }
}

}  // namespace mpitron::comm
