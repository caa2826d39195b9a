#include <gtest/gtest.h>

#include "kernels/attention/attention_choice.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/gemm_choice.h"
#include "train/tiny_run.h"
#include "train/tuning/kernel_tuning.h"

namespace mpitron::train {
namespace kernel_choice_test {

using kernels::AttentionKernel;
using kernels::MatmulKernel;

/// What the flags choose, while the choice lives.
template <class F>
void with_choice(const std::vector<std::string>& flags, F&& look) {
  const auto device = device::make_device("reference");
  const config::RunConfig config = tiny_run(flags);
  const KernelChoice choice(*device, config.training, config.model.attention_backend);
  look(*device);
}

std::vector<AttentionKernel> order(const std::vector<std::string>& flags) {
  std::vector<AttentionKernel> order;
  with_choice(flags, [&](const auto&) { order = kernels::attention_choices().order; });
  return order;
}

TEST(KernelChoice, ABackendIsAnOrderOfKernels) {
  EXPECT_EQ(order({"--attention-backend", "fused"}),
            (std::vector{AttentionKernel::cudnn, AttentionKernel::wgmma, AttentionKernel::mma}));
  for (const char* backend : {"flash", "auto"}) {
    EXPECT_EQ(order({"--attention-backend", backend}),
              (std::vector{AttentionKernel::wgmma, AttentionKernel::mma}))
        << backend;
  }
  for (const char* backend : {"unfused", "local"}) {
    EXPECT_EQ(order({"--attention-backend", backend}), std::vector{AttentionKernel::mma})
        << backend;
  }
}

TEST(KernelChoice, ANamedKernelStandsBeforeTheBackendsOrder) {
  EXPECT_EQ(order({"--attention-kernel", "cudnn"}),
            (std::vector{AttentionKernel::cudnn, AttentionKernel::mma}));
  EXPECT_EQ(order({"--attention-kernel", "mma", "--attention-backend", "fused"}),
            (std::vector{AttentionKernel::mma, AttentionKernel::mma}));
}

TEST(KernelChoice, NamesWhoMultiplies) {
  with_choice({"--matmul-kernel", "mma"},
              [](const auto&) { EXPECT_EQ(kernels::matmul_kernel(), MatmulKernel::mma); });
  with_choice({},
              [](const auto&) { EXPECT_EQ(kernels::matmul_kernel(), MatmulKernel::automatic); });
}

TEST(KernelChoice, DeviceSynchronizeWatchesEveryLaunch) {
  const auto watched = [](device::Device& device) {
    return std::visit([](const auto& stream) { return stream.observer != nullptr; },
                      device.stream());
  };
  with_choice({"--device-synchronize"},
              [&](device::Device& device) { EXPECT_TRUE(watched(device)); });
  with_choice({}, [&](device::Device& device) { EXPECT_FALSE(watched(device)); });
}

}  // namespace kernel_choice_test
}  // namespace mpitron::train
