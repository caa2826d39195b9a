#pragma once
#include <sys/types.h>

namespace mpitron::comm {

/// Stands by while MPI_Init runs. The mpirun of Open MPI 4 may wait forever in its own end
/// (PMIx_server_finalize) after a rank has left or was killed within MPI_Init. So a process of its
/// own watches this one: where it ends before the watch does, its parent is killed (SIGKILL) if
/// that is still there after so many seconds. Does nothing where the parent is not an mpirun.
class LauncherWatch {
 public:
  explicit LauncherWatch(double patience_seconds);
  /// Ends the watch: MPI_Init has come back.
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

 private:
  pid_t watcher_ = -1;  // -1: none
  int over_ = -1;       // end of a pipe to the watcher; a byte says that all went well
};

/// Seconds that mpirun may take to end the ranks of this job: those of one machine are gone within
/// two.
double patience_with_mpirun();

}  // namespace mpitron::comm
