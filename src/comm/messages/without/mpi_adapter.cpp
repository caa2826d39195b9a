#include "comm/messages/mpi_adapter.h"

#include "utils/error.h"

namespace mpitron::comm {

// A process that mpirun or srun started as one of several must not take itself for the whole job.
MpiAdapter::MpiAdapter() {
  throw_environment(
      "this program was built without MPI, but was started as one rank of several: install MPI "
      "(Debian: libopenmpi-dev) and build again, or start one process without mpirun or srun");
}

MpiAdapter::~MpiAdapter() = default;

launch::MpiLibrary MpiAdapter::library() {
  return {.version = "MPI left out", .knows_pmi = true};
}

std::vector<Index> MpiAdapter::ranks_of_this_node() const {
  return {0};
}
std::vector<std::string> MpiAdapter::gather(const std::string& mine) const {
  return {mine};
}
int MpiAdapter::minimum(int value) const {
  return value;
}
void MpiAdapter::barrier() const {}
std::unique_ptr<Messages::Transfer> MpiAdapter::send(Index, int, const void*, Index) {
  return nullptr;
}
std::unique_ptr<Messages::Transfer> MpiAdapter::receive(Index, int, void*, Index) {
  return nullptr;
}
int MpiAdapter::largest_tag() const {
  return 0;
}

}  // namespace mpitron::comm
