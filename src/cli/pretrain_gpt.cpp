#include "cli/commands.h"
#include "cli/pretrain.h"

namespace mpitron::cli {

int pretrain_gpt(const Arguments& arguments) {
  return pretrain("gpt", arguments);
}

}  // namespace mpitron::cli
