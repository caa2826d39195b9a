#include "cli/commands.h"
#include "cli/pretrain.h"

namespace mpitron::cli {

int pretrain_t5(const Arguments& arguments) {
  return pretrain("t5", arguments);
}

}  // namespace mpitron::cli
