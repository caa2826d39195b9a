#include <gtest/gtest.h>

#include "kernels/attention/attention.h"
#include "support/host_runtime.h"
#include "tests/kernels/attention_case.h"

namespace mpitron::kernels {
namespace attention_workers_test {

/// Runs a kernel on the host with `workers` of the `tasks` that could run at once.
template <class Kernel>
void run_with_workers(Kernel kernel, Index workers, Index tasks) {
  device::HostStream stream;
  const TestBlock workspace = give_workspace(stream, kernel);
  const Index bytes = workspace_bytes(stream, kernel) /
                      std::min<Index>(tasks, device::HostRuntime::threads()) * workers;
  kernel.workspace = device::TensorView(kernel.workspace.data, DType::u8, {bytes});
  run(stream, kernel);
}

std::vector<std::byte> bits_with_workers(const AttentionCase& c, Index workers) {
  AttentionFixture fixture(c);
  AttentionResults got(c, c.dtype, DType::f32);
  run_with_workers(fixture.forward(got), workers, c.b * c.n);
  run_with_workers(fixture.backward(got), workers, c.b * c.g);
  std::vector<std::byte> bits = got.o.bytes();
  for (const auto& view :
       {got.lse.view(), got.gradients.q(), got.gradients.k(), got.gradients.v()}) {
    const auto* data = static_cast<const std::byte*>(view.data);
    bits.insert(bits.end(), data, data + view.bytes());
  }
  return bits;
}

TEST(Attention, SameBitsWithAnyNumberOfThreads) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    const AttentionCase c{
        .dtype = type, .s = 150, .s_kv = 150, .b = 3, .n = 4, .g = 2, .dropout = 0.1};
    const auto one = bits_with_workers(c, 1);
    EXPECT_EQ(one, bits_with_workers(c, 2));
    EXPECT_EQ(one, bits_with_workers(c, 3));
  }
}

}  // namespace attention_workers_test
}  // namespace mpitron::kernels
