// A rank of a small job of which rank 1 goes wrong: failing_rank MODE TIMEOUT_MINUTES [NODES]
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "comm/worlds/mpi_world.h"
#include "utils/error.h"

namespace mpitron::comm {
namespace {

void go_wrong(const std::string& mode, Group& group) {
  double x = 0;
  if (mode == "sleep") {
    ::sleep(60);
  } else if (mode == "kill") {
    std::raise(SIGKILL);
  } else if (mode == "stop") {
    std::raise(SIGSTOP);
  } else if (mode == "different") {
    group.broadcast({&x, DType::f64, {1}}, 0).wait();
  } else if (mode == "throw") {
    throw_data("rank 1 has read a broken file");
  }
}

/// `nodes`: the node of each rank, a digit; empty: all are on one.
void run(const std::string& mode, double timeout_minutes, const std::string& nodes) {
  MpiOptions options{.timeout_minutes = timeout_minutes};
  if (!nodes.empty()) {
    options.node_of = [nodes](Index rank) { return Index{nodes[static_cast<std::size_t>(rank)]}; };
  }
  const auto world = make_mpi_world(options);
  const auto group = world->all();
  for (int iteration = 1; iteration <= 5; ++iteration) {
    world->set_phase("iteration " + std::to_string(iteration));
    if (iteration == 4 && world->rank() == 1) {
      go_wrong(mode, *group);
      if (mode == "leave") {
        return;
      }
    }
    if (iteration == 4 && world->rank() == 2 && !nodes.empty() && mode != "none") {
      ::sleep(60);  // so that rank 0 alone waits and speaks
    }
    group->reduce(1);
  }
  if (world->rank() == 0) {
    std::puts("all iterations done");
  }
}

}  // namespace
}  // namespace mpitron::comm

int main(int argc, char** argv) {
  const std::string mode = argv[1];
  try {
    mpitron::comm::run(mode, std::stod(argv[2]), argc > 3 ? argv[3] : "");
  } catch (const mpitron::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
