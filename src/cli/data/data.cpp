#include "cli/command.h"
#include "cli/commands.h"

namespace mpitron::cli {
int data(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"report", "tokens, epochs and samples that a run takes from each corpus", data_report},
      {"trace", "the documents of an iteration, or the iterations of a document", data_trace},
  };
  return run_command_of("data", kCommands, arguments);
}

int dataset(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"inspect", "show what a corpus holds, or one of its documents", dataset_inspect},
      {"images", "pack, inspect and check images for training", dataset_images},
      {"convert", "turn .bin and .idx into one .h5 file, or back", dataset_convert},
  };
  return run_command_of("dataset", kCommands, arguments);
}

}  // namespace mpitron::cli
