#pragma once
#include <memory>

#include <gtest/gtest.h>

#include "device/device.h"

namespace mpitron::test {

/// Including this file starts Kokkos before the first test of a program and ends it after the last:
/// what the host device wants.
class HostEnvironment : public ::testing::Environment {
 public:
  void SetUp() override { runtime_ = std::make_unique<device::HostRuntime>(); }
  void TearDown() override { runtime_.reset(); }

 private:
  std::unique_ptr<device::HostRuntime> runtime_;
};
inline ::testing::Environment* const host_environment =
    ::testing::AddGlobalTestEnvironment(new HostEnvironment);

}  // namespace mpitron::test
