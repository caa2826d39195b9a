#include "cli/commands.h"
#include "cli/pretrain.h"

namespace mpitron::cli {

int pretrain_bert(const Arguments& arguments) {
  return pretrain("bert", arguments);
}

}  // namespace mpitron::cli
