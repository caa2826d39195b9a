#include "cli/commands.h"
#include "cli/flags.h"
#include "convert/adapter_export.h"
#include "utils/log.h"

namespace mpitron::cli {

int adapter(const Arguments& arguments) {
  std::string load, output;
  Flags flags("adapter",
              "Writes the low-rank updates of a checkpoint as a folder of PEFT "
              "(adapter_config.json, adapter_model.safetensors). `mpitron convert --merge-adapter` "
              "adds such a folder to its model.");
  flags.option("--load", load, "a checkpoint of a run with --lora-rank");
  flags.required();
  flags.option("--output", output, "folder to write");
  flags.required();
  if (!flags.parse(arguments)) {
    return 0;
  }
  const Index tensors = convert::export_adapter(load, output);
  log::print(fmt::format("{}: {} tensors", output, tensors));
  return 0;
}

}  // namespace mpitron::cli
