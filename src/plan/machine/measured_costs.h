#pragma once
#include <map>
#include <string>
#include <vector>

#include "comm/groups/request.h"
#include "device/launch.h"

namespace mpitron::plan {

/// A kernel as it was timed, with this many ranks at work on the machine.
struct TimedKernel {
  std::string kernel;
  DType dtype = DType::f32;
  Index ranks = 1;
  std::vector<Index> extents;  // of the first two arguments
  double work = 0;             // multiply-adds, or bytes of the arguments
  double seconds = 0;
};

/// An operation among so many ranks of a machine.
struct TimedOperation {
  comm::CollectiveKind kind = comm::CollectiveKind::all_reduce;
  Index ranks = 2;
  Index bytes = 0;
  double seconds = 0;
};

/// Return extents and work of a launch, as TimedKernel has them.
std::vector<Index> extents_of(const device::LaunchRecord& record);
double work_of(const device::LaunchRecord& record);

/// Times measured on a machine (`mpitron doctor --calibrate`): of the kernels and operations that
/// programs are made of. Others are estimated from the nearest measured ones.
class MeasuredCosts {
 public:
  void add(TimedKernel kernel);
  void add(TimedOperation operation) { operations_.push_back(operation); }
  /// Sets the seconds that a program spends around a launch with so many ranks at work.
  void set_launch(Index ranks, double seconds) { launch_[ranks] = seconds; }

  /// Sets how much longer the work of so many tensor ranks takes than that of ranks which do not
  /// meet: between two sums each reads what another has written, and waits for the slowest.
  void set_together(Index ranks, double factor) { together_[ranks] = factor; }
  /// Returns that factor, of the nearest measured number of ranks; 1 where none was.
  double together(Index ranks) const;

  /// Adds what `other` has measured with other numbers of ranks than this one.
  void add_others(const MeasuredCosts& other, Index ranks);

  std::vector<TimedKernel> kernels() const;
  const std::vector<TimedOperation>& operations() const { return operations_; }
  bool empty() const { return kernels_.empty(); }
  /// Returns the seconds of a launch with what the program does around it.
  double seconds(const device::LaunchRecord& record, Index ranks) const;
  /// Returns the seconds of an operation once all of its `ranks` members have started it.
  double seconds(comm::CollectiveKind kind, Index ranks, Index bytes) const;

  /// Write and read the block `measured` of a machine file. Error(kBadParameterFile) names path and
  /// line.
  std::string to_yaml() const;
  void read_line(const std::string& key, const std::string& line, const std::string& path);

 private:
  struct Key {
    std::string kernel;
    DType dtype;
    auto operator<=>(const Key&) const = default;
  };
  Index nearest_ranks(Index ranks) const;

  std::map<Key, std::vector<TimedKernel>> kernels_;
  std::vector<TimedOperation> operations_;
  std::map<Index, double> launch_;    // seconds around a launch, by ranks
  std::map<Index, double> together_;  // factors, by ranks
};

}  // namespace mpitron::plan
