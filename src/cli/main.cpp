#include "cli/command.h"
#include "cli/program.h"

/// The whole program; wait_patiently may start it once more before anything has happened.
int main(int argc, char** argv) {
  mpitron::cli::wait_patiently(argv);
  return mpitron::cli::run(argc, argv);
}
