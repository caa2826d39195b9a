// Hashes parameters and compares them over replicas, which catches ranks that have drifted apart by
// a fault of memory or of code.
#include "parallel/weight_hash.h"

#include <fmt/format.h>

#include "tensor/host_copy.h"
#include "utils/error.h"
#include "utils/text/hash.h"

namespace mpitron::parallel {
namespace {

using Hashes = std::vector<std::int64_t>;

std::int64_t hash_of(device::Device& device, const tensor::Tensor& x) {
  const tensor::Tensor known = tensor::to_host(device, x);
  const device::TensorView& view = known.view();
  return static_cast<std::int64_t>(
      hash64({static_cast<const char*>(view.data), static_cast<std::size_t>(view.bytes())}));
}

device::TensorView view(Hashes& hashes) {
  return {hashes.data(), DType::i64, {static_cast<Index>(hashes.size())}};
}

}  // namespace

/// Hashes of all ranks are compared with those of the first one.
void check_weight_hashes(device::Device& device, std::span<autograd::Parameter* const> parameters,
                         comm::Group& replicas) {
  Hashes own;
  std::vector<const std::string*> names;
  for (const autograd::Parameter* parameter : parameters) {
    own.push_back(hash_of(device, parameter->value));
    names.push_back(&parameter->name);
  }
  if (own.empty()) {
    return;
  }
  const auto members = static_cast<std::size_t>(replicas.size());
  Hashes all(own.size() * members);
  replicas.all_gather(view(own), view(all)).wait();
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::string different;
    for (std::size_t member = 1; member < members; ++member) {
      if (all[member * own.size() + i] != all[i]) {
        different += fmt::format("{}{}", different.empty() ? "" : ", ", replicas.ranks()[member]);
      }
    }
    if (!different.empty()) {
      throw_environment(
          "{} has other values on rank {} than on rank {}: replicas have drifted apart (suspect "
          "the "
          "hardware of these ranks); go on from the last checkpoint",
          *names[i], different, replicas.ranks()[0]);
    }
  }
}

}  // namespace mpitron::parallel
