#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::train {

/// Splits one rank's time, in milliseconds of its profiled steps: step = compute + exposed + bubble
/// + other.
struct RankTimes {
  int rank = 0;
  int steps = 0;
  double step = 0;     // from the begin to the end of the steps
  double compute = 0;  // in kernels
  double hidden = 0;   // communication under way while nobody waited for it or for another one
  double exposed = 0;  // waits for communication, but for a pipeline's messages
  double bubble = 0;   // waits for a pipeline's messages: nothing to compute yet
  double other = 0;    // neither: the program between kernels, data, sums of received pieces

  /// The share of communication that cost nothing; 0 without communication.
  double overlap() const { return hidden + exposed > 0 ? hidden / (hidden + exposed) : 0; }
};

/// Begins and ends of spans, in microseconds, put together so that none overlap.
class SpanUnion {
 public:
  struct Span {
    double begin, end;
  };
  explicit SpanUnion(std::vector<Span> spans = {});
  const std::vector<Span>& spans() const { return spans_; }
  double length() const;
  /// Returns what lies in both.
  SpanUnion common(const SpanUnion& other) const;

 private:
  std::vector<Span> spans_;
};

/// Summarises every rank in the files, by rank. Error(data) where a file is no trace or has no
/// whole step.
std::vector<RankTimes> summarize_traces(const std::vector<std::filesystem::path>& files);

std::string summary_table(const std::vector<RankTimes>& ranks);
std::string summary_json(const std::vector<RankTimes>& ranks);

}  // namespace mpitron::train
