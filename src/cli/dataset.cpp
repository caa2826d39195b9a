#include "cli/commands.h"
#include "cli/take_command.h"

namespace mpitron::cli {

int dataset(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"inspect", "show what a corpus holds, or one of its documents", dataset_inspect},
      {"convert", "turn .bin and .idx into one .h5 file, or back", dataset_convert},
  };
  return run_command_of("dataset", kCommands, arguments);
}

}  // namespace mpitron::cli
