#pragma once
#include <functional>

// The rates of this machine's memory and arithmetic that figures are divided by, measured in the
// same run.

namespace mpitron::benchmarks {

/// Shortest of several calls, in seconds.
double best_seconds(int repetitions, const std::function<void()>& work);

/// Bytes read and written per second when a large buffer is copied by streaming stores, all
/// threads.
double copy_bandwidth(int repetitions);

/// Bytes read per second when a large buffer is summed, all threads: the limit of what only reads
/// (about two thirds of `copy_bandwidth`).
double read_bandwidth(int repetitions);

/// FLOP/s of independent fp32 multiply-adds in registers, all threads.
double fma_peak(int repetitions);

/// SiLUs per second of numbers of type T (fp32 or bf16) that stay in the first cache, all threads:
/// the limit of what computes one for each few bytes that it moves.
template <class T>
double silu_rate(int repetitions);

}  // namespace mpitron::benchmarks
