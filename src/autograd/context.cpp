#include "autograd/context.h"

namespace mpitron::autograd {
namespace {

/// SplitMix64's finaliser: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

void release(Context& context, Parameter& parameter) {
  --parameter.live_tapes;
  if (context.keeper != nullptr) {
    context.keeper->gradient_released(parameter, context.last_microbatch);
  }
}

Philox::Key RngKey::philox() const {
  const std::uint64_t place = (std::uint64_t{layer} << 32) | site;
  const std::uint64_t key = mix(mix(mix(seed) ^ iteration) ^ place);
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

}  // namespace mpitron::autograd
