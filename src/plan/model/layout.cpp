#include "plan/model/layout.h"

#include <array>

#include <fmt/format.h>

namespace mpitron::plan {

const char* to_string(Sharding sharding) {
  constexpr std::array<const char*, 4> kNames = {"ddp", "zero1", "zero2", "zero3"};
  return kNames[static_cast<std::size_t>(sharding)];
}

const char* to_string(Recompute recompute) {
  constexpr std::array<const char*, 4> kNames = {"none", "selective", "selective-op", "full"};
  return kNames[static_cast<std::size_t>(recompute)];
}

const char* to_string(Precision precision) {
  constexpr std::array<const char*, 4> kNames = {"bf16", "fp8", "mxfp8", "nvfp4"};
  return kNames[static_cast<std::size_t>(precision)];
}

std::string to_text(const Layout& layout) {
  return fmt::format("tp {} cp {} pp {} vp {} ep {} mbs {} dp {} {} recompute {}", layout.tensor,
                     layout.context, layout.pipeline, layout.chunks, layout.expert,
                     layout.micro_batch, layout.data(), to_string(layout.sharding),
                     to_string(layout.recompute));
}

}  // namespace mpitron::plan
