#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/linear/met_shapes.h"

// Which kernel runs an attention on a device that has several for it (a GPU's:
// attention_candidates.cpp). All keep the contract of attention.h, but the
// order of their sums differs, so that runs repeat bit for bit only with the same choices.
namespace mpitron::kernels {

/// cudnn: the library's fused kernels; wgmma: our own for Hopper GPUs; mma: our own for every
/// attention.
enum class AttentionKernel : std::uint8_t { cudnn, wgmma, mma };
constexpr AttentionKernel kAttentionKernels[] = {AttentionKernel::cudnn, AttentionKernel::wgmma,
                                                 AttentionKernel::mma};
constexpr const char* name_of(AttentionKernel kernel) {
  constexpr const char* kNames[] = {"cudnn", "wgmma", "mma"};
  return kNames[static_cast<int>(kernel)];
}

/// Extent of a mask: it hides keys from all queries of a sample (padding), or from each query
/// others (documents).
enum class AttentionMask : std::uint8_t { none, keys, pairs };
constexpr AttentionMask kAttentionMasks[] = {AttentionMask::none, AttentionMask::keys,
                                             AttentionMask::pairs};
constexpr const char* name_of(AttentionMask mask) {
  constexpr const char* kNames[] = {"none", "keys", "pairs"};
  return kNames[static_cast<int>(mask)];
}

/// Facts that the time of an attention depends on.
struct AttentionShape {
  bool backward;
  DType type;
  Index s, s_kv, b, n, g, d, dv;  // as in kernels/attention/attention.h
  bool causal;
  Index window;
  AttentionMask mask;
  bool bias, dropout;

  auto operator<=>(const AttentionShape&) const = default;
};
AttentionShape shape_of(const AttentionForward& kernel);
AttentionShape shape_of(const AttentionBackward& kernel);

struct AttentionChoices {
  /// Order of kernels: of a shape without an entry, the first that can run it does.
  std::vector<AttentionKernel> order = {AttentionKernel::wgmma, AttentionKernel::mma};
  std::map<AttentionShape, AttentionKernel> by_shape;
};
/// Choices of this process; written only while nothing is launched.
AttentionChoices& attention_choices();
/// Attentions without an entry that several kernels can run; in half types, of whole sequences,
/// without dropout and bias.
MetShapes<AttentionShape>& met_attentions();

/// The kernels of a GPU that can run this attention.
std::vector<AttentionKernel> candidates(const device::CudaStream&, const AttentionForward&);
std::vector<AttentionKernel> candidates(const device::CudaStream&, const AttentionBackward&);

}  // namespace mpitron::kernels
