#include "cli/commands.h"

#include <array>

namespace mpitron::cli {

std::span<const Command> commands() {
  static constexpr std::array kCommands{
      Command{"replay", "replay a recorded run of the reference and compare", replay},
      Command{"version", "print the version and the build fingerprint", version},
  };
  return kCommands;
}

}  // namespace mpitron::cli
