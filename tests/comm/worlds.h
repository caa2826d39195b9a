#pragma once
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "comm/groups/device_world.h"
#include "comm/worlds/mpi_world.h"
#include "device/copy.h"

namespace mpitron::comm {

/// How the ranks of a test's world talk.
enum class Transport { threads, shared_memory, messages, mixed, nccl, staged };

struct WorldKind {
  Transport transport;
  Index size;
};

/// MPI's worlds live as long as the program: MPI starts once.
class MpiWorlds : public ::testing::Environment {
 public:
  void TearDown() override {
    nodes_of_two_.reset();
    messages_.reset();
    shared_memory_.reset();
  }
  World& of(Transport transport) {
    if (shared_memory_ == nullptr) {
      shared_memory_ = make_mpi_world();
      messages_ = make_mpi_world({.node_of = [](Index rank) { return rank; }});
      nodes_of_two_ = make_mpi_world({.node_of = [](Index rank) { return rank / 2; }});
    }
    return transport == Transport::messages ? *messages_
           : transport == Transport::mixed  ? *nodes_of_two_
                                            : *shared_memory_;
  }

  static MpiWorlds& get() {
    static auto* const worlds =
        static_cast<MpiWorlds*>(::testing::AddGlobalTestEnvironment(new MpiWorlds));
    return *worlds;
  }

 private:
  std::unique_ptr<World> shared_memory_;
  std::unique_ptr<World> messages_;
  std::unique_ptr<World> nodes_of_two_;
};

/// Threads; under mpirun, the processes that it has started.
inline std::vector<WorldKind> worlds_to_test() {
  const char* const launched = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (launched == nullptr) {
    std::vector<WorldKind> worlds;
    for (const Index size : {1, 2, 3, 4, 8}) {
      worlds.push_back({Transport::threads, size});
    }
    return worlds;
  }
  MpiWorlds::get();
  const Index size = std::atoi(launched);
  return {{Transport::shared_memory, size}, {Transport::messages, size}, {Transport::mixed, size}};
}

/// Threads whose tensors lie on a GPU (in tests: an emulated one); none in a build without CUDA or
/// under mpirun.
inline std::vector<WorldKind> gpu_worlds_to_test() {
  std::vector<WorldKind> worlds;
  if (device::kHasCuda && std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) {
    for (const Index size : {1, 2, 3, 4, 8}) {
      worlds.push_back({Transport::nccl, size});
      worlds.push_back({Transport::staged, size});
    }
  }
  return worlds;
}

inline std::string name_of_world(const ::testing::TestParamInfo<WorldKind>& info) {
  constexpr const char* kNames[] = {"threads", "shared_memory", "messages",
                                    "mixed",   "nccl",          "staged"};
  return kNames[static_cast<int>(info.param.transport)] + std::to_string(info.param.size);
}

/// The GPU of the rank that this thread is; null where tensors lie in the host's memory.
inline thread_local device::Device* rank_device = nullptr;

/// A world of threads, each with a GPU of its own or the same one.
inline void run_gpu_world(Index size, const DeviceTransport& transport,
                          const std::function<void(World&)>& body) {
  run_thread_world(size, [&](World& ranks) {
    if constexpr (device::kHasCuda) {
      const auto device = device::make_cuda_device(0);
      const std::shared_ptr<World> host(&ranks, [](World*) {});
      rank_device = device.get();
      body(*world_for_device(host, *device, transport));
      rank_device = nullptr;
    }
  });
}

inline void run_world(const WorldKind& kind, const std::function<void(World&)>& body) {
  switch (kind.transport) {
    case Transport::threads:
      return run_thread_world(kind.size, body);
    case Transport::nccl:
    case Transport::staged:
      return run_gpu_world(kind.size, {.through_host = kind.transport == Transport::staged}, body);
    default:
      return body(MpiWorlds::get().of(kind.transport));
  }
}

/// Numbers where this rank's tensors lie.
class Floats {
 public:
  explicit Floats(std::vector<float> values) : values_(std::move(values)) {
    if (rank_device != nullptr) {
      memory_ = rank_device->allocator().allocate(bytes(), capacity_);
      device::copy_bytes(rank_device->stream(), memory_, values_.data(),
                         static_cast<Index>(bytes()));
      device::synchronize(rank_device->stream());
    }
  }
  explicit Floats(Index n, float value = 0)
      : Floats(std::vector<float>(static_cast<std::size_t>(n), value)) {}
  Floats(Floats&& other) noexcept
      : values_(std::move(other.values_)),
        memory_(std::exchange(other.memory_, nullptr)),
        capacity_(other.capacity_) {}
  Floats& operator=(Floats&&) = delete;
  ~Floats() {
    if (memory_ != nullptr) {
      rank_device->allocator().release(memory_, capacity_);
    }
  }

  TensorView view() {
    return {memory_ != nullptr ? memory_ : values_.data(),
            DType::f32,
            {static_cast<Index>(values_.size())}};
  }
  /// What they are once everything that was started and waited for has ended.
  const std::vector<float>& read() {
    if (memory_ != nullptr) {
      device::copy_bytes(rank_device->stream(), values_.data(), memory_,
                         static_cast<Index>(bytes()));
      device::synchronize(rank_device->stream());
    }
    return values_;
  }
  float operator[](Index i) { return read()[static_cast<std::size_t>(i)]; }

 private:
  std::size_t bytes() const { return values_.size() * sizeof(float); }

  std::vector<float> values_;
  void* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace mpitron::comm
