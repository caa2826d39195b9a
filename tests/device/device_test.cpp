#include "device/device.h"

#include <gtest/gtest.h>

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

VisibleGpus machine_with(std::size_t gpus) {
  return {.gpus = std::vector<Gpu>(gpus), .why_none = gpus == 0 ? "it was taken out" : ""};
}

std::string message_of(const std::string& wanted, const std::optional<VisibleGpus>& gpus) {
  try {
    choose_device(wanted, gpus, 0);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    return error.what();
  }
  return "";
}

TEST(ChooseDevice, TakesAGpuWhereThereIsOne) {
  const DeviceChoice choice = choose_device("auto", machine_with(1), 3);
  EXPECT_EQ(choice.name, "cuda");
  EXPECT_EQ(choice.index, 0);
  EXPECT_EQ(choice.notice, "");
  EXPECT_EQ(choose_device("cuda", machine_with(8), 3).index, 3);
  EXPECT_EQ(choose_device("cuda", machine_with(2), 3).index, 1);
}

TEST(ChooseDevice, SaysWhyItIsTheHost) {
  EXPECT_EQ(choose_device("auto", std::nullopt, 0).name, "host");
  EXPECT_EQ(choose_device("auto", std::nullopt, 0).notice, "");
  const DeviceChoice choice = choose_device("auto", machine_with(0), 0);
  EXPECT_EQ(choice.name, "host");
  EXPECT_EQ(choice.notice, "no GPU, going on with the host: it was taken out");
}

TEST(ChooseDevice, FailsWhereAGpuIsWantedAndThereIsNone) {
  EXPECT_EQ(message_of("cuda", machine_with(0)), "--device cuda: it was taken out");
  EXPECT_NE(message_of("cuda", std::nullopt).find("mpitron-cuda"), std::string::npos);
}

TEST(ChooseDevice, LeavesWhatIsNamedAlone) {
  EXPECT_EQ(choose_device("reference", machine_with(1), 0).name, "reference");
  EXPECT_EQ(choose_device("host", std::nullopt, 0).name, "host");
}

}  // namespace device_test

}  // namespace mpitron::device
