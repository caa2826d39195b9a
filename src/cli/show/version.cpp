#include "cli/commands.h"
#include "cli/fingerprint.h"
#include "cli/flags.h"
#include "utils/log.h"

namespace mpitron::cli {

int version(const Arguments& arguments) {
  Flags flags("version", "Prints the version and the build fingerprint.");
  if (!flags.parse(arguments)) {
    return 0;
  }
  log::print(fingerprint());
  return 0;
}

}  // namespace mpitron::cli
