// Computes where time went from the spans of a trace, by unions and intersections of intervals:
// communication counts as hidden where it is under way while nobody waits, and no moment of a
// category is counted twice, however many spans cover it.
#include "train/timing/trace_summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "io/logs/trace_file.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace {

using Spans = std::vector<SpanUnion::Span>;

struct RankSpans {
  Spans steps, kernels, operations, waits, pipeline_waits;

  void add(const io::TraceEvent& event) {
    const SpanUnion::Span span{event.begin, event.begin + event.duration};
    if (event.category == "iteration") {
      steps.push_back(span);
    } else if (event.category == "kernel") {
      kernels.push_back(span);
    } else if (event.category == "communication" && event.phase == 'b') {
      operations.push_back(span);
    } else if (event.category == "wait") {
      (event.group.starts_with("pipeline-") ? pipeline_waits : waits).push_back(span);
    }
  }
};

RankTimes times_of(std::int64_t rank, const RankSpans& spans) {
  constexpr double kMilliseconds = 1e-3;
  const SpanUnion steps(spans.steps);
  const auto within = [&steps](const Spans& some) { return SpanUnion(some).common(steps); };
  const SpanUnion exposed = within(spans.waits), bubble = within(spans.pipeline_waits);
  const SpanUnion operations = within(spans.operations);
  RankTimes times{.rank = static_cast<int>(rank),
                  .steps = static_cast<int>(spans.steps.size()),
                  .step = steps.length() * kMilliseconds,
                  .compute = within(spans.kernels).length() * kMilliseconds,
                  .exposed = exposed.length() * kMilliseconds,
                  .bubble = bubble.length() * kMilliseconds};
  const double waited_meanwhile =
      operations.common(exposed).length() + operations.common(bubble).length();
  times.hidden = (operations.length() - waited_meanwhile) * kMilliseconds;
  times.other = times.step - times.compute - times.exposed - times.bubble;
  return times;
}

}  // namespace

SpanUnion::SpanUnion(std::vector<Span> spans) {
  std::ranges::sort(spans, std::ranges::less{}, &Span::begin);
  for (const Span& span : spans) {
    if (spans_.empty() || span.begin > spans_.back().end) {
      spans_.push_back(span);
    } else {
      spans_.back().end = std::max(spans_.back().end, span.end);
    }
  }
}

double SpanUnion::length() const {
  double sum = 0;
  for (const Span& span : spans_) {
    sum += span.end - span.begin;
  }
  return sum;
}

SpanUnion SpanUnion::common(const SpanUnion& other) const {
  SpanUnion result;
  for (auto a = spans_.begin(), b = other.spans_.begin();
       a != spans_.end() && b != other.spans_.end();) {
    const Span both{std::max(a->begin, b->begin), std::min(a->end, b->end)};
    if (both.begin < both.end) {
      result.spans_.push_back(both);
    }
    (a->end < b->end ? a : b)++;
  }
  return result;
}

std::vector<RankTimes> summarize_traces(const std::vector<std::filesystem::path>& files) {
  std::map<std::int64_t, RankSpans> ranks;
  for (const std::filesystem::path& path : files) {
    const MappedFile file(path);
    io::read_trace(file.text(), path,
                   [&ranks](const io::TraceEvent& event) { ranks[event.rank].add(event); });
  }
  std::vector<RankTimes> times;
  for (const auto& [rank, spans] : ranks) {
    if (spans.steps.empty()) {
      throw_data("the trace of rank {} holds no whole step: profile at least one", rank);
    }
    times.push_back(times_of(rank, spans));
  }
  return times;
}

std::string summary_table(const std::vector<RankTimes>& ranks) {
  std::string text =
      fmt::format("{:>6} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}\n", "rank", "steps",
                  "ms a step", "compute", "hidden", "exposed", "bubble", "other", "overlap");
  for (const RankTimes& r : ranks) {
    const auto share = [&r](double part) { return fmt::format("{:.1f} %", 100 * part / r.step); };
    text +=
        fmt::format("{:>6} {:>6} {:>10.2f} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}\n", r.rank,
                    r.steps, r.step / r.steps, share(r.compute), share(r.hidden), share(r.exposed),
                    share(r.bubble), share(r.other), fmt::format("{:.1f} %", 100 * r.overlap()));
  }
  return text +
         "compute: in kernels; hidden: communication beside them; exposed: waits for "
         "communication; "
         "bubble: waits\nfor a pipeline's messages; other: the rest of the step; overlap: hidden / "
         "(hidden + exposed)";
}

std::string summary_json(const std::vector<RankTimes>& ranks) {
  std::string rows;
  for (const RankTimes& r : ranks) {
    rows += fmt::format(
        R"({}{{"rank": {}, "steps": {}, "step_ms": {:.6f}, "compute_ms": {:.6f}, )"
        R"("hidden_ms": {:.6f}, "exposed_ms": {:.6f}, "bubble_ms": {:.6f}, "other_ms": {:.6f}, )"
        R"("overlap": {:.6f}}})",
        rows.empty() ? "" : ", ", r.rank, r.steps, r.step, r.compute, r.hidden, r.exposed, r.bubble,
        r.other, r.overlap());
  }
  return fmt::format(R"({{"ranks": [{}]}})", rows);
}

}  // namespace mpitron::train
