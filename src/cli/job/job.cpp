#include <array>

#include "cli/command.h"
#include "cli/commands.h"

namespace mpitron::cli {

int job(const Arguments& arguments) {
  static constexpr std::array kCommands{
      Command{"write", "write the sbatch script of a training run", job_write},
  };
  return run_command_of("job", kCommands, arguments);
}

}  // namespace mpitron::cli
