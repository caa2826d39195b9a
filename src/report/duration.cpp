#include "report/duration.h"

#include <cmath>

#include <fmt/format.h>

namespace mpitron::report {

std::string readable_duration(double seconds) {
  constexpr long kMinute = 60, kHour = 3600, kDay = 86400;
  const long whole = std::lround(seconds);
  if (whole < kMinute) {
    return fmt::format("{} s", whole);
  }
  if (whole < kHour) {
    return fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute);
  }
  if (whole < kDay) {
    return fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute);
  }
  return fmt::format("{} d {:02} h", whole / kDay, whole % kDay / kHour);
}

}  // namespace mpitron::report
