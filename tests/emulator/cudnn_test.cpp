#include <array>
#include <cstdlib>

#include <cudnn_graph.h>
#include <gtest/gtest.h>

#include "kernels/cuda/attention/attention_kernels.h"
#include "kernels/cuda/attention/fused_graph.h"

namespace mpitron::emulator {
namespace cudnn_test {

constexpr std::array<std::int64_t, 4> kSizes = {1, 2, 3, 4}, kStrides = {24, 12, 4, 1};

/// A library of another version while this lives.
struct Version {
  explicit Version(const char* version) { setenv("MPITRON_EMULATED_CUDNN", version, 1); }
  ~Version() { unsetenv("MPITRON_EMULATED_CUDNN"); }
};

/// Contiguous heads that no kernel touches.
kernels::AttentionBackward attention_of(Index s, Index s_kv) {
  alignas(16) static char place[16];
  const auto view = [](Index rows) {
    return device::TensorView(place, DType::bf16, {rows, 1, 2, 64});
  };
  kernels::AttentionBackward kernel;
  kernel.q = kernel.o = kernel.d_o = view(s);
  kernel.dq = view(s);
  kernel.k = kernel.v = view(s_kv);
  kernel.dk = kernel.dv = view(s_kv);
  kernel.lse = device::TensorView(place, DType::f32, {1, 2, s});
  return kernel;
}
kernels::AttentionForward forward_of(const kernels::AttentionBackward& kernel) {
  kernels::AttentionForward forward;
  forward.q = kernel.q;
  forward.k = kernel.k;
  forward.v = kernel.v;
  forward.o = kernel.dq;
  forward.lse = device::TensorView(kernel.dq.data, DType::f32, kernel.lse.shape);
  return forward;
}

template <class Kernel>
bool is_asked(const Kernel& kernel) {
  return kernels::cuda::attention::cudnn_fits(device::CudaStream(), kernel);
}

TEST(Cudnn, AttentionIsNotGivenToLibrariesThatAreMissingOrFaulty) {
  const auto whole = attention_of(256, 256), open = attention_of(200, 200);
  {
    const Version none("0");
    EXPECT_EQ(kernels::cuda::cudnn_version(), 0);
    EXPECT_FALSE(is_asked(attention_of(64, 64)));
  }
  {
    const Version old("91001");
    EXPECT_FALSE(is_asked(attention_of(128, 128)));
  }
  {
    const Version whole_tiles("91500");
    EXPECT_TRUE(is_asked(whole));
    EXPECT_TRUE(is_asked(forward_of(open)));
    EXPECT_FALSE(is_asked(open)) << "backward needs whole tiles of keys";
  }
  EXPECT_TRUE(is_asked(attention_of(300, 300)));
}

TEST(Cudnn, APlanWithTooLargeAWorkspaceIsNotTaken) {
  using Graph = kernels::cuda::FusedGraph;
  const Graph::Layout layout = {kSizes, kStrides};
  const auto doubled = [&] {
    Graph graph;
    const auto x = graph.in_memory(DType::bf16, layout), y = graph.in_memory(DType::f32, layout);
    graph.map(Graph::Map::multiply, {x, graph.number(2.f)}, y);
    return graph;
  };
  EXPECT_EQ(kernels::cuda::FusedPlan(doubled(), 0, 1 << 20).workspace_bytes(), 4096);
  EXPECT_THROW(kernels::cuda::FusedPlan(doubled(), 0, 4095), Graph::Refused);
}

}  // namespace cudnn_test
}  // namespace mpitron::emulator
