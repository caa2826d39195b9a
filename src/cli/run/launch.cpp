#include "cli/run/launch.h"

#include <cstdlib>

#include "checkpoint/plan/agreement.h"
#include "comm/worlds/mpi_world.h"
#include "launch/launcher.h"
#include "launch/rank_place.h"
#include "utils/log.h"

namespace mpitron::cli {
namespace {

// Signals that Open MPI tells with a stack: SIGABRT, SIGFPE, SIGSEGV. Its fourth, SIGBUS, is told
// with the file's name (utils/system/faults.h).
constexpr const char* kSignalsOfMpi = "6,8,11";

}  // namespace

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

Index presumed_ranks() {
  const launch::Launch launch = launch::read_launch(launch::process_environment());
  for (const launch::Claim& claim : launch.claims) {
    if (claim.size) {
      return *claim.size;
    }
  }
  return 1;
}

std::unique_ptr<comm::World> launch_world(double timeout_minutes, std::shared_ptr<Trace> trace,
                                          std::shared_ptr<comm::LastWords> last_words) {
  const launch::Environment environment = launch::process_environment();
  const launch::Launch launch = launch::read_launch(environment);
  log::set_rank(static_cast<int>(launch.presumed_rank()));
  ::setenv("OMPI_MCA_opal_signal", kSignalsOfMpi, 0);
  comm::MpiOptions options{.last_words = std::move(last_words), .trace = std::move(trace)};
  if (comm::launched_by_mpi()) {
    options.timeout_minutes = timeout_minutes;
  } else if (const std::string warning = launch::launch_warning(launch); !warning.empty()) {
    log::warning("{}", warning);
  }
  auto world = comm::make_world(options);
  log::set_rank(static_cast<int>(world->rank()));
  world->set_phase("starting");
  return world;
}

}  // namespace mpitron::cli
