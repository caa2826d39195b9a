#include "cli/commands.h"
#include "cli/take_command.h"

namespace mpitron::cli {

int data(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"report", "tokens, epochs and samples that a run takes from each corpus", data_report},
      {"trace", "the documents of an iteration, or the iterations of a document", data_trace},
  };
  return run_command_of("data", kCommands, arguments);
}

}  // namespace mpitron::cli
