#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "emulator/nccl/emulated_nccl.h"
#include "utils/numbers/dtype.h"

namespace mpitron::emulator {

DType dtype_of(ncclDataType_t type);
bool is_send(const NcclCall& call);
/// Tells a send or a receive; everything else is a collective.
bool is_message(const NcclCall& call);

/// A call and where its data lies; `moved` is set when its data has arrived.
struct Operation {
  NcclCall call;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  bool moved = false;

  std::size_t bytes() const { return call.count * size_of(dtype_of(call.type)); }
};
using OperationHandle = std::shared_ptr<Operation>;

/// Moves a collective's data, from the inputs as they are now. `members` has an operation of each
/// rank.
void move_data(const std::vector<OperationHandle>& members);

}  // namespace mpitron::emulator
