#include "device/device.h"

#include "support/host_runtime.h"
#include "utils/error.h"

namespace mpitron::device {
namespace device_test {

TEST(MakeDevice, KnowsHostAndReference) {
  EXPECT_TRUE(std::holds_alternative<HostStream>(make_device("host")->stream()));
  EXPECT_TRUE(std::holds_alternative<ReferenceStream>(make_device("reference")->stream()));
}

TEST(MakeDevice, AnUnknownNameListsWhatThereIs) {
  try {
    make_device("gpu");
    FAIL() << "made a device";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("gpu"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("host, reference"), std::string::npos);
  }
}

TEST(MakeDevice, EachDeviceHasItsOwnMemory) {
  const auto a = make_device("reference"), b = make_device("reference");
  std::size_t capacity = 0;
  void* block = a->allocator().allocate(100, capacity);
  EXPECT_GT(a->allocator().statistics().bytes_in_use, 0);
  EXPECT_EQ(b->allocator().statistics().bytes_in_use, 0);
  a->allocator().release(block, capacity);
}

TEST(HostRuntime, SaysHowManyThreadsAndNestsWithoutEndingKokkos) {
  const int threads = HostRuntime::threads();
  EXPECT_GE(threads, 1);
  { const HostRuntime inner; }
  EXPECT_EQ(HostRuntime::threads(), threads);
}

}  // namespace device_test
}  // namespace mpitron::device
