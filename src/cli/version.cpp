#include "cli/commands.h"
#include "cli/fingerprint.h"
#include "utils/log.h"

namespace mpitron::cli {

int version(const Arguments&) {
  log::print(fingerprint());
  return 0;
}

}  // namespace mpitron::cli
