#pragma once
#include <deque>
#include <memory>

namespace mpitron::comm {

/// What is under way on this rank until every member has done its part.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Does what can be done without waiting; true once nothing is left to do.
  virtual bool step() = 0;
  bool ended() const { return ended_; }

 private:
  friend class ProgressEngine;
  bool ended_ = false;
};

/// The operations of all groups that this rank has started, in the order of their start. Whoever
/// waits for one moves all of them on: a peer may need this rank's share of another one first.
class ProgressEngine {
 public:
  void add(std::shared_ptr<Operation> operation) { under_way_.push_back(std::move(operation)); }
  void progress();
  bool idle() const { return under_way_.empty(); }

 private:
  std::deque<std::shared_ptr<Operation>> under_way_;
};

/// A started operation. Its memory stays the operation's until it has ended: outputs may not be
/// read and inputs not be written before. A default-made Work has ended.
class Work {
 public:
  Work() = default;
  Work(std::shared_ptr<Operation> operation, std::shared_ptr<ProgressEngine> engine)
      : operation_(std::move(operation)), engine_(std::move(engine)) {}

  /// Makes progress; true once the operation has ended.
  bool test();
  /// Makes progress until the operation has ended. Polls, then yields the core.
  void wait();

 private:
  std::shared_ptr<Operation> operation_;
  std::shared_ptr<ProgressEngine> engine_;
};

}  // namespace mpitron::comm
