#pragma once

namespace mpitron::comm {

/// Leaves a process behind that kills this one's parent (SIGKILL) if that is still there after so
/// many seconds; does nothing where the parent is not an mpirun. The mpirun of Open MPI 4 may wait
/// forever in its own end (PMIx_server_finalize) when ranks leave from within MPI_Init.
void end_hung_mpirun(double seconds);

/// Seconds that mpirun may take to end the ranks of this job: those of one machine are gone within
/// two.
double patience_with_mpirun();

}  // namespace mpitron::comm
