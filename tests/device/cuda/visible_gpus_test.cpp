#include <cstdlib>

#include <gtest/gtest.h>

#include "device/device.h"

namespace mpitron::device {
namespace visible_gpus_test {

TEST(VisibleGpus, AreNamedWithTheirPlaces) {
  const VisibleGpus visible = visible_gpus();
  ASSERT_FALSE(visible.gpus.empty()) << visible.why_none;
  EXPECT_EQ(visible.why_none, "");
  const Gpu& gpu = visible.gpus[0];
  EXPECT_FALSE(gpu.name.empty());
  EXPECT_GT(gpu.bytes, 0);
  EXPECT_GE(gpu.major, 8);
  EXPECT_NE(gpu.pci_bus_id.find(':'), std::string::npos);
  EXPECT_EQ(gpu.uuid.size(), 40u);
}

}  // namespace visible_gpus_test
}  // namespace mpitron::device
