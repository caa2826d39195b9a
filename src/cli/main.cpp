#include "cli/command.h"

int main(int argc, char** argv) {
  return mpitron::cli::run(argc, argv);
}
