#include "autograd/auxiliary_losses.h"

#include <gtest/gtest.h>

#include "support/far_device.h"
#include "tensor/host_copy.h"

namespace mpitron::autograd {
namespace auxiliary_losses_test {

TEST(LayerSumsTest, AddsMicrobatchesForEachNameAndLayer) {
  LayerSums sums;
  sums.add("load_balancing_loss", 2, 1.5);
  sums.add("load_balancing_loss", 2, 0.25);
  sums.add("load_balancing_loss", 4, 1);
  sums.add("z_loss", 1, 3);
  EXPECT_EQ(sums.of("load_balancing_loss", 5), (std::vector<double>{0, 1.75, 0, 1, 0}));
  EXPECT_EQ(sums.of("z_loss", 2), (std::vector<double>{3, 0}));
  EXPECT_EQ(sums.of("mtp loss", 1), std::vector<double>{0});
  sums.clear();
  EXPECT_EQ(sums.of("z_loss", 2), (std::vector<double>{0, 0}));
}

TEST(LayerSumsTest, ALayerMayHaveARowOfNumbers) {
  LayerSums sums;
  sums.add("tokens_per_expert", 2, std::vector<double>{1, 2, 3});
  sums.add("tokens_per_expert", 2, std::vector<double>{4, 0, 1});
  EXPECT_EQ(sums.of("tokens_per_expert", 2, 3), (std::vector<double>{0, 0, 0, 5, 2, 4}));
  EXPECT_ANY_THROW(sums.of("tokens_per_expert", 2));
  EXPECT_ANY_THROW(sums.of("tokens_per_expert", 1, 3));
}

TEST(LayerSumsTest, NumbersOfADeviceAreAddedWhenTheyAreRead) {
  const auto device = test::make_far_device();
  const auto number = [&](double value) {
    const tensor::Tensor host = tensor::empty_on_host(*device, {1}, DType::f64);
    *host.data<double>() = value;
    return tensor::to_device(*device, host);
  };
  LayerSums sums;
  sums.add(*device, "z_loss", 2, number(1.5));
  sums.add(*device, "z_loss", 2, number(2));
  EXPECT_EQ(sums.of("z_loss", 2), (std::vector<double>{0, 0}));
  sums.read(*device);
  sums.read(*device);
  EXPECT_EQ(sums.of("z_loss", 2), (std::vector<double>{0, 3.5}));
}

}  // namespace auxiliary_losses_test
}  // namespace mpitron::autograd
