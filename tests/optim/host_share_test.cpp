#include "optim/host_share.h"

#include "support/far_device.h"
#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::optim {
namespace host_share_test {

using tensor::Tensor;

TEST(HostShare, TakesTensorsInOrderUpToItsShare) {
  using Chosen = std::vector<bool>;
  EXPECT_EQ(tensors_on_processor({4, 4, 2}, 1), (Chosen{true, true, true}));
  EXPECT_EQ(tensors_on_processor({4, 4, 2}, 0), (Chosen{false, false, false}));
  EXPECT_EQ(tensors_on_processor({4, 4, 2}, 0.5), (Chosen{true, false, false}));
  EXPECT_EQ(tensors_on_processor({4, 4, 2}, 0.6), (Chosen{true, false, true}));
  EXPECT_EQ(tensors_on_processor({}, 1), Chosen{});
}

TEST(HostShare, FetchesAndSends) {
  for (const bool pinned : {true, false}) {
    const auto device = test::make_far_device();
    HostShare share(*device, {.pin_grads = pinned, .pin_params = pinned});
    EXPECT_TRUE(share.home().tensors_on_host());
    const Tensor x = test::make_tensor(*device, {3}, DType::bf16, {1, 2, 3});
    const Tensor copy = share.fetch(x);
    share.wait();
    EXPECT_NE(copy.view().data, x.view().data);
    EXPECT_EQ(test::values_of(copy), (std::vector<double>{1, 2, 3}));
    const Tensor other = test::make_tensor(share.home(), {3}, DType::bf16, {4, 5, 6});
    share.send(other, x);
    share.wait();
    EXPECT_EQ(test::values_of(x), (std::vector<double>{4, 5, 6}));
  }
}

}  // namespace host_share_test
}  // namespace mpitron::optim
