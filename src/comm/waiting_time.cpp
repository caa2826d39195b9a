#include "comm/waiting_time.h"

namespace mpitron::comm {
namespace {

thread_local double waited = 0;  // a rank may be a thread

}  // namespace

double waited_seconds() {
  return waited;
}

void add_waited_seconds(double seconds) {
  waited += seconds;
}

}  // namespace mpitron::comm
