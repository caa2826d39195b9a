#pragma once
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/mpi_world.h"

namespace mpitron::comm {

/// How the ranks of a test's world talk.
enum class Transport { threads, shared_memory, messages, mixed };

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

inline std::string name_of_world(const ::testing::TestParamInfo<WorldKind>& info) {
  constexpr const char* kNames[] = {"threads", "shared_memory", "messages", "mixed"};
  return kNames[static_cast<int>(info.param.transport)] + std::to_string(info.param.size);
}

inline void run_world(const WorldKind& kind, const std::function<void(World&)>& body) {
  if (kind.transport == Transport::threads) {
    run_thread_world(kind.size, body);
  } else {
    body(MpiWorlds::get().of(kind.transport));
  }
}

}  // namespace mpitron::comm
