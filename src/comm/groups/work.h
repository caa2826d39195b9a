#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::comm {

/// An operation that is under way on this rank until every member has done its part.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Does what can be done without waiting; true once nothing is left to do.
  virtual bool step() = 0;
  /// Has a device that does the operation wait for it before what is queued next, so that the host
  /// need not. False: the host polls `step`.
  virtual bool wait_on_device() { return false; }
  /// World ranks that this rank waits for.
  virtual std::vector<Index> absent() const = 0;
  /// How many ranks may stand between those and the one that everybody waits for.
  virtual int distance() const { return 0; }
  bool ended() const { return ended_; }

 private:
  friend class ProgressEngine;
  bool ended_ = false;
};

class Group;
struct Request;
class Work;

/// Hears of a rank's operations; see Watchdog.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void started(const Operation& operation, const Group& group, const Request& request) = 0;
  virtual void ended(const Operation& operation) = 0;
  /// Called now and then by who has waited for so long; may end the program.
  virtual void waiting(const Operation& operation, double seconds) = 0;
  /// World rank `rank` has called another operation than the rest; may end the program.
  virtual void disagreement(Index rank, const std::string& what) = 0;
  /// Hears that what a device does ("all_reduce ... of group data") has been under way for
  /// `seconds`, or has failed as `error` says; may end the program. Called by a thread of its own.
  virtual void stuck(const std::string& what, double seconds, const std::string& error) = 0;
};

/// The operations of all groups that this rank has started, in the order of their start. Whoever
/// waits for one moves all of them on: a peer may need this rank's share of another one first.
/// Always held by a shared pointer.
class ProgressEngine : public std::enable_shared_from_this<ProgressEngine> {
 public:
  explicit ProgressEngine(std::shared_ptr<Witness> witness = nullptr)
      : witness_(std::move(witness)) {}

  /// Takes the operation in and does what can be done at once.
  Work start(std::shared_ptr<Operation> operation, const Group& group, const Request& request);
  void progress();
  bool idle() const { return under_way_.empty(); }
  Witness* witness() const { return witness_.get(); }

 private:
  std::deque<std::shared_ptr<Operation>> under_way_;
  std::shared_ptr<Witness> witness_;
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
  /// Makes progress until the operation has ended: polls, then yields the core. What a device does
  /// has ended for all that is queued on that device from here on.
  void wait();

 private:
  std::shared_ptr<Operation> operation_;
  std::shared_ptr<ProgressEngine> engine_;
};

/// How long this thread has waited for other ranks since it began. Waits of less than some
/// microseconds do not count. Of two ranks the one that waits less is the one that others wait for.
double waited_seconds();

/// Called by who waits.
void add_waited_seconds(double seconds);

}  // namespace mpitron::comm
