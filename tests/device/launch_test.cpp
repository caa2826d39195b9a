#include "device/launch.h"

#include <vector>

#include <gtest/gtest.h>

#include "device/device.h"

namespace mpitron::device {
namespace launch_test {

/// y = 2 x, for the reference device only.
struct Twice {
  static constexpr const char* name = "twice";
  In x;
  In absent;
  Out y;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("absent", absent), f("y", y);
  }
};

void run(ReferenceStream&, const Twice& kernel) {
  for (Index i = 0; i < kernel.x.numel(); ++i) {
    kernel.y.as<float>()[i] = 2 * kernel.x.as<float>()[i];
  }
}
Index workspace_bytes(const ReferenceStream&, const Twice& kernel) {
  return kernel.x.numel();
}

class Recorder : public LaunchObserver {
 public:
  void before(const LaunchRecord& record) override { note("before", record); }
  void after(const LaunchRecord& record) override { note("after", record); }
  void argument(const LaunchRecord& record, const char* name,
                const ConstTensorView& view) override {
    note(std::string("argument ") + name, record);
    if (std::string(name) == "y") {
      y_at_argument = view.as<float>()[0];
    }
  }

  std::vector<std::string> notes;
  float y_at_argument = 0;

 private:
  void note(const std::string& what, const LaunchRecord& record) {
    notes.push_back(what + " " + record.kernel + " " + record.device + " " +
                    std::to_string(record.bytes));
  }
};

class LaunchTest : public ::testing::Test {
 protected:
  float x_[3] = {1, 2, 3}, y_[3] = {};
  Twice kernel_{.x = In(x_, DType::f32, {3}), .absent = {}, .y = TensorView(y_, DType::f32, {3})};
};

TEST_F(LaunchTest, RunsTheKernelOfTheStreamsDevice) {
  Stream stream = ReferenceStream{};
  launch(stream, kernel_);
  EXPECT_EQ(y_[2], 6);
  EXPECT_EQ(workspace_bytes_of(stream, kernel_), 3);
}

TEST_F(LaunchTest, NotImplementedNamesKernelAndDevice) {
  Stream stream = HostStream{};
  EXPECT_EQ(workspace_bytes_of(stream, kernel_), 0);
  try {
    launch(stream, kernel_);
    FAIL() << "ran without an implementation";
  } catch (const NotImplemented& error) {
    EXPECT_STREQ(error.what(), "kernel twice is not implemented on device host");
  }
}

TEST_F(LaunchTest, AnObserverSeesEveryArgumentAfterTheKernelRan) {
  Recorder recorder;
  Stream stream = ReferenceStream{{&recorder}};
  launch(stream, kernel_);
  // x and y, 12 bytes each; an absent argument has none.
  EXPECT_EQ(
      recorder.notes,
      (std::vector<std::string>{
          "before twice reference 24", "after twice reference 24", "argument x twice reference 24",
          "argument absent twice reference 24", "argument y twice reference 24"}));
  EXPECT_EQ(recorder.y_at_argument, 2);
}

}  // namespace launch_test
}  // namespace mpitron::device
