#pragma once

namespace mpitron::comm {

/// How long this thread has waited for other ranks since it began. Waits of less than some
/// microseconds do not count. Of two ranks the one that waits less is the one that others wait for.
double waited_seconds();

/// Called by who waits.
void add_waited_seconds(double seconds);

}  // namespace mpitron::comm
