#include "cli/launch.h"

#include "comm/mpi_world.h"
#include "config/parse.h"
#include "utils/log.h"

namespace mpitron::cli {

std::unique_ptr<comm::World> launch_world(const Arguments& arguments,
                                          std::shared_ptr<Trace> trace) {
  comm::MpiOptions options{.trace = std::move(trace)};
  if (comm::launched_by_mpi()) {
    options.timeout_minutes = config::parse_run(arguments).run.parallel.distributed_timeout_minutes;
  }
  auto world = comm::make_world(options);
  log::set_rank(static_cast<int>(world->rank()));
  return world;
}

}  // namespace mpitron::cli
