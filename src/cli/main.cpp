#include "cli/command.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  mpitron::cli::wait_patiently(argv);
  return mpitron::cli::run(argc, argv);
}
