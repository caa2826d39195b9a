#include "cli/launch.h"

#include "checkpoint/agreement.h"
#include "comm/mpi_world.h"
#include "config/parse.h"
#include "launch/launcher.h"
#include "launch/rank_place.h"
#include "utils/log.h"

namespace mpitron::cli {

void tell_places(comm::World& world, const std::string& gpu) {
  const auto all = world.all();
  launch::RankPlace own =
      launch::own_place(world.host(world.rank()), launch::process_environment());
  own.gpu = gpu;
  std::vector<launch::RankPlace> places;
  for (const std::string& text : checkpoint::collect_texts(*all, launch::to_text(own))) {
    places.push_back(launch::read_place(text));
  }
  if (world.size() > 1) {
    for (const std::string& line : launch::rank_map(places)) {
      log::info("{}", line);
    }
  }
  for (const std::string& line : launch::binding_warnings(places)) {
    log::warning("{}", line);
  }
}

std::unique_ptr<comm::World> launch_world(const Arguments& arguments,
                                          std::shared_ptr<Trace> trace) {
  const launch::Environment environment = launch::process_environment();
  const launch::Launch launch = launch::read_launch(environment);
  log::set_rank(static_cast<int>(launch.presumed_rank()));
  comm::MpiOptions options{.trace = std::move(trace)};
  if (comm::launched_by_mpi()) {
    options.timeout_minutes = config::parse_run(arguments).run.parallel.distributed_timeout_minutes;
  } else if (const std::string warning = launch::launch_warning(launch); !warning.empty()) {
    log::warning("{}", warning);
  }
  auto world = comm::make_world(options);
  log::set_rank(static_cast<int>(world->rank()));
  return world;
}

}  // namespace mpitron::cli
